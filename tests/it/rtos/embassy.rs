//! embassy: tasks and their places, as on a host. The sample has a lost wake-up: `show` waits for ever.

use std::time::Duration;

use xhist_tests::{EMBASSY, Firmware, RttServer, free_port, line_of, report};

pub fn lost_wake_up() {
    let firmware = Firmware::sample(&EMBASSY, "");
    let main = firmware.directory.join("src/main.rs");
    let take = line_of(&firmware.directory.join("src/mailbox.rs"), "poll_fn(");
    let (start, len) = firmware.ring();
    // In real time: counted instructions let its clock run ahead, and no probe takes as many records.
    let mut machine = firmware.start(&[]);
    machine.ask("?");
    let awaited = [("store", "async fn store"), ("show", "async fn show")].map(|(function, text)| {
        let line = line_of(&main, text) + 2;
        format!("awaited at src/main.rs:{line} in {function}")
    });
    let parked = [
        format!("parked at src/mailbox.rs:{take} in Mailbox::take"),
        format!("parked at src/main.rs:{} in measure", line_of(&main, "after_millis(5)")),
    ];
    // A few turns: the ring still has the tasks' beginnings. Each turn is short, so that the ring does not overflow. The
    // processor may halt between a statement and what it awaits; then the next turn shows it.
    let mut tasks = String::new();
    let is_there = (0..200).any(|_| {
        machine.run_for(Duration::from_millis(1));
        std::fs::write(firmware.directory.join("dump.bin"), machine.memory(start, len)).expect("written");
        tasks = report(&firmware.directory).args("tasks dump.bin").done().stdout;
        awaited.iter().chain(&parked).all(|text| tasks.contains(text))
    });
    assert!(is_there, "both tasks that wait, and the one that measures: {tasks}");

    // Through a debug probe, however long it has been silent: the program keeps the last statement of each task.
    let server = RttServer::start(machine, 0x2000_0000, 0x1_0000);
    let front = free_port();
    let link = format!("tcp://127.0.0.1:{}", server.port);
    let host = report(&firmware.directory).arg(&link).args(&format!("--follow -u {front}"));
    let mut host = host.limit(Duration::from_secs(60)).start();
    host.wait_until("statements", |host| host.printed().contains(" src/mailbox.rs:"));
    // On a busy machine the probe comes too late for an answer, and a person asks again.
    let send = |command: &str| {
        let sent =
            || report(&firmware.directory).args(&format!("send qspy://127.0.0.1:{front} {command}")).done();
        assert!((0..10).any(|_| sent().code() == 0), "{command}");
    };
    send("filter global ua,-u4");
    send("info");
    // The numbers are those of the order: main, measure, store, show.
    let ready = |text: &str, number: u32| text.matches(&format!(" TASK READY {number} ")).count();
    host.wait_until("tasks that are woken", |host| {
        let text = host.printed();
        ready(&text, 2) > 3 && ready(&text, 3) > 3 && text.contains(" TASK WAITING 4 ")
    });
    host.wait_until("each round of the executor, and where a task pauses", |host| {
        let text = host.printed();
        let pauses = text.lines().filter(|line| line.contains(" TASK WAITING 2 "));
        text.matches(" TASK POLL 0 ").count() > 3 && pauses.filter(|line| line.contains(" src/")).count() > 3
    });
    send("filter global ua,sc,-u4");
    host.wait_until("the scheduler's records", |host| host.printed().contains("Sch-Next Pri="));
    let done = host.end_with(rustix::process::Signal::INT);
    done.check(ready(&done.stdout, 4) == 0, "nothing wakes the fourth");
    let fourth = done.stdout.lines().find(|line| line.contains(" TASK WAITING 4 "));
    let place = fourth.is_some_and(|line| line.contains(" src/mailbox.rs "));
    done.check(place, "the last statement of the fourth");

    // Each task has a column of its own, while the program runs.
    let host = report(&firmware.directory).arg(&link).args(&format!("--follow --lanes=tasks -u {front}"));
    let mut host = host.limit(Duration::from_secs(60)).start();
    send("filter global u4");
    host.wait_until("columns of tasks", |host| {
        let text = host.printed();
        let has_column = |name: &str| {
            text.lines().any(|line| line.contains("task ") && line.ends_with(&format!(" {name}")))
        };
        ["measure", "Mailbox::take"].into_iter().all(has_column)
    });
    host.end_with(rustix::process::Signal::INT);
    server.finish();
}
