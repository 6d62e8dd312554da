//! Suspects: the statements of a failed run, ranked by how likely each is the mistake.
//!
//! [`run`] reads the tests of a run, [`mod@rank`] ranks their sites, and [`text`], [`json`] and [`sarif`] print them.

mod bits;
mod clusters;
mod control;
mod failed_test;
mod findings;
mod first_lines;
mod formula;
mod history;
mod json;
mod maker_text;
mod makers;
mod nearest;
mod not_run;
mod processes;
mod program;
mod rank;
mod run;
mod sarif;
mod signature;
mod spectra;
mod text;
mod text_weight;

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub use failed_test::{FailedTest, failed_firmware, failed_test};
pub use first_lines::FirstLines;
pub use nearest::{NearestError, NearestTest, RanLine, nearest_passed};
pub use processes::processes_of_ended_tests;
pub use program::{Role, role};
pub use run::RingsOfTests;

use self::findings::{SuspectFindings, SuspectText};
use self::first_lines::FailedWay;
use self::history::{Access, NO_CALL, TestedCode};
use self::program::ProgramSites;
use self::rank::{Ranking, rank};
pub use self::run::StartedProcess;
use self::run::{RecordedRun, RunError, Test, Tests};
use self::spectra::Spectra;
use self::text_weight::TextEvidence;
use crate::budget::{Budget, cut_document};
use qs_core::record::Statement;
use xhist_history::ExitCode;
use xhist_history::model::{Names, Ring, ShownValue, visible};
use xhist_history::notes::typed;
use xhist_history::notes::{Notes, outcome};
use xhist_history::options::selection::Pattern;
use xhist_history::program::map::Maps;
use xhist_history::program::text::SourceText;
use xhist_history::program::values::ValueReader;
use xhist_history::recording::SuspectRow;
use xhist_history::runs::record::run_directory;
use xhist_history::{MapPlaces, ProgramPlaces, ReadOptions};

/// How suspects are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SuspectFormat {
    /// `RANK. file:line (score) function`, with source text, by function unless it is brief.
    #[default]
    Text,
    /// One JSON document.
    Json,
    /// SARIF 2.1.0.
    Sarif,
}

/// What to print.
#[derive(Clone, Debug)]
pub struct SuspectOptions {
    /// The directory of the run.
    pub directory: PathBuf,
    /// How to print.
    pub format: SuspectFormat,
    /// Most suspects.
    pub limit: usize,
    /// A few lines of text, the first suspect last, and nothing if there is nothing to rank.
    pub brief: bool,
    /// Name the command that repeats the test with values.
    pub offers_values: bool,
    /// Only what makes this test fail.
    pub test: Option<String>,
    /// The map to use, whatever the run says.
    pub map: Option<PathBuf>,
    /// Directories whose sources may be shown, too.
    pub source_roots: Vec<PathBuf>,
    /// The program, whatever the run says.
    pub program: Option<PathBuf>,
    /// Values of these places are not shown.
    pub redact: Vec<Pattern>,
    /// How long the JSON document may be.
    pub budget: Option<Budget>,
}

/// Suspects that are considered for the few lines below an answer.
const BELOW_ANSWER: usize = 60;

/// Prints the few lines below an answer, and nothing if there is nothing to rank. `offers_values`: the run may be repeated with
/// values.
pub fn print_brief(run: &Path, offers_values: bool, out: &mut dyn Write, notes: &mut Notes<'_>) -> ExitCode {
    let options = brief(run, BELOW_ANSWER, &MapPlaces::default(), &[]);
    print(&SuspectOptions { offers_values, ..options }, out, notes)
}

/// The same lines for one failed test, which was repeated with values.
pub fn print_brief_of(run: &Path, test: &str, out: &mut dyn Write, notes: &mut Notes<'_>) -> ExitCode {
    let options = brief(run, BELOW_ANSWER, &MapPlaces::default(), &[]);
    print(&SuspectOptions { test: Some(test.to_owned()), ..options }, out, notes)
}

