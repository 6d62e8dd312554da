//! Does a program with records of its own send what any QS host understands, and do what the host says?

use std::collections::{BTreeMap, BTreeSet};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use object::{Object, ObjectSection, ObjectSymbol};
use qs_core::frame::{Decoder, FrameWriter, Outcome};
use qs_core::record::{Obj, Predefined, Record, Sizes, TargetInfo};
use xhist_tests::{Case, Run, Tree, cargo, repository};

pub const CASES: &[Case] = &[
    Case::new("philosophers_dine_with_records_and_statements_in_one_ring", dine),
    Case::new("a_host_commands_a_target_over_tcp", commands),
    Case::new("no_panic_is_left_in_release", no_panic),
    Case::new("widths_and_records_are_chosen_when_compiling", compiled),
];

/// A stream, decoded.
#[derive(Default)]
pub struct Stream {
    decoder: Decoder,
    sizes: Option<Sizes>,
    names: BTreeMap<Obj, String>,
    /// Ids and payloads; damage would have failed the test.
    pub records: Vec<(u8, Vec<u8>)>,
    pub missing: u32,
}

impl Stream {
    pub fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let frame = match self.decoder.push(*byte) {
                Outcome::More => continue,
                Outcome::Frame(frame) => frame,
                Outcome::Damaged(damage) => panic!("{damage:?}"),
            };
            self.missing += u32::from(frame.missing);
            if frame.id == TargetInfo::ID {
                self.sizes = TargetInfo::parse(frame.payload).map(|info| info.sizes);
            }
            let sizes = self.sizes.unwrap_or(Sizes::NATIVE);
            if let Some((_, Predefined::ObjDict(entry))) = Predefined::parse(frame.id, frame.payload, &sizes)
            {
                self.names.insert(entry.obj, entry.name.to_owned());
            }
            self.records.push((frame.id, frame.payload.to_vec()));
        }
    }

    fn count(&self, id: u8) -> usize {
        self.records.iter().filter(|(of, _)| *of == id).count()
    }

    /// The records of the table, read.
    fn predefined(&self) -> impl Iterator<Item = Predefined<'_>> {
        let sizes = self.sizes.unwrap_or(Sizes::NATIVE);
        self.records.iter().filter_map(move |(id, payload)| Some(Predefined::parse(*id, payload, &sizes)?.1))
    }
}

/// A copy of the sample, which finds the recorder where it is.
fn sample() -> Tree {
    Tree::with_recorder("samples/dining-philosophers")
}

fn dine() {
    let tree = sample();
    cargo(tree.path()).args("xhist run --quiet -- 300 stream.qs").succeed();
    let mut stream = Stream::default();
    stream.add(&std::fs::read(tree.join("stream.qs")).expect("a stream"));
    assert_eq!((stream.missing, stream.decoder.pending()), (0, 0), "nothing is lost");
    assert_eq!(
        stream.records[..2].iter().map(|(id, _)| *id).collect::<Vec<_>>()[0],
        122,
        "statements come first"
    );
    assert!(stream.count(122) > 300, "statements are among the records: {}", stream.count(122));
    assert_eq!(stream.count(31), 300, "a tick is a record");

    // Every object of a record has a name, and no two neighbours eat at once.
    let mut objects = BTreeSet::new();
    let mut eating = [false; 5];
    let mut meals = 0;
    for record in stream.predefined() {
        match record {
            Predefined::QepDispatch(dispatch) => {
                objects.insert(dispatch.obj);
            }
            Predefined::QfTimeevtArm(arm) => objects.extend([arm.te, arm.ao]),
            _ => {}
        }
    }
    assert!(objects.iter().all(|object| stream.names.contains_key(object)), "{:?}", stream.names);
    for (_, payload) in stream.records.iter().filter(|(id, _)| *id == 100) {
        let (philo, state) = (usize::from(payload[5]), &payload[7..payload.len() - 1]);
        eating[philo] = state == b"eating";
        meals += u32::from(eating[philo]);
        assert!((0..5).all(|philo| !(eating[philo] && eating[(philo + 1) % 5])), "{eating:?}");
    }
    assert!(meals > 20, "{meals} meals");
}

/// The host's end of the link.
pub struct Host {
    link: TcpStream,
    pub stream: Stream,
    seq: u8,
}

