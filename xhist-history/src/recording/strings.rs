//! Texts of a recording, each once.

use super::ids::StringId;
use std::collections::HashMap;
use std::sync::Arc;

/// Texts by number. The first one is empty.
#[derive(Clone, Debug)]
pub struct Strings {
    texts: Vec<Arc<str>>,
    ids: HashMap<Arc<str>, StringId>,
}

impl Default for Strings {
    fn default() -> Strings {
        let mut strings = Strings { texts: Vec::new(), ids: HashMap::new() };
        strings.add("");
        strings
    }
}

impl Strings {
    /// The number of a text; a new one if it was not there.
    pub fn add(&mut self, text: &str) -> StringId {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let id = StringId(self.texts.len() as u32);
        let text: Arc<str> = text.into();
        self.texts.push(Arc::clone(&text));
        self.ids.insert(text, id);
        id
    }

    /// The number of a text, if it is there.
    pub fn find(&self, text: &str) -> Option<StringId> {
        self.ids.get(text).copied()
    }

    /// The text with this number; empty for a number that was not given.
    pub fn get(&self, id: StringId) -> &str {
        self.texts.get(id.0 as usize).map_or("", |text| text)
    }

    /// All texts, in the order of their numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.texts.iter().map(|text| &**text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_number() {
        let mut strings = Strings::default();
        let (one, other) = (strings.add("one"), strings.add("other"));
        assert_eq!((strings.add("one"), strings.add("")), (one, StringId(0)));
        assert_eq!((strings.get(one), strings.get(other), strings.get(StringId(9))), ("one", "other", ""));
        assert_eq!((strings.find("other"), strings.find("no")), (Some(other), None));
        assert_eq!(strings.iter().collect::<Vec<_>>(), ["", "one", "other"]);
    }
}
