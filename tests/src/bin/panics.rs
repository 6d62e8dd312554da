//! Real panics of well-known crates: does the backtrace have a line of the fix, does `cargo xhist run` print one, and at which rank
//! are they? It prints a table.
//!
//! The set is Panic4R (<https://github.com/cardigan1008/panic4r>): the sources with the mistake, a `main.rs` that panics, and the fix
//! as a patch. The lines of a fix are those that it deletes or changes, and for lines that it only adds those around them.
//!
//! Half of the panics may shape the answer, and the other half is kept back to check it: [`is_kept_back`] says which.
//!
//! ```sh
//! cargo run --release -p xhist-tests --bin panics -- PANIC4R             # every panic of this checkout
//! cargo run --release -p xhist-tests --bin panics -- PANIC4R chrono-1    # those of these names
//! cargo run --release -p xhist-tests --bin panics -- PANIC4R --keep DIR  # what was recorded stays there, and is read again
//! ```

use std::ops::RangeInclusive;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use serde_json::Value;
use xhist_tests::{Tree, clean_up, kept, online_cargo, report, set_deadline};

/// A panic that takes longer is left out.
const LIMIT: Duration = Duration::from_secs(330);
/// How far a printed line may be from one of the fix.
const TOLERANCE: usize = 1;

/// The halves of the set.
const HALVES: [&str; 2] = ["tuned", "kept back"];

/// A line of the sources with the mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FixPlace {
    file: String,
    line: usize,
}

/// What was found for one panic. Ranks count from 1.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    /// The own frame of the backtrace with a line of the fix.
    frame: Option<usize>,
    /// `cargo xhist run` prints a line of the fix.
    is_printed: bool,
    /// The suspect with a line of the fix.
    suspect: Option<usize>,
    /// Bytes and lines that `cargo xhist` prints for the panic.
    printed: (usize, usize),
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(set) = arguments.next().map(PathBuf::from).filter(|set| set.is_dir()) else {
        eprintln!("error: no directory with a checkout of Panic4R: panics PANIC4R [--keep DIR] [NAME...]");
        return ExitCode::from(2);
    };
    let mut names: Vec<String> = arguments.collect();
    let keep = names.iter().position(|name| name == "--keep").map(|at| names.drain(at..).collect::<Vec<_>>());
    let keep = keep.map(|mut kept| {
        names.extend(kept.drain(2.min(kept.len())..));
        PathBuf::from(kept.pop().unwrap_or_default())
    });
    let set = set.canonicalize().expect("a directory");
    println!("| panic | half | own frame | printed | suspect | bytes | lines |");
    println!("|---|---|---|---|---|---|---|");
    let mut halves: [Vec<Found>; 2] = Default::default();
    let mut left_out: Vec<(String, &str)> = Vec::new();
    for project in projects(&set) {
        let name = project.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !names.is_empty() && !names.contains(&name) {
            continue;
        }
        let fix = fix_of(&project);
        if fix.is_empty() {
            left_out.push((name, "no patch with lines of its sources"));
            continue;
        }
        set_deadline(LIMIT);
        let found = catch_unwind(|| examined(&project, &fix, keep.as_deref()));
        clean_up();
        match found {
            Ok(Some(found)) => {
                let shown = |rank: Option<usize>| rank.map_or("no".to_owned(), |rank| rank.to_string());
                let printed = if found.is_printed { "yes" } else { "no" };
                let (bytes, lines) = found.printed;
                let (frame, suspect) = (shown(found.frame), shown(found.suspect));
                let half = usize::from(is_kept_back(&name));
                println!(
                    "| {name} | {} | {frame} | {printed} | {suspect} | {bytes} | {lines} |",
                    HALVES[half]
                );
                halves[half].push(found);
            }
            Ok(None) => left_out.push((name, "it does not panic, or does not build")),
            Err(_) => left_out.push((name, "it took too long, or could not be examined")),
        }
    }
    for (half, found) in HALVES.into_iter().zip(&halves) {
        summary(half, found);
    }
    for (name, why) in left_out {
        println!("left out: {name}: {why}");
    }
    ExitCode::SUCCESS
}

/// Whether a panic is kept back: the sum of the bytes of its name is odd.
fn is_kept_back(name: &str) -> bool {
    name.bytes().map(u32::from).sum::<u32>() % 2 == 1
}

