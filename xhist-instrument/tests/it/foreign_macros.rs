//! Programs with a macro of their own, and a macro of the same name from another crate, imported in every possible
//! way.
//! Instrumented, they print what the originals print, and calls of their own macros are recorded inside.

use std::path::Path;
use std::process::Command;

use rayon::prelude::*;

/// The macro of `ext` stringifies its arguments.
const EXT: &str = "
#[macro_export] macro_rules! show { ($($t:tt)*) => { stringify!($($t)*) } }
#[macro_export] macro_rules! other { ($($t:tt)*) => { stringify!($($t)*) } }
#[macro_export] macro_rules! vec { ($($t:tt)*) => { stringify!($($t)*) } }
#[macro_export] macro_rules! define { () => { macro_rules! show { ($t:tt) => { stringify!($t) } } } }
#[macro_export] macro_rules! nothing { () => {} }
#[macro_export] macro_rules! import { () => { use ext::show; } }
pub mod prelude { pub use crate::show; }
";

/// Calls that do nothing.
const RECORDER: &str = "
pub fn s(_: u64) {}
pub fn a(_: u64) {}
pub fn p(_: u64) {}
pub fn c(_: u64) {}
pub fn e(_: u64) {}
pub fn ae(_: u64) {}
pub fn pe(_: u64) {}
pub fn ce(_: u64) {}
pub fn m(_: u64) {}
";

/// The program's own macro, in its own file.
const OWN: &str =
    "macro_rules! show { ($b:block) => { $b } }\npub fn f() -> u32 { show!({ let x = 1; x + 1 }) }\n";
/// `user` calls the foreign macro, which `before` brings into scope.
const USER: &str = "pub fn g() -> &'static str { show!({ let y = 1; y + 1 }) }\n";
const MAIN: &str = "mod own;\nmod user;\nfn main() { println!(\"{} {}\", own::f(), user::g()); }\n";

struct Program {
    name: &'static str,
    edition: &'static str,
    main: String,
    user: String,
    more: &'static [(&'static str, &'static str)],
    /// The call in `user` refers to the program's own macro, and is recorded inside.
    is_own: bool,
}

fn program(name: &'static str, user: &str) -> Program {
    let user = format!("{user}\n{USER}");
    Program { name, edition: "2021", main: MAIN.to_owned(), user, more: &[], is_own: false }
}

fn own(name: &'static str, user: &str) -> Program {
    let user = format!("{user}\n{}", USER.replace("&'static str", "u32"));
    Program { name, edition: "2021", main: MAIN.to_owned(), user, more: &[], is_own: true }
}

fn programs() -> Vec<Program> {
    let main = |head: &str| format!("{head}\n{MAIN}");
    let inside = |head: &str| USER.replace("{ show!", &format!("{{ {head} show!"));
    let standard = "pub fn g() -> String { format!(\"{}\", vec!({ let y = 1; y })) }";
    let plain = |name, user: String| Program { user, ..program(name, "") };
    vec![
        program("glob", "use ext::*;"),
        program("glob-of-module", "use ext::prelude::*;"),
        program("glob-in-group", "use ext::{prelude::*};"),
        program("name", "use ext::show;"),
        program("name-in-group", "use {ext::{show, other as _}};"),
        program("renamed", "use ext::other as show;"),
        plain("glob-in-function", inside("use ext::*;")),
        plain("name-in-function", inside("use ext::show;")),
        plain("renamed-in-function", inside("use ext::other as show;")),
        Program { main: main("#[macro_use] extern crate ext;"), ..program("macro-use", "") },
        Program { main: main("#[macro_use(show)] extern crate ext;"), ..program("macro-use-listed", "") },
        Program { main: main("#[macro_use] extern crate ext as xt;"), ..program("macro-use-renamed", "") },
        Program {
            edition: "2015",
            main: main("#[macro_use] extern crate ext;"),
            ..program("macro-use-2015", "")
        },
        Program { edition: "2015", main: main("extern crate ext;"), ..program("glob-2015", "use ext::*;") },
        Program {
            main: main("mod prelude { pub use ext::*; }"),
            ..program("glob-over-own-prelude", "use crate::prelude::*;")
        },
        Program {
            main: main("mod prelude { pub use ext::show; }"),
            ..program("name-over-own-prelude", "use crate::prelude::*;")
        },
        Program {
            main: main("mod prelude { pub use ext::*; }"),
            ..program("name-of-own-glob", "use crate::prelude::show;")
        },
        Program { main: main("use ext::*;"), ..program("private-glob-of-parent", "use super::*;") },
        Program {
            main: main("use ext::prelude as again;"),
            ..program("renamed-module", "use crate::again::*;")
        },
        program("renamed-crate", "extern crate ext as xt;\nuse self::xt::*;"),
        plain("path", USER.replace("show!", "ext::show!")),
        Program {
            main: main("pub use ext::show;"),
            ..plain("crate-path", USER.replace("show!", "crate::show!"))
        },
        Program {
            main: main("pub use ext::*;"),
            ..plain("crate-path-glob", USER.replace("show!", "crate::show!"))
        },
        plain(
            "super-path",
            format!("use ext::*;\npub mod b {{ {} }}\npub use b::g;", USER.replace("show!", "super::show!")),
        ),
        program("defined-by-a-macro", "ext::define!();"),
        Program { main: main("ext::define!();"), ..program("defined-by-a-macro-above", "") },
        program("imported-by-a-macro", "ext::import!();"),
        plain("defined-in-a-function", inside("ext::define!();")),
        Program { more: &[("inc.in", "use ext::*;")], ..program("included", "include!(\"inc.in\");") },
        Program {
            main: main(
                "macro_rules! make { ($n:ident) => { macro_rules! $n { ($t:tt) => { stringify!($t) } } } }",
            ),
            ..program("made", "make!(show);")
        },
        Program {
            main: main("macro_rules! make { () => { macro_rules! show { ($t:tt) => { stringify!($t) } } } }"),
            ..program("made-by-name", "make!();")
        },
        program("defined-under-cfg", "use ext::*;\n#[cfg(any())] macro_rules! show { ($b:block) => { $b } }"),
        program("defined-elsewhere", "use ext::*;\nmod inner { macro_rules! show { ($b:block) => { $b } } }"),
        plain(
            "defined-later",
            format!(
                "use ext::*;\n{USER}\n#[allow(unused)] mod later {{ macro_rules! show {{ ($b:block) => {{ $b }} }} }}"
            ),
        ),
        Program {
            main: MAIN.replace("mod own", "#[cfg(all())] mod own"),
            ..program("module-under-cfg", "use ext::*;")
        },
        Program {
            main: main("#[macro_use] extern crate ext;"),
            ..plain("standard-name", standard.to_owned())
        },
        plain("standard-name-imported", format!("use ext::vec;\n{standard}")),
        own("own-text", "use ext::*;\nmacro_rules! show { ($b:block) => { $b } }"),
        Program {
            main: main("macro_rules! show { ($b:block) => { $b } }\next::nothing!();"),
            ..own("own-above", "ext::nothing!();")
        },
        Program {
            main: MAIN.replace("mod own", "#[macro_use] mod own"),
            ..own("own-of-macro-use-module", "ext::nothing!();")
        },
        Program { main: MAIN.replace("mod own", "#[macro_use] mod own"), ..own("own-without-others", "") },
        Program {
            main: main("macro_rules! show { ($b:block) => { $b } } pub(crate) use show;"),
            ..own("own-by-import", "use crate::show;")
        },
    ]
}

