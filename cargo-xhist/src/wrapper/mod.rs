//! The compiler wrapper: cargo calls it in place of rustc for every workspace member.
//!
//! It replaces the crate's root file by its shadow, adds the recorder, maps paths back in the compiler's output, and rewrites
//! the dependency file so that cargo watches the user's own sources. All other calls pass through unchanged.
//!
//! Other crates and rustdoc use instrumented crates without this wrapper. So the recorder is also linked beside every library
//! that needs it, in a directory that cargo always searches.

pub(crate) mod build_std;
pub(crate) mod debug_info;
mod denied;
mod diagnostics;
mod generated;
mod program_map;
mod refusals;
pub(crate) mod rustc_args;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

use self::denied::Denied;
use self::diagnostics::Plain;
use self::generated::OutDir;
use self::rustc_args::{pass, value_of, values_of, with_path};
use crate::names::{DEPENDENCY_NAME, REFUSED, WRAPPER_NAME, program_file};
use crate::plan::{Recorder, WrapperPlan};
use crate::system;
use crate::system::place::{Root, root_of};
use xhist_instrument::files::normal::normal;

/// Variables that an instrumented program may read when it is compiled.
const MAP_HASH: &str = "XHIST_MAP_HASH";
const FILE_NAMES: &str = "XHIST_FILES";

/// Runs as the wrapper of one crate. `args`: the wrapper's path, rustc's path, rustc's arguments. The user may have a
/// wrapper for members as well, which then calls the compiler.
pub(crate) fn main(args: &[OsString], is_member: bool) -> ExitCode {
    let [wrapper, rustc, args @ ..] = args else {
        eprintln!("error: xhist-rustc is called by cargo, with the compiler's path as its first argument");
        return ExitCode::from(1);
    };
    let args = expand_response_files(args);
    let plan = WrapperPlan::beside(Path::new(wrapper));
    let users = plan.as_ref().and_then(|plan| plan.user_member_wrapper.clone()).filter(|_| is_member);
    let program = users.as_ref().unwrap_or(rustc);
    let compiler = || {
        let mut command = Command::new(program);
        // A procedural macro may link instrumented members; what runs in the compiler is not recorded.
        command.args(users.as_ref().map(|_| rustc)).env("XHIST", "off");
        command
    };
    let mut command = compiler();
    let freed = plan.as_ref().map(|plan| plan.freed.clone()).unwrap_or_default();
    let run = |command: &mut Command, plain| {
        diagnostics::run(command, plain, &freed, &Path::new(wrapper).with_file_name(REFUSED))
    };
    let directory = Path::new(wrapper).parent().unwrap_or(Path::new("."));
    let crate_call = plan.and_then(|plan| RustcCall::find(plan, Path::new(wrapper), rustc, &args));
    let Some(call) = crate_call else {
        let _file = match pass(&mut command, &args, directory) {
            Ok(file) => file,
            Err(error) => return cannot_run(program, &error),
        };
        if !freed.is_empty() && value_of(&args, "--crate-name").is_some() {
            return run(&mut command, None).map_or_else(|error| cannot_run(program, &error), exit_code);
        }
        // Replaces this process: pipes, descriptors and exit code are rustc's own.
        return cannot_run(program, &system::become_program(&mut command));
    };
    if values_of(&args, "--crate-type").any(|kind| kind.to_string_lossy().ends_with("lib")) {
        // Cargo starts crates that need this one before it is complete.
        call.link_recorder(&args);
    }
    let (wrapper, dep_info) = (Path::new(wrapper), dep_info(&args));
    let variables = [(MAP_HASH, &call.plan.map_hash), (FILE_NAMES, &call.plan.file_names)];
    let expand = |list: &Path| generated::expand(compiler().envs(variables), &call.arguments(&args), list);
    let out_dir = dep_info.as_ref().map(|path| generated::out_dir(&call.plan, wrapper, path, expand));
    let copy = match (&dep_info, out_dir) {
        (Some(path), Some(OutDir::Unknown(files))) if generated::ask(wrapper, path, &files).is_ok() => {
            let reason = "code that a build script made was not known; it is recorded now";
            eprintln!("{}", refusals::announcement(reason));
            return ExitCode::from(101);
        }
        (_, Some(OutDir::Copy(directory))) => Some(directory),
        _ => None,
    };
    let has_copy = copy.is_some();
    command.envs(copy.map(|directory| ("OUT_DIR", directory)));
    let checked = wrapper.with_file_name(format!("checked-{}", std::process::id()));
    let mut plain = compiler();
    let passed = pass(&mut plain, &call.check(&args, &checked), directory);
    let files = passed.and_then(|file| Ok((file, pass(&mut command, &call.arguments(&args), directory)?)));
    let status = files.and_then(|_files| {
        run(
            command.envs(variables),
            Some(Plain { check: plain, compiler: compiler(), denied: Denied::new(&args) }),
        )
    });
    let _ = std::fs::remove_file(checked);
    let status = match status {
        Ok(status) => status,
        Err(error) => return cannot_run(program, &error),
    };
    if let Some(path) = dep_info.filter(|_| status.success()) {
        call.restore_dep_info(&path);
        program_map::add(&call.plan, &args, &path);
        generated::note_unrecorded(&call.plan, wrapper, &path, has_copy);
    }
    exit_code(status)
}

