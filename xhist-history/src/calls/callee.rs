//! What a statement calls and what a body is called: whether the one can mean the other.

use std::collections::HashMap;

/// A call in the text of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Index of its last segment.
    pub key: u32,
    /// How it is written.
    pub kind: CallKind,
    /// One execution of the statement may repeat the call.
    pub repeats: bool,
    /// A body of the program may be meant.
    pub is_known: bool,
    /// It polls a future.
    pub polls: bool,
    /// Code outside the program takes the items of an iterator.
    pub iterates: bool,
}

/// How a call is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// `name(..)`.
    Plain,
    /// `.name(..)`.
    Method,
    /// `Type::name(..)`, with the index of the type.
    Of(u32),
    /// `Self::name(..)`.
    OfSelf,
    /// `module::name(..)`.
    In(u32),
    /// `name!(..)` of the standard library.
    StdMacro,
    /// `name!(..)` of the program or a dependency.
    Macro,
    /// A value that is called, such as a closure in a variable.
    Value,
    /// A struct that is made.
    Struct,
    /// The `?` operator.
    Question,
    /// Any other operator, with the index of the trait that may implement it.
    Operator(u32),
}

impl Call {
    /// Whether code outside the program may run, which may call functions of the program back.
    pub fn is_unknown(self) -> bool {
        // The code in the arguments of a macro may run inside its body.
        (!self.is_known || self.kind == CallKind::Macro)
            && !matches!(self.kind, CallKind::Question | CallKind::Struct | CallKind::Operator(_))
    }
}

/// The names of a program, each once.
#[derive(Clone, Debug, Default)]
pub struct CallWords(HashMap<String, u32>);

impl CallWords {
    /// The index of a word.
    pub fn add(&mut self, word: &str) -> u32 {
        if let Some(index) = self.0.get(word) {
            return *index;
        }
        let index = self.0.len() as u32;
        self.0.insert(word.to_owned(), index);
        index
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// The name of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BodyName {
    /// Index of its last segment.
    pub key: u32,
    /// The segment before it.
    pub parent: Option<u32>,
    /// That segment is a type or a trait.
    pub of_type: bool,
    /// The trait that it implements.
    pub of_trait: Option<u32>,
    /// It is the body of a rule of a macro.
    pub is_macro: bool,
    /// It is in the rule of a macro, so its name may be one that the call of the macro gives.
    pub is_in_macro: bool,
}

impl BodyName {
    /// The name of a body with this path.
    pub fn new(path: &str, of_trait: &str, words: &mut CallWords) -> BodyName {
        let mut segments = path.rsplit("::");
        let last = segments.next().unwrap_or_default();
        let (last, is_macro) = last.strip_suffix('!').map_or((last, false), |name| (name, true));
        let key = words.add(last);
        let parent = segments.next();
        let of_type = !of_trait.is_empty()
            || !is_macro && parent.is_some_and(|parent| !parent.starts_with(char::is_lowercase));
        let of_trait = (!of_trait.is_empty()).then(|| words.add(of_trait));
        let is_in_macro = path.contains("!::");
        BodyName {
            key,
            parent: parent.map(|parent| words.add(parent)),
            of_type,
            of_trait,
            is_macro,
            is_in_macro,
        }
    }

    /// Whether a call in `caller` may mean this body. `is_type` knows the types and traits of the program's bodies.
    pub fn is_meant(self, call: Call, caller: BodyName, is_type: impl Fn(u32) -> bool) -> bool {
        let is_default = self.of_trait.is_some() && self.of_trait == self.parent;
        self.key == call.key
            && self.is_macro == (call.kind == CallKind::Macro)
            && match call.kind {
                CallKind::Plain => !self.of_type,
                CallKind::Method => self.of_type,
                CallKind::Of(of) => {
                    self.of_type
                        && (self.parent == Some(of)
                            || self.of_trait == Some(of)
                            || is_default
                            || !is_type(of))
                }
                CallKind::OfSelf => {
                    self.of_type
                        && (self.parent == caller.parent || is_default || caller.of_trait == caller.parent)
                }
                CallKind::In(of) => !self.of_type || self.parent == Some(of),
                CallKind::Macro => true,
                CallKind::StdMacro => false,
                CallKind::Value | CallKind::Struct | CallKind::Question | CallKind::Operator(_) => false,
            }
    }
}

/// Macros of the standard library: their rules call nothing of the program but implementations of traits.
const STD_MACROS: [&str; 26] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "cfg",
    "concat",
    "dbg",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "env",
    "eprint",
    "eprintln",
    "format",
    "format_args",
    "include_str",
    "line",
    "matches",
    "panic",
    "print",
    "println",
    "todo",
    "unimplemented",
    "unreachable",
    "vec",
    "write",
    "writeln",
];

