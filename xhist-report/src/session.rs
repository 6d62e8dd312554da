//! The loop: find rings, survey them, name and number their entries, hand them to a format.
//! It must not know how a source is opened or how a format looks.

use std::io::{self, ErrorKind, Write};

use crate::console::{Notes, Progress};
use crate::decode::{self, Findings, Placed, Stream, Survey};
use crate::exit_code::ExitCode;
use crate::format::Format;
use crate::identify;
use crate::map::Maps;
use crate::model::{Entry, Gap, Item, Opening, Repetition, Ring, Subject, Totals, What};
use crate::options::Options;
use crate::order;
use crate::source_text::SourceText;

/// Reports on an image: entries to `out`, everything else to `notes`.
pub fn run(image: &[u8], options: &Options, out: &mut dyn Write, notes: &mut Notes<'_>) -> ExitCode {
    let findings = find(image, options);
    tell_findings(&findings, image.len(), notes);
    let Some(chosen) = choose(&findings.rings, image, options, notes) else {
        return if findings.rings.is_empty() { ExitCode::NothingFound } else { ExitCode::Usage };
    };
    if options.identify {
        let rings: Vec<Ring> = chosen.iter().map(|placed| placed.ring.clone()).collect();
        return identify::run(&rings, options, out, notes);
    }
    let surveys: Vec<Survey> = chosen.iter().map(|placed| decode::survey(placed, image)).collect();
    if surveys.iter().all(|survey| survey.frames == 0) {
        tell_empty(&chosen, image, notes);
        return ExitCode::NothingFound;
    }
    for ring in chosen.iter().map(|placed| &placed.ring).filter(|ring| ring.dropped > 0) {
        let plural = if ring.dropped == 1 { "" } else { "s" };
        notes.loss(format_args!(
            "{ring}: {} statement{plural} not recorded: signal handlers were nested too deep",
            ring.dropped
        ));
    }
    let rings: Vec<&Ring> = chosen.iter().map(|placed| &placed.ring).collect();
    let maps = match Maps::load(&rings, &options.maps, notes) {
        Ok(maps) => maps,
        Err(code) => return code,
    };
    let total: u64 = surveys.iter().map(|survey| survey.entries).sum();
    let shown = options.last.map_or(total, |last| last.min(total));
    let mut report = Report {
        options,
        maps,
        text: SourceText::new(options.written),
        skip: total - shown,
        number: 0,
        uncertain: 0,
        again: None,
    };
    let written = report.write(image, &chosen, &surveys, shown, out, notes);
    outcome(written, notes)
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
    decode::find(image, options.data.as_deref(), &mut |done| progress.at(done))
}

/// Bytes like a ring's magic stand in every program text, so they are told only when nothing else was found.
fn tell_findings(findings: &Findings, image_len: usize, notes: &mut Notes<'_>) {
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
    for bad in &findings.unreadable.first {
        notes.loss(format_args!("ring at offset 0x{:x} not readable: {}", bad.offset, bad.error));
    }
    if findings.unreadable.more > 0 {
        notes.loss(format_args!("{} more rings not readable", findings.unreadable.more));
    }
    if findings.left_out > 0 {
        notes.loss(format_args!("{} rings left out: too many, or overlapping each other", findings.left_out));
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
                notes.error(format_args!(
                    "there is no ring {number}; this source has rings 1 to {}",
                    rings.len()
                ));
            }
            ring.map(|ring| vec![ring])
        }
    }
}

