//! What a launch configuration says.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

/// The fields of `launch` and `attach`. Those that are missing come from the command line of the adapter.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LaunchArgs {
    /// A ring file, core or image of memory, or a run.
    pub history: Option<PathBuf>,
    /// The directory that names of files are relative to.
    pub cwd: Option<PathBuf>,
    /// Where the session opens: `end`, `start`, or a step number.
    pub stop_at: Option<Value>,
    /// Only these threads.
    pub thread: Option<OneOrMore>,
    /// Where directories of the build are for the client.
    pub source_map: Option<BTreeMap<String, String>>,
    /// Directories to look for sources.
    pub source_roots: Option<Vec<PathBuf>>,
    /// The map of the instrumented build.
    pub map: Option<PathBuf>,
    /// The program that recorded.
    pub program: Option<PathBuf>,
    /// Go on with what a running program records.
    pub follow: Option<bool>,
    /// Only this ring.
    pub ring: Option<usize>,
    /// Only the newest entries.
    pub last: Option<u64>,
    /// Only these places.
    pub only: Option<OneOrMore>,
    /// Not these places.
    pub not: Option<OneOrMore>,
    /// Steps do not stop in dependencies; true if missing.
    pub just_my_code: Option<bool>,
}

/// A text, or a list of texts.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum OneOrMore {
    /// One.
    One(String),
    /// A list.
    More(Vec<String>),
}

impl OneOrMore {
    /// The texts.
    pub fn texts(&self) -> &[String] {
        match self {
            OneOrMore::One(text) => std::slice::from_ref(text),
            OneOrMore::More(texts) => texts,
        }
    }
}

/// Where a session opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopAt {
    /// At the failure, or the newest step.
    End,
    /// At the oldest step.
    Start,
    /// At the step with this number.
    Number(u64),
}

impl LaunchArgs {
    /// Where the session opens.
    ///
    /// # Errors
    /// The value has another type.
    pub fn stop_at(&self) -> Result<StopAt, String> {
        let wrong = |value: &Value| {
            format!(
                "stopAt is {}; it can be \"end\", \"start\" or a step number",
                super::message::short(&value.to_string())
            )
        };
        match &self.stop_at {
            None | Some(Value::Null) => Ok(StopAt::End),
            Some(Value::String(word)) if word == "end" => Ok(StopAt::End),
            Some(Value::String(word)) if word == "start" => Ok(StopAt::Start),
            Some(value) => {
                let number = value.as_u64().or_else(|| value.as_str()?.parse().ok());
                number.map(StopAt::Number).ok_or_else(|| wrong(value))
            }
        }
    }
}
