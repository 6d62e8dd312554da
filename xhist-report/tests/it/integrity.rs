//! Is a ring that is damaged or missing ever passed over? Every bit of every header is flipped, and the source is cut
//! everywhere. With `XHIST_LONG=1` each bit in each of the rings, usually each in one of them.

use qs_core::record::EventKind;
use xhist_report::format::by_name;
use xhist_report::{Layout, Options};

use crate::support::{Dir, Outcome, RingImage, noise, report, report_with};
use crate::words_model::PAGE;

const SIZE: u32 = 4096;
/// A ring and its header.
const STRIDE: usize = PAGE + SIZE as usize;
const RINGS: usize = 4;
/// No process has this id.
const PID: u32 = 1 << 30;

/// A thread that ran statements of file `number + 1`.
fn thread(number: u16, name: &'static str) -> RingImage {
    let ring = RingImage { number, ..RingImage::hosted(SIZE, PID, 77 + u32::from(number), name) };
    let start = 0x5_0000_0000 + 1000 * u64::from(number);
    (0..12).fold(ring, |ring, n| {
        let lines: Vec<_> = (0..20).map(|line| (number + 1, (7 * n + line) % 90)).collect();
        ring.packed(start + 100 * u64::from(n), &lines)
    })
}

/// Four threads: the first one's ring has gone round, the second has a record, the third has ended, the last has
/// only an open frame.
fn threads() -> Vec<RingImage> {
    let open = |ring: RingImage, number| ring.open(0x5_0000_2000, &[(number, 1), (number, 2), (number, 3)]);
    let round = (0..60).fold(thread(0, "main"), |ring, n| {
        ring.packed(0x5_0000_1000 + n, &[(1, 1 + n as u16), (1, 30), (1, 40 + n as u16 % 3)])
    });
    let first = RingImage { rings: RINGS as u16, ..open(round, 1) };
    let second = open(thread(1, "worker").event(EventKind::Panic, 0x5_0000_1900, 0), 2);
    let third = RingImage { status: 2, ..thread(2, "worker") };
    let last = RingImage { number: 3, last_time: 0x5_0000_2000, ..RingImage::hosted(SIZE, PID, 80, "late") };
    vec![first, second, third, open(last, 4)]
}

/// The ring file of these threads.
fn file(rings: &[RingImage]) -> Vec<u8> {
    let mut file = Vec::new();
    for ring in rings {
        file.resize(file.len().next_multiple_of(STRIDE), 0);
        file.extend(ring.build());
    }
    file
}

fn listed(image: &[u8]) -> Outcome {
    let layout = Layout { thread: true, ..Layout::default() };
    report_with(image, &Options { layout, ..Options::default() })
}

fn is_complete(outcome: &Outcome) -> bool {
    outcome.code == 0 && !outcome.notes.contains("lost")
}

/// What no reader can detect: these words have no redundant copy.
fn is_beyond_checking(byte: usize, bit: usize) -> bool {
    let (last_time, open_time, thread_id) = (64..72, 104..112, 124..128);
    // More than the size is a contradiction. Less may be what a recorder was killed in.
    let zeroed = (72, 0)..(73, 4);
    let at_run_time = [(15, 6), (15, 7)];
    at_run_time.contains(&(byte, bit))
        || zeroed.contains(&(byte, bit))
        || [last_time, open_time, thread_id].iter().any(|field| field.contains(&byte))
}

pub(crate) fn is_long() -> bool {
    std::env::var_os("XHIST_LONG").is_some_and(|long| long != "0")
}

