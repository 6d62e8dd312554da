//! Makes the QS streams of `tests/vectors/qs`, and lets a QSPY print them:
//! `XHIST_QSPY=PROGRAM cargo run -p xhist-tests --bin vectors`. Streams come out the same each time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use qs_core::frame::{FLAG, FrameWriter};
use qs_core::record::element::Data;
use qs_core::record::{Kind, RECORDS, Sizes, USER_BASE};
use xhist_tests::{Tree, clean_up, repository};

/// A stream: its name, QSPY's options for it, and what is special about it.
struct Vector {
    name: &'static str,
    options: &'static str,
    about: &'static str,
    make: fn(&mut StreamWriter),
}

const NARROW: &str = "-T4 -O4 -F4 -S2 -E2 -Q1 -P2 -B2 -C4";
const WIDE: &str = "-T4 -O8 -F8 -S2 -E2 -Q1 -P2 -B2 -C4";
const WIDEST: &str = "-T2 -O8 -F8 -S4 -E4 -Q4 -P4 -B4 -C2";
const SMALL: &str = "-T1 -O2 -F2 -S1 -E1 -Q1 -P1 -B1 -C1";

const VECTORS: &[Vector] = &[
    Vector { name: "records-narrow", options: NARROW, about: "every record, 32-bit target", make: records },
    Vector { name: "records-wide", options: WIDE, about: "every record, 64-bit target", make: records },
    Vector { name: "records-widest", options: WIDEST, about: "every record, widest fields", make: records },
    Vector { name: "records-small", options: SMALL, about: "every record, 16-bit target", make: records },
    Vector { name: "names", options: NARROW, about: "every record, with dictionaries", make: named },
    Vector { name: "names-late", options: WIDE, about: "dictionaries behind their use", make: named_late },
    Vector { name: "elements", options: NARROW, about: "application records, all formats", make: elements },
    Vector { name: "elements-wide", options: WIDEST, about: "the same, widest fields", make: elements },
    Vector { name: "version-72", options: "-v 7.2", about: "an earlier version", make: records },
    Vector { name: "version-66", options: "-v 6.6", about: "an earlier version", make: records },
    Vector { name: "version-58", options: "-v 5.8", about: "an earlier version", make: records },
    Vector { name: "damaged", options: NARROW, about: "cut, turned and doubled bytes", make: damaged },
    Vector { name: "gaps", options: NARROW, about: "missing frames", make: gaps },
    Vector { name: "quiet", options: "-q7", about: "a dot for each record", make: records },
    Vector { name: "quiet-dots", options: "-q99", about: "dots only, and errors", make: damaged },
    Vector { name: "matlab", options: "-m", about: "rows for Matlab", make: named },
    Vector { name: "matlab-elements", options: "-m", about: "their application records", make: elements },
    Vector { name: "sequence", options: "-g Table,Philo,?", about: "a diagram", make: conversation },
    Vector {
        name: "sequence-lanes",
        options: "-g A,B,NULL",
        about: "more objects than a diagram draws",
        make: many_lanes,
    },
    Vector {
        name: "sequence-discarded",
        options: "-d -g A,NULL",
        about: "a diagram when a dictionary file is for another target",
        make: other_target,
    },
];

/// Numbers that come out the same each time: xorshift.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// A target's side.
struct StreamWriter {
    sizes: Sizes,
    random: Random,
    seq: u8,
    bytes: Vec<u8>,
}

const OBJECTS: [(u64, &str); 4] =
    [(0x2010, "Table"), (0x2020, "Philo"), (0x2030, "Que"), (0x7E7D, "a name with blanks")];
const FUNCTIONS: [(u64, &str); 3] = [(0x801, "Table_idle"), (0x8F0, "Philo_think"), (0x7D00, "spy")];
const SIGNALS: [(u64, u64, &str); 3] = [(4, 0, "TICK"), (5, 0x2010, "EAT"), (6, 0x2020, "DONE")];

