//! The steps of `cargo xhist`, in their order.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rayon::prelude::*;

use crate::map::MapFile;
use crate::select::Wishes;
use crate::trigger::{self, Request};
use crate::{Detail, MainHash, Numbers, Options, Packed, Refusal, Trigger, When};

use super::cache::Kept;
use super::command::{Command, HELP, Parsed, Verb};
use super::error::Error;
use super::plan::{OUTER_NAME, Plan, Recorder, WRAPPER_NAME, write_if_changed};
use super::progress::Progress;
use super::reach::{self, Reached, Source};
use super::relay::Relay;
use super::shadow::Shadow;
use super::signals::Caught;
use super::workspace::{self, Workspace};
use super::{after, config, deps, keep, notes, plan, recorder, runner};

/// Wrappers that are kept: one for each choice of what is recorded and how.
const KEPT_WRAPPERS: usize = 8;

/// `cargo xhist` with these arguments.
pub(super) fn run(args: &[OsString]) -> Result<ExitCode, Error> {
    let command = match Command::parse(args)? {
        Parsed::Command(command) => command,
        Parsed::Help => {
            return Ok(tell(HELP));
        }
        Parsed::Version => {
            return Ok(tell(concat!("cargo-xhist ", env!("CARGO_PKG_VERSION"), "\n")));
        }
    };
    crate::atomic::survive_size_limit();
    let mut workspace = workspace::load(&command)?;
    let target_dir = match &command.target_dir {
        Some(chosen) => std::path::absolute(chosen).map_err(Error::file("find", chosen))?,
        None => workspace.target_dir.clone(),
    };
    let home = target_dir.join("xhist");
    std::fs::create_dir_all(&home).map_err(Error::file("create", &home))?;
    let prepared = {
        // Two runs at once must not write the same files.
        let lock = home.join("lock");
        let file = File::create(&lock).map_err(Error::file("create", &lock))?;
        file.lock().map_err(Error::file("lock", &lock))?;
        prepare(&command, &mut workspace, &home, &target_dir)?
    };
    notes::outside(&workspace, &command, &home, &prepared.kept.recorders);
    call_cargo(&command, &workspace, &home, &prepared)
}

/// Prints what was asked for; who does not read it to the end has seen enough.
fn tell(text: &str) -> ExitCode {
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}

/// What is ready before cargo runs.
pub(super) struct Prepared {
    /// Where the plan and the wrappers lie.
    pub(super) wrappers: PathBuf,
    /// Cargo's target directory.
    pub(super) build: PathBuf,
    pub(super) kept: Kept,
    pub(super) root: PathBuf,
    map: PathBuf,
    map_hash: String,
    /// A trigger starts recording.
    waits: bool,
    /// As long as this is open, nobody removes the wrappers.
    _in_use: Option<File>,
}

fn prepare(
    command: &Command,
    workspace: &mut Workspace,
    home: &Path,
    target_dir: &Path,
) -> Result<Prepared, Error> {
    let progress = Progress::new(command.is_quiet());
    progress.step("looking for the recorder".into());
    let kept = recorder::get(command, home, workspace.has_dylib, &workspace.bare_features, &progress)?;
    let recorders = kept.recorders.clone();
    if !command.deps.is_empty() {
        deps::add(workspace, command, &recorder::targets(command, &recorders)?)?;
    }
    let map_path = home.join("xhist.map");
    let triggers = requests(command, workspace)?;
    let options = |file: &Path| {
        let when = command.when.or_else(|| workspace.when(file)).unwrap_or_default();
        let detail = command.detail.or_else(|| workspace.detail(file)).unwrap_or_default();
        let triggers = !triggers.is_empty();
        Options { main_hash: MainHash::FromEnv, detail, when, triggers, ..Options::default() }
    };
    let mut reached = crate::in_parallel(|| {
        reach::reach(workspace, &options, |files| {
            progress.step(format!("instrumenting {files} files"));
        })
    });
    let in_dependencies = set_triggers(&triggers, &mut reached, workspace)?;
    let key = key(command, workspace, &recorders, epoch(home, &map_path)?, &in_dependencies);
    let (shadow_root, build) = places(command, home, &key)?;
    let members = workspace.packages.iter().map(|member| member.directory.clone());
    let mut bases: Vec<_> = members.chain([workspace.root.clone()]).collect();
    // A directory around them that holds data is mirrored as they are.
    let around = reached.data.iter().filter(|data| bases.iter().any(|base| base.starts_with(data)));
    bases.extend(around.cloned().collect::<Vec<_>>());
    let shadow = Shadow::new(&shadow_root, bases, target_dir);
    let Written { map_hash, files, names } =
        write_sources(&reached, &shadow, &map_path, workspace, &options)?;
    shadow.link(files.iter().map(PathBuf::as_path), &reached.data)?;
    drop(progress);
    let shadowed = |root: &PathBuf| files.binary_search(root).is_ok();
    let plan = Plan {
        root: workspace.root.clone(),
        shadow: shadow_root.clone(),
        roots: workspace.targets.iter().map(|target| target.root.clone()).filter(shadowed).collect(),
        recorders,
        user_wrapper: config::tool(command, "rustc-wrapper"),
        user_member_wrapper: config::tool(command, "rustc-workspace-wrapper"),
        map_hash: format!("{map_hash:016x}"),
        file_names: names,
    };
    let wrappers = home.join("wrapper").join(&key);
    plan.install(&wrappers)?;
    let in_use = keep::hold(&wrappers);
    keep::prune(&home.join("wrapper"), "", KEPT_WRAPPERS);
    Ok(Prepared {
        wrappers,
        build,
        kept,
        root: workspace.root.clone(),
        map: map_path,
        map_hash: plan.map_hash,
        waits: triggers.iter().any(Request::starts),
        _in_use: in_use,
    })
}

