//! Which files does `--source` show, and are they shown as the user wrote them?

use crate::support::{Dir, Outcome, RingImage, map_text};

/// A project whose map has another root and names these files.
fn project(root: &str, paths: &[&str]) -> Dir {
    let dir = Dir::new();
    let files: Vec<(u16, &str, u32)> = paths.iter().zip(1..).map(|(path, id)| (id, *path, 0)).collect();
    let root = root.replace("DIR", dir.path().to_str().unwrap());
    let (map, hash) = map_text(&root, &files);
    let statements: Vec<(u16, u16)> = files.iter().map(|(file, ..)| (*file, 1)).collect();
    let ring = RingImage { map_hash: hash, ..RingImage::bare(256) }.statements(&statements);
    dir.write("project/Cargo.toml", "");
    dir.write("project/src/a.rs", "let shown = 1;\n");
    dir.write("secret.txt", "secret\n");
    dir.write("project/target/xhist/maps/x.map", map);
    dir.write("project/target/xhist/runs/x.xhist", ring.build());
    dir
}

fn reported(dir: &Dir, args: &[&str]) -> Outcome {
    dir.run(&[&["project/target/xhist/runs/x.xhist"], args].concat())
}

#[test]
fn only_files_of_the_project_are_shown() {
    for (root, path) in [
        ("DIR/project", "../secret.txt"),
        ("DIR/project", "src/../../secret.txt"),
        ("DIR", "secret.txt"),
        ("/", "proc/self/status"),
        ("/", "/etc/passwd"),
        ("DIR/project", "../../../../../../../../etc/passwd"),
    ] {
        let dir = project(root, &[path, "src/a.rs"]);
        // Another directory to work in, so that it allows nothing.
        std::fs::create_dir(dir.path().join("project/elsewhere")).unwrap();
        for args in [&["--source"][..], &["--source", "--format", "json"], &["--source", "--time"]] {
            let mut command = dir.command(&[&["../target/xhist/runs/x.xhist"], args].concat());
            let outcome = crate::support::outcome(
                command.current_dir(dir.path().join("project/elsewhere")).output().unwrap(),
            );
            assert!(
                !outcome.out.contains("secret\n") && !outcome.out.contains("root:"),
                "{root} {path}: {}",
                outcome.out
            );
            assert!(!outcome.out.contains("Name:\t"), "{}", outcome.out);
            assert!(
                outcome.notes.contains("is not below the project of the map"),
                "{root} {path}: {}",
                outcome.notes
            );
        }
    }
    let dir = project("DIR/project", &["src/a.rs"]);
    assert_eq!(reported(&dir, &["--source"]).out, "1 src/a.rs:1\tlet shown = 1;\n");
}

#[cfg(unix)]
#[test]
fn a_link_does_not_lead_out_of_the_project() {
    let dir = project("DIR/project", &["src/link.rs"]);
    std::os::unix::fs::symlink(dir.path().join("secret.txt"), dir.path().join("project/src/link.rs"))
        .unwrap();
    let mut command = dir.command(&["target/xhist/runs/x.xhist", "--source"]);
    let outcome = crate::support::outcome(command.current_dir(dir.path().join("project")).output().unwrap());
    assert_eq!(outcome.out, "1 src/link.rs:1\t\n");
    assert!(outcome.notes.contains("link.rs is not below the project"), "{}", outcome.notes);
}

#[test]
fn a_named_directory_is_allowed_and_searched() {
    let dir = project("DIR/project", &["../outside/b.rs", "c.rs"]);
    dir.write("outside/b.rs", "let b = 2;\n");
    dir.write("outside/c.rs", "let c = 3;\n");
    let mut command = dir.command(&["target/xhist/runs/x.xhist", "--source-root", "../outside"]);
    let outcome = crate::support::outcome(command.current_dir(dir.path().join("project")).output().unwrap());
    assert_eq!(outcome.out, "1 ../outside/b.rs:1\tlet b = 2;\n2 c.rs:1\tlet c = 3;\n", "{}", outcome.notes);
}

#[test]
fn sources_of_packages_are_shown() {
    let dir = Dir::new();
    let path = dir.write("home/registry/src/index/p-1.0.0/src/lib.rs", "let p = 1;\n");
    let (map, hash) = map_text("/nowhere", &[(1, path.to_str().unwrap(), 0)]);
    let ring = RingImage { map_hash: hash, ..RingImage::bare(256) }.statements(&[(1, 1)]);
    dir.write("here/xhist.map", map);
    dir.write("here/x.xhist", ring.build());
    let mut command = dir.command(&["x.xhist", "--source"]);
    let command = command.current_dir(dir.path().join("here")).env("CARGO_HOME", dir.path().join("home"));
    let outcome = crate::support::outcome(command.output().unwrap());
    assert!(outcome.out.ends_with("\tlet p = 1;\n"), "{}{}", outcome.out, outcome.notes);
}

#[test]
fn inserted_calls_are_not_shown() {
    let dir = project("DIR/project", &["src/a.rs"]);
    dir.write("project/src/a.rs", "fn main() {::xhist_rt::m(0x0123456789abcdef);::xhist_rt::s(0x1_0001_0a01);let shown = f(|| {::xhist_rt::a(0x1_0001_0a01);1/*xh*/});\n}\n");
    assert_eq!(reported(&dir, &["--source"]).out, "1 src/a.rs:1\tfn main() {let shown = f(|| 1);\n");
}