impl StreamWriter {
    fn new(vector: &Vector) -> StreamWriter {
        let mut sizes = Sizes::DEFAULT;
        for option in vector.options.split(' ').filter(|option| option.len() == 3) {
            if let Some(size) = sizes.by_letter(option.as_bytes()[1]) {
                *size = option[2..].parse().expect("a digit");
            }
        }
        let seed = vector.name.bytes().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        });
        StreamWriter { sizes, random: Random(seed), seq: 0, bytes: Vec::new() }
    }

    fn frame(&mut self, id: u8, payload: &[u8]) {
        self.seq = self.seq.wrapping_add(1);
        FrameWriter::new(self.seq, id, |byte| self.bytes.push(byte)).bytes(payload).finish();
    }

    fn number(&self, kind: Kind, value: u64) -> Vec<u8> {
        value.to_le_bytes()[..self.sizes.of(kind).unwrap_or(1).into()].to_vec()
    }

    /// A field of this kind; half of the addresses and signals have names.
    fn field(&mut self, kind: Kind) -> Vec<u8> {
        let (any, pick) = (self.random.next(), self.random.below(8) as usize);
        let value = match kind {
            Kind::Str => return format!("text {}\0", any % 1000).into_bytes(),
            Kind::Obj => OBJECTS.get(pick).map_or(any, |(object, _)| *object),
            Kind::Fun => FUNCTIONS.get(pick).map_or(any, |(function, _)| *function),
            Kind::Sig => SIGNALS.get(pick).map_or(any, |(signal, ..)| *signal),
            _ => any,
        };
        self.number(kind, value)
    }

    fn time(&mut self) -> Vec<u8> {
        self.random.next().to_le_bytes()[..self.sizes.time.into()].to_vec()
    }

    /// A record of the table, with any values.
    fn record(&mut self, id: u8) {
        let row = RECORDS.iter().find(|row| row.id == id).expect("a row");
        let Some(layout) = row.layout else { return };
        let mut payload = if layout.timed { self.time() } else { Vec::new() };
        for field in layout.fields {
            payload.extend(self.field(field.kind));
        }
        self.frame(id, &payload);
    }

    fn dictionaries(&mut self) {
        for (object, name) in OBJECTS {
            self.object(object, name);
        }
        for (function, name) in FUNCTIONS {
            let payload = [self.number(Kind::Fun, function), name.bytes().chain([0]).collect()].concat();
            self.frame(id_of("QS_FUN_DICT"), &payload);
        }
        for (signal, object, name) in SIGNALS {
            let name = name.bytes().chain([0]).collect();
            let payload = [self.number(Kind::Sig, signal), self.number(Kind::Obj, object), name].concat();
            self.frame(id_of("QS_SIG_DICT"), &payload);
        }
        self.frame(id_of("QS_USR_DICT"), &[&[USER_BASE], &b"MEASURED\0"[..]].concat());
        self.frame(id_of("QS_ENUM_DICT"), &[&[3, 2], &b"RED\0"[..]].concat());
    }

    fn object(&mut self, object: u64, name: &str) {
        let payload = [self.number(Kind::Obj, object), name.bytes().chain([0]).collect()].concat();
        self.frame(id_of("QS_OBJ_DICT"), &payload);
    }

    fn post_lifo(&mut self, object: u64) {
        let fields = [self.number(Kind::Sig, 5), self.number(Kind::Obj, object), vec![0, 0, 1, 1]];
        let payload = [self.time(), fields.concat()].concat();
        self.frame(id_of("QS_QF_ACTIVE_POST_LIFO"), &payload);
    }

    /// What a target of 7.3 says of itself: the flag of a reset, the bytes of both pointers.
    fn target_info(&mut self, reset: u8, pointers: u8) {
        let info = [reset, 0xDD, 2, 0x22, 0x41, 0x22, pointers, 4, 9, 0x17, 1, 2, 3, 4, 5, 24];
        self.frame(id_of("QS_TARGET_INFO"), &info);
    }

    /// An element of an application record.
    fn element(&mut self, format: u8) -> Vec<u8> {
        let any = self.random.next();
        let data = match Data::of(format) {
            Data::Int(size) | Data::Uint(size) => any.to_le_bytes()[..size.into()].to_vec(),
            Data::Float(4) => (any as i32 as f32 / 1000.0).to_le_bytes().to_vec(),
            Data::Float(_) => (any as i64 as f64 / 1e9).to_le_bytes().to_vec(),
            Data::Enum(_) => vec![any as u8 % 5],
            Data::Text => self.field(Kind::Str),
            Data::Memory => {
                let len = any as u8 % 20;
                [vec![len], (0..len).map(|_| self.random.next() as u8).collect()].concat()
            }
            Data::Signal => [self.field(Kind::Sig), self.field(Kind::Obj)].concat(),
            Data::Obj => self.field(Kind::Obj),
            Data::Fun => self.field(Kind::Fun),
            Data::Hex => any.to_le_bytes()[..4].to_vec(),
        };
        [vec![format], data].concat()
    }
}

fn id_of(name: &str) -> u8 {
    RECORDS.iter().find(|row| row.name == name).expect("a row").id
}

/// Records whose effect goes beyond their line: dictionaries, information on the target, ends of sessions.
fn is_plain(id: u8) -> bool {
    let row = RECORDS.iter().find(|row| row.id == id).expect("a row");
    row.layout.is_some() && id != 0 && !row.name.ends_with("_DICT") && row.name != "QS_TARGET_INFO"
}

fn records(stream: &mut StreamWriter) {
    for _ in 0..2 {
        for row in RECORDS.iter().filter(|row| is_plain(row.id)) {
            stream.record(row.id);
        }
    }
}

fn named(stream: &mut StreamWriter) {
    stream.dictionaries();
    records(stream);
    elements(stream);
}

fn named_late(stream: &mut StreamWriter) {
    records(stream);
    named(stream);
}

fn elements(stream: &mut StreamWriter) {
    stream.dictionaries();
    for format in 0..=u8::MAX {
        let elements: Vec<u8> = [format, stream.random.next() as u8]
            .into_iter()
            .flat_map(|format| stream.element(format))
            .collect();
        let payload = [stream.time(), elements].concat();
        stream.frame(USER_BASE + format % 5, &payload);
    }
}

