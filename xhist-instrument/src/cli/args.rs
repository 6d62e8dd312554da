//! What was typed. Knows nothing of what happens then.

use clap::{Parser, ValueEnum};
use std::path::PathBuf;

/// Rewrites Rust sources so that every statement records its file and line.
///
/// Calls are inserted on the same lines; comments, formatting and line numbers stay. `--strip` takes exactly
/// them out again. Each file is proved before it is replaced; a file that cannot be handled is left as it was.
/// Sources that are instrumented already are brought up to date. Instrument all sources of a program in one run: its
/// `main` carries the hash of the map written by that run.
///
/// Exit codes: 0 done, 1 some file was left alone on an error, 2 usage.
#[derive(Debug, Parser)]
#[command(name = "xhist-instrument", version)]
pub struct Args {
    /// Files, directories (searched for .rs files; hidden ones and build output are passed over), or `-` alone:
    /// a filter from stdin to stdout.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Take everything inserted out again.
    #[arg(long, conflicts_with_all = ["check", "list", "out_dir", "start_at", "stop_at"])]
    pub strip: bool,

    /// Do everything except writing.
    #[arg(long, conflicts_with_all = ["list", "out_dir"])]
    pub check: bool,

    /// Print every statement as `path:line:column kind function`, and everything left alone with its reason.
    #[arg(long, conflicts_with = "out_dir")]
    pub list: bool,

    /// Leave the sources alone and write the tree to this directory, .rs files instrumented, the others copied.
    /// One PATH that is a directory becomes DIR itself; otherwise each PATH is put below DIR.
    #[arg(short, long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,

    /// With --out-dir: first put one statement on a line, for generated or minified sources. Lines are those of the
    /// written files; comments are lost.
    #[arg(long, requires = "out_dir")]
    pub reflow: bool,

    /// Record every statement, or only that functions, closures with a block and async blocks were entered [default:
    /// statement, or what the manifest wants]. The map describes all statements all the same.
    #[arg(long, value_enum)]
    pub detail: Option<DetailArg>,

    /// Record before or after the statement [default: before, or what the manifest wants]. Jumps and tail
    /// expressions, and entries with --detail function, are always recorded before.
    #[arg(long, value_enum)]
    pub when: Option<WhenArg>,

    /// The map of file ids and statements [default: xhist.map beside the nearest Cargo.toml, or in DIR]. Maps of earlier
    /// runs are kept in FILE.d.
    #[arg(long, value_name = "FILE")]
    pub map: Option<PathBuf>,

    /// Only files whose path matches or, with `::` in it, only what has such a Rust path: `my_crate::parser`,
    /// `**::tests::*`. May be given several times.
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,

    /// Not the files whose path, or a directory above them, matches; with `::` in it, not what has such a Rust path
    /// or stands in it. May be given several times.
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,

    /// Of functions that match, or stand in a file that does, only that they were entered: the first statement. Patterns
    /// as for --exclude. May be given several times.
    #[arg(long, value_name = "GLOB")]
    pub thin: Vec<String>,

    /// Stop recording at the statement in this line, when it runs for the HITth time, AFTER statements behind it: the
    /// history keeps what came before. FILE is a path, or the end of one. Without a statement that starts in the line it
    /// is the innermost one around it. May be given several times.
    #[arg(long, value_name = "FILE:LINE[#HIT][+AFTER]")]
    pub stop_at: Vec<String>,

    /// Start recording at the statement in this line, when it runs for the HITth time, in a program that runs with
    /// XHIST=wait. May be given several times.
    #[arg(long, value_name = "FILE:LINE[#HIT]")]
    pub start_at: Vec<String>,

    /// Edition of the sources [default: from the nearest Cargo.toml; 2021 without one].
    #[arg(long, value_enum)]
    pub edition: Option<EditionArg>,

    /// With `-`: path of the source, for messages and the map.
    #[arg(long, value_name = "PATH", default_value = "<stdin>")]
    pub stdin_path: PathBuf,
}

/// Every statement or entries only.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum DetailArg {
    /// Every statement.
    Statement,
    /// The first statement of each function, closure with a block and async block.
    Function,
}

impl From<DetailArg> for crate::Detail {
    fn from(detail: DetailArg) -> Self {
        match detail {
            DetailArg::Statement => Self::Statement,
            DetailArg::Function => Self::Function,
        }
    }
}

/// Before or after.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum WhenArg {
    /// The statement that never returned is the last entry.
    Before,
    /// A statement is recorded once it is done.
    After,
}

/// A Rust edition.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
#[value(rename_all = "verbatim")]
pub enum EditionArg {
    /// Paths start at the crate root.
    #[value(name = "2015")]
    E2015,
    /// Like all later ones, as far as inserted calls go.
    #[value(name = "2018")]
    E2018,
    /// The edition before the current one.
    #[value(name = "2021")]
    E2021,
    /// The current edition.
    #[value(name = "2024")]
    E2024,
}

impl From<WhenArg> for crate::When {
    fn from(when: WhenArg) -> Self {
        match when {
            WhenArg::Before => Self::Before,
            WhenArg::After => Self::After,
        }
    }
}
