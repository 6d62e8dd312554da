//! The loop: find rings, survey them, have their entries told.
//! It must not know how a source is opened or how a format looks.

use std::io::{self, ErrorKind, Write};
use std::path::Path;

use byteorder::{ByteOrder as _, NativeEndian};
use qs_core::record::Numbers;
use qs_core::ring::{CLEARED_OFFSET, Shown};

use crate::console::{Notes, Progress};
use crate::cover;
use crate::decode::{self, Clock, Findings, Live, Placed, Records, SharedRecords, Stream, Survey, View};
use crate::exit_code::ExitCode;
use crate::format::About;
use crate::hot;
use crate::identify;
use crate::map::Maps;
use crate::model::{Gap, Opening, Ring, count};
use crate::options::Options;
use crate::order;
use crate::qspy;
use crate::source;
use crate::stream;
use crate::telling::Telling;

/// Looks at a ring that is being written, until most of it was read before it was overwritten.
const LOOKS: usize = 8;

/// Reports on an image: entries to `out`, everything else to `notes`.
pub fn run(image: &[u8], options: &Options, out: &mut dyn Write, notes: &mut Notes<'_>) -> ExitCode {
    let findings = find(image, options);
    if options.format.about == About::Coverage {
        tell_damage(&findings, notes);
        let rings: Vec<&Placed> = findings.rings.iter().collect();
        let lives = lives(&rings, image, options);
        return match cover::run(image, &views(&rings, &lives, image), options, out, notes) {
            ExitCode::NothingFound => {
                tell_findings(&findings, image.len(), notes);
                ExitCode::NothingFound
            }
            code => code,
        };
    }
    if findings.rings.is_empty() {
        match (options.about_rings(), options.format.about) {
            (Some(option), _) if stream::is_one(image) => {
                notes.error(format_args!("{option} is about rings, and this is a QS stream without a ring"));
                return ExitCode::NothingFound;
            }
            (None, About::Stream) => return qspy::print(image, &options.qs, out, notes),
            (None, About::Entries) if stream::is_one(image) => {
                return stream::run(image, options, out, notes);
            }
            _ => {}
        }
    }
    tell_findings(&findings, image.len(), notes);
    let Some(chosen) = choose(&findings.rings, image, options, notes) else {
        return if findings.rings.is_empty() { ExitCode::NothingFound } else { ExitCode::Usage };
    };
    if options.identify {
        let rings: Vec<Ring> = chosen.iter().map(|placed| placed.ring.clone()).collect();
        return identify::run(&rings, options, out, notes);
    }
    tell_width(chosen.iter().copied(), options, notes);
    let lives = lives(&chosen, image, options);
    let views = views(&chosen, &lives, image);
    if options.format.about == About::Stream {
        return qspy::print_rings(&chosen, &views, &options.qs, out, notes);
    }
    // Only who reads a listing wants to see again what ran again.
    let longest = if options.layout.terminal { 0 } else { options.format.writes_out };
    let mut listed: Vec<View<'_>> = views.iter().map(|view| view.writing_out(longest)).collect();
    let surveys: Vec<Survey> = listed.iter().map(decode::survey).collect();
    if surveys.iter().all(|survey| survey.frames == 0) {
        tell_empty(&chosen, &views, notes);
        return ExitCode::NothingFound;
    }
    chosen.iter().for_each(|placed| tell_dropped(&placed.ring, notes));
    tell_foreign_handlers(&chosen, notes);
    if options.hot {
        let rings: Vec<Ring> = chosen.iter().map(|placed| placed.ring.clone()).collect();
        return hot::run(&rings, &views, options, out, notes);
    }
    let rings: Vec<&Ring> = chosen.iter().map(|placed| &placed.ring).collect();
    let maps = match Maps::load(&rings, options, notes) {
        Ok(maps) => maps,
        Err(code) => return code,
    };
    let tables: Vec<_> = rings.iter().map(|ring| std::sync::Arc::clone(maps.of(ring).1.numbers())).collect();
    for (view, table) in listed.iter_mut().zip(&tables) {
        *view = view.with_numbers(Numbers::new(table));
    }
    let total = match options.chooses() {
        true => told(&chosen, &listed, &surveys, options),
        false if options.shows_marks() => surveys.iter().map(|survey| survey.entries).sum(),
        false => surveys.iter().map(|survey| survey.entries - survey.marks).sum(),
    };
    let shown = options.last.map_or(total, |last| last.min(total));
    let mut telling = Telling::new(options, maps, total - shown);
    let written = write(&mut telling, &chosen, &listed, &surveys, shown, out, notes);
    if let (Ok(()), Some(path)) = (&written, &options.clear) {
        clear(path, &chosen, &surveys, notes);
    }
    outcome(written, notes)
}

