//! The command line of `xhist-instrument`.

use crate::Settings;
use clap::{Parser, ValueEnum};
use std::path::{Path, PathBuf};

/// Rewrites Rust sources so that every statement records its file and line.
///
/// Calls are inserted on the same lines; comments, formatting and line numbers stay. `--strip` removes exactly
/// them. Each file is proved before it is replaced; a file that cannot be handled is left as it was.
/// Sources that are instrumented already are brought up to date.
///
/// Exit codes: 0 done, 1 some file was left alone on an error, 2 usage.
#[derive(Debug, Parser)]
#[command(name = "xhist-instrument", version)]
pub struct Args {
    /// Files, directories (searched for .rs files; hidden ones and build output are passed over), or `-` alone:
    /// a filter from stdin to stdout.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Remove everything that was inserted.
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

    #[command(flatten)]
    #[allow(missing_docs, reason = "a doc comment here would replace the text above the options")]
    pub settings: Settings,

    /// The map of file ids and statements [default: xhist.map beside the nearest Cargo.toml, or in DIR]. Maps of earlier
    /// runs and the texts of sources are kept in FILE.d.
    #[arg(long, value_name = "FILE")]
    pub map: Option<PathBuf>,

    /// Edition of the sources [default: from the nearest Cargo.toml; 2021 without one].
    #[arg(long, value_enum)]
    pub edition: Option<EditionArg>,

    /// With `-`: path of the source, for messages and the map. A map is then written as in the other modes; without a
    /// path, no map names the statements.
    #[arg(long, value_name = "PATH", default_value = STDIN)]
    pub stdin_path: PathBuf,
}

/// The name of a source from stdin whose path is not known.
const STDIN: &str = "<stdin>";

impl Args {
    /// Whether the user names the source from stdin.
    pub fn has_stdin_path(&self) -> bool {
        self.stdin_path != Path::new(STDIN)
    }
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
