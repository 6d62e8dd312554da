//! Every hazard is a directory in `fixtures`: `in.rs` says in its first line why it exists, `out.rs` is what comes
//! out, `ran.txt` which lines it runs. `XHIST_BLESS=1` rewrites the outputs. In every edition that it concerns it is compiled as it is, recording, and
//! with calls that do nothing, and must print the same.
//! Further lines at the top: `// editions: 2018 2021` where not all are meant, `// when: after`, `// detail: function`, `// compile: no`,
//! `// triggers: all` for some at each statement, which do nothing.

use rayon::prelude::*;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use xhist_instrument::{
    Action, Analysis, Detail, MainHash, Numbers, Options, Trigger, When, analyze, instrument, parses, strip,
};

const EDITIONS: [&str; 4] = ["2015", "2018", "2021", "2024"];

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

    /// What stands behind this word in a comment at the top. A byte-order mark or a shebang may come first.
    fn says(&self, word: &str) -> Option<&str> {
        self.text.lines().take(5).find_map(|line| line.trim_start_matches('\u{feff}').strip_prefix(word))
    }

    fn editions(&self) -> Vec<&str> {
        let Some(named) = self.says("// editions: ") else { return EDITIONS.to_vec() };
        let editions: Vec<_> = named.split(' ').collect();
        assert!(editions.iter().all(|edition| EDITIONS.contains(edition)), "{}: {named}", self.name());
        editions
    }

    fn options(&self, edition: &str) -> Options {
        Options {
            edition2015: edition == "2015",
            detail: if self.says("// detail: function").is_some() {
                Detail::Function
            } else {
                Detail::Statement
            },
            when: if self.says("// when: after").is_some() { When::After } else { When::Before },
            main_hash: MainHash::Literal(0x0123_4567_89ab_cdef),
            triggers: self.says("// triggers: ").is_some(),
        }
    }

    /// The instrumented text.
    fn instrumented(&self, edition: &str) -> String {
        self.instrumented_with(&self.options(edition))
    }

    fn instrumented_with(&self, options: &Options) -> String {
        let mut analysis =
            analyze(self.text.as_bytes(), options).unwrap_or_else(|e| panic!("{}:{e}", self.name()));
        if options.triggers {
            set_triggers(&mut analysis);
        }
        let result =
            instrument(self.text.as_bytes(), &analysis, &Numbers { ids: vec![1], first: 1 }, options);
        String::from_utf8(result.unwrap_or_else(|e| panic!("{}:{e}", self.name()))).unwrap()
    }

    fn skips(&self, edition: &str) -> String {
        let skips = analyze(self.text.as_bytes(), &self.options(edition)).unwrap().skips;
        skips.iter().map(|skip| format!("// {}:{} {}\n", skip.line, skip.column, skip.reason)).collect()
    }
}

/// At each statement one that starts what runs already, and one that waits for ever.
fn set_triggers(analysis: &mut Analysis) {
    for site in 0..analysis.sites.len() {
        analysis.add_trigger(Trigger { site, number: 0, hit: 1, action: Action::Start });
        let action = Action::Stop { after: 3 };
        analysis.add_trigger(Trigger { site, number: 63, hit: u32::MAX, action });
    }
}

#[test]
fn triggers_can_stand_at_every_statement() {
    for fixture in Fixture::all() {
        let options = Options { triggers: true, ..fixture.options(fixture.editions()[0]) };
        let text = fixture.instrumented_with(&options);
        assert_eq!(strip(text.as_bytes()), fixture.text.as_bytes(), "{}", fixture.name());
        parses(text.as_bytes()).unwrap_or_else(|e| panic!("{}:{e}", fixture.name()));
        let (plain, sites) =
            (fixture.options(fixture.editions()[0]), text.matches("xhist_rt::stop_at(").count());
        let sites_without = analyze(fixture.text.as_bytes(), &plain).unwrap().sites.len();
        assert_eq!(sites, sites_without, "{}: no statement is lost for a trigger", fixture.name());
    }
}

#[test]
fn outputs_are_as_recorded() {
    let bless = std::env::var_os("XHIST_BLESS").is_some();
    let mut wrong = Vec::new();
    for fixture in Fixture::all() {
        assert!(fixture.says("// why: ").is_some(), "{}: say why it exists", fixture.name());
        let path = fixture.dir.join("out.rs");
        let edition = fixture.editions().pop().unwrap();
        let text = fixture.instrumented(edition);
        assert_eq!(strip(text.as_bytes()), fixture.text.as_bytes(), "{}", fixture.name());
        let found = text + &fixture.skips(edition);
        if bless {
            std::fs::write(&path, &found).unwrap();
        } else if std::fs::read_to_string(&path).unwrap_or_default() != found {
            wrong.push(format!("{}:\n{found}", fixture.name()));
        }
    }
    assert!(wrong.is_empty(), "not as recorded (XHIST_BLESS=1 records anew):\n{}", wrong.join("\n"));
}

