//! `--order`: sections that were entered again before they were left, statements that should have followed and did not, and locks that
//! were taken in two orders.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;

use crate::causes::order::{
    Check, Directives, LockOrder, OrderFindings, OrderProgram, Rule, Seen, ThreadOrder,
};
use crate::format::entries::{Evidence, EvidenceLine, Finding, Totals};
use crate::options::Options;
use xhist_history::ExitCode;
use xhist_history::calls::{Handler, ThreadEntry};
use xhist_history::events::context::Context;
use xhist_history::events::{Merged, Step};
use xhist_history::model::{Names, Opening, Place, Ring, count, visible};
use xhist_history::notes::Notes;
use xhist_history::options::selection;
use xhist_history::program::map::Maps;
use xhist_history::program::text::SourceText;
use xhist_history::reading::report::{Report, Summary};

/// Checks the order of statements.
pub struct Order<'o> {
    options: &'o Options,
    text: SourceText,
    /// By the number of the map.
    programs: BTreeMap<usize, Checked>,
    /// By the number of the ring.
    threads: HashMap<usize, (usize, ThreadOrder)>,
    rings: Vec<Ring>,
    number: u64,
}

/// A program, and what was found in it.
struct Checked {
    program: Arc<OrderProgram>,
    ring: Ring,
    locks: LockOrder,
    found: OrderFindings,
}

impl<'o> Order<'o> {
    /// With the rules that the user stated.
    pub fn new(options: &'o Options) -> Order<'o> {
        Order {
            options,
            text: SourceText::new(&options.read),
            programs: BTreeMap::new(),
            threads: HashMap::new(),
            rings: Vec::new(),
            number: 0,
        }
    }

    /// The number of the map of a ring, whose program is known then.
    fn program(&mut self, ring: &Ring, context: &mut Context<'_, '_>) -> usize {
        let (index, names) = context.maps.of(ring);
        if self.programs.contains_key(&index) {
            return index;
        }
        let comments = self.comments(index, names, context.notes);
        let text = &mut self.text;
        let mut ignored = io::sink();
        let quiet = &mut Notes::new(&mut ignored);
        let mut line_text = |file: u16, line: u32| {
            is_own(names, file)
                .then(|| text.line((index, names), file, line, quiet).map(str::to_owned))
                .flatten()
        };
        let program = OrderProgram::new(names, &self.options.rules, &comments, &mut line_text);
        let checked = Checked {
            program: Arc::new(program),
            ring: ring.clone(),
            locks: LockOrder::default(),
            found: OrderFindings::default(),
        };
        self.programs.insert(index, checked);
        index
    }

    /// What the comments of the project's sources say.
    fn comments(&mut self, index: usize, names: &Names, notes: &mut Notes<'_>) -> BTreeMap<u16, Directives> {
        let mut ignored = io::sink();
        let quiet = &mut Notes::new(&mut ignored);
        let mut comments = BTreeMap::new();
        let mut missing = Vec::new();
        for file in names.files().filter(|file| is_own(names, *file)) {
            if self.text.line((index, names), file, 1, quiet).is_none() {
                missing.extend(names.path(file).map(visible));
                continue;
            }
            let mut lines = Vec::new();
            for line in 1.. {
                match self.text.line((index, names), file, line, quiet) {
                    Some(text) => lines.push(text.to_owned()),
                    None => break,
                }
            }
            let directives = Directives::read(lines.iter().map(String::as_str));
            for (line, error) in &directives.errors {
                let path = visible(names.path(file).unwrap_or_default());
                notes.note(format_args!("{path}:{line}: {error}"));
            }
            if directives != Directives::default() {
                comments.insert(file, directives);
            }
        }
        if let Some(first) = missing.first() {
            notes.note(format_args!(
                "{} not here as built, so `// xhist` comments and the names of locks in them are not known (first: {first}); \
                 --source-root DIR looks below DIR",
                match missing.len() {
                    1 => "1 source is".to_owned(),
                    several => format!("{several} sources are"),
                }
            ));
        }
        comments
    }

    fn event(&mut self, ring: &Ring, event: &Merged, context: &mut Context<'_, '_>) {
        let index = self.program(ring, context);
        let Some(Checked { program, locks, found, .. }) = self.programs.get_mut(&index) else { return };
        let thread = self.threads.entry(ring.number);
        let (_, thread) = thread.or_insert_with(|| (index, ThreadOrder::new(program, ring.thread())));
        if !event.gap.is_empty() {
            let text = format_args!("{ring}: {}, after entry {}", event.gap, self.number);
            context.notes.missing(&event.gap, text);
            thread.gap();
        }
        let Some(item) = &event.item else { return };
        if self.options.read.shows(&item.what) && !item.what.is_beside() {
            self.number += 1;
        }
        let entry = ThreadEntry::of(&item.what);
        thread.take(self.number, (Handler::of(item), entry), locks, found);
    }

    /// The finding with its places.
    fn finding(&mut self, ring: &Ring, program: &OrderProgram, check: &(Check, u64), maps: &Maps) -> Finding {
        let (Check { kind, rule, text, certain, pieces, .. }, times) = check;
        let (index, names) = maps.of(ring);
        let mut ignored = io::sink();
        let quiet = &mut Notes::new(&mut ignored);
        let mut line = |seen: &Seen, before: Option<&Seen>| {
            let (file, span) = program.structure.place(seen.id);
            let place = Place { file, line: span.line, path: names.path(file) };
            let left_out = before.map_or(0, |before| seen.place.saturating_sub(before.place + 1));
            EvidenceLine {
                number: seen.number,
                left_out,
                file: visible(place.path.unwrap_or_default()).into_owned(),
                line: place.line,
                function: program.structure.body(program.structure.body_of(seen.id)).name(),
                source: self.text.line((index, names), file, span.line, quiet).map(str::to_owned),
            }
        };
        let evidence = pieces.iter().map(|piece| {
            let before = std::iter::once(None).chain(piece.lines.iter().map(Some));
            let lines = piece.lines.iter().zip(before).map(|(seen, before)| line(seen, before)).collect();
            Evidence { thread: piece.thread.clone(), lines }
        });
        let evidence = evidence.collect();
        let (rule, text) = (visible(rule).into_owned(), text.clone());
        Finding { check: kind, rule, text, certain: *certain, times: *times, evidence }
    }

    /// Checks that each rule names something in the programs.
    fn check_rules(&self, context: &mut Context<'_, '_>) -> Option<ExitCode> {
        let maps: Vec<&Names> = self.programs.values().map(|known| context.maps.of(&known.ring).1).collect();
        let option = |rule: &Rule| match rule {
            Rule::Expect(..) => "--expect",
            Rule::Exclusive(_) => "--exclusive",
        };
        let patterns = self
            .options
            .rules
            .iter()
            .flat_map(|rule| rule.patterns().into_iter().map(move |pattern| (option(rule), pattern)));
        for (option, pattern) in patterns {
            if let Err(error) = selection::known(option, pattern, &maps) {
                context.notes.error(format_args!("{error}"));
                return Some(error.exit_code());
            }
        }
        if !maps.iter().any(|names| names.has_calls()) {
            context.notes.error(format_args!(
                "`order` needs a map that describes the code: it is written since version 3 of maps, and the map here is older or \
                 missing"
            ));
            return Some(ExitCode::Incomplete);
        }
        None
    }

    /// What was checked, and what was open at the end.
    fn report_checks(&self, notes: &mut Notes<'_>) {
        let threads: BTreeMap<usize, _> = self.threads.iter().map(|(ring, thread)| (*ring, thread)).collect();
        let open = threads.values().flat_map(|(index, thread)| {
            let rules = &self.programs[index].program.expected;
            thread.open().map(move |(rule, seen)| (thread, &rules[rule].rule, seen))
        });
        for (thread, rule, seen) in open {
            notes.note(format_args!(
                "{rule}: in thread {} the first ran at entry {}, and the second not before the end",
                thread.name(),
                seen.number
            ));
        }
        let programs = || self.programs.values().map(|known| &known.program);
        let sections = programs().map(|program| program.sections.len()).sum();
        let rules = programs().map(|program| program.expected.len()).sum();
        let locks = programs().map(|program| program.locks()).sum();
        let pairs: usize = self.programs.values().map(|known| known.locks.pairs()).sum();
        notes.note(format_args!(
            "checked {}, {}, and {} that {} a lock ({} of locks)",
            count(sections, "exclusive section"),
            count(rules, "expectation"),
            count(locks, "statement"),
            if locks == 1 { "takes" } else { "take" },
            count(pairs, "pair")
        ));
    }
}

/// Whether a file belongs to the project, not to a dependency.
pub(super) fn is_own(names: &Names, file: u16) -> bool {
    names.path(file).is_some_and(|path| !std::path::Path::new(path).has_root())
}

impl Report for Order<'_> {
    fn start(&mut self, opening: &Opening<'_>, _: &mut Context<'_, '_>) -> io::Result<()> {
        self.rings = opening.rings.to_vec();
        Ok(())
    }

