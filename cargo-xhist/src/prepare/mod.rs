//! Everything before cargo runs: the recorder, the instrumented sources in the shadow, and the plan of the wrapper.

pub(crate) mod build_key;
pub(crate) mod const_fns;
pub(crate) mod generated;
mod memory;
mod output;
pub(crate) mod prepared;
pub(crate) mod recorder;
mod seed;
pub(crate) mod shadow;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use xhist_instrument::MainHash;
use xhist_instrument::map::MapFile;
use xhist_instrument::pipeline::{
    self, Failure, Outcome, RecordedShare, SourceSet as _, StatementCounts, ValueCounts,
};
use xhist_instrument::select::trigger::Request;
use xhist_instrument::select::{ValueSelection, requests};

use self::build_key::hash_text;
use self::const_fns::Needed;
use self::generated::Generated;
use self::memory::{Notes, Outcome as Done};
use self::prepared::Prepared;
use crate::command::Command;
use crate::command::config;
use crate::error::Error;
use crate::keep;
use crate::keep::facts::{Fact, Facts};
use crate::output::progress::Progress;
use crate::plan::{WrapperPlan, write_if_changed};
use crate::prepare::recorder::cache::Kept;
use crate::prepare::shadow::Shadow;
use crate::prepare::shadow::program_sources::{Choice, ProgramSources, ShadowSink};
use crate::prepare::shadow::written::WrittenFiles;
use crate::workspace::Workspace;
use crate::workspace::deps;
use crate::workspace::kept_analyses::KeptAnalyses;
use crate::workspace::module_graph::{self, ModuleGraph};

const READING_MAP: &str = "reading the map";
const MAP: &str = "xhist.map";
/// Directory of the maps of all builds.
const MAPS: &str = "maps";
/// What is in the shadow.
const WRITTEN: &str = "written";
/// The analyses of files.
const ANALYSES: &str = "analyses";
/// The share that was printed last.
const SHARE: &str = "share";

/// Below this number of percent, the share that is recorded is printed.
const LOW_SHARE: u64 = 95;

/// Wrappers that are kept: one for each choice of what is recorded and how.
const KEPT_WRAPPERS: usize = 8;

/// Prepares the command. `home`: where everything of ours lies. `target_dir`: cargo's target directory. `asks`: the wrapper may
/// end the build to get code recorded that a build script made.
pub(crate) fn prepare(
    command: &Command,
    workspace: &mut Workspace,
    (home, target_dir): (&Path, &Path),
    asks: bool,
) -> Result<Prepared, Error> {
    let progress = Progress::new(command.is_quiet());
    progress.step("looking for the recorder".into());
    let kept = recorder::get(command, home, workspace.has_dylib, &workspace.bare, &progress)?;
    // A repeated build has them already.
    if !command.own.deps.is_empty() && workspace.dependencies.is_empty() {
        deps::add(workspace, command, &recorder::targets(command, &kept.recorders)?)?;
    }
    let workspace = &*workspace;
    let triggers = requests(&command.own.settings, workspace.manifests())?;
    let question = format!("{asks} {}", memory::question(command, workspace, &kept, home));
    let done = match memory::recall(home, &question, command.is_again) {
        Some(done) => done,
        None => {
            let mut facts = Facts::new();
            let done =
                prepare_afresh(command, workspace, (home, target_dir), (&kept, asks), &progress, &mut facts)?;
            memory::keep(home, question, facts, done)
        }
    };
    done.notes.shares.iter().for_each(|share| progress.say(share));
    if command.runs() && !command.is_quiet() && is_new_share(home, done.notes.share.as_ref()) {
        done.notes.share.iter().for_each(|share| progress.say(&share.line));
    }
    drop(progress);
    let in_use = keep::hold(&done.wrappers);
    keep::prune(&home.join("wrapper"), "", KEPT_WRAPPERS);
    Ok(Prepared {
        wrappers: done.wrappers,
        build: done.build,
        kept,
        root: workspace.root.clone(),
        map: home.join(MAP),
        map_hash: done.map_hash,
        has_values: done.has_values,
        waits: triggers.iter().any(Request::starts),
        _in_use: in_use,
    })
}

/// Whether the last command printed another share, in whole percent: an edit and a test again need no line.
fn is_new_share(home: &Path, share: Option<&RecordedShare>) -> bool {
    let (file, text) = (home.join(SHARE), share.map_or(String::new(), |share| share.percent.to_string()));
    let is_new = std::fs::read_to_string(&file).unwrap_or_default() != text;
    // Without the file, the line is printed again.
    is_new && write_if_changed(&file, text.as_bytes()).is_ok()
}