fn summary(half: &str, all: &[Found]) {
    let count = |is: &dyn Fn(&Found) -> bool| all.iter().filter(|found| is(found)).count();
    let within = |rank: Option<usize>, most: usize| rank.is_some_and(|rank| rank <= most);
    println!("\n| {} panics, {half} | backtrace | xhist |\n|---|---|---|", all.len());
    println!(
        "| a line of the fix is printed | {} | {} |",
        count(&|found| found.frame.is_some()),
        count(&|found| found.is_printed)
    );
    for most in [1, 3, 5, 10] {
        let (frames, suspects) =
            (count(&|found| within(found.frame, most)), count(&|found| within(found.suspect, most)));
        println!("| among the first {most} frames or suspects | {frames} | {suspects} |");
    }
    println!(
        "\nin a frame and not printed: {}; first frame and not among five suspects: {}",
        count(&|found| found.frame.is_some() && !found.is_printed),
        count(&|found| found.frame == Some(1) && !within(found.suspect, 5))
    );
    let sum = |of: &dyn Fn(&Found) -> usize| all.iter().map(of).sum::<usize>() / all.len().max(1);
    println!(
        "bytes and lines of an answer, on average: {}, {}",
        sum(&|found| found.printed.0),
        sum(&|found| found.printed.1)
    );
}

/// The projects of the set, in the order of their names.
fn projects(set: &Path) -> Vec<PathBuf> {
    let directories = |path: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
    };
    let mut projects: Vec<PathBuf> = directories(set)
        .iter()
        .flat_map(|library| directories(library))
        .filter(|project| project.join("Cargo.toml").is_file() && project.join("src/main.rs").is_file())
        .collect();
    projects.sort();
    projects
}

/// The lines of the fix: of all patches beside the `main.rs`.
fn fix_of(project: &Path) -> Vec<FixPlace> {
    let files = std::fs::read_dir(project.join("src")).into_iter().flatten().flatten();
    let patches =
        files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|end| end == "patch"));
    let texts = patches.filter_map(|path| std::fs::read(path).ok());
    texts.flat_map(|text| lines_of(&String::from_utf8_lossy(&text))).collect()
}

/// The old lines that a patch changes, in Rust files that are not tests.
fn lines_of(patch: &str) -> Vec<FixPlace> {
    let mut found = Vec::new();
    let (mut file, mut line, mut rest, mut is_change) = (None, 0, (0, 0), false);
    for text in patch.lines() {
        if rest == (0, 0) {
            if let Some(path) = text.strip_prefix("--- a/") {
                let is_test =
                    path.split('/').any(|part| matches!(part, "tests" | "benches" | "examples" | "test"));
                file = (path.ends_with(".rs") && !is_test).then(|| path.trim_end().to_owned());
            }
            if let Some((first, old, new)) = hunk(text) {
                (line, rest, is_change) = (first, (old, new), false);
            }
            continue;
        }
        let mut add = |line| found.extend(file.clone().map(|file| FixPlace { file, line }));
        match text.as_bytes().first() {
            Some(b'-') => {
                add(line);
                line += 1;
                rest.0 -= 1;
                is_change = true;
            }
            Some(b'+') => {
                if !is_change {
                    (line.saturating_sub(1)..=line).for_each(add);
                }
                rest.1 -= 1;
                is_change = true;
            }
            Some(b'\\') => {}
            _ => {
                line += 1;
                rest = (rest.0.saturating_sub(1), rest.1.saturating_sub(1));
                is_change = false;
            }
        }
    }
    found
}

/// The first old line of a hunk, and the numbers of old and new lines.
fn hunk(text: &str) -> Option<(usize, usize, usize)> {
    let (old, rest) = text.strip_prefix("@@ -")?.split_once(" +")?;
    let new = rest.split_once(" @@")?.0;
    let range = |text: &str| {
        let (first, len) = text.split_once(',').unwrap_or((text, "1"));
        Some((first.parse().ok()?, len.parse().ok()?))
    };
    let ((first, old), (_, new)): ((usize, usize), (usize, usize)) = (range(old)?, range(new)?);
    Some((first, old, new))
}

/// Whether these lines have one of the fix. The path may have directories in front.
fn is_fix(fix: &[FixPlace], path: &str, lines: &RangeInclusive<usize>) -> bool {
    let is_file =
        |file: &str| path.strip_suffix(file).is_some_and(|front| front.is_empty() || front.ends_with('/'));
    let lines = lines.start().saturating_sub(TOLERANCE)..=lines.end() + TOLERANCE;
    fix.iter().any(|place| lines.contains(&place.line) && is_file(&place.file))
}