/// Prints the suspects of a run.
pub fn print(options: &SuspectOptions, out: &mut dyn Write, notes: &mut Notes<'_>) -> ExitCode {
    match suspects(options, out, notes) {
        Ok(code) => code,
        Err(_) if options.brief => ExitCode::Incomplete,
        Err(error) => {
            notes.error(format_args!("{error}"));
            ExitCode::Incomplete
        }
    }
}

/// The most suspicious lines of a run: those of this number of ranks. Empty if nothing can be ranked.
pub fn first_lines(directory: &Path, ranks: usize) -> FirstLines {
    let options = brief(directory, ranks, &MapPlaces::default(), &[]);
    let mut nowhere = io::sink();
    let found = ranked(&options, &mut Notes::new(&mut nowhere), |clusters, map_hash, _| {
        let way = |findings: &SuspectFindings<'_>| FailedWay {
            tests: findings.failed_tests().map(str::to_owned).collect(),
            lines: findings.own_lines(map_hash),
        };
        FirstLines(clusters.iter().map(way).collect())
    });
    found.ok().flatten().unwrap_or_default()
}

/// The same lines, as they are in a later run of the same project with other instrumentation.
pub fn first_lines_in(later: &Path, directory: &Path, ranks: usize) -> FirstLines {
    // The numbers of files stay from build to build.
    let hash = RecordedRun::read(&run_directory(later)).and_then(|run| run.map_hash());
    hash.map(|hash| first_lines(directory, ranks).in_map(hash)).unwrap_or_default()
}

/// For each failed test of a run the recorded processes that it started, directly or through others, in the order of their starts.
pub fn started_processes(directory: &Path) -> Vec<Vec<StartedProcess>> {
    RecordedRun::read(directory).map(|run| run.started()).unwrap_or_default()
}

/// The most suspicious lines of a run with scores and texts, for each way in which tests failed; and the command that compares a failed test with the passed one
/// most like it, if there is one.
pub fn rows_and_diff(directory: &Path, ranks: usize) -> (Vec<Vec<SuspectRow>>, Option<String>) {
    let options = brief(directory, ranks, &MapPlaces::default(), &[]);
    let mut nowhere = io::sink();
    let found = ranked(&options, &mut Notes::new(&mut nowhere), |clusters, _, lines| {
        let rows = clusters.iter().map(|findings| findings.rows(lines)).collect();
        (rows, comparable(clusters, None).map(|test| diff_command(&options.directory, test)))
    });
    found.ok().flatten().unwrap_or_default()
}

/// The same with scores and texts, for views. `maps` and `source_roots` say where the map and the sources are.
pub fn rows(directory: &Path, ranks: usize, maps: &MapPlaces, source_roots: &[PathBuf]) -> Vec<SuspectRow> {
    let options = brief(directory, ranks, maps, source_roots);
    let mut nowhere = io::sink();
    let found = ranked(&options, &mut Notes::new(&mut nowhere), |clusters, _, lines| {
        clusters.iter().flat_map(|findings| findings.rows(lines)).collect()
    });
    found.ok().flatten().unwrap_or_default()
}

/// The rings whose panics made tests fail, by the names of the tests: the file of each, and its number there.
pub fn failing_rings(directory: &Path) -> HashMap<String, (PathBuf, usize)> {
    let options = brief(directory, 1, &MapPlaces::default(), &[]);
    let mut nowhere = io::sink();
    let found = ranked(&options, &mut Notes::new(&mut nowhere), |clusters, _, _| {
        let tests = clusters.first().map(|findings| findings.tests).filter(|tests| !tests.are_crashes);
        let failed = tests.into_iter().flat_map(|tests| &tests.tests).filter(|test| test.failed);
        let ring =
            |test: &Test| test.ring.clone().map(|(ring, path)| (test.name.clone(), (path, ring.number)));
        failed.filter_map(ring).collect()
    });
    found.ok().flatten().unwrap_or_default()
}

