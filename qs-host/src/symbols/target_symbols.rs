//! The symbols of a target: its description and every name that it sent. The decoder adds them, lines look them up.

use std::fmt;

use qs_core::record::BuildTime;

use super::dictionary::Dictionary;
use super::signals::Signals;
use super::target::{TargetDescription, build_text};
use crate::format_number as put;

/// Capacities of QSPY's dictionaries.
const OBJECTS: usize = 255;
const FUNCTIONS: usize = 511;
const USERS: usize = 58;
const VALUES: usize = 255;
/// The record that test fixtures send for an event posted to a dummy.
const ON_POST: (u64, &[u8]) = (124, b"QUTEST_ON_POST");

/// The target and its names.
#[derive(Clone, Debug)]
pub struct TargetSymbols {
    /// The target.
    pub target: TargetDescription,
    /// Objects by address.
    pub objects: Dictionary,
    /// Functions by address.
    pub functions: Dictionary,
    /// Application records by id.
    pub users: Dictionary,
    /// Signals.
    pub signals: Signals,
    /// Values of enumerations, by group.
    pub enums: [Dictionary; 8],
    /// Names that the user gave.
    given: Option<Box<TargetSymbols>>,
}

/// A dictionary file is of another build than the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherBuild {
    /// The build that the file names.
    pub names: BuildTime,
    /// The build that the target declares.
    pub target: BuildTime,
}

impl fmt::Display for OtherBuild {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (names, target) = (build_text(&self.names), build_text(&self.target));
        write!(
            to,
            "the dictionary file is of build {names}, the target of build {target}: its names are not used"
        )
    }
}

impl TargetSymbols {
    /// Creates symbols without names. The width of addresses in names is fixed from here on, whatever the target sends.
    pub fn new(target: TargetDescription) -> TargetSymbols {
        TargetSymbols {
            target,
            objects: Dictionary::new(target.sizes.obj.into(), OBJECTS),
            functions: Dictionary::new(target.sizes.fun.into(), FUNCTIONS),
            users: Dictionary::new(1, USERS),
            signals: Signals::new(target.sizes.obj.into()),
            enums: std::array::from_fn(|_| Dictionary::new(1, VALUES)),
            given: None,
        }
    }

    /// Keeps the names that are known now: they are not forgotten, unless the target is of another build.
    #[must_use]
    pub fn kept(self) -> TargetSymbols {
        TargetSymbols { given: Some(Box::new(self.clone())), ..self }
    }

    /// If the kept names are of another build than the target, forgets all names. An unknown build may be the same.
    pub fn check_build(&mut self, target: BuildTime) -> Option<OtherBuild> {
        let names = self.given.as_ref()?.target.build;
        let is_other = names.is_known() && target.is_known() && names != target;
        is_other.then(|| {
            self.given = None;
            self.clear();
            OtherBuild { names, target }
        })
    }

    /// Sets the width of addresses to that of the target.
    pub fn widen(&mut self) {
        let sizes = self.target.sizes;
        (self.objects.width, self.functions.width) = (sizes.obj.into(), sizes.fun.into());
        self.signals.width = sizes.obj.into();
    }

    /// Takes all names from another.
    pub fn take_names(&mut self, from: &TargetSymbols) {
        *self = TargetSymbols { target: self.target, ..from.clone() };
        self.widen();
    }

    /// Forgets all names except those of enumerations and those that are kept.
    pub fn clear(&mut self) {
        self.objects.clear();
        self.functions.clear();
        self.users.clear();
        self.signals.clear();
        self.users.define(ON_POST.0, ON_POST.1);
        if let Some(given) = &self.given {
            self.objects.define_all(&given.objects);
            self.functions.define_all(&given.functions);
            self.users.define_all(&given.users);
            self.signals.define_all(&given.signals);
        }
    }

    /// Appends the signal's name, or its number and its object.
    pub fn push_signal(&self, sig: u64, obj: u64, line: &mut Vec<u8>) {
        match self.signals.get(sig as u32, obj) {
            Some(name) => name.push(line),
            None => {
                put::signed_padded(line, sig as u32 as i32, 8);
                line.extend_from_slice(b",Obj=");
                push_address(obj, self.signals.width, line);
            }
        }
    }

    /// Appends the object's name, or its address.
    pub fn push_object(&self, obj: u64, line: &mut Vec<u8>) {
        push_named(&self.objects, obj, line);
    }

    /// Appends the function's name, or its address.
    pub fn push_function(&self, fun: u64, line: &mut Vec<u8>) {
        push_named(&self.functions, fun, line);
    }

    /// Appends the value's name in its group, or the value.
    pub fn push_enum(&self, group: u8, value: u64, line: &mut Vec<u8>) {
        match self.enums[usize::from(group & 7)].get(value) {
            Some(name) => name.push(line),
            None => put::padded(line, value, 3),
        }
    }

    /// Appends the name of an application record, or its number counted from the first one.
    pub fn push_user(&self, id: u8, line: &mut Vec<u8>) {
        match self.users.get(id.into()) {
            Some(name) => name.push(line),
            None => {
                line.extend_from_slice(b"USER+");
                put::padded(line, id.wrapping_sub(self.target.user_base()).into(), 3);
            }
        }
    }
}

fn push_named(dictionary: &Dictionary, key: u64, line: &mut Vec<u8>) {
    match dictionary.get(key) {
        Some(name) => name.push(line),
        // Keys of one byte are shown as the values of enumerations are.
        None if dictionary.width <= 1 => put::signed_padded(line, key as u32 as i32, 3),
        None => push_address(key, dictionary.width, line),
    }
}

/// Appends an address: 8 digits, or 16 where addresses are wider than 4 bytes.
pub fn push_address(address: u64, width: i32, line: &mut Vec<u8>) {
    line.extend_from_slice(b"0x");
    match width {
        ..=4 => put::hex(line, address & 0xFFFF_FFFF, 8),
        _ => put::hex(line, address, 16),
    }
}