#[test]
fn no_flipped_bit_of_a_header_is_passed_over() {
    let image = file(&threads());
    let whole = listed(&image);
    assert!(is_complete(&whole), "{}", whole.notes);
    for ring in 0..RINGS {
        for (byte, bit) in (0..192).flat_map(|byte| (0..8).map(move |bit| (byte, bit))) {
            let is_due = is_long() || (byte + bit) % RINGS == ring;
            if !is_due || is_beyond_checking(byte, bit) {
                continue;
            }
            let mut image = image.clone();
            image[ring * STRIDE + byte] ^= 1 << bit;
            let outcome = listed(&image);
            let is_fine = outcome.code == 1 || outcome.code == 0 && outcome.out == whole.out;
            assert!(is_fine, "ring {ring}, byte {byte}, bit {bit}: {}\n{}", outcome.code, outcome.notes);
            // Magic, mark, facts, sizes and check.
            if byte < 18 || (20..24).contains(&byte) || (36..40).contains(&byte) {
                assert_eq!((outcome.code, &outcome.out), (1, &whole.out), "ring {ring}, byte {byte}");
                let at = format!("at offset 0x{:x}: its header is damaged", ring * STRIDE);
                assert!(outcome.notes.contains(&at), "{}", outcome.notes);
            }
        }
    }
}

/// Index of the flag where the frames of a ring that went round begin.
fn oldest_flag(ring: &[u8]) -> Option<usize> {
    let zeroed = u64::from_ne_bytes(ring[72..80].try_into().expect("eight bytes")) as usize;
    let mut places = zeroed.checked_sub(SIZE as usize)?..zeroed;
    places.find(|at| ring[PAGE + at % SIZE as usize] == 0x7E).map(|at| at % SIZE as usize)
}

#[test]
fn a_single_flipped_bit_of_a_frame_is_never_passed_over() {
    // The open frame has no checksum yet.
    let image =
        file(&threads()[..3].iter().map(|ring| RingImage { open: None, ..ring.clone() }).collect::<Vec<_>>());
    let whole = listed(&image);
    assert_eq!(whole.code, 1, "one of four is not there");
    let mut image = image;
    image[134..136].copy_from_slice(&3u16.to_ne_bytes());
    let whole = listed(&image).out;
    // Without its flag, the rest of an overwritten frame goes on to the end of the next one.
    let oldest_flags: Vec<Option<usize>> = image.chunks(STRIDE).map(oldest_flag).collect();
    let random = noise(8 * if is_long() { 1500 } else { 400 });
    for chunk in random.chunks(8) {
        let random = u64::from_le_bytes(chunk.try_into().expect("eight bytes")) as usize;
        let (ring, byte, bit) = (random % 3, random / 3 % SIZE as usize, random >> 40 & 7);
        if oldest_flags[ring] == Some(byte) {
            continue;
        }
        let mut image = image.clone();
        image[ring * STRIDE + PAGE + byte] ^= 1 << bit;
        let outcome = listed(&image);
        let is_fine = outcome.code == 1 || outcome.code == 0 && outcome.out == whole;
        assert!(is_fine, "ring {ring}, byte {byte}, bit {bit}: {}", outcome.code);
    }
}

#[test]
fn a_source_cut_anywhere_says_what_is_missing() {
    let image = file(&threads());
    let whole = listed(&image).out;
    let near = |at: usize| at.saturating_sub(20)..at + 20;
    let edges =
        (0..RINGS).flat_map(|ring| near(ring * STRIDE).chain(near(ring * STRIDE + PAGE + SIZE as usize)));
    for cut in edges.chain((0..image.len()).step_by(97)).filter(|cut| *cut < image.len()) {
        let outcome = listed(&image[..cut]);
        assert_ne!(outcome.code, 0, "cut to {cut} bytes");
        assert!(outcome.code == 1 || cut < 2 * PAGE, "cut to {cut} bytes: {}", outcome.code);
        assert!(outcome.code == 3 || outcome.notes.contains("lost: "), "{}", outcome.notes);
    }
    let first = listed(&image[..STRIDE]);
    assert!(first.out.len() < whole.len());
    assert!(
        first.notes.contains(
            "process 1073741824 has made 4 rings, and numbers 1, 2 and 3 are not here, so what their threads recorded is missing"
        ),
        "{}",
        first.notes
    );
    let options = Options { format: by_name("json").expect("a format"), ..Options::default() };
    assert!(report_with(&image[..STRIDE], &options).out.contains("\"complete\":false"));
}

