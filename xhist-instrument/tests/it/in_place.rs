//! Instrumenting in place repeatedly, concurrently, and with kills: files, maps and file attributes stay correct.

use crate::project::{GOOD, PROGRAM, Project, Run, temporaries};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

/// The hash in the first line of a map.
fn hash(map: &str) -> String {
    map.split("\"hash\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
}

const OTHER: &str = "fn other() {\n    x();\n    y();\n}\n";

#[test]
fn a_run_on_instrumented_sources_equals_one_on_the_originals() {
    let files = [("src/main.rs", GOOD), ("src/other.rs", OTHER), ("src/gone.rs", OTHER)];
    let (again, fresh) = (Project::new(&files), Project::new(&files));
    for project in [&again, &fresh] {
        assert_eq!(project.run(&["src"]).code, Some(0));
    }
    // The user adds a statement between two calls.
    let edited = |text: String| text.replace("y();", "z();\n    y();");
    again.write("src/other.rs", edited(again.read("src/other.rs")));
    assert_eq!(fresh.run(&["--strip", "src"]).code, Some(0));
    fresh.write("src/other.rs", edited(fresh.read("src/other.rs")));
    let args = ["--when", "after", "--exclude", "gone.rs", "--stop-at", "other.rs:3#2", "src"];
    let runs = [again.run(&args), fresh.run(&args)];
    assert_eq!((runs[0].code, runs[1].code), (Some(0), Some(0)), "{runs:?}");
    for file in ["src/main.rs", "src/other.rs", "src/gone.rs"] {
        assert_eq!(again.read(file), fresh.read(file), "{file}");
    }
    assert_eq!(hash(&again.read("xhist.map")), hash(&fresh.read("xhist.map")));
    assert!(
        again.read("src/other.rs").contains("z();::xhist_rt::e(0x3_0003_2701);::xhist_rt::stop_at(0,2,0);")
    );
    assert_eq!(again.read("src/gone.rs"), OTHER);
    assert!(runs[0].err.contains("no longer instrumented, calls removed: 1 file"), "{}", runs[0].err);
    assert!(!again.read("xhist.map").contains("\"stmt\":1"), "{}", again.read("xhist.map"));
    assert_eq!(again.run(&["--strip", "src"]).code, Some(0));
    assert_eq!(again.read("src/other.rs"), edited(OTHER.to_owned()));
}

/// The text that was instrumented is kept, once, without calls, for those who may read the source.
#[cfg(unix)]
#[test]
fn texts_of_sources_are_kept_without_calls() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::new(&[("src/main.rs", GOOD), ("src/same.rs", GOOD), ("src/other.rs", OTHER)]);
    let mode = fs::Permissions::from_mode(0o600);
    fs::set_permissions(project.path("src/other.rs"), mode).unwrap();
    let texts = || {
        let files = fs::read_dir(project.path("xhist.map.d")).unwrap().map(|file| file.unwrap().path());
        let texts = files.filter(|file| file.extension().is_some_and(|extension| extension == "source"));
        let mut texts: Vec<_> = texts
            .map(|file| {
                let mode = fs::metadata(&file).unwrap().permissions().mode() & 0o777;
                (fs::read_to_string(&file).unwrap(), mode == 0o600)
            })
            .collect();
        texts.sort();
        texts
    };
    assert_eq!(project.run(&["--check", "src"]).code, Some(0));
    assert!(!project.path("xhist.map.d").exists(), "a check writes nothing");
    for _ in 0..2 {
        assert_eq!(project.run(&["src"]).code, Some(0));
        assert_eq!(texts(), [(GOOD.to_owned(), false), (OTHER.to_owned(), true)]);
    }
    project.write("src/other.rs", project.read("src/other.rs").replace("y();", "z();"));
    assert_eq!(project.run(&["src/other.rs"]).code, Some(0));
    assert_eq!(texts().len(), 3, "the earlier map names the earlier text");
    assert!(texts().contains(&(OTHER.replace("y();", "z();"), true)));
}

#[test]
fn nothing_is_written_when_nothing_changed() {
    let project = Project::new(&[("src/main.rs", GOOD)]);
    assert_eq!(project.run(&["src"]).code, Some(0));
    let times = || {
        ["src/main.rs", "xhist.map"].map(|file| fs::metadata(project.path(file)).unwrap().modified().unwrap())
    };
    let before = times();
    assert_eq!(project.run(&["src"]).code, Some(0));
    assert_eq!(times(), before);
    let kept: Vec<_> =
        fs::read_dir(project.path("xhist.map.d")).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(matches!(&kept[..], [text] if text.extension().unwrap() == "source"), "no map: {kept:?}");
}