/// Triggers of the command line, then those of the manifests.
fn requests(command: &Command, workspace: &Workspace) -> Result<Vec<Request>, Error> {
    let mut found = Request::of_command_line(&command.start_at, &command.stop_at).map_err(Error::Usage)?;
    for request in workspace.wishes().flat_map(|wishes| &wishes.triggers) {
        // Members share the workspace's manifest.
        if !found.contains(request) {
            found.push(request.clone());
        }
    }
    Ok(found)
}

/// Each trigger to its statement. Returns those in dependencies, which cargo takes for unchangeable.
fn set_triggers(
    requests: &[Request],
    reached: &mut Reached,
    workspace: &Workspace,
) -> Result<Vec<(PathBuf, Trigger)>, Error> {
    let files: Vec<PathBuf> = reached.sources.keys().cloned().collect();
    let names: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let look = |index: usize| match &reached.sources[names[index]].analysis {
        Ok(analysis) => Ok(analysis.clone()),
        Err(refusal) => Err(format!("{}:{refusal}", names[index].display())),
    };
    let placed = trigger::place(requests, &names, look, |note| eprintln!("note: {note}"));
    let mut in_dependencies = Vec::new();
    for (index, trigger) in placed.map_err(Error::Usage)? {
        let file = &files[index];
        if let Some(Source { analysis: Ok(analysis), .. }) = reached.sources.get_mut(file) {
            analysis.add_trigger(trigger);
        }
        if workspace.dependencies.iter().any(|directory| file.starts_with(directory)) {
            in_dependencies.push((file.clone(), trigger));
        }
    }
    Ok(in_dependencies)
}

/// Where the shadow and cargo's output lie. Cargo keeps instrumented members apart from plain ones, by the path of
/// their wrapper. For dependencies it has no such thing, and it takes for granted that they never change: so each
/// choice of them has a directory of its own, which starts anew with the key.
fn places(command: &Command, home: &Path, key: &str) -> Result<(PathBuf, PathBuf), Error> {
    let shadow = match (command.detail, command.when) {
        (Some(Detail::Function), _) => "shadow-function",
        (_, Some(When::After)) => "shadow-after",
        _ => "shadow",
    };
    if command.deps.is_empty() {
        return Ok((home.join(shadow), home.join("build")));
    }
    let mut names = command.deps.clone();
    names.sort();
    names.dedup();
    let choice = home.join("deps").join(format!("{:016x}", hash(&format!("{names:?} {shadow}"))));
    let stamp = choice.join("key");
    if std::fs::read_to_string(&stamp).is_ok_and(|old| old != key) {
        std::fs::remove_dir_all(&choice).map_err(Error::file("remove", &choice))?;
    }
    write_if_changed(&stamp, key.as_bytes())?;
    Ok((choice.join(shadow), choice.join("build")))
}

/// Instruments every file into the shadow and writes the map. Returns its hash and the files.
/// What was written.
struct Written {
    map_hash: u64,
    /// Sources that have a shadow, in their order.
    files: Vec<PathBuf>,
    /// A line for each file id: the id, a blank, the path as the map has it.
    names: String,
}

