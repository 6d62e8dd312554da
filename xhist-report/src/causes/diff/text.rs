//! The answer as text: for each pair of threads the first places where they part, then what only one side ran.

use std::io::{self, Write};

use super::align::{Level, Next, Parting, Side, Then};
use super::compare::{Comparison, OnlyRan, ThreadPair};
use super::named::{NamedSite, NamedSites, ranges};
use super::shape::{HistoryEnd, OUTSIDE, Repeater, StatementId};
use super::values::ValueDifference;
use xhist_history::model::count;
use xhist_history::notes::Notes;

/// Places where a pair of threads parts.
const PARTINGS: usize = 3;
/// Bodies of a call stack that are shown, the innermost ones.
const LEVELS: usize = 12;
/// Widest columns.
const PLACE: usize = 40;
const TEXT: usize = 60;
/// Functions that are listed as run by one side only.
const FUNCTIONS: usize = 40;
/// Statements with other counts that are listed.
const COUNTS: usize = 100;

/// Writes an answer.
pub struct TextWriter<'w, 'n, 'o> {
    /// Names statements.
    pub named: &'w mut NamedSites<'n>,
    /// Where it goes.
    pub out: &'w mut dyn Write,
    /// For sources that are missing.
    pub notes: &'w mut Notes<'o>,
    /// Also how often statements ran.
    pub counts: bool,
    /// All functions that only one side ran.
    pub all: bool,
}

