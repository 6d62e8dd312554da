//! Do live links bring what targets send, come back when they are lost, and carry commands? Everything here is a real process.

mod front_ends;

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use qs_core::frame::FrameWriter;
use qs_core::rx::Receiver;
use rustix::process::Signal;
use xhist_tests::{Case, Done, Need, Run, Started, Tree, cargo, free_port, report};

pub const CASES: &[Case] = &[
    Case::new("a_target_that_dies_and_returns_is_followed", dies_and_returns),
    Case::new("philosophers_are_seen_live_and_obey", philosophers),
    Case::new("a_target_obeys_one_sender_after_the_other", senders),
    Case::new("a_port_is_left_to_the_next_front_end", one_at_a_time),
    Case::new("what_cannot_be_done_for_a_front_end_is_said", cannot_be_done),
    Case::new("several_sources_are_distinguished", several),
    Case::new("a_target_in_the_place_of_another_is_shown_by_its_own_name", another),
    Case::new("targets_are_printed_in_the_order_in_which_they_come", order),
    Case::new("datagrams_are_a_stream_and_lost_ones_are_counted", udp),
    Case::new("a_pipe_is_printed_as_it_comes", pipe),
    Case::needing("a_serial_line_comes_back_through_noise", &[Need::Socat], serial),
    Case::needing("keys_work_and_the_terminal_is_left_as_it_was", &[Need::Socat], keys),
    Case::new("full_speed_stays_in_bounds", soak),
    Case::needing("a_recorded_front_end_gets_the_same", &[Need::QsStreams], front_end),
    Case::needing("qutest_runs_a_script", &[Need::Qutest], front_ends::qutest),
    Case::needing(
        "qview_commands_a_target_and_gets_its_records",
        &[Need::Qview, Need::Long],
        front_ends::qview,
    ),
];

/// Frames of a target, one after another.
#[derive(Default)]
struct Frames {
    seq: u8,
    bytes: Vec<u8>,
}

impl Frames {
    /// A target that starts: the first frame of a session.
    fn session() -> Frames {
        let mut frames = Frames::default();
        frames.add(0, &[]);
        frames
    }

    fn add(&mut self, id: u8, payload: &[u8]) {
        self.seq = self.seq.wrapping_add(1);
        FrameWriter::new(self.seq, id, |byte| self.bytes.push(byte)).bytes(payload).finish();
    }

    /// Statement of file 3 in this line.
    fn statement(&mut self, line: u16) {
        let [low, high] = line.to_le_bytes();
        self.add(120, &[low, high, 3, 0]);
    }

    /// An application record with a text.
    fn text(&mut self, text: &str) {
        self.add(100, &[&[0, 0, 0, 0, 8], text.as_bytes(), &[0]].concat());
    }

    fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}

fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    (listener, format!("tcp://{address}"))
}

/// Ctrl-C.
fn interrupt(started: Started) -> Done {
    started.signal(Signal::INT);
    started.done()
}

fn wait_for_lines(started: &mut Started, lines: usize) {
    started.wait_until("the lines", |started| started.printed().lines().count() >= lines);
}

fn dies_and_returns() {
    let tree = Tree::empty("links");
    let (listener, link) = listen();
    // Bytes that were read from a link are gone, so `-c` changes nothing.
    let mut host = report(tree.path()).arg(&link).args("-c").start();
    let (mut target, _) = listener.accept().expect("a host");
    // It comes in the middle of a frame.
    let mut frames = Frames { seq: 41, ..Frames::default() };
    frames.text("cut");
    let cut = frames.take();
    frames.statement(10);
    frames.text("before");
    target.write_all(&cut[3..]).expect("sent");
    target.write_all(&frames.take()).expect("sent");
    wait_for_lines(&mut host, 2);
    drop(target);
    host.wait_for_stderr("lost 127.0.0.1");
    let (mut target, _) = listener.accept().expect("it comes back");
    let mut frames = Frames::session();
    frames.statement(11);
    frames.text("after");
    target.write_all(&frames.take()).expect("sent");
    wait_for_lines(&mut host, 4);
    let done = interrupt(host).expect(0);
    let lines: Vec<&str> = done.stdout.lines().collect();
    let expected =
        ["1 file#3:10", "2 0000000000 USER+000 before", "3 file#3:11", "4 0000000000 USER+000 after"];
    done.check(lines == expected, &format!("{expected:?}"));
    let connected = done.stderr.matches("connected to 127.0.0.1").count();
    done.check(connected == 2, "both connections are printed");
}