/// The first ranks, without values.
fn brief(directory: &Path, ranks: usize, maps: &MapPlaces, source_roots: &[PathBuf]) -> SuspectOptions {
    SuspectOptions {
        directory: run_directory(directory),
        format: SuspectFormat::default(),
        limit: ranks,
        brief: true,
        offers_values: false,
        test: None,
        map: maps.given.clone(),
        source_roots: source_roots.to_vec(),
        program: None,
        redact: Vec::new(),
        budget: None,
    }
}

fn suspects(
    options: &SuspectOptions,
    out: &mut dyn Write,
    notes: &mut Notes<'_>,
) -> Result<ExitCode, RunError> {
    let written = ranked(options, notes, |clusters, _, lines| {
        let clusters = options.test.as_deref().map_or(clusters, |test| of_test(clusters, test));
        match options.format {
            SuspectFormat::Text if options.brief => {
                let test = options.test.as_deref();
                let hints = hints(options, comparable(clusters, test));
                text::brief_text(clusters, test, &hints, lines, out)?;
            }
            SuspectFormat::Text => text::text(clusters, lines, out)?,
            SuspectFormat::Json => {
                let document = json::json(clusters, lines);
                let document = match &options.budget {
                    Some(budget) => cut_document(document, budget),
                    None => document,
                };
                writeln!(out, "{document:#}")?;
            }
            SuspectFormat::Sarif => writeln!(out, "{:#}", sarif::sarif(clusters, lines))?,
        }
        out.flush()
    })?;
    Ok(written.map_or(ExitCode::Usage, |written| outcome(written, notes)))
}

/// Ranks the statements of a run, for each cluster of failed tests apart. `None` if there is no map.
fn ranked<T>(
    options: &SuspectOptions,
    notes: &mut Notes<'_>,
    then: impl FnOnce(&[SuspectFindings<'_>], u64, SuspectText<'_>) -> T,
) -> Result<Option<T>, RunError> {
    let run = RecordedRun::read(&options.directory)?;
    let hash = run.map_hash()?;
    let reading = reading(options);
    let ring = Ring::of_map(hash);
    let Ok(maps) = Maps::load(&[&ring], &reading, notes) else { return Ok(None) };
    let (map, names) = maps.of(&ring);
    let program = run.program(names);
    if program.sites.is_empty() {
        return Err(RunError::NoMap(hash));
    }
    let mut found = run.tests(&TestedCode::new(&program, names, &reading.programs))?;
    report_limits(&run, &found, notes);
    let mut sources = SourceText::new(&reading);
    let mut texts = |site: u32, line: u32, notes: &mut Notes<'_>| {
        let file = program.sites[site as usize].file;
        sources.line((map, names), file, line, notes).map(str::to_owned)
    };
    let in_front = program.in_front();
    for history in found.tests.iter_mut().filter_map(|test| test.history.as_mut()) {
        let at = history.panic_site.zip(history.panic_line);
        let text = at.and_then(|(site, line)| texts(site, line, notes));
        // Of an operation that panicked itself, the calls before it say nothing.
        history.is_check = text.is_some_and(|text| text_weight::only_checks(&text));
        if !history.is_check {
            history.returned.clear();
        }
        // What returns the value of a name has made nothing, and no more has a destructor.
        history.returned.retain(|site| {
            let text = texts(*site, program.sites[*site as usize].line, notes);
            !text.is_some_and(|text| maker_text::only_names(&text)) && !program.is_of_drop(*site)
        });
        let text = &mut |site, line| texts(site, line, notes);
        history.makers = makers::makers((&program, &in_front), history, text);
    }
    let accesses = accesses(&program, &found.tests, &mut |site, line| texts(site, line, notes));
    let mut weigh = |site: u32| {
        let text = texts(site, program.sites[site as usize].line, notes);
        TextEvidence::of(text.as_deref())
    };
    let mut rankings: Vec<Ranking> = Vec::new();
    let blamed = program.blamed(found.tests.iter().filter(|test| test.failed).map(|test| &test.ran));
    for failed in clusters::clusters(&blamed, &found.tests) {
        let mut ranking = rank(&blamed, &found.tests, &failed, &accesses, &mut weigh);
        ranking.suspects.truncate(options.limit);
        rankings.push(ranking);
    }
    let values = match options.brief {
        true => HashMap::new(),
        false => values(&found, &rankings, &program, (map, names), (&reading, notes)),
    };
    let mut lines = |site: u32, line: u32| texts(site, line, notes).unwrap_or_default();
    let findings = rankings.iter().map(|ranking| SuspectFindings {
        program: &program,
        names,
        tests: &found,
        ranking,
        values: &values,
    });
    let findings: Vec<SuspectFindings<'_>> = findings.collect();
    let done = then(&findings, hash, &mut lines);
    if !options.brief {
        sources.report_changed(notes);
    }
    Ok(Some(done))
}

