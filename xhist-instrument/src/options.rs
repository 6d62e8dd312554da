//! What the caller may choose about one file. Knows nothing of command lines or manifests.

use serde::Deserialize;

/// Where the call stands relative to its statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// The statement that never returned is the last entry.
    #[default]
    Before,
    /// As in the Xhist paper; jumps and tail expressions are still recorded before.
    After,
}

/// How much of a program is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Detail {
    /// Every statement.
    #[default]
    Statement,
    /// Only that functions, closures with a block and async blocks were entered: the first statement of each.
    Function,
}

/// What `fn main` is told about the map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MainHash {
    /// Nothing.
    #[default]
    None,
    /// This hash, written into the source.
    Literal(u64),
    /// A macro that reads the hash from the environment when the program is compiled.
    FromEnv,
}

/// Options for one source file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Edition 2015 needs `xhist_rt::` where later editions need `::xhist_rt::`.
    pub edition2015: bool,
    /// Every statement or entries only.
    pub detail: Detail,
    /// Before or after the statement. Entries are always recorded before it.
    pub when: When,
    /// What `fn main` is told about the map.
    pub main_hash: MainHash,
    /// Triggers will be set: macros must take those calls too.
    pub triggers: bool,
}

impl Options {
    /// Whether a statement that is no jump and no tail expression is recorded once it is done.
    pub(crate) fn records_after(&self) -> bool {
        self.when == When::After && self.detail == Detail::Statement
    }
}
