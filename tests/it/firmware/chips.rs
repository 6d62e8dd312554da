//! Chips in LabWired: do the walks of docs/firmware.md with embassy and RTIC show what they say, as the page types them?

use std::time::Duration;

use xhist_tests::{CORTEX_M, Need, Run, Tree, online_cargo, repository};

fn page() -> String {
    std::fs::read_to_string(repository().join("docs/firmware.md")).expect("the page")
}

/// The block of the page in this language that has this text, and what follows it.
#[track_caller]
fn block<'a>(page: &'a str, language: &str, text: &str) -> (&'a str, &'a str) {
    let begins = format!("\n```{language}\n");
    let blocks =
        page.match_indices(&begins).filter_map(|(at, _)| page[at + begins.len()..].split_once("```\n"));
    blocks
        .into_iter()
        .find(|(block, _)| block.contains(text))
        .unwrap_or_else(|| panic!("a block with {text}"))
}

/// Types the block of the page for this chip, in the project of this fixture: it builds, runs, and prints the answer.
#[track_caller]
fn type_walk(fixture: &str, chip: &str) {
    let project = Tree::kept(fixture, &repository().join("tests/fixtures").join(fixture), str::to_owned);
    let page = page();
    let (typed, behind) = block(&page, "sh", &format!("chip='{chip}'"));
    let (build, rest) = typed.split_once("\npython3 -c \"\n").expect("a build, and a script");
    let (script, answer) = rest.split_once("\"\ncargo xhist ").expect("a script, and the answer");
    assert_eq!(build, "cargo xhist build --release --target thumbv7m-none-eabi");
    CORTEX_M.cargo(project.path(), "xhist build --quiet").limit(Duration::from_secs(550)).succeed();
    let python = Run::new(Need::labwired().expect("LabWired"), project.path()).arg("-c").arg(script);
    python.limit(Duration::from_secs(100)).succeed();
    let done = online_cargo(project.path()).args(&format!("xhist {answer}")).succeed();
    let (shown, _) = block(behind, "plain", "");
    // The page leaves out lines.
    let mut rest = &*done.stdout;
    for part in shown.split("...\n") {
        let found = rest.split_once(part);
        done.check(found.is_some(), &format!("what docs/firmware.md shows: {part}"));
        rest = found.unwrap_or_default().1;
    }
}

/// The LED of an nRF52840, and a table whose index is too large.
pub(super) fn embassy() {
    type_walk("nrf52840", "nrf52840");
    let source = std::fs::read_to_string(repository().join("tests/fixtures/nrf52840/src/main.rs"));
    let page = page();
    let (shown, _) = block(&page, "rust", "#[embassy_executor::main]");
    assert!(source.expect("the program").contains(shown), "the program of docs/firmware.md: {shown}");
}

/// A task of an STM32F401 that waits for what has been.
pub(super) fn rtic() {
    type_walk("rtic-stm32f401", "stm32f401");
}