/// The signature of a function, of whose file this is a site. Empty if it is not known.
fn signature(
    (program, function): (&ProgramSites, u32),
    site: u32,
    text_of: &mut dyn FnMut(u32, u32) -> Option<String>,
) -> String {
    let body = program.function_lines[function as usize];
    signature::signature((1..=body).rev().map_while(|line| text_of(site, line)))
}

/// What the functions that failed tests called do to what they are called on, as their text says.
fn accesses(
    program: &ProgramSites,
    tests: &[Test],
    text_of: &mut dyn FnMut(u32, u32) -> Option<String>,
) -> HashMap<u32, Access> {
    let histories = tests.iter().filter(|test| test.failed).filter_map(|test| test.history.as_ref());
    let mut called: HashMap<u32, u32> = HashMap::new();
    for history in histories {
        let calls = history.order.iter().zip(&history.called);
        calls.filter(|(_, called)| **called != NO_CALL).for_each(|(site, of)| {
            called.entry(*of).or_insert(*site);
        });
    }
    let access = |(function, site)| {
        let signature = signature((program, function), site, text_of);
        let access = match (signature::only_reads(&signature), signature::changes(&signature)) {
            (true, _) => Access::Reads,
            (_, true) => Access::Changes,
            _ => return None,
        };
        Some((function, access))
    };
    called.into_iter().filter_map(access).collect()
}

/// Values behind the last execution of each suspect, in the first failed test that has any.
fn values(
    found: &Tests,
    rankings: &[Ranking],
    program: &ProgramSites,
    names: (usize, &Names),
    (reading, notes): (&ReadOptions, &mut Notes<'_>),
) -> HashMap<u32, Vec<ShownValue>> {
    let mut readers: HashMap<&Path, ValueReader> = HashMap::new();
    let mut shown = HashMap::new();
    for site in rankings.iter().flat_map(|ranking| &ranking.suspects).map(|suspect| &suspect.site) {
        let recorded = found
            .tests
            .iter()
            .find_map(|test| Some((test.history.as_ref()?.values.get(site)?, test.ring.as_ref()?)));
        let Some((values, (ring, path))) = recorded else { continue };
        let place = &program.sites[*site as usize];
        let programs = ProgramPlaces { source: Some(path.clone()), ..reading.programs.clone() };
        let options = ReadOptions { programs, ..reading.clone() };
        let reader = readers.entry(path).or_default();
        let values = reader.show(ring, names, Some((place.file, place.line)), values, (&options, notes));
        shown.insert(*site, values);
    }
    shown
}

/// The cluster that has this test; all of them if none has it.
fn of_test<'f, 't>(clusters: &'f [SuspectFindings<'t>], test: &str) -> &'f [SuspectFindings<'t>] {
    let has_it = |findings: &SuspectFindings<'_>| findings.failed_tests().any(|name| name == test);
    clusters.iter().position(has_it).map_or(clusters, |at| &clusters[at..=at])
}

