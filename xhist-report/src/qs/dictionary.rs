//! Names by address or number, as QSPY keeps them: so many at most, names cut, 0 is always NULL.

/// Longest name that a look-up gives, in bytes.
const MAX_NAME: usize = 63;
/// The name of no object and no function.
const NULL: &[u8] = b"NULL";

/// Names by key.
#[derive(Clone, Debug)]
pub struct Dictionary {
    /// Bytes of a key; a dictionary file may say any number.
    pub width: i32,
    capacity: usize,
    entries: Vec<(u64, Box<[u8]>)>,
}

impl Dictionary {
    /// Without names.
    pub fn new(width: i32, capacity: usize) -> Dictionary {
        Dictionary { width, capacity, entries: Vec::new() }
    }

    /// The name of a key, if it has one.
    pub fn get(&self, key: u64) -> Option<&[u8]> {
        if key == 0 && self.width >= 4 {
            return Some(NULL);
        }
        let index = self.entries.binary_search_by_key(&key, |(key, _)| *key).ok()?;
        Some(&self.entries[index].1)
    }

    /// The first key of this name.
    pub fn key_of(&self, name: &[u8]) -> Option<u64> {
        let name = cut(name);
        let named = self.entries.iter().find(|(_, known)| **known == *name).map(|(key, _)| *key);
        named.or((name == NULL && self.width >= 4).then_some(0))
    }

    /// Names a key. When all room is taken, only a key that has a name gets another.
    pub fn define(&mut self, key: u64, name: &[u8]) {
        match self.entries.binary_search_by_key(&key, |(key, _)| *key) {
            Ok(index) => self.entries[index].1 = cut(name).into(),
            Err(index) if self.entries.len() < self.capacity => {
                self.entries.insert(index, (key, cut(name).into()));
            }
            Err(_) => {}
        }
    }

    /// Forgets all names.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Every key and its name, by key.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.entries.iter().map(|(key, name)| (*key, &**name))
    }
}

/// A name as far as it is kept.
pub fn cut(name: &[u8]) -> &[u8] {
    &name[..name.len().min(MAX_NAME)]
}
