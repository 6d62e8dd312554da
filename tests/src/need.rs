//! What some cases need and not every machine has.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::metal::{Board, CORTEX_M, RISC_V, has_compiler};
use crate::repository;

/// Something that may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// gdb, and the right to attach it to a process of one's own.
    Gdb,
    /// Single steps of a process of one's own.
    Tracing,
    /// crates.io, or what was fetched from it before.
    Registry,
    /// cargo-nextest.
    Nextest,
    /// A system that leaves core files in the working directory.
    CoreFiles,
    /// QEMU for Arm boards, gdb for Arm, and a compiler for thumbv7m.
    Firmware,
    /// The same for RISC-V.
    FirmwareRiscV,
    /// probe-rs.
    ProbeRs,
    /// The recorded QS streams beside the checkout.
    QsStreams,
    /// socat, for pairs of pseudo-terminals.
    Socat,
    /// Python 3 with the package qutest.
    Qutest,
    /// Python 3 with the package qview and with tkinter, and a display without a screen.
    Qview,
    /// Python 3 with the package jsonschema.
    JsonSchema,
    /// Python 3 with the package mcp, a client of the Model Context Protocol.
    McpClient,
    /// Python 3 with the package perfetto.
    Perfetto,
    /// Python 3 with the package labwired, a simulator of whole chips.
    LabWired,
    /// Chromium, node and its package puppeteer-core.
    Browser,
    /// Node, with a client of the Debug Adapter Protocol, its types and a compiler that checks them.
    DapClient,
    /// The server of VS Code, which shows the editor in a browser.
    Editor,
    /// Wine, and a linker for Windows with the sources of the standard library.
    Wine,
    /// Root, who may give programs more rights than their callers have, and setpriv.
    Root,
    /// More time than `.ci/run` has.
    Long,
    /// Some minutes and 2 GiB of disk, which the user has to allow.
    Big,
}

/// Packages of npm that drive a browser.
pub const BROWSER_PACKAGES: [&str; 1] = ["puppeteer-core"];
/// Packages of npm with a client of the Debug Adapter Protocol, its types, and a compiler that checks them.
pub const DAP_PACKAGES: [&str; 3] =
    ["@vscode/debugadapter-testsupport", "@vscode/debugprotocol", "typescript@5"];

impl Need {
    /// What is missing and how to get it; `None` when all is there.
    pub fn missing(self) -> Option<String> {
        match self {
            Need::Gdb => gdb(),
            Need::Tracing => tracing(),
            Need::Registry => registry(),
            Need::Nextest => nextest(),
            Need::CoreFiles => core_files(),
            Need::Socat => {
                (!succeeds("socat", &["-V"])).then(|| "socat is not installed: apt-get install socat".into())
            }
            Need::ProbeRs => (!succeeds("probe-rs", &["--version"]))
                .then(|| "probe-rs is not installed: cargo install --locked probe-rs-tools".into()),
            Need::Qutest => Need::qutest().is_none().then(|| no_package("qutest")),
            Need::Qview => match Need::qview() {
                None => Some(no_package("qview") + "; it needs tkinter: apt-get install python3-tk"),
                Some(_) => (!succeeds("Xvfb", &["-help"]))
                    .then(|| "Xvfb is not installed: apt-get install xvfb".into()),
            },
            Need::JsonSchema => (!succeeds("python3", &["-c", "import jsonschema"]))
                .then(|| "the Python package jsonschema is not there: pip install jsonschema".into()),
            Need::Perfetto => Need::perfetto().is_none().then(|| no_package("perfetto")),
            Need::McpClient => Need::mcp().is_none().then(|| no_package("mcp")),
            Need::LabWired => Need::labwired().is_none().then(|| no_package("labwired")),
            Need::Browser => browser(),
            Need::DapClient => npm(&DAP_PACKAGES),
            Need::Editor => Need::editor().is_none().then(|| {
                "the server of VS Code is not there: .ci/tools shows how to get it, or name its directory in XHIST_EDITOR".into()
            }),
            Need::Wine => wine(),
            Need::Root if !rustix::process::geteuid().is_root() => {
                Some("only root can give a program more rights than its caller: run as root".into())
            }
            Need::Root => (!succeeds("setpriv", &["--version"]))
                .then(|| "setpriv is not installed: apt-get install util-linux".into()),
            Need::Long => {
                (!crate::is_long()).then(|| "XHIST_LONG=1 is not set: .ci/long has it".into())
            }
            Need::Big => std::env::var_os("XHIST_BIG")
                .is_none()
                .then(|| "XHIST_BIG=1 is not set: it takes some minutes and 2 GiB of disk".into()),
            Need::Firmware => firmware(
                &CORTEX_M,
                &[
                    ("qemu-system-arm", "qemu-system-arm"),
                    ("gdb-multiarch", "gdb-multiarch"),
                    ("arm-none-eabi-ld", "gcc-arm-none-eabi"),
                ],
            ),
            Need::FirmwareRiscV => firmware(
                &RISC_V,
                &[
                    ("qemu-system-riscv32", "qemu-system-misc"),
                    ("riscv64-unknown-elf-ld", "binutils-riscv64-unknown-elf"),
                ],
            ),
            Need::QsStreams => Need::qs_streams()
                .is_none()
                .then(|| "there is no ../shared/corpus/qs/index.tsv beside the checkout".into()),
        }
    }

