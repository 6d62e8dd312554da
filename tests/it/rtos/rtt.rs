//! RTT: a debug probe takes the stream from memory while the program runs.

use std::time::Duration;

use xhist_tests::{CORTEX_M, COUNTED, Firmware, RttServer, free_port, report};

/// What a user of OpenOCD types behind `rtt server start`.
pub fn over_tcp() {
    let firmware = Firmware::sample(&CORTEX_M, "rtt");
    let machine = firmware.start(&COUNTED);
    let server = RttServer::start(machine, 0x2000_0000, 0x1_0000);
    let front = free_port();
    let link = format!("tcp://127.0.0.1:{}", server.port);
    let host = report(&firmware.directory).arg(&link).args(&format!("--follow -u {front}"));
    let mut host = host.limit(Duration::from_secs(60)).start();
    // The sample soon hangs, and its timer goes on.
    host.wait_until("statements", |host| host.printed().contains(" src/event_handlers.rs:"));
    // All records of the application, and no statements. The host came too late for the names, and asks for them.
    for command in ["filter global ua,-u4", "info"] {
        let send = report(&firmware.directory).args(&format!("send qspy://127.0.0.1:{front} {command}"));
        let sent = send.succeed();
        sent.check(sent.stdout.contains("Trg-"), "the target's answer comes back through the probe, too");
    }
    host.wait_until("records of the application", |host| host.printed().matches(" TICKS ").count() > 3);
    host.end_with(rustix::process::Signal::INT);
    server.finish();
}

/// What a user of probe-rs types: `cargo embed` connects to the report. An interrupt has a column of its own.
pub fn by_cargo_embed() {
    let firmware = Firmware::sample(&CORTEX_M, "rtt");
    let machine = firmware.start(&COUNTED);
    let port = free_port();
    let host = report(&firmware.directory).args(&format!("tcp-listen://127.0.0.1:{port} --follow --lanes"));
    let host = host.arg("--program").arg(&firmware.elf);
    let mut host = host.limit(Duration::from_secs(60)).start();
    let server = RttServer::publish(machine, 0x2000_0000, 0x1_0000, port);
    // No other interrupt is certain: where the sample hangs, and whether after an event, differs from build to build.
    let rows = ["interrupt 15 SysTick", " src/main.rs:", " src/event_handlers.rs:21"];
    host.wait_until("rows", |host| rows.iter().all(|row| host.printed().contains(row)));
    let done = host.end_with(rustix::process::Signal::INT);
    let place = |text: &str| done.stdout.lines().find_map(|line| line.find(text)).expect("a line");
    let [main, timer] = [place("src/main.rs:"), place("src/event_handlers.rs:21")];
    done.check(main < timer, "the timer's statements have a column of their own");
    server.finish();
}
