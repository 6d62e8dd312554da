//! What was typed. It must not know what it leads to.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand};

use crate::console::Notes;
use crate::decode;
use crate::format::{self, About, FORMATS, FormatRow};
use crate::front_end;
use crate::live::Setup;
use crate::log::{self, Log, Rotation};
use crate::map;
use crate::options::{Layout, MapPlaces, Options};
use crate::qs_args::QsArgs;
use crate::runs;
use crate::send::SendArgs;
use crate::source::{self, Offer, Opened};
use crate::trace;
use crate::trace_args::TraceArgs;

/// Without a source, so long is waited for another program's first byte. Editors and CI leave pipes open that bring nothing.
const PATIENCE: Duration = Duration::from_secs(1);

const AFTER_HELP: &str = "\
On a pipe, `history` prints `N file:line` and nothing else; columns asked for follow,
each behind a tab, in the order time, thread, source. Other QS records appear in their
place as QSPY prints them; marks of xhist itself (a panic, a trigger) appear on a terminal
only. With --last the numbers start from 1 as well.
Losses and notes go to stderr.

Live links, told as they come until Ctrl-C; what is lost comes back, and is told on stderr:
  tcp://HOST:PORT  tcp-listen://ADDRESS:PORT  udp://ADDRESS:PORT
  serial:///dev/ttyUSB0?baud=115200[&bits=7][&parity=even|odd][&stop=2][&flow=rtscts]
  - with --follow
At a terminal, keys are those of QSPY (h lists them).

Exit codes: 0 complete; 1 something was lost or damaged, the map is of another build, or a line
of a .fmt file is wrong; 2 wrong arguments or unreadable file; 3 no ring, or nothing in it. With
--identify: 0 every build is known, 1 the map of one is missing or damaged, 3 no ring.

Examples:
  xhist-report                       the run that failed last
  ssh target cat ring | xhist-report   what another program gives
  xhist-report dump.bin --last 20    the last 20 statements before the dump
  xhist-report core --source         with the text of each line
  xhist-report dump.bin --identify   which build it came from, and how old that is
  xhist-report --format qspy qs.bin  every record of a QS stream, as QSPY prints it
  xhist-report tcp-listen://0.0.0.0:6601   the history of a target that connects, live
  xhist-report --format traceinfo -c ring.xhist --severity 2..   trace events, printed once
  xhist-report --log logs --rotate 10M --keep 9 tcp://target:6601";

/// Print the history of executed statements from a memory dump, a core file or a ring file.
#[derive(Clone, Debug, Parser)]
#[command(version, after_help = AFTER_HELP, args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub struct Args {
    /// Raw image of memory, ELF core, ring file or QS stream; `-` is standard input; a live link (see below). Several are told
    /// together, each line with where it comes from. Without any: what comes on standard input, else the run that failed last
    /// under target/xhist (CARGO_TARGET_DIR and cargo's configuration say where), else the newest run
    #[arg(value_name = "SOURCE")]
    sources: Vec<OsString>,

    #[command(subcommand)]
    command: Option<Command>,

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

    /// Print the source text beside each statement, of files below the project of the map
    #[arg(long = "source")]
    source_text: bool,

    /// The same, also of files below DIR; files are looked for there, too
    #[arg(long = "source-root", value_name = "DIR", conflicts_with_all = ["identify", "hot", "lanes"])]
    source_roots: Vec<PathBuf>,

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

    /// Mark what was read in the ring file, told or not, so that it is not printed again: the only option that writes to it.
    /// What was read from a link is gone from it anyway
    #[arg(short, long, conflicts_with_all = ["identify", "follow"])]
    clear: bool,

    /// Report only on this ring of the source, counted from 1
    #[arg(long, value_name = "N")]
    ring: Option<usize>,

    /// Let front-ends such as QUTest and QView attach at this UDP port (7701); 0: none. On for a link with --format qspy
    #[arg(short = 'u', long = "front-end", value_name = "PORT", num_args = 0..=1)]
    front_end: Option<Option<u16>>,

    /// Tell front-ends of the target as QP 8 does: QUTest and QView from 8.0 on attach to no other
    #[arg(long)]
    qp8: bool,

    /// Keys are no commands in a live session at a terminal
    #[arg(short = 'k', long)]
    no_keys: bool,

    /// Print the commands that dump the rings of this program: a ring file, gdb and cores; of firmware gdb, probe-rs or OpenOCD
    #[arg(long, value_name = "ELF", conflicts_with = "sources")]
    pub how_to_dump: Option<PathBuf>,

    /// Print the script that gives gdb the command `xhist`: xhist-report --gdb-script > xhist.py; gdb -p PID -batch -x xhist.py
    /// -ex xhist
    #[arg(long, conflicts_with_all = ["sources", "how_to_dump"])]
    pub gdb_script: bool,

    /// Append the report to files DIR/NAME-000001.log and so on instead of printing it; NAME tells the source
    #[arg(long, value_name = "DIR")]
    log: Option<PathBuf>,

    /// Begin the next file at the end of the line that fills one: 64k, 10M, 1G
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = log::size, requires = "log")]
    rotate: u64,

    /// Delete the oldest files beyond N; without it all are kept
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), requires = "log")]
    keep: Option<u32>,

    #[command(flatten)]
    trace: TraceArgs,

    #[command(flatten)]
    qs: QsArgs,
}

