//! Tells what a running program records as it comes: looks at the ring file again and again. It never writes to the
//! file, and the program knows nothing of it. It must not know how a ring is read.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use qs_core::record::{Numbers, Statement};

use crate::console::Notes;
use crate::decode::{self, Clock, Findings, Live, Records, SharedRecords, Stream};
use crate::exit_code::ExitCode;
use crate::map::Maps;
use crate::model::{Gap, Opening, Ring};
use crate::options::Options;
use crate::session::{outcome, tell_damage, tell_dropped, tell_findings, tell_width};
use crate::telling::Telling;
use crate::{interrupt, order, source, stream};

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// Follows until the program has ended or the user has seen enough.
pub fn run(
    file: &File,
    path: &Path,
    options: &Options,
    out: &mut dyn Write,
    notes: &mut Notes<'_>,
) -> ExitCode {
    let records = Records::new(options.qs.known(), options.format.fields).shared();
    let mut follower = Follower { file, path, lives: Vec::new(), records, scanned: 0 };
    let findings = follower.find();
    if follower.lives.is_empty() {
        match source::Image::of_file(file, &path.display().to_string()) {
            Ok(image) if stream::is_one(&image) => notes.error(format_args!(
                "this is a QS stream without a ring; `tail -c +1 -f FILE | xhist-report --follow -` follows it, \
                 `xhist-report --follow - < FILE` tells it to its end"
            )),
            _ => tell_findings(&findings, follower.scanned, notes),
        }
        return ExitCode::NothingFound;
    }
    tell_width(follower.lives.iter().map(|live| &live.placed), options, notes);
    let rings = follower.rings();
    let maps = match Maps::load(&rings.iter().collect::<Vec<_>>(), options, notes) {
        Ok(maps) => maps,
        Err(code) => return code,
    };
    let mut telling = Telling::new(options, maps, 0);
    let stop = interrupt::requested(|| {});
    let mut format = telling.format();
    let told = follower.tell_all(&mut telling, &mut *format, &stop, out, notes);
    if told.is_ok() && telling.number + telling.left_out == 0 && options.last.is_none() {
        notes.error(format_args!("nothing was recorded"));
        return ExitCode::NothingFound;
    }
    outcome(told, notes)
}

struct Follower<'f> {
    file: &'f File,
    /// Where it was found.
    path: &'f Path,
    lives: Vec<Live>,
    /// Names that records told.
    records: SharedRecords,
    /// Bytes of the file that were searched for rings.
    scanned: usize,
}

