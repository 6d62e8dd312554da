//! Every hazard is a directory in `fixtures`: `in.rs` says in its first line why it exists, `out.rs` is what comes
//! out. `XHIST_BLESS=1` rewrites the outputs. Both are compiled in their edition and must print the same.
//! Further lines at the top: `// edition: 2015` (or 2018, 2021), `// when: after`, `// compile: no`.

use std::path::{Path, PathBuf};
use std::process::Command;
use xhist_instrument::{MainHash, Options, When, analyze, instrument, strip};

struct Fixture {
    dir: PathBuf,
    text: String,
}

impl Fixture {
    fn all() -> Vec<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        let dirs = walkdir::WalkDir::new(root).min_depth(1).max_depth(1).sort_by_file_name();
        let dirs = dirs.into_iter().map(|entry| entry.unwrap().into_path());
        dirs.map(|dir| Self { text: std::fs::read_to_string(dir.join("in.rs")).unwrap(), dir }).collect()
    }

    fn name(&self) -> &str {
        self.dir.file_name().unwrap().to_str().unwrap()
    }

    fn says(&self, line: &str) -> bool {
        self.text.lines().take(4).any(|found| found == line)
    }

    fn edition(&self) -> &'static str {
        ["2015", "2018", "2021"]
            .into_iter()
            .find(|edition| self.says(&format!("// edition: {edition}")))
            .unwrap_or("2024")
    }

    fn options(&self) -> Options {
        Options {
            edition2015: self.edition() == "2015",
            when: if self.says("// when: after") { When::After } else { When::Before },
            main_hash: MainHash::Literal(0x0123_4567_89ab_cdef),
        }
    }

    /// The instrumented text, followed by the skips as comments.
    fn instrumented(&self) -> String {
        let options = self.options();
        let analysis =
            analyze(self.text.as_bytes(), &options).unwrap_or_else(|e| panic!("{}:{e}", self.name()));
        let result = instrument(self.text.as_bytes(), &analysis, &[1], &options);
        String::from_utf8(result.unwrap_or_else(|e| panic!("{}:{e}", self.name()))).unwrap()
    }

    fn skips(&self) -> String {
        let skips = analyze(self.text.as_bytes(), &self.options()).unwrap().skips;
        skips.iter().map(|skip| format!("// {}:{} {}\n", skip.line, skip.column, skip.reason)).collect()
    }
}

#[test]
fn outputs_are_as_recorded() {
    let bless = std::env::var_os("XHIST_BLESS").is_some();
    let mut wrong = Vec::new();
    for fixture in Fixture::all() {
        assert!(fixture.text.starts_with("// why: "), "{}: say why it exists", fixture.name());
        let path = fixture.dir.join("out.rs");
        let text = fixture.instrumented();
        assert_eq!(strip(text.as_bytes()), fixture.text.as_bytes(), "{}", fixture.name());
        let found = text + &fixture.skips();
        if bless {
            std::fs::write(&path, &found).unwrap();
        } else if std::fs::read_to_string(&path).unwrap_or_default() != found {
            wrong.push(format!("{}:\n{found}", fixture.name()));
        }
    }
    assert!(wrong.is_empty(), "not as recorded (XHIST_BLESS=1 records anew):\n{}", wrong.join("\n"));
}

const STUB: &str = "#![no_std]
#[inline] pub fn s(_: u16, _: u16) {} #[inline] pub fn a(_: u16, _: u16) {}
#[inline] pub fn p(_: u16, _: u16) {} #[inline] pub fn c(_: u16, _: u16) {}
#[inline] pub fn m(_: u64) {} #[macro_export] macro_rules! m { () => {} }";

#[test]
fn instrumented_programs_print_what_the_originals_print() {
    let dir = tempfile::tempdir().unwrap();
    let stub = dir.path().join("stub.rs");
    std::fs::write(&stub, STUB).unwrap();
    rustc(dir.path(), &["stub.rs", "--crate-name=xhist_rt", "--crate-type=rlib", "--edition=2021"]);
    let mut ran = 0;
    for fixture in Fixture::all().iter().filter(|fixture| !fixture.says("// compile: no")) {
        let original = output(dir.path(), fixture, &fixture.text);
        let instrumented = output(dir.path(), fixture, &fixture.instrumented());
        assert_eq!(original, instrumented, "{}", fixture.name());
        ran += 1;
    }
    println!("{ran} programs compiled and run twice");
}

/// Compiles and runs a text; its standard output.
fn output(dir: &Path, fixture: &Fixture, text: &str) -> String {
    std::fs::write(dir.join("program.rs"), text).unwrap();
    let edition = format!("--edition={}", fixture.edition());
    // Lints are not capped: an instrumented program must not draw one that the original denies.
    rustc(
        dir,
        &["program.rs", &edition, "--extern=xhist_rt=libxhist_rt.rlib", "-Adead_code", "-o", "program.exe"],
    );
    let run = Command::new(dir.join("program.exe")).output().unwrap();
    assert!(run.status.success(), "{}: {}", fixture.name(), String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap()
}

fn rustc(dir: &Path, args: &[&str]) {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let run = Command::new(rustc).current_dir(dir).args(args).output().unwrap();
    assert!(run.status.success(), "rustc {args:?}: {}", String::from_utf8_lossy(&run.stderr));
}
