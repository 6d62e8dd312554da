//! Does `cargo xhist` itself work as a program of Windows? Wine runs it. There is no cargo for Windows in a package that the
//! tests could install, so `tests/fixtures/bridge` stands in: `cargo.exe` and `rustc.exe`, which call those of Linux.
//!
//! That shows the plan, the shadow, the wrappers, the recorder's build, the relay and the answer with paths of Windows. It does
//! not show how the cargo and the rustc of Windows read these paths, nor a console.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use xhist_tests::{Done, Need, Run, Tree, line_of, repository, with_cache};

use super::recorder::{LINKER, windows};
use super::{TARGET, add_library, build};

/// The programs of both sides, and the server, which ends with this process.
struct Bridge {
    tree: Tree,
    port: String,
    _server: Child,
}

fn bridge() -> &'static Bridge {
    static BRIDGE: OnceLock<Bridge> = OnceLock::new();
    BRIDGE.get_or_init(|| {
        let tree = Tree::empty("bridge");
        build(&tree);
        let source = repository().join("tests/fixtures/bridge/bridge.rs");
        let compile = |rustc: &Path, name: &str| {
            let run = Run::new(rustc, tree.path()).args("--edition 2024 -o").arg(tree.join(name)).arg(&source);
            run.env("RUSTC_BOOTSTRAP", "0")
        };
        let linker = format!("-C linker={LINKER} --target {TARGET}");
        compile(&windows().rustc, "cargo.exe").args(&linker).succeed();
        compile(Path::new("/usr/bin/rustc"), "server").succeed();
        fs::copy(tree.join("cargo.exe"), tree.join("rustc.exe")).expect("copied");
        fs::copy(tree.join("server"), tree.join("wrapper")).expect("copied");
        let mut server = Command::new(tree.join("server"))
            .envs(variables(&tree))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a server");
        let mut port = String::new();
        BufReader::new(server.stdout.take().expect("it is piped")).read_line(&mut port).expect("a port");
        Bridge { tree, port: port.trim().to_owned(), _server: server }
    })
}

/// What the server and the wrapper need to know, and the environment of wine.
fn variables(tree: &Tree) -> Vec<(&'static str, PathBuf)> {
    let wine = Need::wine().expect("wine");
    let rustc = &windows().rustc;
    vec![
        ("BRIDGE_HOME", tree.path().to_owned()),
        ("BRIDGE_WINE", wine.clone()),
        ("BRIDGE_CARGO", "/usr/bin/cargo".into()),
        ("BRIDGE_RUSTC", rustc.clone()),
        ("REAL_CARGO", "/usr/bin/cargo".into()),
        ("REAL_RUSTC", rustc.clone()),
        ("REAL_CARGO_NET_OFFLINE", "true".into()),
        ("REAL_CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER", wine),
        ("REAL_CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER", LINKER.into()),
        ("WINEPREFIX", tree.join("prefix")),
        ("WINEPATH", tree.path().to_owned()),
        ("WINEDEBUG", "-all".into()),
        ("WINEDLLOVERRIDES", "winedbg.exe=d".into()),
    ]
}

/// A path as Windows has it.
fn windows_path(path: &Path) -> String {
    format!("Z:{}", path.display().to_string().replace('/', "\\"))
}

/// `cargo-xhist.exe` in this directory.
fn cargo_xhist(directory: &Path, args: &str) -> Run {
    let Bridge { tree, port, .. } = bridge();
    let run = Run::new(Need::wine().expect("wine"), directory).arg(tree.join("cargo-xhist.exe"));
    let run = variables(tree).into_iter().fold(run, |run, (name, value)| run.env(name, value));
    with_cache(run.args(args))
        .env("BRIDGE_PORT", port)
        .env("CARGO", windows_path(&tree.join("cargo.exe")))
        .env("RUSTC", windows_path(&tree.join("rustc.exe")))
}

/// The project with its target for Windows, and a build of it.
fn project() -> Tree {
    Tree::copy_of(&repository().join("tests/fixtures/windows-project"))
}

/// What holds of everything that is printed.
fn check_printed(done: &Done) {
    let printed = format!("{}{}", done.stdout, done.stderr);
    done.check(!printed.contains(r"\\?\"), "no path of the system's own form");
    done.check(!printed.contains("shadow"), "no path of the shadow");
    done.check(!printed.contains("xhist_rt"), "no inserted call");
}
