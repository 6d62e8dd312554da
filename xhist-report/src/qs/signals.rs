//! Names of signals, which may belong to one object or to all. It searches as QSPY does, since with several names for
//! one signal the search decides which is found, and which is overwritten by a new one.

use super::dictionary::cut;

/// Most names.
const CAPACITY: usize = 511;

/// A name of a signal.
#[derive(Clone, Debug)]
struct Signal {
    sig: u32,
    obj: u64,
    name: Box<[u8]>,
}

/// Names of signals.
#[derive(Clone, Debug)]
pub struct Signals {
    /// Bytes of the address of an object.
    pub width: u8,
    entries: Vec<Signal>,
    /// QSPY takes the place behind the last entry for one with signal 0; this is its object.
    behind: u64,
}

impl Signals {
    /// Without names.
    pub fn new(width: u8) -> Signals {
        Signals { width, entries: Vec::new(), behind: 0 }
    }

    /// The name of a signal as an object knows it.
    pub fn get(&self, sig: u32, obj: u64) -> Option<&[u8]> {
        if sig == 0 {
            return Some(b"NULL");
        }
        self.find(sig, obj).map(|index| &*self.entries[index].name)
    }

    /// Names a signal. The name that a look-up would find now is overwritten, whosever it is.
    pub fn define(&mut self, sig: u32, obj: u64, name: &[u8]) {
        let signal = Signal { sig, obj, name: cut(name).into() };
        match self.find(sig, obj) {
            Some(index) => match self.entries.get_mut(index) {
                Some(entry) => *entry = signal,
                None => self.behind = obj,
            },
            None if self.entries.len() < CAPACITY => {
                let behind = self.entries.partition_point(|entry| entry.sig <= sig);
                self.entries.insert(behind, signal);
                self.behind = 0;
            }
            None => {}
        }
    }

    /// Forgets all names.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.behind = 0;
    }

    /// Every signal, its object and its name, by signal.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64, &[u8])> {
        self.entries.iter().map(|entry| (entry.sig, entry.obj, &*entry.name))
    }

    fn find(&self, sig: u32, obj: u64) -> Option<usize> {
        let (sig_at, obj_at) = (
            |index: usize| self.entries.get(index).map_or(0, |entry| entry.sig),
            |index: usize| self.entries.get(index).map_or(self.behind, |entry| entry.obj),
        );
        let (mut first, mut end) = (0, self.entries.len() + 1);
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
        let fits = |index: &usize| obj_at(*index) == 0 || obj_at(*index) == obj;
        let down = (0..=hit).rev().take_while(|index| sig_at(*index) == sig);
        let up = (hit + 1..=self.entries.len()).take_while(|index| sig_at(*index) == sig);
        if obj == 0 { Some(hit) } else { down.chain(up).find(fits) }
    }
}
