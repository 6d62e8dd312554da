//! The structure of a program's code in numbers: bodies, statements, loops and branches, ready for quick questions.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use qs_core::record::Statement;

use super::callee::{BodyName, Call, CallKind, CallWords, Implicit, PanicCalls, call, implicit};
pub use crate::model::Jump;
use crate::model::{BodyKind, CallName, FileCode, Names, Span};

/// A statement of the program, in the order of the text within its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatementId(pub u32);

/// A body of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(pub u32);

/// No statement, loop or branch.
pub(super) const NONE: u32 = u32::MAX;

/// A function, a closure or an async block.
#[derive(Clone, Debug)]
pub struct Body {
    /// Path of the function, or of the function around it; printable.
    pub path: String,
    /// What it is.
    pub kind: BodyKind,
    /// File id.
    pub file: u16,
    /// Its place.
    pub span: Span,
    /// The trait that it implements; empty for none.
    pub of_trait: String,
    /// The statement that every activation runs first, and once.
    pub entry: Option<StatementId>,
    /// The statement of another body around its text.
    pub within: Option<StatementId>,
    /// The body around its text.
    pub inside: Option<BodyId>,
    /// Its last statement in the text.
    pub(super) last: Option<StatementId>,
    pub(super) name: BodyName,
    /// How it is called without being named.
    pub(super) implicit: Implicit,
}

impl Body {
    /// The body of statements that are in no function of the text.
    fn without_text(path: &str, file: u16, last: Option<StatementId>, words: &mut CallWords) -> Body {
        Body {
            path: path.to_owned(),
            kind: BodyKind::Function,
            file,
            span: Span { line: 0, col: 0, end_line: 0, end_col: 0 },
            of_trait: String::new(),
            entry: None,
            within: None,
            inside: None,
            last,
            name: BodyName::new(path, "", words),
            implicit: Implicit::Never,
        }
    }

    /// Its name in reports: `f`, `f::{closure}`, `f::{async}`.
    pub fn name(&self) -> String {
        match self.kind {
            BodyKind::Function | BodyKind::AsyncFunction => self.path.clone(),
            BodyKind::Closure | BodyKind::AsyncClosure => format!("{}::{{closure}}", self.path),
            BodyKind::AsyncBlock => format!("{}::{{async}}", self.path),
        }
    }

    /// Whether it is the destructor of a type.
    pub fn is_drop(&self) -> bool {
        self.of_trait == "Drop"
    }

    /// Whether it makes text of a value: a `fmt` of `Display`, `Debug` or another trait.
    pub fn formats(&self) -> bool {
        self.kind == BodyKind::Function && self.path.ends_with("::fmt")
    }
}

/// What is known of a statement.
#[derive(Clone, Debug)]
pub(super) struct Info {
    pub body: BodyId,
    /// File id and place.
    pub file: u16,
    pub span: Span,
    /// The statement around it in the same body.
    pub parent: u32,
    pub in_loop: u32,
    pub in_branch: u32,
    pub calls: Range<u32>,
    pub jump: Option<Jump>,
    pub awaits: bool,
    /// A sum of its text; 0 = not known.
    pub text: u32,
    /// It, or a statement around it, may leave the body early.
    pub may_leave: bool,
    pub is_terminal: bool,
    pub may_end: bool,
    /// It calls code outside the program.
    pub calls_unknown: bool,
    /// It calls a value.
    pub calls_value: bool,
    pub panics: PanicCalls,
    /// It makes a value that has a destructor.
    pub makes: bool,
    /// It is a loop.
    pub is_loop: bool,
    /// It is a `let`.
    pub binds: bool,
}

/// A loop: its statements, without the one that is the loop.
#[derive(Clone, Debug)]
pub(super) struct LoopInfo {
    pub statements: Range<u32>,
    pub parent: u32,
}

/// A branch: the statements that do not follow its own.
#[derive(Clone, Debug)]
pub(super) struct BranchInfo {
    pub excluded: Range<u32>,
    pub parent: u32,
}

