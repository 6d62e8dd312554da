//! Does a browser show the page of `page` as it should, also a huge or a hostile history?

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::{Value, json};
use xhist_history::model::FieldValue;
use xhist_history::recording::{
    CallId, CallSpan, Cursor, Direction, EventKind, FunctionId, LaneId, Motion, RecordedEvent, RecordedFile,
    RecordedFunction, RecordedLane, RecordedSite, RecordedStep, Recording, SharedRecording, SiteId, SpanExit,
    StepId, StringId, SuspectRow, ValueAt,
};
use xhist_history::{MapPlaces, ReadOptions};
use xhist_report::ReportKind;
use xhist_report::format::by_name;
use xhist_report::{Layout, Options};
use xhist_tests::{BROWSER_PACKAGES, Case, Need, Run, Tree, cargo, line_of, report, repository, rings_in};

const BROWSER: &[Need] = &[Need::Browser];

pub const CASES: &[Case] = &[
    Case::needing("a_bug_is_found_by_stepping_back", BROWSER, steps),
    Case::needing("where_the_values_of_a_failure_come_from_is_shown", BROWSER, origins),
    Case::needing("texts_are_found_in_both_directions", BROWSER, || on_meter("search")),
    Case::needing("the_time_line_shows_calls_and_moves_the_position", BROWSER, || on_meter("timeline")),
    Case::needing("a_link_leads_to_a_moment", BROWSER, || on_meter("link")),
    Case::needing("a_telephone_shows_one_column", BROWSER, || on_meter("phone")),
    Case::needing("five_million_entries_open_fast_and_scroll", BROWSER, large),
    Case::needing("a_hostile_history_runs_no_script", BROWSER, hostile),
    Case::needing("a_history_without_entries_says_so", BROWSER, empty),
    Case::needing("suspects_and_diff_of_a_failed_test_are_shown", BROWSER, evidence),
    Case::needing("motions_are_those_of_the_recording", &[Need::Long, Need::Browser], motions),
    Case::needing("pictures_of_the_documentation_are_made", BROWSER, pictures),
    Case::new("a_document_goes_to_a_file_or_to_the_browser", documents),
];

/// Runs a scene of the script on a page; what it found out.
pub fn browse(scene: &str, page: &Path, more: &[&str]) -> Value {
    let script = repository().join("tests/browser/page.mjs");
    let mut run = Run::new("node", page.parent().expect("a directory")).arg(script).arg(scene).arg(page);
    for arg in more {
        run = run.arg(arg);
    }
    let browser = Need::browser().expect("the case needs it");
    let npm = Need::npm(&BROWSER_PACKAGES).expect("the case needs it");
    let done = run.env("XHIST_BROWSER", browser).env("XHIST_NPM", npm).succeed();
    serde_json::from_str(done.stdout.trim()).expect("JSON")
}

/// The sample whose mean divides by zero, with values.
struct Meter {
    tree: &'static Tree,
    page: PathBuf,
    ring: PathBuf,
}

fn meter() -> &'static Meter {
    static METER: OnceLock<Meter> = OnceLock::new();
    METER.get_or_init(|| {
        let tree = super::bugs::paper();
        let runs = tree.join("target/xhist/runs");
        let run = std::fs::read_dir(runs).expect("runs").next().expect("a run").expect("a directory").path();
        let ring = rings_in(&run).remove(0);
        let page = tree.join("meter.html");
        report(tree.path()).args("page --output").arg(&page).arg(&ring).succeed();
        Meter { tree, page, ring }
    })
}

fn on_meter(scene: &str) {
    browse(scene, &meter().page, &[]);
}

fn steps() {
    let Meter { tree, page, ring } = meter();
    let listing = report(tree.path()).args("--format json").arg(ring).succeed().stdout;
    let numbers = listing.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()?["n"].as_u64());
    let last = numbers.max().expect("entries").to_string();
    let line = |text: &str| line_of(&tree.join("src/meter.rs"), text).to_string();
    browse("steps", page, &[&last, &line("self.count = 0"), &line("self.sum / self.count")]);
}

