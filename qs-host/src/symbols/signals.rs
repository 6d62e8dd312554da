//! Names of signals, which belong to one object or to all. The search is that of QSPY: if a signal has several names, the search
//! decides which one is found and which one a new name replaces.

use std::cell::Cell;

use super::dictionary::{Name, cut};

/// Most names.
const CAPACITY: usize = 511;
/// Look-ups that the cache holds.
const MEMORY: usize = 64;

/// A name of a signal.
#[derive(Clone, Copy, Debug)]
struct Signal {
    sig: u32,
    obj: u64,
    name: Name,
}

/// Names of signals.
#[derive(Clone, Debug)]
pub struct Signals {
    /// Bytes of the address of an object.
    pub width: i32,
    /// Names by signal; behind those in use, older entries. Every search includes the first of the older entries, as one of
    /// signal 0 with the object that it had, except a search upwards from another entry of signal 0.
    entries: Vec<Signal>,
    used: usize,
    null: Name,
    /// Cache of look-ups, by signal and object: a search takes many steps, and most searches repeat.
    found: Vec<Cell<Found>>,
}

/// What a search found.
type Found = Option<(u32, u64, Option<usize>)>;

impl Signal {
    fn none() -> Signal {
        Signal { sig: 0, obj: 0, name: Name::new(b"") }
    }
}

impl Signals {
    /// Without names.
    pub fn new(width: i32) -> Signals {
        Signals {
            width,
            entries: vec![Signal::none()],
            used: 0,
            null: Name::new(b"NULL"),
            found: vec![Cell::new(None); MEMORY],
        }
    }

    /// The name of a signal as an object knows it.
    pub fn get(&self, sig: u32, obj: u64) -> Option<&Name> {
        if sig == 0 {
            return Some(&self.null);
        }
        let place = (sig as usize ^ (obj >> 3) as usize ^ (obj >> 6) as usize) % MEMORY;
        let index = match self.found[place].get() {
            Some((known, owner, index)) if (known, owner) == (sig, obj) => index,
            _ => {
                let index = self.find(sig, obj);
                self.found[place].set(Some((sig, obj, index)));
                index
            }
        };
        index.map(|index| &self.entries[index].name)
    }

    /// Names a signal. Replaces the name that a look-up finds, for any object.
    pub fn define(&mut self, sig: u32, obj: u64, name: &[u8]) {
        self.forget();
        let signal = Signal { sig, obj, name: Name::new(cut(name)) };
        match self.find(sig, obj) {
            Some(index) => self.entries[index] = signal,
            None if self.used < CAPACITY => {
                let behind = self.entries[..self.used].partition_point(|entry| entry.sig <= sig);
                self.entries[self.used] = signal;
                self.entries[behind..=self.used].rotate_right(1);
                self.used += 1;
                if self.entries.len() == self.used {
                    self.entries.push(Signal::none());
                }
            }
            None => {}
        }
    }

    /// Adds all names of other signals.
    pub fn define_all(&mut self, from: &Signals) {
        from.iter().for_each(|(sig, obj, name)| self.define(sig, obj, name));
    }

    /// Forgets all names.
    pub fn clear(&mut self) {
        self.used = 0;
        self.forget();
    }

    fn forget(&mut self) {
        self.found.fill(Cell::new(None));
    }

    /// Every signal, its object and its name, by signal.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64, &[u8])> {
        self.entries[..self.used].iter().map(|entry| (entry.sig, entry.obj, &*entry.name))
    }

    fn find(&self, sig: u32, obj: u64) -> Option<usize> {
        let sig_at = |index: usize| if index < self.used { self.entries[index].sig } else { 0 };
        let (mut first, mut end) = (0, self.used + 1);
        let hit = loop {
            if first >= end {
                return None;
            }
            let middle = (first + end - 1) / 2;
            match sig_at(middle) {
                found if found == sig => break middle,
                found if found < sig => first = middle + 1,
                _ => end = middle,
            }
        };
        if obj == 0 {
            return Some(hit);
        }
        let fits = |index: &usize| [0, obj].contains(&self.entries[*index].obj);
        let down = (0..=hit).rev().take_while(|index| sig_at(*index) == sig);
        let up = (hit + 1..self.used).take_while(|index| sig_at(*index) == sig);
        down.chain(up).find(fits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(signals: &Signals, sig: u32, obj: u64) -> Option<&[u8]> {
        signals.get(sig, obj).map(|name| &**name)
    }

    #[test]
    fn an_object_finds_its_own_name_or_that_of_all() {
        let mut signals = Signals::new(4);
        signals.define(5, 0x10, b"ITS");
        signals.define(6, 0, b"ALL");
        assert_eq!(named(&signals, 5, 0x10), Some(&b"ITS"[..]));
        assert_eq!(named(&signals, 5, 0x20), None);
        assert_eq!(named(&signals, 5, 0), Some(&b"ITS"[..]));
        assert_eq!(named(&signals, 6, 0x20), Some(&b"ALL"[..]));
        assert_eq!(named(&signals, 0, 0x20), Some(&b"NULL"[..]));
        signals.define(6, 0x30, b"OVER");
        assert_eq!(signals.iter().count(), 2);
        assert_eq!(named(&signals, 6, 0x30), Some(&b"OVER"[..]));
    }

    #[test]
    fn signal_0_is_defined_once_for_each_object() {
        let mut signals = Signals::new(4);
        // The first entry that a search meets behind those in use is that of another object.
        signals.define(1, 0x90, b"OLD");
        signals.clear();
        for (sig, obj) in [(0, 0x10), (0, 0x20), (9, 0x30), (1, 0x20), (1, 0x40)] {
            signals.define(sig, obj, b"S");
        }
        let all: Vec<(u32, u64)> = signals.iter().map(|(sig, obj, _)| (sig, obj)).collect();
        assert_eq!(all, [(0, 0x10), (0, 0x20), (1, 0x20), (1, 0x40), (9, 0x30)]);
    }

    #[test]
    fn names_beyond_the_capacity_are_ignored() {
        let mut signals = Signals::new(4);
        (1..=1000).for_each(|sig| signals.define(sig, 0, b"S"));
        assert_eq!(signals.iter().count(), CAPACITY);
        assert_eq!(named(&signals, 511, 0), Some(&b"S"[..]));
        assert_eq!(named(&signals, 512, 0), None);
    }
}
