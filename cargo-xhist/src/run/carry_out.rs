//! Carries out a cargo command: prepares, calls cargo, reports.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use xhist_instrument::select::trigger;

use crate::command::config;
use crate::command::{Command, Verb};
use crate::error::{Error, UsageError};
use crate::names::{FIRMWARE_RUNNER_NAME, OUTER_NAME, RUNNER_NAME, WRAPPER_NAME, program_file};
use crate::notes;
use crate::output::Language;
use crate::output::relay::Relay;
use crate::plan::FoundFile;
use crate::post_run;
use crate::prepare::const_fns;
use crate::prepare::generated;
use crate::prepare::prepare;
use crate::prepare::prepared::Prepared;
use crate::prepare::recorder;
use crate::runner::firmware::FirmwareRun;
use crate::system::Caught;
use crate::workspace::defmt::{self, Defmt};
use crate::workspace::{self, Workspace, bare_recorder};

/// A command that was carried out.
pub(crate) struct CarriedOut {
    /// How cargo ended.
    pub(crate) status: ExitStatus,
    /// The directory of the run, if anything ran.
    pub(crate) run: Option<PathBuf>,
}

/// Prepares, and runs cargo until its build is complete.
pub(crate) fn carry_out(command: &Command) -> Result<CarriedOut, Error> {
    xhist_instrument::files::atomic::ignore_sigxfsz();
    let mut workspace = workspace::load(command)?;
    bare_recorder::choose(&mut workspace, command)?;
    let target_dir = match &command.own.target_dir {
        Some(chosen) => std::path::absolute(chosen).map_err(Error::file("find", chosen))?,
        None => workspace.target_dir.clone(),
    };
    let home = target_dir.join("xhist");
    std::fs::create_dir_all(&home).map_err(Error::file("create", &home))?;
    let mut known = BTreeSet::new();
    let mut asks = true;
    loop {
        let prepared = {
            // Two runs at once must not write the same files.
            let lock = home.join("lock");
            let file = File::create(&lock).map_err(Error::file("create", &lock))?;
            file.lock().map_err(Error::file("lock", &lock))?;
            prepare(command, &mut workspace, (&home, &target_dir), asks)?
        };
        if !command.is_again {
            notes::of_workspace(&workspace, command, &home);
            notes::outside(&workspace, command, &home, &prepared.kept.recorders);
        }
        // Each turn finds another name or file, so the loop ends.
        match call_cargo(command, &workspace, &home, &prepared)? {
            Called::Ended(done) => return Ok(done),
            Called::Refused => {}
            // A build script may make other code each time. Then that is not recorded.
            Called::Found(files) => asks &= files.into_iter().all(|file| known.insert(file)),
        }
    }
}

/// How cargo ended.
enum Called {
    Ended(CarriedOut),
    /// The compiler needs functions or macros as they were, so the build is repeated with them.
    Refused,
    /// Build scripts made these files, so the build is repeated with them.
    Found(BTreeSet<FoundFile>),
}

/// Runs cargo on the instrumented sources, and reports how the run ended or how to start what was built.
fn call_cargo(
    command: &Command,
    workspace: &Workspace,
    home: &Path,
    prepared: &Prepared,
) -> Result<Called, Error> {
    let mut cargo = recorder::cargo();
    cargo.args(command.verb.words());
    recorder::build_in(&mut cargo, command, &prepared.build)?;
    let mut set_program = |key: &str, program: &Path| {
        cargo.arg("--config").arg(recorder::config(key, program));
    };
    set_program("build.rustc-workspace-wrapper", &prepared.wrappers.join(program_file(WRAPPER_NAME)));
    if !command.own.deps.is_empty() {
        set_program("build.rustc-wrapper", &prepared.wrappers.join(program_file(OUTER_NAME)));
        cargo.env_remove("RUSTC_WRAPPER");
    }
    if let Some(Defmt::Recorded(package, name)) = &workspace.bare.defmt {
        let copy = defmt::write_copy(package, name, home)?;
        let paths = toml::Value::from(vec![copy.display().to_string()]);
        cargo.arg("--config").arg(format!("paths={paths}"));
    }
    // The variable would win over `--config`, as would the one above.
    cargo.env_remove("RUSTC_WORKSPACE_WRAPPER");
    cargo.args(&command.cargo_args);
    // The last setting wins, so ours come behind the user's.
    let run = if command.runs() { Some(set_up_run(&mut cargo, command, home, prepared)?) } else { None };
    // These come last: cargo reads no options behind the program's arguments.
    cargo.args(&command.program_args);
    if run.is_none() && prepared.waits && !bare_recorder::is_only_bare(command) {
        eprintln!("{}", trigger::NOTE_WAIT);
    }
    let reads_results = run.is_some() && command.verb == Verb::Test;
    // What cargo says of a build that is repeated is not printed. The streams of a program that runs here are its own.
    let only_builds = run.is_none();
    let run = run.map(post_run::Run::start);
    let directory = run.as_ref().map(post_run::Running::directory);
    let relay = if reads_results || only_builds {
        let language = if command.own.json { Language::Json } else { Language::Text };
        Relay::of(&mut cargo, command.is_again, language)
    } else {
        None
    };
    // What firmware prints says when to end it.
    if command.is_again && relay.is_none() && command.verb != Verb::Run {
        cargo.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    }
    let caught = Caught::start();
    let mut child = cargo.spawn().map_err(|error| Error::step("running cargo", error))?;
    // The `Command` holds cargo's ends of the relay open.
    drop(cargo);
    let status = caught.wait(&mut child).map_err(|error| Error::step("waiting for cargo", error))?;
    let (results, said) = relay.map(Relay::finish).unzip();
    let results = results.filter(|_| reads_results);
    if !status.success() {
        let is_refused = const_fns::was_refused(home, &prepared.wrappers)?;
        let found = generated::take_found(home, &prepared.wrappers)?;
        let again =
            if found.is_empty() { is_refused.then_some(Called::Refused) } else { Some(Called::Found(found)) };
        if let Some(again) = again {
            run.into_iter().for_each(post_run::Running::forget);
            return Ok(again);
        }
    }
    // The build is not repeated, so what cargo said counts.
    said.unwrap_or_default().print();
    if let Some(run) = run {
        let ended = post_run::Ended { status, pid: child.id(), results, asked: caught.newest() };
        run.finish(&ended);
    } else if status.success() {
        notes::how_to_run(command, workspace, home, prepared);
    }
    notes::generated(command, home, &prepared.wrappers);
    let run = directory.filter(|directory| directory.is_dir());
    Ok(Called::Ended(CarriedOut { status, run }))
}