fn origins() {
    let tree = Tree::copy_of(&repository().join("samples/meter"));
    cargo(tree.path()).args("xhist run -q --values **").done().expect(101);
    let page = tree.join("meter.html");
    report(tree.path()).args("page --output").arg(&page).arg("last").succeed();
    browse("origins", &page, &[]);

    // What a callee returned is at the statement of its caller.
    let tree = Tree::package("returned");
    let double = "fn double(of: u32) -> u32 {\n    of * 2\n}\n\n";
    tree.write(
        "src/main.rs",
        &format!("{double}fn main() {{\n    let twice = double(21);\n    assert_eq!(twice, 43);\n}}\n"),
    );
    cargo(tree.path()).args("xhist run -q --values **").done().expect(101);
    let page = tree.join("returned.html");
    report(tree.path()).args("page --output").arg(&page).arg("last").succeed();
    browse("returned", &page, &[]);
}

/// Writes the page of a recording.
fn page_of(recording: &Recording, path: &Path) {
    let mut out = Vec::new();
    let mut format = (by_name("html").expect("the format").make)(Layout::default());
    format.recording(recording, &mut out).expect("room in memory");
    std::fs::write(path, out).expect("a page");
}

/// A recording with one file and these lanes; each name is also a function.
fn small(path: &str, text: &str, lanes: &[&str]) -> Recording {
    let mut recording = Recording::default();
    recording.files.push(RecordedFile {
        path: path.to_owned(),
        text: Some(text.into()),
        ..RecordedFile::default()
    });
    for (line, _) in (1..).zip(text.lines()) {
        let place = RecordedSite { line, col: 1, end_line: line, end_col: 9, ..RecordedSite::default() };
        recording.sites.push(place);
    }
    for (number, name) in (1..).zip(lanes) {
        recording.functions.push(RecordedFunction { name: (*name).to_owned(), file: 0, line: 1 });
        recording.lanes.push(RecordedLane {
            name: (*name).to_owned(),
            ring: number,
            ..RecordedLane::default()
        });
    }
    recording
}

fn add_call(recording: &mut Recording, lane: LaneId, (first, last): (u32, u32), parent: Option<u32>) {
    let id = CallId(recording.calls.len() as u32);
    let depth = parent.map_or(0, |parent| recording.calls[parent as usize].depth + 1);
    recording.calls.push(CallSpan {
        lane,
        function: FunctionId(lane.0),
        first: StepId(first),
        last: StepId(last),
        parent: parent.map(CallId),
        depth,
        called_from: parent.map(|_| SiteId(0)),
        exit: SpanExit::Returned,
        ..CallSpan::default()
    });
    recording.lanes[lane.0 as usize].calls.push(id);
}

const MANY: u32 = 5_000_000;
/// The limit of the specification, and of a pause while scrolling.
const OPEN_MS: f64 = 3000.0;
const PAUSE_MS: f64 = 250.0;
/// How much longer they take on a machine that is busy with other cases.
const BUSY: f64 = 3.0;

/// Two threads run a loop with a call in it; the last statement runs once. Times are 100 ns apart.
fn large() {
    let text = "fn main() {\n    loop {\n        let value = leaf();\n        sum += value;\n    }\n}\nfn leaf() {\n    1\n}\n// the last\n";
    let mut recording = small("src/main.rs", text, &["main", "worker"]);
    for lane in 0..2 {
        add_call(&mut recording, LaneId(lane), (lane * 1000, MANY - 1), None);
    }
    let mut random = fastrand::Rng::with_seed(5);
    for step in 0..MANY {
        let lane = LaneId(step / 1000 % 2);
        // Real loops are not all alike.
        let line = match step % 4 {
            2 => 7,
            _ if random.u8(..) < 32 => random.u32(0..9),
            other => other + 1,
        };
        let line = if step == MANY - 1 { 9 } else { line };
        let id = recording.push(lane, RecordedStep::Statement(SiteId(line)), false);
        if step % 16 == 0 {
            recording.times.push((id, u64::from(step) * 100));
        }
        if step % 4 == 2 {
            add_call(&mut recording, lane, (step, step), Some(lane.0));
        }
    }
    let tree = Tree::empty("large");
    let page = tree.join("large.html");
    let start = std::time::Instant::now();
    page_of(&recording, &page);
    let took = start.elapsed();
    let size = std::fs::metadata(&page).expect("a page").len();
    let found = browse("large", &page, &[&MANY.to_string()]);
    println!("{MANY} entries: {size} bytes, written in {took:?}, in the browser (ms): {found}");
    let ms = |name: &str| found[name].as_f64().expect("a number");
    assert!(size < 40 << 20, "{size}");
    // Other cases run at the same time, on a small machine.
    assert!(ms("open") < OPEN_MS * BUSY, "{found}");
    assert!(ms("scroll") < PAUSE_MS * BUSY, "{found}");
}

