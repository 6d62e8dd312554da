//! The layout of a type: where its parts are, and what they mean.

/// The layout of a type.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeLayout {
    /// Bytes of a value.
    pub size: u64,
    /// What they mean.
    pub shape: TypeShape,
}

/// What the bytes of a value mean.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeShape {
    /// It is not known.
    Opaque,
    /// A type too deep in another one.
    Deep,
    /// A number with a sign.
    Signed,
    /// A number without a sign.
    Unsigned,
    /// `false` or `true`.
    Bool,
    /// A character.
    Char,
    /// A number with a point.
    Float,
    /// An address; the rest, as of a trait object, is not shown.
    Pointer(u8),
    /// The address of a function.
    Function,
    /// Elements somewhere else.
    Span(TargetSpan),
    /// Named parts; without a part only the name.
    Fields(Fields),
    /// Equal parts.
    Array(Box<TypeLayout>, u64),
    /// Names of numbers.
    Codes(Vec<(u128, String)>),
    /// One of several, by a tag.
    Variants(Option<Tag>, Vec<Variant>),
    /// Seconds and nanoseconds.
    Duration,
    /// A collection, of which only the number of its elements is shown.
    Collection(Collection),
    /// From here to there.
    Range(Box<[Field; 2]>),
}

/// Elements somewhere else: their address and their number.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetSpan {
    /// Where the address is.
    pub pointer: u64,
    /// Where the number is.
    pub length: u64,
    /// Bytes of each.
    pub word: u8,
    /// The type that owns them; empty for a reference.
    pub owner: &'static str,
    /// Their type; `None` for text.
    pub element: Option<Box<TypeLayout>>,
}

/// A collection of the standard library.
#[derive(Clone, Debug, PartialEq)]
pub struct Collection {
    /// Its name.
    pub name: &'static str,
    /// Where the number of its elements is.
    pub length: u64,
    /// Bytes of that.
    pub word: u8,
}

/// What the recorded target of a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum TargetLayout {
    /// Text.
    Text,
    /// Elements of this type.
    Elements(TypeLayout),
    /// One value of this type.
    Value(TypeLayout),
    /// What the value in a `Some` points to.
    Some(Box<TargetLayout>),
}

/// Parts of a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields {
    /// Name of the type; empty for a tuple.
    pub name: String,
    /// Its parts, in the order of the source.
    pub fields: Vec<Field>,
}

impl Fields {
    /// Whether the parts have numbers, not names.
    pub fn is_tuple(&self) -> bool {
        self.fields.first().is_some_and(|field| field.name.strip_prefix("__").is_some_and(is_number))
    }
}

/// A part of a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name; `__0`, `__1` ... in a tuple.
    pub name: String,
    /// Where it is.
    pub at: u64,
    /// Its type.
    pub layout: TypeLayout,
}

/// Where the tag of an enumeration is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tag {
    /// Its place.
    pub at: u64,
    /// Its bytes.
    pub size: u64,
}

/// A variant of an enumeration.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// The tag; `None` for any that no other variant has.
    pub tag: Option<u128>,
    /// Where its parts are, and what they mean.
    pub at: u64,
    /// Its name and its parts.
    pub layout: TypeLayout,
}

impl TypeLayout {
    /// Bytes without a known meaning.
    pub fn opaque(size: u64) -> TypeLayout {
        TypeLayout { size, shape: TypeShape::Opaque }
    }

    /// A type without bytes, by name.
    pub fn named(name: &str) -> TypeLayout {
        TypeLayout { size: 0, shape: TypeShape::Fields(Fields { name: name.to_owned(), fields: Vec::new() }) }
    }

    /// Whether a part with this layout fits in a value of `size` bytes.
    pub fn fits(&self, at: u64, size: u64) -> bool {
        at.checked_add(self.size).is_some_and(|end| end <= size)
    }
}

/// Whether a text is a number, as of a field of a tuple.
fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