fn exit_code(status: ExitStatus) -> ExitCode {
    ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(101))
}

/// Runs as the wrapper of every compiler call, so that dependencies are instrumented like members. `args`: the wrapper's
/// path, then the wrapped command.
pub(crate) fn outer(args: &[OsString]) -> ExitCode {
    let [own, wrapped @ ..] = args else { return ExitCode::from(1) };
    let inner = Path::new(own).with_file_name(program_file(WRAPPER_NAME));
    let user = WrapperPlan::beside(&inner).and_then(|plan| plan.user_wrapper);
    let is_member = wrapped.first().is_some_and(|first| Path::new(first) == inner);
    let inner = (!is_member).then(|| inner.with_file_name(program_file(DEPENDENCY_NAME)).into_os_string());
    let mut words: Vec<OsString> = user.into_iter().chain(inner).chain(wrapped.iter().cloned()).collect();
    if value_of(wrapped, "--crate-name").is_some()
        && let Some(key) = Path::new(own).parent().and_then(Path::file_name)
    {
        // The user's own wrapper may cache: it must see that the instrumented crate is another one.
        let mut metadata = OsString::from("metadata=");
        metadata.push(key);
        words.extend(["-C".into(), metadata]);
    }
    let Some((program, args)) = words.split_first() else { return ExitCode::from(1) };
    cannot_run(program, &system::become_program(Command::new(program).args(args)))
}

fn cannot_run(rustc: &OsStr, error: &std::io::Error) -> ExitCode {
    eprintln!("error: cannot run {}: {error}", rustc.display());
    ExitCode::from(101)
}

/// A compilation of a crate that has a shadow.
struct RustcCall {
    plan: WrapperPlan,
    recorder: Recorder,
    /// Index of the root file among the arguments.
    root: usize,
    /// The root file as cargo names it.
    named: PathBuf,
    directory: PathBuf,
}

impl RustcCall {
    fn find(plan: WrapperPlan, wrapper: &Path, rustc: &OsStr, args: &[OsString]) -> Option<RustcCall> {
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
        // When the build names targets, a call without a target compiles for the compiler itself (macros, build scripts).
        let recorder = plan.recorders.get(&target(args))?.clone();
        let recorder = build_std::recorder(rustc, args, recorder, wrapper)?;
        Some(RustcCall { plan, recorder, root, named, directory })
    }

    fn arguments(&self, args: &[OsString]) -> Vec<OsString> {
        let mut result = Vec::with_capacity(args.len() + 8);
        let mut words = args.iter().enumerate();
        while let Some((index, arg)) = words.next() {
            if index == self.root {
                result.push(self.plan.shadow_of(&normal(&self.directory.join(&self.named))).into());
            } else if arg == "--extern" && args.get(index + 1).is_some_and(|value| names_recorder(value)) {
                // The whole program has one recorder: ours.
                words.next();
            } else {
                result.push(arg.clone());
            }
        }
        let mut add = |option: &str, value: &Path, prefix: &str| {
            result.extend([OsString::from(option), with_path(prefix, value)]);
        };
        add("--extern", self.recorder.library_for(is_optimised(args)), "xhist_rt=");
        let directories: BTreeSet<_> = self.recorder.libraries().filter_map(Path::parent).collect();
        for directory in directories {
            add("-L", directory, "dependency=");
        }
        if self.plan.has_values {
            result.extend(debug_info::options(args).into_iter().map(OsString::from));
        }
        result.extend(cap_lints(args));
        result.extend(self.remaps());
        result
    }

    /// The arguments for a check of the user's own sources, which writes this file.
    fn check(&self, args: &[OsString], written: &Path) -> Vec<OsString> {
        // Lints have the levels that the user chose: what they deny is an error here.
        let mut result = rustc_args::without_output(args);
        result.push(with_path("--emit=metadata=", written));
        if let Some(kept) = codegen_value(args, "incremental=") {
            // Apart from what is kept of the shadow, which has the same name.
            result.push(with_path("-Cincremental=", &Path::new(&kept).join("checked")));
        }
        result
    }

    /// Options that map shadow paths to the user's. The last one that matches wins; it is relative if cargo's path was.
    fn remaps(&self) -> impl Iterator<Item = OsString> {
        let remap = |from: &Path, to: &str| {
            let mut option = with_path("--remap-path-prefix=", from);
            option.push(to);
            option
        };
        let places = self.places().into_iter();
        let absolute = places.map(move |(from, to)| remap(Path::new(&from), &format!("={to}")));
        let relative = self.named.is_relative().then(|| {
            let inside = self.plan.shadow_of(&self.directory).join("");
            remap(&inside, "=")
        });
        absolute.chain(relative)
    }

