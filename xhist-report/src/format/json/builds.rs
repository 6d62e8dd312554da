//! Builds as JSON: the map of a ring, and what is known of it.

use serde::Serialize;

use xhist_history::model::{Age, KnownBuild, KnownMap, Origin, SourceChanges};

/// Where a build is from.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum JsonBuild<'a> {
    Known(Box<JsonKnownBuild<'a>>),
    Unknown { searched: &'a [String], here: Vec<OtherMap<'a>> },
}

#[derive(Serialize)]
pub(super) struct JsonKnownBuild<'a> {
    #[serde(flatten)]
    file: MapFile<'a>,
    also: &'a [String],
    tool: &'a str,
    files: usize,
    statements: usize,
    detail: &'static str,
    recorded: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    current: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    current_build: Option<OtherMap<'a>>,
    moved: Vec<Moved<'a>>,
    touched: &'a [String],
    missing: &'a [String],
}

#[derive(Serialize)]
struct MapFile<'a> {
    path: &'a str,
    root: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<String>,
}

#[derive(Serialize)]
pub(super) struct OtherMap<'a> {
    map: String,
    #[serde(flatten)]
    file: MapFile<'a>,
}

#[derive(Serialize)]
struct Moved<'a> {
    file: &'a str,
    line: u32,
}

fn map_file(map: &KnownMap) -> MapFile<'_> {
    MapFile { path: &map.path, root: &map.root, written: map.written_text() }
}

fn other_map(map: &KnownMap) -> OtherMap<'_> {
    OtherMap { map: format!("{:016x}", map.hash), file: map_file(map) }
}

/// Where a build is from.
pub(super) fn json_build(origin: &Origin) -> JsonBuild<'_> {
    match origin {
        Origin::Unknown { searched, here } => {
            JsonBuild::Unknown { searched, here: here.iter().map(other_map).collect() }
        }
        Origin::Known(known) => {
            let KnownBuild { map, also, tool, files, statements, recorded, age, sources } = &**known;
            let SourceChanges { moved, touched, missing } = sources;
            let (current, current_build) = match age {
                Age::Current => (Some(true), None),
                Age::Older(newest) => (Some(false), Some(other_map(newest))),
                Age::NotKnown => (None, None),
            };
            let moved = moved.iter().map(|(file, line)| Moved { file, line: *line }).collect();
            let (file, files, statements) = (map_file(map), *files, *statements);
            JsonBuild::Known(Box::new(JsonKnownBuild {
                file,
                also,
                tool,
                files,
                statements,
                detail: if *recorded < statements { "function" } else { "statement" },
                recorded: *recorded,
                current,
                current_build,
                moved,
                touched,
                missing,
            }))
        }
    }
}
