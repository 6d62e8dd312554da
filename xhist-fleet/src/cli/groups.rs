//! `xhist-fleet groups`.

use std::io::Write;

use xhist_history::notes::typed::quoted;

use super::args::GroupsArgs;
use crate::engine::{self, Engine};
use crate::error::FleetError;
use crate::table::Rows;

/// Characters of a group's name that are printed.
pub(super) const SHORT: usize = 8;

/// Prints groups, the largest first.
pub fn run(engine: &Engine, command: &GroupsArgs, out: &mut dyn Write) -> Result<(), FleetError> {
    let limit = command.limit;
    if let Some(format) = command.format {
        let sql = format!("SELECT * FROM groups ORDER BY rings DESC, signature LIMIT {limit}");
        return engine::print(engine, &sql, format, out);
    }
    let totals = Rows::of(
        engine,
        "SELECT COUNT(*), CAST(SUM(CASE WHEN outcome = 'bad' THEN 1 ELSE 0 END) AS BIGINT), COUNT(DISTINCT build) FROM rings",
    )?;
    let number = Rows::of(engine, "SELECT COUNT(DISTINCT signature) FROM rings WHERE outcome = 'bad'")?;
    let groups = Rows::of(
        engine,
        &format!(
            "SELECT signature, title, rings, devices, first_build, last_build, file, line, stack, source \
             FROM groups ORDER BY rings DESC, signature LIMIT {limit}"
        ),
    )?;
    let mut print = |line: String| writeln!(out, "{line}").map_err(FleetError::System);
    print(format!(
        "{} of {} bad dumps; {} dumps of {} in all",
        counted(number.int(0, 0), "group"),
        totals.int(0, 1),
        totals.int(0, 0),
        counted(totals.int(0, 2), "build"),
    ))?;
    for row in 0..groups.len() {
        let text = |column| groups.text(row, column);
        let devices = match groups.int(row, 3) {
            0 => String::new(),
            devices => format!(" on {}", counted(devices, "device")),
        };
        let builds = match (text(4), text(5)) {
            (first, last) if first == last => format!("build {first}"),
            (first, last) => format!("builds {first} to {last}"),
        };
        print(format!("\n{:3}. {}", row + 1, text(1)))?;
        if !text(6).is_empty() {
            print(format!("     {}:{}   {}", text(6), groups.int(row, 7), text(8)))?;
        }
        print(format!("     {}{devices}, {builds}", counted(groups.int(row, 2), "dump")))?;
        let group: String = text(0).chars().take(SHORT).collect();
        print(format!("     group {group}   newest: xhist-report {}", quoted(&*text(9))))?;
    }
    let more = number.int(0, 0) - groups.len() as i64;
    if more > 0 {
        print(format!("\n{} more: --limit N", counted(more, "group")))?;
    }
    if groups.len() > 0 {
        let group: String = groups.text(0, 0).chars().take(SHORT).collect();
        let dir = command.dir.as_ref().map_or_else(String::new, |dir| format!("{} ", quoted(dir)));
        print(format!("\nwhat the good ones do differently: xhist-fleet suspects {dir}--group {group}"))?;
    }
    Ok(())
}

/// `1 group`, `2 groups`.
pub(super) fn counted(number: i64, what: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {what}{ending}")
}