/// Prepares without regard to an earlier preparation. `facts` gets what the outcome depends on.
fn prepare_afresh(
    command: &Command,
    workspace: &Workspace,
    (home, target_dir): (&Path, &Path),
    (kept, asks): (&Kept, bool),
    progress: &Progress,
    facts: &mut Facts,
) -> Result<Done, Error> {
    let settings = &command.own.settings;
    let triggers = requests(settings, workspace.manifests())?;
    let values = ValueSelection::new(&settings.values)
        .map_err(|error| Error::step("reading --values", error.to_string()))?;
    let watches = triggers.iter().any(Request::watches);
    let choice = Choice { workspace, settings, has_triggers: !triggers.is_empty(), watches, values };
    let mut notes = Notes::new(command.is_again);
    let needed = Needed::load(home);
    facts.extend([needed.fact()]);
    let map = home.join(MAP);
    let key = build_key::key(command, workspace, &kept.recorders, home, &map)?;
    let (shadow, build) = build_key::places(command, workspace, home, &key)?;
    let generated = Generated::of(home, &build);
    facts.extend([generated.fact()]);
    let analyses = KeptAnalyses::new(home.join(ANALYSES), format!("{:?}", build_key::program()));
    let (mut graph, outcomes, freed) =
        analyse(&choice, &triggers, (&needed, &generated, &analyses), progress, &mut notes)?;
    analyses.prune();
    facts.extend(std::mem::take(&mut graph.facts));
    let out_dirs = generated.directories();
    let written =
        write(&choice, &graph, outcomes, (&shadow, out_dirs), target_dir, &map, (facts, &mut notes))?;
    let has_shadow = |root: &PathBuf| written.files.binary_search(&root.as_path()).is_ok();
    let plan = WrapperPlan {
        root: workspace.root.clone(),
        shadow,
        roots: workspace.targets.iter().map(|target| target.root.clone()).filter(has_shadow).collect(),
        recorders: kept.recorders.clone(),
        user_wrapper: config::tool(command, "rustc-wrapper"),
        user_member_wrapper: config::tool(command, "rustc-workspace-wrapper"),
        map_hash: hash_text(written.map_hash),
        map: kept_map(&map.with_file_name(MAPS), written.map_hash),
        has_values: written.has_values,
        freed,
        generated: generated.described(|file| written.files.binary_search(&file).is_ok()).collect(),
        asks,
        file_names: written.names,
    };
    let wrappers = home.join("wrapper").join(&key);
    plan.install(&wrappers)?;
    let made = [build_key::epoch_file(home), map, WrapperPlan::file(&wrappers)];
    facts.extend(made.iter().map(|file| Fact::made(file)));
    facts.extend(written.files.iter().map(|file| Fact::made(&plan.shadow_of(file))));
    Ok(Done { wrappers, build, map_hash: plan.map_hash, has_values: plan.has_values, notes })
}

/// Collects and analyses the sources, and places the triggers.
fn analyse(
    choice: &Choice<'_>,
    triggers: &[Request],
    (needed, generated, kept): (&Needed, &Generated, &KeptAnalyses),
    progress: &Progress,
    notes: &mut Notes,
) -> Result<(ModuleGraph, Vec<Outcome>, BTreeSet<String>), Error> {
    let generated: Vec<PathBuf> = generated.files().map(Path::to_path_buf).collect();
    let mut graph = xhist_instrument::in_parallel(|| {
        module_graph::follow(
            choice.workspace,
            (kept, &generated),
            &|file: &Path| choice.options(file),
            |files| {
                progress.step(format!("instrumenting {files} files"));
            },
        )
    });
    let freed = xhist_instrument::in_parallel(|| {
        const_fns::free(&mut graph, choice.workspace, (needed, kept), &|file| choice.options_of(file))
    });
    output::record(&mut graph, choice);
    let set = ProgramSources { files: &graph.files, choice };
    let analyses = std::mem::take(&mut graph.analyses);
    let mut outcomes = xhist_instrument::in_parallel(|| pipeline::accept(&set, analyses));
    report_values(choice, &outcomes, notes);
    notes.share = share(&outcomes);
    let notes = RefCell::new(notes);
    let note = |note: &str| notes.borrow_mut().warn(format!("note: {note}"));
    pipeline::place_triggers(&set, &mut outcomes, triggers, note)?;
    Ok((graph, outcomes, freed))
}

/// The share of the statements that is recorded, if it is low.
fn share(outcomes: &[Outcome]) -> Option<RecordedShare> {
    let mut counts = StatementCounts::default();
    for outcome in outcomes {
        if let Outcome::Analyzed(analyzed) = outcome {
            counts.add(analyzed);
        }
    }
    counts.share_below(LOW_SHARE)
}

/// Prints how many of the selected bindings are recorded, and patterns of the command line that select none.
fn report_values(choice: &Choice<'_>, outcomes: &[Outcome], notes: &mut Notes) {
    let mut counts = ValueCounts::default();
    for outcome in outcomes {
        if let Outcome::Analyzed(analyzed) = outcome {
            counts.add(analyzed);
        }
    }
    for pattern in choice.values.unused() {
        notes.warn(format!("note: --values {pattern}: no binding matches"));
    }
    notes.shares.extend(counts.share());
}

/// The instrumented sources.
struct Written<'a> {
    map_hash: u64,
    has_values: bool,
    /// Sources that have a shadow, in their order.
    files: Vec<&'a Path>,
    /// A line for each file id: the id, a blank, the path as the map has it.
    names: String,
}

