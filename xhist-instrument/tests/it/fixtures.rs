//! Every hazard is a directory in `fixtures`. The first line of `in.rs` gives the reason, `out.rs` is the expected
//! output, `ran.txt` has the lines that run. `XHIST_BLESS=1` rewrites the outputs. Each is compiled in the oldest and the
//! newest of its editions, with `XHIST_LONG=1` in all: as it is, recording, and with calls that do nothing. All three
//! programs must print the same.
//! Further lines at the top: `// editions: 2018 2021` for some editions only, `// when: after`, `// detail:
//! function`, `// values: 8`, `// compile: no`, `// triggers: all` for triggers without effect at every statement.

use rayon::prelude::*;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::sources::is_long;
use xhist_instrument::{
    Action, Analysis, Detail, MainHash, Numbers, Options, Tasks, Trigger, Values, When, analyze, instrument,
    parses, strip,
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

    /// The text after this word in a comment at the top. A byte-order mark or a shebang may precede it.
    fn says(&self, word: &str) -> Option<&str> {
        self.text.lines().take(5).find_map(|line| line.trim_start_matches('\u{feff}').strip_prefix(word))
    }

    fn editions(&self) -> Vec<&str> {
        let Some(named) = self.says("// editions: ") else { return EDITIONS.to_vec() };
        let editions: Vec<_> = named.split(' ').collect();
        assert!(editions.iter().all(|edition| EDITIONS.contains(edition)), "{}: {named}", self.name());
        editions
    }

    /// The editions that it is compiled in.
    fn compiled_in(&self) -> Vec<&str> {
        let mut editions = self.editions();
        if !is_long() && editions.len() > 2 {
            editions.drain(1..editions.len() - 1);
        }
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
            tasks: if self.says("// tasks: off").is_some() { Tasks::Off } else { Tasks::On },
            main_hash: MainHash::Literal(0x0123_4567_89ab_cdef),
            triggers: self.says("// triggers: ").is_some(),
            values: match self.says("// values: ") {
                None => Values::Off,
                Some("8") => Values::Eight,
                Some("32") => Values::ThirtyTwo,
                Some(_) => Values::Targets,
            },
            main_values: self.says("// values: ").is_some(),
            watches: false,
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
        let result = instrument(
            self.text.as_bytes(),
            &analysis,
            &Numbers { ids: vec![1], first: 1, values: 1 },
            options,
        );
        String::from_utf8(result.unwrap_or_else(|e| panic!("{}:{e}", self.name()))).unwrap()
    }

    fn skips(&self, edition: &str) -> String {
        let analysis = analyze(self.text.as_bytes(), &self.options(edition)).unwrap();
        let skips = analysis.skips.iter();
        let skips = skips.map(|skip| format!("// {}:{} {}\n", skip.line, skip.column, skip.reason));
        let values = analysis.value_skips.iter();
        let values =
            values.map(|skip| format!("// {}:{} `{}` {}\n", skip.line, skip.column, skip.name, skip.reason));
        skips.chain(values).collect()
    }
}

/// At each statement a start trigger while recording, and a stop trigger that never fires.
fn set_triggers(analysis: &mut Analysis) {
    for site in 0..analysis.sites.len() {
        analysis.add_trigger(Trigger { site, number: 0, hit: 1, action: Action::Start });
        let action = Action::Stop { after: 3 };
        analysis.add_trigger(Trigger { site, number: 63, hit: u32::MAX, action });
    }
}

#[test]
fn every_statement_can_have_a_trigger() {
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
fn outputs_match_the_expected_files() {
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
    assert!(wrong.is_empty(), "not as recorded (XHIST_BLESS=1 records them again):\n{}", wrong.join("\n"));
}

/// Fixtures that are programs of their own, with the reason. All others of an edition are modules of one program.
const ALONE: &[(&str, &str)] = &[
    ("allocator", "a program has one global allocator, and `hands-off` has one too"),
    ("edition-2015", "its paths start at the root of the crate"),
    ("idioms", "its lints concern the root of the crate"),
    ("locations", "prints its module path and file name"),
    ("no-std", "`no_std` is an attribute of the whole crate"),
];

/// How a program is built.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// As it is.
    Original,
    /// With calls that do nothing.
    Silent,
    /// With calls that record.
    Recording,
}

const SHAPES: [Shape; 3] = [Shape::Original, Shape::Silent, Shape::Recording];

/// Fixtures of one edition that are compiled together.
struct Batch<'a> {
    edition: &'a str,
    fixtures: Vec<&'a Fixture>,
}

/// A program, and the directory that is removed with it.
type CompiledProgram = (PathBuf, tempfile::TempDir);

