//! Chips in LabWired: do the walks of docs/firmware.md with embassy, RTIC and esp-hal show what the page says?

use std::time::Duration;

use xhist_tests::{Board, CORTEX_M, ESP32_C3, Need, Run, Tree, online_cargo, repository};

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

/// Types the block of the page that has this text, in the project of this fixture: it builds, runs, and prints the answer.
#[track_caller]
fn type_walk(fixture: &str, board: &Board, text: &str) {
    let project = Tree::kept(fixture, &repository().join("tests/fixtures").join(fixture), str::to_owned);
    let page = page();
    let (typed, behind) = block(&page, "sh", text);
    let (build, rest) = typed.split_once('\n').expect("a build");
    let (script, answer) = rest.split_once("\ncargo xhist ").expect("a script, and the answer");
    let target = format!(" --target {}", board.target());
    assert_eq!(build.replace(&target, ""), "cargo xhist build --release");
    board.cargo(project.path(), "xhist build --quiet").limit(Duration::from_secs(550)).succeed();
    // The project is elsewhere.
    let script = script.replace("../../labwired/", &format!("{}/tests/labwired/", repository().display()));
    let script = format!("python3() {{ \"$PYTHON\" \"$@\"; }}\n{script}");
    let run = Run::new("sh", project.path()).arg("-ec").arg(script);
    run.env("PYTHON", Need::labwired().expect("LabWired")).limit(Duration::from_secs(400)).succeed();
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

/// The LED of an nRF52840, and a table whose index is too large; a hard fault; a reset by a watchdog.
pub(super) fn embassy() {
    for program in ["blinky", "fault", "watchdog"] {
        type_walk("nrf52840", &CORTEX_M, &format!("/{program}', chip='nrf52840'"));
    }
    let source = std::fs::read_to_string(repository().join("tests/fixtures/nrf52840/src/main.rs"));
    let page = page();
    let (shown, _) = block(&page, "rust", "#[embassy_executor::main]");
    assert!(source.expect("the program").contains(shown), "the program of docs/firmware.md: {shown}");
}

/// A task of an STM32F401 that waits for what has been; a recursion without an end.
pub(super) fn rtic() {
    for program in ["readings", "overflow"] {
        type_walk("rtic-stm32f401", &CORTEX_M, &format!("/{program}', chip='stm32f401'"));
    }
}

/// The same LED and table on an ESP32-C3.
pub(super) fn esp_hal() {
    type_walk("esp32c3", &ESP32_C3, "labwired/esp32c3.py");
}