/// Makes the directory of the run, and sets the recorder's variables for the traced program. The user's own values stay.
fn set_up_run(
    cargo: &mut std::process::Command,
    command: &Command,
    home: &Path,
    prepared: &Prepared,
) -> Result<post_run::Run, Error> {
    let limit = post_run::Limit::from_environment()?;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let directory = home.join("runs").join(format!("{:013}-{}", now.as_millis(), std::process::id()));
    let chosen = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let own_run = chosen("XHIST_FILE").is_none().then_some(directory.as_path());
    let kind = match command.verb {
        Verb::Nextest => post_run::RunKind::OneByOne,
        _ if set_firmware_runner(cargo, command, own_run, prepared)? => post_run::RunKind::Firmware,
        Verb::Run => post_run::RunKind::Program,
        _ => post_run::RunKind::Tests,
    };
    if own_run.is_some() {
        std::fs::create_dir_all(&directory).map_err(Error::file("create", &directory))?;
        cargo.env("XHIST_FILE", directory.join("%e-%p.xhist"));
        if command.verb == Verb::Nextest {
            set_runner(cargo, command, prepared)?;
        }
    }
    // The answer follows the run, so a panic message needs no line with the command that prints the history.
    if chosen("XHIST_PANIC").is_none() {
        cargo.env("XHIST_PANIC", "0");
    }
    // The spectra of tests: the suspects of a failed run are found with them.
    if chosen("XHIST_EVER").is_none() && command.verb != Verb::Bench && kind.has_spectra() {
        cargo.env("XHIST_EVER", "threads");
    }
    if prepared.waits && chosen("XHIST").is_none() {
        cargo.env("XHIST", "wait");
    }
    cargo.env("XHIST_MAP_HASH", &prepared.map_hash);
    Ok(post_run::Run {
        directory,
        map: prepared.map.clone(),
        root: prepared.root.clone(),
        build: prepared.build.clone(),
        profile: command.profile_directory(),
        has_values: prepared.has_values,
        chosen_file: chosen("XHIST_FILE").map(PathBuf::from),
        kind,
        command: plain_command(command),
        words: command.words.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        is_again: command.is_again,
        annotates: command.own.github,
        prints_json: command.own.json,
        limit,
        started_ms: 0,
    })
}

/// Makes nextest run each test under our runner, unless the user has one.
fn set_runner(
    cargo: &mut std::process::Command,
    command: &Command,
    prepared: &Prepared,
) -> Result<(), Error> {
    let program = prepared.wrappers.join(program_file(RUNNER_NAME));
    let targets = recorder::targets(command, &prepared.kept.recorders)?;
    for target in targets.iter().filter(|target| !config::has_runner(command, target)) {
        // A list, because nextest splits a text at the blanks of the path.
        let words = toml::Value::from(vec![program.display().to_string()]);
        cargo.arg("--config").arg(format!("target.{target:?}.runner={words}"));
    }
    Ok(())
}

/// Puts our runner in front of the user's for targets without an operating system. Returns whether there is one.
fn set_firmware_runner(
    cargo: &mut std::process::Command,
    command: &Command,
    run: Option<&Path>,
    prepared: &Prepared,
) -> Result<bool, Error> {
    let program = prepared.wrappers.join(program_file(FIRMWARE_RUNNER_NAME));
    let mut described = FirmwareRun { directory: run.map(Path::to_path_buf), ..FirmwareRun::default() };
    for (target, _) in prepared.kept.recorders.iter().filter(|(_, recorder)| !recorder.is_hosted()) {
        let holds = |name: &str| recorder::holds(command, target, name);
        let Some(users) = config::runner(command, target, holds) else { continue };
        if !FirmwareRun::set(cargo, &program, target, users.form) {
            return Err(UsageError::Blanks(program).into());
        }
        described.runners.insert(target.clone(), users.words);
    }
    let is_set = !described.runners.is_empty();
    if is_set {
        described.describe_to(cargo);
    }
    Ok(is_set)
}

/// The cargo command as it would be typed without xhist, word by word.
fn plain_command(command: &Command) -> Vec<String> {
    let verb = command.verb.words().iter().map(|word| String::from(*word));
    let args = command.cargo_args.iter().chain(&command.program_args);
    let args = args.map(|arg| arg.to_string_lossy().into_owned());
    [String::from("cargo")].into_iter().chain(verb).chain(args).collect()
}