/// The sample as `cargo xhist` builds it.
fn sample() -> Tree {
    let tree = Tree::with_recorder("samples/dining-philosophers");
    cargo(tree.path()).args("xhist build --quiet").succeed();
    tree
}

fn dine(tree: &Tree, port: u16) -> Started {
    let program = tree.join("target/xhist/build/debug/dining-philosophers");
    Run::new(program, tree.path()).args(&format!("100000 127.0.0.1:{port}")).start()
}

fn philosophers() {
    let tree = sample();
    let (port, front) = (free_port(), free_port());
    let link = format!("tcp-listen://127.0.0.1:{port}");
    let mut host = report(tree.path()).arg(&link).args(&format!("-u {front}")).start();
    host.wait_for_stderr("listening on");
    let target = dine(&tree, port);
    wait_for_lines(&mut host, 2000);
    let send = |what: &str| report(tree.path()).args(&format!("send qspy://127.0.0.1:{front} {what}")).done();
    let info = send("info").expect(0);
    info.check(info.stdout.contains("Trg-Info QP-Ver=734"), "it prints what it is");
    let pause = send("command PAUSE").expect(0);
    pause.check(pause.stdout.contains("Trg-Ack  QS_RX_COMMAND"), "an acknowledgement");
    host.wait_until("the pause", |host| host.printed().contains("TABLE_STAT paused"));
    send("command SERVE").expect(0);
    send("filter global sm,ao,ua").expect(0);
    let unknown = send("command DANCE").expect(2);
    unknown.check(unknown.stderr.contains("no command `DANCE`"), "an unknown name");
    let refused = send("peek 0 1 4").expect(1);
    refused.check(refused.stderr.contains("refused"), "no current object");
    send("current ap Table").expect(0);
    // The target ends itself, so its answer may not come.
    let reset = send("reset");
    reset.check([0, 1].contains(&reset.code()), "acknowledged, or gone first");
    target.done().expect(0);
    host.wait_for_stderr("lost 127.0.0.1");

    let done = interrupt(host);
    done.check(done.code() <= 1, "it ends with what it has seen");
    let statement = |line: &&str| line.contains(" src/kernel.rs:");
    done.check(done.stdout.lines().filter(statement).count() > 50, "statements have their lines");
    done.check(done.stdout.contains("Disp===> Obj=Philo["), "records have names");
    let numbered = done.stdout.lines().zip(1..).all(|(line, number)| line.starts_with(&format!("{number} ")));
    done.check(numbered, "entries are numbered");

    // The same stream in a file, without a ring around it.
    let program = tree.join("target/xhist/build/debug/dining-philosophers");
    Run::new(program, tree.path()).args("20 stream.qs").succeed();
    let file = report(tree.path()).args("stream.qs").done().expect(0);
    file.check(file.stdout.starts_with("1 src/main.rs:"), "statements are printed by file and line");
    file.check(file.stdout.contains(" Disp===> Obj=Philo["), "records are among them");

    // A command needs no report: here the target comes to the command.
    let sending = report(tree.path()).args(&format!("send {link} command SERVE")).start();
    let target = wait_for_target(&tree, port);
    sending.done().expect(0);
    drop(target);
}

/// Starts it once a host listens.
fn wait_for_target(tree: &Tree, port: u16) -> Started {
    let end = Instant::now() + Duration::from_secs(10);
    // The listener takes this for a target that left again.
    while TcpListener::bind(("127.0.0.1", port)).is_ok() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
    }
    dine(tree, port)
}

/// A target that stays, as at a serial line, goes on counting packets where the sender before ended.
fn senders() {
    let tree = Tree::empty("links");
    let (listener, link) = listen();
    let target = std::thread::spawn(move || {
        let mut receiver = Receiver::new();
        listener.incoming().take(2).for_each(|sender| obey(sender.expect("a sender"), &mut receiver));
    });
    for command in ["filter local all", "filter global sm"] {
        let sent = report(tree.path()).args(&format!("send {link} {command}")).done().expect(0);
        sent.check(sent.stdout.contains("Trg-Ack"), "it is acknowledged");
        sent.check(!sent.stdout.contains("Trg-ERR"), "and not refused");
    }
    target.join().expect("the target ends");
}