fn damaged(stream: &mut StreamWriter) {
    named(stream);
    for _ in 0..40 {
        let end = stream.bytes.len() as u64;
        let at = stream.random.below(end) as usize;
        let len = (stream.random.below(12) as usize).min(stream.bytes.len() - at);
        match stream.random.below(4) {
            0 => drop(stream.bytes.drain(at..at + len)),
            1 => stream.bytes[at] = FLAG,
            2 => stream.bytes[at] ^= 1 << (len % 8),
            _ => {
                let part = stream.bytes[at..at + len].to_vec();
                stream.bytes.splice(at..at, part);
            }
        }
    }
}

fn gaps(stream: &mut StreamWriter) {
    for row in RECORDS.iter().filter(|row| is_plain(row.id)) {
        stream.record(row.id);
        let missing = stream.random.below(6) as u8;
        stream.seq = stream.seq.wrapping_add(missing.saturating_sub(2));
    }
}

/// Posts, dispatches and ticks among objects with names.
fn conversation(stream: &mut StreamWriter) {
    stream.dictionaries();
    let names = [
        "QS_QF_ACTIVE_POST",
        "QS_QF_ACTIVE_POST_LIFO",
        "QS_QF_ACTIVE_GET",
        "QS_QF_ACTIVE_GET_LAST",
        "QS_QF_PUBLISH",
        "QS_QF_TICK",
        "QS_QEP_DISPATCH",
        "QS_QEP_INTERN_TRAN",
        "QS_QEP_TRAN",
        "QS_QEP_IGNORED",
        "QS_QF_TIMEEVT_POST",
        "QS_SCHED_NEXT",
    ];
    for _ in 0..300 {
        let name = names[stream.random.below(names.len() as u64) as usize];
        stream.record(id_of(name));
    }
}

/// Objects that share two names, each with a post, before and after a reset of the target.
fn many_lanes(stream: &mut StreamWriter) {
    for _ in 0..2 {
        for object in 0..12 {
            stream.object(object, if object % 2 == 0 { "A" } else { "B" });
        }
        for object in 0..12 {
            stream.post_lifo(object);
        }
        stream.target_info(0xFF, 0x44);
    }
}

/// The target saves its dictionaries, then another target with the same time of its build sends.
fn other_target(stream: &mut StreamWriter) {
    stream.target_info(0xFF, 0x44);
    stream.object(4, "A");
    stream.frame(id_of("QS_QF_RUN"), &[]);
    for pointers in [0x44, 0x48, 0x44] {
        stream.target_info(0, pointers);
        stream.post_lifo(0);
        stream.post_lifo(4);
    }
}

fn main() {
    let qspy = std::env::var_os("XHIST_QSPY").expect("XHIST_QSPY names a QSPY 7.3 program");
    let directory = repository().join("tests/vectors/qs");
    let mut index = "name\toptions\tbytes\texit\textra\tabout\n".to_owned();
    for vector in VECTORS {
        let mut stream = StreamWriter::new(vector);
        (vector.make)(&mut stream);
        let extra = print(Path::new(&qspy), vector, &stream.bytes, &directory);
        let Vector { name, options, about, .. } = vector;
        let options = format!("-k -u0 -rc0 -f {name}.bin {options}");
        index += &format!("{name}\t{options}\t{}\t0\t{extra}\t{about}\n", stream.bytes.len());
    }
    fs::write(directory.join("index.tsv"), index).expect("written");
    clean_up();
}

/// Keeps the stream, what QSPY prints of it behind its own first lines, and the file that it writes; its extension.
fn print(qspy: &Path, vector: &Vector, stream: &[u8], directory: &Path) -> &'static str {
    let tree = Tree::empty("qspy");
    let name = vector.name;
    for directory in [tree.path(), directory] {
        fs::write(directory.join(format!("{name}.bin")), stream).expect("written");
    }
    let mut command = Command::new(qspy);
    command.current_dir(tree.path()).args(["-k", "-u0", "-rc0", "-f"]).arg(format!("{name}.bin"));
    let output = command.args(vector.options.split(' ')).output().expect("QSPY runs");
    let text = output.stdout;
    let opened = text.windows(12).position(|window| window == b"Opened File=");
    let from = text[..opened.unwrap_or(0)].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    fs::write(directory.join(format!("{name}.txt")), &text[from..]).expect("written");
    let written = |kind: &str| -> Option<PathBuf> {
        let mut files = fs::read_dir(tree.path()).expect("a directory").flatten().map(|file| file.path());
        files.find(|path| path.extension().is_some_and(|extension| extension == kind))
    };
    for (kind, extension) in [("mat", "m"), ("seq", "seq")] {
        if let Some(file) = written(kind) {
            fs::copy(file, directory.join(format!("{name}.{extension}"))).expect("written");
            return extension;
        }
    }
    ""
}
