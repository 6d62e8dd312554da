//! The compiler wrapper: cargo calls it in place of rustc for every workspace member.
//!
//! It swaps the crate's root file for its shadow, adds the recorder, maps paths back in
//! everything the compiler tells, and rewrites the dependency file so that cargo watches the
//! user's own sources. Whatever it does not know it hands on untouched.
//!
//! Other crates and rustdoc may use recorded ones without coming here. So the recorder also lies
//! beside every library that needs it, where cargo lets everybody look.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use super::error::Error;
use super::own_core;
use super::plan::{DEPENDENCY_NAME, Plan, Recorder, WRAPPER_NAME, write_if_changed};
use crate::normal::normal;

/// What an instrumented program may ask for when it is compiled.
const MAP_HASH: &str = "XHIST_MAP_HASH";
const FILE_NAMES: &str = "XHIST_FILES";

/// Notes of generated code, a file for each crate, beside the wrapper.
pub(super) const GENERATED: &str = "generated";

/// `args`: the wrapper's path, rustc's path, rustc's arguments. For members the user may have a wrapper as well, which
/// then calls the compiler.
pub(super) fn main(args: &[OsString], is_member: bool) -> ExitCode {
    let [wrapper, rustc, args @ ..] = args else {
        eprintln!("error: xhist-rustc is called by cargo, with the compiler's path as its first argument");
        return ExitCode::from(1);
    };
    let args = expand_response_files(args);
    let plan = Plan::beside(Path::new(wrapper));
    let users = plan.as_ref().and_then(|plan| plan.user_member_wrapper.clone()).filter(|_| is_member);
    let program = users.as_ref().unwrap_or(rustc);
    let mut command = Command::new(program);
    command.args(users.as_ref().map(|_| rustc));
    // A procedural macro may link instrumented members; what it does in the compiler is no history.
    command.env("XHIST", "off");
    let crate_call = plan.and_then(|plan| Call::find(plan, Path::new(wrapper), rustc, &args));
    let Some(call) = crate_call else {
        // Replaces this process: pipes, descriptors and exit code are rustc's own.
        let error = command.args(&args).exec();
        return cannot_run(program, &error);
    };
    let told = [(MAP_HASH, &call.plan.map_hash), (FILE_NAMES, &call.plan.file_names)];
    let status = match command.args(call.arguments(&args)).envs(told).status() {
        Ok(status) => status,
        Err(error) => return cannot_run(program, &error),
    };
    if status.success() {
        if let Some(path) = dep_info(&args) {
            call.restore_dep_info(&path);
            note_generated(Path::new(wrapper), &path);
        }
        if values_of(&args, "--crate-type").any(|kind| kind.to_string_lossy().ends_with("lib")) {
            call.link_recorder(&args);
        }
    }
    ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(101))
}

/// As the wrapper of every compiler call: dependencies go the way that members go. `args`: its path, then what it
/// wraps.
pub(super) fn outer(args: &[OsString]) -> ExitCode {
    let [own, wrapped @ ..] = args else { return ExitCode::from(1) };
    let inner = Path::new(own).with_file_name(WRAPPER_NAME);
    let user = Plan::beside(&inner).and_then(|plan| plan.user_wrapper);
    let is_member = wrapped.first().is_some_and(|first| Path::new(first) == inner);
    let inner = (!is_member).then(|| inner.with_file_name(DEPENDENCY_NAME).into_os_string());
    let mut words: Vec<OsString> = user.into_iter().chain(inner).chain(wrapped.iter().cloned()).collect();
    if value_of(wrapped, "--crate-name").is_some()
        && let Some(key) = Path::new(own).parent().and_then(Path::file_name)
    {
        // A wrapper of the user's that caches must not take one for the other.
        let mut metadata = OsString::from("metadata=");
        metadata.push(key);
        words.extend(["-C".into(), metadata]);
    }
    let Some((program, args)) = words.split_first() else { return ExitCode::from(1) };
    cannot_run(program, &Command::new(program).args(args).exec())
}

fn cannot_run(rustc: &OsStr, error: &std::io::Error) -> ExitCode {
    eprintln!("error: cannot run {}: {error}", rustc.display());
    ExitCode::from(101)
}

