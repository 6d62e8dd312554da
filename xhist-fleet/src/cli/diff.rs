//! `xhist-fleet diff BUILD BUILD`.

use std::io::Write;

use super::groups::{SHORT, counted};
use crate::engine::Engine;
use crate::error::FleetError;
use crate::table::Rows;

/// Least difference between the shares of good dumps that ran a statement.
const SHARE: f64 = 0.05;

/// A kind of groups: its name, and whether numbers of dumps before and after belong to it.
type GroupKind = (&'static str, fn(i64, i64) -> bool);

/// Prints what differs between two builds.
pub fn run(engine: &Engine, builds: &[String], limit: usize, out: &mut dyn Write) -> Result<(), FleetError> {
    let known = Rows::of(engine, "SELECT build, rings, bad FROM builds ORDER BY ordinal")?;
    let find = |build: &String| {
        let row = (0..known.len()).find(|row| known.text(*row, 0) == *build);
        row.ok_or_else(|| {
            let names: Vec<String> = (0..known.len()).map(|row| known.text(row, 0)).collect();
            FleetError::Usage(format!("no dump is of build {build}; there are {}", names.join(", ")))
        })
    };
    let [(before, row_before), (after, row_after)] = match builds {
        [one, other] => [(one, find(one)?), (other, find(other)?)],
        _ => return Err(FleetError::Usage("name two builds".to_owned())),
    };
    let [all_before, all_after] = [row_before, row_after].map(|row| known.int(row, 1));
    let mut print = |line: String| writeln!(out, "{line}").map_err(FleetError::System);
    for (build, row) in [(before, row_before), (after, row_after)] {
        print(format!("build {build}: {}, {} bad", counted(known.int(row, 1), "dump"), known.int(row, 2)))?;
    }
    let [one, other] = [before, after].map(|build| literal(build));
    let groups = Rows::of(
        engine,
        &format!(
            "SELECT g.signature, g.title, g.file, g.line, \
               CAST(SUM(CASE WHEN b.build = {one} THEN b.rings ELSE 0 END) AS BIGINT) AS before, \
               CAST(SUM(CASE WHEN b.build = {other} THEN b.rings ELSE 0 END) AS BIGINT) AS after \
             FROM group_builds AS b JOIN groups AS g ON b.signature = g.signature \
             WHERE b.build IN ({one}, {other}) \
             GROUP BY g.signature, g.title, g.file, g.line ORDER BY after DESC, before DESC, g.signature"
        ),
    )?;
    let kinds: [GroupKind; 3] = [
        ("new", |before, _| before == 0),
        ("gone", |_, after| after == 0),
        ("in both", |before, after| before > 0 && after > 0),
    ];
    for (name, takes) in kinds {
        let rows: Vec<usize> =
            (0..groups.len()).filter(|row| takes(groups.int(*row, 4), groups.int(*row, 5))).collect();
        print(format!("\n{name}: {}", counted(rows.len() as i64, "group")))?;
        for row in rows.into_iter().take(limit) {
            let group: String = groups.text(row, 0).chars().take(SHORT).collect();
            print(format!(
                "  {group}  {:>6} -> {:<6}  {}  {}:{}",
                percent(groups.int(row, 4), all_before),
                percent(groups.int(row, 5), all_after),
                groups.text(row, 1),
                groups.text(row, 2),
                groups.int(row, 3)
            ))?;
        }
    }
    let statements = Rows::of(
        engine,
        &format!(
            "SELECT file, line, function, before, after FROM ( \
               SELECT MIN(s.file) AS file, MAX(s.line) AS line, MIN(s.function) AS function, s.statement AS statement, \
                 CAST(SUM(CASE WHEN r.build = {one} THEN 1 ELSE 0 END) AS DOUBLE) / {all_before} AS before, \
                 CAST(SUM(CASE WHEN r.build = {other} THEN 1 ELSE 0 END) AS DOUBLE) / {all_after} AS after \
               FROM spectra AS s JOIN rings AS r ON s.ring = r.ring \
               WHERE r.build IN ({one}, {other}) GROUP BY s.statement \
             ) AS shares WHERE ABS(after - before) > {SHARE} \
             ORDER BY ABS(after - before) DESC, file, line, statement LIMIT {limit}"
        ),
    )?;
    print("\nstatements by the share of dumps that ran them".to_owned())?;
    for row in 0..statements.len() {
        print(format!(
            "  {:>6} -> {:<6}  {}:{} {}",
            share(statements.float(row, 3)),
            share(statements.float(row, 4)),
            statements.text(row, 0),
            statements.int(row, 1),
            statements.text(row, 2)
        ))?;
    }
    if statements.len() == 0 {
        print(format!("  no share differs by more than {}", share(SHARE)))?;
    }
    Ok(())
}

/// A text in SQL.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn percent(part: i64, whole: i64) -> String {
    if whole == 0 { "-".to_owned() } else { share(part as f64 / whole as f64) }
}

fn share(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}
