//! The steps of `cargo xhist`, in their order.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::map::MapFile;
use crate::{MainHash, Options};

use super::command::{Command, HELP, Parsed};
use super::error::Error;
use super::plan::{Plan, write_if_changed};
use super::reach::{self, Reached};
use super::shadow::Shadow;
use super::workspace::{self, Workspace};
use super::{after, recorder};

/// Runs that are kept: their ring files, and the directories they lie in.
const KEPT_RUNS: usize = 8;

/// `cargo xhist` with these arguments.
pub(super) fn run(args: &[OsString]) -> Result<ExitCode, Error> {
    let command = match Command::parse(args)? {
        Parsed::Command(command) => command,
        Parsed::Help => {
            print!("{HELP}");
            return Ok(ExitCode::SUCCESS);
        }
        Parsed::Version => {
            println!("cargo-xhist {}", env!("CARGO_PKG_VERSION"));
            return Ok(ExitCode::SUCCESS);
        }
    };
    crate::atomic::survive_size_limit();
    let workspace = workspace::load(&command)?;
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
        prepare(&command, &workspace, &home, &target_dir)?
    };
    call_cargo(&command, &home, &prepared)
}

/// What cargo is to be told.
struct Prepared {
    wrapper: PathBuf,
    recorder_deps: PathBuf,
    root: PathBuf,
    map: PathBuf,
    map_hash: String,
}

fn prepare(
    command: &Command,
    workspace: &Workspace,
    home: &Path,
    target_dir: &Path,
) -> Result<Prepared, Error> {
    let map_path = home.join("xhist.map");
    let epoch = epoch(home, &map_path)?;
    let options = Options { main_hash: MainHash::FromEnv, ..Options::default() };
    let progress = spinner();
    let reached = crate::in_parallel(|| {
        reach::reach(&workspace.targets, &options, |files| {
            progress.set_message(format!("instrumenting {files} files"));
        })
    });
    let shadow_root = home.join("shadow");
    let bases = workspace.packages.iter().cloned().chain([workspace.root.clone()]).collect();
    let shadow = Shadow::new(&shadow_root, bases, target_dir);
    let (map_hash, written) = write_sources(&reached, &shadow, &map_path, workspace, &options)?;
    shadow.link(written.iter().map(PathBuf::as_path), &reached.data)?;
    progress.set_message("building the recorder (once for this compiler and target)");
    let recorder = recorder::build(command, home)?;
    progress.finish_and_clear();
    let shadowed = |root: &PathBuf| written.binary_search(root).is_ok();
    let plan = Plan {
        shadow: shadow_root.clone(),
        roots: workspace.targets.iter().map(|target| target.root.clone()).filter(shadowed).collect(),
        recorder: recorder.library,
        recorder_deps: recorder.deps.clone(),
        map_hash: format!("{map_hash:016x}"),
    };
    let wrapper = plan.install(&home.join("wrapper").join(wrapper_key(epoch)))?;
    Ok(Prepared {
        wrapper,
        recorder_deps: recorder.deps,
        root: workspace.root.clone(),
        map: map_path,
        map_hash: plan.map_hash,
    })
}

/// Shows that something goes on, on a terminal and once it takes a while.
fn spinner() -> indicatif::ProgressBar {
    let spinner = indicatif::ProgressBar::new_spinner();
    spinner.enable_steady_tick(std::time::Duration::from_millis(200));
    spinner
}