    /// Adds the user's files to the dependency file, so that cargo watches them and their shadows (which change with triggers).
    /// Removes the hash of the map: a new map alone must not cause a rebuild.
    fn restore_dep_info(&self, path: &Path) {
        let Ok(text) = std::fs::read_to_string(path) else { return };
        // Spaces are escaped in this file.
        let places = self.places().into_iter().map(|(from, to)| (from.replace(' ', "\\ "), to));
        let _ = std::fs::write(path, dep_info_of_both(&text, &places.collect::<Vec<_>>()));
    }

    /// The place of each root in the shadow, and the root itself, both with a separator behind.
    fn places(&self) -> Vec<(String, String)> {
        let roots: BTreeSet<Root> =
            self.plan.roots.iter().map(PathBuf::as_path).chain([&*self.directory]).map(root_of).collect();
        let place = |inside: &str| self.plan.shadow.join(inside).join("").to_string_lossy().into_owned();
        roots.into_iter().map(|Root { root, inside }| (place(&inside), root)).collect()
    }

    /// Links the recorder beside this library, for crates that use it and are compiled without this wrapper.
    fn link_recorder(&self, args: &[OsString]) {
        let Some(directory) = value_of(args, "--out-dir").map(PathBuf::from) else { return };
        for library in self.recorder.libraries() {
            if let Some(name) = library.file_name() {
                system::link_library(library, &directory.join(name));
            }
        }
    }
}

/// A forbidden lint must not fail on inserted calls.
fn cap_lints(args: &[OsString]) -> impl Iterator<Item = OsString> + use<> {
    let is_capped = args.iter().any(|arg| arg.to_string_lossy().starts_with("--cap-lints"));
    ["--cap-lints", "warn"].into_iter().filter(move |_| !is_capped).map(OsString::from)
}

/// The text of the dependency file with the user's files in front of their shadows.
fn dep_info_of_both(text: &str, places: &[(String, String)]) -> String {
    let shown = |text: &str| {
        places.iter().fold(text.to_owned(), |text, (shadow, root)| text.replace(shadow.as_str(), root))
    };
    let is_ours = |line: &str| {
        let name = line.strip_prefix("# env-dep:").map(|rest| rest.split('=').next());
        matches!(name.flatten(), Some(MAP_HASH | FILE_NAMES))
    };
    let lines = text.lines().filter(|line| !is_ours(line));
    let both = lines.map(|line| match line.split_once(": ") {
        // A link in the shadow leads to the user's file.
        Some((made, needed)) if shown(needed) != needed => {
            format!("{made}: {} {needed}\n", shown(needed))
        }
        _ => format!("{}\n", shown(line)),
    });
    both.collect()
}

/// The target of a call, as cargo names the directory of that target.
fn target(args: &[OsString]) -> String {
    let named = value_of(args, "--target").unwrap_or_default();
    // It may be a file that describes one.
    let path = Path::new(&named);
    let is_file = path.extension().is_some_and(|extension| extension == "json");
    let name = if is_file { path.file_stem().unwrap_or_default() } else { &named };
    name.to_string_lossy().into_owned()
}

/// Whether this call asks for optimised code. The last option wins.
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
    // Options may precede the name: `priv,noprelude:name`.
    name.rsplit(':').next() == Some("xhist_rt")
}

/// Where rustc writes the dependency file of this call.
fn dep_info(args: &[OsString]) -> Option<PathBuf> {
    let directory = value_of(args, "--out-dir")?;
    let name = value_of(args, "--crate-name")?;
    let extra = codegen_value(args, "extra-filename=").unwrap_or_default();
    Some(Path::new(&directory).join(format!("{}{extra}.d", name.to_str()?)))
}

/// The last value of an option of code generation, such as `incremental=`.
fn codegen_value(args: &[OsString], option: &str) -> Option<String> {
    let values = values_of(args, "-C").chain(values_of(args, "--codegen"));
    values.filter_map(|value| value.to_str()?.strip_prefix(option).map(String::from)).last()
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
        assert_eq!(dep_info_of_both(text, &[("/t/shadow/".into(), "/".into())]), both);
        let places = [(r"C:\t\shadow\C\".into(), r"C:\".into()), (r"C:\t\shadow\D\".into(), r"D:\".into())];
        let text =
            "C:\\t\\a.d: C:\\t\\shadow\\C\\w\\a.rs C:\\t\\shadow\\D\\b.rs\n\nC:\\t\\shadow\\D\\b.rs:\n";
        let both = "C:\\t\\a.d: C:\\w\\a.rs D:\\b.rs C:\\t\\shadow\\C\\w\\a.rs C:\\t\\shadow\\D\\b.rs\n\nD:\\b.rs:\n";
        assert_eq!(dep_info_of_both(text, &places), both);
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
        let call = RustcCall {
            plan: WrapperPlan {
                root: "/w".into(),
                shadow: "/t/shadow".into(),
                roots: ["/w/src/main.rs".into()].into(),
                recorders: BTreeMap::new(),
                user_wrapper: None,
                user_member_wrapper: None,
                map_hash: String::new(),
                map: PathBuf::new(),
                has_values: false,
                generated: BTreeMap::new(),
                asks: false,
                freed: BTreeSet::new(),
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
