//! A trigger in firmware: recording stops when a line has run three times.

use std::time::Duration;

use xhist_tests::{CORTEX_M, COUNTED, Firmware, Listing, STOP_AT, STOPPED, report};

pub(super) fn stops() {
    let firmware = Firmware::sample(&CORTEX_M, STOPPED);
    let (start, len) = firmware.ring();
    let mut machine = firmware.start(&COUNTED);
    machine.ask("?");
    let (line, _) = STOP_AT.split_once('#').expect("which time");
    let text = machine.run_until("the line ran three times", |machine| {
        std::fs::write(firmware.directory.join("stopped.bin"), machine.memory(start, len)).expect("written");
        let text = report(&firmware.directory).args("stopped.bin").done().stdout;
        let places = Listing::parse(&text).places();
        (places.iter().filter(|place| *place == line).count() >= 3).then_some(text)
    });
    // Nothing comes behind it.
    machine.run_for(Duration::from_millis(200));
    std::fs::write(firmware.directory.join("stopped.bin"), machine.memory(start, len)).expect("written");
    assert_eq!(report(&firmware.directory).args("stopped.bin").succeed().stdout, text);
    let places = Listing::parse(&text).places();
    assert_eq!(places.iter().filter(|place| *place == line).count(), 3, "{text}");
    // A handler may come between the line and its trigger.
    let last = places.iter().rfind(|place| !place.starts_with("src/event_handlers.rs:"));
    assert_eq!(last.map(String::as_str), Some(line), "{text}");
    assert!(places[0].starts_with("src/main.rs:"), "the beginning is kept: {text}");
}