/// The structure of a program.
#[derive(Clone, Debug)]
pub struct Structure {
    pub(super) statements: Vec<Info>,
    pub(super) bodies: Vec<Body>,
    pub(super) loops: Vec<LoopInfo>,
    pub(super) branches: Vec<BranchInfo>,
    pub(super) calls: Vec<Call>,
    /// Index is the number of a statement.
    numbers: Vec<u32>,
    /// Statements that start in a line, by file id and recorded line.
    lines: HashMap<(u16, u16), Range<u32>>,
    /// How many different names there are.
    pub(super) words: usize,
    /// Types and traits that bodies belong to.
    pub(super) types: HashSet<u32>,
    /// The names that a body calls anywhere.
    pub(super) called: HashSet<(u32, u32)>,
    /// Types with a destructor in the program.
    dropped: HashSet<u32>,
    /// Derived traits, with the types in fields of deriving types.
    pub(super) derived: HashSet<(u32, u32)>,
    has_calls: bool,
}

fn start(span: &Span) -> (u32, u32) {
    (span.line, span.col)
}

fn end(span: &Span) -> (u32, u32) {
    (span.end_line, span.end_col)
}

impl Structure {
    /// The structure that a map describes.
    pub fn of(names: &Names) -> Structure {
        let mut structure = Structure {
            statements: Vec::new(),
            bodies: Vec::new(),
            loops: Vec::new(),
            branches: Vec::new(),
            calls: Vec::new(),
            numbers: Vec::new(),
            lines: HashMap::new(),
            words: 0,
            types: HashSet::new(),
            called: HashSet::new(),
            dropped: HashSet::new(),
            derived: HashSet::new(),
            has_calls: names.has_calls(),
        };
        let mut words = CallWords::default();
        let calls: Vec<Call> = {
            let parsed = names.call_names().names().iter();
            parsed.map(|name| call(name, false, &mut words)).collect()
        };
        for file in names.files() {
            if let Some(code) = names.code(file) {
                structure.add_file(names, file, code, &calls, &mut words);
                let derived = names.derived(file).map(|(of_trait, of)| (words.add(of_trait), words.add(of)));
                structure.derived.extend(derived);
            }
        }
        structure.add_unknown(&mut words);
        structure.words = words.len();
        structure.resolve();
        structure.find_ends();
        structure
    }

    /// Whether the map says what statements call. Without that, callers are guesses.
    pub fn has_calls(&self) -> bool {
        self.has_calls
    }

    /// The bodies, by their ids.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// A body.
    pub fn body(&self, body: BodyId) -> &Body {
        &self.bodies[body.0 as usize]
    }

    pub(super) fn info(&self, statement: StatementId) -> &Info {
        &self.statements[statement.0 as usize]
    }

    /// The body of a statement.
    pub fn body_of(&self, statement: StatementId) -> BodyId {
        self.info(statement).body
    }

    /// File id and place of a statement. The line of an unknown statement is 0.
    pub fn place(&self, statement: StatementId) -> (u16, Span) {
        let info = self.info(statement);
        (info.file, info.span)
    }

    /// All statements of the map, by their ids.
    pub fn statement_ids(&self) -> impl Iterator<Item = StatementId> {
        (0..self.unknown().0).map(StatementId)
    }

    /// What the statement's own text calls.
    pub fn calls(&self, statement: StatementId) -> &[Call] {
        let calls = &self.info(statement).calls;
        &self.calls[calls.start as usize..calls.end as usize]
    }

    /// What the statement's own text names that has to do with panics.
    pub fn panic_calls(&self, statement: StatementId) -> PanicCalls {
        self.info(statement).panics
    }

    /// A sum of the statement's text, the same in each build; 0 if the map does not know it.
    pub fn text(&self, statement: StatementId) -> u32 {
        self.info(statement).text
    }

    /// Whether a statement has an `.await` of its own body.
    pub fn awaits(&self, statement: StatementId) -> bool {
        self.info(statement).awaits
    }

    /// The statement for what the map does not know.
    pub fn unknown(&self) -> StatementId {
        StatementId(self.statements.len() as u32 - 1)
    }

    /// A recorded statement. In a line with several, the one behind `before`, the newest statement, if that is in the
    /// line; else the first.
    pub fn statement(&self, recorded: Statement, before: Option<StatementId>) -> StatementId {
        if let Some(number) = recorded.number() {
            let found = self.numbers.get(usize::from(number)).filter(|id| **id != NONE);
            return found.map_or(self.unknown(), |id| StatementId(*id));
        }
        let Some(range) = self.lines.get(&(recorded.file, recorded.line)) else { return self.unknown() };
        let behind = before.map(|before| before.0 + 1).filter(|next| range.contains(next));
        StatementId(behind.unwrap_or(range.start))
    }

