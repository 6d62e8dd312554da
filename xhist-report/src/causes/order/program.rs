//! The rules of order in the words of one program: which statements begin and end a section, which a rule marks.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::directives::Directives;
use super::lock_text::LockUse;
use super::rule::Rule;
use xhist_history::calls::{Body, BodyId, StatementId, Structure};
use xhist_history::model::{BodyKind, Names};
use xhist_history::options::selection::{Pattern, Selection};

/// Statements of one body that must not be entered again before they are left.
#[derive(Clone, Debug)]
pub struct Section {
    /// The rule, as the user wrote it.
    pub rule: String,
    pub body: BodyId,
    /// Its first statement.
    pub entry: StatementId,
    /// Its last statement that is not inside another one of it.
    pub last: StatementId,
    first_line: u32,
    last_line: u32,
}

/// A rule `A..B`.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// The rule, as the user wrote it.
    pub rule: String,
}

/// Which side of a rule `A..B` a statement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionSide {
    First,
    Then,
}

/// The checks of one program.
#[derive(Debug)]
pub struct OrderProgram {
    pub structure: Arc<Structure>,
    pub sections: Vec<Section>,
    pub expected: Vec<Expectation>,
    /// The sections that begin with a statement.
    entries: HashMap<StatementId, Vec<usize>>,
    /// The rules that a statement is a side of.
    marks: HashMap<StatementId, Vec<(usize, SectionSide)>>,
    /// What statements do with locks.
    locks: HashMap<StatementId, LockUse>,
}

/// The text of a line of a file.
pub type LineText<'t> = &'t mut dyn FnMut(u16, u32) -> Option<String>;

impl OrderProgram {
    /// Of a map, with the rules that the user stated and those in comments of its sources, by file id. The text of the sources names
    /// the locks.
    pub fn new(
        names: &Names,
        rules: &[Rule],
        comments: &BTreeMap<u16, Directives>,
        text: LineText<'_>,
    ) -> OrderProgram {
        let structure = Arc::new(Structure::of(names));
        let (entries, marks) = (HashMap::new(), HashMap::new());
        let (sections, expected, locks) = (Vec::new(), Vec::new(), HashMap::new());
        let mut program = OrderProgram { structure, sections, expected, entries, marks, locks };
        program.add_locks(&lock_calls(names), text);
        let of_comments =
            comments.values().flat_map(|directives| directives.rules.iter().map(|(_, rule)| rule));
        for rule in rules.iter().chain(of_comments) {
            program.add_rule(rule, names);
        }
        for (file, directives) in comments {
            for (from, to) in &directives.exclusive {
                let path = names.path(*file).unwrap_or_default();
                let in_lines = |body: &Body| body.file == *file;
                program.add_sections(&format!("exclusive {path}:{from}-{to}"), (from + 1, to - 1), &in_lines);
            }
        }
        for (index, section) in program.sections.iter().enumerate() {
            program.entries.entry(section.entry).or_default().push(index);
        }
        program
    }

    fn add_rule(&mut self, rule: &Rule, names: &Names) {
        match rule {
            Rule::Exclusive(pattern) => {
                let bodies = matching(pattern, names);
                let lines = pattern.lines().unwrap_or((0, u32::MAX));
                let text = rule.to_string();
                match pattern.lines() {
                    Some(_) => self.add_sections(&text, lines, &|body| bodies(body, lines.0)),
                    None => self.add_sections(&text, lines, &|body| {
                        body.kind != BodyKind::Closure && bodies(body, body.span.line)
                    }),
                }
            }
            Rule::Expect(first, then) => {
                let index = self.expected.len();
                self.expected.push(Expectation { rule: rule.to_string() });
                for (pattern, side) in [(then, SectionSide::Then), (first, SectionSide::First)] {
                    for id in self.marked(pattern, names) {
                        self.marks.entry(id).or_default().push((index, side));
                    }
                }
            }
        }
    }

    /// A section in each of these bodies that has statements in these lines.
    fn add_sections(&mut self, rule: &str, (from, to): (u32, u32), wanted: &dyn Fn(&Body) -> bool) {
        let mut of_body: BTreeMap<BodyId, (StatementId, StatementId)> = BTreeMap::new();
        for id in self.statements() {
            let body = self.structure.body_of(id);
            let line = self.structure.place(id).1.line;
            if !(from..=to).contains(&line) || !wanted(self.structure.body(body)) {
                continue;
            }
            let (_, last) = of_body.entry(body).or_insert((id, id));
            if !self.structure.is_within(id, *last) {
                *last = id;
            }
        }
        for (body, (entry, last)) in of_body {
            // A single statement cannot be seen to be left.
            if entry != last {
                let (first_line, last_line) = (from, to);
                self.sections.push(Section {
                    rule: rule.to_owned(),
                    body,
                    entry,
                    last,
                    first_line,
                    last_line,
                });
            }
        }
    }