#[test]
fn a_gap_in_the_numbers_of_a_process_is_said() {
    let rings = threads();
    let without = |number: usize| -> Vec<RingImage> {
        let some = rings.iter().enumerate().filter(|(index, _)| *index != number);
        // A recorder that does not count.
        some.map(|(_, ring)| RingImage { rings: 0, ..ring.clone() }).collect()
    };
    for number in 0..3 {
        let image: Vec<u8> = without(number).iter().flat_map(RingImage::build).collect();
        let outcome = listed(&image);
        assert_eq!(outcome.code, 1, "without {number}");
        let said = format!("process 1073741824 has made 4 rings, and number {number} is not here");
        assert!(outcome.notes.contains(&said), "{}", outcome.notes);
    }
    // Without the newest ring there is no gap, and no count of the rings.
    assert_eq!(listed(&file(&without(3))).code, 0);
}

#[test]
fn a_ring_that_is_being_made_is_no_gap() {
    let mut rings = threads();
    rings[0].rings = 1;
    let mut image = file(&rings);
    image[2 * STRIDE..3 * STRIDE].fill(0);
    let outcome = listed(&image);
    assert!(is_complete(&outcome), "{}", outcome.notes);
    // Once it was counted, it was made.
    image[134..136].copy_from_slice(&4u16.to_ne_bytes());
    assert_eq!(listed(&image).code, 1);
}

#[test]
fn rings_of_several_processes_and_exports_of_a_part_of_the_life_are_no_gap() {
    let rings = threads();
    let other = RingImage { rings: 1, ..RingImage::hosted(SIZE, 99, 99, "main").timed(5, 1, 1) };
    let early: Vec<_> = [RingImage { rings: 2, ..thread(0, "main") }, thread(1, "worker")].into();
    let image = [early, rings, vec![other]].concat().iter().flat_map(RingImage::build).collect::<Vec<u8>>();
    let outcome = listed(&image);
    assert_eq!(outcome.code, 0, "{}", outcome.notes);
}

#[test]
fn headers_whose_words_contradict_the_frames_are_said() {
    let ring = RingImage { rings: 1, ..thread(0, "main") }.build();
    let past = 3 * u64::from(SIZE);
    for (said, at, word, code) in [
        ("it is empty, and there are frames", 40, 0, 3),
        ("how much is zeroed for what comes", 72, past, 1),
        ("where the history begins", 160, past, 1),
    ] {
        let mut image = ring.clone();
        image[at..at + 8].copy_from_slice(&word.to_ne_bytes());
        let outcome = report(&image);
        assert_eq!(outcome.code, code, "{}", outcome.notes);
        assert!(outcome.notes.contains(said), "{said}: {}", outcome.notes);
    }
}

#[test]
fn what_a_long_record_under_way_has_not_reached_yet_is_shown() {
    let ring = (0..250).fold(RingImage::bare(SIZE), |ring, n| ring.packed(0, &[(1, n), (2, n), (1, 40)]));
    let head = ring.stream.len() % SIZE as usize;
    assert!(ring.stream.len() > SIZE as usize);
    let mut image = ring.build();
    let whole = report(&image).out;
    image[18..20].copy_from_slice(&100u16.to_ne_bytes());
    assert_eq!((report(&image).code, report(&image).out), (0, whole.clone()));
    (head..head + 1500).for_each(|at| image[64 + at % SIZE as usize] = 0xAA);
    let outcome = report(&image);
    assert!(outcome.code == 0 && outcome.out.len() < whole.len(), "{}", outcome.notes);
    image[18..20].copy_from_slice(&0xFFFFu16.to_ne_bytes());
    let outcome = report(&image);
    assert_eq!(outcome.code, 1, "{}", outcome.notes);
    assert!(outcome.notes.contains("how far a long record may reach"), "{}", outcome.notes);
}

#[test]
fn who_follows_a_file_hears_of_damage_at_the_end() {
    let mut image = file(&threads());
    image[2 * STRIDE] ^= 1;
    image.truncate(3 * STRIDE);
    let dir = Dir::new();
    dir.write("ring.xhist", image);
    let outcome = dir.run(&["--follow", "ring.xhist"]);
    assert_eq!(outcome.code, 1, "{}", outcome.notes);
    for said in ["its header is damaged: its magic is damaged", "number 3 is not here"] {
        assert!(outcome.notes.contains(said), "{said}: {}", outcome.notes);
    }
}