/// Parses a name of a map: `name`, `Type::name`, `.name`, `name!`, `()`, `&name`, `?`, `@Trait`.
pub fn call(name: &str, repeats: bool, words: &mut CallWords) -> Call {
    let (name, is_reference) = name.strip_prefix('&').map_or((name, false), |name| (name, true));
    let repeats = repeats || is_reference;
    let is_type = |name: &str| name.starts_with(char::is_uppercase);
    let (last, kind) = if name == "?" {
        (name, CallKind::Question)
    } else if name == "()" {
        (name, CallKind::Value)
    } else if let Some(of_trait) = name.strip_prefix('@') {
        (name, CallKind::Operator(words.add(of_trait)))
    } else if let Some(method) = name.strip_prefix('.') {
        (method, CallKind::Method)
    } else if let Some(name) = name.strip_suffix('!') {
        (name, if STD_MACROS.contains(&name) { CallKind::StdMacro } else { CallKind::Macro })
    } else if let Some((of, last)) = name.split_once("::") {
        let kind = match of {
            "Self" => CallKind::OfSelf,
            of if is_type(of) => CallKind::Of(words.add(of)),
            of => CallKind::In(words.add(of)),
        };
        (last, kind)
    } else if name == "Self" {
        (name, CallKind::OfSelf)
    } else if is_type(name) {
        (name, CallKind::Struct)
    } else {
        (name, CallKind::Plain)
    };
    let polls =
        last.starts_with("poll") && matches!(kind, CallKind::Method | CallKind::Of(_) | CallKind::In(_));
    let iterates = CONSUMERS.contains(&last) && !matches!(kind, CallKind::Struct | CallKind::Operator(_));
    Call { key: words.add(last), kind, repeats, is_known: false, polls, iterates }
}

/// Functions and methods of the standard library and of `itertools` that take the items of an
/// iterator. Others, such as `map`, only make a new one.
const CONSUMERS: [&str; 48] = [
    "all",
    "any",
    "cmp",
    "collect",
    "collect_vec",
    "count",
    "eq",
    "extend",
    "find",
    "find_map",
    "fold",
    "for_each",
    "from_iter",
    "is_partitioned",
    "is_sorted",
    "is_sorted_by",
    "is_sorted_by_key",
    "join",
    "last",
    "lt",
    "max",
    "max_by",
    "max_by_key",
    "min",
    "min_by",
    "min_by_key",
    "ne",
    "next",
    "next_back",
    "next_if",
    "nth",
    "nth_back",
    "partial_cmp",
    "partition",
    "peek",
    "position",
    "product",
    "reduce",
    "rfind",
    "rfold",
    "rposition",
    "sorted",
    "sorted_by",
    "sorted_by_key",
    "sum",
    "try_fold",
    "try_for_each",
    "unzip",
];

/// Other traits whose methods run without being named: formatting, iteration, conversion, the end of a scope.
const IMPLICIT: [&str; 38] = [
    "AsMut",
    "AsRef",
    "Binary",
    "Borrow",
    "BufRead",
    "Clone",
    "Debug",
    "Default",
    "Deref",
    "DerefMut",
    "Deserialize",
    "Display",
    "DoubleEndedIterator",
    "Drop",
    "Eq",
    "Error",
    "ExactSizeIterator",
    "Extend",
    "FromIterator",
    "FromStr",
    "Future",
    "Hash",
    "Hasher",
    "IndexMut",
    "Into",
    "IntoIterator",
    "Iterator",
    "LowerHex",
    "Ord",
    "Product",
    "Read",
    "Seek",
    "Serialize",
    "Stream",
    "Sum",
    "ToString",
    "TryFrom",
    "Write",
];

