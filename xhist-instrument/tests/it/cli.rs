//! The program as a user runs it, with real processes and files. Errors must not lose data.

use crate::project::{GOOD, PROGRAM, Project, Run, temporaries};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn in_place_and_back() {
    let project = Project::new(&[("src/main.rs", GOOD), ("src/sub/b.rs", "fn b() { c() }")]);
    let run = project.run(&["src"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.err.contains("2 files: 3 statements, 0 skipped (100.0 % recorded)"), "{}", run.err);
    assert!(!run.err.contains("note:"), "{}", run.err);
    let map = project.read("xhist.map");
    let hash = map.split("\"hash\":\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(
        project
            .read("src/main.rs")
            .contains(&format!("::xhist_rt::m(0x{hash});::xhist_rt::e(0x1_0002_0201);let x"))
    );
    assert!(
        map.contains(r#"{"file":2,"path":"src/sub/b.rs","base":0,"first":19,"room":17,"source":"#),
        "{map}"
    );

    let instrumented = project.read("src/main.rs");
    let again = project.run(&["src"]);
    assert_eq!(again.code, Some(0), "{again:?}");
    assert!(again.err.contains("2 files: 3 statements, 0 skipped (100.0 % recorded)"), "{}", again.err);
    assert_eq!((project.read("xhist.map"), project.read("src/main.rs")), (map, instrumented));

    assert_eq!(project.run(&["--strip", "src"]).code, Some(0));
    assert_eq!(project.read("src/main.rs"), GOOD);
    assert_eq!(project.read("src/sub/b.rs"), "fn b() { c() }");
}

#[test]
fn an_unparsable_file_is_skipped_and_the_others_are_instrumented() {
    let project = Project::new(&[("src/main.rs", GOOD), ("src/bad.rs", "fn f( {\n"), ("src/latin.rs", "")]);
    project.write("src/latin.rs", b"// \xe9\n");
    let run = project.run(&["src"]);
    assert_eq!(run.code, Some(1));
    assert!(run.err.contains("src/bad.rs:1:7: does not parse: "), "{}", run.err);
    assert!(run.err.contains("src/latin.rs:1:4: not UTF-8"), "{}", run.err);
    assert_eq!(project.read("src/bad.rs"), "fn f( {\n");
    assert_eq!(fs::read(project.path("src/latin.rs")).unwrap(), b"// \xe9\n");
    assert!(project.read("src/main.rs").contains("xhist_rt"));
}

const CONST: &str = "const fn c() -> u8 { let x = 1; x }\nconst D: u8 = { let x = 1; x };\n\
    macro_rules! m { ($a:expr) => {{ f($a); g() }}; () => {} }\n";

#[test]
fn check_and_list_write_nothing() {
    let project = Project::new(&[("src/main.rs", GOOD), ("src/c.rs", CONST)]);
    let check = project.run(&["--check", "src"]);
    assert_eq!(check.code, Some(0), "{check:?}");
    let list = project.run(&["--list", "src"]);
    assert_eq!(list.code, Some(0));
    let expected = "src/c.rs:1:22 skipped: const fn, which cannot call the recorder\n\
                    src/c.rs:1:33 skipped: const fn, which cannot call the recorder\n\
                    src/c.rs:2:17 skipped: evaluated by the compiler (const context)\n\
                    src/c.rs:2:28 skipped: evaluated by the compiler (const context)\n\
                    src/c.rs:3:1 skipped: inside a macro definition (2 statements)\n\
                    src/main.rs:2:5 let main\n\
                    src/main.rs:3:5 macro main\n";
    assert_eq!(list.out, expected);
    // Executable code counts; const code does not.
    assert!(list.err.contains("2 statements, 4 skipped (33.3 % recorded)"), "{}", list.err);
    assert!(list.err.contains("skipped: 2 inside a macro definition (estimated)"), "{}", list.err);
    assert!(list.err.contains("not counted: 2 evaluated by the compiler"), "{}", list.err);
    assert_eq!(project.read("src/main.rs"), GOOD);
    assert!(!project.path("xhist.map").exists());
}

#[cfg(unix)]
#[test]
fn read_only_files_and_directories_stay_unchanged() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::new(&[("src/main.rs", GOOD), ("src/ro.rs", GOOD), ("dir/a.rs", GOOD)]);
    let chmod =
        |path: &str, mode| fs::set_permissions(project.path(path), fs::Permissions::from_mode(mode)).unwrap();
    chmod("src/ro.rs", 0o444);
    chmod("dir", 0o555);
    let run = project.run(&["src", "dir"]);
    chmod("dir", 0o755);
    assert_eq!(run.code, Some(1));
    assert!(
        run.err.contains("src/ro.rs:1:1: cannot write: the file is read-only; left alone"),
        "{}",
        run.err
    );
    assert!(
        run.err.contains("dir/a.rs:1:1: cannot write: its directory is read-only; left alone"),
        "{}",
        run.err
    );
    assert_eq!(project.read("src/ro.rs"), GOOD);
    assert_eq!(project.read("dir/a.rs"), GOOD);
    assert!(project.read("src/main.rs").contains("xhist_rt"));
}

#[cfg(unix)]
#[test]
fn permissions_stay_and_links_are_followed() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::new(&[("src/main.rs", GOOD)]);
    fs::set_permissions(project.path("src/main.rs"), fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("main.rs", project.path("src/link.rs")).unwrap();
    std::os::unix::fs::symlink(project.path("Cargo.toml"), project.path("src/outside.rs")).unwrap();
    let run = project.run(&["src"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.err.contains("1 link that leaves the tree"), "{}", run.err);
    assert_eq!(fs::metadata(project.path("src/main.rs")).unwrap().permissions().mode() & 0o777, 0o755);
    assert!(fs::symlink_metadata(project.path("src/link.rs")).unwrap().is_symlink());
    assert_eq!(project.read("src/main.rs").matches("xhist_rt::").count(), 3);
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_file_untouched() {
    let long = format!("fn f() {{ {} }}\n", "x();\n".repeat(2_000));
    let project = Project::new(&[("src/main.rs", GOOD), ("src/long.rs", &long)]);
    // Map and text are written outside the limit. 16 blocks have 512 or 1024 bytes each, depending on the shell.
    assert_eq!(project.run(&["src"]).code, Some(0));
    assert_eq!(project.run(&["--strip", "src"]).code, Some(0));
    let script = format!("ulimit -f 16; exec {PROGRAM} src");
    let output = Command::new("sh").current_dir(project.dir.path()).args(["-c", &script]).output().unwrap();
    let run = Run::new(output);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.err.contains("src/long.rs:1:1: cannot write: "), "{}", run.err);
    assert_eq!(project.read("src/long.rs"), long);
    assert_eq!(temporaries(&project.path("src")), 0);
}

#[cfg(unix)]
#[test]
fn without_a_map_no_source_is_changed() {
    let long = format!("fn f() {{ {} }}\n", "x();\n".repeat(2_000));
    let project = Project::new(&[("src/main.rs", GOOD), ("src/long.rs", &long)]);
    let script = format!("ulimit -f 16; exec {PROGRAM} src");
    let run =
        Run::new(Command::new("sh").current_dir(project.dir.path()).args(["-c", &script]).output().unwrap());
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.err.contains("no source was changed"), "{}", run.err);
    assert_eq!(project.read("src/main.rs"), GOOD);
    assert_eq!(temporaries(project.dir.path()), 0);
}

/// Without a project.
fn filter(args: &[&str], input: &str) -> Run {
    let directory = tempfile::tempdir().unwrap();
    let run = filter_in(directory.path(), args, input);
    let is_mapped = args.contains(&"--stdin-path") && run.code == Some(0);
    assert!(is_mapped || fs::read_dir(directory.path()).unwrap().next().is_none(), "no file is written");
    run
}

fn filter_in(directory: &Path, args: &[&str], input: &str) -> Run {
    let mut child = Command::new(PROGRAM)
        .current_dir(directory)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    Run::new(child.wait_with_output().unwrap())
}

#[test]
fn a_filter_reads_stdin_and_writes_stdout() {
    let run = filter(&["-"], "fn f() { x() }\n");
    assert_eq!((run.code, run.out.as_str()), (Some(0), "fn f() { ::xhist_rt::e(0x0_0001_0201);x() }\n"));
    assert_eq!(filter(&["-", "--strip"], &run.out).out, "fn f() { x() }\n");
    let old = filter(&["-", "--edition", "2015", "--when", "after"], "fn f() { x(); }");
    assert_eq!(old.out, "fn f() { x();xhist_rt::e(0x0_0001_0201); }");
    let stopped = filter(&["-", "--stdin-path", "a.rs", "--stop-at", "a.rs:1#2"], "fn f() { x() }");
    assert_eq!(stopped.out, "fn f() { ::xhist_rt::e(0x1_0001_0201);::xhist_rt::stop_at(0,2,0);x() }");
    let bad = filter(&["-", "--stdin-path", "a.rs"], "fn f( {");
    assert_eq!((bad.code, bad.out.as_str()), (Some(1), ""));
    assert!(bad.err.starts_with("xhist-instrument: a.rs:1:7: does not parse"), "{}", bad.err);
}

#[test]
fn a_filter_with_a_map_has_stable_ids() {
    let project = Project::new(&[]);
    let map = project.path("m.map");
    let args = |path| ["-", "--map", map.to_str().unwrap(), "--stdin-path", path];
    assert!(filter(&args("a.rs"), "fn f() { x() }").out.contains("e(0x1_0001_0201)"));
    assert!(filter(&args("b.rs"), "fn f() { x() }").out.contains("e(0x2_0001_1301)"));
    assert!(filter(&args("a.rs"), "fn f() { x() }").out.contains("e(0x1_0001_0201)"));
    assert!(project.read("m.map").contains(r#""path":"b.rs""#));
}

/// The scanner of the paper: each source goes through the filter.
#[test]
fn a_filter_that_knows_the_path_writes_the_map_of_the_project() {
    let project =
        Project::new(&[("orig/main.rs", GOOD), ("orig/b.rs", "fn b() { c() }"), ("src/main.rs", "")]);
    let filter = |from: &str, path: &str| {
        let run = filter_in(&project.path(from), &["-", "--stdin-path", path], &project.read("orig/b.rs"));
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
        run.out
    };
    assert_eq!(filter("", "src/b.rs"), "fn b() { ::xhist_rt::e(0x1_0001_0201);c() }");
    assert_eq!(filter("orig", "../src/main.rs"), "fn b() { ::xhist_rt::e(0x2_0001_1301);c() }");
    assert_eq!(filter("src", "main.rs"), "fn b() { ::xhist_rt::e(0x2_0001_1301);c() }");
    let map = project.read("xhist.map");
    let files: Vec<&str> = map.lines().filter_map(|line| line.split("\"path\":\"").nth(1)).collect();
    assert!(files[0].starts_with("src/b.rs\"") && files[2].starts_with("src/main.rs\""), "{files:?}");
    // The text without calls is kept for views.
    let text = map.split("\"source\":\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(project.read(&format!("xhist.map.d/{text}.source")), "fn b() { c() }");
    for args in [["--check", "-"], ["--list", "-"], ["--strip", "-"]] {
        let args = [&args[..], &["--stdin-path", "src/new.rs"]].concat();
        assert_eq!(filter_in(project.dir.path(), &args, "fn b() { c() }").code, Some(0));
    }
    assert_eq!(project.read("xhist.map"), map);
}

#[test]
fn a_filter_that_knows_no_path_says_so_and_names_no_map() {
    let run = filter(&["-"], GOOD);
    assert_eq!(run.code, Some(0));
    assert!(run.err.starts_with("note: reports cannot name the file of these statements"), "{}", run.err);
    assert!(run.err.contains("--stdin-path FILE"), "{}", run.err);
    assert!(
        run.out.contains("::xhist_rt::m(0xffffffffffffffff);::xhist_rt::e(0x0_0002_0201);"),
        "{}",
        run.out
    );
    assert_eq!(filter(&["-"], "struct A;").err, "");
    assert_eq!(filter(&["--list", "-"], GOOD).err, "");
}

#[test]
fn usage_errors_exit_with_code_2() {
    let project = Project::new(&[("src/main.rs", GOOD)]);
    assert_eq!(project.run(&[]).code, Some(2));
    assert_eq!(project.run(&["--no-such-option", "src"]).code, Some(2));
    assert_eq!(project.run(&["--strip", "--check", "src"]).code, Some(2));
    assert_eq!(project.run(&["--include", "[", "src"]).code, Some(2));
    assert_eq!(project.run(&["-", "src"]).code, Some(2));
    assert_eq!(project.run(&["--help"]).code, Some(0));
    let missing = project.run(&["nowhere"]);
    assert_eq!(missing.code, Some(1));
    assert!(missing.err.contains("nowhere: "), "{}", missing.err);
}

#[test]
fn excluded_files_are_not_errors() {
    let project = Project::new(&[
        (
            "src/main.rs",
            "const T: &str = include_str!(\"data.rs\"); static U: [u8; 2] = include!(\"table.rs\"); fn main() {}",
        ),
        ("src/data.rs", GOOD),
        ("src/table.rs", "[1, 2]"),
        ("build.rs", "mod build_part; fn main() { x() }"),
        ("build_part.rs", GOOD),
        ("tests/ui/a.rs", GOOD),
        ("tests/ui/a.stderr", ""),
        ("target/debug/x.rs", GOOD),
        (".hidden/x.rs", GOOD),
        ("macros/Cargo.toml", "[package]\nname = \"m\"\n[lib]\nproc-macro = true\n"),
        ("macros/src/lib.rs", GOOD),
    ]);
    let run = project.run(&["."]);
    assert_eq!(run.code, Some(0), "{run:?}");
    for path in [
        "src/data.rs",
        "build_part.rs",
        "tests/ui/a.rs",
        "target/debug/x.rs",
        ".hidden/x.rs",
        "macros/src/lib.rs",
    ] {
        assert_eq!(project.read(path), GOOD, "{path}");
    }
    for reason in ["procedural macro crate", "read as data", "not items", "compiler-message test"] {
        assert!(run.err.contains(&format!("files left alone: 1 {reason}")), "{reason}: {}", run.err);
    }
    assert!(run.err.contains("files left alone: 2 build script"), "{}", run.err);
}

#[test]
fn the_edition_comes_from_the_manifest() {
    let project = Project::new(&[("src/a.rs", "fn a() { x() }"), ("src/b.rs", "fn b() { x() }")]);
    project.write("Cargo.toml", "[package]\nname = \"p\"\n");
    let run = project.run(&["src/a.rs"]);
    assert_eq!(project.read("src/a.rs"), "fn a() { xhist_rt::e(0x1_0001_0201);x() }");
    assert!(run.err.contains("does not name xhist-rt"), "{}", run.err);
    project.run(&["--edition", "2018", "src/b.rs"]);
    assert_eq!(project.read("src/b.rs"), "fn b() { ::xhist_rt::e(0x2_0001_1301);x() }");
}

#[test]
fn out_dir_holds_the_whole_tree_and_leaves_the_sources() {
    let project = Project::new(&[("src/main.rs", GOOD), ("src/bad.rs", "fn f( {"), ("notes.txt", "x")]);
    let run = project.run(&["-o", "out", "."]);
    assert_eq!(run.code, Some(1));
    assert_eq!(project.read("src/main.rs"), GOOD);
    assert!(project.read("out/src/main.rs").contains("::xhist_rt::e(0x1_0002_0201);let x"));
    assert_eq!(project.read("out/src/bad.rs"), "fn f( {");
    assert_eq!(project.read("out/notes.txt"), "x");
    assert!(project.path("out/xhist.map").exists() && !project.path("xhist.map").exists());
    assert_eq!(project.run(&["-o", "out", "."]).code, Some(1));
    assert!(!project.path("out/out").exists());
}

#[test]
fn globs_choose_files() {
    let project = Project::new(&[("src/main.rs", GOOD), ("src/gen/a.rs", GOOD), ("src/b.rs", GOOD)]);
    assert_eq!(project.run(&["src", "--exclude", "gen", "--exclude", "b.rs"]).code, Some(0));
    assert!(project.read("src/main.rs").contains("xhist_rt"));
    assert_eq!(project.read("src/gen/a.rs"), GOOD);
    assert_eq!(project.read("src/b.rs"), GOOD);
    assert_eq!(project.run(&["src", "--include", "gen/*"]).code, Some(0));
    assert!(project.read("src/gen/a.rs").contains("xhist_rt"));
    assert_eq!(project.read("src/b.rs"), GOOD);
}

#[test]
fn debug_directives_print_to_stderr() {
    let text = "fn f() {\n// xhist debug TRUE\nx();\nm!({ a; b });\nz();\n// xhist debug FALSE\ny();\n}\n";
    let project = Project::new(&[("src/main.rs", text)]);
    let run = project.run(&["--check", "src"]);
    assert!(run.err.contains("debug: src/main.rs:3:1 expr f\n"), "{}", run.err);
    // Recorded or skipped, in the order of the text.
    let notes = run.err.lines().filter_map(|line| line.split("debug: src/main.rs:").nth(1));
    let lines: Vec<&str> = notes.filter_map(|note| note.split(':').next()).collect();
    assert!(lines.contains(&"4") && lines.is_sorted(), "{}", run.err);
    assert!(!run.err.contains(":7:"), "{}", run.err);
}

#[test]
fn a_damaged_map_stops_the_run_before_any_source_changes() {
    let project = Project::new(&[("src/main.rs", GOOD), ("xhist.map", "nonsense\n")]);
    let run = project.run(&["src"]);
    assert_eq!(run.code, Some(1));
    assert!(run.err.contains("xhist.map:1: "), "{}", run.err);
    assert_eq!(project.read("src/main.rs"), GOOD);
}

const MANIFEST: &str = "[package]\nname = \"my-app\"\nedition = \"2024\"\n";
const PARSER: &str =
    "struct Lexer;\nimpl Lexer {\n    fn next() { x() }\n    fn hot() { y() }\n}\nfn free() { z() }\n";

#[test]
fn rust_paths_select_crates_modules_and_functions() {
    let files = [("Cargo.toml", MANIFEST), ("src/main.rs", GOOD), ("src/parser.rs", PARSER)];
    let listed = |args: &[&str]| {
        let project = Project::new(&files);
        let list = project.run(&[args, &["--list", "."]].concat());
        assert_eq!(list.code, Some(0), "{list:?}");
        let recorded = |line: &&str| !line.contains("skipped");
        let function = |line: &str| line.rsplit(' ').next().unwrap().to_owned();
        list.out.lines().filter(recorded).map(function).collect::<Vec<_>>()
    };
    assert_eq!(listed(&["--exclude", "my_app::parser"]), ["main", "main"]);
    assert_eq!(listed(&["--exclude", "**::hot"]), ["main", "main", "Lexer::next", "free"]);
    assert_eq!(listed(&["--include", "my_app::parser::Lexer"]), ["Lexer::next", "Lexer::hot"]);
    assert_eq!(listed(&["--include", "my_app::**", "--exclude", "my_app::*"]), Vec::<String>::new());
    assert_eq!(listed(&["--exclude", "src/parser.rs"]), ["main", "main"]);
}

#[test]
fn thinned_functions_are_listed_and_counted() {
    let text = "fn hot() {\n    for i in 0..9 { f(|| i) }\n    g()\n}\nfn cold() { x() }\n";
    let project = Project::new(&[("src/lib.rs", text)]);
    let run = project.run(&["--list", "--thin", "p::hot", "src"]);
    let expected = "src/lib.rs:2:5 expr hot\nsrc/lib.rs:2:21 skipped: thinned\nsrc/lib.rs:2:26 skipped: thinned\n\
                    src/lib.rs:3:5 skipped: thinned\nsrc/lib.rs:5:13 expr cold\n";
    assert_eq!(run.out, expected);
    assert!(
        run.err.contains("2 statements, 3 skipped (40.0 % recorded)\n  skipped: 3 thinned"),
        "{}",
        run.err
    );
    let of_file = project.run(&["--list", "--thin", "lib.rs", "src"]);
    assert_eq!(of_file.out, expected);
    project.write("Cargo.toml", "[package]\nname = \"p\"\n[package.metadata.xhist]\nthin = [\"**::hot\"]\n");
    assert_eq!(project.run(&["--list", "src"]).out, expected);
    let nowhere = project.run(&["--stop-at", "src/lib.rs:3", "src"]);
    assert_eq!(nowhere.code, Some(2));
    assert!(
        nowhere
            .err
            .contains("no statement of line 3 is recorded (thinned); the nearest are in lines 2 and 5")
    );
    assert_eq!(project.read("src/lib.rs"), text);
}

#[test]
fn triggers_are_listed_and_numbered_for_the_whole_project() {
    let manifest = "[package]\nname = \"p\"\nedition = \"2021\"\n[package.metadata.xhist]\n\
                    start-at = [\"src/a.rs:1#2\"]\nstop-at = [\"src/main.rs:3+9\"]\n";
    let project = Project::new(&[("src/main.rs", GOOD), ("src/a.rs", "fn a() { x() }"), ("src/b.rs", "")]);
    project.write("Cargo.toml", manifest);
    let list = project.run(&["--list", "src"]);
    let expected = "src/a.rs:1:10 expr a, start-at#2\nsrc/main.rs:2:5 let main\n\
                    src/main.rs:3:5 macro main, stop-at#1+9\n";
    assert_eq!(list.out, expected);
    // Numbers are unique across the files of the project.
    let run = project.run(&["src/main.rs"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        run.err.contains("start-at src/a.rs:1#2: not among the sources instrumented here"),
        "{}",
        run.err
    );
    assert!(
        project
            .read("src/main.rs")
            .contains("::xhist_rt::s(0x1_0003_0301);::xhist_rt::stop_at(1,1,9);println!")
    );
    assert_eq!(project.run(&["src/a.rs"]).code, Some(0));
    assert!(
        project.read("src/a.rs").contains("{ ::xhist_rt::start_at(0,2);::xhist_rt::e(0x2_0001_1401);x() }")
    );
    assert_eq!(project.run(&["--strip", "src"]).code, Some(0));
    assert_eq!(
        (project.read("src/main.rs"), project.read("src/a.rs")),
        (GOOD.into(), "fn a() { x() }".into())
    );
    project.write("Cargo.toml", manifest.replace("+9", "+x"));
    let wrong = project.run(&["--check", "src"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("stop-at src/main.rs:3+x: expected FILE:LINE[#HIT][+AFTER]"), "{}", wrong.err);
}

#[test]
fn manifests_select_files_and_functions() {
    let root = "[workspace]\nmembers = [\"a\"]\n[workspace.metadata.xhist]\nexclude = [\"a/src/gen\", \"**::hot\"]\n";
    let member =
        "[package]\nname = \"a\"\n[package.metadata.xhist]\nwhen = \"after\"\nexclude = [\"src/skip.rs\"]\n";
    let project = Project::new(&[
        ("Cargo.toml", root),
        ("a/Cargo.toml", member),
        ("a/src/lib.rs", "fn f() { x(); }\nfn hot() { y(); }\n"),
        ("a/src/skip.rs", GOOD),
        ("a/src/gen/table.rs", GOOD),
    ]);
    let run = project.run(&["."]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(
        project.read("a/src/lib.rs"),
        "fn f() { x();xhist_rt::e(0x1_0001_0201); }\nfn hot() { y(); }\n"
    );
    assert_eq!(project.read("a/src/skip.rs"), GOOD);
    assert_eq!(project.read("a/src/gen/table.rs"), GOOD);

    fs::write(project.path("a/Cargo.toml"), member.replace("when", "whn")).unwrap();
    let wrong = project.run(&["--check", "."]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(
        wrong.err.contains("a/Cargo.toml: [package.metadata.xhist]: unknown field `whn`"),
        "{}",
        wrong.err
    );
}

#[test]
fn a_file_that_is_off_need_not_parse() {
    let off = "// Generated.\n// xhist instrument FALSE\nfn main( { ??? }\n";
    let project = Project::new(&[("src/off.rs", off), ("src/main.rs", GOOD)]);
    let run = project.run(&["src"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.err.contains("files left alone: 1 switched off by a directive at its head"), "{}", run.err);
    assert_eq!(project.read("src/off.rs"), off);
}

#[test]
fn reflow_puts_one_statement_on_a_line_of_a_copy() {
    let minified = "#!/run\nfn main(){let a=1;let b=2;if a==b{f();}else{g(a,b);}}fn f(){}fn g(_:u8,_:u8){}";
    let project = Project::new(&[("gen/main.rs", minified), ("gen/data.txt", "x")]);
    let refused = project.run(&["--reflow", "gen"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let run = project.run(&["--reflow", "-o", "out", "gen"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(project.read("gen/main.rs"), minified);
    assert_eq!(project.read("out/data.txt"), "x");
    let written = project.read("out/main.rs");
    for line in [
        "    ::xhist_rt::s(0x1_0004_0301);let b = 2;",
        "        ::xhist_rt::s(0x1_0006_0501);f();",
        "        ::xhist_rt::s(0x1_0008_0601);g(a, b);",
    ] {
        assert!(written.lines().any(|found| found == line), "{line}\n{written}");
    }
    // Lines and path are those of the written file.
    assert!(
        project.read("out/xhist.map").contains(r#""path":"out/main.rs""#),
        "{}",
        project.read("out/xhist.map")
    );

    fs::write(project.path("gen/main.rs"), "fn f() {}\n// xhist instrument FALSE\nfn g() {}").unwrap();
    let directives = project.run(&["--reflow", "-o", "out", "gen"]);
    assert_eq!(directives.code, Some(1));
    assert!(directives.err.contains("gen/main.rs:1:1: has directives in comments"), "{}", directives.err);
}