/// Markup in every text that a dump may hold.
fn hostile() {
    const SIGN: &str = "pwned";
    let evil = "</script><script>window.hostile=1</script><img src=x onerror='window.hostile=2;alert(1)'>\
        <!--<a href=\"javascript:hostile=3\" style=\"background:url(https://example.org/x)\">pwned ${hostile=4} ']]>\"";
    let text = format!("{evil}\nlet x = \"{evil}\";\n// {evil}\n");
    let mut recording = small(evil, &text, &[evil, "__proto__", evil]);
    let string = recording.strings.add(evil);
    for step in 0..6 {
        recording.push(LaneId(step % 3), RecordedStep::Statement(SiteId(step % 3)), step == 4);
    }
    for lane in 0..3 {
        add_call(&mut recording, LaneId(lane), (lane, 5), None);
    }
    for kind in [
        EventKind::Trace,
        EventKind::Record,
        EventKind::Repetition { statements: 1, times: u64::MAX },
        EventKind::Gap,
        EventKind::Panic,
    ] {
        let fields = vec![
            (string, FieldValue::Text(evil.to_owned())),
            (string, FieldValue::Float(f64::NAN)),
            (string, FieldValue::Uint(u64::MAX)),
        ];
        recording.events.push(RecordedEvent { kind, name: string, text: string, fields });
        let event = recording.events.len() as u32 - 1;
        recording.push(LaneId(0), RecordedStep::Event(event), false);
    }
    for step in 0..6 {
        recording.values.push(ValueAt {
            step: StepId(step),
            name: string,
            type_name: string,
            text: string,
            call: Some(CallId(step % 3)),
            function: string,
            line: 1,
            is_parameter: true,
        });
    }
    // Numbers that lead nowhere.
    let (file, line, col, function) = (99, u32::MAX, 9, FunctionId(77));
    recording.sites.push(RecordedSite { file, line, col, function, ..RecordedSite::default() });
    recording.push(LaneId(0), RecordedStep::Statement(SiteId(3)), false);
    recording.push(LaneId(42), RecordedStep::Statement(SiteId(0)), false);
    recording.times = vec![(StepId(0), u64::MAX), (StepId(3), 0)];
    recording.losses.push(evil.to_owned());
    recording.origin = evil.to_owned();
    recording.evidence.message = evil.to_owned();
    recording.evidence.diff = format!("+ {evil}");
    recording.evidence.suspects.push(SuspectRow {
        rank: 1,
        score: f64::INFINITY,
        path: evil.to_owned(),
        line: 1,
        function: evil.to_owned(),
        text: evil.to_owned(),
    });
    let tree = Tree::empty("hostile");
    let page = tree.join("hostile.html");
    page_of(&recording, &page);
    let written = std::fs::read_to_string(&page).expect("a page");
    assert!(!written.contains("onerror") && !written.contains(SIGN), "no text of the dump is in the markup");
    browse("hostile", &page, &[SIGN]);
}

fn empty() {
    let tree = Tree::empty("empty");
    let page = tree.join("empty.html");
    page_of(&Recording::default(), &page);
    browse("empty", &page, &[]);
}