fn rustc(dir: &Path, args: &[&str]) -> Result<(), String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let run = Command::new(rustc).current_dir(dir).args(args).arg("-Awarnings").output().unwrap();
    if run.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&run.stderr).into_owned()) }
}

/// Compiles the crates that all programs use.
fn compile_libraries(dir: &Path) {
    for (name, text) in [("ext", EXT), ("xhist_rt", RECORDER)] {
        std::fs::write(dir.join(format!("{name}.rs")), text).unwrap();
        rustc(dir, &[&format!("{name}.rs"), "--crate-type=rlib", "--edition=2021"]).unwrap();
    }
}

/// The output of the program in this directory.
fn output(dir: &Path, libraries: &Path, program: &Program, source: &str) -> Result<String, String> {
    let source = format!("{source}/main.rs");
    let libraries = format!("-L{}", libraries.display());
    let args = [
        &*source,
        "--edition",
        program.edition,
        "--extern=ext",
        "--extern=xhist_rt",
        &libraries,
        "-o",
        "main.exe",
    ];
    rustc(dir, &args)?;
    let run = Command::new(dir.join("main.exe")).output().unwrap();
    Ok(String::from_utf8(run.stdout).unwrap())
}

fn check(program: &Program, libraries: &Path) -> Result<(), String> {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::fs::create_dir(dir.join("src")).unwrap();
    let files = [("main.rs", &*program.main), ("own.rs", OWN), ("user.rs", &program.user)];
    for (path, text) in files.iter().chain(program.more) {
        std::fs::write(dir.join("src").join(path), text).unwrap();
    }
    let plain = output(dir, libraries, program, "src").map_err(|error| format!("the original: {error}"))?;
    let tool = Command::new(env!("CARGO_BIN_EXE_xhist-instrument"))
        .current_dir(dir)
        .args(["src", "-o", "out", "--edition", program.edition])
        .output()
        .unwrap();
    if !tool.status.success() {
        return Err(String::from_utf8_lossy(&tool.stderr).into_owned());
    }
    let traced = output(dir, libraries, program, "out").map_err(|error| format!("instrumented: {error}"))?;
    let user = std::fs::read_to_string(dir.join("out/user.rs")).unwrap();
    let entered = user.contains(";let y");
    let mut listed = Command::new(env!("CARGO_BIN_EXE_xhist-instrument"));
    let listed = listed.current_dir(dir).args(["src", "--list"]);
    let listed = String::from_utf8(listed.output().unwrap().stdout).unwrap();
    match () {
        () if plain != traced => Err(format!("prints {traced}instead of {plain}")),
        () if program.is_own && !entered => Err(format!("its own macro is left alone:\n{user}")),
        () if !program.is_own && entered => Err(format!("entered:\n{user}")),
        () if !entered && !listed.contains("src/user.rs") => Err(format!("not listed:\n{listed}")),
        () if !entered
            && !listed.lines().any(|line| line.contains("user.rs") && line.contains("of a macro")) =>
        {
            Err(format!("left alone and not listed:\n{listed}"))
        }
        () => Ok(()),
    }
}

#[test]
fn a_foreign_macro_that_shares_a_name_gets_its_arguments_unchanged() {
    let libraries = tempfile::tempdir().unwrap();
    compile_libraries(libraries.path());
    let wrong: Vec<String> = programs()
        .par_iter()
        .filter_map(|program| {
            check(program, libraries.path()).err().map(|why| format!("{}: {why}", program.name))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