/// What is done instead of a report.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Send a command to a target, and print its answer
    Send(SendArgs),
}

fn format_names() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(FORMATS.iter().map(|row| PossibleValue::new(row.name).help(row.help)))
}

impl Args {
    /// What to do instead of a report.
    pub fn command(&self) -> Option<&Command> {
        self.command.as_ref()
    }

    /// What was named.
    pub fn sources(&self) -> &[OsString] {
        &self.sources
    }

    /// The same, with what another program gives on standard input as the source where none was named.
    #[must_use]
    pub fn with_stdin(mut self, notes: &mut Notes<'_>) -> Args {
        if !self.sources.is_empty() || self.command.is_some() || self.how_to_dump.is_some() {
            return self;
        }
        match source::offer(PATIENCE) {
            Offer::Bytes => self.sources.push("-".into()),
            Offer::Silence => notes.note(format_args!(
                "standard input is open, but nothing came for {} s, so it is not read; `xhist-report -` waits for it",
                PATIENCE.as_secs()
            )),
            Offer::Nothing => {}
        }
        self
    }

    /// Opens the files that the report goes to, if it is to be kept.
    ///
    /// # Errors
    /// What cannot be written, in a sentence.
    pub fn open_log(&self) -> Result<Option<Log>, String> {
        let Some(dir) = self.log.clone() else { return Ok(None) };
        let (name, size) = (Rotation::name_of(&self.sources), self.rotate);
        let keep = self.keep.map(|keep| keep as usize);
        Log::open(Rotation { dir, name, size, keep }).map(Some)
    }

    /// Whether what comes is told as it comes: of links, and of standard input when that is to be followed.
    pub fn is_live(&self) -> bool {
        let is_live = |text: &OsString| source::is_link(text) || text == "-" && self.follow;
        self.sources.iter().any(is_live)
    }

    /// Several files are told one after another, and who follows one does not come to the next.
    ///
    /// # Errors
    /// What to do, in a sentence.
    pub fn check_files(&self) -> Result<(), String> {
        match self.follow && self.sources.len() > 1 {
            true => Err("--follow is about one ring file; start a report for each".to_owned()),
            false => Ok(()),
        }
    }

