//! Bytes and a layout to text, as the source would write the value. What was not kept is `..`.

use std::fmt::Write;

use super::layout::{Field, Fields, Tag, TargetLayout, TargetSpan, TypeLayout, TypeShape, Variant};
use super::rows::number_of;

/// Longest text of a value, in bytes.
const LONGEST: usize = 240;

/// Values in values that are shown.
const DEPTH: u32 = 6;

/// Elements that are shown.
const ELEMENTS: u64 = 16;

/// Bytes of a text that are read from the program's file.
const TEXT: u64 = 64;

/// What values point to.
pub trait Memory {
    /// Bytes that cannot have changed since the program was built.
    fn read(&self, address: u64, len: u64) -> Option<&[u8]>;
    /// The name of the function at an address.
    fn function(&self, address: u64) -> Option<String>;
    /// Whether the lowest byte of a number comes first.
    fn is_little(&self) -> bool;
}

/// Nothing is known of what values point to.
#[derive(Clone, Copy, Debug)]
pub struct NoMemory;

impl Memory for NoMemory {
    fn read(&self, _: u64, _: u64) -> Option<&[u8]> {
        None
    }

    fn function(&self, _: u64) -> Option<String> {
        None
    }

    fn is_little(&self) -> bool {
        true
    }
}

/// The bytes that a value points to, as they were recorded.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The first of them.
    pub bytes: &'a [u8],
    /// Elements in all.
    pub elements: u64,
}

/// The text of a value. Of its bytes, the last ones may be missing.
pub fn render(bytes: &[u8], layout: &TypeLayout, memory: &dyn Memory) -> String {
    if bytes.len() as u64 > layout.size || layout.shape == TypeShape::Opaque {
        return hex(bytes, layout.size);
    }
    let mut text = ValueText { out: String::new(), memory };
    text.value(bytes, layout, 0);
    text.end()
}

/// The text of what a value points to.
pub fn render_target(target: Target<'_>, layout: &TargetLayout, memory: &dyn Memory) -> String {
    let mut text = ValueText { out: String::new(), memory };
    text.target(target, layout);
    text.end()
}

/// Bytes without a meaning: `0x0c 0x00 (4 bytes)`.
pub fn hex(bytes: &[u8], size: u64) -> String {
    let mut out = String::new();
    for byte in bytes {
        let _ = write!(out, "0x{byte:02x} ");
    }
    if !bytes.is_empty() && (bytes.len() as u64) < size {
        out.push_str(".. ");
    }
    let plural = if size == 1 { "" } else { "s" };
    let _ = write!(out, "({size} byte{plural})");
    out
}

struct ValueText<'m> {
    out: String,
    memory: &'m dyn Memory,
}