/// Acknowledges all packets, and returns their faults.
fn obey(mut sender: TcpStream, receiver: &mut Receiver<64>) {
    let mut frames = Frames::session();
    let mut byte = [0];
    while sender.read(&mut byte).is_ok_and(|len| len > 0) {
        let Some(received) = receiver.byte(byte[0]) else { continue };
        received.faults.iter().filter(|fault| **fault != 0).for_each(|fault| frames.add(66, &[0x80 | fault]));
        received.packet.iter().for_each(|packet| frames.add(66, &[packet.id]));
        let _ = sender.write_all(&frames.take());
    }
}

/// A front-end that holds the port is reported, and one that is interrupted leaves it.
fn one_at_a_time() {
    let (tree, port, (listener, link)) = (Tree::empty("links"), free_port(), listen());
    let mut host = report(tree.path()).args(&format!("qspy -u {port}")).arg(&link).start();
    host.wait_for_stderr("front-ends: listening");
    let (mut target, _) = listener.accept().expect("a host");
    target.write_all(&Frames::session().take()).expect("sent");
    // This target never answers.
    let send = |seconds: u32| {
        report(tree.path()).args(&format!("send qspy://127.0.0.1:{port} --timeout {seconds} info"))
    };
    let sending = send(100).start();
    host.wait_for("Attached Chan=00000001");
    let held = send(1).done().expect(1);
    held.check(held.stderr.contains("another front-end holds it"), "why nothing came of it");
    let interrupted = interrupt(sending).expect(1);
    interrupted.check(interrupted.stderr.contains("interrupted"), "why nothing came of it");
    let unanswered = send(1).done().expect(1);
    unanswered.check(unanswered.stderr.contains("receive channel"), "the port was free");
    interrupt(host).code();
}

/// As for the keys of the same meaning.
fn cannot_be_done() {
    let (tree, (_listener, link)) = (Tree::empty("links"), listen());
    for (args, id, why) in [
        ("", 131, "only `qspy` does that"),
        ("qspy", 131, "no target is connected"),
        ("qspy", 130, "no target is connected"),
        ("qspy", 130, "Dictionaries NOT configured (no -d option)"),
    ] {
        let port = free_port();
        let is_there = !why.contains("no target");
        let link = if is_there { link.clone() } else { format!("tcp://127.0.0.1:{}", free_port()) };
        let mut host = report(tree.path()).args(&format!("{args} -u {port}")).arg(&link).start();
        host.wait_for_stderr("front-ends: listening");
        host.wait_for_stderr(if is_there { "connected to" } else { "not there yet" });
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        socket.send_to(&[0, id], ("127.0.0.1", port)).expect("sent");
        host.wait_until(why, |host| (host.stderr_so_far() + &host.printed()).contains(why));
        interrupt(host).code();
    }
}

fn several() {
    let tree = Tree::empty("links");
    let ((one, first), (two, second)) = (listen(), listen());
    let mut file = Frames::session();
    file.text("of a file");
    std::fs::write(tree.join("stream.qs"), file.take()).expect("written");
    let mut host = report(tree.path()).arg(&first).arg(&second).arg("stream.qs").start();
    for listener in [&one, &two] {
        let (mut target, peer) = listener.accept().expect("a host");
        let mut frames = Frames::session();
        frames.statement(peer.port() % 90);
        frames.text("hello");
        target.write_all(&frames.take()).expect("sent");
    }
    wait_for_lines(&mut host, 5);
    let done = interrupt(host).expect(0);
    for name in [first.trim_start_matches("tcp://"), second.trim_start_matches("tcp://"), "stream.qs"] {
        let of_it = done.stdout.lines().filter(|line| line.ends_with(&format!("\t{name}"))).count();
        done.check(of_it == if name == "stream.qs" { 1 } else { 2 }, &format!("lines of {name}"));
    }

    // QSPY's lines as well, of targets that call.
    let port = free_port();
    let link = format!("tcp-listen://127.0.0.1:{port}");
    let mut host = report(tree.path()).args("qspy -u 0").arg(&link).start();
    host.wait_for_stderr("listening on");
    let mut targets: Vec<TcpStream> =
        (0..2).map(|_| TcpStream::connect(("127.0.0.1", port)).expect("a host")).collect();
    host.wait_until("both", |host| host.printed().matches("Connected to Host=127.0.0.1,Port=").count() == 2);
    for target in &mut targets {
        let mut frames = Frames::session();
        frames.text("hello");
        target.write_all(&frames.take()).expect("sent");
    }
    host.wait_until("both speak", |host| host.printed().matches(": 0000000000 USER+000 hello").count() == 2);
    drop(targets);
    host.wait_until("both are gone", |host| {
        host.printed().matches("TCP-IP   Disconn from Host=").count() == 2
    });
    interrupt(host).expect(0);
}

