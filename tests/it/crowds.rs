//! Does a session stay usable when many peers connect, send nothing of use, and stay?

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::time::Duration;

use qs_core::frame::FrameWriter;
use rustix::process::Signal;
use xhist_tests::{Case, Started, Tree, free_port, report};

pub const CASES: &[Case] = &[
    Case::new("idle_connections_give_their_places_up", idle),
    Case::new("connections_that_send_noise_give_their_places_up", noisy),
    Case::new("a_connection_that_ends_within_a_frame_is_a_loss", cut),
    Case::new("targets_that_send_frames_keep_their_places", useful),
    Case::new("an_attached_front_end_owns_the_port_while_it_lives", front_ends),
    Case::new("strangers_do_not_push_a_front_end_out", strangers),
    Case::new("front_ends_begin_a_bounded_number_of_files", files),
];

/// Places for targets.
const PLACES: usize = 64;

fn statement(seq: u8, line: u16) -> Vec<u8> {
    let mut bytes = Vec::new();
    let [low, high] = line.to_le_bytes();
    FrameWriter::new(seq, 120, |byte| bytes.push(byte)).bytes(&[low, high, 3, 0]).finish();
    bytes
}

fn host(tree: &Tree, args: &str) -> (Started, u16) {
    let port = free_port();
    let mut host = report(tree.path()).args(args).arg(format!("tcp-listen://127.0.0.1:{port}")).start();
    host.wait_for_stderr("listening on");
    (host, port)
}

fn connect(port: u16) -> TcpStream {
    TcpStream::connect(("127.0.0.1", port)).expect("a host")
}

fn wait_for_connections(host: &mut Started, number: usize) {
    host.wait_until("connections", |host| host.stderr_so_far().matches("connected to ").count() >= number);
}

fn let_in(host: &mut Started, port: u16) {
    let mut target = connect(port);
    target.write_all(&statement(1, 77)).expect("sent");
    host.wait_until("its statement", |host| host.printed().contains("file#3:77"));
    assert!(host.stderr_so_far().contains("was silent for longest, and gives its place to another"));
}

fn idle() {
    let tree = Tree::empty("crowds");
    let (mut host, port) = host(&tree, "");
    let _idle: Vec<TcpStream> = (0..PLACES).map(|_| connect(port)).collect();
    wait_for_connections(&mut host, PLACES);
    let_in(&mut host, port);
}

fn noisy() {
    let tree = Tree::empty("crowds");
    let (mut host, port) = host(&tree, "");
    let mut noisy: Vec<TcpStream> = (0..PLACES).map(|_| connect(port)).collect();
    wait_for_connections(&mut host, PLACES);
    for _ in 0..5 {
        noisy.iter_mut().for_each(|stream| stream.write_all(b"\x11noise").expect("taken"));
        std::thread::sleep(Duration::from_millis(20));
    }
    let_in(&mut host, port);
    // Noise before any frame is not a loss.
    host.signal(Signal::INT);
    host.done().expect(0);
}

fn cut() {
    let tree = Tree::empty("crowds");
    for (format, place) in [("history", "after entry 1"), ("qspy", ": the last 3 bytes: ")] {
        let (mut host, port) = host(&tree, &format!("-u 0 --format {format}"));
        let mut target = connect(port);
        target.write_all(&statement(1, 77)).expect("sent");
        target.write_all(&statement(2, 78)[..3]).expect("sent");
        drop(target);
        host.wait_for_stderr("lost 127.0.0.1");
        host.signal(Signal::INT);
        let done = host.done().expect(1);
        done.check(done.stderr.contains("the stream ends within a frame"), "what was lost");
        done.check(done.stderr.contains(place), "where");
    }
}

