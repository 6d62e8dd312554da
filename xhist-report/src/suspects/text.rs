//! Suspects as text: each function with its score, and below it its statements, each with its rank.

use std::io::{self, Write};

use super::findings::{SuspectFindings, SuspectText, shown_value};
use super::formula::{self, TestTotals};
use super::not_run::NotRun;
use super::rank::Suspect;
use xhist_history::model::{BodyKind, CodeBody, count, visible};

/// Lines of one suspect; the others are counted.
const LINES: usize = 8;
/// Lines of a brief text below its title, of its first suspect, and of each other one.
const BRIEF: usize = 12;
const BRIEF_FIRST: usize = 5;
const BRIEF_OTHER: usize = 2;
/// Lines of a statement over several lines.
const SPAN: u32 = 3;
/// Most lines from the name of a function to the beginning of its body.
const SIGNATURE: u32 = 12;

/// The suspects of a function in a text.
struct FunctionText {
    head: String,
    lines: Vec<String>,
}

impl SuspectFindings<'_> {
    /// Prints the suspects with the reasons, by function. The functions are ordered by their most suspicious statement.
    pub fn text(&self, lines: SuspectText<'_>, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", self.title())?;
        let mut texts: Vec<(u32, FunctionText)> = Vec::new();
        for (rank, suspect) in self.ranking.ranked() {
            let function = self.site(suspect.sites[0]).function;
            let known = texts.iter().position(|(known, _)| *known == function).unwrap_or_else(|| {
                let head = self.function_text(suspect, lines);
                texts.push((function, FunctionText { head, lines: Vec::new() }));
                texts.len() - 1
            });
            texts[known].1.lines.extend(self.suspect_text(rank, suspect, lines));
        }
        for (_, FunctionText { head, lines }) in texts {
            writeln!(out, "{head}")?;
            lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
        }
        if self.ranking.common > 0 {
            let lines = count(self.ranking.common, "line");
            writeln!(out, "left out: {lines} that every test ran")?;
        }
        for not_run in self.not_run() {
            self.not_run_text(&not_run, lines, out)?;
        }
        out.flush()
    }

    /// Prints the first suspects in a few lines, the first at the end: that is what a terminal shows. `hints` come before.
    pub fn brief_text(
        &self,
        hints: &[String],
        lines: SuspectText<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        writeln!(out, "{}, the first one last", self.title())?;
        hints.iter().try_for_each(|hint| writeln!(out, "{hint}"))?;
        // The suspects come last: what is at the end is on the screen.
        if let Some(not_run) = self.not_run().first() {
            self.not_run_text(not_run, lines, out)?;
        }
        let mut texts: Vec<String> = Vec::new();
        for (rank, suspect) in self.ranking.ranked() {
            let most = if rank == 1 { BRIEF_FIRST } else { BRIEF_OTHER }.min(BRIEF - texts.len());
            // One more line takes no more room than its number.
            let most = if suspect.sites.len() == most + 1 { most + 1 } else { most };
            for (index, site) in suspect.sites.iter().take(most).enumerate() {
                texts.push(self.line_text(rank, suspect, (*site, index == 0), lines));
            }
            let more = suspect.sites.len().saturating_sub(most);
            if let (Some(last), 1..) = (texts.last_mut(), more) {
                *last += &format!("  (and {})", count(more, "more line"));
            }
            if texts.len() >= BRIEF {
                break;
            }
        }
        texts.iter().rev().try_for_each(|line| writeln!(out, "{line}"))?;
        out.flush()
    }

    /// The lines that a failed test did not run.
    fn not_run_text(&self, not_run: &NotRun, lines: SuspectText<'_>, out: &mut dyn Write) -> io::Result<()> {
        let name = |test: usize| visible(&self.tests.tests[test].name).into_owned();
        let (failed, passed) = (name(not_run.failed), name(not_run.passed));
        writeln!(out, "ran in the most similar passed test, {passed}, and not in {failed}:")?;
        for number in &not_run.sites {
            let site = self.site(*number);
            let (place, function) = (self.place(site, site.line), self.shown_function(site.function));
            let line = format!("     {place} {function}    {}", lines(*number, site.line));
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    /// The function of its most suspicious statement: name, score, place and signature.
    fn function_text(&self, best: &Suspect, lines: SuspectText<'_>) -> String {
        let site = self.site(best.sites[0]);
        let (name, score) = (self.shown_function(site.function), shown_value(best.evidence.value));
        let path = &self.program.functions[site.function as usize].path;
        let bodies = self.names.code(site.file).map_or(&[][..], |code| &code.bodies);
        let is_its = |body: &&CodeBody| {
            let span = body.span.line..=body.span.end_line;
            body.kind == BodyKind::Function && body.path == *path && span.contains(&site.line)
        };
        let Some(body) = bodies.iter().find(is_its) else {
            return format!("{name} ({score}) {}", visible(self.path(site.file)));
        };
        // The body begins behind the signature, which may have several lines.
        let above = (body.span.line.saturating_sub(SIGNATURE).max(1)..=body.span.line).rev();
        let signature = above.map(|line| (line, lines(best.sites[0], line)));
        let (line, text) = signature
            .into_iter()
            .find(|(_, text)| text.split(|mark: char| !mark.is_alphanumeric()).any(|word| word == "fn"))
            .unwrap_or_else(|| (body.span.line, String::new()));
        format!("{name} ({score}) {}    {text}", self.place(site, line)).trim_end().to_owned()
    }

    /// The lines of one suspect.
    fn suspect_text(&self, rank: usize, suspect: &Suspect, lines: SuspectText<'_>) -> Vec<String> {
        // One more line takes no more room than its number.
        let most = if suspect.sites.len() == LINES + 1 { LINES + 1 } else { LINES };
        let mut text = Vec::new();
        for (index, site) in suspect.sites.iter().take(most).enumerate() {
            self.site_text(rank, suspect, (*site, index == 0), lines, &mut text);
        }
        let more = suspect.sites.len().saturating_sub(most);
        let more = (more > 0).then(|| format!("{more} more lines always run with these"));
        let notes: Vec<String> = self.reason(suspect).into_iter().chain(more).collect();
        if !notes.is_empty() {
            text.push(format!("     {}", notes.join("; ")));
        }
        text
    }

    /// The line of a statement, and its counts if it is the first of the suspect.
    fn line_text(
        &self,
        rank: usize,
        suspect: &Suspect,
        (number, is_first): (u32, bool),
        lines: SuspectText<'_>,
    ) -> String {
        let site = self.site(number);
        let (place, function) = (self.place(site, site.line), self.shown_function(site.function));
        let score = shown_value(suspect.evidence.value);
        let counts = if is_first { self.counts(suspect) } else { String::new() };
        let (source, values) = (lines(number, site.line), self.shown_values(number));
        let line = format!("{rank:>3}. {place} ({score}) {function}{counts}    {source}{values}");
        line.trim_end().to_owned()
    }

    fn site_text(
        &self,
        rank: usize,
        suspect: &Suspect,
        (number, is_first): (u32, bool),
        lines: SuspectText<'_>,
        text: &mut Vec<String>,
    ) {
        text.push(self.line_text(rank, suspect, (number, is_first), lines));
        let (site, source) = (self.site(number), lines(number, self.site(number).line));
        // A condition or a call over several lines.
        if !source.ends_with(['{', ';', ',']) {
            for line in (site.line + 1..=site.end_line).take(SPAN as usize) {
                let source = lines(number, line);
                text.push(format!("     {}        {source}", self.place(site, line)));
                if source.ends_with(['{', ';']) {
                    break;
                }
            }
        }
    }

    /// The numbers of tests, and what the order is made of.
    fn title(&self) -> String {
        let TestTotals { failed, passed } = self.ranking.totals;
        let what = if self.tests.are_crashes { "crashed program" } else { "failed test" };
        let failed = count(failed as usize, what);
        let passed = match passed {
            0 => {
                return format!(
                    "suspects of {failed}; no passed test is recorded: ranked by the order of the history alone"
                );
            }
            passed => count(passed as usize, "passed test"),
        };
        let score = formula::NAME;
        format!("suspects of {failed} and {passed} ({score} score) [failed and passed tests that ran it]")
    }

    /// Why it is a suspect, besides its score.
    fn reason(&self, suspect: &Suspect) -> Option<String> {
        let evidence = &suspect.evidence;
        let is_branch = evidence.branch > evidence.value;
        let tie = format!("{} lines have this score", suspect.tie);
        let reasons = [
            (suspect.tie > suspect.sites.len(), tie.as_str()),
            (evidence.open_in > 0, "its call is open at the failure"),
            (evidence.parts_in > 0, "here the failed test parts from the passed test most like it"),
            (is_branch, "failed tests go another way from here"),
        ];
        let reasons: Vec<&str> = reasons.iter().filter(|(is, _)| *is).map(|(_, reason)| *reason).collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }
}