fn another() {
    let tree = Tree::empty("links");
    for (format, before, after) in [("qspy", "", ": "), ("json", "\"origin\":\"", "\"")] {
        let port = free_port();
        let args = format!("--format {format} -u 0 tcp-listen://127.0.0.1:{port}");
        let mut host = report(tree.path()).args(&args).start();
        host.wait_for_stderr("listening on");
        let connect = |host: &mut Started| {
            let mut target = TcpStream::connect(("127.0.0.1", port)).expect("a host");
            target.write_all(&Frames::session().take()).expect("sent");
            let peer = target.local_addr().expect("an address");
            host.wait_for(&format!("{before}{peer}{after}"));
            target
        };
        let (first, _second) = (TcpStream::connect(("127.0.0.1", port)).expect("a host"), connect(&mut host));
        drop(first);
        host.wait_for_stderr(": lost ");
        let _third = connect(&mut host);
        interrupt(host).code();
    }
}

fn order() {
    let tree = Tree::empty("links");
    let port = free_port();
    let mut host = report(tree.path()).arg(format!("tcp-listen://127.0.0.1:{port}")).start();
    host.wait_for_stderr("listening on");
    let connect = |_| TcpStream::connect(("127.0.0.1", port)).expect("a host");
    let targets: Vec<TcpStream> = (0..40).map(connect).collect();
    let peers: Vec<String> = targets.iter().map(|target| target.local_addr().unwrap().to_string()).collect();
    host.wait_until("all", |host| host.stderr_so_far().matches("connected to ").count() == peers.len());
    let printed = interrupt(host).stderr;
    let connected = printed.lines().filter_map(|line| Some(line.split_once("connected to ")?.1));
    assert!(connected.eq(&peers), "{printed}");
}

fn udp() {
    let tree = Tree::empty("links");
    let port = free_port();
    let mut host = report(tree.path()).arg(format!("udp://127.0.0.1:{port}")).start();
    host.wait_for_stderr("listening on");
    let target = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    target.connect(("127.0.0.1", port)).expect("a host");
    let mut frames = Frames::session();
    for line in 1..=4 {
        frames.statement(line);
        let datagram = frames.take();
        if line != 3 {
            target.send(&datagram).expect("sent");
        }
    }
    wait_for_lines(&mut host, 3);
    let done = interrupt(host).expect(1);
    done.check(done.stdout == "1 file#3:1\n2 file#3:2\n3 file#3:4\n", "what came");
    done.check(done.stderr.contains("1 frame missing, before entry 3"), "what did not");
}

fn pipe() {
    let tree = Tree::empty("links");
    let mut command = report(tree.path()).args("--follow -").into_command();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
    let (mut input, mut output) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
    let mut frames = Frames::session();
    for line in 1..4u16 {
        frames.statement(line);
        input.write_all(&frames.take()).expect("taken");
        // The answer to one piece comes before the next is sent.
        let mut printed = [0; 11];
        output.read_exact(&mut printed).expect("printed");
        assert_eq!(String::from_utf8_lossy(&printed), format!("{line} file#3:{line}\n"));
    }
    drop(input);
    assert_eq!(child.wait().expect("its end").code(), Some(0));
}

/// A pair of pseudo-terminals.
fn pair(tree: &Tree) -> Started {
    let end = |name: &str| format!("pty,rawer,link={}", tree.join(name).display());
    let socat = Run::new("socat", tree.path()).arg(end("host")).arg(end("target")).start();
    let limit = Instant::now() + Duration::from_secs(10);
    while !(tree.join("host").exists() && tree.join("target").exists()) {
        assert!(Instant::now() < limit, "socat makes its ends");
        std::thread::sleep(Duration::from_millis(10));
    }
    socat
}

fn say(device: &Path, bytes: &[u8]) {
    let mut device = OpenOptions::new().write(true).open(device).expect("a device");
    device.write_all(bytes).expect("sent");
}