impl ValueText<'_> {
    fn is_full(&self) -> bool {
        self.out.len() > LONGEST
    }

    fn end(mut self) -> String {
        if self.is_full() {
            let end = (0..=LONGEST).rev().find(|end| self.out.is_char_boundary(*end)).unwrap_or(0);
            self.out.truncate(end);
            self.out.push_str("..");
        }
        self.out
    }

    fn put(&mut self, text: impl std::fmt::Display) {
        let _ = write!(self.out, "{text}");
    }

    /// The bytes of a part; `None` if they were not kept.
    fn part(bytes: &[u8], at: u64, size: u64) -> Option<&[u8]> {
        let at = usize::try_from(at).ok()?;
        bytes.get(at..at.checked_add(usize::try_from(size).ok()?)?)
    }

    fn number(&self, bytes: &[u8], at: u64, size: u64) -> Option<u64> {
        Some(number_of(Self::part(bytes, at, size)?, self.memory.is_little()))
    }

    fn wide(&self, bytes: &[u8], at: u64, size: u64) -> Option<u128> {
        let bytes = Self::part(bytes, at, size)?;
        let digit = |number: u128, byte: &u8| number << 8 | u128::from(*byte);
        Some(match self.memory.is_little() {
            true => bytes.iter().rev().fold(0, digit),
            false => bytes.iter().fold(0, digit),
        })
    }

    /// A value; `bytes` begin with its own, and may end before them.
    fn value(&mut self, bytes: &[u8], layout: &TypeLayout, depth: u32) {
        if self.is_full() {
            return;
        }
        let kept = &bytes[..bytes.len().min(usize::try_from(layout.size).unwrap_or(usize::MAX))];
        if depth > DEPTH || layout.shape == TypeShape::Deep || kept.is_empty() && layout.size > 0 {
            return self.put("..");
        }
        if self.known(kept, layout, depth).is_none() {
            self.unknown(kept, layout.size);
        }
    }

    /// Bytes that are no value of their type, or not all there.
    fn unknown(&mut self, bytes: &[u8], size: u64) {
        if (bytes.len() as u64) < size {
            return self.put("..");
        }
        let digits: String = bytes.iter().take(LONGEST / 2).map(|byte| format!("{byte:02x}")).collect();
        self.put(format_args!("<bytes {digits}>"));
    }

    /// A value by its layout; `None` if these bytes are not a value.
    fn known(&mut self, bytes: &[u8], layout: &TypeLayout, depth: u32) -> Option<()> {
        let size = layout.size;
        match &layout.shape {
            TypeShape::Opaque | TypeShape::Deep => return None,
            TypeShape::Unsigned => {
                let number = self.wide(bytes, 0, size)?;
                self.put(number);
            }
            TypeShape::Signed => {
                let unused = 128u64.checked_sub(8 * size)? as u32;
                let number = self.wide(bytes, 0, size)?.checked_shl(unused)? as i128 >> unused;
                self.put(number);
            }
            TypeShape::Bool => match self.wide(bytes, 0, size)? {
                0 => self.put("false"),
                1 => self.put("true"),
                _ => return None,
            },
            TypeShape::Char => {
                let character = char::from_u32(self.number(bytes, 0, size)? as u32)?;
                self.put(format_args!("{character:?}"));
            }
            TypeShape::Float => {
                let bits = self.number(bytes, 0, size)?;
                match size {
                    4 => self.put(format_args!("{:?}", f32::from_bits(bits as u32))),
                    8 => self.put(format_args!("{:?}", f64::from_bits(bits))),
                    _ => return None,
                }
            }
            TypeShape::Pointer(word) => {
                let address = self.number(bytes, 0, u64::from(*word))?;
                self.put(format_args!("0x{address:x}"));
            }
            TypeShape::Function => {
                let address = self.number(bytes, 0, size)?;
                match self.memory.function(address) {
                    Some(name) => self.put(name),
                    None => self.put(format_args!("0x{address:x}")),
                }
            }
            TypeShape::Collection(of) => match self.number(bytes, of.length, u64::from(of.word)) {
                Some(length) => self.put(format_args!("{}(len {length})", of.name)),
                None => self.put(format_args!("{}(..)", of.name)),
            },
            TypeShape::Codes(codes) => {
                let number = self.wide(bytes, 0, size)?;
                let (_, name) = codes.iter().find(|(code, _)| *code == number)?;
                self.put(name);
            }
            TypeShape::Duration => {
                let (seconds, nanos) = (self.number(bytes, 0, 8)?, self.number(bytes, 8, 4)?);
                let nanos = u32::try_from(nanos).ok().filter(|nanos| *nanos < 1_000_000_000)?;
                self.put(format_args!("{:?}", std::time::Duration::new(seconds, nanos)));
            }
            TypeShape::Range(ends) => {
                let [start, end] = &**ends;
                self.field(bytes, start, depth);
                self.put("..");
                self.field(bytes, end, depth);
            }
            TypeShape::Array(element, count) => self.elements(bytes, element, *count, depth),
            TypeShape::Span(span) => self.span(bytes, span, depth)?,
            TypeShape::Fields(fields) => self.fields(bytes, fields, depth),
            TypeShape::Variants(tag, variants) => {
                let variant = self.variant(bytes, *tag, variants)?;
                let at = usize::try_from(variant.at).ok()?;
                // A variant without parts is in no byte of its own.
                let below = bytes.get(at..).unwrap_or_default();
                match &variant.layout.shape {
                    TypeShape::Fields(fields) => self.fields(below, fields, depth),
                    _ => return None,
                }
            }
        }
        Some(())
    }

    fn variant<'v>(&self, bytes: &[u8], tag: Option<Tag>, variants: &'v [Variant]) -> Option<&'v Variant> {
        let Some(tag) = tag else { return variants.first() };
        let value = self.wide(bytes, tag.at, tag.size)?;
        let named = variants.iter().find(|variant| variant.tag == Some(value));
        named.or_else(|| variants.iter().find(|variant| variant.tag.is_none()))
    }

    fn field(&mut self, bytes: &[u8], field: &Field, depth: u32) {
        let below = usize::try_from(field.at).ok().and_then(|at| bytes.get(at..));
        self.value(below.unwrap_or_default(), &field.layout, depth + 1);
    }

    /// `Name { a: 1, b: 2 }`, `Name(1, 2)`, `(1, 2)` or `Name`.
    fn fields(&mut self, bytes: &[u8], fields: &Fields, depth: u32) {
        let Fields { name, fields: parts } = fields;
        self.put(name);
        if parts.is_empty() {
            return;
        }
        let is_tuple = fields.is_tuple();
        self.put(if is_tuple {
            "("
        } else if name.is_empty() {
            "{ "
        } else {
            " { "
        });
        for (index, part) in parts.iter().enumerate() {
            if self.is_full() {
                return;
            }
            if index > 0 {
                self.put(", ");
            }
            if !is_tuple {
                self.put(format_args!("{}: ", part.name));
            }
            self.field(bytes, part, depth);
        }
        // A tuple of one part has a comma.
        self.put(match (is_tuple, name.is_empty() && parts.len() == 1) {
            (true, true) => ",)",
            (true, false) => ")",
            (false, _) => " }",
        });
    }

    fn elements(&mut self, bytes: &[u8], element: &TypeLayout, count: u64, depth: u32) {
        self.put("[");
        for index in 0..count {
            if self.is_full() {
                return;
            }
            if index > 0 {
                self.put(", ");
            }
            let at = element.size.checked_mul(index).and_then(|at| usize::try_from(at).ok());
            let below = at.and_then(|at| bytes.get(at..)).unwrap_or_default();
            if index == ELEMENTS || below.is_empty() && element.size > 0 {
                self.put(format_args!("..; {count}"));
                break;
            }
            self.value(below, element, depth + 1);
        }
        self.put("]");
    }

    fn target(&mut self, target: Target<'_>, layout: &TargetLayout) {
        let Target { bytes, elements } = target;
        match layout {
            TargetLayout::Text => self.text(bytes, elements),
            TargetLayout::Elements(element) => self.elements(bytes, element, elements, 0),
            TargetLayout::Value(layout) => self.value(bytes, layout, 0),
            TargetLayout::Some(inner) => {
                self.put("Some(");
                self.target(target, inner);
                self.put(")");
            }
        }
    }

    /// Elements somewhere else: shown if they are in read-only data of the program.
    fn span(&mut self, bytes: &[u8], span: &TargetSpan, depth: u32) -> Option<()> {
        let word = u64::from(span.word);
        let (address, length) =
            (self.number(bytes, span.pointer, word), self.number(bytes, span.length, word));
        if let (Some(address), Some(length)) = (address, length) {
            let memory = self.memory;
            match &span.element {
                None => {
                    let read = length.min(TEXT);
                    if let Some(text) = if length == 0 { Some(&[][..]) } else { memory.read(address, read) } {
                        self.text(text, length);
                        return Some(());
                    }
                }
                Some(element) => {
                    let read = element.size.checked_mul(length.min(ELEMENTS))?;
                    if let Some(bytes) = if length == 0 { Some(&[][..]) } else { memory.read(address, read) }
                    {
                        self.elements(bytes, element, length, depth);
                        return Some(());
                    }
                }
            }
        }
        let place = address.map_or("..".to_owned(), |address| format!("0x{address:x}"));
        match (span.owner, length) {
            ("", Some(length)) => self.put(format_args!("{place}[..{length}]")),
            ("", None) => self.put(format_args!("{place}[..]")),
            (owner, Some(length)) => self.put(format_args!("{owner}({place}, len {length})")),
            (owner, None) => self.put(format_args!("{owner}({place}, ..)")),
        }
        Some(())
    }

    /// A text, which may be cut anywhere, and is `len` bytes long.
    fn text(&mut self, bytes: &[u8], len: u64) {
        let is_cut = (bytes.len() as u64) < len;
        let valid = match std::str::from_utf8(bytes) {
            Ok(text) => Some(text),
            // The last character was cut, too.
            Err(error) if is_cut && error.error_len().is_none() => {
                std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()
            }
            Err(_) => None,
        };
        match valid {
            Some(text) => self.put(format_args!("{text:?}")),
            None => self.put(format_args!("b\"{}\"", bytes.escape_ascii())),
        }
        if is_cut {
            self.put(format_args!(".. ({len} bytes)"));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::layout::Collection;
    use super::*;

    fn unsigned(size: u64) -> TypeLayout {
        TypeLayout { size, shape: TypeShape::Unsigned }
    }

    fn field(name: &str, at: u64, layout: TypeLayout) -> Field {
        Field { name: name.into(), at, layout }
    }

    fn pair() -> TypeLayout {
        let fields = vec![field("a", 0, unsigned(2)), field("b", 4, unsigned(4))];
        TypeLayout { size: 8, shape: TypeShape::Fields(Fields { name: "Pair".into(), fields }) }
    }

    #[test]
    fn values_that_were_cut_say_so() {
        let bytes = [1, 0, 9, 9, 2, 0, 0, 0];
        let text = |len: usize| render(&bytes[..len], &pair(), &NoMemory);
        assert_eq!(text(8), "Pair { a: 1, b: 2 }");
        assert_eq!(text(6), "Pair { a: 1, b: .. }");
        assert_eq!((text(1), text(0)), ("Pair { a: .., b: .. }".into(), "..".into()));
        // Of another build.
        assert_eq!(render(&[0; 9], &pair(), &NoMemory), hex(&[0; 9], 8));
        assert_eq!(hex(&[12, 0], 4), "0x0c 0x00 .. (4 bytes)");
    }

    #[test]
    fn numbers_that_no_value_has_are_bytes() {
        let text =
            |shape, bytes: &[u8]| render(bytes, &TypeLayout { size: bytes.len() as u64, shape }, &NoMemory);
        assert_eq!(text(TypeShape::Bool, &[7]), "<bytes 07>");
        assert_eq!(text(TypeShape::Char, &[0, 0xd8, 0, 0]), "<bytes 00d80000>");
        assert_eq!(text(TypeShape::Codes(vec![(1, "One".into())]), &[2]), "<bytes 02>");
        assert_eq!(text(TypeShape::Signed, &[0xff; 16]), "-1");
        assert_eq!(text(TypeShape::Float, &[0; 2]), "<bytes 0000>");
    }

    #[test]
    fn targets_are_text_or_elements() {
        let text = |bytes, elements, layout: &TargetLayout| {
            render_target(Target { bytes, elements }, layout, &NoMemory)
        };
        assert_eq!(text(b"a\"b", 3, &TargetLayout::Text), "\"a\\\"b\"");
        assert_eq!(text("aé".as_bytes(), 9, &TargetLayout::Text), "\"aé\".. (9 bytes)");
        assert_eq!(text(&"aé".as_bytes()[..2], 9, &TargetLayout::Text), "\"a\".. (9 bytes)");
        assert_eq!(text(b"\xff", 1, &TargetLayout::Text), "b\"\\xff\"");
        let elements = TargetLayout::Elements(unsigned(2));
        assert_eq!(text(&[1, 0, 2, 0], 2, &elements), "[1, 2]");
        assert_eq!(text(&[1, 0, 2], 2, &elements), "[1, ..]");
        assert_eq!(text(&[1, 0], 2, &elements), "[1, ..; 2]");
        let some = TargetLayout::Some(Box::new(elements));
        assert_eq!(text(&[1, 0], 1, &some), "Some([1])");
        let value = TargetLayout::Value(pair());
        assert_eq!(text(&[1, 0, 9, 9, 2, 0, 0, 0], 1, &value), "Pair { a: 1, b: 2 }");
        assert_eq!(text(&[1, 0], 1, &value), "Pair { a: 1, b: .. }");
    }

    #[test]
    fn collections_have_their_length() {
        let shape = TypeShape::Collection(Collection { name: "HashMap", length: 8, word: 8 });
        let layout = TypeLayout { size: 48, shape };
        let bytes: Vec<u8> = [[0xFF; 8], 3u64.to_le_bytes()].concat();
        assert_eq!(render(&bytes, &layout, &NoMemory), "HashMap(len 3)");
        assert_eq!(render(&bytes[..9], &layout, &NoMemory), "HashMap(..)");
    }

    #[test]
    fn long_values_end_with_points() {
        let layout = TypeLayout { size: 1 << 40, shape: TypeShape::Array(Box::new(unsigned(1)), 1 << 40) };
        let text = render(&[255; 4096], &layout, &NoMemory);
        assert!(text.ends_with(", ..; 1099511627776]") && text.len() <= LONGEST, "{text}");
        let nothing =
            TypeLayout { size: 0, shape: TypeShape::Array(Box::new(TypeLayout::named("()")), u64::MAX) };
        assert!(render(&[], &nothing, &NoMemory).starts_with("[(), (), "));
    }

    fn layouts() -> impl Strategy<Value = TypeLayout> {
        let shapes = prop_oneof![
            Just(TypeShape::Opaque),
            Just(TypeShape::Unsigned),
            Just(TypeShape::Signed),
            Just(TypeShape::Bool),
            Just(TypeShape::Char),
            Just(TypeShape::Float),
            Just(TypeShape::Function),
            Just(TypeShape::Duration),
            (any::<u64>(), any::<u8>()).prop_map(|(length, word)| {
                TypeShape::Collection(Collection { name: "Map", length: length % 40, word })
            }),
            any::<u8>().prop_map(TypeShape::Pointer),
        ];
        let leaf = (0u64..40, shapes).prop_map(|(size, shape)| TypeLayout { size, shape });
        leaf.prop_recursive(4, 24, 4, |inner| {
            let boxed = inner.clone().prop_map(Box::new);
            let part = ("[a_]{1,3}", any::<u64>(), inner.clone());
            let part = part.prop_map(|(name, at, layout)| Field { name, at: at % 50, layout });
            let parts = (any::<bool>(), prop::collection::vec(part, 0..4));
            let fields = parts.prop_map(|(is_named, fields)| {
                TypeShape::Fields(Fields { name: if is_named { "N".into() } else { String::new() }, fields })
            });
            let arrays = (boxed.clone(), any::<u64>()).prop_map(|(of, count)| TypeShape::Array(of, count));
            let spans = (any::<u64>(), any::<u64>(), any::<u8>(), prop::option::of(boxed)).prop_map(
                |(pointer, length, word, element)| {
                    TypeShape::Span(TargetSpan {
                        pointer: pointer % 40,
                        length: length % 40,
                        word,
                        owner: "",
                        element,
                    })
                },
            );
            let variant = (prop::option::of(any::<u128>()), any::<u64>(), inner)
                .prop_map(|(tag, at, layout)| Variant { tag, at, layout });
            let tag =
                (any::<u64>(), any::<u64>()).prop_map(|(at, size)| Tag { at: at % 40, size: size % 40 });
            let variants = (prop::option::of(tag), prop::collection::vec(variant, 0..4))
                .prop_map(|(tag, variants)| TypeShape::Variants(tag, variants));
            (0u64..60, prop_oneof![fields, arrays, spans, variants])
                .prop_map(|(size, shape)| TypeLayout { size, shape })
        })
    }

    proptest! {
        #[test]
        fn any_layout_with_any_bytes_is_a_short_text(
            layout in layouts(),
            bytes in prop::collection::vec(any::<u8>(), 0..64),
        ) {
            let text = render(&bytes, &layout, &NoMemory);
            prop_assert!(!text.is_empty() || layout.shape != TypeShape::Opaque);
            prop_assert!(text.len() <= 8 * LONGEST);
        }

        #[test]
        fn any_target_with_any_bytes_is_a_short_text(
            layout in layouts(),
            bytes in prop::collection::vec(any::<u8>(), 0..64),
            elements in any::<u64>(),
        ) {
            let layouts =
                [TargetLayout::Text, TargetLayout::Elements(layout.clone()), TargetLayout::Value(layout)];
            for layout in layouts {
                let target = Target { bytes: &bytes, elements };
                let plain = render_target(target, &layout, &NoMemory);
                prop_assert!(plain.len() <= 8 * LONGEST);
                let some = render_target(target, &TargetLayout::Some(Box::new(layout)), &NoMemory);
                prop_assert!(some.starts_with("Some(") && some.len() <= 8 * LONGEST);
            }
        }
    }
}