/// A compilation of a crate that has a shadow.
struct Call {
    plan: Plan,
    recorder: Recorder,
    /// Index of the root file among the arguments.
    root: usize,
    /// The root file as cargo names it.
    named: PathBuf,
    directory: PathBuf,
}

impl Call {
    fn find(plan: Plan, wrapper: &Path, rustc: &OsStr, args: &[OsString]) -> Option<Call> {
        value_of(args, "--crate-name")?;
        let directory = plan.named(std::env::current_dir().ok()?);
        let root = args.iter().position(|arg| {
            let path = Path::new(arg);
            path.extension().is_some_and(|extension| extension == "rs")
                && plan.roots.contains(&normal(&directory.join(path)))
        })?;
        let is_proc_macro = values_of(args, "--crate-type").any(|kind| kind == "proc-macro");
        let is_build_script = value_of(args, "--crate-name")?.to_str()?.starts_with("build_script_");
        if is_proc_macro || is_build_script {
            return None;
        }
        let named = PathBuf::from(&args[root]);
        // When the build names targets, a call that names none is for what runs in the compiler.
        let recorder = plan.recorders.get(&target(args))?.clone();
        let recorder = own_core::recorder(rustc, args, recorder, wrapper)?;
        Some(Call { plan, recorder, root, named, directory })
    }

    fn arguments(&self, args: &[OsString]) -> Vec<OsString> {
        let mut result = Vec::with_capacity(args.len() + 8);
        let mut words = args.iter().enumerate();
        while let Some((index, arg)) = words.next() {
            if index == self.root {
                result.push(self.plan.shadow_of(&normal(&self.directory.join(&self.named))).into());
            } else if arg == "--extern" && args.get(index + 1).is_some_and(|value| names_recorder(value)) {
                // One recorder for the whole program: ours.
                words.next();
            } else {
                result.push(arg.clone());
            }
        }
        let mut add = |option: &str, value: &Path, prefix: &str| {
            let mut joined = OsString::from(prefix);
            joined.push(value);
            result.extend([OsString::from(option), joined]);
        };
        add("--extern", self.recorder.library_for(is_optimised(args)), "xhist_rt=");
        let directories: BTreeSet<_> = self.recorder.libraries().filter_map(Path::parent).collect();
        for directory in directories {
            add("-L", directory, "dependency=");
        }
        if !args.iter().any(|arg| arg.to_string_lossy().starts_with("--cap-lints")) {
            // A lint that the user forbids must not fail on what we inserted.
            result.extend(["--cap-lints".into(), "warn".into()]);
        }
        result.extend(self.remaps());
        result
    }

    /// The last mapping that matches wins: relative where cargo gave a relative path.
    fn remaps(&self) -> impl Iterator<Item = OsString> {
        let remap = |from: &Path, to: &str| {
            let mut option = OsString::from("--remap-path-prefix=");
            option.push(from);
            option.push(to);
            option
        };
        let absolute = remap(&self.plan.shadow, "/=/");
        let relative = self.named.is_relative().then(|| remap(&self.plan.shadow_of(&self.directory), "/="));
        [Some(absolute), relative].into_iter().flatten()
    }

    /// Names the user's files, so that cargo watches them, besides their shadows, which change with triggers too. And
    /// forgets the hash of the map: a new map alone is no reason to compile anew.
    fn restore_dep_info(&self, path: &Path) {
        let Ok(text) = std::fs::read_to_string(path) else { return };
        let Some(shadow) = self.plan.shadow.to_str() else { return };
        // Spaces are escaped in this file.
        let _ = std::fs::write(path, dep_info_of_both(&text, &shadow.replace(' ', "\\ ")));
    }

    /// For those that use this library and are not compiled here.
    fn link_recorder(&self, args: &[OsString]) {
        let Some(directory) = value_of(args, "--out-dir").map(PathBuf::from) else { return };
        for library in self.recorder.libraries() {
            if let Some(name) = library.file_name() {
                let link = directory.join(name);
                // One that an earlier recorder left may lead nowhere by now.
                if std::fs::read_link(&link).ok().as_deref() != Some(library) {
                    let _ = std::fs::remove_file(&link);
                    let _ = std::os::unix::fs::symlink(library, link);
                }
            }
        }
    }
}

