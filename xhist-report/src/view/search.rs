//! Search: the steps whose source line, place, function, event or values contain a text.

use std::collections::HashSet;

use super::index::ViewIndex;
use xhist_history::recording::{Direction, Recording, SiteId, StepId, StringId, nearest};

/// A search.
#[derive(Clone, Debug)]
pub struct Search {
    /// What is looked for. Small letters find capitals, too.
    pub text: String,
    /// The way it went last.
    pub direction: Direction,
    sites: Vec<SiteId>,
    /// Steps of events and values.
    steps: Vec<StepId>,
    /// Steps and sites when it was made.
    of: (usize, usize),
}

impl Search {
    /// Looks for a text.
    pub fn new(text: &str, recording: &Recording, index: &ViewIndex) -> Search {
        let pattern = SearchText::new(text);
        let functions: Vec<bool> =
            recording.functions.iter().map(|function| pattern.is_in(&function.name)).collect();
        let is_site = |id: &SiteId| {
            recording.site(*id).is_some_and(|site| {
                let path = recording.files.get(site.file as usize).map_or("", |file| &file.path);
                functions.get(site.function.0 as usize).copied().unwrap_or_default()
                    || pattern.is_in(index.line(recording, site.file, site.line))
                    || pattern.is_place(path, site.line)
            })
        };
        let sites = (0..recording.sites.len() as u32).map(SiteId).filter(is_site).collect();
        let strings = recording.strings.iter().enumerate().filter(|(_, text)| pattern.is_in(text));
        let strings: HashSet<StringId> = strings.map(|(id, _)| StringId(id as u32)).collect();
        let event = |step: &StepId| {
            let event = recording.event(*step);
            event.is_some_and(|event| strings.contains(&event.text) || strings.contains(&event.name))
        };
        let mut steps: Vec<StepId> = index.events().iter().copied().filter(event).collect();
        let value = recording.values.iter().filter(|value| {
            let text = format_args!("{} = ", recording.strings.get(value.name)).to_string();
            strings.contains(&value.text)
                || strings.contains(&value.name)
                || pattern.has_equals && pattern.is_in(&(text + recording.strings.get(value.text)))
        });
        steps.extend(value.map(|value| value.step));
        steps.sort_unstable();
        steps.dedup();
        let of = (recording.len(), recording.sites.len());
        Search { text: text.to_owned(), direction: Direction::Forward, sites, steps, of }
    }

    /// The same search in a recording that may have grown.
    pub fn renewed(self, recording: &Recording, index: &ViewIndex) -> Search {
        if self.of == (recording.len(), recording.sites.len()) {
            return self;
        }
        Search { direction: self.direction, ..Search::new(&self.text, recording, index) }
    }

    /// The nearest match.
    pub fn nearest(&self, index: &ViewIndex, from: StepId, direction: Direction) -> Option<StepId> {
        let found = [index.nearest(&self.sites, from, direction), nearest(&self.steps, from, direction)];
        let found = found.into_iter().flatten();
        match direction {
            Direction::Forward => found.min(),
            Direction::Back => found.max(),
        }
    }
}

/// A text to look for.
struct SearchText<'t> {
    text: &'t str,
    is_exact: bool,
    has_equals: bool,
}

impl SearchText<'_> {
    fn new(text: &str) -> SearchText<'_> {
        SearchText { text, is_exact: text.chars().any(char::is_uppercase), has_equals: text.contains('=') }
    }

    fn is_in(&self, text: &str) -> bool {
        match self.is_exact {
            true => text.contains(self.text),
            false => text.contains(self.text) || text.to_lowercase().contains(self.text),
        }
    }

    /// `lib.rs` is in the path; `lib.rs:12` is that line only.
    fn is_place(&self, path: &str, line: u32) -> bool {
        match self.text.rsplit_once(':').and_then(|(path, line)| Some((path, line.parse::<u32>().ok()?))) {
            Some((of, number)) => number == line && SearchText::new(of).is_in(path),
            None => self.is_in(path),
        }
    }
}