    fn add_file(&mut self, names: &Names, file: u16, code: &FileCode, calls: &[Call], words: &mut CallWords) {
        let places = names.statements(file);
        let first = self.statements.len() as u32;
        let first_body = self.bodies.len() as u32;
        let mut order: Vec<usize> = (0..places.len().min(code.statements.len())).collect();
        order.sort_by_key(|index| (start(&places[*index]), Reverse(end(&places[*index]))));
        let mut bodies: Vec<_> = code.bodies.iter().collect();
        bodies.sort_by_key(|body| (start(&body.span), Reverse(end(&body.span))));
        for body in bodies {
            self.bodies.push(Body {
                path: body.path.clone(),
                kind: body.kind,
                file,
                span: body.span,
                of_trait: body.of_trait.clone(),
                entry: None,
                within: None,
                inside: None,
                last: None,
                name: BodyName::new(&body.path, &body.of_trait, words),
                implicit: implicit(&body.of_trait, words),
            });
        }
        let mut ids = vec![NONE; places.len()];
        for (position, index) in order.iter().enumerate() {
            ids[*index] = first + position as u32;
            let statement = &code.statements[*index];
            let own = names.call_names().of(&statement.calls);
            let text = |name: &CallName| names.call_names().names().get(name.name as usize);
            let panics = PanicCalls::of(own.iter().filter_map(text).map(AsRef::as_ref));
            let from = self.calls.len() as u32;
            self.calls.extend(own.iter().filter_map(|name| {
                let known = calls.get(name.name as usize)?;
                Some(Call { repeats: known.repeats || name.repeats, ..*known })
            }));
            self.statements.push(Info {
                body: BodyId(NONE),
                file,
                span: places[*index],
                parent: NONE,
                in_loop: NONE,
                in_branch: NONE,
                calls: from..self.calls.len() as u32,
                jump: statement.jump,
                awaits: statement.awaits,
                text: statement.text,
                may_leave: false,
                is_terminal: false,
                may_end: true,
                calls_unknown: false,
                calls_value: false,
                panics,
                makes: false,
                is_loop: false,
                binds: statement.binds,
            });
        }
        self.nest(first, first_body, file, words);
        self.number_equal_texts(first);
        self.add_regions(first, code);
        self.add_places(names, file, &ids);
    }

    /// Makes the sums of equal texts of a body different, by their order.
    fn number_equal_texts(&mut self, first: u32) {
        let mut seen: HashMap<(BodyId, u32), u32> = HashMap::new();
        for statement in &mut self.statements[first as usize..] {
            if statement.text != 0 {
                let before = seen.entry((statement.body, statement.text)).or_default();
                statement.text = statement.text.wrapping_add(before.wrapping_mul(0x9e37_79b9)).max(1);
                *before += 1;
            }
        }
    }