/// Keeps a note of code that a build script made and this crate includes: it is compiled as it is, and `cargo xhist`
/// says so.
fn note_generated(wrapper: &Path, dep_info: &Path) {
    let Some(out_dir) = std::env::var_os("OUT_DIR").map(PathBuf::from) else { return };
    let Ok(text) = std::fs::read_to_string(dep_info) else { return };
    let files = generated(&text, &out_dir.to_string_lossy());
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let note = wrapper.with_file_name(GENERATED).join(dep_info.file_name().unwrap_or_default());
    let lines: String = files.iter().map(|file| format!("{file} of {package}\n")).collect();
    // Without the note, nothing is said.
    let _ = match files.is_empty() {
        true => std::fs::remove_file(&note).map_err(Error::file("remove", &note)),
        false => write_if_changed(&note, lines.as_bytes()),
    };
}

/// Sources in this directory that a dependency file names, seen from the directory.
fn generated(dep_info: &str, out_dir: &str) -> BTreeSet<String> {
    let begin = format!("{}/", out_dir.replace(' ', "\\ "));
    let lines = dep_info.lines().filter_map(|line| line.strip_prefix(&*begin));
    // Each file that a crate needs has a line of its own as well.
    let names = lines.filter_map(|line| line.strip_suffix(':')).filter(|name| name.ends_with(".rs"));
    names.map(|name| name.replace("\\ ", " ")).collect()
}

/// The dependency file with the user's files in front of their shadows.
fn dep_info_of_both(text: &str, shadow: &str) -> String {
    let is_told = |line: &str| {
        let name = line.strip_prefix("# env-dep:").map(|rest| rest.split('=').next());
        matches!(name.flatten(), Some(MAP_HASH | FILE_NAMES))
    };
    let lines = text.lines().filter(|line| !is_told(line));
    let both = lines.map(|line| match line.split_once(": ") {
        // A file of the shadow that is a link leads to the user's.
        Some((made, needed)) if needed.contains(shadow) => {
            format!("{made}: {} {needed}\n", needed.replace(shadow, ""))
        }
        _ => format!("{}\n", line.replace(shadow, "")),
    });
    both.collect()
}

/// The target that a call names: as cargo names directories after it.
fn target(args: &[OsString]) -> String {
    let named = value_of(args, "--target").unwrap_or_default();
    // It may be a file that describes one.
    let path = Path::new(&named);
    let is_file = path.extension().is_some_and(|extension| extension == "json");
    let name = if is_file { path.file_stem().unwrap_or_default() } else { &named };
    name.to_string_lossy().into_owned()
}

/// Whether this call asks for optimised code. The last word counts.
fn is_optimised(args: &[OsString]) -> bool {
    let mut levels = args.iter().enumerate().filter_map(|(index, arg)| match arg.to_str()? {
        "-O" => Some("3"),
        "-C" | "--codegen" => args.get(index + 1)?.to_str()?.strip_prefix("opt-level="),
        arg => arg.strip_prefix("-C").or(arg.strip_prefix("--codegen="))?.strip_prefix("opt-level="),
    });
    levels.next_back().is_some_and(|level| level != "0")
}

fn names_recorder(value: &OsStr) -> bool {
    let value = value.to_string_lossy();
    let name = value.split('=').next().unwrap_or_default();
    // Options may stand before the name: `priv,noprelude:name`.
    name.rsplit(':').next() == Some("xhist_rt")
}

/// Where rustc writes the dependency file of this call.
fn dep_info(args: &[OsString]) -> Option<PathBuf> {
    let directory = value_of(args, "--out-dir")?;
    let name = value_of(args, "--crate-name")?;
    let codegen = values_of(args, "-C").chain(values_of(args, "--codegen"));
    let extra = codegen
        .filter_map(|value| value.to_str()?.strip_prefix("extra-filename=").map(String::from))
        .last()
        .unwrap_or_default();
    Some(Path::new(&directory).join(format!("{}{extra}.d", name.to_str()?)))
}

fn value_of(args: &[OsString], option: &str) -> Option<OsString> {
    values_of(args, option).next()
}

