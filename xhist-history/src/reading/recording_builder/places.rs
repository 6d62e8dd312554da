//! The places of a recording: gives each file, function and statement of the maps one number.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use super::from_map::text_from_map;
use crate::calls::{BodyId, StatementId, Structure};
use crate::model::Names;
use crate::notes::Notes;
use crate::options::ReadOptions;
use crate::program::text::SourceText;
use crate::recording::{FunctionId, RecordedFile, RecordedFunction, RecordedSite, Recording, SiteId};

/// Directory of cargo that holds the sources of dependencies.
const REGISTRY: &str = "/registry/src/";

/// Numbers of places, by map.
pub struct Places {
    /// `None` if texts are not wanted.
    text: Option<SourceText>,
    files: HashMap<(usize, u16), u32>,
    functions: HashMap<(usize, BodyId), FunctionId>,
    sites: HashMap<(usize, StatementId), SiteId>,
    /// Statements that no structure knows, by file id and line.
    others: HashMap<(usize, u16, u32), SiteId>,
}

impl Places {
    /// With the sources that these options allow.
    pub fn new(options: &ReadOptions) -> Places {
        Places {
            text: options.shows_sources.then(|| SourceText::new(options)),
            files: HashMap::new(),
            functions: HashMap::new(),
            sites: HashMap::new(),
            others: HashMap::new(),
        }
    }

    /// Notes which files have changed since the build.
    pub fn report_changed(&mut self, notes: &mut Notes<'_>) {
        if let Some(sources) = &mut self.text {
            sources.report_changed(notes);
        }
    }

    /// The number of a file.
    pub fn file(
        &mut self,
        recording: &mut Recording,
        (map, names): (usize, &Names),
        file: u16,
        notes: &mut Notes<'_>,
    ) -> u32 {
        if let Some(number) = self.files.get(&(map, file)) {
            return *number;
        }
        let shown = names.shown_path(file).map_or_else(|| format!("file#{file}"), str::to_owned);
        let path = names.path(file).unwrap_or_default();
        let (mut found, mut text, mut is_from_map, mut lines) = (None, None, false, Arc::default());
        if let Some(sources) = &mut self.text {
            text = sources.whole((map, names), file, notes).map(Into::into);
            is_from_map = text.is_none();
            text = text.or_else(|| text_from_map(names, file).map(Into::into));
            (found, lines) = (sources.file(map, file), lines_of(names, file));
        }
        recording.files.push(RecordedFile {
            is_dependency: shown.contains(REGISTRY),
            path: shown,
            found,
            built: Path::new(&names.root).join(path),
            text,
            is_from_map,
            lines,
        });
        let number = recording.files.len() as u32 - 1;
        self.files.insert((map, file), number);
        number
    }

    /// The number of a body.
    pub fn function(
        &mut self,
        recording: &mut Recording,
        map: (usize, &Names),
        (structure, body): (&Structure, BodyId),
        notes: &mut Notes<'_>,
    ) -> FunctionId {
        if let Some(known) = self.functions.get(&(map.0, body)) {
            return *known;
        }
        let known = structure.body(body);
        let file = self.file(recording, map, known.file, notes);
        recording.functions.push(RecordedFunction { name: known.name(), file, line: known.span.line });
        let id = FunctionId(recording.functions.len() as u32 - 1);
        self.functions.insert((map.0, body), id);
        id
    }

    /// The number of a statement that the structure knows.
    pub fn site(
        &mut self,
        recording: &mut Recording,
        map: (usize, &Names),
        (structure, statement): (&Structure, StatementId),
        notes: &mut Notes<'_>,
    ) -> SiteId {
        if let Some(known) = self.sites.get(&(map.0, statement)) {
            return *known;
        }
        let (file, span) = structure.place(statement);
        let function = self.function(recording, map, (structure, structure.body_of(statement)), notes);
        let file = self.file(recording, map, file, notes);
        let id = add(
            recording,
            RecordedSite {
                file,
                line: span.line,
                col: span.col,
                end_line: span.end_line,
                end_col: span.end_col,
                function,
                may_end: structure.may_end(statement),
                checks: structure.panic_calls(statement).checks,
                text: structure.text(statement),
            },
        );
        self.sites.insert((map.0, statement), id);
        id
    }

    /// The number of a statement of which only the line is known.
    pub fn line(
        &mut self,
        recording: &mut Recording,
        (map, names): (usize, &Names),
        (file, line): (u16, u32),
        notes: &mut Notes<'_>,
    ) -> SiteId {
        if let Some(known) = self.others.get(&(map, file, line)) {
            return *known;
        }
        let number = self.file(recording, (map, names), file, notes);
        let name = names.described(file).find(|known| known.line == line).map_or("", |known| known.function);
        let known = recording.functions.iter().position(|known| known.file == number && known.name == name);
        let function = known.unwrap_or_else(|| {
            recording.functions.push(RecordedFunction { name: name.to_owned(), file: number, line: 0 });
            recording.functions.len() - 1
        });
        let function = FunctionId(function as u32);
        let id = add(
            recording,
            RecordedSite {
                file: number,
                line,
                col: 0,
                end_line: line,
                end_col: 0,
                function,
                may_end: false,
                checks: false,
                text: 0,
            },
        );
        self.others.insert((map, file, line), id);
        id
    }
}

/// The lines in which statements of a file begin.
fn lines_of(names: &Names, file: u16) -> Arc<[u32]> {
    let mut lines: Vec<u32> = names.statements(file).iter().map(|span| span.line).collect();
    lines.sort_unstable();
    lines.dedup();
    lines.into()
}

fn add(recording: &mut Recording, site: RecordedSite) -> SiteId {
    recording.sites.push(site);
    SiteId(recording.sites.len() as u32 - 1)
}