impl TextWriter<'_, '_, '_> {
    /// Writes the whole answer.
    ///
    /// # Errors
    /// Those of the output.
    pub fn write(&mut self, comparison: &Comparison) -> io::Result<()> {
        let several = comparison.threads.len() + comparison.alone.len() > 1;
        for pair in &comparison.threads {
            self.partings(pair, several)?;
            if pair.is_apart {
                writeln!(self.out, "thread {}: no common point\n", thread_name(pair))?;
            }
        }
        // One pair without a difference needs no name.
        let same: Vec<String> = comparison
            .threads
            .iter()
            .filter(|pair| pair.partings.is_empty() && !pair.is_apart)
            .map(thread_name)
            .collect();
        if !same.is_empty() && several {
            let (threads, verb) = if same.len() == 1 { ("thread", "takes") } else { ("threads", "take") };
            writeln!(self.out, "{threads} {}: {verb} the same way in both\n", same.join(", "))?;
        }
        for (side, name) in &comparison.alone {
            writeln!(self.out, "only {} has thread {name}", side.name())?;
        }
        if !comparison.alone.is_empty() {
            writeln!(self.out)?;
        }
        self.values(&comparison.values)?;
        if comparison.is_same() {
            let is_cut = comparison.threads.iter().any(|pair| pair.cut.0 || pair.cut.1);
            let from = if is_cut { ", from the first common point on" } else { "" };
            let no_difference = match comparison.values.is_empty() {
                true => format!("no difference{from}: "),
                false => String::new(),
            };
            writeln!(self.out, "{no_difference}control flow is the same, apart from how often loops ran")?;
        } else {
            self.only(Side::Bad, &comparison.only_bad)?;
            self.only(Side::Good, &comparison.only_good)?;
        }
        self.uncertain(comparison)?;
        self.other_readings(comparison)?;
        self.other_counts(comparison)
    }

    /// The first values that differ.
    fn values(&mut self, values: &[ValueDifference]) -> io::Result<()> {
        let mut threads = None;
        for ValueDifference { threads: of, good, bad, count } in values {
            if threads.replace(of) != Some(of) {
                let name = if of.0 == of.1 { of.0.clone() } else { format!("{} / {}", of.0, of.1) };
                writeln!(self.out, "values of thread {name} differ first here:")?;
            }
            let place = match &good.path {
                Some(path) => format!("{path}:{}", good.line),
                None => "?".to_owned(),
            };
            let which = if *count > 1 { format!(", value {count} of this place") } else { String::new() };
            writeln!(self.out, "  {place}  {}  in {}{which}", good.name, good.function)?;
            writeln!(self.out, "    GOOD  {}", good.text)?;
            writeln!(self.out, "    BAD   {}", bad.text)?;
        }
        if !values.is_empty() {
            writeln!(self.out)?;
        }
        Ok(())
    }

    /// The first places where a pair parts.
    fn partings(&mut self, pair: &ThreadPair, several: bool) -> io::Result<()> {
        let shown = if self.all { pair.partings.len() } else { PARTINGS };
        for (place, parting) in pair.partings.iter().take(shown).enumerate() {
            match several || pair.names.0 != pair.names.1 {
                _ if place > 0 => writeln!(self.out, "and here:")?,
                true => writeln!(self.out, "thread {} parts here:", thread_name(pair))?,
                false => writeln!(self.out, "control flow parts here:")?,
            }
            self.parting(parting)?;
        }
        if pair.partings.len() > shown {
            let more = count(pair.partings.len() - shown, "more place");
            writeln!(self.out, "and at {more}: --all lists them\n")?;
        }
        Ok(())
    }

    fn parting(&mut self, parting: &Parting) -> io::Result<()> {
        let mut rows = Vec::new();
        let (callers, last) = match parting.stack.split_last() {
            Some((last, callers)) => (callers, Some(*last)),
            None => (&[][..], None),
        };
        match last {
            Some(Level { at: Some(site), .. }) => rows.push(self.site("both", site)),
            Some(Level { body, .. }) => {
                rows.push(TextRow::text("both", format!("enter {}", self.named.body(body))))
            }
            None => rows.push(TextRow::text("both", "start".to_owned())),
        }
        self.next("GOOD", &parting.good, &mut rows);
        self.next("BAD", &parting.bad, &mut rows);
        for (place, level) in callers.iter().rev().take(LEVELS).enumerate() {
            let label = match (place, parting.other_callers) {
                (0, false) => "called by",
                (0, true) => "BAD called by",
                _ => "",
            };
            rows.push(match level.at {
                Some(site) => self.site(label, site),
                None => TextRow::text(label, self.named.body(level.body)),
            });
        }
        if callers.len() > LEVELS {
            rows.push(TextRow::text("", format!("and {}", count(callers.len() - LEVELS, "more call"))));
        }
        self.rows(&rows)?;
        self.round(parting)?;
        writeln!(self.out)
    }

    /// Lines with columns of one width.
    fn rows(&mut self, rows: &[TextRow]) -> io::Result<()> {
        let width =
            |of: &dyn Fn(&TextRow) -> usize, most: usize| rows.iter().map(of).max().unwrap_or(0).min(most);
        let label = width(&|row| row.label.len(), PLACE);
        let place = width(&|row| if row.function.is_empty() { 0 } else { row.place.chars().count() }, PLACE);
        let text = width(&|row| row.text.chars().count(), TEXT);
        for row in rows {
            let line = match row.function.as_str() {
                "" => format!("  {:label$}  {}", row.label, row.place),
                function => {
                    format!("  {:label$}  {:place$}  {:text$}  {function}", row.label, row.place, row.text)
                }
            };
            writeln!(self.out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    /// What is special about a difference in repeated code.
    fn round(&mut self, parting: &Parting) -> io::Result<()> {
        let (one, other) = (parting.round_of.name(), parting.round_of.other().name());
        match parting.within {
            Some(Repeater::Loop(number)) => {
                let (file, line) = self.named.loop_place(number);
                writeln!(
                    self.out,
                    "  No iteration of {other} in the loop at {file}:{line} goes the way of this one of {one}."
                )
            }
            Some(Repeater::Calls(Some(site))) => {
                let NamedSite { file, line, .. } = self.named.site(site, self.notes);
                writeln!(
                    self.out,
                    "  No call of {other} from {file}:{line} goes the way of this one of {one}."
                )
            }
            Some(Repeater::Calls(None)) | None => Ok(()),
        }
    }

    fn next(&mut self, label: &'static str, next: &Next, rows: &mut Vec<TextRow>) {
        let mut label = label;
        for site in &next.sites {
            rows.push(self.site(label, *site));
            label = "";
        }
        if let Some(then) = next.then {
            rows.push(TextRow::text(label, self.then(then)));
        }
    }

    fn then(&mut self, then: Then) -> String {
        match then {
            Then::Leaves(OUTSIDE) | Then::EndsThread => "the thread calls nothing more".to_owned(),
            Then::Leaves(body) => format!("returns from {}", self.named.body(body)),
            Then::EndsRound(number) => {
                let (file, line) = self.named.loop_place(number);
                format!("ends the iteration of the loop at {file}:{line}")
            }
            Then::CallsNoMore(_) => "the statement calls nothing more".to_owned(),
            Then::Ends(HistoryEnd::Panic) => "panics".to_owned(),
            Then::Ends(HistoryEnd::Signal(signal)) => format!("gets signal {signal}"),
            Then::Ends(HistoryEnd::Cut) => {
                "the history ends: the program was killed, or it is still running".to_owned()
            }
        }
    }

    fn site(&mut self, label: &'static str, site: StatementId) -> TextRow {
        let NamedSite { file, line, function, text } = self.named.site(site, self.notes);
        TextRow { label, place: format!("{file}:{line}"), text: text.unwrap_or_default(), function }
    }

    fn only(&mut self, side: Side, only: &OnlyRan) -> io::Result<()> {
        if only.certain.is_empty() {
            return writeln!(self.out, "only {} ran: nothing", side.name());
        }
        let (before, after) = only.certain.split_at(only.after_panic.unwrap_or(only.certain.len()));
        if !before.is_empty() {
            writeln!(self.out, "only {} ran: {}", side.name(), count(before.len(), "statement"))?;
            let functions = self.named.by_function(before);
            let shown = if self.all { functions.len() } else { FUNCTIONS };
            for function in functions.iter().take(shown) {
                let place = format!("{}:{}", function.file, ranges(&function.lines));
                writeln!(self.out, "  {place:<30} {}", function.function)?;
            }
            if functions.len() > shown {
                writeln!(
                    self.out,
                    "  and {}: --all lists them",
                    count(functions.len() - shown, "more function")
                )?;
            }
        }
        if !after.is_empty() {
            writeln!(
                self.out,
                "only {} ran, after its panic (destructors, hooks): {}",
                side.name(),
                count(after.len(), "statement")
            )?;
        }
        Ok(())
    }

    /// What may have been overwritten.
    fn uncertain(&mut self, comparison: &Comparison) -> io::Result<()> {
        for (side, only) in [(Side::Good, &comparison.only_good), (Side::Bad, &comparison.only_bad)] {
            if !only.uncertain.is_empty() {
                writeln!(
                    self.out,
                    "{} of {}: {} may have run them before its history begins",
                    count(only.uncertain.len(), "more statement"),
                    side.name(),
                    side.other().name()
                )?;
            }
        }
        Ok(())
    }

    /// Where the call stack is a guess, an alignment may be wrong.
    fn other_readings(&mut self, comparison: &Comparison) -> io::Result<()> {
        let all = |of: &dyn Fn(&ThreadPair) -> u64| comparison.threads.iter().map(of).sum::<u64>();
        let (good, bad) = (all(&|pair| pair.uncertain.0), all(&|pair| pair.uncertain.1));
        if good + bad > 0 {
            writeln!(
                self.out,
                "statements that may have another caller: {good} of GOOD, {bad} of BAD; what they are part of may be aligned wrongly"
            )?;
        }
        Ok(())
    }

    fn other_counts(&mut self, comparison: &Comparison) -> io::Result<()> {
        let counts = &comparison.counts;
        if counts.is_empty() {
            return Ok(());
        }
        if !self.counts {
            return writeln!(
                self.out,
                "{} not as often in both: --counts lists them",
                count(counts.len(), "statement")
            );
        }
        writeln!(self.out, "not as often in both:  GOOD  BAD")?;
        let shown = if self.all { counts.len() } else { COUNTS };
        for (site, good, bad) in counts.iter().take(shown) {
            let NamedSite { file, line, function, .. } = self.named.site(*site, self.notes);
            let place = format!("{file}:{line}");
            writeln!(self.out, "  {place:<24} {good:>10} {bad:>10}  {function}")?;
        }
        if counts.len() > shown {
            writeln!(self.out, "  and {}: --all lists them", count(counts.len() - shown, "more statement"))?;
        }
        Ok(())
    }
}

/// A line with columns. Without a function, its place is a sentence.
struct TextRow {
    label: &'static str,
    place: String,
    text: String,
    function: String,
}

impl TextRow {
    fn text(label: &'static str, text: String) -> TextRow {
        TextRow { label, place: text, text: String::new(), function: String::new() }
    }
}

/// The name of both, or `good / bad`.
fn thread_name(pair: &ThreadPair) -> String {
    let (good, bad) = &pair.names;
    if good == bad { good.clone() } else { format!("{good} / {bad}") }
}