/// Values of `--option value`, `--option=value` and `-Cvalue`.
pub(super) fn values_of<'a>(args: &'a [OsString], option: &'a str) -> impl Iterator<Item = OsString> + 'a {
    args.iter().enumerate().filter_map(move |(index, arg)| {
        if arg == option {
            return args.get(index + 1).cloned();
        }
        let rest = arg.to_str()?.strip_prefix(option)?;
        let value = if option.starts_with("--") { rest.strip_prefix('=')? } else { rest };
        Some(value.into())
    })
}

/// Cargo writes the arguments to `@file` when there are too many for one command line.
fn expand_response_files(args: &[OsString]) -> Vec<OsString> {
    let expand = |arg: &OsString| {
        let lines = arg.to_str().and_then(|arg| arg.strip_prefix('@')).map(std::fs::read_to_string);
        match lines {
            Some(Ok(text)) => text.lines().map(OsString::from).collect(),
            _ => vec![arg.clone()],
        }
    };
    args.iter().flat_map(expand).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn args(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_dependency_file_is_found() {
        let args = args("--crate-name a --out-dir /t/deps -C metadata=1 -C extra-filename=-9f src/lib.rs");
        assert_eq!(dep_info(&args), Some("/t/deps/a-9f.d".into()));
    }

    #[test]
    fn cargo_watches_the_users_files_and_their_shadows() {
        let text = "/t/a.d: /t/shadow/w/a.rs /x\\ y.rs\n\n/t/shadow/w/a.rs:\n# env-dep:XHIST_MAP_HASH=1\n# env-dep:XHIST_FILES=1 a\\n\n# env-dep:A=b: c\n";
        let both = "/t/a.d: /w/a.rs /x\\ y.rs /t/shadow/w/a.rs /x\\ y.rs\n\n/w/a.rs:\n# env-dep:A=b: c\n";
        assert_eq!(dep_info_of_both(text, "/t/shadow"), both);
    }

    #[test]
    fn generated_sources_are_found_among_what_a_crate_needs() {
        let text = "/t/a.d: src/a.rs /t/my\\ out/b.rs /t/my\\ out/c.bin\n\nsrc/a.rs:\n/t/my\\ out/b.rs:\n/t/my\\ out/c.bin:\n";
        assert_eq!(generated(text, "/t/my out"), ["b.rs".to_owned()].into());
    }

    #[test]
    fn the_last_opt_level_counts() {
        for (line, is) in [
            ("a.rs", false),
            ("-O a.rs", true),
            ("-C opt-level=3 a.rs", true),
            ("-Copt-level=s a.rs", true),
            ("--codegen opt-level=1 --codegen=opt-level=0", false),
            ("-C opt-level=0 -C debuginfo=2 -C opt-level=2", true),
        ] {
            assert_eq!(is_optimised(&args(line)), is, "{line}");
        }
    }

    #[test]
    fn another_recorder_is_replaced() {
        let call = Call {
            plan: Plan {
                root: "/w".into(),
                shadow: "/t/shadow".into(),
                roots: ["/w/src/main.rs".into()].into(),
                recorders: BTreeMap::new(),
                user_wrapper: None,
                user_member_wrapper: None,
                map_hash: String::new(),
                file_names: String::new(),
            },
            recorder: Recorder {
                library: "/r/libxhist_rt.rlib".into(),
                deps: ["/r/deps/liblibc.rlib".into(), "/r/libxhist_recorder.rlib".into()].into(),
                sources: Vec::new(),
            },
            root: 2,
            named: "src/main.rs".into(),
            directory: "/w".into(),
        };
        let result = call
            .arguments(&args("--crate-name a src/main.rs -O --extern xhist_rt=/x.rlib --extern b=/b.rlib"));
        let line = result.iter().map(|arg| arg.to_string_lossy()).collect::<Vec<_>>().join(" ");
        assert_eq!(
            line,
            "--crate-name a /t/shadow/w/src/main.rs -O --extern b=/b.rlib --extern xhist_rt=/r/libxhist_rt.rlib \
             -L dependency=/r -L dependency=/r/deps --cap-lints warn --remap-path-prefix=/t/shadow/=/ \
             --remap-path-prefix=/t/shadow/w/="
        );
        let unoptimised = call.arguments(&args("--crate-name a src/main.rs"));
        assert!(unoptimised.contains(&"xhist_rt=/r/libxhist_recorder.rlib".into()), "{unoptimised:?}");
    }
}