    fn step(&mut self, step: Step<'_>, context: &mut Context<'_, '_>) -> io::Result<()> {
        if let Step::Event(ring, event) = step {
            self.event(ring, event, context);
        }
        Ok(())
    }

    fn finish(&mut self, context: &mut Context<'_, '_>) -> io::Result<Summary> {
        if let Some(code) = self.check_rules(context) {
            return Ok(Summary { code, entries: self.number });
        }
        self.report_checks(context.notes);
        self.text.report_changed(context.notes);
        let mut format = self.options.make_format();
        format.start(&Opening { rings: &self.rings, entries: 0 }, context.out)?;
        let programs = std::mem::take(&mut self.programs);
        for Checked { program, ring, found, .. } in programs.values() {
            for check in found.checks() {
                let finding = self.finding(ring, program, check, context.maps);
                format.finding(&finding, context.out)?;
            }
            if found.more > 0 {
                context.notes.note(format_args!("and {} findings at other places", found.more));
            }
        }
        let mut all = programs.values().flat_map(|known| known.found.checks());
        let is_broken = all.any(|(check, _)| check.certain);
        let complete = context.notes.finish() == ExitCode::Complete;
        format.finish(&Totals { entries: 0, complete }, context.out)?;
        context.out.flush()?;
        // As with a loss: the history is not as it should be.
        let code = if is_broken { ExitCode::Incomplete } else { context.notes.finish() };
        Ok(Summary { code, entries: self.number })
    }
}
