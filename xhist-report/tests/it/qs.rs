//! QS streams are printed as QSPY prints them, from every source.

use proptest::collection::vec;
use proptest::prelude::*;
use qs_core::frame::FrameWriter;
use qs_core::record::{
    self, AssertFail, Fields, Fun, Kind, Obj, ObjDict, QepTran, QfActivePost, QfTick, QfTimeevtArm, Record,
    Sig, Sizes, TargetInfo,
};
use xhist_report::format::by_name;
use xhist_report::{Options, QsOptions};

use crate::support::{Dir, Outcome, RingImage, outcome, report, report_with};

/// Frames and their lines, of a target with the names below.
const RECORDS: &str = include_str!("../expected/qs-records.tsv");
/// Elements of application records, what they add to the line, and what they add to the row for Matlab.
const ELEMENTS: &str = include_str!("../expected/qs-elements.tsv");

/// Fields of a target with these sizes.
struct Payload(Sizes, Vec<u8>);

impl Fields for Payload {
    fn number(&mut self, kind: Kind, value: u64) {
        let len = self.0.of(kind).expect("a number");
        self.1.extend(&value.to_le_bytes()[..len.into()]);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.1.extend(bytes);
    }
}

/// A stream as a target sends it.
#[derive(Clone)]
struct Target {
    sizes: Sizes,
    seq: u8,
    stream: Vec<u8>,
}

impl Target {
    fn new(sizes: Sizes) -> Target {
        Target { sizes, seq: 0, stream: Vec::new() }
    }

    fn frame(mut self, id: u8, payload: &[u8]) -> Target {
        self.seq = self.seq.wrapping_add(1);
        FrameWriter::new(self.seq, id, |byte| self.stream.push(byte)).bytes(payload).finish();
        self
    }

    fn record<R: Record>(self, time: u32, record: &R) -> Target {
        let mut payload = Payload(self.sizes, Vec::new());
        if R::TIMED {
            payload.1.extend(&time.to_le_bytes()[..self.sizes.time.into()]);
        }
        record.put(&mut payload);
        self.frame(R::ID, &payload.1)
    }

    fn info(self) -> Target {
        let payload = self.info_payload();
        self.frame(TargetInfo::ID, &payload)
    }

    fn info_payload(&self) -> Vec<u8> {
        let info = TargetInfo {
            reset: TargetInfo::RESET,
            version: 733,
            big_endian: false,
            sizes: self.sizes,
            max_active: 32,
            max_pools: 3,
            max_rates: 1,
            build: record::BuildTime { second: 53, minute: 26, hour: 9, day: 14, month: 7, year: 23 },
        };
        let mut payload = Payload(self.sizes, Vec::new());
        info.put(&mut payload);
        payload.1
    }

    /// The names that the vectors need.
    fn named(self) -> Target {
        let mut named = self;
        for (object, name) in [(0x2000_0010, "Ao"), (0x2000_0020, "Que")] {
            named = named.record(0, &ObjDict { obj: Obj(object), name });
        }
        for (function, name) in [(0x0800_0101, "Ao_s1"), (0x0800_0201, "Ao_s2")] {
            named = named.record(0, &record::FunDict { fun: Fun(function), name });
        }
        named
            .record(0, &record::SigDict { sig: Sig(5), obj: Obj::NULL, name: "GO_SIG" })
            .record(0, &record::EnumDict { value: 3, group: 2, name: "RED" })
    }
}

fn qspy() -> Options {
    Options { format: by_name("qspy").unwrap(), ..Options::default() }
}