fn useful() {
    let tree = Tree::empty("crowds");
    let (mut host, port) = host(&tree, "");
    let mut targets: Vec<TcpStream> = (0..PLACES).map(|_| connect(port)).collect();
    for (line, target) in (100..).zip(&mut targets) {
        target.write_all(&statement(1, line)).expect("sent");
    }
    host.wait_until("all", |host| host.printed().lines().count() == PLACES);
    let mut late = connect(port);
    host.wait_for_stderr("was sent away");
    late.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
    assert!(matches!(late.read(&mut [0]), Ok(0) | Err(_)), "it is closed");
    targets[0].write_all(&statement(2, 99)).expect("sent");
    host.wait_until("the first is still there", |host| host.printed().contains("file#3:99"));
}

/// A front-end.
struct FrontEnd(UdpSocket);

impl FrontEnd {
    fn new(port: u16) -> FrontEnd {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        socket.connect(("127.0.0.1", port)).expect("a port");
        socket.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
        FrontEnd(socket)
    }

    fn send(&self, packet: &[u8]) {
        self.0.send(packet).expect("sent");
    }

    fn received(&self) -> Vec<u8> {
        let mut packet = [0; 2048];
        loop {
            match self.0.recv(&mut packet) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                len => return packet[..len.expect("an answer")].to_vec(),
            }
        }
    }
}

/// A session with one target, and its port.
fn session(tree: &Tree) -> (Started, TcpStream, u16) {
    let front = free_port();
    let (mut host, port) = host(tree, &format!("qspy -u {front}"));
    host.wait_for_stderr("front-ends: listening");
    let mut target = connect(port);
    target.write_all(&statement(1, 1)).expect("sent");
    host.wait_for("USER+020");
    (host, target, front)
}

fn front_ends() {
    let tree = Tree::empty("crowds");
    let (mut host, _target, port) = session(&tree);
    // A note does not make its sender the owner.
    let talker = FrontEnd::new(port);
    talker.send(b"\x00\x8D\x00a note\0");
    host.wait_for("a note");
    let first = FrontEnd::new(port);
    first.send(&[0, 128, 3]);
    assert_eq!(first.received(), [1, 128]);
    // While it is there, no other front-end attaches.
    talker.send(&[1, 128, 3]);
    host.wait_for("UDP socket in use");
    drop(first);
    // Now it is gone, so another may attach. A process that another case starts may still have the socket for a moment.
    talker.0.set_read_timeout(Some(Duration::from_secs(1))).expect("a limit");
    let mut packet = [0; 2048];
    let answered = (2..22).find_map(|seq| {
        talker.send(&[seq, 128, 3]);
        talker.0.recv(&mut packet).ok()
    });
    assert_eq!(&packet[..answered.expect("an answer")], [1, 128]);
    host.wait_for("it is gone or was silent, and another attaches");
}

fn strangers() {
    let tree = Tree::empty("crowds");
    let (mut host, mut target, port) = session(&tree);
    let attached = FrontEnd::new(port);
    attached.send(&[0, 128, 1]);
    assert_eq!(attached.received(), [1, 128]);
    let strangers: Vec<FrontEnd> = (0..100).map(|_| FrontEnd::new(port)).collect();
    strangers.iter().for_each(|stranger| stranger.send(&[0, 141, 0, b'x', 0]));
    host.wait_until("all", |host| host.printed().matches("UDP socket in use").count() == strangers.len());
    target.write_all(&statement(2, 7)).expect("sent");
    assert_eq!(attached.received()[..2], [2, 120]);
}

fn files() {
    const MOST: usize = 64;
    let tree = Tree::empty("crowds");
    let (mut host, _target, port) = session(&tree);
    let front_end = FrontEnd::new(port);
    front_end.send(&[0, 128, 1]);
    assert_eq!(front_end.received(), [1, 128]);
    for seq in 1..=MOST as u8 + 20 {
        front_end.send(&[seq, 131, 1]);
    }
    host.wait_until("the end of it", |host| host.printed().matches("no more files").count() == 20);
    host.signal(Signal::INT);
    host.done().code();
    let names = std::fs::read_dir(tree.path()).expect("a directory");
    assert_eq!(names.count(), MOST, "each has a name of its own");
}
