//! Tells what a running program records as it comes: looks at the ring file again and again. It never writes to the
//! file, and the program knows nothing of it. It must not know how a ring is read.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

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
        format.start(&Opening { rings: &self.rings(), entries: 0 }, out)?;
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
            for ring in &rings[known..] {
                telling.maps.add(ring, telling.options, notes);
                format.ring(ring, out)?;
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
        for (index, live) in self.lives.iter_mut().enumerate() {
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
        given.iter().try_for_each(|index| format.ring(&self.lives[*index].placed.ring, out))?;
        if is_first && let Some(last) = telling.options.last {
            // What is only counted teaches no names.
            let records = self.records.borrow().clone().shared();
            let streams = self.streams(&new, &records).into_iter();
            let total: u64 = streams.map(|stream| stream.count(&|what| telling.options.tells(what))).sum();
            telling.skip = total.saturating_sub(last);
        }
        let rings = self.rings();
        let mut merge = decode::merge(self.streams(&new, &self.records));
        for merged in merge.by_ref() {
            telling.tell(&rings[new[merged.stream].0], &merged, format, out, notes)?;
        }
        let done: Vec<_> = merge.into_streams().iter().map(Stream::finish).collect();
        for ((index, _), (place, clock, entries)) in new.into_iter().zip(done) {
            self.lives[index].go_on(place, clock, entries);
        }
        // What comes after the first look is new, however few entries there were.
        telling.skip = 0;
        Ok(())
    }

    /// What is new in these rings, behind a gap.
    fn streams(&self, new: &[(usize, Gap)], records: &SharedRecords) -> Vec<Stream<'_>> {
        let streams = new.iter().map(|(index, gap)| {
            let live = &self.lives[*index];
            let view = live.view();
            let clock = live.clock.unwrap_or_else(|| Clock::starting_at(decode::survey(&view).first_time));
            Stream::new(&view, clock, gap.clone(), records)
        });
        streams.collect()
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

    /// Whether more may come.
    fn is_alive(&self) -> bool {
        self.lives.iter().any(|live| {
            let ring = &live.placed.ring;
            !matches!(ring.status, "ended" | "exited") && source::is_running(ring.pid)
        })
    }
}
