//! The pipeline of every front end: collect -> analyse -> place -> number -> instrument -> prove -> write.
//!
//! A front end collects a [`SourceSet`] and names a [`Sink`]; the steps between them are here, once. Each step works on the
//! outcomes of the step before, one for each source, so a source that fails keeps its failure to the end.

mod outcome;
mod skipped_lines;
mod statement_counts;
mod value_counts;

pub use outcome::{Analyzed, Exemption, Failure, Outcome};
pub use statement_counts::{RecordedShare, StatementCounts};
pub use value_counts::ValueCounts;

use self::skipped_lines::skipped_lines;
use crate::map::kept_texts;
use crate::map::{FileFacts, MapFile};
use crate::select::trigger::{self, Placed, Request, TriggerError};
use crate::text::fingerprint;
use crate::{Analysis, Macros, MainHash, Numbers, Options, Refusal};
use rayon::prelude::*;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Sources in a fixed order: files of folders, the modules of a program, or a text from stdin.
pub trait SourceSet: Sync {
    /// Number of sources.
    fn count(&self) -> usize;

    /// The file of a source, as triggers name it.
    fn path(&self, index: usize) -> &Path;

    /// The file whose lines are recorded.
    fn recorded_path(&self, index: usize) -> PathBuf {
        self.path(index).to_path_buf()
    }

    /// The name of a source in messages.
    fn name(&self, index: usize) -> String;

    /// Why a source is left alone, when that is known before it is read.
    fn exemption(&self, _index: usize) -> Option<Exemption> {
        None
    }

    /// Whether a source belongs to a dependency: the user's own statements get the lower numbers.
    fn is_dependency(&self, _index: usize) -> bool {
        false
    }

    /// The options of a source.
    fn options(&self, index: usize) -> Options;

    /// The text of a source.
    fn text(&self, index: usize) -> Result<SourceText<'_>, Failure>;

    /// Removes what the user does not want from the analysis of a source. Returns why the whole source is left alone, if
    /// it is.
    fn select(&self, index: usize, analysis: &mut Analysis) -> Option<Exemption>;
}

/// A source as it is, and the text to instrument.
pub struct SourceText<'a> {
    /// As it is in the file.
    pub raw: Cow<'a, [u8]>,
    /// Without the calls that an earlier run inserted.
    pub original: Cow<'a, [u8]>,
}

