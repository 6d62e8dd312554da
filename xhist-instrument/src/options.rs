//! What the user may choose: [`Settings`] of a command line or a manifest, and the [`Options`] of one file that follow.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// When a statement is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// Before it runs: the statement that never returned is the last entry.
    #[default]
    Before,
    /// After it ran, as in the Xhist paper. Jumps and tail expressions are still recorded before.
    After,
}

/// How much of a program is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Detail {
    /// Every statement.
    #[default]
    Statement,
    /// The first statement of each function, closure with a block and async block.
    Function,
}

/// Whether async tasks are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tasks {
    /// Each run of an async body has a number, recorded where the body begins, goes on behind an `.await`, and ends.
    #[default]
    On,
    /// Only statements.
    Off,
}

/// Whether what a program prints is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrintedOutput {
    /// The texts of `print!`, `println!`, `eprint!`, `eprintln!` and `dbg!` are records at their statements.
    #[default]
    On,
    /// Only the statements.
    Off,
}

/// How much of a value is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum, Serialize, Deserialize)]
pub enum ValueBytes {
    /// At most 8 bytes.
    #[value(name = "8")]
    #[serde(rename = "8")]
    Eight,
    /// At most 32 bytes.
    #[value(name = "32")]
    #[serde(rename = "32")]
    ThirtyTwo,
}

/// Which values of a file are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Values {
    /// None.
    #[default]
    Off,
    /// At most 8 bytes of each.
    Eight,
    /// At most 32 bytes of each.
    ThirtyTwo,
    /// 64 bytes, and what references, texts and slices of numbers point to.
    Targets,
}

impl Values {
    /// The room that a value takes at most, in statements.
    pub(crate) const fn cost(self) -> u32 {
        match self {
            Self::Off => 0,
            Self::Eight => 5,
            Self::ThirtyTwo => 20,
            Self::Targets => 48,
        }
    }
}

/// Options of both command lines, and keys of the table `metadata.xhist` of a manifest. A field is all that an option
/// needs: parsers, help texts and the cache key of `cargo xhist` are derived from this struct.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// Record every statement, or only that functions, closures with a block and async blocks were entered, which is
    /// cheaper [default: statement, or what the manifest sets]. The map describes all statements in both cases.
    #[arg(long, value_enum)]
    pub detail: Option<Detail>,

    /// Record before or after the statement [default: before, or what the manifest sets]. Jumps and tail expressions, and
    /// entries with --detail function, are always recorded before.
    #[arg(long, value_enum)]
    pub when: Option<When>,

    /// Record which async task each statement belongs to, so that the report names the tasks that are parked at an `.await`
    /// [default: on, or what the manifest sets]. A future grows by 6 bytes. Off with --detail function and --when after.
    #[arg(long, value_enum)]
    pub tasks: Option<Tasks>,

    /// Record what the program prints by `println!` and its like, each text at its statement [default: on, or what the
    /// manifest sets]. For `cargo xhist`: sources that are instrumented in place name the macros of xhist-rt themselves.
    #[arg(long, value_enum)]
    pub output: Option<PrintedOutput>,

    /// Only files whose path matches or, with `::` in it, only what has such a Rust path: `my_crate::parser`,
    /// `**::tests::*`. May be given several times.
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,

    /// Not the files whose path, or a directory above them, matches; with `::` in it, not what has such a Rust path or is
    /// inside it. May be given several times.
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,

    /// Of functions that match, or are in a file that does, record only the entry: the first statement. Patterns as for
    /// --exclude. May be given several times.
    #[arg(long, value_name = "GLOB")]
    pub thin: Vec<String>,

    /// In functions and files that match, also record the values of parameters, of bindings and of assignments to local
    /// names. Patterns as for --exclude; `**` is everything. May be given several times.
    #[arg(long, value_name = "GLOB")]
    pub values: Vec<String>,

    /// Record only the first N bytes of each value, and not what it points to, which is cheaper [default: what the manifest
    /// sets, or else 64 bytes, and 64 of the text, the numbers or the structure behind a reference].
    #[arg(long, value_enum, value_name = "N")]
    pub value_bytes: Option<ValueBytes>,

    /// Record what values point to although --value-bytes or the manifest says otherwise.
    #[arg(long)]
    pub value_targets: bool,

    /// Stop recording when NAME, which is bound or assigned in this line, has this value, AFTER statements behind it;
    /// without VALUE, when it has any. May be given several times.
    #[arg(long, value_name = "FILE:LINE:NAME[=VALUE][+AFTER]")]
    #[serde(skip_serializing)]
    pub watch: Vec<String>,

    /// Stop recording at the statement in this line, when it runs for the HITth time, AFTER statements behind it: the
    /// history keeps what came before. FILE is a path, or the end of one. If no statement starts in the line, the innermost
    /// one around it is taken. May be given several times.
    // Not part of the cache key: cargo watches the instrumented files, which change with triggers.
    #[arg(long, value_name = "FILE:LINE[#HIT][+AFTER]")]
    #[serde(skip_serializing)]
    pub stop_at: Vec<String>,

    /// Start recording at the statement in this line, when it runs for the HITth time, in a program that runs with
    /// XHIST=wait. May be given several times.
    #[arg(long, value_name = "FILE:LINE[#HIT]")]
    #[serde(skip_serializing)]
    pub start_at: Vec<String>,
}