/// The failing tests of the fixture.
fn evidence() {
    let tree = Tree::copy_of(&repository().join("tests/fixtures/many"));
    cargo(tree.path()).args("xhist test --lib -q").done();
    let page = tree.join("many.html");
    report(tree.path()).args("page --output").arg(&page).done();
    let suspects = report(tree.path()).args("suspects --limit 1 --format json").done().stdout;
    let suspects: Value = serde_json::from_str(&suspects).expect("JSON");
    let first = &suspects["suspects"][0];
    assert_eq!(first["function"], "twice_next", "{suspects}");
    let place = format!("src/lib.rs:{}", first["line"]);
    browse("evidence", &page, &[&place, "failed, one of 8 failed tests"]);
}

/// The recording of a ring file.
fn recorded(ring: &Path) -> SharedRecording {
    let recording = SharedRecording::default();
    let maps = MapPlaces { dump_dir: ring.parent().map(Path::to_owned), ..MapPlaces::default() };
    let options = Options {
        report: Some(ReportKind::Recording),
        recording: Some(recording.clone()),
        ..ReadOptions { maps, ..ReadOptions::default() }.into()
    };
    let image = std::fs::read(ring).expect("a ring file");
    xhist_report::report(&image, &options, &mut std::io::sink(), &mut std::io::sink());
    recording
}

/// What the script finds out of every step, computed here.
fn motions_of(recording: &Recording) -> Vec<Value> {
    let step = |found: bool, cursor: &Cursor<'_>| if found { i64::from(cursor.step().0) } else { -1 };
    let of = |index: u32| {
        let at = StepId(index);
        let ways = [Direction::Forward, Direction::Back];
        let mut motions = Vec::new();
        for motion in [Motion::Step, Motion::Into, Motion::Over, Motion::Out] {
            for way in ways {
                let mut cursor = Cursor::new(recording, at);
                motions.push(step(cursor.go(motion, way), &cursor));
            }
        }
        for way in ways {
            let mut cursor = Cursor::new(recording, at);
            motions.push(step(cursor.same_line(way), &cursor));
        }
        let number = |number: Option<u32>| number.map_or(-1, i64::from);
        let frame = |frame: &xhist_history::recording::StackFrame| {
            json!([
                number(frame.call.map(|call| call.0)),
                number(frame.site.map(|site| site.0)),
                frame.function.0
            ])
        };
        let text = |id: StringId| recording.strings.get(id);
        let values = recording.variables(recording.call_at(at), at);
        let values =
            values.iter().map(|found| format!("{} = {}", text(found.value.name), text(found.value.text)));
        json!([
            motions,
            recording.number(at),
            recording.by_number(index.into()).map(|step| step.0),
            number(recording.site_at(at).map(|site| site.0)),
            recording.task_at(at).map_or(0, |span| span.task),
            recording.stack_at(at).iter().map(frame).collect::<Vec<_>>(),
            values.collect::<Vec<_>>(),
            recording.is_uncertain(at)
        ])
    };
    (0..recording.len() as u32).map(of).collect()
}

/// Calls of all kinds, threads, async tasks, a panic, values: each motion from each step.
fn motions() {
    let calls = Tree::copy_of(&repository().join("tests/fixtures/calls"));
    cargo(calls.path()).args("generate-lockfile --quiet").succeed();
    cargo(calls.path()).args("xhist build --quiet").succeed();
    let tasks = Tree::copy_of(&repository().join("tests/fixtures/tasks"));
    cargo(tasks.path()).args("xhist build --quiet").succeed();
    let run = |tree: &Tree, program: &str, case: &str| {
        let file = tree.join(&format!("target/xhist/{case}.xhist"));
        let program = tree.join("target/xhist/build/debug").join(program);
        Run::new(program, tree.path()).arg(case).env("XHIST_FILE", &file).env("XHIST_SIZE", "64k").done();
        file
    };
    let mut rings: Vec<PathBuf> = ["mutual", "closures", "panics", "drops", "async"]
        .iter()
        .map(|case| run(&calls, "calls", case))
        .collect();
    rings.extend(["parked", "moved", "ended"].iter().map(|case| run(&tasks, "tasks", case)));
    rings.push(meter().ring.clone());
    let mut steps = 0;
    for ring in rings {
        let recording = recorded(&ring);
        let mut recording = recording.lock();
        // The page is asked about each step, so a long history is cut.
        if recording.len() > 4000 {
            *recording = Recording::default();
            continue;
        }
        let page = ring.with_extension("html");
        page_of(&recording, &page);
        let found = browse("motions", &page, &[]);
        let expected = motions_of(&recording);
        steps += expected.len();
        let found = found.as_array().expect("a list");
        assert_eq!(found.len(), expected.len(), "{}", ring.display());
        for (step, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_eq!(found, expected, "step {step} of {}", ring.display());
        }
    }
    println!("{steps} steps compared");
    assert!(steps > 300, "{steps}");
}

