//! What the compiler says of itself. It takes some hundredths of a second to ask, so the answer is kept, under the rule that
//! cargo has for the same question: the program, and what rustup chose, are the same.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::keep::facts::FileStamp;
use crate::names::program_file;
use crate::plan::write_if_changed;

const FILE: &str = "compiler";

/// The answers of a compiler.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Compiler {
    /// What `rustc -vV` prints.
    pub(super) identity: String,
    pub(super) sysroot: PathBuf,
}

/// The file that keeps them.
#[derive(Serialize, Deserialize)]
struct KeptAnswers {
    /// What decides which compiler answers.
    program: String,
    compiler: Compiler,
}

impl Compiler {
    /// Asks the compiler, unless its answers are kept in `home`.
    pub(super) fn get(rustc: &OsStr, home: &Path) -> Result<Compiler, Error> {
        let program = program(rustc, |name| std::env::var_os(name));
        let file = home.join(FILE);
        let kept = || -> Option<KeptAnswers> { serde_json::from_slice(&std::fs::read(&file).ok()?).ok() };
        if let Some(kept) = kept().filter(|kept| program.as_ref() == Some(&kept.program)) {
            return Ok(kept.compiler);
        }
        let compiler = Compiler::ask(rustc)?;
        if let Some(program) = program {
            let kept = KeptAnswers { program, compiler };
            // Without the file, the next command asks again.
            if let Ok(text) = serde_json::to_vec(&kept) {
                let _ = write_if_changed(&file, &text);
            }
            return Ok(kept.compiler);
        }
        Ok(compiler)
    }

    /// The target that the compiler itself runs on.
    pub(super) fn host(&self) -> Result<&str, Error> {
        host(&self.identity)
    }

    fn ask(rustc: &OsStr) -> Result<Compiler, Error> {
        let mut identity = Command::new(rustc);
        let mut sysroot = Command::new(rustc);
        identity.arg("-vV");
        sysroot.args(["--print", "sysroot"]);
        // Both at the same time: each takes some hundredths of a second.
        let running = sysroot.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let identity = output(&mut identity)?;
        let sysroot = running.and_then(std::process::Child::wait_with_output).map_err(cannot_run)?;
        let sysroot = PathBuf::from(String::from_utf8_lossy(&sysroot.stdout).trim());
        Ok(Compiler { identity, sysroot })
    }
}

/// The host in what `rustc -vV` prints.
pub(super) fn host(identity: &str) -> Result<&str, Error> {
    let host = identity.lines().find_map(|line| line.strip_prefix("host: "));
    host.ok_or_else(|| Error::step("asking rustc about the host", identity))
}

/// The output of a compiler that describes itself.
pub(super) fn output(rustc: &mut Command) -> Result<String, Error> {
    let output = rustc.output().map_err(cannot_run)?;
    if !output.status.success() {
        return Err(Error::step("asking rustc for its version", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn cannot_run(error: std::io::Error) -> Error {
    Error::step("running the compiler", error)
}

/// Everything that decides which compiler answers to this name; `None` if that is not known.
fn program(rustc: &OsStr, variable: impl Fn(&str) -> Option<OsString>) -> Option<String> {
    let path = if Path::new(rustc).components().count() > 1 {
        existing(PathBuf::from(rustc))?
    } else {
        let directories = variable("PATH")?;
        std::env::split_paths(&directories).map(|path| path.join(rustc)).find_map(existing)?
    };
    let stamp = FileStamp::of(&path)?;
    let chosen = match (variable("RUSTUP_HOME"), variable("RUSTUP_TOOLCHAIN")) {
        (Some(home), Some(toolchain)) => {
            let real =
                Path::new(&home).join("toolchains").join(toolchain).join("bin").join(program_file("rustc"));
            Some((FileStamp::of(&real)?, real))
        }
        // Rustup looks for the toolchain in files and settings of its own.
        _ if path.with_file_name(program_file("rustup")).exists() => return None,
        _ => None,
    };
    Some(format!("{path:?} {stamp:?} {chosen:?}"))
}

/// The file of a program, whose name may lack what the system appends.
fn existing(path: PathBuf) -> Option<PathBuf> {
    let whole = path.with_file_name(program_file(&path.file_name()?.to_string_lossy()));
    [path, whole].into_iter().find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two toolchains of rustup, and the directory of its proxies.
    fn rustup() -> tempfile::TempDir {
        let tree = tempfile::tempdir().expect("a directory");
        for file in ["bin/rustc", "bin/rustup", "home/toolchains/a/bin/rustc", "home/toolchains/b/bin/rustc"]
        {
            let path = tree.path().join(file);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            std::fs::write(path, file).expect("a file");
        }
        tree
    }

    #[test]
    fn another_toolchain_or_program_asks_again() {
        let tree = rustup();
        let path = |name: &str| tree.path().join(name);
        let ask = |toolchain: &str| {
            program("rustc".as_ref(), |name| match name {
                "PATH" => Some(path("bin").into()),
                "RUSTUP_HOME" => Some(path("home").into()),
                "RUSTUP_TOOLCHAIN" if !toolchain.is_empty() => Some(toolchain.into()),
                _ => None,
            })
        };
        let first = ask("a");
        assert!(first.is_some() && ask("a") == first && ask("b") != first);
        assert_eq!(ask("c"), None, "rustup has no such toolchain");
        assert_eq!(ask(""), None, "rustup looks into its settings");
        std::fs::write(path("home/toolchains/a/bin/rustc"), "an update").expect("a file");
        let updated = ask("a");
        assert!(updated.is_some() && updated != first);
        std::fs::write(path("bin/rustc"), "another proxy").expect("a file");
        assert_ne!(ask("a"), updated);
        std::fs::remove_file(path("bin/rustup")).expect("removed");
        assert!(ask("").is_some(), "no rustup");
    }

    #[cfg(unix)]
    #[test]
    fn kept_answers_are_those_of_this_program() {
        let home = tempfile::tempdir().expect("a directory");
        let rustc = home.path().join("rustc");
        let script = |text: &str| {
            let draft = home.path().join("draft");
            std::fs::write(&draft, format!("#!/bin/sh\necho {text}\n")).expect("a script");
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(&draft, mode).expect("it is executable");
            std::fs::rename(draft, &rustc).expect("a program");
        };
        let ask = || Compiler::get(rustc.as_os_str(), home.path()).expect("answers").identity;
        script("one");
        assert_eq!(ask(), "one\n");
        let file = home.path().join(FILE);
        let kept = std::fs::read_to_string(&file).expect("answers");
        // The program is not asked while its answers are kept.
        std::fs::write(&file, kept.replace("one", "kept")).expect("a file");
        assert_eq!(ask(), "kept\n");
        script("two");
        assert_eq!(ask(), "two\n");
    }
}