impl Follower<'_> {
    fn tell_all(
        &mut self,
        telling: &mut Telling<'_>,
        format: &mut dyn crate::format::Format,
        stop: &AtomicBool,
        out: &mut dyn Write,
        notes: &mut Notes<'_>,
    ) -> io::Result<()> {
        let is_thread = |(index, _): &(usize, &Ring)| !self.is_lane(*index);
        let threads: Vec<Ring> =
            self.rings().iter().enumerate().filter(is_thread).map(|(_, ring)| ring.clone()).collect();
        format.start(&Opening { rings: &threads, entries: 0 }, out)?;
        let (mut is_first, mut is_there) = (true, true);
        loop {
            // A program that executes itself anew, for one, puts its file aside and makes another.
            if is_there && matches!(source::is_at(self.path, self.file), Ok(false)) {
                is_there = false;
                notes.note(format_args!(
                    "{} is another file by now, which is not followed; start a report for it",
                    self.path.display()
                ));
            }
            // Asked before the look, which then sees all that an ended program left.
            let is_last = stop.load(Ordering::Relaxed) || !self.is_alive();
            let known = self.lives.len();
            self.find();
            let rings = self.rings();
            for (index, ring) in rings.iter().enumerate().skip(known) {
                telling.maps.add(ring, telling.options, notes);
                if !self.is_lane(index) {
                    format.ring(ring, out)?;
                }
            }
            self.tell_new(telling, format, (is_first, is_last), out, notes)?;
            out.flush()?;
            if is_last {
                self.lives.iter().for_each(|live| tell_dropped(&live.placed.ring, notes));
                self.tell_damage(notes);
                return telling.finish(format, out, notes);
            }
            is_first = false;
            std::thread::sleep(PAUSE);
        }
    }

    /// Looks at every ring, and tells what is new in all of them by time.
    fn tell_new(
        &mut self,
        telling: &mut Telling<'_>,
        format: &mut dyn crate::format::Format,
        (is_first, is_last): (bool, bool),
        out: &mut dyn Write,
        notes: &mut Notes<'_>,
    ) -> io::Result<()> {
        let file = self.file;
        let read = |offset: usize, bytes: &mut [u8]| source::read_at(file, offset, bytes);
        let mut new: Vec<(usize, Gap)> = Vec::new();
        // Rings that another thread has now.
        let mut given = Vec::new();
        // A lane after the ring that its handlers interrupted, so that their places are known.
        let mut order: Vec<usize> = (0..self.lives.len()).collect();
        order.sort_by_key(|index| self.lives[*index].placed.header.words.level);
        for index in order {
            let live = &mut self.lives[index];
            let owner = (live.placed.ring.tid, live.placed.ring.pid);
            let gap = live.look(&read, is_last);
            // While a program runs, that may be for a moment only.
            if is_last && gap.is_none() {
                notes.loss(format_args!(
                    "{}: it is no longer in the file, so what it got since it was last read is not known",
                    live.placed.ring
                ));
            }
            live.refresh();
            if owner != (live.placed.ring.tid, live.placed.ring.pid) {
                given.push(index);
            }
            new.extend(gap.map(|gap| (index, gap)));
        }
        self.name_threads();
        given.retain(|index| !self.is_lane(*index));
        given.iter().try_for_each(|index| format.ring(&self.lives[*index].placed.ring, out))?;
        let tables: Vec<_> =
            self.lives.iter().map(|live| numbers(&telling.maps, &live.placed.ring)).collect();
        if is_first && let Some(last) = telling.options.last {
            // What is only counted teaches no names.
            let records = self.records.borrow().clone().shared();
            let streams = self.streams(&new, &tables, &records, is_last).into_iter();
            let total: u64 = streams.map(|stream| stream.count(&|what| telling.options.tells(what))).sum();
            telling.skip = total.saturating_sub(last);
        }
        let rings = self.rings();
        let streams = self.streams(&new, &tables, &self.records, is_last);
        let of: Vec<usize> = streams.iter().map(Stream::index).collect();
        let mut merge = decode::merge(streams);
        for merged in merge.by_ref() {
            telling.tell(&rings[of[merged.stream]], &merged, format, out, notes)?;
        }
        let mut done = Vec::new();
        for stream in merge.into_streams() {
            stream.finish(&mut |index, place, clock, entries| done.push((index, place, clock, entries)));
        }
        for (index, place, clock, entries) in done {
            self.lives[index].go_on(place, clock, entries);
        }
        // What comes after the first look is new, however few entries there were.
        telling.skip = 0;
        Ok(())
    }

    /// What is new in these rings, behind a gap, and in the rings that lanes among them belong to.
    fn streams<'s>(
        &'s self,
        new: &[(usize, Gap)],
        tables: &'s [Arc<[Option<Statement>]>],
        records: &SharedRecords,
        is_last: bool,
    ) -> Vec<Stream<'s>> {
        let mut gaps: BTreeMap<usize, Gap> = new.iter().cloned().collect();
        let placed: Vec<_> = self.lives.iter().map(|live| &live.placed).collect();
        let parents = order::parents(&placed);
        for (index, _) in new {
            let mut ring = *index;
            while let Some(parent) = parents[ring] {
                gaps.entry(parent).or_default();
                ring = parent;
            }
        }
        // A lane in which nothing is new has no part in it.
        let parents: Vec<_> = parents
            .iter()
            .enumerate()
            .map(|(ring, parent)| parent.filter(|_| gaps.contains_key(&ring)))
            .collect();
        let view = |ring: usize| self.lives[ring].view().with_numbers(Numbers::new(&tables[ring]));
        let stream = &|ring: usize| {
            let view = view(ring);
            let clock = self.lives[ring]
                .clock
                .unwrap_or_else(|| Clock::starting_at(decode::survey(&view).first_time));
            Stream::new(ring, &view, clock, gaps[&ring].clone(), records)
        };
        let limit = &|ring: usize| if is_last { u64::MAX } else { view(ring).frontier() };
        let threads = gaps.keys().filter(|ring| parents[**ring].is_none());
        threads.map(|ring| order::with_lanes(*ring, &parents, stream, limit)).collect()
    }

    /// Looks for rings where none were looked for yet.
    fn find(&mut self) -> Findings {
        let len = self.file.metadata().map_or(0, |metadata| metadata.len() as usize);
        let mut findings = Findings::default();
        // A file grows before the new ring in it has a header.
        let known = self.lives.last().map(|live| &live.placed);
        let end =
            known.map_or(0, |placed| placed.ring.offset + placed.header.header_len + placed.header.size);
        if len > end
            && let Ok(image) = source::Image::of_file(self.file, &self.path.display().to_string())
        {
            let unscanned = end..image.len();
            findings = decode::find(&image, Some(&[unscanned]), &mut |_| {});
            self.scanned = image.len();
            for mut placed in std::mem::take(&mut findings.rings) {
                placed.ring.number = self.lives.len() + 1;
                let present = image.len() - placed.ring.offset;
                self.lives.push(Live::new(placed, present));
            }
            self.name_threads();
        }
        findings
    }

    /// What is damaged or missing in the file by now. While threads come and go, that would be said too early.
    fn tell_damage(&self, notes: &mut Notes<'_>) {
        let Ok(image) = source::Image::of_file(self.file, &self.path.display().to_string()) else { return };
        let mut findings = decode::find(&image, None, &mut |_| {});
        decode::check(&mut findings, &image, &source::is_running);
        tell_damage(&findings, notes);
    }

    fn name_threads(&mut self) {
        order::name_threads(self.lives.iter_mut().map(|live| &mut live.placed));
    }

    fn rings(&self) -> Vec<Ring> {
        let placed: Vec<_> = self.lives.iter().map(|live| &live.placed).collect();
        order::described(&placed, &[(0..placed.len()).collect()])
    }

    /// Whether a ring belongs to a thread that has another one.
    fn is_lane(&self, ring: usize) -> bool {
        let placed = &self.lives[ring].placed;
        self.lives.iter().any(|other| order::is_lane_of(placed, &other.placed))
    }

    /// Whether more may come.
    fn is_alive(&self) -> bool {
        self.lives.iter().any(|live| {
            let ring = &live.placed.ring;
            !matches!(ring.status, "ended" | "exited") && source::is_running(ring.pid)
        })
    }
}

/// The statements of a ring's build by number.
fn numbers(maps: &Maps, ring: &Ring) -> Arc<[Option<Statement>]> {
    Arc::clone(maps.of(ring).1.numbers())
}