/// Several exports of one ring would tell everything twice.
fn without_copies<'a>(rings: &'a [Placed], image: &[u8], notes: &mut Notes<'_>) -> Vec<&'a Placed> {
    let copies = decode::copies(rings, image);
    if let Some((earlier, later)) = copies.first_key_value() {
        let (earlier, later) = (&rings[*earlier].ring, &rings[*later].ring);
        notes.note(format_args!(
            "{} rings are earlier copies of others and left out (first: {earlier} of {later}); --ring {} shows it",
            copies.len(),
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

fn tell_empty(chosen: &[&Placed], image: &[u8], notes: &mut Notes<'_>) {
    let plural = if chosen.len() == 1 { "ring" } else { "rings" };
    notes.error(format_args!(
        "no entry in the {} {plural} found: nothing was recorded, or it was overwritten",
        chosen.len()
    ));
    for placed in chosen {
        let (gap, _) = Stream::new(placed, image, None).next();
        if !gap.is_empty() {
            notes.loss(format_args!("{}: {gap}", placed.ring));
        }
    }
    notes.finish();
}

struct Report<'o> {
    options: &'o Options,
    maps: Maps,
    text: SourceText,
    /// Entries to pass over before the first one shown.
    skip: u64,
    number: u64,
    /// Entries shown whose order is not certain.
    uncertain: u64,
    /// The repetition that is being told.
    again: Option<Repetition>,
}

impl Report<'_> {
    fn write(
        &mut self,
        image: &[u8],
        chosen: &[&Placed],
        surveys: &[Survey],
        shown: u64,
        out: &mut dyn Write,
        notes: &mut Notes<'_>,
    ) -> io::Result<()> {
        let mut format = (self.options.format.make)(self.options.layout);
        let groups = order::groups(chosen, surveys);
        let rings = order::described(chosen, &groups);
        format.start(&Opening { rings: &rings, entries: shown }, out)?;
        order::tell_groups(&groups, &rings, notes);
        for group in groups {
            let streams = group
                .iter()
                .map(|&ring| Stream::new(chosen[ring], image, surveys[ring].first_time))
                .collect();
            for merged in decode::merge(streams) {
                let ring = &rings[group[merged.stream]];
                if !merged.gap.is_empty() {
                    self.tell_gap(ring, &merged.gap, merged.item.is_some(), notes);
                    if self.skip == 0 {
                        format.gap(ring, &merged.gap, out)?;
                    }
                }
                let Some(item) = &merged.item else { continue };
                let is_again = matches!(item.what, What::Again(_));
                match is_again {
                    // It is about entries that are not shown.
                    true if self.number == 0 => {}
                    false if self.skip > 0 => self.skip -= 1,
                    _ => {
                        self.number += u64::from(!is_again);
                        self.uncertain += u64::from(merged.uncertain);
                        let mut entry = self.entry(ring, item, notes);
                        entry.uncertain = merged.uncertain;
                        format.entry(&entry, out)?;
                    }
                }
            }
        }
        self.tell_order(&*format, notes);
        let complete = notes.finish() == ExitCode::Complete;
        format.finish(&Totals { entries: self.number, complete }, out)?;
        out.flush()
    }

    fn entry<'a>(&'a mut self, ring: &'a Ring, item: &'a Item, notes: &mut Notes<'_>) -> Entry<'a> {
        let subject = match &item.what {
            What::Statement { file, line } => {
                let (map, names) = self.maps.of(ring);
                let place = names.place(*file, *line);
                let text = match self.options.layout.source {
                    true => self.text.line((map, names), *file, place.line, notes),
                    false => None,
                };
                Subject::Statement(place, text)
            }
            What::Again(again) => Subject::Again(self.again.insert(self.maps.of(ring).1.repetition(again))),
            What::Panic(record) => Subject::Panic(record),
            What::Signal(signal, record) => Subject::Signal(*signal, record),
            What::Record(record) => Subject::Record(record),
        };
        Entry { number: self.number, ring, time: item.time, uncertain: false, subject }
    }

    fn tell_order(&self, format: &dyn Format, notes: &mut Notes<'_>) {
        if self.uncertain > 0 && format.marks_order() {
            notes.note(format_args!(
                "{} of {} entries are marked as of uncertain order: between the time stamps around them another thread's \
                 clock ticked, so they may have run elsewhere among its entries. Those without a mark stand in their \
                 true order",
                self.uncertain, self.number
            ));
        }
    }

    fn tell_gap(&self, ring: &Ring, gap: &Gap, has_entry: bool, notes: &mut Notes<'_>) {
        match (self.skip, has_entry) {
            (1.., _) => notes.loss(format_args!("{ring}: {gap}, before the entries shown")),
            (0, true) => notes.loss(format_args!("{ring}: {gap}, before entry {}", self.number + 1)),
            (0, false) => notes.loss(format_args!("{ring}: {gap}, after entry {}", self.number)),
        }
    }
}
