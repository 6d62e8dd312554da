//! Trace events on the target: does each shape come back, does a host switch them live, and does the recorder record what it noticed?

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use qs_core::record::trace::{Arg, Class, Code, EXCEPTION, Opcodes, PROFILE, ParsedEvent, Severity};
use rustix::process::Signal;
use xhist_tests::{Case, Run, Tree, cargo, free_port, report};

use crate::qs::{Host, Stream};

pub const CASES: &[Case] = &[
    Case::new("every_shape_comes_back", shapes),
    Case::new("a_host_switches_opcodes_while_events_are_written", live),
    Case::new("a_signal_handler_emits_too", signals),
    Case::new("the_recorder_records_what_it_noticed", noticed),
    Case::new("a_host_is_sent_the_opcodes_to_switch", sent),
    Case::new("a_logger_freezes_the_ring_at_the_first_fatal_event", frozen),
];

const CODE: Code = Code::new(0x12_3456, 0x78);

fn fixture() -> Tree {
    let tree = Tree::with_recorder("tests/fixtures/events");
    cargo(tree.path()).args("build --quiet").succeed();
    tree
}

fn run(tree: &Tree, args: &str) -> Run {
    Run::new(tree.join("target/debug/events"), tree.path()).args(args)
}

/// The events in a stream.
fn events(stream: &Stream) -> Vec<ParsedEvent<'_>> {
    let of_events = stream.records.iter().filter(|(id, _)| matches!(*id, EXCEPTION | PROFILE));
    of_events.map(|(id, payload)| ParsedEvent::parse(*id, &payload[4..]).expect("an event")).collect()
}

fn stream(path: &Path) -> Stream {
    let mut stream = Stream::default();
    stream.add(&std::fs::read(path).expect("a stream"));
    stream
}

fn buffer(event: &ParsedEvent<'_>) -> Option<Vec<u8>> {
    event.buffer().map(|blocks| blocks.flatten().copied().collect())
}

fn shapes() {
    let tree = fixture();
    run(&tree, "shapes stream.qs").succeed();
    let stream = stream(&tree.join("stream.qs"));
    assert_eq!(stream.missing, 0);
    let events = events(&stream);

    let six: [Arg; 6] = [1u8.into(), (-2i8).into(), 3u16.into(), (-4i64).into(), 5u64.into(), 6usize.into()];
    for (at, event) in events[..14].iter().enumerate() {
        let (args, severity) = (at % 7, Severity::from_number((at % 7) as u8).expect("one"));
        assert_eq!(event.class, Class::Exception { severity, code: CODE });
        assert_eq!(event.args(), &six[..args]);
        assert_eq!(buffer(event), (at >= 7).then(|| b"buffer".to_vec()));
    }
    let (exceptions, profiles) = events[14..].split_at(5);
    let class = Class::Exception { severity: Severity::Sw3, code: CODE };
    assert!(exceptions.iter().all(|event| event.class == class));
    assert_eq!(exceptions[1].args(), [0x7E7D_7E7Du32.into(), true.into(), 'x'.into()]);
    assert_eq!(buffer(&exceptions[2]), Some(b"text".to_vec()));
    assert_eq!(buffer(&exceptions[3]), Some(vec![0; 300]));
    assert!(
        exceptions[4].is_cut && exceptions[4].args() == [9u8.into()],
        "what does not fit is marked as cut"
    );

    let classes: Vec<Class> = profiles.iter().map(|event| event.class).collect();
    let profile = |opcode, data| Class::Profile { opcode, data };
    assert_eq!(
        classes,
        [profile(7, 0), profile(8, 0xFFFF_FFFE), profile(9, 0), profile(10, 5), profile(255, 0)]
    );
    assert_eq!((profiles[2].args().len(), profiles[2].args()[6].signed()), (7, 7));
    assert_eq!(buffer(&profiles[3]), Some(vec![1, 2, 3]));
    assert_eq!(buffer(&profiles[4]), Some(Vec::new()), "an empty buffer is one");
}

fn live() {
    let tree = fixture();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let target = run(&tree, &format!("host {address}")).env("XHIST_SIZE", "1m").start();
    let mut host = Host::accept(&listener);
    host.wait_for("target info", |(id, _)| *id == 64);
    let mut seed = 1u32;
    for turn in 0..40 {
        let mask = match turn {
            0 => Opcodes::ALL,
            1 => Opcodes::NONE,
            _ => Opcodes([(); 8].map(|()| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                seed
            })),
        };
        host.acknowledged(10, &[&[32][..], &mask.to_bytes()].concat());
        host.stream.records.clear();
        let wanted: BTreeSet<u8> = (0..=u8::MAX).filter(|opcode| mask.has(*opcode)).collect();
        let mut seen = BTreeSet::new();
        let limit = Instant::now() + Duration::from_secs(60);
        while seen != wanted {
            assert!(Instant::now() < limit, "{} of {} opcodes", seen.len(), wanted.len());
            host.read();
            for event in events(&host.stream) {
                let Class::Profile { opcode, .. } = event.class else { panic!("{event:?}") };
                assert!(wanted.contains(&opcode), "{opcode} is off");
                seen.insert(opcode);
            }
            host.stream.records.clear();
        }
    }
    assert_eq!(host.stream.missing, 0, "nothing is lost on the way");
    host.say(2, &[]);
    target.done().expect(0);
}