/// The rings that running programs write, as they are now.
fn lives(chosen: &[&Placed], image: &[u8], options: &Options) -> Vec<Option<Live>> {
    chosen.iter().map(|placed| live(placed, image, options)).collect()
}

fn views<'a>(chosen: &[&Placed], lives: &'a [Option<Live>], image: &'a [u8]) -> Vec<View<'a>> {
    let view = |(placed, live): (&&Placed, &'a Option<Live>)| {
        live.as_ref().map_or_else(|| View::whole(placed, image), Live::view)
    };
    chosen.iter().zip(lives).map(view).collect()
}

/// The ring as it is now, when a running program writes it.
fn live(placed: &Placed, image: &[u8], options: &Options) -> Option<Live> {
    let file = options.live.as_ref()?;
    if !source::is_running(placed.ring.pid) {
        return None;
    }
    let mut live = Live::new(placed.clone(), image.len() - placed.ring.offset);
    // A program that writes faster than this process may read it leaves little; mostly the next look does better.
    for _ in 0..LOOKS {
        live.look(&|offset, bytes| source::read_at(file, offset, bytes), true)?;
        if live.is_mostly_read() {
            break;
        }
    }
    Some(live)
}

/// A loss that the ring's header tells of.
pub fn tell_dropped(ring: &Ring, notes: &mut Notes<'_>) {
    if ring.dropped > 0 {
        notes.loss(format_args!(
            "{ring}: at least {} not recorded: signal handlers were nested too deep, \
             threads found no room for a ring, or a child was forked unseen",
            count(ring.dropped as usize, "statement")
        ));
    }
}

/// Handlers that the recorder does not know write among the statements that they interrupt.
fn tell_foreign_handlers(chosen: &[&Placed], notes: &mut Notes<'_>) {
    let signals = chosen.iter().fold(0, |signals, placed| signals | placed.header.words.foreign_handlers);
    let signals: Vec<String> = (1..=64)
        .filter(|signal| signals >> (signal - 1) & 1 == 1)
        .map(|signal: u32| signal.to_string())
        .collect();
    if !signals.is_empty() {
        notes.note(format_args!(
            "handlers of signal {} were not installed through the C library, so they have no place of their own: where one \
             came, the order of its statements and of those that it interrupted is not certain, and some may be missing",
            signals.join(", ")
        ));
    }
}

/// Time stamps of QS records may have another width than those of statements, but whoever types it may be mistaken.
pub fn tell_width<'p>(mut rings: impl Iterator<Item = &'p Placed>, options: &Options, notes: &mut Notes<'_>) {
    let typed = options.qs.target.sizes.time;
    if let Some(Placed { ring, header, .. }) =
        rings.find(|placed| ![0, typed].contains(&placed.header.time_width))
    {
        notes.note(format_args!(
            "{ring} tells time stamps of {} bytes; QS records and trace events are read with -T{typed} all the same, \
             unless the target tells their width",
            header.time_width
        ));
    }
}