    /// Opens all sources as streams, and the port of front-ends.
    ///
    /// # Errors
    /// What is wrong and what to do, in a sentence.
    pub fn open_live(&self, notes: &mut Notes<'_>) -> Result<Setup, String> {
        let unfit = [
            (self.last.is_some(), "--last"),
            (self.identify, "--identify"),
            (self.hot, "--hot"),
            (self.ring.is_some(), "--ring"),
            (self.lanes, "--lanes"),
            (self.format().about == About::Coverage, "--format lcov"),
        ];
        if let Some((_, option)) = unfit.iter().find(|(asked, _)| *asked) {
            return Err(format!("{option} needs the end of what it tells of, and a live link has none"));
        }
        // A link's bytes are gone from it once they were read; a file's are not.
        if let (true, Some(source)) = (self.clear, self.sources.iter().find(|text| !source::is_link(text))) {
            return Err(format!(
                "--clear: {} is read as a stream beside links, and is not cleared",
                source.display()
            ));
        }
        let files = self.sources.iter().filter(|text| !source::is_link(text) && Path::new(text).is_file());
        for source in files {
            let opened = source::open(source)?;
            let found = decode::find(&opened.image, opened.data.as_deref(), &mut |_| {});
            if !found.rings.is_empty() {
                return Err(format!(
                    "{} holds a ring, which is no stream; start a report of its own for it",
                    source.display()
                ));
            }
        }
        if let Some(map) = &self.map {
            map::open(map).map_err(|error| format!("cannot read the map {}: {error}", map.display()))?;
        }
        let links: Result<Vec<_>, String> = self.sources.iter().map(|text| source::open_link(text)).collect();
        let reads_stdin = self.sources.iter().any(|text| text == "-");
        let keys = !self.no_keys
            && !reads_stdin
            && std::io::stdin().is_terminal()
            && std::io::stdout().is_terminal();
        Ok(Setup { links: links?, front_end: self.open_port(notes)?, as_qp8: self.qp8, keys })
    }

    /// A port that nobody asked for may be in use.
    fn open_port(&self, notes: &mut Notes<'_>) -> Result<Option<source::Link>, String> {
        let is_usual =
            self.format().about == About::Stream && self.sources.iter().any(|text| source::is_link(text));
        let port = match self.front_end {
            Some(port) => port.unwrap_or(front_end::PORT),
            None if is_usual => front_end::PORT,
            None => 0,
        };
        if port == 0 {
            return Ok(None);
        }
        // As QSPY's, it can be reached from elsewhere only when that was asked for.
        let address = if self.front_end.is_some() { "0.0.0.0" } else { "127.0.0.1" };
        match source::link::packets(&format!("udp://{address}:{port}")) {
            Ok(link) => Ok(Some(link)),
            Err(why) if self.front_end.is_some() => Err(why),
            Err(why) => {
                notes.note(format_args!("no front-end can attach: {why}; -u PORT takes another port"));
                Ok(None)
            }
        }
    }

    /// What would be ignored, and must have been meant otherwise. Nobody attaches to port 0, so that asks for nothing.
    fn check_unused(&self, is_stream: bool) -> Result<(), String> {
        if is_stream && self.map.is_some() && !self.identify {
            return Err("--map does not go with --format qspy, which names no files".to_owned());
        }
        let asks_for_port = self.front_end.is_some_and(|port| port != Some(0));
        if !self.is_live() && (asks_for_port || self.qp8) {
            let option = if self.qp8 { "--qp8" } else { "-u" };
            return Err(format!("{option} is about front-ends of a live link, and no source is one"));
        }
        // Without a port nobody hears of it.
        let has_port = asks_for_port || self.front_end.is_none() && is_stream;
        match self.qp8 && !has_port {
            true => Err("--qp8 is about front-ends, and there is no port for them: -u opens one".to_owned()),
            false => Ok(()),
        }
    }