/// Where the results go.
pub trait Sink: Sync {
    /// Writes the instrumented text of a source.
    fn put(&self, index: usize, source: &SourceText<'_>, text: &[u8]) -> Result<(), Failure>;

    /// Whether the result of these inputs is there already, as this sink wrote it.
    fn has(&self, _index: usize, _inputs: u64) -> bool {
        false
    }

    /// The result of these inputs is written.
    fn written(&self, _index: usize, _inputs: u64) {}

    /// The directory that keeps the texts of instrumented sources.
    fn texts(&self) -> Option<&Path>;

    /// Writes a source that is not instrumented; `is_cleaned`: without the calls of an earlier run. Returns whether it had
    /// such calls.
    fn leave(&self, index: usize, is_cleaned: bool) -> Result<bool, Failure>;
}

/// What the map says about a source.
#[derive(Default)]
pub struct Entered {
    /// File ids and statement numbers, for a source that is instrumented.
    pub numbers: Numbers,
    /// The program records values.
    has_values: bool,
    /// The source is not instrumented, and calls of an earlier run are removed.
    is_cleaned: bool,
}

impl Entered {
    /// A source that is instrumented with these numbers.
    pub fn with(numbers: Numbers) -> Self {
        Self { numbers, has_values: false, is_cleaned: false }
    }
}

/// Analyses all sources, in parallel. `macros`: those that are called across files. `each` is called once for a source.
pub fn analyse(set: &impl SourceSet, macros: &Macros, each: impl Fn() + Sync) -> Vec<Outcome> {
    let analyse = |index| {
        each();
        guarded(|| analyse_one(set, index, macros)).unwrap_or_else(Outcome::Failed)
    };
    (0..set.count()).into_par_iter().map(analyse).collect()
}

fn analyse_one(set: &impl SourceSet, index: usize, macros: &Macros) -> Result<Outcome, Failure> {
    if let Some(exemption) = set.exemption(index) {
        return Ok(Outcome::LeftAlone(exemption));
    }
    let text = set.text(index)?;
    let analysis = crate::analyze_among(&text.original, &set.options(index), macros)?;
    Ok(select(set, index, analysis, &text))
}

/// The outcomes of sources that were analysed while they were collected.
pub fn accept(set: &impl SourceSet, analyses: Vec<Result<Analysis, Refusal>>) -> Vec<Outcome> {
    let accept =
        |(index, analysis): (usize, Result<_, _>)| Ok(select(set, index, analysis?, &set.text(index)?));
    analyses.into_par_iter().enumerate().map(|pair| accept(pair).unwrap_or_else(Outcome::Failed)).collect()
}

fn select(set: &impl SourceSet, index: usize, mut analysis: Analysis, text: &SourceText<'_>) -> Outcome {
    if let Some(exemption) = set.select(index, &mut analysis) {
        return Outcome::LeftAlone(exemption);
    }
    let (fingerprint, source) = (fingerprint(&text.raw), kept_texts::hash(&text.original));
    let facts = FileFacts {
        skipped: skipped_lines(&text.original, &analysis),
        derived: analysis.structure.derived_traits(),
        priorities: analysis.structure.listed_priorities(),
    };
    Outcome::Analyzed(Box::new(Analyzed { analysis: Arc::new(analysis), fingerprint, source, facts }))
}

/// Sets each trigger at its statement. Returns them with the indices of their sources. `note` gets a message for each
/// trigger whose file is not among the sources.
///
/// # Errors
/// A trigger has no statement, or there are too many.
pub fn place_triggers(
    set: &impl SourceSet,
    outcomes: &mut [Outcome],
    requests: &[Request],
    note: impl Fn(&str),
) -> Result<Vec<(usize, Placed)>, TriggerError> {
    let paths: Vec<&Path> = (0..set.count()).map(|index| set.path(index)).collect();
    let look = |index: usize| match &outcomes[index] {
        Outcome::Analyzed(analyzed) => Ok(Arc::clone(&analyzed.analysis)),
        Outcome::LeftAlone(exemption) => Err(format!("the file is left alone: {exemption}")),
        Outcome::Failed(failure) => Err(failure.describe(&set.name(index))),
    };
    let placed = trigger::place(requests, &paths, look, note)?;
    for (index, trigger) in &placed {
        if let Outcome::Analyzed(analyzed) = &mut outcomes[*index] {
            analyzed.add_trigger(trigger);
        }
    }
    Ok(placed)
}

/// Enters all sources into the map: file ids, statement numbers and statements.
pub fn number(set: &impl SourceSet, outcomes: &mut [Outcome], map: &mut MapFile) -> Vec<Entered> {
    let mut order: Vec<usize> = (0..set.count()).collect();
    order.sort_by_key(|index| set.is_dependency(*index));
    let mut entered: Vec<Entered> = outcomes.iter().map(|_| Entered::default()).collect();
    for index in order {
        entered[index] = number_one(map, &set.recorded_path(index), &mut outcomes[index]);
    }
    let has_values = map.has_values();
    entered.iter_mut().for_each(|entered| entered.has_values = has_values);
    entered
}

fn number_one(map: &mut MapFile, path: &Path, outcome: &mut Outcome) -> Entered {
    let path = map.relative(path);
    let mut entered = Entered::default();
    match outcome {
        Outcome::Analyzed(analyzed) => match map.numbers(&path, &analyzed.analysis) {
            Ok(numbers) => {
                map.set_sites(&path, Arc::clone(&analyzed.analysis));
                map.set_facts(&path, std::mem::take(&mut analyzed.facts));
                map.set_source(&path, analyzed.source, !analyzed.analysis.main_at.is_empty());
                entered.numbers = numbers;
            }
            Err(error) => *outcome = Outcome::Failed(Failure::Map(error)),
        },
        Outcome::LeftAlone(exemption) if exemption.is_cleaned(map.has_statements(&path)) => {
            map.clear_sites(&path);
            entered.is_cleaned = true;
        }
        _ => {}
    }
    entered
}

/// Instruments and proves each source and hands it to the sink, in parallel. Returns the number of sources that had calls
/// of an earlier run and are no longer instrumented. `each` is called once for a source.
pub fn write(
    set: &impl SourceSet,
    outcomes: &mut [Outcome],
    entered: &[Entered],
    main_hash: MainHash,
    sink: &impl Sink,
    each: impl Fn() + Sync,
) -> usize {
    let write = |(index, (outcome, entered)): (usize, (&mut Outcome, &Entered))| {
        each();
        let main_values = entered.has_values;
        let options = Options { main_hash, main_values, ..set.options(index) };
        let cleaned = guarded(|| write_one(set, index, outcome, entered, &options, sink));
        cleaned.unwrap_or_else(|failure| {
            *outcome = Outcome::Failed(failure);
            false
        })
    };
    outcomes.par_iter_mut().zip(entered).enumerate().map(write).filter(|cleaned| *cleaned).count()
}

fn write_one(
    set: &impl SourceSet,
    index: usize,
    outcome: &Outcome,
    entered: &Entered,
    options: &Options,
    sink: &impl Sink,
) -> Result<bool, Failure> {
    let Outcome::Analyzed(analyzed) = outcome else {
        return sink.leave(index, entered.is_cleaned);
    };
    let text = set.text(index)?;
    if fingerprint(&text.raw) != analyzed.fingerprint {
        return Err(Failure::Changed);
    }
    let inputs = analyzed.inputs(&entered.numbers, options);
    // It was proved when it was written.
    let result = match sink.has(index, inputs) {
        true => None,
        false => {
            let result = crate::instrument(&text.original, &analyzed.analysis, &entered.numbers, options);
            let failed = |_: &Refusal| {
                // A tree of copies is complete even then.
                let _ = sink.leave(index, false);
            };
            Some(result.inspect_err(failed)?)
        }
    };
    // Texts of packages do not change.
    if let Some(directory) = sink.texts().filter(|_| !set.is_dependency(index)) {
        let kept = kept_texts::keep(directory, analyzed.source, &text.original, set.path(index));
        kept.map_err(|error| Failure::Io("keep its text", error))?;
    }
    if let Some(result) = result {
        sink.put(index, &text, &result)?;
    }
    sink.written(index, inputs);
    Ok(false)
}

/// Runs `work`; a panic is a failure of this one source.
fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let work = std::panic::AssertUnwindSafe(work);
    std::panic::catch_unwind(work).unwrap_or(Err(Failure::Panicked))
}