#[test]
fn files_that_are_switched_off_or_become_data_lose_their_calls() {
    let project = Project::new(&[("src/main.rs", GOOD), ("src/other.rs", OTHER), ("src/off.rs", OTHER)]);
    assert_eq!(project.run(&["src"]).code, Some(0));
    let off = format!("// xhist instrument FALSE\n{}", project.read("src/off.rs"));
    project.write("src/off.rs", off);
    project.write("src/main.rs", format!("const D: &str = include_str!(\"other.rs\");\n{GOOD}"));
    let run = project.run(&["src"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(project.read("src/other.rs"), OTHER);
    assert_eq!(project.read("src/off.rs"), format!("// xhist instrument FALSE\n{OTHER}"));
    // Similar code in a file that the map does not name stays.
    let text = "fn f() { ::xhist_rt::e(0x1_0002_0201);x() }";
    let data =
        Project::new(&[("src/main.rs", "const D: &str = include_str!(\"data.rs\");"), ("src/data.rs", text)]);
    assert_eq!(data.run(&["src"]).code, Some(0));
    assert_eq!(data.read("src/data.rs"), text);
}

#[test]
fn earlier_maps_are_kept_and_announced() {
    let project = Project::new(&[("src/main.rs", GOOD)]);
    let first = project.run(&["src"]);
    let kept = "map: xhist.map (xhist-report takes names from it; source texts and maps of earlier runs are in xhist.map.d/)";
    assert!(first.err.contains(kept), "{}", first.err);
    let old = project.read("xhist.map");
    project.write("src/main.rs", project.read("src/main.rs").replace("let x", "f(); let x"));
    let second = project.run(&["src"]);
    assert!(second.err.contains(kept), "{}", second.err);
    assert_eq!(project.read(&format!("xhist.map.d/{}.map", hash(&old))), old);
    let strip = project.run(&["--strip", "src"]);
    assert!(strip.err.contains("xhist.map and xhist.map.d stay: "), "{}", strip.err);
    let command = strip.err.split("left: ").nth(1).unwrap();
    assert!(
        Command::new("sh").current_dir(project.dir.path()).args(["-c", command]).status().unwrap().success()
    );
    assert!(!project.path("xhist.map").exists() && !project.path("xhist.map.d").exists());
    assert!(!project.run(&["--strip", "src"]).err.contains("stay"));

    let elsewhere = project.path("maps/m");
    let args = ["--map", elsewhere.to_str().unwrap(), "src"];
    assert_eq!(project.run(&args).code, Some(1), "no such directory");
    fs::create_dir(project.path("maps")).unwrap();
    assert_eq!(project.run(&args).code, Some(0));
    let old = project.read("maps/m");
    assert_eq!(project.run(&["--map", args[1], "--thin", "main", "--thin", "**::main", "src"]).code, Some(0));
    assert_eq!(project.read(&format!("maps/m.d/{}.map", hash(&old))), old);
}

#[test]
fn a_directory_without_rust_is_an_error() {
    let project = Project::new(&[("empty/notes.txt", ""), ("src/main.rs", GOOD), ("src/bad.rs", "fn f( {")]);
    for args in [&["empty"][..], &["--check", "empty"], &["--strip", "empty"], &["-o", "out", "empty"]] {
        let run = project.run(args);
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.err.contains("empty: no Rust source (*.rs) in it"), "{}", run.err);
        assert!(!run.err.contains("100"), "{}", run.err);
    }
    let both = project.run(&["--check", "src", "empty"]);
    assert_eq!(both.code, Some(1));
    assert!(
        both.err
            .contains("1 file: 2 statements, 0 skipped (100.0 % recorded), 1 file left alone on an error"),
        "{}",
        both.err
    );
    let bad = project.run(&["--check", "src/bad.rs"]);
    assert_eq!(bad.code, Some(1));
    assert!(
        bad.err.contains("0 files: 0 statements, 0 skipped, 1 file left alone on an error"),
        "{}",
        bad.err
    );
}

#[test]
fn an_output_directory_never_holds_or_reaches_the_input() {
    use std::os::unix::fs::symlink;
    let project =
        Project::new(&[("src/main.rs", GOOD), ("src/sub/b.rs", OTHER), ("mine/notes.txt", "x"), ("f", "")]);
    symlink(".", project.path("self")).unwrap();
    symlink("src", project.path("link")).unwrap();
    fs::create_dir(project.path("hard")).unwrap();
    fs::hard_link(project.path("src/main.rs"), project.path("hard/main.rs")).unwrap();
    for out in ["leads", "leaf"] {
        fs::create_dir(project.path(out)).unwrap();
    }
    symlink("../mine", project.path("leads/sub")).unwrap();
    symlink("../mine/notes.txt", project.path("leaf/main.rs")).unwrap();
    let snapshot = || {
        let mut files: Vec<_> = walkdir::WalkDir::new(project.dir.path())
            .sort_by_file_name()
            .into_iter()
            .flatten()
            .map(|entry| (entry.path().to_path_buf(), fs::read(entry.path()).ok()))
            .collect();
        files.retain(|(path, _)| !path.ends_with("xhist.map"));
        files
    };
    let before = snapshot();
    let runs: [&[&str]; 13] = [
        &["-o", ".", "."],
        &["-o", "src", "src"],
        &["-o", "self", "."],
        &["-o", "link", "src"],
        &["-o", "src", "link"],
        &["-o", ".", "src"],
        &["-o", "self/./", "src"],
        &["-o", "new/../src", "src"],
        &["-o", "mine", "."],
        &["-o", "hard", "src"],
        &["-o", "leads", "src"],
        &["-o", "leaf", "src"],
        &["-o", "f", "src"],
    ];
    for args in runs {
        let run = project.run(args);
        assert_eq!(run.code, Some(2), "{args:?} {run:?}");
        assert_eq!(snapshot(), before, "{args:?}");
    }
    // Two paths for one file.
    let clash = Project::new(&[("a/src/x.rs", GOOD), ("b/src/x.rs", GOOD)]);
    let run = clash.run(&["-o", "out", "a/src", "b/src"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.err.contains("would both be written to out/src/x.rs"), "{}", run.err);
    assert!(!clash.path("out").exists());
}

#[test]
fn later_runs_skip_an_output_directory_in_the_input() {
    let project = Project::new(&[("src/main.rs", GOOD)]);
    for _ in 0..2 {
        assert_eq!(project.run(&["-o", "out", "."]).code, Some(0));
    }
    assert!(project.path("out/CACHEDIR.TAG").exists() && !project.path("out/out").exists());
    let copy = project.read("out/src/main.rs");
    let run = project.run(&["."]);
    assert!(run.err.contains("1 file: 2 statements"), "{}", run.err);
    assert_eq!(project.read("out/src/main.rs"), copy);
    // Instrumented sources give the same copy.
    assert_eq!(project.run(&["-o", "out", "."]).code, Some(0));
    assert_eq!(project.read("out/src/main.rs"), copy);
    assert_eq!(hash(&project.read("out/xhist.map")), copy.split("m(0x").nth(1).unwrap()[..16]);
}

#[test]
fn runs_on_one_tree_wait_for_each_other() {
    let project = Project::new(&[
        ("src/main.rs", GOOD),
        ("sub/Cargo.toml", "[package]\nname = \"s\"\n"),
        ("sub/a.rs", OTHER),
    ]);
    let start = |args: &[&str]| {
        let mut command = Command::new(PROGRAM);
        command.current_dir(project.dir.path()).args(args).stderr(Stdio::piped()).spawn().unwrap()
    };
    // A run locks its tree exclusively, and the directories above together with other runs.
    for (held, alone, args) in [
        (".", true, &["src"][..]),
        (".", false, &["."]),
        ("sub", true, &["sub/a.rs"]),
        (".", true, &["sub"]),
        ("src", false, &["--strip", "src"]),
        ("src", true, &["--check", "src"]),
    ] {
        let lock = File::open(project.path(held)).unwrap();
        if alone { lock.lock() } else { lock.lock_shared() }.unwrap();
        let mut waiting = start(args);
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert!(waiting.try_wait().unwrap().is_none(), "{held} {args:?}");
        drop(lock);
        let run = Run::new(waiting.wait_with_output().unwrap());
        assert_eq!(run.code, Some(0), "{held} {args:?} {run:?}");
        assert!(run.err.contains("another run of xhist-instrument is at work in "), "{}", run.err);
    }
    let lock = File::open(project.path("src")).unwrap();
    lock.lock().unwrap();
    assert_eq!(project.run(&["sub"]).code, Some(0), "another tree");
    drop(lock);
    // A killed process holds no lock.
    let lock = File::open(project.path("src")).unwrap();
    lock.lock().unwrap();
    let mut killed = start(&["src"]);
    std::thread::sleep(std::time::Duration::from_millis(100));
    killed.kill().unwrap();
    killed.wait().unwrap();
    drop(lock);
    let run = project.run(&["."]);
    assert!(run.code == Some(0) && !run.err.contains("another run"), "{run:?}");
}

#[test]
fn concurrent_runs_with_different_options_leave_one_result() {
    let project = Project::new(&[("src/main.rs", GOOD), ("src/other.rs", OTHER)]);
    for round in 0..8 {
        let runs: Vec<_> = [&["src"][..], &["--when", "after", "."], &["--thin", "**::other", "src"]]
            .iter()
            .map(|args| {
                Command::new(PROGRAM)
                    .current_dir(project.dir.path())
                    .args(*args)
                    .stderr(Stdio::null())
                    .spawn()
                    .unwrap()
            })
            .collect();
        for mut run in runs {
            assert!(run.wait().unwrap().success());
        }
        let in_main = project.read("src/main.rs").split("m(0x").nth(1).unwrap()[..16].to_owned();
        assert_eq!(in_main, hash(&project.read("xhist.map")), "round {round}");
    }
    assert_eq!(project.run(&["--strip", "."]).code, Some(0));
    assert_eq!((project.read("src/main.rs"), project.read("src/other.rs")), (GOOD.into(), OTHER.into()));
}

/// Extended attributes by name, as the file and as the file system return them.
fn attribute(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut buffer = vec![0; 1000];
    let length = rustix::fs::getxattr(path, name, &mut buffer).ok()?;
    buffer.truncate(length);
    Some(buffer)
}

#[cfg(target_os = "linux")]
#[test]
fn extended_attributes_and_hard_links_survive() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let project = Project::new(&[("src/main.rs", GOOD), ("src/linked.rs", OTHER), ("src/acl.rs", OTHER)]);
    fs::hard_link(project.path("src/linked.rs"), project.path("outside.txt")).unwrap();
    fs::hard_link(project.path("src/linked.rs"), project.path("src/same.rs")).unwrap();
    let set = |file: &str, name: &str, value: &[u8]| {
        rustix::fs::setxattr(project.path(file), name, value, rustix::fs::XattrFlags::empty())
    };
    if set("src/main.rs", "user.label", b"secret").is_err() {
        eprintln!("no extended attributes here");
        return;
    }
    set("src/linked.rs", "user.label", b"linked").unwrap();
    // user::rw-, user:1:rw-, group::r--, mask::rw-, other::---
    let entry = |tag: u16, rights: u16, id: u32| {
        [&tag.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat()
    };
    let acl = [
        2u32.to_le_bytes().to_vec(),
        entry(1, 6, u32::MAX),
        entry(2, 6, 1),
        entry(4, 4, u32::MAX),
        entry(16, 6, u32::MAX),
        entry(32, 0, u32::MAX),
    ]
    .concat();
    let has_acl = set("src/acl.rs", "system.posix_acl_access", &acl).is_ok();
    fs::set_permissions(project.path("src/main.rs"), fs::Permissions::from_mode(0o640)).unwrap();
    let check = |what: &str| {
        assert_eq!(
            attribute(&project.path("src/main.rs"), "user.label").as_deref(),
            Some(&b"secret"[..]),
            "{what}"
        );
        assert_eq!(fs::metadata(project.path("src/main.rs")).unwrap().mode() & 0o777, 0o640, "{what}");
        if has_acl {
            assert_eq!(
                attribute(&project.path("src/acl.rs"), "system.posix_acl_access").as_ref(),
                Some(&acl),
                "{what}"
            );
        }
        let number = |file: &str| fs::metadata(project.path(file)).unwrap().ino();
        assert!(
            number("src/linked.rs") == number("outside.txt")
                && number("src/same.rs") == number("outside.txt"),
            "{what}"
        );
        assert_eq!(
            attribute(&project.path("outside.txt"), "user.label").as_deref(),
            Some(&b"linked"[..]),
            "{what}"
        );
    };
    let run = project.run(&["src"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        run.err.contains("files left alone: 1 another name of a file that is done already"),
        "{}",
        run.err
    );
    assert!(project.read("outside.txt").contains("::xhist_rt::s("));
    check("instrumented");
    assert_eq!(project.run(&["--strip", "src"]).code, Some(0));
    assert_eq!(project.read("outside.txt"), OTHER);
    check("stripped");
    assert_eq!(temporaries(&project.path("src")), 0);
}

/// Many files; every second one has a hard link.
fn many(project: &Project) -> Vec<(String, String)> {
    let body = "    x();\n".repeat(40);
    let files: Vec<_> = (0..40)
        .map(|number| (format!("src/f{number}.rs"), format!("fn f{number}() {{\n{body}}}\n")))
        .collect();
    fs::create_dir_all(project.path("links")).unwrap();
    for (index, (path, text)) in files.iter().enumerate() {
        project.write(path, text);
        if index % 2 == 0 {
            fs::hard_link(project.path(path), project.path(&format!("links/{index}"))).unwrap();
        }
    }
    files
}

#[test]
fn killed_runs_damage_nothing_and_the_next_run_cleans_up() {
    let project = Project::new(&[]);
    let files = many(&project);
    project.write("src/.xhist-mine", "x");
    let (mut left, mut early) = (0, 0);
    for round in 0..40 {
        let args: &[&str] = if round % 2 == 0 { &["src"] } else { &["--strip", "src"] };
        let mut child = Command::new(PROGRAM)
            .current_dir(project.dir.path())
            .args(args)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Wait until it writes, and a little longer.
        while child.try_wait().unwrap().is_none() && temporaries(&project.path("src")) == 1 {}
        std::thread::sleep(std::time::Duration::from_micros(150 * (round / 2 % 20)));
        let _ = child.kill();
        early += u32::from(!child.wait().unwrap().success());
        left += temporaries(&project.path("src")) - 1;
        // A file without hard links is complete at any moment.
        for (path, text) in files.iter().skip(1).step_by(2) {
            let now = project.read(path);
            assert!(now == *text || now.matches("xhist_rt::").count() == 40, "{path} in round {round}");
        }
    }
    println!("{early} runs were killed, {left} times temporary files were left");
    assert!(early > 5 && left > 0, "{early}");
    project.write("src/.xhist-Ab12Cd", "of an older version");
    let run = project.run(&["--strip", "src"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    for (path, text) in &files {
        assert_eq!(project.read(path), *text, "{path}");
    }
    assert_eq!(temporaries(&project.path("src")), 1);
    assert_eq!(temporaries(project.dir.path()), 0);
}

#[test]
fn names_with_control_characters_are_escaped() {
    let name = "src/esc\u{1b}]0;pwn\u{7}\n.rs";
    let project = Project::new(&[(name, "fn f( {"), ("src/\u{1b}[2J.rs", OTHER)]);
    for args in [
        &["src"][..],
        &["--list", "src"],
        &["--strip", "src"],
        &["-o", "out\u{1b}", "src"],
        &["-o", "src\u{1b}/x", name],
        &["no\u{1b}"],
    ] {
        let run = project.run(args);
        let printed = format!("{}{}", run.out, run.err);
        assert!(!printed.contains(['\u{1b}', '\u{7}']), "{args:?} {printed:?}");
    }
    assert!(project.run(&["src"]).err.contains(r"src/esc\u{1b}]0;pwn\u{7}\n.rs:1:7: does not parse"));
}

#[test]
fn edits_during_a_run_are_kept() {
    use std::io::Write as _;
    use std::os::unix::fs::MetadataExt as _;
    let project = Project::new(&[]);
    let files: Vec<String> = (0..60).map(|number| format!("src/f{number}.rs")).collect();
    for file in &files {
        project.write(file, OTHER.repeat(20));
    }
    let (mut made, mut certain, mut runs) = (vec![0; files.len()], vec![0; files.len()], 0);
    let end = std::time::Instant::now() + std::time::Duration::from_secs(4);
    while std::time::Instant::now() < end {
        let args = if runs % 2 == 0 { ["src", "--map", "/dev/null"] } else { ["--strip", "src", "."] };
        runs += 1;
        let mut child = Command::new(PROGRAM)
            .current_dir(project.dir.path())
            .args(args)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while child.try_wait().unwrap().is_none() {
            let index = (made.iter().sum::<usize>() * 37) % files.len();
            let mut file = File::options().append(true).open(project.path(&files[index])).unwrap();
            file.write_all(b"// an edit\n").unwrap();
            made[index] += 1;
            // A file that was replaced while this program had it open may have got the edit too late, see docs/in-place.md.
            let now = std::fs::metadata(project.path(&files[index])).unwrap();
            certain[index] += usize::from(now.ino() == file.metadata().unwrap().ino());
            std::thread::sleep(std::time::Duration::from_micros(300));
        }
    }
    assert_eq!(project.run(&["--strip", "src"]).code, Some(0));
    let found: Vec<usize> =
        files.iter().map(|file| project.read(file).matches("// an edit\n").count()).collect();
    let sum = |counts: &[usize]| counts.iter().sum::<usize>();
    println!("{} edits in {runs} runs, {} of them certain", sum(&made), sum(&certain));
    assert!(sum(&certain) > sum(&made) / 2);
    let is_kept = |index: usize| (certain[index]..=made[index]).contains(&found[index]);
    assert!((0..files.len()).all(is_kept), "{found:?} of {made:?}, {certain:?} certain");
}