fn signals() {
    let tree = fixture();
    let done = run(&tree, "signals stream.qs").env("XHIST_SIZE", "16m").succeed();
    let (own, handled) = done.stdout.trim().split_once(' ').expect("two counts");
    let stream = stream(&tree.join("stream.qs"));
    assert_eq!(stream.missing, 0, "all sequence numbers are there");
    let numbers = |wanted: Severity| -> Vec<u64> {
        let of = |event: &ParsedEvent<'_>| matches!(event.class, Class::Exception { severity, .. } if severity == wanted);
        events(&stream).iter().filter(|event| of(event)).map(|event| event.args()[0].bits()).collect()
    };
    for (severity, count) in [(Severity::Sw0, own), (Severity::Hw0, handled)] {
        let count: u64 = count.parse().expect("a count");
        assert_eq!(numbers(severity), (0..count).collect::<Vec<_>>(), "{severity:?}");
    }
}

fn noticed() {
    let tree = fixture();
    run(&tree, "overrun stream.qs").env("XHIST_SIZE", "4k").succeed();
    let stream = stream(&tree.join("stream.qs"));
    let events = events(&stream);
    let is_overrun =
        |event: &&ParsedEvent<'_>| matches!(event.class, Class::Exception { code: Code::RING_OVERRUN, .. });
    let overruns: Vec<_> = events.iter().filter(is_overrun).collect();
    assert_eq!(overruns.len(), 1, "{events:?}");
    // An event with one argument takes 20 bytes, and sometimes one more.
    let lost = overruns[0].args()[0].bits();
    assert!((20_000 - 4096..20_000).contains(&lost), "{lost} bytes lost");

    let printed = run(&tree, "export").succeed().stdout;
    assert!(
        printed.contains(&format!("code: Code({})", Code::LINK_LOST.0)) && printed.contains("bits: 9"),
        "{printed}"
    );

    let program = tree.join("target/debug/events");
    let script = format!("ulimit -v 400000; exec '{}' alone", program.display());
    let printed = Run::new("sh", tree.path()).arg("-c").arg(&script).env("XHIST_SIZE", "1g").succeed().stdout;
    let expected = format!("code: Code({})", Code::ALLOCATION_FAILED.0);
    assert_eq!(printed.matches(&expected).count(), 1, "once: {printed}");
}

fn frozen() {
    let tree = Tree::with_recorder("samples/trace-events");
    let done = cargo(tree.path()).args("xhist run --quiet -- 200").done();
    done.check(done.code() == 0, "it runs to its end");
    done.check(done.stdout == "593 bytes and 196 packets\n", "and does its work");
    let printed = report(tree.path()).args("traceinfo").succeed().stdout;
    let lines: Vec<&str> =
        printed.lines().map(|line| line.trim_start().split_once(' ').unwrap_or_default().1).collect();
    let has =
        |start: &str, end: &str| lines.iter().any(|line| line.starts_with(start) && line.ends_with(end));
    assert!(
        has(
            "HW1 (expected hardware error) uart(",
            "parity_error(0x01): port 3, status 0x04, byte 1 of 68 62 63"
        ),
        "{printed}"
    );
    assert!(
        has("HW2 (unexpected recoverable", "late_collision(0x01): at bit 633 of a packet of 200 bytes"),
        "{printed}"
    );
    assert!(
        has("SW1 (expected software error) net(", "no_buffer(0x02): for 1503 bytes, all 4 in use"),
        "{printed}"
    );
    assert!(has("profile timer_fired(34): ", "timer 1, at tick 4"), "{printed}");
    let last = lines.last().expect("events");
    assert!(
        last.starts_with("SW3 ") && last.ends_with("bad_queue(0x03): rx queue: 4 packets, not 7"),
        "{last}"
    );
    // It is in its place between the statements, and nothing follows what the logger did.
    let history = report(tree.path()).succeed().stdout;
    let behind = history.lines().skip_while(|line| !line.contains(" SW3 ")).skip(1);
    assert!(
        behind.filter(|line| line.contains(".rs:")).all(|line| line.contains(" src/logger.rs:")),
        "{history}"
    );
}

fn sent() {
    let tree = fixture();
    let (port, front) = (free_port(), free_port());
    let link = format!("tcp-listen://127.0.0.1:{port}");
    let mut host = report(tree.path()).args(&format!("traceinfo -u {front} {link}")).start();
    host.wait_for_stderr("front-ends: listening");
    let target = run(&tree, &format!("host 127.0.0.1:{port}")).start();
    host.wait_for_stderr("connected to");
    let send = |what: &str| {
        let send = report(tree.path()).args(&format!("send qspy://127.0.0.1:{front} {what}"));
        send.succeed();
    };
    send("filter opcodes 7,40..42");
    ["profile 7:", "profile 40:", "profile 42:"].iter().for_each(|event| host.wait_for(event));
    send("filter opcodes 200");
    host.wait_until("an opcode that was switched on later", |host| host.printed().contains("profile 200:"));
    assert!(!host.printed().contains("profile 8:"), "{}", host.printed());
    let wrong = report(tree.path()).args(&format!("send qspy://127.0.0.1:{front} filter opcodes 300")).done();
    wrong
        .check(wrong.code() == 2 && wrong.stderr.contains("`300`: expected an opcode"), "says what is wrong");
    host.signal(Signal::INT);
    host.done();
    drop(target);
}