/// Writes the map, then the shadow.
fn write<'a>(
    choice: &Choice<'_>,
    graph: &'a ModuleGraph,
    mut outcomes: Vec<Outcome>,
    (shadow, out_dirs): (&Path, BTreeSet<PathBuf>),
    target_dir: &Path,
    map_path: &Path,
    (facts, notes): (&mut Facts, &mut Notes),
) -> Result<Written<'a>, Error> {
    let workspace = choice.workspace;
    let names = MapFile::new(&workspace.root);
    let described: HashSet<String> =
        analysed(graph, &outcomes).map(|(_, path)| names.relative(path)).collect();
    let map = MapFile::load_without(map_path, &workspace.root, |path| described.contains(path));
    let mut map = map.map_err(|error| Error::step(READING_MAP, error))?;
    let set = ProgramSources { files: &graph.files, choice };
    let entered = pipeline::number(&set, &mut outcomes, &mut map);
    for outcome in &outcomes {
        if let Outcome::Failed(Failure::Map(error)) = outcome {
            return Err(Error::step(READING_MAP, error.to_string()));
        }
    }
    let (map_hash, text) = map.to_text();
    let has_values = map.has_values();
    let maps = map_path.with_file_name(MAPS);
    write_map(map_path, &maps, map_hash, &text)?;
    let shadow = Shadow::new(shadow, (mirrored(workspace, graph), out_dirs), target_dir);
    shadow.prepare(analysed(graph, &outcomes).map(|(_, path)| path))?;
    let list = map_path.with_file_name(WRITTEN);
    let kept = WrittenFiles::load(&list, format!("{:?}", build_key::program()));
    let sink = ShadowSink { files: &graph.files, shadow: &shadow, written: &kept, maps: &maps };
    xhist_instrument::in_parallel(|| {
        pipeline::write(&set, &mut outcomes, &entered, MainHash::FromEnv, &sink, || ())
    });
    report_failures(&set, &outcomes, notes)?;
    kept.keep();
    let files: Vec<&Path> = analysed(graph, &outcomes).map(|(_, path)| path).collect();
    facts.extend(shadow.link(files.iter().copied(), &graph.data)?);
    facts.extend([Fact::made(&kept_map(&maps, map_hash))]);
    let mut names = String::new();
    for (index, path) in analysed(graph, &outcomes) {
        let name = map.relative(path);
        // Only ids of one byte are values of an enumeration; all of them would be too much for the environment of a process.
        let ids = entered[index].numbers.ids.iter().filter(|id| **id <= u16::from(u8::MAX));
        ids.for_each(|id| names.push_str(&format!("{id} {name}\n")));
    }
    Ok(Written { map_hash, has_values, files, names })
}

/// Sources that did not fail so far, with their indices.
fn analysed<'a>(graph: &'a ModuleGraph, outcomes: &[Outcome]) -> impl Iterator<Item = (usize, &'a Path)> {
    let pairs = graph.files.iter().zip(outcomes).enumerate();
    let analysed = pairs.filter(|(_, (_, outcome))| matches!(outcome, Outcome::Analyzed(_)));
    analysed.map(|(index, (file, _))| (index, file.path.as_path()))
}

/// The directories whose tree is mirrored down to the files.
fn mirrored(workspace: &Workspace, graph: &ModuleGraph) -> Vec<PathBuf> {
    let members = workspace.packages.iter().map(|member| member.directory.clone());
    let mut bases: Vec<_> = members.chain([workspace.root.clone()]).collect();
    // So is a directory of data that contains one of them.
    let around = graph.data.iter().filter(|data| bases.iter().any(|base| base.starts_with(data)));
    bases.extend(around.cloned().collect::<Vec<_>>());
    bases
}

/// Writes the map, and a copy under its hash: a dump of an older build can be read as long as the copy is kept.
fn write_map(path: &Path, maps: &Path, hash: u64, text: &[u8]) -> Result<(), Error> {
    write_if_changed(path, text)?;
    write_if_changed(&kept_map(maps, hash), text)
}

/// The place of the copy of a map.
fn kept_map(maps: &Path, hash: u64) -> PathBuf {
    maps.join(format!("{}.map", hash_text(hash)))
}

/// Warns of sources that could not be instrumented.
///
/// # Errors
/// The shadow could not be written.
fn report_failures(set: &ProgramSources<'_>, outcomes: &[Outcome], notes: &mut Notes) -> Result<(), Error> {
    for (index, outcome) in outcomes.iter().enumerate() {
        match outcome {
            Outcome::Failed(Failure::Sink(error)) => {
                return Err(Error::step("writing the instrumented sources", error.to_string()));
            }
            Outcome::Failed(failure) => {
                let failure = failure.describe(&set.name(index));
                notes.warn(format!("warning: {failure}; this file runs without history"));
            }
            Outcome::Analyzed(_) | Outcome::LeftAlone(_) => {}
        }
    }
    Ok(())
}