impl Host {
    /// A target connects.
    pub fn accept(listener: &TcpListener) -> Host {
        let (link, _) = listener.accept().expect("a target");
        link.set_read_timeout(Some(Duration::from_millis(20))).expect("a limit");
        Host { link, stream: Stream::default(), seq: 0 }
    }

    /// Receives what has come.
    #[track_caller]
    pub fn read(&mut self) {
        let mut bytes = [0; 4096];
        match self.link.read(&mut bytes) {
            Ok(0) => panic!("the target has gone"),
            Ok(len) => self.stream.add(&bytes[..len]),
            // Linux interrupts a read with a limit also where the process was only stopped for a moment (signal(7)).
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                ) => {}
            Err(error) => panic!("{error}"),
        }
    }

    /// Receives until such a record comes. Fails when it does not come in time.
    #[track_caller]
    pub fn wait_for(&mut self, what: &str, is_it: impl Fn(&(u8, Vec<u8>)) -> bool) -> (u8, Vec<u8>) {
        let mut seen = 0;
        for _ in 0..2_000 {
            if let Some(at) = self.stream.records[seen..].iter().position(&is_it) {
                let found = self.stream.records[seen + at].clone();
                self.stream.records.drain(..=seen + at);
                return found;
            }
            seen = self.stream.records.len();
            self.read();
        }
        panic!("no {what}");
    }

    pub fn say(&mut self, id: u8, payload: &[u8]) {
        self.seq += 1;
        let mut frame = Vec::new();
        FrameWriter::new(self.seq, id, |byte| frame.push(byte)).bytes(payload).finish();
        self.link.write_all(&frame).expect("sent");
    }

    pub fn acknowledged(&mut self, id: u8, payload: &[u8]) {
        self.say(id, payload);
        self.wait_for("an acknowledgement", |(of, status)| *of == 66 && status[..] == [id]);
    }
}

fn commands() {
    let tree = sample();
    cargo(tree.path()).args("build --quiet").succeed();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let program = tree.join("target/debug/dining-philosophers");
    let target = Run::new(program, tree.path()).args(&format!("100000 {address}")).start();
    let mut host = Host::accept(&listener);

    host.wait_for("target info at start", |(id, info)| *id == 64 && info[0] == 0xFF);
    host.wait_for("a meal", |(id, payload)| *id == 100 && payload.ends_with(b"eating\0"));
    // Noise, then a question: it is understood.
    host.link.write_all(&[0x55, 0xAA, 0x7D, 0x7E, 0x7E]).expect("sent");
    host.say(0, &[]);
    host.wait_for("target info on request", |(id, info)| *id == 64 && info[0] == 0);
    host.wait_for("dictionaries on request", |(id, name)| *id == 61 && name.ends_with(b"Philo[4]\0"));
    // The application's own command: pause, and serve again.
    host.acknowledged(1, &[0]);
    host.wait_for("it is done", |(id, payload)| *id == 65 && payload.last() == Some(&1));
    host.wait_for("the pause", |(id, payload)| *id == 101 && payload.ends_with(b"paused\0"));
    host.acknowledged(1, &[1]);
    host.wait_for("the end of the pause", |(id, payload)| *id == 101 && payload.ends_with(b"serving\0"));
    // All off but what always is on: only answers come.
    host.acknowledged(10, &[[16].as_slice(), &[0; 16]].concat());
    std::thread::sleep(Duration::from_millis(200));
    host.acknowledged(3, &[0]);
    host.stream.records.clear();
    host.acknowledged(3, &[0]);
    assert!(host.stream.records.iter().all(|(id, _)| *id == 65), "{:?}", host.stream.records);
    assert_eq!(host.stream.missing, 0, "nothing is lost on the way");
    // A reset ends this target.
    host.say(2, &[]);
    target.done().expect(0);
}

/// Sends two records and writes the stream to a file.
const TWO_RECORDS: &str = r#"
use xhist_rt::qs::{self, Fun, Obj, QepTran, Records, SemTake, Sig};

fn main() {
    qs::start(qs::Info { time: Some(|| 0x0403_0201), ..Default::default() });
    qs::global_on(Records::All);
    let (source, target) = (Fun(0x7EFF_0000_0001), Fun(2));
    qs::record(0, &SemTake { obj: Obj(1), thread: 2, count: 3 });
    qs::record(0, &QepTran { sig: Sig(0x0102_0304), obj: Obj(0x1_0000_0005), source, target });
    let mut block = [0; 4096];
    let len = qs::get_block(&mut block);
    std::fs::write("stream.qs", &block[..len]).expect("a file");
}
"#;