fn write_sources(
    reached: &Reached,
    shadow: &Shadow<'_>,
    map_path: &Path,
    workspace: &Workspace,
    options: &(impl Fn(&Path) -> Options + Sync),
) -> Result<Written, Error> {
    let wrong = |error: crate::map::MapError| Error::step("reading the map", error);
    let mut map = MapFile::load(map_path, &workspace.root).map_err(wrong)?;
    let mut jobs = Vec::new();
    // The user's own statements have the low numbers.
    let is_foreign = |path: &Path| workspace.dependencies.iter().any(|directory| path.starts_with(directory));
    let (foreign, own): (Vec<_>, Vec<_>) = reached.sources.iter().partition(|(path, _)| is_foreign(path));
    for (path, source) in own.into_iter().chain(foreign) {
        let name = map.relative(path);
        let numbers = source.analysis.as_ref().map_or(Ok(Numbers::default()), |analysis| {
            map.numbers(&name, analysis.lines, analysis.sites.len())
        });
        jobs.push((path, source, name, numbers.map_err(wrong)?));
    }
    jobs.sort_unstable_by_key(|(path, ..)| *path);
    let instrument = |path: &Path, source: &Source, numbers: &Numbers| {
        let analysis = source.analysis.as_ref().map_err(Clone::clone)?;
        crate::instrument(
            &source.text,
            analysis,
            numbers,
            &Options { edition2015: source.edition2015, ..options(path) },
        )
    };
    let texts: Vec<Result<_, Refusal>> = crate::in_parallel(|| {
        jobs.par_iter().map(|(path, source, _, numbers)| instrument(path, source, numbers)).collect()
    });
    let (mut files, mut names) = (Vec::new(), String::new());
    for ((path, source, name, numbers), text) in jobs.into_iter().zip(texts) {
        match text {
            Ok(text) => {
                let sites = source.analysis.as_ref().map_or(Packed::default(), Packed::new);
                map.set_sites(&name, sites);
                shadow.write(path, &text)?;
                files.push(path.clone());
                // Only these are values of an enumeration; all would be too much for the environment of a process.
                let named = numbers.ids.iter().filter(|id| **id <= u16::from(u8::MAX));
                named.for_each(|id| names.push_str(&format!("{id} {name}\n")));
            }
            Err(refusal) => eprintln!("warning: {name}:{refusal}; this file runs without history"),
        }
    }
    let hash = map.hash();
    let text = map.to_text(hash);
    write_if_changed(map_path, &text)?;
    let kept = map_path.with_file_name("maps").join(format!("{hash:016x}.map"));
    // A dump of an older build can be read as long as its map is kept.
    write_if_changed(&kept, &text)?;
    Ok(Written { map_hash: hash, files, names })
}

/// A number that changes when the map starts anew, and with it all file ids.
fn epoch(home: &Path, map_path: &Path) -> Result<u64, Error> {
    let path = home.join("epoch");
    let known = std::fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok());
    match known.filter(|_| map_path.exists()) {
        Some(epoch) => Ok(epoch),
        None => {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
            let epoch = now.as_nanos() as u64;
            write_if_changed(&path, epoch.to_string().as_bytes())?;
            Ok(epoch)
        }
    }
}

/// Cargo takes the wrapper's path into account, not its contents: so the path changes with the
/// program that inserts, with what it inserts, and with the recorder. Triggers come and go without it: cargo also
/// watches the shadows of members, see `Call::restore_dep_info`.
fn key(
    command: &Command,
    workspace: &Workspace,
    recorders: &BTreeMap<String, Recorder>,
    epoch: u64,
    triggers: &[(PathBuf, Trigger)],
) -> String {
    let stamp =
        |path: &Path| std::fs::metadata(path).and_then(|meta| Ok((meta.len(), meta.modified()?))).ok();
    let program = plan::program().ok().and_then(|program| stamp(&program));
    let built: Vec<_> = recorders.values().map(|built| (&built.library, stamp(&built.library))).collect();
    let version = env!("CARGO_PKG_VERSION");
    let detail = |wish: Option<Detail>| command.detail.or(wish).unwrap_or_default();
    let when = |wish: Option<When>| command.when.or(wish).unwrap_or_default();
    let wishes: Vec<_> = workspace
        .wishes()
        .map(|Wishes { dir, config, .. }| {
            let how = (detail(config.detail), when(config.when));
            (dir, &config.include, &config.exclude, &config.thin, how)
        })
        .collect();
    let wrapper = config::tool(command, "rustc-workspace-wrapper");
    let choice = (detail(None), when(None), &workspace.dependencies, wishes, triggers, wrapper);
    format!("{:016x}", hash(&format!("{version} {program:?} {epoch} {built:?} {choice:?}")))
}

