//! Does `diff` print where two rings part, and does it refuse what it cannot compare?

use proptest::prelude::*;
use qs_core::map::Hash;
use qs_core::record::EventKind;
use xhist_history::{ExitCode, ReadOptions};
use xhist_report::compare;

use crate::support::{Dir, Outcome, RingImage};

const SOURCE: &str = "fn main() {
    let items = parse();
    for item in items {
        if item.is_odd() {
            odd(item);
        }
        done(item);
    }
    end();
}

fn odd(item: Item) {
    if item.is_large() {
        twice(item);
    }
    once(item);
}
";

/// The map of the source, and its hash.
fn map(root: &str) -> (String, u64) {
    let body = r#"{"file":1,"path":"a.rs","base":0}
{"fn":1,"path":"main","at":"1:11","end":"10:2"}
{"fn":1,"path":"odd","at":"12:20","end":"17:2"}
{"loop":1,"at":"3:5","end":"8:6"}
{"stmt":1,"line":2,"col":5,"end":"2:25","kind":"let","fn":"main","calls":"parse"}
{"stmt":1,"line":3,"col":5,"end":"8:6","kind":"expr","fn":"main"}
{"stmt":1,"line":4,"col":9,"end":"6:10","kind":"expr","fn":"main","calls":".is_odd"}
{"stmt":1,"line":5,"col":13,"end":"5:23","kind":"expr","fn":"main","calls":"odd"}
{"stmt":1,"line":7,"col":9,"end":"7:20","kind":"expr","fn":"main","calls":"done"}
{"stmt":1,"line":9,"col":5,"end":"9:11","kind":"expr","fn":"main","calls":"end"}
{"stmt":1,"line":13,"col":5,"end":"15:6","kind":"expr","fn":"odd","calls":".is_large"}
{"stmt":1,"line":14,"col":9,"end":"14:21","kind":"expr","fn":"odd","calls":"twice"}
{"stmt":1,"line":16,"col":5,"end":"16:16","kind":"expr","fn":"odd","calls":"once"}
"#;
    let mut hash = Hash::new();
    hash.update(body.as_bytes());
    let hash = hash.finish();
    let head = format!(r#"{{"xhist":"map","version":3,"hash":"{hash:016x}","root":"{root}","tool":"test"}}"#);
    (format!("{head}\n{body}"), hash)
}

struct Project(Dir, u64);

impl Project {
    fn new() -> Project {
        let dir = Dir::new();
        let (map, hash) = map(&dir.path().display().to_string());
        dir.write("xhist.map", map);
        dir.write("a.rs", SOURCE);
        Project(dir, hash)
    }

    fn ring(&self, name: &'static str) -> RingImage {
        RingImage { map_hash: self.1, status: 2, ..RingImage::hosted(1 << 14, 7, 7, name) }
    }

    fn write(&self, name: &str, lines: &[u16]) {
        let statements: Vec<(u16, u16)> = lines.iter().map(|line| (1, *line)).collect();
        self.0.write(name, self.ring("main").statements(&statements).build());
    }

    fn diff(&self, args: &str) -> Outcome {
        let args: Vec<&str> = ["diff"].into_iter().chain(args.split(' ')).collect();
        self.0.run(&args)
    }
}

const EVEN: [u16; 2] = [4, 7];
const ODD: [u16; 5] = [4, 5, 13, 16, 7];
const LARGE: [u16; 6] = [4, 5, 13, 14, 16, 7];

fn run(rounds: &[&[u16]]) -> Vec<u16> {
    [&[2, 3][..], &rounds.concat(), &[9]].concat()
}

#[test]
fn the_text_shows_the_first_parting_and_what_only_one_side_ran() {
    let project = Project::new();
    project.write("good", &run(&[&EVEN, &ODD, &EVEN]));
    project.write("bad", &run(&[&ODD, &EVEN, &LARGE]));
    let outcome = project.diff("good bad");
    assert_eq!((outcome.code, outcome.notes.as_str()), (0, ""));
    assert_eq!(
        outcome.out,
        "control flow parts here:
  both       a.rs:13  if item.is_large() {  odd
  GOOD       a.rs:16  once(item);           odd
             returns from odd
  BAD        a.rs:14  twice(item);          odd
             a.rs:16  once(item);           odd
             returns from odd
  called by  a.rs:5   odd(item);            main
  No iteration of GOOD in the loop at a.rs:3 goes the way of this one of BAD.

only BAD ran: 1 statement
  a.rs:14                        odd
only GOOD ran: nothing
3 statements not as often in both: --counts lists them
"
    );
    let counts = project.diff("--counts good bad").out;
    let counts: Vec<&str> = counts.lines().skip_while(|line| !line.starts_with("not as")).collect();
    assert_eq!(counts.len(), 4, "{counts:?}");
}

#[test]
fn iterations_have_no_count_and_no_order() {
    let project = Project::new();
    project.write("one", &run(&[&EVEN, &ODD]));
    project.write("other", &run(&[&ODD, &ODD, &EVEN, &ODD, &EVEN]));
    project.write("none", &run(&[]));
    let same = project.diff("one other");
    assert_eq!(same.code, 0);
    assert!(same.out.starts_with("no difference: control flow is the same"), "{}", same.out);
    let outcome = project.diff("one none");
    assert!(outcome.out.contains("  both  a.rs:3  for item in items {  main"), "{}", outcome.out);
}

#[test]
fn the_json_has_the_same() {
    let project = Project::new();
    project.write("good", &run(&[&EVEN]));
    let panics = project.ring("main").statements(&[(1, 2), (1, 3), (1, 4), (1, 5), (1, 13)]);
    project.0.write("bad", panics.event(EventKind::Panic, 9, 0).build());
    let outcome = project.diff("--format json good bad");
    let kinds: Vec<&str> = outcome.out.lines().filter_map(|line| line.split('"').nth(3)).collect();
    assert_eq!(kinds[1..], ["pair", "parting", "only", "only", "only", "end"]);
    let parting = outcome.out.lines().find(|line| line.contains("parting")).unwrap();
    assert_eq!(
        parting,
        "{\"kind\":\"parting\",\"thread\":\"main\",\"stack\":[{\"function\":\"main\",\"at\":{\"file\":\"a.rs\",\"line\":4,\
         \"function\":\"main\",\"source\":\"if item.is_odd() {\"}}],\"within\":{\"what\":\"loop\",\"file\":\"a.rs\",\
         \"line\":3,\"side\":\"bad\"},\"good\":{\"statements\":[{\"file\":\"a.rs\",\"line\":7,\"function\":\"main\",\
         \"source\":\"done(item);\"}],\"then\":\"iteration ends\"},\"bad\":{\"statements\":[{\"file\":\"a.rs\",\"line\":5,\
         \"function\":\"main\",\"source\":\"odd(item);\"},{\"file\":\"a.rs\",\"line\":13,\"function\":\"odd\",\
         \"source\":\"if item.is_large() {\"}],\"then\":\"panic\"}}"
    );
}

#[test]
fn threads_are_paired_by_name() {
    let project = Project::new();
    let image = |threads: &[(&'static str, &[u16])]| {
        let mut image = Vec::new();
        for (number, (name, lines)) in threads.iter().enumerate() {
            let statements: Vec<(u16, u16)> = lines.iter().map(|line| (1, *line)).collect();
            let ring = RingImage { number: number as u16, tid: 8 + number as u32, ..project.ring(name) };
            image.extend(ring.statements(&statements).build());
        }
        image
    };
    let (even, large) = (run(&[&EVEN]), run(&[&LARGE]));
    project.0.write("good", image(&[("main", &even), ("one", &even), ("gone", &even)]));
    project.0.write("bad", image(&[("one", &large), ("main", &even)]));
    let outcome = project.diff("good bad");
    assert_eq!((outcome.code, outcome.notes.as_str()), (0, ""));
    for part in
        ["thread one parts here:", "thread main: takes the same way in both", "only GOOD has thread gone"]
    {
        assert!(outcome.out.contains(part), "{part}: {}", outcome.out);
    }
    // One thread of each side, whatever the names.
    for (args, same) in
        [("good::main bad::main", true), ("good#1 bad#1", false), ("good::gone bad::main", true)]
    {
        let out = project.diff(args).out;
        assert_eq!(out.starts_with("no difference"), same, "{args}: {out}");
    }
    assert_eq!(project.diff("good::none bad").code, 2);
    assert_eq!(project.diff("good#9 bad").code, 2);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let project = Project::new();
    project.write("good", &run(&[&EVEN]));
    let refused = |image: Vec<u8>, code: u8, why: &str| {
        project.0.write("other", image);
        for args in ["good other", "other good"] {
            let outcome = project.diff(args);
            assert_eq!((outcome.code, outcome.out.as_str()), (code, ""), "{}", outcome.notes);
            assert!(outcome.notes.contains(why), "{}", outcome.notes);
        }
    };
    let other_build = RingImage { map_hash: 99, ..project.ring("main") };
    refused(other_build.statement(1, 2).build(), 1, "different builds");
    refused(project.ring("worker").statement(1, 77).build(), 1, "not in the map");
    refused(project.ring("main").statements(&[(1, 13), (1, 16)]).build(), 1, "different programs");
    refused(project.ring("main").build(), 3, "no statement");
    refused(vec![0; 100], 3, "no ring");
    // Without the map.
    std::fs::remove_file(project.0.path().join("xhist.map")).unwrap();
    let outcome = project.diff("good good");
    assert_eq!((outcome.code, outcome.out.as_str()), (1, ""));
    assert!(outcome.notes.contains("--map FILE"), "{}", outcome.notes);
}

#[test]
fn a_gap_is_a_loss_and_what_is_behind_it_is_aligned() {
    let project = Project::new();
    let rounds: Vec<&[u16]> = vec![&EVEN; 20];
    project.write("good", &run(&rounds));
    let statements: Vec<(u16, u16)> = run(&rounds).iter().map(|line| (1, *line)).collect();
    let mut damaged = project.ring("main").statements(&statements);
    let middle = damaged.stream.len() / 2;
    damaged.stream[middle] ^= 0x15;
    project.0.write("bad", damaged.build());
    let outcome = project.diff("good bad");
    assert_eq!(outcome.code, 1, "{}", outcome.notes);
    assert!(outcome.notes.contains("only what is behind is aligned"), "{}", outcome.notes);
    assert!(outcome.out.starts_with("no difference, from the first common point on"), "{}", outcome.out);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any statements in any order, and any damage: an answer or a reason, and a source is like itself.
    #[test]
    fn any_ring_is_compared_or_refused(
        lines in prop::collection::vec(prop::sample::select(vec![2u16, 3, 4, 5, 7, 9, 13, 14, 16]), 1..200),
        damage in prop::collection::vec((0usize..20_000, any::<u8>()), 0..4),
    ) {
        let project = Project::new();
        let statements: Vec<(u16, u16)> = lines.iter().map(|line| (1, *line)).collect();
        let whole = project.ring("main").statements(&statements).build();
        let mut damaged = whole.clone();
        for (at, byte) in damage {
            let at = at % damaged.len();
            damaged[at] = byte;
        }
        let mut options = ReadOptions::default();
        options.maps.given = Some(project.0.path().join("xhist.map"));
        let run = |good: &[u8], bad: &[u8]| {
            let (mut out, mut notes) = (Vec::new(), Vec::new());
            let code = compare(good, bad, &options, &mut out, &mut notes);
            (code, String::from_utf8(out).unwrap())
        };
        let (code, text) = run(&whole, &whole);
        prop_assert_eq!(code, ExitCode::Complete);
        prop_assert!(text.starts_with("no difference"), "{}", text);
        run(&whole, &damaged);
        let (code, text) = run(&damaged, &damaged);
        let is_same = text.is_empty() || text.contains("no difference") || text.contains("no common point");
        prop_assert!(is_same && (code > ExitCode::Incomplete) <= text.is_empty(), "{:?} {}", code, text);
    }
}