/// The places in a text: `path.rs:7`, `path.rs:7:9`, `path.rs:7-9` and `path.rs:7, 9`.
fn places(text: &str) -> impl Iterator<Item = (&str, RangeInclusive<usize>)> {
    text.match_indices(".rs:").flat_map(move |(at, end)| {
        let is_outside = |mark: char| mark.is_whitespace() || matches!(mark, '(' | ')' | ',');
        let begin = text[..at].rfind(is_outside).map_or(0, |mark| mark + 1);
        let path = &text[begin..at + end.len() - 1];
        let list = &text[at + end.len()..];
        let end = list.find(|mark: char| !mark.is_ascii_digit() && !matches!(mark, ',' | '-' | ' '));
        let list = &list[..end.unwrap_or(list.len())];
        list.split(", ").map_while(move |range| {
            let number = |text: &str| text.split(|mark: char| !mark.is_ascii_digit()).next()?.parse().ok();
            let first: usize = number(range)?;
            let last = range.split_once('-').and_then(|(_, last)| number(last));
            Some((path, first..=last.unwrap_or(first)))
        })
    })
}

/// What a recorded run prints. `None` if it does not panic.
fn examined(project: &Path, fix: &[FixPlace], keep: Option<&Path>) -> Option<Found> {
    let place = keep.map(|keep| keep.join(project.file_name().unwrap_or_default()));
    let tree = match place {
        Some(place) => Tree::staying(&place, project),
        None => Tree::copy_of(project),
    };
    let run = || online_cargo(tree.path()).args("xhist run --deps all").env("RUST_BACKTRACE", "1");
    let (backtrace, printed) = kept::split(&kept::printed(&tree, keep.is_some(), run));
    if printed.is_empty() || !backtrace.contains("panicked at") {
        return None;
    }
    let backtrace = &backtrace[backtrace.find("stack backtrace:").unwrap_or(backtrace.len())..];
    let is_own = |path: &str| {
        !path.contains("/rustc/") && !path.contains("/rustlib/") && !path.contains("registry/src/")
    };
    let mut frames = places(backtrace).filter(|(path, _)| is_own(path));
    let frame = frames.position(|(path, lines)| is_fix(fix, path, &lines));
    let suspects = report(tree.path()).args("suspects --format json --limit 1000000").done();
    let suspects: Value = serde_json::from_str(&suspects.stdout).unwrap_or_default();
    let mut suspects = suspects["suspects"].as_array().into_iter().flatten();
    let suspect = suspects.position(|suspect| {
        let (file, line) =
            (suspect["file"].as_str().unwrap_or_default(), suspect["line"].as_u64().unwrap_or(0));
        is_fix(fix, file, &(line as usize..=line as usize))
    });
    Some(Found {
        frame: frame.map(|index| index + 1),
        is_printed: places(&printed).any(|(path, lines)| is_fix(fix, path, &lines)),
        suspect: suspect.map(|index| index + 1),
        printed: (printed.len(), printed.lines().count()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "\
--- a/src/a.rs
+++ b/src/a.rs
@@ -10,5 +10,6 @@ fn f() {
 ten
-eleven
+other
 twelve
 thirteen
+more
 fourteen
--- a/tests/t.rs
+++ b/tests/t.rs
@@ -1 +1 @@
-one
+two
";

    #[test]
    fn the_lines_of_a_fix_are_those_that_it_changes_and_those_around_what_it_adds() {
        let lines: Vec<_> = lines_of(PATCH).into_iter().map(|place| (place.file, place.line)).collect();
        assert_eq!(lines, [11, 13, 14].map(|line| ("src/a.rs".to_owned(), line)));
    }

    #[test]
    fn half_of_the_panics_is_kept_back() {
        assert_eq!(
            ["nom-1", "nom-2", "chrono-10", "chrono-11"].map(is_kept_back),
            [false, true, true, false]
        );
    }

    #[test]
    fn a_place_is_known_with_directories_in_front() {
        let fix = lines_of(PATCH);
        let found: Vec<_> =
            places("  at ./x/src/a.rs:12:5\n src/a.rs:9 (at src/ba.rs:11), src/b.rs:11 src/a.rs:7-10, 11; 3")
                .collect();
        let lines = [("./x/src/a.rs", 12..=12), ("src/a.rs", 9..=9), ("src/ba.rs", 11..=11)];
        assert_eq!(found[..3], lines);
        let list = [("src/b.rs", 11..=11), ("src/a.rs", 7..=10), ("src/a.rs", 11..=11)];
        assert_eq!(found[3..], list);
        let are: Vec<_> = found.iter().map(|(path, lines)| is_fix(&fix, path, lines)).collect();
        assert_eq!(are, [true, false, false, false, true, true]);
    }
}