impl Settings {
    /// The settings of a command line for a file with these manifests around it, the nearest first: the first that sets a
    /// value wins, and what none sets has its default. Patterns and triggers stay those of the command line, because the
    /// paths in them start elsewhere; only `values` has those of all, so that a file's options say whether there are any.
    pub fn over<'a>(&self, manifests: impl IntoIterator<Item = &'a Settings>) -> Settings {
        let mut merged = self.clone();
        for manifest in manifests {
            merged.detail = merged.detail.or(manifest.detail);
            merged.when = merged.when.or(manifest.when);
            merged.tasks = merged.tasks.or(manifest.tasks);
            merged.output = merged.output.or(manifest.output);
            merged.value_bytes = merged.value_bytes.or(manifest.value_bytes);
            merged.value_targets |= manifest.value_targets;
            merged.values.extend(manifest.values.iter().cloned());
        }
        merged.detail.get_or_insert_default();
        merged.when.get_or_insert_default();
        merged.tasks.get_or_insert_default();
        merged.output.get_or_insert_default();
        merged
    }

    /// The options of a file that has these settings.
    pub fn options(&self) -> Options {
        Options {
            detail: self.detail.unwrap_or_default(),
            when: self.when.unwrap_or_default(),
            tasks: self.tasks.unwrap_or_default(),
            values: match self.value_bytes {
                _ if self.values.is_empty() => Values::Off,
                _ if self.value_targets => Values::Targets,
                Some(ValueBytes::Eight) => Values::Eight,
                Some(ValueBytes::ThirtyTwo) => Values::ThirtyTwo,
                None => Values::Targets,
            },
            ..Options::default()
        }
    }
}

/// How `fn main` gets the hash of the map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MainHash {
    /// It does not get one.
    #[default]
    None,
    /// This hash is written into the source.
    Literal(u64),
    /// A macro reads the hash from the environment when the program is compiled.
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
    /// Whether async tasks are recorded.
    pub tasks: Tasks,
    /// How much of values is recorded.
    pub values: Values,
    /// How `fn main` gets the hash of the map.
    pub main_hash: MainHash,
    /// The program records values, so `fn main` says that they are there.
    pub main_values: bool,
    /// Triggers will be set: macros must take those calls too.
    pub triggers: bool,
    /// Triggers will be set at values, which have to be found.
    pub watches: bool,
    /// A `const fn` may call the recorder.
    pub constants: bool,
    /// The rules of macros have calls, except those that [`crate::Macros::refuse`] names.
    pub rules: bool,
}

impl Options {
    /// Whether bindings are looked for.
    pub(crate) fn finds_values(&self) -> bool {
        self.values != Values::Off || self.watches
    }

    /// Whether async tasks are recorded. That needs every statement, recorded before it runs: the last one of a task
    /// is the `.await` that it is parked at.
    pub(crate) fn records_tasks(&self) -> bool {
        self.tasks == Tasks::On && self.detail == Detail::Statement && self.when == When::Before
    }

    /// Whether a statement that is neither a jump nor a tail expression is recorded after it ran.
    pub(crate) fn records_after(&self) -> bool {
        self.when == When::After && self.detail == Detail::Statement
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_wins_over_manifests_and_the_nearest_manifest_over_others() {
        let settings = |detail, when| Settings { detail, when, ..Settings::default() };
        let package = settings(None, Some(When::After));
        let workspace = settings(Some(Detail::Function), Some(When::Before));
        let merged = |own: &Settings| own.over([&package, &workspace]).options();
        let of_manifests = merged(&Settings::default());
        assert_eq!((of_manifests.detail, of_manifests.when), (Detail::Function, When::After));
        let own = merged(&settings(Some(Detail::Statement), None));
        assert_eq!((own.detail, own.when), (Detail::Statement, When::After));
    }

    #[test]
    fn a_default_and_its_explicit_value_have_the_same_cache_key_and_triggers_none() {
        let key = |settings: &Settings| serde_json::to_string(&settings.over([])).unwrap();
        let explicit = Settings {
            detail: Some(Detail::Statement),
            stop_at: vec!["a.rs:1".into()],
            ..Settings::default()
        };
        assert_eq!(key(&explicit), key(&Settings::default()));
        let thin = Settings { thin: vec!["a".into()], ..Settings::default() };
        assert_ne!(key(&thin), key(&Settings::default()));
    }
}
