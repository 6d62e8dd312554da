//! Names of statements and bodies for people: file, line, function, source text.

use super::program::ComparedProgram;
use super::shape::StatementId;
use xhist_history::calls::BodyId;
use xhist_history::model::Names;
use xhist_history::notes::Notes;
use xhist_history::program::text::SourceText;

/// Names the statements of a program.
pub struct NamedSites<'n> {
    program: &'n ComparedProgram,
    names: &'n Names,
    text: SourceText,
}

/// A statement, named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedSite<'n> {
    /// Path of its file, printable.
    pub file: &'n str,
    /// Line that it starts in.
    pub line: u32,
    /// Path of its function; empty if not known.
    pub function: String,
    /// Text of the line, if its source was found; of a line with several statements only that of this one.
    pub text: Option<String>,
}

/// Statements of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionLines<'n> {
    /// Path of the function.
    pub function: String,
    /// Path of its file, printable.
    pub file: &'n str,
    /// Its lines, in ranges without a statement of the function between that is not among them.
    pub lines: Vec<(u32, u32)>,
    /// How many statements.
    pub statements: usize,
}

impl<'n> NamedSites<'n> {
    /// With the source texts that may be shown.
    pub fn new(program: &'n ComparedProgram, names: &'n Names, text: SourceText) -> NamedSites<'n> {
        NamedSites { program, names, text }
    }

    /// Names a statement.
    pub fn site(&mut self, site: StatementId, notes: &mut Notes<'_>) -> NamedSite<'n> {
        let (file, span) = self.program.structure.place(site);
        let (line, map) = (span.line, (0, self.names));
        let is_alone = self.names.statements(file).iter().filter(|other| other.line == line).count() < 2;
        let text = match is_alone {
            true => self.text.line(map, file, line, notes),
            false => self.text.part(map, file, span, notes),
        };
        let text = text.map(str::to_owned);
        let function = self.body(self.program.structure.body_of(site));
        NamedSite { file: self.file(file), line, function, text }
    }

    /// Notes which files have changed since the build.
    pub fn report_changed(&mut self, notes: &mut Notes<'_>) {
        self.text.report_changed(notes);
    }

    /// Names a body.
    pub fn body(&self, body: BodyId) -> String {
        self.program.body_name(body)
    }

    /// File and line of a loop.
    pub fn loop_place(&self, number: u32) -> (&'n str, u32) {
        let (file, line) = self.program.loop_place(number);
        (self.file(file), line)
    }

    fn file(&self, file: u16) -> &'n str {
        self.names.place(file, 1).path.unwrap_or("?")
    }

    /// Statements by function, in the order given: the program's own code first, then tests, then dependencies.
    pub fn by_function(&self, sites: &[StatementId]) -> Vec<FunctionLines<'n>> {
        let mut bodies: Vec<BodyId> = Vec::new();
        let mut all: Vec<Vec<StatementId>> = Vec::new();
        let mut places = std::collections::HashMap::new();
        for site in sites {
            let body = self.program.structure.body_of(*site);
            let place = *places.entry(body).or_insert_with(|| {
                bodies.push(body);
                all.push(Vec::new());
                all.len() - 1
            });
            all[place].push(*site);
        }
        let function = |(body, mut sites): (BodyId, Vec<StatementId>)| {
            sites.sort_unstable();
            let mut lines: Vec<(u32, u32)> = Vec::new();
            let mut last = None;
            for site in &sites {
                let line = self.program.place(*site).1;
                match (lines.last_mut(), last) {
                    // Statements are numbered along the text.
                    (Some(range), Some(StatementId(last))) if last + 1 == site.0 || range.1 == line => {
                        range.1 = line
                    }
                    _ => lines.push((line, line)),
                }
                last = Some(*site);
            }
            let file = sites.first().map_or("", |site| self.file(self.program.place(*site).0));
            FunctionLines { function: self.body(body), file, lines, statements: sites.len() }
        };
        let mut groups: Vec<(BodyId, Vec<StatementId>)> = bodies.into_iter().zip(all).collect();
        groups.sort_by_key(|(body, _)| self.program.role_of(*body));
        groups.into_iter().map(function).collect()
    }
}

/// `3-5, 9`.
pub fn ranges(lines: &[(u32, u32)]) -> String {
    let range = |(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    lines.iter().map(range).collect::<Vec<_>>().join(", ")
}