    /// The statements that a pattern of a rule `A..B` means: with lines, the first one there of each body; else the first one of
    /// each function that matches.
    fn marked(&self, pattern: &Pattern, names: &Names) -> Vec<StatementId> {
        let bodies = matching(pattern, names);
        let Some((from, to)) = pattern.lines() else {
            let is_function =
                |body: &&Body| matches!(body.kind, BodyKind::Function | BodyKind::AsyncFunction);
            let wanted = self.structure.bodies().iter().filter(is_function);
            return wanted
                .filter(|body| bodies(body, body.span.line))
                .filter_map(|body| body.entry)
                .collect();
        };
        let mut of_body: BTreeMap<BodyId, StatementId> = BTreeMap::new();
        for id in self.statements() {
            let line = self.structure.place(id).1.line;
            let body = self.structure.body_of(id);
            if (from..=to).contains(&line) && bodies(self.structure.body(body), line) {
                of_body.entry(body).or_insert(id);
            }
        }
        of_body.into_values().collect()
    }

    /// All statements of the map.
    fn statements(&self) -> impl Iterator<Item = StatementId> + use<> {
        (0..self.structure.unknown().0).map(StatementId)
    }

    /// The sections that begin with a statement.
    pub fn entered(&self, id: StatementId) -> &[usize] {
        self.entries.get(&id).map_or(&[], Vec::as_slice)
    }

    /// The rules `A..B` that a statement is a side of.
    pub fn marks(&self, id: StatementId) -> &[(usize, SectionSide)] {
        self.marks.get(&id).map_or(&[], Vec::as_slice)
    }

    /// Whether a statement is in a section.
    pub fn is_in(&self, section: &Section, id: StatementId) -> bool {
        let line = self.structure.place(id).1.line;
        self.structure.body_of(id) == section.body && (section.first_line..=section.last_line).contains(&line)
    }

    /// Reads what statements do with locks.
    fn add_locks(&mut self, calls: &HashSet<(u16, u32, u32)>, text: LineText<'_>) {
        for id in self.statements() {
            let (file, span) = self.structure.place(id);
            if !calls.contains(&(file, span.line, span.col)) {
                continue;
            }
            let last = span.end_line.min(span.line.saturating_add(MAX_LINES));
            let lines: Vec<String> = (span.line..=last).filter_map(|line| text(file, line)).collect();
            let function = &self.structure.body(self.structure.body_of(id)).path;
            let used = LockUse::of(&lines.join(" "), function);
            if !used.is_empty() {
                self.locks.insert(id, used);
            }
        }
    }

    /// What a statement does with locks, if anything.
    pub fn lock_use(&self, id: StatementId) -> Option<&LockUse> {
        self.locks.get(&id)
    }

    /// How many statements take a lock that has a name.
    pub fn locks(&self) -> usize {
        self.locks.values().filter(|used| !used.taken.is_empty()).count()
    }
}

/// Longest statement whose text is read.
const MAX_LINES: u32 = 12;

/// Whether a body with a statement in this line matches a pattern.
fn matching(pattern: &Pattern, names: &Names) -> impl Fn(&Body, u32) -> bool + use<> {
    let selection = Selection { only: vec![pattern.clone()], ..Selection::default() };
    let takes = selection.takes_function(names);
    move |body, line| takes(body.file, &body.path, line)
}

/// Calls that take a lock and wait for it, and the one that releases a guard.
const LOCKS: [&str; 4] = [".lock", ".read", ".write", "drop"];

/// The places of statements whose text calls one of [`LOCKS`].
fn lock_calls(names: &Names) -> HashSet<(u16, u32, u32)> {
    let mut found = HashSet::new();
    for file in names.files() {
        let Some(code) = names.code(file) else { continue };
        for (span, statement) in names.statements(file).iter().zip(&code.statements) {
            let mut calls = names.call_names().of(&statement.calls).iter();
            let all = names.call_names().names();
            let is_lock = |name: &str| LOCKS.contains(&name.rsplit("::").next().unwrap_or(name));
            if calls.any(|call| is_lock(&all[call.name as usize])) {
                found.insert((file, span.line, span.col));
            }
        }
    }
    found
}
