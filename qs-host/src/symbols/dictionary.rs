//! Names by address or number with QSPY's limits: a fixed capacity, cut names, and address 0 is always NULL.

use crate::format_number::InlineText;

/// Longest name, in bytes.
const MAX_NAME: usize = 63;
/// The name of no object and no function.
const NULL: &[u8] = b"NULL";

/// A name.
pub type Name = InlineText<64>;

/// Names by key.
#[derive(Clone, Debug)]
pub struct Dictionary {
    /// Bytes of a key. A dictionary file may set any number.
    pub width: i32,
    capacity: usize,
    names: Vec<(u64, Name)>,
    /// Hash table with linear probing: one plus the index in `names`, 0 where empty. At most half of it is in use.
    places: Vec<u16>,
    null: Name,
}

impl Dictionary {
    /// Without names.
    pub fn new(width: i32, capacity: usize) -> Dictionary {
        let places = vec![0; (2 * capacity).next_power_of_two()];
        Dictionary { width, capacity, names: Vec::new(), places, null: Name::new(NULL) }
    }

    /// The name of a key, if it has one.
    #[inline]
    pub fn get(&self, key: u64) -> Option<&Name> {
        if key == 0 && self.width >= 4 {
            return Some(&self.null);
        }
        self.find(key).ok().map(|index| &self.names[index].1)
    }

    /// The first key of this name.
    pub fn key_of(&self, name: &[u8]) -> Option<u64> {
        let name = cut(name);
        let named = self.names.iter().filter(|(_, known)| **known == *name).map(|(key, _)| *key).min();
        named.or((name == NULL && self.width >= 4).then_some(0))
    }

    /// Names a key. A full dictionary only renames the keys that it has.
    pub fn define(&mut self, key: u64, name: &[u8]) {
        match self.find(key) {
            Ok(index) => self.names[index].1 = Name::new(cut(name)),
            Err(place) if self.names.len() < self.capacity => {
                self.names.push((key, Name::new(cut(name))));
                self.places[place] = self.names.len() as u16;
            }
            Err(_) => {}
        }
    }

    /// Adds all names of another dictionary.
    pub fn define_all(&mut self, from: &Dictionary) {
        from.names.iter().for_each(|(key, name)| self.define(*key, name));
    }

    /// Forgets all names.
    pub fn clear(&mut self) {
        self.names.clear();
        self.places.fill(0);
    }

    /// Every key and its name, by key.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let mut names: Vec<(u64, &[u8])> = self.names.iter().map(|(key, name)| (*key, &**name)).collect();
        names.sort_unstable_by_key(|(key, _)| *key);
        names.into_iter()
    }

    /// The index of a key in `names`, or the place for it in the table.
    #[inline]
    fn find(&self, key: u64) -> Result<usize, usize> {
        // One multiplication spreads addresses and numbers. Keys made to collide do little harm: dictionaries are small.
        let mut place = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize;
        loop {
            place %= self.places.len();
            match usize::from(self.places[place]).checked_sub(1) {
                None => return Err(place),
                Some(index) if self.names[index].0 == key => return Ok(index),
                Some(_) => place += 1,
            }
        }
    }
}

/// A name cut to the longest one that is stored.
pub fn cut(name: &[u8]) -> &[u8] {
    &name[..name.len().min(MAX_NAME)]
}
