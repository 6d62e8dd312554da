//! What users must know of the rings of a report: damaged, missing, empty, or with records of unusual sizes.

use qs_core::ring::{Causes, Shown};

use super::wrapped::report_wrapped;
use crate::model::{Ring, count};
use crate::notes::Notes;
use crate::options::ReadOptions;
use crate::ring::{self, Findings, Placed, RingSnapshot};

/// Statements that the header of a ring counts as lost.
pub fn report_dropped(ring: &Ring, notes: &mut Notes<'_>) {
    if ring.dropped > 0 {
        let why = if ring.causes.has(Causes::FILE_CLOSED) {
            "the program closed the descriptor of its ring file, so rings of later threads are only in memory"
        } else if ring.causes.has(Causes::NO_CHECK) {
            "a thread recorded more between two checks than its ring has room for"
        } else if ring.core.is_some() {
            "there are more cores than rings; set XHIST_CORES to the number of cores, and build again"
        } else {
            "signal handlers were nested too deep, threads found no room for a ring, or a child was forked unseen"
        };
        notes.loss(format_args!(
            "{ring}: at least {} not recorded: {why}",
            count(ring.dropped as usize, "statement")
        ));
    }
}

/// The history begins where the ring file was emptied.
pub fn report_emptied(chosen: &[&Placed], notes: &mut Notes<'_>) {
    if chosen.iter().any(|placed| placed.header.words.begin.is_some()) {
        notes.note(format_args!(
            "the ring file was emptied while the program ran: the history begins after that, for each thread"
        ));
    }
}

/// Handlers that the recorder does not know record among the statements that they interrupt.
pub fn report_foreign_handlers(chosen: &[&Placed], notes: &mut Notes<'_>) {
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

/// Time stamps of QS records may have another width than those of statements, but the width given may be wrong, too.
pub fn report_width<'p>(
    mut rings: impl Iterator<Item = &'p Placed>,
    options: &ReadOptions,
    notes: &mut Notes<'_>,
) {
    let typed = options.target.sizes.time;
    if let Some(Placed { ring, header, .. }) =
        rings.find(|placed| ![0, typed].contains(&placed.header.time_width))
    {
        notes.note(format_args!(
            "{ring} declares time stamps of {} bytes; QS records and trace events are read with -T{typed}, \
             unless the target declares their width",
            header.time_width
        ));
    }
}

/// What was found besides readable rings. Every program has the bytes of a ring's magic in its code, so these are
/// reported only in an image without a ring.
pub fn report_findings(findings: &Findings, image: &[u8], options: &ReadOptions, notes: &mut Notes<'_>) {
    if findings.rings.is_empty() {
        match image.len() {
            0 => notes.error(format_args!("the source is empty")),
            len => notes.error(format_args!(
                "no xhist ring in {len} bytes; was the program instrumented and built with the feature `trace`, \
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
        report_wrapped(image, options, notes);
        return;
    }
    report_damage(findings, notes);
}

/// What is damaged, missing or left out besides the rings that can be read.
pub fn report_damage(findings: &Findings, notes: &mut Notes<'_>) {
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

/// Whether something of this ring was shown and cleared.
pub fn was_cleared(placed: &Placed) -> bool {
    placed.header.cleared != Shown::default()
}

/// Rings without any entry: an error, unless `is_expected`. What they lost is reported in both cases.
pub fn report_empty(
    chosen: &[&Placed],
    snapshots: &[RingSnapshot<'_>],
    is_expected: bool,
    notes: &mut Notes<'_>,
) {
    let rings = count(chosen.len(), "ring");
    let why = match chosen.iter().any(|placed| was_cleared(placed)) {
        false => "nothing was recorded, or it was overwritten",
        true => "nothing was recorded since what was there was cleared",
    };
    if !is_expected {
        notes.error(format_args!("no entry in the {rings} found: {why}"));
    }
    for (placed, snapshot) in chosen.iter().zip(snapshots) {
        report_dropped(&placed.ring, notes);
        let gap = ring::whole_frames(snapshot, &mut |_| false);
        if !gap.is_empty() {
            notes.missing(&gap, format_args!("{}: {gap}", placed.ring));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_one_by_one_is_counted() {
        let said = |findings: &Findings| {
            let mut out = Vec::new();
            report_damage(findings, &mut Notes::new(&mut out));
            String::from_utf8(out).expect("text").lines().count()
        };
        let mut findings = Findings::default();
        assert_eq!(said(&findings), 0);
        findings.unreadable.more = 1;
        assert_eq!(said(&findings), 1);
        (findings.damaged.more, findings.left_out) = (2, 3);
        assert_eq!(said(&findings), 3);
    }
}