/// Traits that an operator calls, so that no call is in the text.
const OPERATORS: [&str; 26] = [
    "Add",
    "AddAssign",
    "BitAnd",
    "BitAndAssign",
    "BitOr",
    "BitOrAssign",
    "BitXor",
    "BitXorAssign",
    "Div",
    "DivAssign",
    "From",
    "Index",
    "Mul",
    "MulAssign",
    "Neg",
    "Not",
    "PartialEq",
    "PartialOrd",
    "Rem",
    "RemAssign",
    "Shl",
    "ShlAssign",
    "Shr",
    "ShrAssign",
    "Sub",
    "SubAssign",
];

/// How methods of a trait are called without being named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Implicit {
    /// They are not.
    Never,
    /// By code outside the program that a statement calls, such as `println!`.
    ByCall,
    /// By an operator, or by code outside the program. The index of the trait that maps name for the operator.
    ByOperator(u32),
    /// By any code: the text shows neither the end of a scope nor most dereferences.
    Anywhere,
    /// By a `for` loop, or by code outside the program.
    ByLoop,
}

/// What fails because another thread panicked.
const PASSES_ON: [&str; 7] = [".join", "scope", ".lock", ".read", ".write", ".recv", ".send"];

/// What a statement names that panics, or has to do with panics.
#[derive(Clone, Copy, Debug, Default)]
pub struct PanicCalls {
    /// `catch_unwind`.
    pub catches: bool,
    /// `resume_unwind`.
    pub resumes: bool,
    /// `set_hook`.
    pub sets_hook: bool,
    /// What passes on the panic of another thread: `join`, `scope`, the lock that a panic left poisoned.
    pub passes_on: bool,
    /// What panics if a condition does not hold.
    pub checks: bool,
    /// What makes a text of values, which a check may compare: `to_string`, `format!`.
    pub makes_text: bool,
}

impl PanicCalls {
    /// Of the names that a statement calls, as maps write them.
    pub fn of<'n>(names: impl Iterator<Item = &'n str>) -> PanicCalls {
        let mut found = PanicCalls::default();
        for name in names {
            found.catches |= name.ends_with("catch_unwind");
            found.resumes |= name.ends_with("resume_unwind");
            found.sets_hook |= name.ends_with("set_hook");
            found.passes_on |= PASSES_ON.iter().any(|end| name.ends_with(end));
            found.checks |= is_check(name);
            found.makes_text |= [".to_string", "format!"].iter().any(|end| name.ends_with(end));
        }
        found
    }
}

/// What panics if a condition does not hold, as maps write it.
fn is_check(call: &str) -> bool {
    let macros = ["panic!", "unreachable!", "todo!", "unimplemented!"];
    let methods = [".unwrap", ".expect"];
    let name = call.rsplit("::").next().unwrap_or(call);
    name.ends_with('!') && (name.contains("assert") || macros.contains(&name))
        || methods.iter().any(|method| name.starts_with(method))
}

/// How the methods of a trait are called without being named.
pub fn implicit(of_trait: &str, words: &mut CallWords) -> Implicit {
    match of_trait {
        "Iterator" | "IntoIterator" => Implicit::ByLoop,
        "Deref" | "DerefMut" | "Drop" => Implicit::Anywhere,
        "Eq" => Implicit::ByOperator(words.add("PartialEq")),
        "Ord" => Implicit::ByOperator(words.add("PartialOrd")),
        "IndexMut" => Implicit::ByOperator(words.add("Index")),
        of_trait if OPERATORS.contains(&of_trait) => Implicit::ByOperator(words.add(of_trait)),
        of_trait if IMPLICIT.contains(&of_trait) => Implicit::ByCall,
        _ => Implicit::Never,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_panics_if_a_condition_does_not_hold_is_a_check() {
        let checks = ["assert_eq!", "debug_assert!", "std::panic!", ".unwrap", ".expect_err", "todo!"];
        assert!(checks.iter().all(|name| PanicCalls::of([*name].into_iter()).checks));
        let others = ["assert", "println!", "unwrap", "panicking", ".map"];
        assert!(!PanicCalls::of(others.into_iter()).checks);
    }
}
