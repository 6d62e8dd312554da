//! Suspects as text: a line for each, with its rank.

use std::io::{self, Write};

use super::findings::{SuspectFindings, SuspectText, shown_value};
use super::formula::{self, TestTotals};
use super::not_run::NotRun;
use super::rank::Suspect;
use xhist_history::model::{count, shortened, visible};

/// Suspects of a brief text, of all clusters together, and the fewest of one cluster.
const BRIEF: usize = 6;
const BRIEF_FEWEST: usize = 3;
/// Suspects behind them of which only the places are named, and the characters of a line up to which it names more, of all
/// clusters together.
const BRIEF_PLACES: usize = 20;
const PLACES_WIDTH: usize = 200;
/// Lines of a brief text that did not run.
const BRIEF_NOT_RUN: usize = 3;
/// Characters of a source text in a brief text.
const BRIEF_TEXT: usize = 72;
/// Failed tests of a cluster that are named.
const NAMED_TESTS: usize = 4;
/// Lines of a statement over several lines.
const SPAN: u32 = 3;

/// Prints the suspects with the reasons, cluster by cluster.
pub fn text(clusters: &[SuspectFindings<'_>], lines: SuspectText<'_>, out: &mut dyn Write) -> io::Result<()> {
    for (number, findings) in clusters.iter().enumerate() {
        findings.head(number, clusters.len(), "", out)?;
        for (rank, suspect) in findings.ranking.ranked() {
            findings.suspect_text(rank, suspect, lines, out)?;
        }
        if findings.ranking.common > 0 {
            let lines = count(findings.ranking.common, "line");
            writeln!(out, "left out: {lines} that every test ran, or that initialize statics")?;
        }
        for not_run in findings.not_run() {
            findings.not_run_text(&not_run, lines, out)?;
        }
    }
    out.flush()
}

/// Prints the first suspects in a few lines, the first at the end: that is what a terminal shows. `hints` come before. What did
/// not run is that of `test` if possible.
pub fn brief_text(
    clusters: &[SuspectFindings<'_>],
    test: Option<&str>,
    hints: &[String],
    lines: SuspectText<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let most = (BRIEF / clusters.len().max(1)).max(BRIEF_FEWEST);
    let lines: SuspectText<'_> = &mut |site, line| shortened(&lines(site, line), BRIEF_TEXT);
    // The largest cluster comes last, as the first suspect does: what is at the end is on the screen.
    for (number, findings) in clusters.iter().enumerate().rev() {
        findings.head(number, clusters.len(), ", the first one last", out)?;
        // They name a test of the largest cluster.
        if number == 0 {
            hints.iter().try_for_each(|hint| writeln!(out, "{hint}"))?;
        }
        let mut not_run = findings.not_run();
        let of_test = not_run.iter().position(|of| Some(findings.name(of.failed)) == test);
        if let Some(not_run) = not_run.get_mut(of_test.unwrap_or(0)) {
            not_run.sites.truncate(BRIEF_NOT_RUN);
            findings.not_run_text(not_run, lines, out)?;
        }
        findings.places_text(most, clusters.len().max(1), out)?;
        let ranked: Vec<(usize, &Suspect)> = findings.ranking.ranked().take(most).collect();
        let mut ranked = ranked.into_iter().rev();
        ranked
            .try_for_each(|(rank, suspect)| writeln!(out, "{}", findings.line_text(rank, suspect, lines)))?;
    }
    out.flush()
}

impl SuspectFindings<'_> {
    /// The title of a cluster. With several ones its failed tests are named.
    fn head(&self, number: usize, clusters: usize, order: &str, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}{order}", self.title())?;
        if clusters > 1 {
            let tests = self.failed_tests().map(visible);
            let (first, more) =
                (tests.take(NAMED_TESTS), self.ranking.failed.len().saturating_sub(NAMED_TESTS));
            let mut names = first.collect::<Vec<_>>().join(", ");
            if more > 0 {
                names += &format!(" and {more} more");
            }
            writeln!(out, "they failed in {clusters} ways; this is way {}: {names}", number + 1)?;
        }
        Ok(())
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

    /// The places of the suspects behind the first ones, by file, for one of this number of clusters.
    fn places_text(&self, first: usize, clusters: usize, out: &mut dyn Write) -> io::Result<()> {
        let (fewest, width) = (BRIEF_PLACES / clusters, PLACES_WIDTH / clusters);
        let behind: Vec<u32> = self.ranking.suspects.iter().skip(first).map(|suspect| suspect.site).collect();
        let line = |number: usize| {
            let (last, places) = (first + number, self.places(&behind[..number]));
            match number {
                0 => String::new(),
                1 => format!("{last:>3}. {places}\n"),
                _ => format!("{:>3}-{last}. {places}\n", first + 1),
            }
        };
        let mut shown = line(behind.len().min(fewest));
        let more = (fewest + 1..=behind.len()).map(line).take_while(|line| line.len() <= width);
        shown = more.last().unwrap_or(shown);
        out.write_all(shown.as_bytes())
    }

    /// The places of sites, by file. Neighbours in the text are a range.
    fn places(&self, sites: &[u32]) -> String {
        let mut files: Vec<(u16, Vec<u32>)> = Vec::new();
        for site in sites {
            let file = self.site(*site).file;
            match files.iter_mut().find(|(of, _)| *of == file) {
                Some((_, sites)) => sites.push(*site),
                None => files.push((file, vec![*site])),
            }
        }
        let list = |(file, mut sites): (u16, Vec<u32>)| {
            sites.sort_unstable();
            format!("{}:{}", visible(self.path(file)), ranges(&sites, &|site| self.site(site).line))
        };
        files.into_iter().map(list).collect::<Vec<_>>().join("; ")
    }

    /// A suspect with the reasons.
    fn suspect_text(
        &self,
        rank: usize,
        suspect: &Suspect,
        lines: SuspectText<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        writeln!(out, "{}", self.line_text(rank, suspect, lines))?;
        let site = self.site(suspect.site);
        // A condition or a call over several lines.
        let is_open = |source: &str| !source.ends_with(['{', ';', ',']);
        if is_open(&lines(suspect.site, site.line)) {
            for line in (site.line + 1..=site.end_line).take(SPAN as usize) {
                let source = lines(suspect.site, line);
                writeln!(out, "     {}        {source}", self.place(site, line))?;
                if source.ends_with(['{', ';']) {
                    break;
                }
            }
        }
        self.reason(suspect).map_or(Ok(()), |reason| writeln!(out, "     {reason}"))
    }

    /// The line of a suspect.
    fn line_text(&self, rank: usize, suspect: &Suspect, lines: SuspectText<'_>) -> String {
        let site = self.site(suspect.site);
        let (place, function) = (self.place(site, site.line), self.shown_function(site.function));
        let (score, counts) = (shown_value(suspect.evidence.value), self.counts(suspect));
        let (source, values) = (lines(suspect.site, site.line), self.shown_values(suspect.site));
        let line = format!("{rank:>3}. {place} ({score}) {function}{counts}    {source}{values}");
        line.trim_end().to_owned()
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
        let letters = match self.ranking.suspects.iter().any(|suspect| suspect.mark.is_some()) {
            true => "; lines with one letter always ran together",
            false => "",
        };
        format!(
            "suspects of {failed} and {passed} ({score} score) [failed and passed tests that ran it{letters}]"
        )
    }

    /// Why it is a suspect, besides its score.
    fn reason(&self, suspect: &Suspect) -> Option<String> {
        let evidence = &suspect.evidence;
        let is_branch = evidence.leads_there || evidence.branch > evidence.value;
        let reasons = [
            (evidence.panics_in > 0, "its own operation panicked"),
            (evidence.open_in > evidence.panics_in, "its call is open at the failure"),
            (evidence.returned_in > 0, "it ran last before the call returned to what failed"),
            (evidence.made > 0.0, "it seems to make a value that the failed statement names"),
            (evidence.parts_in > 0, "here the failed test parts from the passed test most like it"),
            (is_branch, "failed tests go another way from here"),
        ];
        let reasons: Vec<&str> = reasons.iter().filter(|(is, _)| *is).map(|(_, reason)| *reason).collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }
}

/// The lines of sites in the order of the text. Neighbours are a range.
fn ranges(sites: &[u32], line: &dyn Fn(u32) -> u32) -> String {
    let ranges = sites.chunk_by(|one, next| one + 1 == *next).map(|range| {
        let [first, last] = [range[0], range[range.len() - 1]].map(line);
        if range.len() == 1 { first.to_string() } else { format!("{first}-{last}") }
    });
    ranges.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_in_the_text_are_a_range() {
        let lines = |sites: &[u32]| ranges(sites, &|site| [3, 4, 9, 10, 17][site as usize]);
        assert_eq!(lines(&[0, 1, 2, 4]), "3-9, 17");
        assert_eq!(lines(&[1, 3]), "4, 10");
        assert_eq!(lines(&[]), "");
    }
}
