//! Does any program, instrumented, print what it printed, and is its history what an interpreter of it expects?
//!
//! The programs are generated (`grow`), written down (`print`) and interpreted by the documented rules (`rules`,
//! `interpret`), none of which knows the rewriter. `XHIST_SEED` is the seed of the first program, `XHIST_PROGRAMS`
//! how many there are: a failure names the two that show one program alone.

mod grow;
mod interpret;
mod language;
mod print;
mod rules;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use xhist_instrument::{Action, Options, Reason, SiteKind, Trigger, When as Mode, analyze, strip};
use xhist_tests::{Case, Listing, Run, Tree, cargo, instrument, report, repository, tries};

use grow::{Grown, grow};
use interpret::{Ran, When};

pub const CASES: &[Case] = &[
    Case::new("history_and_output_are_what_an_interpreter_expects", run_instrumented),
    Case::new("every_program_comes_back_and_keeps_its_tokens", round_trip),
];

/// Programs that are compiled and run, usually and with `XHIST_LONG=1`; `XHIST_PROGRAMS` overrides both.
const COMPILED: [usize; 2] = [24, 100];

/// Programs that are only rewritten; without optimisation that is slow.
const REWRITTEN: [usize; 2] = if cfg!(debug_assertions) { [200, 600] } else { [5000, 5000] };

/// Another seed, other programs.
const SEED: usize = 1;

/// Seeds and their programs.
fn programs([usual, long]: [usize; 2]) -> Vec<(u64, Grown)> {
    let seed = tries("XHIST_SEED", SEED, SEED) as u64;
    let count = tries("XHIST_PROGRAMS", usual, long) as u64;
    (seed..seed + count).map(|seed| (seed, grow(seed))).collect()
}

fn round_trip() {
    let (mut kinds, mut reasons) = (BTreeSet::new(), BTreeSet::new());
    let programs = programs(REWRITTEN);
    for (seed, Grown { program, text, .. }) in &programs {
        // Both modes in turn.
        let when = if seed % 2 == 0 { Mode::Before } else { Mode::After };
        let edition2015 = program.edition == "2015";
        let options = Options { edition2015, when, triggers: seed % 3 == 0, ..Options::default() };
        let what = format!("XHIST_SEED={seed}, {when:?}");
        let mut analysis =
            analyze(text.as_bytes(), &options).unwrap_or_else(|e| panic!("{what}: {e}\n{text}"));
        if options.triggers {
            for site in 0..analysis.sites.len() {
                let action = if site % 2 == 0 { Action::Start } else { Action::Stop { after: 1 } };
                analysis.add_trigger(Trigger { site, number: 1, hit: 1, action });
            }
        }
        let result = xhist_instrument::instrument(
            text.as_bytes(),
            &analysis,
            &xhist_instrument::Numbers { ids: vec![7], first: 1, values: 1 },
            &options,
        );
        let result = result.unwrap_or_else(|e| panic!("{what}: {e}\n{text}"));
        assert!(strip(&result) == text.as_bytes(), "{what}: strip gives back something else\n{text}");
        let result = String::from_utf8(result).expect("text");
        assert_eq!(result.lines().count(), text.lines().count(), "{what}: lines");
        let other = if edition2015 { "::xhist_rt::" } else { " xhist_rt::" };
        assert!(!result.contains(other), "{what}: {other}\n{result}");
        tokens::assert_same_but_calls(text, &result, analysis.sites.len() + analysis.triggers.len(), &what);
        kinds.extend(analysis.sites.iter().map(|site| site.kind));
        reasons.extend(analysis.skips.iter().map(|skip| skip.reason));
    }
    if programs.len() >= 100 {
        assert_all_met(&kinds, &reasons);
    }
}

/// The programs hold everything that they are there to try.
fn assert_all_met(kinds: &BTreeSet<SiteKind>, reasons: &BTreeSet<Reason>) {
    use Reason::{ConstContext, Directive, LetElse, MacroArguments, MacroDefinition, Unreachable};
    use SiteKind::{Arm, Closure, Else, Expr, Let, Loop, Macro, Then};
    let all_kinds = BTreeSet::from([Let, Expr, Macro, Arm, Closure, Then, Else, Loop]);
    let all_reasons =
        BTreeSet::from([ConstContext, Directive, LetElse, MacroArguments, MacroDefinition, Unreachable]);
    assert!(kinds.is_superset(&all_kinds), "{kinds:?}");
    assert!(reasons.is_superset(&all_reasons), "{reasons:?}");
}

/// How the programs are built.
const BUILDS: [(&str, Option<When>); 3] =
    [("plain", None), ("before", Some(When::Before)), ("after", Some(When::After))];