    /// The recorded QS streams, if they are there.
    pub fn qs_streams() -> Option<PathBuf> {
        let corpus = repository().parent()?.join("shared/corpus/qs");
        corpus.join("index.tsv").is_file().then_some(corpus)
    }

    /// The directory with these packages of npm, if they and node are there.
    pub fn npm(packages: &[&str]) -> Option<PathBuf> {
        let named = std::env::var_os("XHIST_NPM").map(PathBuf::from);
        let directory = named.unwrap_or_else(|| repository().join("target/npm"));
        let without_version = |name: &str| match name.rfind('@') {
            Some(at) if at > 0 => name[..at].to_owned(),
            _ => name.to_owned(),
        };
        let is_there = |name: &&str| directory.join("node_modules").join(without_version(name)).is_dir();
        let is_there = packages.iter().all(is_there);
        (is_there && succeeds("node", &["--version"])).then_some(directory)
    }

    /// The program qutest, if it is there.
    pub fn qutest() -> Option<PathBuf> {
        let beside = python().with_file_name("qutest");
        succeeds(&beside.to_string_lossy(), &["--version"]).then_some(beside)
    }

    /// A Python with the package qview, and with what that needs.
    pub fn qview() -> Option<PathBuf> {
        python_with("import tkinter, qview")
    }

    /// A Python with the package mcp.
    pub fn mcp() -> Option<PathBuf> {
        python_with("from mcp import Client")
    }