    fn format(&self) -> &'static FormatRow {
        format::by_name(&self.format).unwrap_or(&FORMATS[0])
    }

    /// Opens one source, with notes on which one it is when the user named none.
    ///
    /// # Errors
    /// What is wrong and what to do, in a sentence.
    pub fn open(&self, source: Option<&OsString>) -> Result<(Opened, Vec<String>), String> {
        match source {
            Some(source) => {
                let opened = source::open(source)?;
                match opened.file {
                    None if self.follow => Err("only a ring file can be followed".to_owned()),
                    None if self.clear => Err("only a ring file can be cleared".to_owned()),
                    _ => Ok((opened, Vec::new())),
                }
            }
            None => {
                let dir =
                    std::env::current_dir().map_err(|error| format!("no working directory: {error}"))?;
                let chosen = runs::choose(&dir, self.follow)?;
                Ok((source::open(chosen.path.as_os_str())?, chosen.notes))
            }
        }
    }

    /// What the arguments mean for this source.
    ///
    /// # Errors
    /// What does not go together, in a sentence.
    pub fn options(&self, opened: Option<&Opened>) -> Result<Options, String> {
        let format = self.format();
        let is_stream = format.about == About::Stream;
        if let (false, Some(letter)) = (is_stream, self.qs.needs_qspy()) {
            return Err(format!("{letter} needs --format qspy"));
        }
        let tells_traces = format.about == About::Entries && !self.identify && !self.hot;
        if let (false, Some(option)) = (tells_traces, self.trace.given()) {
            return Err(format!("{option} is about trace events, which this report does not tell as such"));
        }
        let dump_dir = opened.and_then(|opened| opened.dir.clone());
        let trace = match tells_traces {
            true => trace::load(&self.trace.places(dump_dir.as_deref()), &self.trace.wanted())?,
            false => Default::default(),
        };
        let unfit = [
            (self.follow && !self.is_live(), "--follow"),
            (self.clear, "--clear"),
            (self.last.is_some(), "--last"),
            (self.lanes, "--lanes"),
            (self.time, "--time"),
            (self.thread, "--thread"),
            (self.source_text, "--source"),
            (!self.source_roots.is_empty(), "--source-root"),
            (self.hot, "--hot"),
        ];
        let of_one_ring = [(self.identify, "--identify"), (self.ring.is_some(), "--ring")];
        let given = |options: &[(bool, &'static str)]| options.iter().find(|(asked, _)| *asked).copied();
        let (refused, by) = match format.about {
            About::Entries => (None, ""),
            About::Stream => (given(&unfit), "qspy, which prints every record as QSPY does"),
            About::Coverage => (
                given(&unfit).or_else(|| given(&of_one_ring)),
                "lcov, which tells what ever ran, in all rings",
            ),
        };
        if let Some((_, option)) = refused {
            return Err(format!("{option} does not go with --format {by}"));
        }
        self.check_unused(is_stream)?;
        let layout = Layout {
            terminal: std::io::stdout().is_terminal() && self.log.is_none(),
            time: self.time,
            thread: self.thread,
            source: self.source_text || !self.source_roots.is_empty(),
            lanes: self.lanes,
        };
        let work_dir = Some(Path::new(".").to_owned());
        let stdout = anstream::stdout();
        let colours = layout.terminal && stdout.current_choice() != anstream::ColorChoice::Never;
        let mut qs = self.qs.options(layout.terminal, colours)?;
        if !is_stream {
            qs.read_names()?;
        }
        let found = opened.and_then(|opened| opened.path.as_deref());
        let mut read = self.sources.iter().map(Path::new).chain(found).chain(qs.dictionary());
        if let Some(source) = read.find(|source| qs.beside().any(|path| is_same(path, source))) {
            return Err(format!("{} is read, and would be overwritten", source.display()));
        }
        Ok(Options {
            format,
            layout,
            identify: self.identify,
            hot: self.hot,
            last: self.last,
            ring: self.ring,
            maps: MapPlaces { given: self.map.clone(), dump_dir, work_dir },
            data: opened.and_then(|opened| opened.data.clone()),
            written: opened.and_then(|opened| opened.written),
            live: opened.and_then(|opened| opened.file.clone()),
            follow: opened.and_then(|opened| opened.path.clone()).filter(|_| self.follow),
            clear: opened.and_then(|opened| opened.path.clone()).filter(|_| self.clear),
            progress: std::io::stderr().is_terminal(),
            origin: None,
            qs,
            trace,
            source_roots: self.source_roots.clone(),
        })
    }
}

/// Whether both are the same file, and one that has something to lose.
fn is_same(one: &Path, other: &Path) -> bool {
    let found = |path: &Path| std::fs::canonicalize(path).ok();
    one.is_file() && found(one) == found(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn arguments_are_consistent() {
        <Args as CommandFactory>::command().debug_assert();
    }

    #[test]
    fn help_names_every_format() {
        let help = <Args as CommandFactory>::command().render_long_help().to_string();
        for row in FORMATS {
            assert!(help.contains(row.name) && help.contains(row.help), "{}", row.name);
        }
    }
}
