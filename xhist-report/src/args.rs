//! What was typed. It must not know what it leads to.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Parser;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::format::{self, About, FORMATS};
use crate::options::{Layout, MapPlaces, Options};
use crate::qs_args::QsArgs;
use crate::source::{self, Opened};

const AFTER_HELP: &str = "\
On a pipe, `history` prints `N file:line` and nothing else; columns asked for follow,
each behind a tab, in the order time, thread, source. Other QS records stand in their
place as QSPY prints them. With --last the numbers start from 1 as well.
Losses and notes go to stderr.

Exit codes: 0 complete; 1 something was lost or damaged, or the map is of another build;
2 wrong arguments or unreadable file; 3 no ring, or nothing in it. With --identify: 0 every
build is known, 1 the map of one is missing or damaged, 3 no ring.

Examples:
  xhist-report                       the newest run under target/xhist
  xhist-report dump.bin --last 20    the last 20 statements before the dump
  xhist-report core --source         with the text of each line
  xhist-report dump.bin --identify   which build it came from, and how old that is
  xhist-report --format qspy qs.bin  every record of a QS stream, as QSPY prints it";

/// Print the history of executed statements from a memory dump, a core file or a ring file.
#[derive(Clone, Debug, Parser)]
#[command(version, after_help = AFTER_HELP)]
pub struct Args {
    /// Raw image of memory, ELF core, ring file or QS stream; `-` is standard input.
    /// Without it: the newest *.xhist file under target/xhist, here or in a directory above
    #[arg(value_name = "SOURCE")]
    source: Option<OsString>,

    /// How to print
    #[arg(long, value_name = "FORMAT", default_value = FORMATS[0].name, value_parser = format_names())]
    format: String,

    /// Map of the instrumented build; without it the right one is looked for beside the dump,
    /// in the directories above and under target/xhist
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,

    /// Say which build each ring came from, and print no entries
    #[arg(long, conflicts_with_all = ["last", "source_text", "time", "thread"])]
    identify: bool,

    /// Print what fills the rings, by function, and the lines for a manifest that would leave it out
    #[arg(long, conflicts_with_all = ["identify", "last", "source_text", "time", "thread", "lanes", "follow", "clear"])]
    hot: bool,

    /// Print only the last N entries
    #[arg(long, value_name = "N")]
    last: Option<u64>,

    /// Print the source text beside each statement
    #[arg(long = "source")]
    source_text: bool,

    /// Print the time of each entry: seconds where the clock rate is known, else ticks
    #[arg(long)]
    time: bool,

    /// Print the name or id of each entry's thread
    #[arg(long)]
    thread: bool,

    /// Give each thread a column of its own; `~` marks entries that may have run elsewhere among another thread's
    #[arg(long, conflicts_with_all = ["source_text", "thread", "identify"])]
    lanes: bool,

    /// Go on with what a running program records, until it ends or Ctrl-C; with --last N from N entries back
    #[arg(short, long, conflicts_with_all = ["identify", "ring"])]
    follow: bool,

    /// Mark what was printed in the ring file, so that it is not printed again: the only option that writes to it
    #[arg(short, long, conflicts_with_all = ["identify", "follow"])]
    clear: bool,

    /// Report only on this ring of the source, counted from 1
    #[arg(long, value_name = "N")]
    ring: Option<usize>,

    /// Print the commands that dump the ring of this firmware with gdb, probe-rs or OpenOCD
    #[arg(long, value_name = "ELF", conflicts_with = "source")]
    pub how_to_dump: Option<PathBuf>,

    #[command(flatten)]
    qs: QsArgs,
}

fn format_names() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(FORMATS.iter().map(|row| PossibleValue::new(row.name).help(row.help)))
}

impl Args {
    /// Opens the source, with a note on which one it is when the user named none.
    ///
    /// # Errors
    /// What is wrong and what to do, in a sentence.
    pub fn open(&self) -> Result<(Opened, Option<String>), String> {
        match &self.source {
            Some(source) => {
                let opened = source::open(source)?;
                match opened.file {
                    None if self.follow => Err("only a ring file can be followed".to_owned()),
                    None if self.clear => Err("only a ring file can be cleared".to_owned()),
                    _ => Ok((opened, None)),
                }
            }
            None => {
                let dir =
                    std::env::current_dir().map_err(|error| format!("no working directory: {error}"))?;
                let path = source::newest(&dir)?;
                let shown = path.strip_prefix(&dir).unwrap_or(&path).display().to_string();
                Ok((source::open(path.as_os_str())?, Some(format!("reading {shown}"))))
            }
        }
    }

    /// What the arguments mean for this source.
    ///
    /// # Errors
    /// What does not go together, in a sentence.
    pub fn options(&self, opened: &Opened) -> Result<Options, String> {
        let format = format::by_name(&self.format).unwrap_or(&FORMATS[0]);
        let is_stream = format.about == About::Stream;
        if let (false, Some(letter)) = (is_stream, self.qs.needs_qspy()) {
            return Err(format!("{letter} needs --format qspy"));
        }
        let unfit = [
            (self.follow, "--follow"),
            (self.clear, "--clear"),
            (self.last.is_some(), "--last"),
            (self.lanes, "--lanes"),
            (self.time, "--time"),
            (self.thread, "--thread"),
            (self.source_text, "--source"),
            (self.hot, "--hot"),
        ];
        if let (true, Some((_, option))) = (is_stream, unfit.iter().find(|(asked, _)| *asked)) {
            return Err(format!(
                "{option} does not go with --format qspy, which prints every record as QSPY does"
            ));
        }
        let layout = Layout {
            terminal: std::io::stdout().is_terminal(),
            time: self.time,
            thread: self.thread,
            source: self.source_text,
            lanes: self.lanes,
        };
        let work_dir = Some(Path::new(".").to_owned());
        let stdout = anstream::stdout();
        let colours = layout.terminal && stdout.current_choice() != anstream::ColorChoice::Never;
        Ok(Options {
            format,
            layout,
            identify: self.identify,
            hot: self.hot,
            last: self.last,
            ring: self.ring,
            maps: MapPlaces { given: self.map.clone(), dump_dir: opened.dir.clone(), work_dir },
            data: opened.data.clone(),
            written: opened.written,
            live: opened.file.clone(),
            follow: self.follow,
            clear: opened.path.clone().filter(|_| self.clear),
            progress: std::io::stderr().is_terminal(),
            qs: self.qs.options(layout.terminal, colours)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn arguments_are_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn help_names_every_format() {
        let help = Args::command().render_long_help().to_string();
        for row in FORMATS {
            assert!(help.contains(row.name) && help.contains(row.help), "{}", row.name);
        }
    }
}
