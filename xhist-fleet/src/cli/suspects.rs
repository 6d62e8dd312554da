//! `xhist-fleet suspects`.

use std::io::Write;

use super::args::SuspectsArgs;
use super::groups::counted;
use crate::engine::{self, Engine, first_suspects};
use crate::error::FleetError;
use crate::table::Rows;

/// Groups that are shown if none was named.
const GROUPS: usize = 5;

/// Prints suspects of groups, the largest group first.
pub fn run(engine: &Engine, command: &SuspectsArgs, out: &mut dyn Write) -> Result<(), FleetError> {
    let group = group(command)?;
    let limit = command.limit;
    if let Some(format) = command.format {
        let sql = format!(
            "SELECT * FROM suspects WHERE signature LIKE '{group}%' \
             ORDER BY signature, score DESC, file, line, statement"
        );
        return engine::print(engine, &sql, format, out);
    }
    let groups = Rows::of(
        engine,
        &format!(
            "SELECT signature, title, rings FROM groups WHERE signature LIKE '{group}%' \
             ORDER BY rings DESC, signature LIMIT {GROUPS}"
        ),
    )?;
    if groups.len() == 0 {
        let text = match group.is_empty() {
            true => "the data set has no bad dump with a known failure".to_owned(),
            false => format!("no group begins with {group}; `xhist-fleet groups` lists them"),
        };
        return Err(FleetError::Usage(text));
    }
    let good = Rows::of(engine, "SELECT COUNT(*) FROM rings WHERE outcome = 'good'")?.int(0, 0);
    let signatures: Vec<String> = (0..groups.len()).map(|row| format!("'{}'", groups.text(row, 0))).collect();
    let chosen = format!("signature IN ({})", signatures.join(", "));
    let suspects = Rows::of(engine, &first_suspects(&chosen, limit))?;
    let mut print = |line: String| writeln!(out, "{line}").map_err(FleetError::System);
    for row in 0..groups.len() {
        let signature = groups.text(row, 0);
        let bad = groups.int(row, 2);
        print(format!("group {signature}: {}", groups.text(row, 1)))?;
        print(format!(
            "suspects of {} and {} (ochiai score) [bad and good dumps that ran it]",
            counted(bad, "bad dump"),
            counted(good, "good dump")
        ))?;
        let own = (0..suspects.len()).filter(|suspect| suspects.text(*suspect, 0) == signature);
        for (place, suspect) in own.enumerate() {
            print(format!(
                "{:3}. {}:{} ({:.2}) {} [{}/{bad} {}/{good}]",
                place + 1,
                suspects.text(suspect, 1),
                suspects.int(suspect, 2),
                suspects.float(suspect, 6),
                suspects.text(suspect, 3),
                suspects.int(suspect, 4),
                suspects.int(suspect, 5),
            ))?;
        }
        print(String::new())?;
    }
    if good == 0 {
        print("no good dump to compare with: add some, or `--label outcome=good`".to_owned())?;
    }
    Ok(())
}

/// The beginning of a group's name.
fn group(command: &SuspectsArgs) -> Result<&str, FleetError> {
    let group = command.group.as_deref().unwrap_or_default();
    match group.chars().all(|char| char.is_ascii_hexdigit()) {
        true => Ok(group),
        false => Err(FleetError::Usage(format!(
            "`{group}` is not the beginning of a group's name; `xhist-fleet groups` lists them"
        ))),
    }
}