fn write(
    telling: &mut Telling<'_>,
    chosen: &[&Placed],
    views: &[View<'_>],
    surveys: &[Survey],
    shown: u64,
    out: &mut dyn Write,
    notes: &mut Notes<'_>,
) -> io::Result<()> {
    let mut format = telling.format();
    let groups = order::groups(chosen, surveys);
    let rings = order::described(chosen, &groups);
    let parents = order::parents(chosen);
    let threads = rings.iter().zip(&parents).filter(|(_, parent)| parent.is_none());
    let threads: Vec<Ring> = threads.map(|(ring, _)| ring.clone()).collect();
    format.start(&Opening { rings: &threads, entries: shown }, out)?;
    order::tell_groups(&groups, &rings, notes);
    for group in groups {
        for merged in decode::merge(streams(&group, &parents, views, surveys, telling.options)) {
            telling.tell(&rings[group[merged.stream]], &merged, &mut *format, out, notes)?;
        }
    }
    telling.finish(&mut *format, out, notes)
}

/// How many entries are told, when not all of them are: only a walk that knows what each is can count those.
fn told(chosen: &[&Placed], views: &[View<'_>], surveys: &[Survey], options: &Options) -> u64 {
    let (groups, parents) = (order::groups(chosen, surveys), order::parents(chosen));
    let streams = groups.iter().flat_map(|group| streams(group, &parents, views, surveys, options));
    streams.map(|stream| stream.count(&|what| options.tells(what))).sum()
}

/// The rings of a process, to be read, each with its lanes.
fn streams<'v>(
    group: &[usize],
    parents: &[Option<usize>],
    views: &[View<'v>],
    surveys: &[Survey],
    options: &Options,
) -> Vec<Stream<'v>> {
    let of_group = (0..views.len()).filter(|ring| group.contains(&order::root(*ring, parents)));
    let records = named(of_group.map(|ring| (&views[ring], &surveys[ring])), options);
    let clock = |ring: usize| Clock::starting_at(surveys[ring].first_time);
    let stream = &|ring: usize| Stream::new(ring, &views[ring], clock(ring), Gap::default(), &records);
    group.iter().map(|ring| order::with_lanes(*ring, parents, stream, &|_| u64::MAX)).collect()
}

/// What the records of a process tell of names, whichever of its threads told it, and when.
fn named<'v, 's: 'v>(
    rings: impl Iterator<Item = (&'v View<'s>, &'v Survey)>,
    options: &Options,
) -> SharedRecords {
    let mut records = Records::new(options.qs.known(), options.format.fields);
    for (view, _) in rings.filter(|(_, survey)| survey.records > 0) {
        decode::whole_frames(view, &mut |frame| {
            records.learn(frame);
            true
        });
    }
    records.rewound(options.qs.known()).shared()
}

/// Marks what was shown in the file, so that it is not shown again.
fn clear(path: &Path, chosen: &[&Placed], surveys: &[Survey], notes: &mut Notes<'_>) {
    for (placed, survey) in chosen.iter().zip(surveys) {
        let header = &placed.header;
        if header.is_bare() {
            notes
                .note(format_args!("{} has no room to mark what was shown; it was not cleared", placed.ring));
            continue;
        }
        let mut bytes = [0; 16];
        for (word, bytes) in survey.shown.words().into_iter().zip(bytes.chunks_exact_mut(8)) {
            NativeEndian::write_u64(bytes, if header.swapped { word.swap_bytes() } else { word });
        }
        if let Err(error) = source::write_at(path, placed.ring.offset + CLEARED_OFFSET, &bytes) {
            notes.incomplete();
            notes.error(format_args!("cannot clear {}: {error}", path.display()));
            return;
        }
    }
}

/// What a report that was written so far means.
pub fn outcome(written: io::Result<()>, notes: &mut Notes<'_>) -> ExitCode {
    match written {
        Ok(()) => notes.finish(),
        // Whoever reads has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::Complete,
        Err(error) => {
            notes.error(format_args!("cannot write the report: {error}"));
            ExitCode::Incomplete
        }
    }
}

fn find(image: &[u8], options: &Options) -> Findings {
    let mut progress = Progress::new(image.len(), options.progress);
    let mut findings = decode::find(image, options.data.as_deref(), &mut |done| progress.at(done));
    findings.rings.iter_mut().for_each(|placed| placed.ring.origin.clone_from(&options.origin));
    order::name_threads(findings.rings.iter_mut());
    decode::check(&mut findings, image, &|pid| options.live.is_some() && source::is_running(pid));
    findings
}

/// Bytes like a ring's magic stand in every program text, so they are told only when nothing else was found.
pub fn tell_findings(findings: &Findings, image_len: usize, notes: &mut Notes<'_>) {
    if findings.rings.is_empty() {
        match image_len {
            0 => notes.error(format_args!("the source is empty")),
            _ => notes.error(format_args!(
                "no xhist ring in {image_len} bytes; was the program instrumented and built with the feature `trace`, \
                 and is its RAM in the dump?"
            )),
        }
        for few in [&findings.unreadable, &findings.doubtful] {
            for bad in &few.first {
                notes.note(format_args!("not a ring at offset 0x{:x}: {}", bad.offset, bad.error));
            }
            if few.more > 0 {
                notes.note(format_args!("and {} more places that start like a ring", few.more));
            }
        }
        return;
    }
    tell_damage(findings, notes);
}

/// What is damaged, missing or left out beside the rings that can be read.
pub fn tell_damage(findings: &Findings, notes: &mut Notes<'_>) {
    for bad in &findings.unreadable.first {
        notes.loss(format_args!("ring at offset 0x{:x} not readable: {}", bad.offset, bad.error));
    }
    if findings.unreadable.more > 0 {
        notes.loss(format_args!("{} not readable", count(findings.unreadable.more, "more ring")));
    }
    findings.damaged.first.iter().for_each(|what| notes.loss(format_args!("{what}")));
    if findings.damaged.more > 0 {
        notes.loss(format_args!("{} damaged or missing", count(findings.damaged.more, "more thing")));
    }
    if findings.left_out > 0 {
        let left_out = count(findings.left_out, "ring");
        notes.loss(format_args!("{left_out} left out: too many, or overlapping each other"));
    }
}

/// The rings to report on; `None` when there are none.
fn choose<'a>(
    rings: &'a [Placed],
    image: &[u8],
    options: &Options,
    notes: &mut Notes<'_>,
) -> Option<Vec<&'a Placed>> {
    match options.ring {
        None => (!rings.is_empty()).then(|| without_copies(rings, image, notes)),
        Some(_) if rings.is_empty() => None,
        Some(number) => {
            let ring = number.checked_sub(1).and_then(|index| rings.get(index));
            if ring.is_none() {
                let has = if rings.len() == 1 {
                    "ring 1 only".into()
                } else {
                    format!("rings 1 to {}", rings.len())
                };
                notes.error(format_args!("there is no ring {number}; this source has {has}"));
            }
            ring.map(|ring| with_lanes(ring, rings))
        }
    }
}

