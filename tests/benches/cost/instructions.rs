//! Instructions, counted by callgrind.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use xhist_tests::Run;

use crate::variants::Variant;

/// Callgrind takes some fifty times as long as the program, and counts do not vary: a small part is enough.
const PART: u32 = 200;

/// Rounds of the run that is subtracted: start-up, and what happens at first only.
const FIRST: u32 = 2;

/// Instructions of a round for each variant; `None` without valgrind.
pub fn of_round(variants: &[Variant], program: &str, rounds: u32) -> Vec<Option<f64>> {
    let counts = Mutex::new(vec![None; variants.len()]);
    if !is_installed("valgrind") {
        return counts.into_inner().expect("no panic");
    }
    let more = rounds / PART + 1;
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..crate::cores() {
            scope.spawn(|| {
                let take = || next.fetch_add(1, Ordering::Relaxed);
                while let Some((index, variant)) =
                    Some(take()).and_then(|index| Some((index, variants.get(index)?)))
                {
                    let of_more = count(variant, program, FIRST + more) - count(variant, program, FIRST);
                    counts.lock().expect("no panic")[index] = Some(of_more / f64::from(more));
                }
            });
        }
    });
    counts.into_inner().expect("no panic")
}

fn count(variant: &Variant, program: &str, rounds: u32) -> f64 {
    let (path, directory) = variant.program();
    let valgrind = Run::new("valgrind", directory)
        .args("--tool=callgrind --callgrind-out-file=/dev/null")
        .arg(path)
        .args(&format!("{program} {rounds}"));
    let printed = variant.with_env(valgrind).succeed().stderr;
    let collected = printed.lines().find_map(|line| line.split_once("Collected : "));
    collected.and_then(|(_, count)| count.trim().parse().ok()).expect("a count of instructions")
}

fn is_installed(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(program).is_file()))
}