/// `XHIST_BLESS=1` writes the pictures; otherwise they are only made.
fn pictures() {
    let tree = Tree::empty("pictures");
    let docs = repository().join("docs/images");
    let is_blessed = std::env::var_os("XHIST_BLESS").is_some();
    for (name, width, height, theme, keys) in [
        ("html.webp", "1280", "760", "light", &["O"][..]),
        ("html-dark.webp", "1280", "760", "dark", &["O", "S", "S"]),
        ("html-phone.webp", "390", "780", "light", &["O", "S", "S"]),
    ] {
        let file = if is_blessed { docs.join(name) } else { tree.join(name) };
        let path = file.display().to_string();
        let args: Vec<&str> = [&[path.as_str(), width, height, theme], keys].concat();
        browse("picture", &meter().page, &args);
        let size = std::fs::metadata(file).expect("a picture").len();
        assert!((4_000..200_000).contains(&size), "{name}: {size}");
    }
}

/// Where pages go, and what is refused.
fn documents() {
    let Meter { tree, ring, .. } = meter();
    let page = tree.join("kept.html");
    let report = || report(tree.path());
    let done = report().args("page --output").arg(&page).arg(ring).succeed();
    assert_eq!(done.stdout.trim(), page.display().to_string());
    let printed = report().args("page").arg(ring).succeed().stdout;
    assert_eq!(printed, std::fs::read_to_string(&page).expect("a page"), "standard output has the same");
    assert!(printed.starts_with("<!doctype html>") && printed.ends_with("</html>\n"));

    // The browser is a script that notes what it shows.
    let bin = tree.join("bin");
    std::fs::create_dir_all(&bin).expect("a directory");
    let opener = bin.join("xdg-open");
    let note = tree.join("opened");
    std::fs::write(
        &opener,
        format!("#!/bin/sh\necho \"$1\" > '{}.part'; mv '{0}.part' '{0}'\n", note.display()),
    )
    .expect("a script");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&opener, executable).expect("a mode");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let done = report().args("page --open").arg(ring).env("PATH", path).succeed();
    let beside = ring.with_extension("html");
    assert_eq!(done.stdout.trim(), beside.display().to_string());
    for _ in 0..500 {
        if note.exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let opened = std::fs::read_to_string(note).expect("the browser was opened");
    assert_eq!(PathBuf::from(opened.trim()), beside.canonicalize().expect("a path"));

    for (args, word) in [
        ("page --follow", "unexpected argument '--follow'"),
        ("page --lanes", "unexpected argument '--lanes'"),
        ("--format json --open", "unexpected argument '--open'"),
    ] {
        let done = report().args(args).arg(ring).done().expect(2);
        assert!(done.stderr.contains(word), "{args}: {}", done.stderr);
    }
    let done = report().args("page").arg(ring).arg(ring).done().expect(2);
    assert!(done.stderr.contains("one document of one source"), "{}", done.stderr);
    let done = report().args("page --output").arg(ring).arg(ring).done().expect(2);
    assert!(done.stderr.contains("overwritten"), "{}", done.stderr);
    let nowhere = tree.join("no/such/page.html");
    let done = report().args("page --output").arg(nowhere).arg(ring).done().expect(2);
    assert!(done.stderr.contains("cannot write"), "{}", done.stderr);
}