#[test]
fn instrumented_programs_print_what_the_originals_print() {
    let (on, off) = (recorder("std,trace"), recorder("std"));
    let fixtures = Fixture::all();
    let programs = fixtures.iter().filter(|fixture| fixture.says("// compile: no").is_none());
    let programs: Vec<_> = programs
        .flat_map(|fixture| fixture.editions().into_iter().map(move |edition| (fixture, edition)))
        .collect();
    assert!(EDITIONS.iter().all(|edition| programs.iter().any(|program| program.1 == *edition)));
    let wrong: Vec<String> = programs
        .par_iter()
        .filter_map(|(fixture, edition)| {
            try_program(fixture, edition, &on, &off)
                .err()
                .map(|why| format!("{} {edition}: {why}", fixture.name()))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{} programs compiled and run three times", programs.len());
}

/// Compiles and runs a program in all its shapes; `Err` says what differs.
fn try_program(fixture: &Fixture, edition: &str, on: &Path, off: &Path) -> Result<(), String> {
    let dir = tempfile::tempdir().unwrap();
    let instrumented = fixture.instrumented(edition);
    let original = output(dir.path(), edition, &fixture.text, off)?;
    let silent = output(dir.path(), edition, &instrumented, off)?;
    let history = dir.path().join("history.xhist");
    if history.exists() {
        return Err("recorded without the trace feature".to_owned());
    }
    let recording = output(dir.path(), edition, &instrumented, on)?;
    if silent != original || recording != original {
        return Err(format!("the original prints\n{original}silent\n{silent}recording\n{recording}"));
    }
    let sites = analyze(fixture.text.as_bytes(), &fixture.options(edition)).unwrap().sites;
    let sites: Vec<u16> = sites.iter().map(|site| site.line.try_into().unwrap()).collect();
    let image = std::fs::read(history).map_err(|error| format!("no history: {error}"))?;
    let threads = histories(&image, &sites);
    let recorded: HashSet<u16> = threads.iter().flatten().copied().collect();
    let sites: HashSet<u16> = sites.into_iter().collect();
    if recorded.is_empty() || !recorded.is_subset(&sites) {
        return Err(format!("recorded lines {recorded:?}, instrumented lines {sites:?}"));
    }
    match fixture.editions().last() == Some(&edition) && fixture.name() != VARIES {
        true => as_recorded(fixture, &threads),
        false => Ok(()),
    }
}

/// How often its allocator is called is up to the standard library.
const VARIES: &str = "allocator";

/// The histories are those in `ran.txt`, one line for each thread.
fn as_recorded(fixture: &Fixture, threads: &[Vec<u16>]) -> Result<(), String> {
    let line = |lines: &Vec<u16>| lines.iter().map(u16::to_string).collect::<Vec<_>>().join(" ") + "\n";
    let found: String = threads.iter().map(line).collect();
    let path = fixture.dir.join("ran.txt");
    if std::env::var_os("XHIST_BLESS").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    if found == expected { Ok(()) } else { Err(format!("ran\n{found}instead of\n{expected}")) }
}

/// The lines that each thread ran, in order, in a ring file. Loops are written out. Number 1 is the statement of the
/// first site.
fn histories(image: &[u8], sites: &[u16]) -> Vec<Vec<u16>> {
    use qs_core::record::{Numbers, Statement};
    use qs_core::ring::{Item, Reader, find};
    let of_site = |line: &u16| Some(Statement { file: 1, line: *line });
    let table: Vec<_> = std::iter::once(None).chain(sites.iter().map(of_site)).collect();
    let mut threads = Vec::new();
    for found in find(image) {
        let Ok(header) = found.header else { continue };
        let (mut reader, mut lines) = (Reader::new(header, &image[found.offset..]), Vec::new());
        reader = reader.with_numbers(Numbers::new(&table));
        while let Some(item) = reader.next() {
            match item {
                Item::Statement(statement, _) => lines.push(statement.line),
                Item::Again(again) => {
                    let round = lines[lines.len() - again.statements..].to_vec();
                    (0..again.times).for_each(|_| lines.extend(&round));
                }
                _ => {}
            }
        }
        threads.push(lines);
    }
    threads.sort();
    threads
}

/// Builds the recorder with these features; the directory of it and of what it depends on.
fn recorder(features: &str) -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("recorder-{features}"));
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("Cargo.toml");
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "-p", "xhist-rt", "--features", features, "--manifest-path"]);
    let run = command.arg(manifest).arg("--target-dir").arg(&target).output().unwrap();
    assert!(run.status.success(), "the recorder: {}", String::from_utf8_lossy(&run.stderr));
    target.join("debug")
}

/// Compiles and runs a text; its standard output.
fn output(dir: &Path, edition: &str, text: &str, recorder: &Path) -> Result<String, String> {
    std::fs::write(dir.join("program.rs"), text).unwrap();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let library = format!("--extern=xhist_rt={}", recorder.join("libxhist_rt.rlib").display());
    let needs = format!("-Ldependency={}", recorder.join("deps").display());
    let mut command = Command::new(rustc);
    command.current_dir(dir).args(["program.rs", "-o", "program.exe", "--edition", edition]);
    // Half the time of a program that holds the standard library.
    command.args(["-Cprefer-dynamic", "-Crpath"]);
    // Lints are not capped: an instrumented program must not draw one that the original denies.
    let run = command.args(["-Adead_code", &library, &needs]).output().unwrap();
    if !run.status.success() {
        return Err(String::from_utf8_lossy(&run.stderr).into_owned());
    }
    let mut program = Command::new(dir.join("program.exe"));
    let run = program.env("XHIST_FILE", dir.join("history.xhist")).output().unwrap();
    if !run.status.success() {
        return Err(format!("{}: {}", run.status, String::from_utf8_lossy(&run.stderr)));
    }
    String::from_utf8(run.stdout).map_err(|error| error.to_string())
}