fn hash(text: &str) -> u64 {
    let mut hash = qs_core::map::Hash::new();
    hash.update(text.as_bytes());
    hash.finish()
}

fn call_cargo(
    command: &Command,
    workspace: &Workspace,
    home: &Path,
    prepared: &Prepared,
) -> Result<ExitCode, Error> {
    let mut cargo = recorder::cargo();
    cargo.args(command.verb.words());
    recorder::build_in(&mut cargo, command, &prepared.build)?;
    let mut set = |key: &str, program: &Path| {
        cargo.arg("--config").arg(recorder::config(key, program));
    };
    set("build.rustc-workspace-wrapper", &prepared.wrappers.join(WRAPPER_NAME));
    if !command.deps.is_empty() {
        set("build.rustc-wrapper", &prepared.wrappers.join(OUTER_NAME));
        cargo.env_remove("RUSTC_WRAPPER");
    }
    // The configuration above is what counts.
    cargo.env_remove("RUSTC_WORKSPACE_WRAPPER");
    let run = if command.runs() { Some(set_up_run(&mut cargo, command, home, prepared)?) } else { None };
    // Behind the program's arguments cargo reads none of its own.
    cargo.args(&command.cargo_args).args(&command.program_args);
    if run.is_none() && prepared.waits {
        eprintln!("{}", trigger::NOTE_WAIT);
    }
    let reads_along = run.is_some() && command.verb == Verb::Test;
    let run = run.map(after::Run::start);
    let relay = if reads_along { Relay::of(&mut cargo) } else { None };
    let caught = Caught::start();
    let mut child = cargo.spawn().map_err(|error| Error::step("running cargo", error))?;
    // It holds the ends of the relay that are cargo's.
    drop(cargo);
    let status = caught.wait(&mut child).map_err(|error| Error::step("waiting for cargo", error))?;
    let results = relay.map(Relay::finish);
    if let Some(run) = run {
        run.finish(&after::Ended { status, pid: child.id(), results });
    } else if status.success() {
        notes::how_to_run(command, workspace, home, prepared);
    }
    notes::generated(command, home, &prepared.wrappers);
    Ok(super::exit_code(status))
}

/// Where the program keeps its rings, and what it needs to name statements.
fn set_up_run(
    cargo: &mut std::process::Command,
    command: &Command,
    home: &Path,
    prepared: &Prepared,
) -> Result<after::Run, Error> {
    let limit = after::Limit::from_environment()?;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let directory = home.join("runs").join(format!("{:013}-{}", now.as_millis(), std::process::id()));
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let kind = match command.verb {
        Verb::Run => after::Kind::Program,
        Verb::Nextest => after::Kind::OneByOne,
        _ => after::Kind::Tests,
    };
    if set("XHIST_FILE").is_none() {
        std::fs::create_dir_all(&directory).map_err(Error::file("create", &directory))?;
        cargo.env("XHIST_FILE", directory.join("%e-%p.xhist"));
        if command.verb == Verb::Nextest {
            set_runner(cargo, command, prepared)?;
        }
    }
    // Under tests they are printed after the run.
    if set("XHIST_PANIC").is_none() && kind != after::Kind::Program {
        cargo.env("XHIST_PANIC", "0");
    }
    if prepared.waits && set("XHIST").is_none() {
        cargo.env("XHIST", "wait");
    }
    cargo.env("XHIST_MAP", &prepared.map).env("XHIST_MAP_HASH", &prepared.map_hash);
    Ok(after::Run {
        directory,
        map: prepared.map.clone(),
        root: prepared.root.clone(),
        chosen_file: set("XHIST_FILE").map(PathBuf::from),
        kind,
        command: words(command),
        limit,
        started_ms: 0,
    })
}

/// Has nextest run each test under our runner, unless the user has one.
fn set_runner(
    cargo: &mut std::process::Command,
    command: &Command,
    prepared: &Prepared,
) -> Result<(), Error> {
    let program = prepared.wrappers.join(runner::NAME);
    let targets = recorder::targets(command, &prepared.kept.recorders)?;
    for target in targets.iter().filter(|target| !config::has_runner(command, target)) {
        cargo.arg("--config").arg(recorder::config(&format!("target.{target:?}.runner"), &program));
    }
    Ok(())
}

/// The cargo command as it would be typed without us.
fn words(command: &Command) -> Vec<String> {
    let verb = command.verb.words().iter().map(|word| String::from(*word));
    let args = command.cargo_args.iter().chain(&command.program_args);
    let args = args.map(|arg| arg.to_string_lossy().into_owned());
    [String::from("cargo")].into_iter().chain(verb).chain(args).collect()
}