    /// Puts statements and bodies of a file into each other.
    fn nest(&mut self, first: u32, first_body: u32, file: u16, words: &mut CallWords) {
        #[derive(Clone, Copy)]
        enum OpenRegion {
            Body(u32),
            Statement(u32),
        }
        let mut outside = None;
        let mut open: Vec<(OpenRegion, Span)> = Vec::new();
        let (mut body, mut statement) = (first_body, first);
        let (bodies, statements) = (self.bodies.len() as u32, self.statements.len() as u32);
        loop {
            let next_body = (body < bodies).then(|| self.bodies[body as usize].span);
            let next_statement = (statement < statements).then(|| self.statements[statement as usize].span);
            let key = |span: Span| (start(&span), Reverse(end(&span)));
            // A closure without braces is at the place of its statement, and around it.
            let takes_body = match (next_body, next_statement) {
                (None, None) => break,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (Some(body), Some(statement)) => key(body) <= key(statement),
            };
            let Some(span) = (if takes_body { next_body } else { next_statement }) else { break };
            while open.last().is_some_and(|(_, outer)| !outer.contains(&span)) {
                open.pop();
            }
            let outer_body = open.iter().rev().find_map(|(open, _)| match open {
                OpenRegion::Body(body) => Some(*body),
                OpenRegion::Statement(_) => None,
            });
            if takes_body {
                let within = open.last().and_then(|(open, _)| match open {
                    OpenRegion::Statement(id) => Some(StatementId(*id)),
                    OpenRegion::Body(_) => None,
                });
                let known = &mut self.bodies[body as usize];
                (known.within, known.inside) = (within, outer_body.map(BodyId));
                open.push((OpenRegion::Body(body), span));
                body += 1;
                continue;
            }
            let of = outer_body.unwrap_or_else(|| *outside.get_or_insert(NONE));
            let parent = match open.last() {
                Some((OpenRegion::Statement(id), _)) => *id,
                _ => NONE,
            };
            let info = &mut self.statements[statement as usize];
            (info.body, info.parent) = (BodyId(of), parent);
            if of != NONE {
                let known = &mut self.bodies[of as usize];
                known.last = Some(StatementId(statement));
                if parent == NONE {
                    known.entry = known.entry.or(Some(StatementId(statement)));
                }
            }
            open.push((OpenRegion::Statement(statement), span));
            statement += 1;
        }
        if outside.is_some() {
            self.add_outside(first, file, words);
        }
    }

    /// A body for the statements of a file that are in none.
    fn add_outside(&mut self, first: u32, file: u16, words: &mut CallWords) {
        let body = BodyId(self.bodies.len() as u32);
        let mut last = None;
        for (index, info) in self.statements.iter_mut().enumerate().skip(first as usize) {
            if info.body.0 == NONE {
                info.body = body;
                last = Some(StatementId(index as u32));
            }
        }
        self.bodies.push(Body::without_text("(outside functions)", file, last, words));
    }

    /// The loops and branches of a file.
    fn add_regions(&mut self, first: u32, code: &FileCode) {
        let own = |structure: &Structure, from: (u32, u32), to: (u32, u32)| {
            let statements = &structure.statements[first as usize..];
            let start_of = statements.partition_point(|info| start(&info.span) < from) as u32 + first;
            let end_of = statements.partition_point(|info| start(&info.span) < to) as u32 + first;
            start_of..end_of.max(start_of)
        };
        let mut loops = code.loops.clone();
        loops.sort_by_key(|span| (start(span), Reverse(end(span))));
        for span in loops {
            let mut statements = own(self, start(&span), end(&span));
            if let Some(info) =
                self.statements.get_mut(statements.start as usize).filter(|info| info.span.contains(&span))
            {
                info.is_loop = true;
            }
            // Without the statement that is the loop.
            let is_outside = |own: &Span| !span.contains(own) || own.contains(&span);
            while statements.start < statements.end
                && is_outside(&self.statements[statements.start as usize].span)
            {
                statements.start += 1;
            }
            if !statements.is_empty() {
                self.add_loop(statements);
            }
        }
        // Macros of the program may repeat the statements of their arguments.
        for id in first..self.statements.len() as u32 {
            let calls = self.statements[id as usize].calls.clone();
            let calls = &self.calls[calls.start as usize..calls.end as usize];
            if calls.iter().any(|call| call.kind == CallKind::Macro) {
                let span = self.statements[id as usize].span;
                let inner = own(self, start(&span), end(&span));
                let inner = id + 1..inner.end;
                if !inner.is_empty() {
                    self.add_loop(inner);
                }
            }
        }
        let mut branches = code.branches.clone();
        branches.sort_by_key(|(span, _)| (start(span), Reverse(end(span))));
        for (span, past) in branches {
            let statements = own(self, start(&span), end(&span));
            let excluded = own(self, end(&span), past);
            if statements.is_empty() || excluded.is_empty() {
                continue;
            }
            let index = self.branches.len() as u32;
            let parent = self.statements[statements.start as usize].in_branch;
            self.branches.push(BranchInfo { excluded, parent });
            for id in statements {
                self.statements[id as usize].in_branch = index;
            }
        }
    }

    fn add_loop(&mut self, statements: Range<u32>) {
        let index = self.loops.len() as u32;
        let parent = self.statements[statements.start as usize].in_loop;
        for info in &mut self.statements[statements.start as usize..statements.end as usize] {
            info.in_loop = index;
        }
        self.loops.push(LoopInfo { statements, parent });
    }