/// Instruments every file into the shadow and writes the map. Returns its hash and the files.
fn write_sources(
    reached: &Reached,
    shadow: &Shadow<'_>,
    map_path: &Path,
    workspace: &Workspace,
    options: &Options,
) -> Result<(u64, Vec<PathBuf>), Error> {
    let wrong = |error: crate::map::MapError| Error::step("reading the map", error);
    let mut map = MapFile::load(map_path, &workspace.root).map_err(wrong)?;
    let mut written = Vec::new();
    for (path, source) in &reached.sources {
        let name = map.relative(path);
        let result = match &source.analysis {
            Ok(analysis) => {
                let ids = map.ids(&name, analysis.lines).map_err(wrong)?;
                let options = Options { edition2015: source.edition2015, ..*options };
                crate::instrument(&source.text, analysis, &ids, &options).map(|text| (text, analysis))
            }
            Err(refusal) => Err(refusal.clone()),
        };
        match result {
            Ok((text, analysis)) => {
                map.set_sites(&name, &analysis.sites);
                shadow.write(path, &text)?;
                written.push(path.clone());
            }
            Err(refusal) => eprintln!("warning: {name}:{refusal}; this file runs without history"),
        }
    }
    let text = map.to_text();
    write_if_changed(map_path, text.as_bytes())?;
    let hash = map.hash();
    let kept = map_path.with_file_name("maps").join(format!("{hash:016x}.map"));
    // A dump of an older build can be read as long as its map is kept.
    write_if_changed(&kept, text.as_bytes())?;
    Ok((hash, written))
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
/// program that inserts, and with the ids that it inserts.
fn wrapper_key(epoch: u64) -> String {
    let program = std::env::current_exe().and_then(std::fs::metadata);
    let stamp = program.and_then(|meta| Ok((meta.len(), meta.modified()?)));
    let mut hash = qs_core::map::Hash::new();
    hash.update(format!("{} {stamp:?} {epoch}", env!("CARGO_PKG_VERSION")).as_bytes());
    format!("{:016x}", hash.finish())
}

fn call_cargo(command: &Command, home: &Path, prepared: &Prepared) -> Result<ExitCode, Error> {
    let mut cargo = recorder::cargo();
    cargo.arg(command.verb.name()).arg("--target-dir").arg(home.join("build"));
    cargo.arg("--config").arg(config("build.rustc-workspace-wrapper", &prepared.wrapper));
    // Doc tests link the recorder too, and rustdoc is not wrapped.
    match std::env::var_os("RUSTDOCFLAGS") {
        Some(mut flags) => {
            flags.push(" -L dependency=");
            flags.push(&prepared.recorder_deps);
            cargo.env("RUSTDOCFLAGS", flags);
        }
        None => {
            let deps = toml::Value::String(format!("dependency={}", prepared.recorder_deps.display()));
            cargo.arg("--config").arg(format!(r#"build.rustdocflags=["-L",{deps}]"#));
        }
    }
    // The configuration above is what counts.
    cargo.env_remove("RUSTC_WORKSPACE_WRAPPER");
    cargo.args(&command.cargo_args).args(&command.program_args);
    let run = if command.verb.runs() { Some(set_up_run(&mut cargo, command, home, prepared)?) } else { None };
    // Ctrl-C is for the program; what it ran last is told all the same.
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let _ = signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)));
    }
    let status = cargo.status().map_err(|error| Error::step("running cargo", error))?;
    if let Some(run) = run {
        after::tell(&run, status.success());
    }
    Ok(exit_code(status))
}

fn config(key: &str, path: &Path) -> String {
    format!("{key}={}", toml::Value::String(path.display().to_string()))
}

/// Where the program keeps its rings, and what it needs to name statements.
fn set_up_run(
    cargo: &mut std::process::Command,
    command: &Command,
    home: &Path,
    prepared: &Prepared,
) -> Result<after::Run, Error> {
    let runs = home.join("runs");
    prune(&runs);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let directory = runs.join(format!("{:013}-{}", now.as_millis(), std::process::id()));
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let prints_panics = command.verb == super::command::Verb::Run;
    if set("XHIST_FILE").is_none() {
        std::fs::create_dir_all(&directory).map_err(Error::file("create", &directory))?;
        cargo.env("XHIST_FILE", directory.join("%e-%p.xhist"));
    }
    if set("XHIST_PANIC").is_none() && prints_panics {
        cargo.env("XHIST_PANIC", "16");
    }
    if set("XHIST_TIME").is_none() && !prints_panics {
        // Tests that run side by side are each their own history; stamping every statement costs more than it tells.
        cargo.env("XHIST_TIME", "coarse");
    }
    cargo.env("XHIST_MAP", &prepared.map).env("XHIST_MAP_HASH", &prepared.map_hash);
    Ok(after::Run {
        directory,
        map: prepared.map.clone(),
        root: prepared.root.clone(),
        chosen_file: set("XHIST_FILE").map(PathBuf::from),
        prints_panics,
    })
}

/// Removes the oldest runs; their names sort by time.
fn prune(runs: &Path) {
    let Ok(entries) = std::fs::read_dir(runs) else { return };
    let mut directories: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    directories.sort();
    for old in directories.iter().rev().skip(KEPT_RUNS - 1) {
        let _ = std::fs::remove_dir_all(old);
    }
}

/// Cargo's exit code; a signal as a shell tells it.
fn exit_code(status: std::process::ExitStatus) -> ExitCode {
    use std::os::unix::process::ExitStatusExt;
    let code = status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(101);
    ExitCode::from(u8::try_from(code).unwrap_or(101))
}