    /// A Python with the package perfetto.
    pub fn perfetto() -> Option<PathBuf> {
        python_with("import perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    }

    /// A Python with the package labwired.
    pub fn labwired() -> Option<PathBuf> {
        python_with("import labwired")
    }

    /// Headless Chromium, if it is there.
    pub fn browser() -> Option<PathBuf> {
        let named = std::env::var_os("XHIST_BROWSER").map(PathBuf::from);
        let directories = std::env::var_os("PATH").unwrap_or_default();
        let known = ["chromium", "chromium-headless-shell", "google-chrome"];
        let found = std::env::split_paths(&directories).flat_map(|dir| known.map(|name| dir.join(name)));
        named.into_iter().chain(found).find(|program| program.is_file())
    }

    /// The directory with the server of VS Code, if it is there and starts.
    pub fn editor() -> Option<PathBuf> {
        let named = std::env::var_os("XHIST_EDITOR").map(PathBuf::from);
        let built = || repository().join("target/editor/node_modules/code-server/lib/vscode");
        let directory = named.unwrap_or_else(built);
        let server = directory.join("out/server-main.js");
        succeeds("node", &[&server.to_string_lossy(), "--version"]).then_some(directory)
    }

    /// The program that runs programs of Windows, if it is there.
    pub fn wine() -> Option<PathBuf> {
        let known = ["/usr/lib/wine/wine64", "wine64", "wine"];
        known
            .map(PathBuf::from)
            .into_iter()
            .find(|program| succeeds(&program.to_string_lossy(), &["--version"]))
    }

    /// The list of real crates, if it is there.
    pub fn corpus() -> Option<PathBuf> {
        let corpus = repository().parent()?.join("shared/corpus");
        corpus.join("crates.tsv").is_file().then_some(corpus)
    }
}

/// The Python with packages of PyPI that the tests use.
fn python() -> PathBuf {
    std::env::var_os("XHIST_PYTHON").map_or_else(|| "python3".into(), PathBuf::from)
}

fn python_with(import: &str) -> Option<PathBuf> {
    let python = python();
    succeeds(&python.to_string_lossy(), &["-c", import]).then_some(python)
}

fn no_package(name: &str) -> String {
    format!(
        "the Python package {name} is not there: pip install {name}, or name a Python that has it in XHIST_PYTHON"
    )
}

fn succeeds(program: &str, args: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn browser() -> Option<String> {
    if Need::browser().is_none() {
        return Some(
            "Chromium is not installed: apt-get install chromium, or name it in XHIST_BROWSER".into(),
        );
    }
    npm(&BROWSER_PACKAGES)
}

/// What is missing of node and these packages.
fn npm(packages: &[&str]) -> Option<String> {
    Need::npm(packages).is_none().then(|| {
        let packages = packages.join(" ");
        format!(
            "node or its packages are not there: apt-get install nodejs npm; npm install --prefix target/npm {packages}; \
             or name their directory in XHIST_NPM"
        )
    })
}

fn wine() -> Option<String> {
    let has_linker = succeeds("x86_64-w64-mingw32-gcc-posix", &["--version"]);
    let all = has_linker && Need::wine().is_some() && has_compiler("x86_64-pc-windows-gnu");
    (!all).then(|| {
        "wine or a compiler for Windows is not installed: apt-get install wine64 gcc-mingw-w64-x86-64-posix rustc-web \
         cargo-web rust-web-src"
            .into()
    })
}

fn gdb() -> Option<String> {
    if !succeeds("gdb", &["--version"]) {
        return Some("gdb is not installed: apt-get install gdb".into());
    }
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    let may_attach = matches!(scope.trim(), "" | "0") || rustix::process::geteuid().is_root();
    (!may_attach).then(|| "gdb may not attach here: sysctl kernel.yama.ptrace_scope=0".into())
}

fn firmware(board: &Board, tools: &[(&str, &str)]) -> Option<String> {
    if let Some((program, package)) = tools.iter().find(|(program, _)| !succeeds(program, &["--version"])) {
        return Some(format!("{program} is not installed: apt-get install {package}"));
    }
    (!has_compiler(board.target)).then(|| {
        "no compiler for the target: rustup target add thumbv7m-none-eabi riscv32imac-unknown-none-elf, or apt-get install rustc-web cargo-web rust-web-src"
            .into()
    })
}

fn tracing() -> Option<String> {
    static MISSING: OnceLock<Option<String>> = OnceLock::new();
    MISSING.get_or_init(|| crate::tracee::may_trace().err()).clone()
}

fn registry() -> Option<String> {
    static FOUND: OnceLock<bool> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
        succeeds(&cargo, &["info", "--quiet", "--registry", "crates-io", "semver@1.0.27"])
    });
    (!found)
        .then(|| "crates.io cannot be reached: connect, or configure a mirror in ~/.cargo/config.toml".into())
}

fn nextest() -> Option<String> {
    let is_there = succeeds("cargo", &["nextest", "--version"]);
    (!is_there).then(|| "cargo-nextest is not installed: cargo install cargo-nextest --locked".into())
}

fn core_files() -> Option<String> {
    let pattern = std::fs::read_to_string(Path::new("/proc/sys/kernel/core_pattern")).unwrap_or_default();
    let pattern = pattern.trim();
    let is_plain = !pattern.is_empty() && !pattern.starts_with('|') && !pattern.contains('/');
    (!is_plain).then(|| {
        format!("this system hands cores to `{pattern}`: sysctl kernel.core_pattern=core leaves them in the working directory")
    })
}