/// The lines, and no others.
fn lines(stream: &[u8]) -> Vec<String> {
    report_with(stream, &qspy()).out.lines().map(str::to_owned).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn every_record_has_its_line() {
    let target = Target::new(Sizes::DEFAULT).info().named();
    let before = lines(&target.stream).len();
    for row in RECORDS.lines() {
        let (frame, line) = row.split_once('\t').unwrap();
        let stream = [target.stream.clone(), bytes(frame)].concat();
        let own: Vec<_> =
            lines(&stream)[before..].iter().filter(|line| !line.contains("<COMMS>")).cloned().collect();
        assert_eq!(own, [line], "{frame}");
    }
    assert!(RECORDS.lines().count() >= 80);
}

#[test]
fn every_element_has_its_text_and_its_number() {
    let dir = Dir::new();
    let rows: Vec<Vec<&str>> = ELEMENTS.lines().map(|row| row.split('\t').collect()).collect();
    let mut target = Target::new(Sizes::DEFAULT).info().named();
    for row in &rows {
        target = target.frame(101, &[&[0x40, 0xE2, 1, 0], &bytes(row[0])[..]].concat());
    }
    let matlab = dir.path().join("rows.mat");
    let mut options = qspy();
    options.qs = QsOptions { matlab: Some(matlab.clone()), ..QsOptions::default() };
    let out = report_with(&target.stream, &options).out;
    let texts: Vec<_> = out.lines().filter_map(|line| line.strip_prefix("0000123456 USER+001")).collect();
    let expected: Vec<_> = rows.iter().map(|row| row[1]).collect();
    assert_eq!(texts, expected);
    let written = std::fs::read_to_string(matlab).unwrap();
    let numbers: Vec<_> = written.lines().filter_map(|row| row.strip_prefix("101 123456")).collect();
    let expected: Vec<_> = rows.iter().map(|row| row[2]).collect();
    assert_eq!(numbers, expected);
}

#[test]
fn records_of_a_ring_have_names_and_their_place() {
    let mut ring = RingImage::hosted(1 << 12, 1, 1, "main").statement(3, 10);
    let sizes = Sizes::DEFAULT.with("O8 F8");
    let payload = |put: &dyn Fn(&mut Payload)| {
        let mut payload = Payload(sizes, Vec::new());
        put(&mut payload);
        payload.1
    };
    let info = Target::new(sizes).info().stream;
    ring = ring.frame(TargetInfo::ID, &info[2..18]);
    // The record came before the name, and still has it.
    let entry = record::QepStateEntry { obj: Obj(0x7FFF_0000_1234), state: Fun::NULL };
    ring = ring.frame(1, &payload(&|to| entry.put(to))).statement(3, 11);
    ring = ring.frame(61, &payload(&|to| ObjDict { obj: Obj(0x7FFF_0000_1234), name: "Philo" }.put(to)));
    let image = ring.build();
    let Outcome { code, out, .. } = report(&image);
    assert_eq!(code, 0);
    assert!(out.contains("\n3 ===RTC===> St-Entry Obj=Philo,State="), "{out}");
    assert!(out.starts_with("1 file#3:10\n") && out.contains("\n4 file#3:11\n"), "{out}");
    // In a stream, names apply from their record on.
    let lines = lines(&image);
    assert!(lines.iter().any(|line| line.starts_with("===RTC===> St-Entry Obj=0x00001234")), "{lines:?}");
    assert!(lines.iter().all(|line| !line.contains("ERROR")), "{lines:?}");
    let json = Options { format: by_name("json").unwrap(), ..Options::default() };
    let json = report_with(&image, &json).out;
    assert!(json.contains(r#""name":"QS_QEP_STATE_ENTRY","fields":{"obj":"Philo","state":"#), "{json}");
}

#[test]
fn statements_of_a_ring_are_frames_too() {
    let packed = |ring: RingImage| lines(&ring.packed(50, &[(3, 93), (3, 94)]).open(60, &[(3, 95)]).build());
    let bare = packed(RingImage { time_width: 4, ..RingImage::bare(1 << 12) });
    assert_eq!(bare.len(), 2, "{bare:?}");
    assert_eq!(bare[0], "0000000050 USER+022 003 0  FD FE");
    assert!(bare[1].starts_with("0000000060 USER+022 003 0  FF"), "{bare:?}");
    let hosted = packed(RingImage::hosted(1 << 12, 1, 1, "main"));
    assert_eq!(hosted, ["0000000050 USER+022  CB 04 13 79 CB 04 13 7A", "0000000060 USER+022  CB 04 13 7B"]);
}

#[test]
fn every_format_shows_a_stream() {
    let stream = Target::new(Sizes::DEFAULT).info().named().record(7, &QfTick { ctr: 42, rate: 1 }).stream;
    let history = report(&stream);
    assert_eq!(history.code, 0);
    assert!(history.out.ends_with("\n8            Tick<1>  Ctr=0000000042\n"), "{}", history.out);
    let cut = [&stream[..40], &stream[45..]].concat();
    let history = report(&cut);
    assert_eq!(history.code, 1);
    assert!(history.notes.contains("lost: the stream: "), "{}", history.notes);
}

#[test]
fn addresses_in_a_stream_have_the_width_of_the_target() {
    let entry = record::QepStateEntry { obj: Obj(0x7FFF_0000_1234), state: Fun::NULL };
    let stream = Target::new(Sizes::DEFAULT.with("O8 F8")).info().record(0, &entry).stream;
    let json = report_with(&stream, &Options { format: by_name("json").unwrap(), ..Options::default() });
    assert!(json.out.contains(r#""obj":"0x00007FFF00001234","#), "{}", json.out);
}

/// The fields have the names that the line has.
#[test]
fn fields_are_named_where_the_line_names_them() {
    let stream = Target::new(Sizes::DEFAULT)
        .info()
        .named()
        .record(0, &ObjDict { obj: Obj(0x2000_0010), name: "Ao" })
        .record(0, &record::SigDict { sig: Sig(6), obj: Obj(0x2000_0010), name: "ITS_SIG" })
        .record(0, &record::SigDict { sig: Sig(6), obj: Obj(0x2000_0010), name: "ITS_SIG" })
        // Of a time event: the signal is that of the active object behind it.
        .frame(67, &bytes("000000000420000020100000200100000002000000060040"))
        .frame(68, &bytes("000000001000020201020304"))
        .stream;
    let json = report_with(&stream, &Options { format: by_name("json").unwrap(), ..Options::default() }).out;
    for fields in [
        r#"{"obj":"0x20000010","name":"Ao"}"#,
        r#"{"sig":6,"obj":"0x20000010","name":"ITS_SIG"}"#,
        r#""ao":"Ao","ctr":1,"interval":2,"sig":"ITS_SIG","flags":64}"#,
        r#""offs":16,"size":2,"num":2,"data":[1,2,3,4]}"#,
    ] {
        assert!(json.contains(fields), "{fields} in {json}");
    }
    assert!(
        !json.contains(r#""sig":"ITS_SIG","obj":"#),
        "a record that gives a name shows the number: {json}"
    );
}

#[test]
fn impossible_sizes_are_reported() {
    let stream = Target::new(Sizes { sig: 3, ..Sizes::DEFAULT }).info().stream;
    for options in [Options::default(), qspy()] {
        let outcome = report_with(&stream, &options);
        assert_eq!(outcome.code, 1, "{}", outcome.notes);
        assert!(outcome.notes.contains("those sizes were ignored"), "{}", outcome.notes);
    }
}

#[test]
fn the_command_writes_every_side_file() {
    let dir = Dir::new();
    let stream = Target::new(Sizes::DEFAULT).info().named().frame(70, &[]).stream;
    dir.write("s.bin", &stream);
    let files =
        ["-d", "-s=copy.bin", "-o=lines.txt", "-m=rows.mat", "-g", "Ao,?", "--sequence-file=draw.seq"];
    let outcome = dir.run(&[&["qspy", "s.bin"], &files[..]].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.notes);
    let read = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
    assert_eq!(read("copy.bin"), stream);
    assert_eq!(read("lines.txt"), outcome.out.as_bytes());
    assert!(read("draw.seq").starts_with(b"-g Ao,?\n\n           +-------+-------+   +-------+"));
    assert!(read("rows.mat").starts_with(b"61 Ao=536870928;\n"));
    let names = String::from_utf8(read("qspy230714_092653.dic")).unwrap();
    assert!(names.starts_with("-v733\n-T4\n") && names.contains("\n0x20000020 Que\n"), "{names}");
    // A second run knows the names from the first record on.
    let entry = Target::new(Sizes::DEFAULT)
        .record(0, &record::QepStateEntry { obj: Obj(0x2000_0010), state: Fun(0x0800_0101) })
        .stream;
    dir.write("e.bin", &entry);
    let outcome = dir.run(&["qspy", "e.bin", "-d", "qspy230714_092653.dic"]);
    assert!(outcome.out.ends_with("===RTC===> St-Entry Obj=Ao,State=Ao_s1\n"), "{}", outcome.out);
}

/// Dictionaries are the first to be overwritten in a ring.
#[test]
fn names_from_a_file_are_kept_in_every_format() {
    let dir = Dir::new();
    let entry = record::QepStateEntry { obj: Obj(0x2000_0010), state: Fun(0x0800_0101) };
    dir.write("names.bin", Target::new(Sizes::DEFAULT).info().named().frame(70, &[]).stream);
    assert_eq!(dir.run(&["qspy", "-d", "names.bin"]).code, 0);
    // The target forgets all names in between.
    let stream = Target::new(Sizes::DEFAULT).record(0, &entry).info().record(0, &entry).stream;
    dir.write("s.bin", stream);
    let ring = RingImage::hosted(1 << 12, 1, 1, "main").frame(1, &bytes("1000002001010008"));
    dir.write("ring.xhist", ring.build());
    for (source, entries) in [("s.bin", 2), ("ring.xhist", 1)] {
        for (format, named) in [("text", "Obj=Ao,State=Ao_s1"), ("json", r#""obj":"Ao","state":"Ao_s1""#)] {
            let outcome = dir.run(&[source, "--format", format, "--dictionaries", "qspy230714_092653.dic"]);
            assert_eq!(outcome.code, 0, "{}", outcome.notes);
            assert_eq!(outcome.out.matches(named).count(), entries, "{format} of {source}: {}", outcome.out);
        }
    }
}

#[test]
fn names_of_another_build_are_not_used() {
    let dir = Dir::new();
    let entry = record::QepStateEntry { obj: Obj(0x2000_0010), state: Fun(0x0800_0101) };
    dir.write("names.bin", Target::new(Sizes::DEFAULT).info().named().frame(70, &[]).stream);
    assert_eq!(dir.run(&["qspy", "-d", "names.bin"]).code, 0);
    let names = std::fs::read_to_string(dir.path().join("qspy230714_092653.dic")).unwrap();
    dir.write("other.dic", names.replace("-t230714_092653", "-t231005_101500"));
    let target = Target::new(Sizes::DEFAULT).record(0, &entry).info().record(0, &entry);
    dir.write("s.bin", &target.stream);
    let info = Target::new(Sizes::DEFAULT).info_payload();
    let entry = bytes("1000002001010008");
    let ring = RingImage::hosted(1 << 12, 1, 1, "main").frame(1, &entry).frame(64, &info).frame(1, &entry);
    dir.write("ring.xhist", ring.build());
    let builds = "the dictionary file is of build 231005_101500, the target of build 230714_092653: its names are not used\n";
    for source in ["s.bin", "ring.xhist"] {
        for format in ["text", "json"] {
            let outcome = dir.run(&[source, "--format", format, "--dictionaries=other.dic"]);
            assert_eq!((outcome.code, outcome.notes.matches(builds).count()), (0, 1), "{}", outcome.notes);
            assert!(!outcome.out.contains("Ao"), "{format} of {source}: {}", outcome.out);
        }
        // The first record comes before the target names its build, as in QSPY.
        let outcome = dir.run(&["qspy", source, "-d=other.dic"]);
        assert_eq!((outcome.code, outcome.notes.matches(builds).count()), (0, 1), "{}", outcome.notes);
        assert_eq!(outcome.out.matches("Obj=Ao,State=Ao_s1").count(), 1, "{}", outcome.out);
        assert!(outcome.out.contains("   <QSPY-> Dictionaries mismatch the Target (discarded)\n"));
    }
}

#[test]
fn side_files_hold_the_first_source() {
    let dir = Dir::new();
    let stream = Target::new(Sizes::DEFAULT).info().named().stream;
    dir.write("a.bin", &stream);
    dir.write("b.bin", Target::new(Sizes::DEFAULT).info().stream);
    let outcome = dir.run(&["qspy", "-s=copy.bin", "a.bin", "b.bin"]);
    assert_eq!(outcome.code, 0, "{}", outcome.notes);
    assert_eq!(std::fs::read(dir.path().join("copy.bin")).unwrap(), stream);
    assert!(outcome.notes.contains("b.bin: the side files hold the first"), "{}", outcome.notes);
}

#[test]
fn a_source_is_not_overwritten() {
    let dir = Dir::new();
    let stream = Target::new(Sizes::DEFAULT).info().named().stream;
    dir.write("s.bin", &stream);
    dir.write("t.bin", &stream);
    for args in [
        &["-s=s.bin", "s.bin"][..],
        &["-o=./s.bin", "t.bin", "s.bin"],
        &["-m=s.bin", "s.bin"],
        &["-g", "?", "--sequence-file", "s.bin", "s.bin"],
        &["-s=s.bin", "tcp://localhost:1", "s.bin"],
        &["-d=s.bin", "-s=s.bin", "t.bin"],
    ] {
        let outcome = dir.run(&[&["qspy"], args].concat());
        assert_eq!(outcome.code, 2, "{args:?}: {}", outcome.notes);
        assert!(outcome.notes.contains("s.bin is read, and would"), "{args:?}: {}", outcome.notes);
        assert_eq!(std::fs::read(dir.path().join("s.bin")).unwrap(), stream, "{args:?}");
    }
}

#[test]
fn options_about_rings_are_refused_for_a_stream() {
    let dir = Dir::new();
    dir.write("s.bin", Target::new(Sizes::DEFAULT).info().named().stream);
    for args in [&["builds"][..], &["hot"], &["--ring", "1"], &["--clear"], &["qspy", "--ring", "1"]] {
        let outcome = dir.run(&[args, &["s.bin"]].concat());
        assert_eq!((outcome.code, outcome.out.as_str()), (3, ""), "{args:?}: {}", outcome.notes);
        assert!(outcome.notes.contains("a QS stream without a ring"), "{args:?}: {}", outcome.notes);
    }
}

#[test]
fn following_a_stream_in_a_file_is_refused_with_the_right_command() {
    let dir = Dir::new();
    let stream = Target::new(Sizes::DEFAULT).info().named().record(7, &QfTick { ctr: 42, rate: 1 }).stream;
    dir.write("s.bin", &stream);
    let refused = dir.run(&["--follow", "s.bin"]);
    assert_eq!(refused.code, 3, "{}", refused.notes);
    assert!(refused.notes.contains("`xhist-report --follow - < FILE`"), "{}", refused.notes);
    let file = std::fs::File::open(dir.path().join("s.bin")).unwrap();
    let followed = outcome(dir.command(&["--follow", "-"]).stdin(file).output().unwrap());
    assert_eq!((followed.code, followed.out), (0, report(&stream).out), "{}", followed.notes);
}

/// A ring is not a stream: its unused bytes would be reported as damage.
#[test]
fn a_ring_file_beside_a_link_is_refused() {
    let dir = Dir::new();
    dir.write("ring.xhist", RingImage::bare(256).statement(1, 1).build());
    for args in [&["tcp://localhost:1", "ring.xhist"][..], &["-f", "-", "ring.xhist"]] {
        let outcome = dir.run(args);
        assert_eq!((outcome.code, outcome.out.as_str()), (2, ""), "{args:?}: {}", outcome.notes);
        let error = "ring.xhist holds a ring, which is no stream; start a report of its own for it";
        assert!(outcome.notes.contains(error), "{args:?}: {}", outcome.notes);
    }
}

#[test]
fn wrong_arguments_are_errors() {
    let dir = Dir::new();
    dir.write("s.bin", [1, 2, 3]);
    dir.write("names.dic", "-v733\n");
    for (args, word) in [
        (&["qspy", "-T3", "s.bin"][..], "possible values"),
        (&["qspy", "-v", "7", "s.bin"], "7.3"),
        (&["-m", "s.bin"], "unexpected argument '-m'"),
        (&["s.bin", "--dictionaries"], "a value is required"),
        (&["--dictionaries", "none.dic", "s.bin"], "cannot read none.dic"),
        (&["--dictionaries", "s.bin", "s.bin"], "Unexpected line in Dictionary File=s.bin"),
        (&["qspy", "--last", "3", "s.bin"], "unexpected argument '--last'"),
        (&["qspy", "-g", "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11", "s.bin"], "at most 10"),
        (&["qspy", "-m=/nowhere/at/all", "s.bin"], "cannot write /nowhere/at/all"),
    ] {
        let outcome = dir.run(args);
        assert_eq!(outcome.code, 2, "{args:?}: {}", outcome.notes);
        assert!(outcome.notes.contains(word), "{args:?}: {}", outcome.notes);
    }
    let nothing = dir.run(&["qspy", "s.bin"]);
    assert!(nothing.code == 3 && nothing.notes.contains("no valid QS frame"), "{}", nothing.notes);
}

fn sizes() -> impl Strategy<Value = Sizes> {
    let small = || prop_oneof![Just(1u8), Just(2), Just(4)];
    let wide = || prop_oneof![Just(4u8), Just(8)];
    (small(), wide(), wide(), small(), small(), small(), small()).prop_map(
        |(time, obj, fun, sig, queue_ctr, pool_ctr, time_ctr)| Sizes {
            time,
            obj,
            fun,
            sig,
            queue_ctr,
            pool_ctr,
            time_ctr,
            ..Sizes::DEFAULT
        },
    )
}

fn cut(value: u64, len: u8) -> u64 {
    if len >= 8 { value } else { value & ((1 << (8 * len)) - 1) }
}

proptest! {
    #[test]
    fn a_report_shows_what_the_target_sent(
        sizes in sizes(),
        time: u32,
        object in 1u64..,
        function in 1u64..,
        signal in 1u32..,
        counter: u32,
        rate: u8,
        name in "[a-zA-Z_:]{1,60}",
    ) {
        let (obj, fun) = (Obj(cut(object | 1, sizes.obj) as usize), Fun(cut(function | 1, sizes.fun) as usize));
        let sig = Sig(cut(u64::from(signal | 1), sizes.sig) as u32);
        let stream = Target::new(sizes)
            .info()
            .record(0, &ObjDict { obj, name: &name })
            .record(0, &record::FunDict { fun, name: &name })
            .record(0, &record::SigDict { sig, obj: Obj::NULL, name: &name })
            .record(time, &QepTran { sig, obj, source: fun, target: fun })
            .record(time, &QfActivePost { sender: obj, sig, obj, pool: 1, refs: 2, free: counter, min: counter })
            .record(time, &QfTimeevtArm { te: obj, ao: obj, ctr: counter, interval: counter, rate })
            .record(time, &AssertFail { loc: 110, module: &name })
            .stream;
        let time = cut(time.into(), sizes.time);
        let (queue, tim) = (cut(counter.into(), sizes.queue_ctr), cut(counter.into(), sizes.time_ctr));
        let expected = [
            format!("{time:010} ===>Tran Obj={name},Sig={name},State={name}->{name}"),
            format!("{time:010} AO-Post  Sdr={name},Obj={name},Evt<Sig={name},Pool=1,Ref=2>,Que<Free={queue},Min={queue}>"),
            format!("{time:010} TE{rate}-Arm  Obj={name},AO={name},Tim={tim},Int={tim}"),
            format!("{time:010} =ASSERT= Mod={name},Loc=110"),
        ];
        prop_assert_eq!(&lines(&stream)[4..], &expected[..]);
    }

    #[test]
    fn any_bytes_and_any_names_end(stream in vec(any::<u8>(), 0..3000), names in vec(any::<u8>(), 0..300)) {
        let dir = Dir::new();
        dir.write("n.dic", &names);
        let mut options = qspy();
        options.qs.dictionaries = xhist_report::DictionaryFile::Named("n.dic".into());
        options.qs.dir = dir.path().to_owned();
        let (mut out, mut notes) = (Vec::new(), Vec::new());
        let _ = xhist_report::report(&stream, &options, &mut out, &mut notes);
    }
}

proptest! {
    #[test]
    fn a_dictionary_file_that_was_written_is_read(
        objects in proptest::collection::btree_map(1u32.., "[!-~]{1,50}", 0..30),
        signals in proptest::collection::btree_map(1u16.., "[!-~]{1,50}", 0..30),
    ) {
        let mut target = Target::new(Sizes::DEFAULT).info();
        for (object, name) in &objects {
            target = target.frame(61, &[&object.to_le_bytes(), name.as_bytes(), &[0]].concat());
        }
        for (signal, name) in &signals {
            target = target.frame(60, &[&signal.to_le_bytes(), &[0; 4][..], name.as_bytes(), &[0]].concat());
        }
        let dir = Dir::new();
        let mut options = qspy();
        options.qs.dir = dir.path().to_owned();
        options.qs.dictionaries = xhist_report::DictionaryFile::OfBuild;
        let file = || std::fs::read(dir.path().join("qspy230714_092653.dic")).unwrap();
        report_with(&target.frame(70, &[]).stream, &options);
        let first = file();
        prop_assert_eq!(first.iter().filter(|byte| **byte == b'\n').count(), 12 + 12 + objects.len() + signals.len() + 1);
        // The target sends its target info without names; the file has them.
        report_with(&Target::new(Sizes::DEFAULT).info().frame(70, &[]).stream, &options);
        prop_assert_eq!(file(), first);
    }
}

#[test]
fn records_of_a_wrong_length_are_losses() {
    let dir = Dir::new();
    let stream = RingImage::bare(4096).frame(9, &[0; 5]).frame(9, &[0; 9]).stream;
    dir.write("s.bin", &stream);
    for command in [&["qspy"][..], &["history"], &["--format", "json"]] {
        let outcome = dir.run(&[command, &["s.bin"]].concat());
        assert!(
            outcome.code == 1 && outcome.notes.contains("as long as their layout: 2;"),
            "{}",
            outcome.notes
        );
    }
}

/// The lines of a stream, with the names of a dictionary file.
fn lines_with_names(names: &str, target: Target) -> Vec<String> {
    let dir = Dir::new();
    dir.write("n.dic", names.as_bytes());
    let mut options = qspy();
    options.qs.dictionaries = xhist_report::DictionaryFile::Named("n.dic".into());
    options.qs.dir = dir.path().to_owned();
    report_with(&target.stream, &options).out.lines().map(str::to_owned).collect()
}

#[test]
fn an_empty_name_ends_the_line_of_an_application_record() {
    // The object of 0x10, a number; a signal, which ends no line; the object, and an element that is cut.
    let target = Target::new(Sizes::DEFAULT)
        .frame(100, &[1, 0, 0, 0, 1, 7, 11, 16, 0, 0, 0, 1, 8])
        .frame(100, &[2, 0, 0, 0, 10, 5, 0, 16, 0, 0, 0, 1, 8])
        .frame(100, &[3, 0, 0, 0, 11, 16, 0, 0, 0, 1, 8, 5, 1]);
    let names = "Obj-Dic:\n4\n0x00000010 \n***\nSig-Dic:\n4\n00000005 0x00000010 \n***\n";
    let expected = [
        "   <QSPY-> Reading dictionaries from File=n.dic",
        "0000000001 USER+000 7 ",
        "0000000002 USER+000 ,Obj= 8",
        "   <COMMS> ERROR    3 more bytes needed for uint32_t ",
        "   <COMMS> ERROR    3 more bytes needed for uint32_t 0",
    ];
    assert_eq!(lines_with_names(names, target), expected);
}

#[test]
fn a_bad_entry_discards_all_signals_of_a_dictionary_file() {
    let target = Target::new(Sizes::DEFAULT).frame(28, &[1, 0, 0, 0, 8, 0, 5, 0]);
    let names = "Sig-Dic:\n4\n00000005 0x00000000 GO\n00000000 0x00000000 NONE\n***\n";
    let expected = [
        "   <QSPY-> Reading dictionaries from File=n.dic",
        "   <QSPY-> Parsing SIG dictionaries failed File=n.dic",
        "0000000001 QF-New   Sig=00000005,Obj=0x00000000,Size=8",
    ];
    assert_eq!(lines_with_names(names, target), expected);
}

#[test]
fn a_source_behind_the_quiet_option_is_not_its_number() {
    let dir = Dir::new();
    dir.write("s.bin", Target::new(Sizes::DEFAULT).frame(58, &[]).stream);
    let outcome = dir.run(&["qspy", "-q", "s.bin"]);
    assert!(outcome.code == 2 && outcome.notes.contains("type `-q0 s.bin`"), "{}", outcome.notes);
    assert_eq!(dir.run(&["qspy", "-q0", "s.bin"]).code, 0);
}