    /// How the statements of a file are recorded.
    fn add_places(&mut self, names: &Names, file: u16, ids: &[u32]) {
        for (id, statement) in ids.iter().zip(names.described(file)) {
            if let Some(number) = statement.numbered.and_then(|numbered| numbered.number()) {
                let slot = usize::from(number);
                if self.numbers.len() <= slot {
                    self.numbers.resize(slot + 1, NONE);
                }
                self.numbers[slot] = *id;
            }
            let Some(Statement { file, line }) = names.recorded(file, statement.line) else { continue };
            let range = self.lines.entry((file, line)).or_insert(*id..*id + 1);
            *range = range.start.min(*id)..range.end.max(*id + 1);
        }
    }

    /// One more body with one more statement, for what the map does not know.
    fn add_unknown(&mut self, words: &mut CallWords) {
        let (body, id) = (BodyId(self.bodies.len() as u32), self.statements.len() as u32);
        self.statements.push(Info {
            body,
            file: 0,
            span: Span { line: 0, col: 0, end_line: 0, end_col: 0 },
            parent: NONE,
            in_loop: self.loops.len() as u32,
            in_branch: NONE,
            calls: 0..0,
            jump: None,
            awaits: false,
            text: 0,
            may_leave: true,
            is_terminal: false,
            may_end: true,
            calls_unknown: true,
            calls_value: true,
            panics: PanicCalls::default(),
            makes: false,
            is_loop: false,
            binds: false,
        });
        self.loops.push(LoopInfo { statements: id..id + 1, parent: NONE });
        self.bodies.push(Body::without_text("(unknown)", 0, Some(StatementId(id)), words));
    }

    /// Finds out which calls may mean bodies of the program, and what that says about their statements.
    fn resolve(&mut self) {
        let mut by_key: HashMap<u32, Vec<BodyName>> = HashMap::new();
        for body in self.bodies.iter().filter(|body| body.kind.is_named()) {
            by_key.entry(body.name.key).or_default().push(body.name);
            if body.name.of_type {
                self.types.extend(body.name.parent);
                self.types.extend(body.name.of_trait);
            }
        }
        self.dropped =
            self.bodies.iter().filter(|body| body.is_drop()).filter_map(|body| body.name.parent).collect();
        for id in 0..self.statements.len() {
            let makes = self.made(StatementId(id as u32)).next().is_some();
            let info = &self.statements[id];
            let caller = self.name_of_caller(info.body);
            let (mut unknown, mut value, mut leaves) = (info.calls_unknown, info.calls_value, info.may_leave);
            for call in &mut self.calls[info.calls.start as usize..info.calls.end as usize] {
                let bodies = by_key.get(&call.key).map_or(&[][..], Vec::as_slice);
                call.is_known =
                    bodies.iter().any(|body| body.is_meant(*call, caller, |of| self.types.contains(&of)));
                unknown |= call.is_unknown();
                value |= call.kind == CallKind::Value;
                leaves |= matches!(call.kind, CallKind::Question | CallKind::Macro);
                self.called.insert((info.body.0, call.key));
            }
            let info = &mut self.statements[id];
            info.makes = makes;
            (info.calls_unknown, info.calls_value, info.may_leave) = (unknown, value, leaves);
        }
    }

    /// The types with a destructor whose values a statement makes, or whose functions it calls.
    pub(super) fn made(&self, statement: StatementId) -> impl Iterator<Item = u32> + '_ {
        let caller = self.name_of_caller(self.body_of(statement));
        let made = self.calls(statement).iter().filter_map(move |call| match call.kind {
            CallKind::Struct => Some(call.key),
            CallKind::Of(of) => Some(of),
            CallKind::OfSelf => caller.parent,
            _ => None,
        });
        made.filter(|made| self.dropped.contains(made))
    }

    /// The name of the function that a body is or lies in.
    pub(super) fn name_of_caller(&self, body: BodyId) -> BodyName {
        let mut at = body;
        loop {
            let body = &self.bodies[at.0 as usize];
            match body.inside {
                Some(outer) if !body.kind.is_named() && outer.0 < at.0 => at = outer,
                _ => return body.name,
            }
        }
    }
}