/// A ring, and the lanes of the handlers that interrupted its code.
fn with_lanes<'a>(ring: &'a Placed, rings: &'a [Placed]) -> Vec<&'a Placed> {
    let mut chosen = vec![ring];
    let mut next = 0;
    while let Some(parent) = chosen.get(next).copied() {
        chosen.extend(rings.iter().filter(|other| order::is_lane_of(other, parent)));
        next += 1;
    }
    chosen
}

/// Several exports of one ring would tell everything twice.
fn without_copies<'a>(rings: &'a [Placed], image: &[u8], notes: &mut Notes<'_>) -> Vec<&'a Placed> {
    let copies = decode::copies(rings, image);
    if let Some((earlier, later)) = copies.first_key_value() {
        let (earlier, later) = (&rings[*earlier].ring, &rings[*later].ring);
        notes.note(format_args!(
            "{} left out (first: {earlier} of {later}); --ring {} shows it",
            if copies.len() == 1 {
                "1 ring is an earlier copy of another and".to_owned()
            } else {
                format!("{} rings are earlier copies of others and", copies.len())
            },
            earlier.number
        ));
    }
    rings
        .iter()
        .enumerate()
        .filter(|(index, _)| !copies.contains_key(index))
        .map(|(_, placed)| placed)
        .collect()
}

fn tell_empty(chosen: &[&Placed], views: &[View<'_>], notes: &mut Notes<'_>) {
    let rings = count(chosen.len(), "ring");
    let why = match chosen.iter().all(|placed| placed.header.cleared == Shown::default()) {
        true => "nothing was recorded, or it was overwritten",
        false => "nothing was recorded since what was there was cleared",
    };
    notes.error(format_args!("no entry in the {rings} found: {why}"));
    for (placed, view) in chosen.iter().zip(views) {
        tell_dropped(&placed.ring, notes);
        let gap = decode::whole_frames(view, &mut |_| false);
        if !gap.is_empty() {
            notes.loss(format_args!("{}: {gap}", placed.ring));
        }
    }
    notes.finish();
}
