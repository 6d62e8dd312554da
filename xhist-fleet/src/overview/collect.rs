//! What the page shows.

use std::collections::BTreeMap;

use crate::engine::{Engine, first_suspects};
use crate::error::FleetError;
use crate::table::Rows;

/// Suspects of a group.
const SUSPECTS: usize = 5;

/// All of the page.
#[derive(Debug, Default)]
pub struct Overview {
    /// Number of dumps, of bad ones, and of groups.
    pub totals: [i64; 3],
    /// Builds in their order, each with its dumps and bad dumps.
    pub builds: Vec<(String, i64, i64)>,
    /// Days with dumps.
    pub days: Vec<String>,
    /// The largest groups.
    pub groups: Vec<GroupFacts>,
}

/// A group.
#[derive(Debug, Default)]
pub struct GroupFacts {
    /// Its name.
    pub signature: String,
    /// In words.
    pub title: String,
    /// Place of the failing statement.
    pub place: String,
    /// Open calls.
    pub stack: String,
    /// Number of dumps.
    pub rings: i64,
    /// Number of devices.
    pub devices: i64,
    /// Dumps by build.
    pub by_build: BTreeMap<String, i64>,
    /// Dumps by day.
    pub by_day: BTreeMap<String, i64>,
    /// The newest dump, and where it came from.
    pub example: String,
    /// Path or URL of the example.
    pub source: String,
    /// `src/x.rs:41 parse`, with score and counts.
    pub suspects: Vec<(String, f64, i64, i64)>,
}

/// Asks the data set.
pub fn collect(engine: &Engine, limit: usize) -> Result<Overview, FleetError> {
    let builds = Rows::of(engine, "SELECT build, rings, bad FROM builds ORDER BY ordinal")?;
    let days = Rows::of(engine, "SELECT DISTINCT CAST(day AS VARCHAR) AS day FROM rings ORDER BY day")?;
    let groups = Rows::of(
        engine,
        &format!(
            "SELECT signature, title, file, line, stack, rings, devices, example, source FROM groups \
             ORDER BY rings DESC, signature LIMIT {limit}"
        ),
    )?;
    let number = Rows::of(engine, "SELECT COUNT(*) FROM groups")?;
    let mut overview = Overview {
        builds: (0..builds.len())
            .map(|row| (builds.text(row, 0), builds.int(row, 1), builds.int(row, 2)))
            .collect(),
        days: (0..days.len()).map(|row| days.text(row, 0)).collect(),
        ..Overview::default()
    };
    let sum = |column: fn(&(String, i64, i64)) -> i64| overview.builds.iter().map(column).sum();
    overview.totals = [sum(|build| build.1), sum(|build| build.2), number.int(0, 0)];
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for row in 0..groups.len() {
        let signature = groups.text(row, 0);
        places.insert(signature.clone(), row);
        let place = match groups.text(row, 2) {
            file if file.is_empty() => String::new(),
            file => format!("{file}:{}", groups.int(row, 3)),
        };
        overview.groups.push(GroupFacts {
            signature,
            title: groups.text(row, 1),
            place,
            stack: groups.text(row, 4),
            rings: groups.int(row, 5),
            devices: groups.int(row, 6),
            example: groups.text(row, 7),
            source: groups.text(row, 8),
            ..GroupFacts::default()
        });
    }
    let counts = Rows::of(
        engine,
        "SELECT signature, build, CAST(day AS VARCHAR), COUNT(*) FROM rings \
         WHERE outcome = 'bad' AND signature IS NOT NULL GROUP BY signature, build, day",
    )?;
    for row in 0..counts.len() {
        let Some(group) = places.get(&counts.text(row, 0)).and_then(|place| overview.groups.get_mut(*place))
        else {
            continue;
        };
        let rings = counts.int(row, 3);
        *group.by_build.entry(counts.text(row, 1)).or_default() += rings;
        *group.by_day.entry(counts.text(row, 2)).or_default() += rings;
    }
    let suspects = Rows::of(engine, &first_suspects("TRUE", SUSPECTS))?;
    for row in 0..suspects.len() {
        let Some(group) =
            places.get(&suspects.text(row, 0)).and_then(|place| overview.groups.get_mut(*place))
        else {
            continue;
        };
        let place = format!("{}:{} {}", suspects.text(row, 1), suspects.int(row, 2), suspects.text(row, 3));
        group.suspects.push((place, suspects.float(row, 6), suspects.int(row, 4), suspects.int(row, 5)));
    }
    Ok(overview)
}