#[test]
fn instrumented_programs_print_what_the_originals_print() {
    let recorders = [recorder("std,trace"), recorder("std")];
    let fixtures = Fixture::all();
    for (name, _) in ALONE {
        assert!(fixtures.iter().any(|fixture| fixture.name() == *name), "{name} is a fixture");
    }
    let batches = batches(&fixtures);
    let compiled: Vec<(&Batch, Shape)> =
        batches.iter().flat_map(|batch| SHAPES.map(|shape| (batch, shape))).collect();
    let programs: Vec<CompiledProgram> = compiled
        .par_iter()
        .map(|(batch, shape)| {
            let recorder = &recorders[usize::from(*shape != Shape::Recording)];
            let dir = tempfile::tempdir().unwrap();
            batch.compile(*shape, dir.path(), recorder).unwrap_or_else(|error| panic!("{error}"));
            (dir.path().join("program.exe"), dir)
        })
        .collect();
    let tried: Vec<(&Fixture, &str, &[CompiledProgram])> = batches
        .iter()
        .zip(programs.chunks(SHAPES.len()))
        .flat_map(|(batch, programs)| {
            batch.fixtures.iter().map(move |fixture| (*fixture, batch.edition, programs))
        })
        .collect();
    let wrong: Vec<String> = tried
        .par_iter()
        .filter_map(|(fixture, edition, programs)| {
            let [original, silent, recording] = [0, 1, 2].map(|shape| programs[shape].0.as_path());
            let why = compare(fixture, edition, original, silent, recording).err()?;
            Some(format!("{} {edition}: {why}", fixture.name()))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{} fixtures in {} programs, each compiled three times", tried.len(), batches.len());
}

/// Every fixture that is compiled, in its editions.
fn batches(fixtures: &[Fixture]) -> Vec<Batch<'_>> {
    let compiled = || fixtures.iter().filter(|fixture| fixture.says("// compile: no").is_none());
    let is_alone = |fixture: &Fixture| ALONE.iter().any(|(name, _)| *name == fixture.name());
    let mut batches = Vec::new();
    for edition in EDITIONS {
        let of_edition = compiled().filter(|fixture| fixture.compiled_in().contains(&edition));
        let (alone, together): (Vec<_>, Vec<_>) = of_edition.partition(|fixture| is_alone(fixture));
        let has_most = is_long() || [EDITIONS[0], EDITIONS[3]].contains(&edition);
        assert!(together.len() > 30 || !has_most, "most fixtures of {edition} are compiled together");
        batches.extend((!together.is_empty()).then_some(Batch { edition, fixtures: together }));
        batches.extend(alone.into_iter().map(|fixture| Batch { edition, fixtures: vec![fixture] }));
    }
    batches
}

impl Batch<'_> {
    /// Writes and compiles `program.rs`, which runs the fixture that its argument names.
    fn compile(&self, shape: Shape, dir: &Path, recorder: &Path) -> Result<(), String> {
        let text = |fixture: &Fixture| match shape {
            Shape::Original => fixture.text.clone(),
            Shape::Silent | Shape::Recording => fixture.instrumented(self.edition),
        };
        let program = match self.fixtures.as_slice() {
            [alone] => text(alone),
            fixtures => {
                let (mut modules, mut arms) = (String::new(), String::new());
                for fixture in fixtures {
                    let module = format!("fixture_{}", fixture.name().replace('-', "_"));
                    // Behind the text, so that its lines keep their numbers.
                    let run = "\npub(super) fn run_fixture() -> ::std::process::ExitCode { ::std::process::Termination::report(main()) }\n";
                    std::fs::write(dir.join(format!("{module}.rs")), text(fixture) + run).unwrap();
                    modules += &format!("mod {module};\n");
                    arms += &format!("        {:?} => {module}::run_fixture(),\n", fixture.name());
                }
                format!(
                    "{modules}fn main() -> std::process::ExitCode {{\n    match std::env::args().nth(1).unwrap().as_str() {{\n\
                     {arms}        name => panic!(\"no fixture {{}}\", name),\n    }}\n}}\n"
                )
            }
        };
        compile(dir, self.edition, &program, recorder)
    }
}

/// Runs a fixture in all its shapes; `Err` says what differs.
fn compare(
    fixture: &Fixture,
    edition: &str,
    original: &Path,
    silent: &Path,
    recording: &Path,
) -> Result<(), String> {
    let dir = tempfile::tempdir().unwrap();
    let history = dir.path().join("history.xhist");
    let original = output(original, fixture.name(), &history)?;
    let silent = output(silent, fixture.name(), &history)?;
    if history.exists() {
        return Err("recorded without the trace feature".to_owned());
    }
    let recording = output(recording, fixture.name(), &history)?;
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

/// The standard library decides how often its allocator is called.
const VARIES: &str = "allocator";

/// The histories equal `ran.txt`, one line per thread.
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

/// The lines that each thread ran, in order, from a ring file. Loops are expanded. Number 1 is the first site.
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
                Item::Repetition(again) => {
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

/// Builds the recorder with these features; returns its directory and that of its dependencies.
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

/// Compiles a text to `program.exe`.
fn compile(dir: &Path, edition: &str, text: &str, recorder: &Path) -> Result<(), String> {
    std::fs::write(dir.join("program.rs"), text).unwrap();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let library = format!("--extern=xhist_rt={}", recorder.join("libxhist_rt.rlib").display());
    let needs = format!("-Ldependency={}", recorder.join("deps").display());
    let mut command = Command::new(rustc);
    command.current_dir(dir).args(["program.rs", "-o", "program.exe", "--edition", edition]);
    // Dynamic linking halves the time.
    command.args(["-Cprefer-dynamic", "-Crpath"]);
    // Lints are not capped: instrumentation must not trigger a lint that the original denies.
    let run = command.args(["-Adead_code", &library, &needs]).output().unwrap();
    match run.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&run.stderr).into_owned()),
    }
}

/// Runs a program; its standard output.
fn output(program: &Path, fixture: &str, history: &Path) -> Result<String, String> {
    let mut command = Command::new(program);
    let run = command.arg(fixture).env("XHIST_FILE", history).output().unwrap();
    if !run.status.success() {
        return Err(format!("{}: {}", run.status, String::from_utf8_lossy(&run.stderr)));
    }
    String::from_utf8(run.stdout).map_err(|error| error.to_string())
}
