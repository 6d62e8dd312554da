//! Dictionaries: names for addresses, signals, values and records. Filters do not apply to them.

use qs_core::record::{
    EnumDict, FILES, Fields, Fun, FunDict, Kind, Obj, ObjDict, RECORD_BASE, Record, Sig, SigDict, UsrDict,
};

use super::send::send;

/// Names an object.
///
/// ```
/// use xhist_rt::qs;
/// static TABLE: [u8; 4] = [0; 4];
/// qs::name_obj(qs::Obj::of(&TABLE), "TABLE");
/// ```
pub fn name_obj(object: Obj, name: &str) {
    send(&ObjDict { obj: object, name: without_reference(name) });
}

/// Names an element of an array by its index. The index replaces the text between the brackets of `name`; without brackets,
/// it is appended.
///
/// ```
/// use xhist_rt::qs;
/// static PHILO: [u8; 5] = [0; 5];
/// for (index, philo) in PHILO.iter().enumerate() {
///     qs::name_obj_of(qs::Obj::of(philo), "PHILO[n].super", index);
/// }
/// ```
pub fn name_obj_of(object: Obj, name: &str, index: usize) {
    send(&Indexed { obj: object, name: without_reference(name), index });
}

/// Names a function, such as the handler of a state: `name_fun(Fun::of(eating as *const ()), "eating")`.
pub fn name_fun(function: Fun, name: &str) {
    send(&FunDict { fun: function, name: without_reference(name) });
}

/// Names a signal of one object. With [`Obj::NULL`], names the signal of all objects.
pub fn name_sig(signal: Sig, object: Obj, name: &str) {
    send(&SigDict { sig: signal, obj: object, name });
}

/// Names an application record.
pub fn name_user(id: u8, name: &str) {
    send(&UsrDict { id, name });
}

/// Names a value of an enumeration. `group` is 0 to 7: group 7 has the commands of the receive channel, group 6 the files of
/// statements.
pub fn name_enum(group: u8, value: u8, name: &str) {
    send(&EnumDict { value, group, name });
}

/// Names the files of statements and the recorder's own records. Call [`name_files!`](crate::name_files) instead.
#[doc(hidden)]
pub fn name_files(files: Option<&str>) {
    for (offset, name) in ["STATEMENT", "STATEMENT", "STATEMENTS", "XHIST"].iter().enumerate() {
        name_user(RECORD_BASE + offset as u8, name);
    }
    let mut rest = files.unwrap_or_default();
    while !rest.is_empty() {
        let (line, behind) = split(rest, b'\n').unwrap_or((rest, ""));
        // An enumeration has values up to 255. Files with higher ids have no name.
        if let Some((Ok(id), name)) = split(line, b' ').map(|(id, name)| (id.parse(), name)) {
            name_enum(FILES, id, name);
        }
        rest = behind;
    }
}

/// Splits a text at the first such byte, which is ASCII. `str::split_once` contains a panic.
fn split(text: &str, byte: u8) -> Option<(&str, &str)> {
    let at = text.bytes().position(|found| found == byte)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// A name without a leading `&`, as in QP, where names are often made from `&object`. A zero ends the name.
fn without_reference(name: &str) -> &str {
    let name = split(name, 0).map_or(name, |(before, _)| before);
    name.strip_prefix('&').unwrap_or(name)
}

/// [`ObjDict`] with a name that is composed while it is sent.
struct Indexed<'a> {
    obj: Obj,
    name: &'a str,
    index: usize,
}

impl Record for Indexed<'_> {
    const ID: u8 = ObjDict::ID;
    const TIMED: bool = ObjDict::TIMED;

    fn put(&self, to: &mut impl Fields) {
        let brackets = split(self.name, b'[').and_then(|(before, rest)| Some((before, split(rest, b']')?.1)));
        let (before, behind) = brackets.unwrap_or((self.name, ""));
        let mut digits = [0; 20];
        let mut first = digits.len();
        let mut rest = self.index;
        while first == digits.len() || rest > 0 {
            first -= 1;
            if let Some(digit) = digits.get_mut(first) {
                *digit = b'0' + (rest % 10) as u8;
            }
            rest /= 10;
        }
        to.number(Kind::Obj, self.obj.0 as u64);
        if self.name.len() + "[]".len() + digits.len() > to.room() {
            return to.text(self.name);
        }
        to.bytes(before.as_bytes());
        if brackets.is_some() {
            to.bytes(b"[");
        }
        to.bytes(digits.get(first..).unwrap_or_default());
        if brackets.is_some() {
            to.bytes(b"]");
        }
        to.text(behind);
    }
}
