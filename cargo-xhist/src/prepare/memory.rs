//! The last preparation: while nothing that it read has changed, the next command takes its result.
//!
//! Only one is kept, because all choices write the same map, and some of them the same shadow.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xhist_instrument::pipeline::RecordedShare;

use super::build_key;
use crate::command::Command;
use crate::command::config;
use crate::keep::facts::{Facts, FileStamp};
use crate::plan;
use crate::prepare::recorder::cache::Kept;
use crate::workspace::Workspace;

const FILE: &str = "prepared";

/// What a preparation left behind for the call of cargo.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// The directory of the plan and the wrappers.
    pub(crate) wrappers: PathBuf,
    /// Cargo's target directory.
    pub(crate) build: PathBuf,
    pub(crate) map_hash: String,
    /// The program records values.
    pub(crate) has_values: bool,
    pub(crate) notes: Notes,
}

/// What a preparation prints: the same when its result is used again.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Notes {
    warnings: Vec<String>,
    /// The command repeats a run: the caller prints what the user needs.
    #[serde(skip)]
    is_silent: bool,
    /// Lines that `-q` leaves out.
    pub(crate) shares: Vec<String>,
    /// The share of the statements that is recorded, if it is low.
    pub(crate) share: Option<RecordedShare>,
}

/// See the module.
#[derive(Serialize, Deserialize)]
struct Memory {
    question: String,
    facts: Facts,
    outcome: Outcome,
}

impl Notes {
    /// None so far.
    pub(crate) fn new(is_silent: bool) -> Notes {
        Notes { is_silent, ..Notes::default() }
    }

    /// Prints a line on stderr.
    pub(crate) fn warn(&mut self, line: String) {
        if !self.is_silent {
            eprintln!("{line}");
        }
        self.warnings.push(line);
    }

    /// Prints all warnings again.
    fn repeat(&self) {
        self.warnings.iter().for_each(|line| eprintln!("{line}"));
    }
}

/// All that decides about a preparation and is not in the sources: this program, the options, the settings and targets of
/// all packages, the recorders, the user's wrappers, and where the results lie.
pub(crate) fn question(command: &Command, workspace: &Workspace, kept: &Kept, home: &Path) -> String {
    let program = build_key::program();
    let wrappers = ["rustc-wrapper", "rustc-workspace-wrapper"].map(|tool| config::tool(command, tool));
    let recorders: Vec<_> = kept
        .recorders
        .iter()
        .map(|(target, recorder)| {
            let stamps: Vec<_> = recorder.libraries().map(FileStamp::of).collect();
            (target, recorder, stamps)
        })
        .collect();
    let (own, version) = (&command.own, env!("CARGO_PKG_VERSION"));
    let parts = (version, program, &own.settings, &own.deps, workspace.description(), recorders, wrappers);
    format!("{parts:?} {}", home.display())
}

/// The outcome of the last preparation, if it had this question and nothing has changed since.
pub(crate) fn recall(home: &Path, question: &str, is_silent: bool) -> Option<Outcome> {
    let text = std::fs::read(home.join(FILE)).ok()?;
    let memory: Memory =
        serde_json::from_slice(&text).ok().filter(|memory: &Memory| memory.question == question)?;
    let (facts, spares) = memory.facts.renewed()?;
    let memory = Memory { facts, ..memory };
    if spares {
        memory.write(home);
    }
    if !is_silent {
        memory.outcome.notes.repeat();
    }
    Some(memory.outcome)
}

/// Keeps an outcome.
pub(crate) fn keep(home: &Path, question: String, facts: Facts, outcome: Outcome) -> Outcome {
    let memory = Memory { question, facts, outcome };
    memory.write(home);
    memory.outcome
}

impl Memory {
    /// Without it, the next command prepares from the beginning, so errors are ignored.
    fn write(&self, home: &Path) {
        if let Ok(text) = serde_json::to_vec(self) {
            let _ = plan::write_if_changed(&home.join(FILE), &text);
        }
    }
}