/// A failed test that a passed one is like: this test if possible.
fn comparable<'f>(clusters: &'f [SuspectFindings<'_>], test: Option<&str>) -> Option<&'f str> {
    let nearest = clusters
        .iter()
        .flat_map(|findings| findings.ranking.nearest.iter().map(|(failed, _)| findings.name(*failed)));
    nearest.clone().find(|name| Some(*name) == test).or_else(|| nearest.clone().next())
}

/// The command that compares a failed test with the passed one most like it.
fn diff_command(directory: &Path, test: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let directory = directory.strip_prefix(here).unwrap_or(directory);
    let failed = format!("{}::{test}", directory.display());
    typed::tool(("diff", "xhist_compare"), &[("failed", &visible(&failed))], &[])
}

/// The commands that show more; one compares a failed test with the passed one most like it.
fn hints(options: &SuspectOptions, test: Option<&str>) -> Vec<String> {
    let diff = test.map(|test| {
        format!(
            "where it parts from the passed test most like it: {}",
            diff_command(&options.directory, test)
        )
    });
    let values = options.offers_values.then(|| format!("again, with values: {}", typed::command("why")));
    let all = format!("all suspects and why: {}", typed::command("suspects"));
    [all].into_iter().chain(diff).chain(values).collect()
}

/// Where the map and the sources are.
fn reading(options: &SuspectOptions) -> ReadOptions {
    let maps = MapPlaces {
        given: options.map.clone(),
        dump_dir: Some(options.directory.clone()),
        work_dir: std::env::current_dir().ok(),
        ..MapPlaces::default()
    };
    let programs = ProgramPlaces { given: options.program.clone(), ..ProgramPlaces::default() };
    let (source_roots, redact) = (options.source_roots.clone(), options.redact.clone());
    ReadOptions { maps, programs, redact, source_roots, ..ReadOptions::default() }
}

/// What the ranking does not know.
fn report_limits(run: &RecordedRun, found: &Tests, notes: &mut Notes<'_>) {
    if run.spectra.damaged > 0 {
        let places = xhist_history::model::count(run.spectra.damaged, "place");
        notes.loss(format_args!("{places} in files of spectra: damaged, or too long to be read"));
    }
    if run.spectra.cut > 0 {
        let files = xhist_history::model::count_processes(run.spectra.cut);
        let most = qs_core::listing::Thousands(spectra::MAX_THREADS as u64);
        notes.loss(format_args!("threads of {files} do not count: suspects read {most} threads at most"));
    }
    if run.spectra.lost > 0 {
        notes.loss(format_args!("{} statements are missing in spectra", run.spectra.lost));
    }
    if found.uncounted > 0 {
        let processes = xhist_history::model::count_processes(found.uncounted);
        let counts = if found.uncounted == 1 { "counts" } else { "count" };
        notes.note(format_args!(
            "{processes} that tests started {counts} for no test: which test started them is not known"
        ));
    }
    if !found.unknown.is_empty() {
        notes.note(format_args!(
            "of {} nothing is recorded: {}",
            xhist_history::model::count(found.unknown.len(), "failed test"),
            found.unknown.join(", ")
        ));
    }
}

/// The statements that the threads of a run recorded to have run, by the hash of their map.
pub fn ran_by_threads(directory: &Path) -> HashMap<u64, HashSet<Statement>> {
    let spectra = Spectra::read(directory);
    let mut ran: HashMap<u64, HashSet<Statement>> = HashMap::new();
    for thread in &spectra.threads {
        ran.entry(thread.map_hash).or_default().extend(spectra.statements(thread));
    }
    ran
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_ends_where_the_body_begins() {
        let text = ["impl A {", "fn map<F>(", "    &self,", "    f: F,", ") -> B {", "f(self)"];
        let mut program = ProgramSites::default();
        program.function_lines = vec![5];
        let signature = signature((&program, 0), 0, &mut |_, line| {
            text.get(line as usize - 1).map(|text| text.to_string())
        });
        assert_eq!(signature, "fn map<F>( &self, f: F, ) -> B { ");
        assert!(signature::only_reads(&signature));
    }
}