fn serial() {
    let tree = Tree::empty("links");
    let socat = pair(&tree);
    let (host_end, target_end) = (tree.join("host"), tree.join("target"));
    let link = format!("serial://{}?baud=115200&parity=none", host_end.display());
    let mut host = report(tree.path()).arg(&link).start();
    host.wait_for_stderr("connected to");
    let mut frames = Frames::session();
    (1..=20).for_each(|line| frames.statement(line));
    let good = frames.take();
    frames.statement(21);
    let cut = frames.take();
    frames.statement(22);
    // Noise before, a cut within, then the rest.
    say(&target_end, &[0x11, 0x13, 0x04, 0x0A, 0x0D, 0xFF, 0x7D, 0x7E]);
    say(&target_end, &good);
    say(&target_end, &[&cut[..3], &[0x55, 0x7E]].concat());
    say(&target_end, &frames.take());
    host.wait_for(" file#3:22");
    // The device goes, and another of the name comes.
    drop(socat);
    host.wait_for_stderr("lost ");
    for name in ["host", "target"] {
        let _ = std::fs::remove_file(tree.join(name));
    }
    let _socat = pair(&tree);
    host.wait_until("it is connected again", |host| {
        host.stderr_so_far().matches("connected to").count() == 2
    });
    let mut frames = Frames::session();
    frames.statement(77);
    say(&target_end, &frames.take());
    host.wait_until("the next session", |host| host.printed().contains(" file#3:77\n"));
    let done = interrupt(host).expect(1);
    done.check(done.stdout.contains("20 file#3:20\n"), "all statements came through");
    done.check(done.stderr.contains("damaged"), "the cut frame is printed");
    done.check(done.stderr.contains("1 frame missing, before entry 21"), "and where it was");
}

/// At a terminal that socat makes: `h` shows the keys, `i` reaches the target, `n` chooses another one, Esc ends.
fn keys() {
    let tree = Tree::empty("links");
    let ((listener, link), (other, other_link)) = (listen(), listen());
    // The shell has the terminal before and after; its settings are compared.
    let program = report(tree.path()).into_command().get_program().to_string_lossy().into_owned();
    let script = format!(
        "before=$(stty -g)\n'{program}' qspy -r c0 -u 0 {link} {other_link}\necho \"code $?\"\n\
         [ \"$before\" = \"$(stty -g)\" ] && echo same settings\n"
    );
    tree.write("run", &script);
    let mut terminal = Run::new("socat", tree.path())
        .arg("-")
        .arg("EXEC:sh ./run,pty,setsid,ctty,stderr")
        .with_input()
        .start();
    let [mut target, mut other] = [listener, other].map(|listener| {
        let (target, _) = listener.accept().expect("a host");
        target.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
        target
    });
    terminal.wait_until("both are there", |terminal| {
        terminal.printed().matches("Connected to Host").count() == 2
    });
    terminal.write("h");
    terminal.wait_for("save the dictionaries");
    terminal.write("i");
    let mut packet = [0; 4];
    target.read_exact(&mut packet).expect("a packet");
    assert_eq!(packet, [1, 0, 0xFE, 0x7E], "an info request");
    terminal.wait_for("Sending INFO to the Target Stat=OK");
    terminal.write("n");
    terminal.wait_for("Speaking to Target=127.0.0.1:");
    terminal.write("r");
    other.read_exact(&mut packet).expect("a packet");
    assert_eq!(packet, [1, 2, 0xFC, 0x7E], "a reset");
    terminal.write("\u{1b}");
    terminal.wait_for("same settings");
}

