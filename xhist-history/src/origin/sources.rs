//! The syntax of the functions that a recording ran.

use std::collections::HashMap;
use std::rc::Rc;

use super::syntax::{Expression, SourceFunction, SyntaxFile, points};
use crate::recording::{Recording, SiteId};

/// Source files, read when they are first asked for.
pub struct SyntaxSources<'r> {
    recording: &'r Recording,
    files: HashMap<u32, Option<SyntaxFile>>,
    places: HashMap<SiteId, Option<SitePlace>>,
}

/// The place of a recorded statement in the syntax.
#[derive(Clone, Debug)]
pub struct SitePlace {
    /// Its file.
    pub file: u32,
    /// Its first byte.
    pub offset: u32,
    /// The function around it.
    pub function: Rc<SourceFunction>,
}

impl<'r> SyntaxSources<'r> {
    /// The sources of a recording.
    pub fn new(recording: &'r Recording) -> SyntaxSources<'r> {
        SyntaxSources { recording, files: HashMap::new(), places: HashMap::new() }
    }

    /// The place of a recorded statement; `None` if its text is not known or cannot be read, as in a macro.
    pub fn place(&mut self, site: SiteId) -> Option<SitePlace> {
        if let Some(known) = self.places.get(&site) {
            return known.clone();
        }
        let found = self.find(site);
        self.places.insert(site, found.clone());
        found
    }

    fn find(&mut self, id: SiteId) -> Option<SitePlace> {
        let site = *self.recording.site(id)?;
        let file = self.file(site.file)?;
        let exact = file.offset(site.line, site.col);
        let function = file.function(exact.or_else(|| file.offset(site.line, 0))?)?;
        let starts: Vec<u32> = points(&function).iter().map(|point| point.range.start).collect();
        // Tabs are shown as spaces, so columns may not fit.
        let first = file.offset(site.line, 0);
        let is_point = |offset: &u32| starts.contains(offset);
        let offset = exact.filter(is_point).or_else(|| first.filter(is_point))?;
        Some(SitePlace { file: site.file, offset, function })
    }

    fn file(&mut self, number: u32) -> Option<&mut SyntaxFile> {
        let recorded = self.recording.files.get(number as usize)?;
        let read = || {
            let text = recorded.text.as_deref().filter(|_| !recorded.is_from_map)?;
            Some(SyntaxFile::new(text))
        };
        self.files.entry(number).or_insert_with(read).as_mut()
    }

    /// The line of a byte.
    pub fn line(&mut self, file: u32, offset: u32) -> u32 {
        self.file(file).map_or(0, |file| file.line(offset))
    }

    /// The text of an expression in one line.
    pub fn text(&mut self, file: u32, expression: &Expression) -> String {
        let text = self.file(file).map(|file| file.text(&expression.range).to_owned()).unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}