fn compiled() {
    let tree = Tree::empty("compiled");
    let recorder = repository().join("xhist-rt");
    tree.write("src/main.rs", TWO_RECORDS);
    let head = "[package]\nname = \"compiled\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n";
    tree.write(
        "Cargo.toml",
        &format!("{head}xhist-rt = {{ path = {recorder:?}, features = [\"std\", \"trace\"] }}\n"),
    );
    let run = |sizes: &str, left_out: &str| {
        let target = tree.join(&format!("target{}", left_out.len()));
        let cargo = cargo(tree.path()).args("run --quiet").env("CARGO_TARGET_DIR", target);
        let cargo = cargo.env("XHIST_QS_SIZES", sizes).env("XHIST_QS_OFF", left_out);
        cargo.env("XHIST_QS_BUILD", "230714_092653").done()
    };
    run("T2 O4 F8 S4", "SEM 70").expect(0);
    let mut stream = Stream::default();
    stream.add(&std::fs::read(tree.join("stream.qs")).expect("a stream"));
    let sizes = stream.sizes.expect("target info");
    assert_eq!((sizes.time, sizes.obj, sizes.fun, sizes.sig), (2, 4, 8, 4));
    assert_eq!(stream.count(71), 0, "left out");
    let known = stream.records.iter().find(|(id, _)| *id == 64).and_then(|(_, info)| info.get(10..16));
    assert_eq!(known, Some(&[53, 26, 9, 14, 7, 23][..]), "the build");
    let (_, payload) = stream.records.last().expect("a transition");
    let tran = [
        &[0x01, 0x02][..],
        &[4, 3, 2, 1],
        &[5, 0, 0, 0],
        &[1, 0, 0, 0, 0xFF, 0x7E, 0, 0],
        &[2, 0, 0, 0, 0, 0, 0, 0],
    ];
    assert_eq!(*payload, tran.concat());
    let wrong = run("T3", "S");
    wrong.check(wrong.code() != 0, "a size that no target has");
    wrong.check(wrong.stderr.contains("sizes are 1, 2 or 4"), "says what is possible");

    tree.write("src/main.rs", "fn main() { xhist_rt::m(1); xhist_rt::el(xhist_rt::long(1, 2)); }\n");
    let narrow = run("T2", "");
    narrow.check(narrow.code() != 0, "statements have time stamps of four bytes");
    narrow.check(narrow.stderr.contains("XHIST_QS_SIZES needs T4"), "says what is wrong");
}

/// Names of functions that only a panic calls.
const PANICS: [&str; 5] = ["panicking", "_fail", "unwrap_failed", "expect_failed", "rust_begin_unwind"];

fn no_panic() {
    let tree = Tree::with_recorder("tests/fixtures/bare-qs");
    cargo(tree.path()).args("build --release --quiet").succeed();
    let archive = tree.join("target/release/libbare_qs.a");
    let names = symbols(&archive);
    assert!(names.iter().any(|name| name == "statement"), "it is the fixture's");
    let panics: Vec<_> =
        names.iter().filter(|name| PANICS.iter().any(|panic| name.contains(panic))).collect();
    assert!(panics.is_empty(), "{panics:#?}");

    // Without `trace`, almost nothing is left.
    cargo(tree.path()).args("build --release --quiet --no-default-features").succeed();
    assert!(!symbols(&archive).iter().any(|name| name.contains("ring") || name == "XHIST_RING"));
}

/// Symbols of the crate's own object in an archive: with link-time optimisation, all that is left of its dependencies.
fn symbols(archive: &Path) -> Vec<String> {
    let bytes = std::fs::read(archive).expect("an archive");
    let archive = object::read::archive::ArchiveFile::parse(&*bytes).expect("an archive");
    let mut names = Vec::new();
    for member in archive.members() {
        let member = member.expect("a member");
        if !String::from_utf8_lossy(member.name()).starts_with("bare_qs") {
            continue;
        }
        let object = object::File::parse(member.data(&*bytes).expect("data")).expect("an object");
        let has_code = object.sections().any(|section| section.size() > 0);
        assert!(has_code, "an object with code");
        names.extend(object.symbols().filter_map(|symbol| Some(symbol.name().ok()?.to_owned())));
    }
    names
}
