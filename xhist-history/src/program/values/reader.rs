//! Names, types and texts of recorded values.

use std::collections::HashMap;

use qs_core::record::value::RecordedValue;

use super::find::{FoundProgram, NoProgram, find};
use crate::model::{Names, Ring, ShownValue, ValuePlace, visible};
use crate::notes::Notes;
use crate::notes::typed;
use crate::options::ReadOptions;
use crate::program::values::types::{Program, RowType, Target, hex, render, render_target};
use crate::runs::pack::is_unpacked;

/// Text of a value that the user does not want to see.
const REDACTED: &str = "<redacted>";

/// Bytes of a value that programs keep, with `--value-bytes 8` and `32`, and without.
const KEPT: [usize; 3] = [8, 32, 64];

/// Shows recorded values.
#[derive(Default)]
pub struct ValueReader {
    /// The program; `None` before the first value.
    program: Option<Result<FoundProgram, NoProgram>>,
    /// Whether a place is not to be shown, by its map and number.
    redacted: HashMap<(usize, u32), bool>,
    /// A value has no type, or no layout.
    is_noted: bool,
}

/// A type and a text.
struct TypedText {
    type_name: String,
    text: String,
}

impl ValueReader {
    /// The values behind an entry. `at` is the file and the line of its statement.
    pub fn show(
        &mut self,
        ring: &Ring,
        (map, names): (usize, &Names),
        at: Option<(u16, u32)>,
        values: &[RecordedValue],
        (options, notes): (&ReadOptions, &mut Notes<'_>),
    ) -> Vec<ShownValue> {
        let shown = values.iter().map(|value| {
            let place = names.value(value.number);
            let mut shown = named(value, place.as_ref(), names);
            shown.is_here = match (&place, at) {
                (Some(place), Some((file, line))) => names.is_bound_at(place, file, line),
                _ => false,
            };
            let key = (map, value.number);
            let is_redacted =
                *self.redacted.entry(key).or_insert_with(|| redacts(options, place.as_ref(), names));
            if is_redacted {
                return ShownValue { text: REDACTED.to_owned(), is_redacted: true, ..shown };
            }
            let TypedText { type_name, text } = self.text(ring, value, (options, notes));
            shown.type_name = visible(&type_name).into_owned();
            shown.text = visible(&text).into_owned();
            shown.bytes = value.bytes().to_vec();
            shown.is_target = value.target_len.is_some();
            shown
        });
        shown.collect()
    }

    /// The type and the text of a value.
    fn text(
        &mut self,
        ring: &Ring,
        value: &RecordedValue,
        (options, notes): (&ReadOptions, &mut Notes<'_>),
    ) -> TypedText {
        let program = self.program.get_or_insert_with(|| {
            let has_types = |program: &Program| {
                let slide = program.slide(ring.anchor).ok();
                slide.is_some_and(|slide| row(program.rows(value.number), value, slide).is_some())
            };
            find(ring, options, &has_types)
        });
        let known = program.as_mut().ok().and_then(|found| known(&mut found.program, ring, value));
        let is_known = known.as_ref().is_some_and(|(_, is_known)| *is_known);
        if !is_known && !self.is_noted {
            self.is_noted = true;
            let is_packed = options.programs.source.as_deref().is_some_and(is_unpacked);
            report(program.as_ref(), is_packed, notes);
        }
        known.map_or_else(
            || TypedText { type_name: String::new(), text: hex(value.bytes(), value.bytes().len() as u64) },
            |(typed, _)| typed,
        )
    }
}

/// The type and the text of a value, and whether its layout is known.
fn known(program: &mut Program, ring: &Ring, value: &RecordedValue) -> Option<(TypedText, bool)> {
    let slide = program.slide(ring.anchor).ok()?;
    let row = row(program.rows(value.number), value, slide)?;
    let answer = program.type_of(row);
    let memory = &program.memory(slide);
    let size = u64::from(row.size);
    let (text, is_known) = match value.target_len {
        Some(elements) => {
            let target = Target { bytes: value.bytes(), elements: u64::from(elements) };
            match &answer.target {
                Some(layout) => (render_target(target, layout, memory), true),
                None => (hex(value.bytes(), value.bytes().len() as u64), false),
            }
        }
        None => {
            // A value of 3 bytes is recorded as 4, one of 5 to 7 as 8.
            let bytes = &value.bytes()[..value.bytes().len().min(row.size as usize)];
            match &answer.layout {
                Some(layout) => (render(bytes, layout, memory), true),
                None => (hex(bytes, size), false),
            }
        }
    };
    Some((TypedText { type_name: answer.name.clone(), text }, is_known))
}

/// The type that a value has, of those that its place was compiled with.
fn row(rows: &[RowType], value: &RecordedValue, slide: Option<u64>) -> Option<RowType> {
    let fits = |row: &&RowType| value.target_len.is_some() || is_kept(row.size as usize, value.bytes().len());
    let mut fitting = rows.iter().filter(fits);
    if let Some(key) = value.type_key {
        let address = |row: &RowType| row.address.wrapping_add(slide.unwrap_or(0)) as u32;
        // The lowest bit of an address on ARM is not part of it.
        return fitting.find(|row| row.address != 0 && address(row) | 1 == key | 1).copied();
    }
    let first = *fitting.next()?;
    fitting.all(|row| row.symbol == first.symbol).then_some(first)
}

/// Whether a value of this size has this number of bytes in its record.
fn is_kept(size: usize, len: usize) -> bool {
    KEPT.iter().any(|most| {
        let kept = size.min(*most);
        len == kept || kept <= 8 && kept > 0 && len == kept.next_power_of_two()
    })
}

/// A value with its name and place.
fn named(value: &RecordedValue, place: Option<&ValuePlace<'_>>, names: &Names) -> ShownValue {
    let Some(place) = place else {
        return ShownValue { name: format!("value#{}", value.number), ..ShownValue::default() };
    };
    ShownValue {
        name: place.name.to_owned(),
        path: names.shown_path(place.file).map(str::to_owned),
        line: place.line,
        is_parameter: place.kind == "param",
        function: place.function.to_owned(),
        ..ShownValue::default()
    }
}

/// Whether the user does not want to see the values of a place. Those without a name may be any.
fn redacts(options: &ReadOptions, place: Option<&ValuePlace<'_>>, names: &Names) -> bool {
    let Some(place) = place else { return !options.redact.is_empty() };
    let path = names.path(place.file).unwrap_or_default();
    let name = format!("{}::{}", place.function, place.name.trim_start_matches("r#"));
    options.redact.iter().any(|pattern| pattern.is_of(&names.root, path, &name, place.line))
}

/// Reports why values are shown as bytes, and what to do.
fn report(program: Result<&FoundProgram, &NoProgram>, is_packed: bool, notes: &mut Notes<'_>) {
    match program {
        Err(NoProgram::Missing) if is_packed => notes.note(format_args!(
            "the pack has no program, so values are shown as bytes; pack the run again with its programs, where it was made: \
             {}; or name the program's file: {}",
            typed::command("pack --programs"),
            typed::command("history --program FILE")
        )),
        Err(NoProgram::Missing) => notes.note(format_args!(
            "the program's file was not found, so values are shown as bytes; name it: {}",
            typed::command("history --program FILE")
        )),
        Err(NoProgram::ForWindows(path)) => notes.note(format_args!(
            "{} is a program for Windows without types of values, which only those of the GNU target have, so values are shown \
             as bytes",
            path.display()
        )),
        Err(NoProgram::Unfit(path, why)) => {
            notes.incomplete();
            notes.error(format_args!("{} {why}; values are shown as bytes", path.display()));
        }
        Ok(found) if !found.program.has_layouts() => notes.note(format_args!(
            "{} has no debug information, so most values are shown as bytes; `cargo xhist` builds with it, other builds \
             need CARGO_PROFILE_DEV_DEBUG=2 or debug = 2 in the profile",
            found.path.display()
        )),
        Ok(found) => notes.note(format_args!(
            "{} does not describe the types of some values, which are shown as bytes; if it was built again since, name \
             the program that ran: {}",
            found.path.display(),
            typed::command("history --program FILE")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(bytes: &[u8], type_key: Option<u32>) -> RecordedValue {
        let mut value = RecordedValue::new(7, bytes);
        value.type_key = type_key;
        value
    }

    #[test]
    fn records_have_the_bytes_that_their_programs_keep() {
        for (size, len) in
            [(0, 0), (1, 1), (3, 4), (5, 8), (8, 8), (24, 8), (24, 24), (100, 32), (3, 3), (99, 64)]
        {
            assert!(is_kept(size, len), "{size} {len}");
        }
        for (size, len) in [(0, 1), (1, 0), (4, 8), (8, 4), (100, 33), (9, 16)] {
            assert!(!is_kept(size, len), "{size} {len}");
        }
    }

    #[test]
    fn places_with_several_types_need_the_key_of_the_record_or_a_size_of_their_own() {
        let row_of = |size, address, symbol| RowType { size, address, symbol };
        let rows = [row_of(4, 0x10, 0), row_of(4, 0x20, 1), row_of(2, 0x31, 2)];
        assert_eq!(row(&rows, &value(&[0; 4], None), Some(0)), None);
        assert_eq!(row(&rows, &value(&[0; 2], None), Some(0)), Some(rows[2]));
        assert_eq!(row(&rows, &value(&[0; 4], Some(0x1020)), Some(0x1000)), Some(rows[1]));
        assert_eq!(row(&rows, &value(&[0; 2], Some(0x1030)), Some(0x1000)), Some(rows[2]));
        assert_eq!(row(&rows, &value(&[0; 2], Some(0x1020)), Some(0x1000)), None);
        assert_eq!(row(&[], &value(&[], None), None), None);
    }
}