/// At full speed, while the output is not read for a while.
fn soak() {
    let minutes: Option<f64> = std::env::var("XHIST_SOAK").ok().and_then(|minutes| minutes.parse().ok());
    let length = Duration::from_secs_f64(minutes.map_or(4.0, |minutes| 60.0 * minutes));
    let tree = Tree::empty("links");
    let (listener, link) = listen();
    let mut command = report(tree.path()).arg(&link).into_command();
    let mut host = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let (mut target, _) = listener.accept().expect("a host");
    let mut output = host.stdout.take().expect("a pipe");
    let start = Instant::now();
    let sender = std::thread::spawn(move || {
        // A whole number of turns of the sequence number, so that it can be sent again and again.
        let (mut frames, mut sent) = (Frames::default(), 0u64);
        for line in 0..256 * 40u16 {
            match line % 200 {
                0 => frames.text("round"),
                _ => frames.statement(line),
            }
        }
        let bytes = frames.take();
        while start.elapsed() < length {
            sent += bytes.len() as u64;
            // Nothing may hold the target up for long, whatever the output does.
            let before = Instant::now();
            target.write_all(&bytes).expect("the host takes it");
            assert!(before.elapsed() < Duration::from_secs(5), "the target was held up");
        }
        sent
    });
    std::thread::sleep(length / 4);
    let reader = std::thread::spawn(move || {
        let (mut bytes, mut lines) = (vec![0; 1 << 16], 0u64);
        while let Ok(len @ 1..) = output.read(&mut bytes) {
            lines += bytes[..len].iter().filter(|byte| **byte == b'\n').count() as u64;
        }
        lines
    });
    let sent = sender.join().expect("the target is never held up");
    let most = peak(host.id());
    rustix::process::kill_process(rustix::process::Pid::from_child(&host), Signal::INT).expect("it runs");
    let lines = reader.join().expect("a reader");
    let mut printed = String::new();
    host.stderr.take().expect("a pipe").read_to_string(&mut printed).expect("text");
    assert_eq!(host.wait().expect("its end").code(), Some(1), "{printed}");
    assert!(
        printed.contains("came faster than they could be written"),
        "what was dropped is printed: {printed}"
    );
    assert!(lines > 10_000, "{lines} lines of {sent} bytes");
    assert!(most < 64 << 10, "{most} KiB at most");
    eprintln!("soak: {} MB sent in {length:?}, {lines} lines printed, {most} KiB of memory", sent >> 20);
}

/// The most memory that a process had, in KiB.
fn peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a running process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line");
    line.trim().trim_end_matches(" kB").trim().parse().expect("a number")
}

/// A front-end gets from us what it got from QSPY.
fn front_end() {
    let corpus = Need::qs_streams().expect("they are there");
    let recorded = std::fs::read_to_string(corpus.join("live-dppfe72.udp.tsv")).expect("an exchange");
    let stream = std::fs::read(corpus.join("live-dppfe72.bin")).expect("a stream");
    let (listener, link) = listen();
    let (tree, port) = (Tree::empty("links"), free_port());
    let mut host = report(tree.path()).args(&format!("qspy -O 8 -F 8 -u {port}")).arg(&link).start();
    host.wait_for_stderr("front-ends: listening");
    let (mut target, _) = listener.accept().expect("a host");
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.connect(("127.0.0.1", port)).expect("a port");
    socket.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
    socket.send(&[0, 128, 3]).expect("sent");
    let (mut packet, mut got, is_sent) = ([0; 2048], Vec::new(), AtomicBool::new(false));
    let len = socket.recv(&mut packet).expect("an answer");
    socket.set_read_timeout(Some(Duration::from_secs(1))).expect("a limit");
    assert_eq!(packet[..len], [1, 128]);
    std::thread::scope(|scope| {
        // Packets end where nothing came for a second behind the last piece.
        scope.spawn(|| {
            while let (all, len) = (is_sent.load(Ordering::Relaxed), socket.recv(&mut packet))
                && !(all && len.is_err())
            {
                got.extend(len.map(|len| packet[..len].to_vec()));
            }
        });
        for piece in stream.chunks(200) {
            target.write_all(piece).expect("sent");
            std::thread::sleep(Duration::from_millis(2));
        }
        is_sent.store(true, Ordering::Relaxed);
    });
    interrupt(host);
    // The target's own numbers stay; those of lines count what was sent, and the recording begins elsewhere in the stream.
    let line = |packet: &[u8]| if packet.get(1) == Some(&0) { packet[1..].to_vec() } else { packet.to_vec() };
    let got: Vec<Vec<u8>> = got.iter().map(|packet| line(packet)).collect();
    let unhex = |hex: &str| -> Vec<u8> {
        (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hex")).collect()
    };
    let rows = recorded.lines().filter_map(|row| row.split_once("\tfrom-qspy\t"));
    let expected: Vec<Vec<u8>> = rows.map(|(_, hex)| unhex(hex)).filter(|packet| packet[1] < 128).collect();
    assert!(expected.len() > 80, "{}", expected.len());
    // All of them, in their order.
    let mut got = got.iter();
    for packet in &expected {
        assert!(got.any(|got| *got == line(packet)), "missing, or not in its place: {packet:?}");
    }
}