fn run_instrumented() {
    let programs = programs(COMPILED);
    let tree = Tree::empty("generated");
    let editions: BTreeSet<&str> = programs.iter().map(|(_, grown)| grown.program.edition).collect();
    for (build, _) in BUILDS {
        for &edition in &editions {
            let of_edition = programs.iter().filter(|(_, grown)| grown.program.edition == edition);
            write_package(&tree, build, edition, &of_edition.collect::<Vec<_>>());
        }
    }
    // Numbers wrap, as in the interpreter.
    let profile = "[profile.dev]\noverflow-checks = false\ndebug = false\nincremental = false\n";
    tree.write(
        "Cargo.toml",
        &format!(
            "[workspace]\nresolver = \"2\"\nmembers = [\"plain/*\", \"before/*\", \"after/*\"]\n\n{profile}"
        ),
    );
    for mode in ["before", "after"] {
        let map = tree.join(&format!("{mode}.map"));
        instrument(tree.path()).args(&format!("{mode}/ --when {mode} --map")).arg(map).succeed();
    }
    cargo(tree.path()).args("build --quiet --workspace").succeed();

    let (mut outputs, mut histories) = (BTreeMap::new(), BTreeMap::new());
    for (build, when) in BUILDS {
        for edition in &editions {
            let ring = tree.join(&format!("{build}-{edition}.xhist"));
            let program = tree.join(&format!("target/debug/{build}-{edition}"));
            let run = Run::new(program, tree.path()).env("XHIST_FILE", &ring).env("XHIST_SIZE", "64m");
            outputs.extend(outputs_of(build, &run.succeed().stdout));
            if when.is_some() {
                let map = tree.join(&format!("{build}.map"));
                let listing = report(tree.path()).arg(ring).arg("--map").arg(map).succeed();
                histories.extend(histories_of(build, &Listing::parse(&listing.stdout).only_statements()));
            }
        }
    }
    let mut statements = 0;
    let mut wrong = Vec::new();
    for (seed, grown) in &programs {
        for (build, when) in BUILDS {
            let run = interpret::run(&grown.program, &grown.places, when.unwrap_or(When::Before));
            let mut expected = run.expect("a program that ends");
            if when.is_none() {
                expected.lines.clear();
            }
            let printed = outputs.remove(&(build, *seed)).unwrap_or_default();
            let found = Ran { printed, lines: histories.remove(&(build, *seed)).unwrap_or_default() };
            statements += found.lines.len();
            if found != expected {
                wrong.push((grown.text.len(), describe(build, *seed, grown, &expected, &found)));
            }
        }
    }
    // The shortest one shows the most.
    let shortest = wrong.iter().min_by_key(|(length, _)| *length);
    assert_eq!(
        wrong.len(),
        0,
        "programs are not as expected; the shortest:\n{}",
        shortest.map_or("", |(_, description)| description)
    );
    println!("{} programs in {} builds, {statements} statements recorded", programs.len(), BUILDS.len());
}

/// A package of the programs of one edition, built one way.
fn write_package(tree: &Tree, build: &str, edition: &str, programs: &[&(u64, Grown)]) {
    let directory = format!("{build}/e{edition}");
    let mut manifest =
        format!("[package]\nname = \"{build}-{edition}\"\nversion = \"0.0.0\"\nedition = \"{edition}\"\n");
    if build != "plain" {
        let recorder = repository().join("xhist-rt");
        let line = format!(
            "\n[dependencies]\nxhist-rt = {{ path = {recorder:?}, features = [\"std\", \"trace\"] }}\n"
        );
        manifest.push_str(&line);
    }
    tree.write(&format!("{directory}/Cargo.toml"), &manifest);
    let mut main = String::from("#![allow(warnings, arithmetic_overflow, unconditional_panic)]\n");
    for (seed, _) in programs {
        writeln!(main, "mod p{seed};").expect("memory");
    }
    main.push_str(
        "fn main() {\n    // xhist instrument FALSE\n    std::panic::set_hook(Box::new(|_| {}));\n",
    );
    for (seed, grown) in programs {
        writeln!(main, "    println!(\"{MARK}{seed}\");").expect("memory");
        writeln!(main, "    let _ = std::panic::catch_unwind(p{seed}::run);").expect("memory");
        tree.write(&format!("{directory}/src/p{seed}.rs"), &grown.text);
    }
    main.push_str("}\n");
    tree.write(&format!("{directory}/src/main.rs"), &main);
}

/// Comes before a program's output.
const MARK: &str = "#### program ";

/// Which program, built how.
type Key<'a> = (&'a str, u64);

fn outputs_of<'a>(build: &'a str, stdout: &str) -> BTreeMap<Key<'a>, String> {
    let parts = stdout.split(MARK).skip(1).map(|part| part.split_once('\n').expect("a line of its own"));
    parts.map(|(seed, printed)| ((build, seed.parse().expect("a seed")), printed.to_owned())).collect()
}

/// Each program is a file of its own.
fn histories_of<'a>(build: &'a str, listing: &Listing) -> BTreeMap<Key<'a>, Vec<u32>> {
    let mut histories: BTreeMap<Key<'a>, Vec<u32>> = BTreeMap::new();
    for entry in listing.statements() {
        let name = entry.path.rsplit('/').next().and_then(|name| name.strip_prefix('p')?.strip_suffix(".rs"));
        let seed = name.unwrap_or_else(|| panic!("a program: {entry:?}")).parse().expect("a seed");
        histories.entry((build, seed)).or_default().push(entry.line);
    }
    histories
}

/// A program that is not as expected, with both histories around the place where they differ.
fn describe(build: &str, seed: u64, grown: &Grown, expected: &Ran, found: &Ran) -> String {
    let mut description =
        format!("{build}, edition {}: XHIST_SEED={seed} XHIST_PROGRAMS=1\n", grown.program.edition);
    for (index, line) in grown.text.lines().enumerate() {
        writeln!(description, "{:4} {line}", index + 1).expect("memory");
    }
    if expected.printed != found.printed {
        writeln!(description, "prints:\n{}\nexpected:\n{}", found.printed, expected.printed).expect("memory");
    }
    let same =
        expected.lines.iter().zip(&found.lines).take_while(|(expected, found)| expected == found).count();
    if expected.lines != found.lines {
        writeln!(description, "{same} lines as expected; then\nexpected recorded").expect("memory");
        for index in same.saturating_sub(8)..same + 12 {
            let [expected, found] = [expected, found]
                .map(|ran| ran.lines.get(index).map_or("-".to_owned(), |line| line.to_string()));
            let mark = if expected == found { "" } else { " <" };
            writeln!(description, "{expected:>8} {found:>8}{mark}").expect("memory");
        }
    }
    description
}
