//! The command line of `pack`: one file with a run, to send.

use std::io::{self, Read, Seek};
use std::path::PathBuf;

use clap::Args;

use super::document;
use super::error::UsageError;
use super::options::is_same;
use crate::pack::{self, PackChoice, PackFault};
use xhist_history::ExitCode;
use xhist_history::notes::Notes;
use xhist_history::notes::typed;
use xhist_history::runs::{self, HistoryPlace};

const AFTER_HELP: &str = "\
The file is a tar archive in gzip. Every command that takes a run or a ring file takes it as well, on any machine:
`answer FILE`, `suspects FILE`, `diff FILE::TEST`, `view FILE`, `page FILE`.

Exit codes: 0 complete; 1 a map was not found; 2 wrong arguments, or a file cannot be read or written.

Examples:
  xhist-report pack                       the run that failed last
  xhist-report pack prev -o failed.tar.gz
  xhist-report pack dump.bin --no-sources   one dump, with its map only";

/// One file with the rings of a run, their maps and the sources that ran.
#[derive(Clone, Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct PackArgs {
    /// A run (`last`, `prev`, `-2`, a name or a directory), a ring file, a core or a dump; without it the run that failed
    /// last
    #[arg(value_name = "RUN", allow_negative_numbers = true)]
    run: Option<PathBuf>,

    /// Write this file; without it `xhist-RUN.tar.gz` in the current directory
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Leave out the texts of sources
    #[arg(long)]
    no_sources: bool,

    /// Take the programs too: they have the types of values, and are large
    #[arg(long)]
    programs: bool,

    /// The map of the build, if it is not found
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
}

/// Writes the file.
///
/// # Errors
/// Nothing is there to pack, or a file cannot be read or written.
pub(super) fn run(args: &PackArgs, notes: &mut Notes<'_>) -> Result<ExitCode, UsageError> {
    let dir = std::env::current_dir().map_err(UsageError::WorkDir)?;
    let place = match &args.run {
        Some(run) => runs::find(&dir, run)?.ok_or_else(|| UsageError::NoRun(run.clone()))?,
        None => match runs::failed(&dir)? {
            path if path.is_dir() => HistoryPlace::Run(path),
            path => HistoryPlace::File(path),
        },
    };
    let choice = PackChoice { sources: !args.no_sources, programs: args.programs };
    let entries = pack::entries(&place, choice, args.map.as_deref(), notes).map_err(|fault| match fault {
        PackFault::Source(error) => UsageError::from(error),
        PackFault::Pack(error) => UsageError::Pack(error),
    })?;
    let default = || PathBuf::from(format!("xhist-{}.tar.gz", pack::name_of(&place)));
    let output = args.output.clone().unwrap_or_else(default);
    let named = args.run.iter().chain(match &place {
        HistoryPlace::File(path) => Some(path),
        HistoryPlace::Run(_) => None,
    });
    if named.into_iter().any(|read| is_same(&output, read)) {
        return Err(UsageError::Overwritten(output));
    }
    // First as a whole elsewhere: the file is replaced only by a complete one.
    let written = tempfile::tempfile().map_err(xhist_history::runs::pack::PackError::Write)?;
    let mut packed = io::BufWriter::with_capacity(256 << 10, written);
    xhist_history::runs::pack::write(&mut packed, &entries)?;
    let mut packed = packed
        .into_inner()
        .map_err(|error| xhist_history::runs::pack::PackError::Write(error.into_error()))?;
    packed.rewind().map_err(xhist_history::runs::pack::PackError::Write)?;
    let code =
        document::write(&output, false, notes, |out, notes| match io::copy(&mut packed.by_ref(), out) {
            Ok(_) => ExitCode::Complete,
            Err(error) => {
                notes.error(format_args!("cannot write {}: {error}", output.display()));
                ExitCode::Usage
            }
        });
    if code == ExitCode::Complete {
        notes.note(format_args!(
            "on any machine: {}",
            typed::command(format!("answer {}", typed::quoted(&*output.to_string_lossy())))
        ));
    }
    Ok(code.max(notes.finish()))
}
