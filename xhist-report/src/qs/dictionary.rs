//! Names by address or number, as QSPY keeps them: so many at most, names cut, 0 is always NULL.

use super::put::Short;

/// Longest name that a look-up gives, in bytes.
const MAX_NAME: usize = 63;
/// The name of no object and no function.
const NULL: &[u8] = b"NULL";

/// A name, as it is kept.
pub type Name = Short<64>;

/// Names by key.
#[derive(Clone, Debug)]
pub struct Dictionary {
    /// Bytes of a key; a dictionary file may say any number.
    pub width: i32,
    capacity: usize,
    names: Vec<(u64, Name)>,
    /// Where in `names` a key stands, one more than that, at the place that follows from the key or at one of the next. At most half of
    /// them are in use.
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

    /// Names a key. When all room is taken, only a key that has a name gets another.
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

    /// Takes all names of another.
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

    /// Where in `names` a key stands, or the place for it.
    #[inline]
    fn find(&self, key: u64) -> Result<usize, usize> {
        // Addresses and numbers are spread by one multiplication. Whoever makes them collide wins little: dictionaries are small.
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

/// A name as far as it is kept.
pub fn cut(name: &[u8]) -> &[u8] {
    &name[..name.len().min(MAX_NAME)]
}
