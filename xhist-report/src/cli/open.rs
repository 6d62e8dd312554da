//! Opens what a command line names: sources, links, the port of front-ends, log files.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::Path;
use std::time::Duration;

use super::args::Args;
use super::error::UsageError;
use super::sources;
use crate::entries::ReportKind;
use crate::link::{self, LinkError};
use crate::live::Setup;
use qs_host::front_end;
use xhist_history::map;
use xhist_history::notes::Notes;
use xhist_history::ring;
use xhist_history::source::{self, Offer, Opened};
use xhist_history::typed;

/// Without a source, the time to wait for the first byte on standard input. Editors and CI leave pipes open that bring nothing.
const PATIENCE: Duration = Duration::from_secs(1);

impl Args {
    /// The same, with standard input as the source if no source was named and another program writes there.
    #[must_use]
    pub fn with_stdin(mut self, notes: &mut Notes<'_>) -> Args {
        if !self.sources.is_empty() {
            return self;
        }
        match source::offer(PATIENCE) {
            Offer::Bytes => self.sources.push("-".into()),
            Offer::Silence => notes.note(format_args!(
                "standard input is open, but nothing came for {} s, so it is not read; `{}` waits for it",
                PATIENCE.as_secs(),
                typed::command("history -")
            )),
            Offer::Nothing => {}
        }
        self
    }

    /// Opens one source, with notes on the choice if none was named.
    ///
    /// # Errors
    /// What is wrong and what to do.
    pub fn open(&self, source: Option<&OsString>) -> Result<(Opened, Vec<String>), UsageError> {
        let opened = sources::open_history(source, self.follow)?;
        match opened.0.file {
            None if self.clear => Err(UsageError::NotARingFile("cleared")),
            _ => Ok(opened),
        }
    }

    /// Opens all sources as streams, and the port of front-ends.
    ///
    /// # Errors
    /// What is wrong and what to do.
    pub fn open_live(&self, notes: &mut Notes<'_>) -> Result<Setup, UsageError> {
        self.check_live()?;
        self.check_streams()?;
        if let Some(map) = &self.map {
            map::open(map).map_err(|error| UsageError::Map(map.clone(), error))?;
        }
        let links: Result<Vec<_>, LinkError> =
            self.sources.iter().map(|text| link::open_link(text)).collect();
        let reads_stdin = self.sources.iter().any(|text| text == "-");
        let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        let keys = !self.no_keys && !reads_stdin && is_terminal;
        Ok(Setup { links: links?, front_end: self.open_port(notes)?, as_qp8: self.qp8, keys })
    }

    /// Checks that no file beside a link holds a ring.
    fn check_streams(&self) -> Result<(), UsageError> {
        let is_file = |text: &&OsString| !link::is_link(text) && Path::new(text).is_file();
        for source in self.sources.iter().filter(is_file) {
            let opened = source::open(source)?;
            let found = ring::find(&opened.image, opened.data.as_deref(), &mut |_| {});
            if !found.rings.is_empty() {
                let why = "holds a ring, which is no stream; start a report of its own for it";
                return Err(UsageError::Source { name: source.display().to_string(), why });
            }
        }
        Ok(())
    }

    /// Opens the port of front-ends. If it is in use, that matters only if the user named it.
    fn open_port(&self, notes: &mut Notes<'_>) -> Result<Option<link::Link>, UsageError> {
        let has_link = self.sources.iter().any(|text| link::is_link(text));
        let port = match self.front_end {
            Some(port) => port.unwrap_or(front_end::PORT),
            None if has_link && self.format().report == ReportKind::Qspy => front_end::PORT,
            None => 0,
        };
        if port == 0 {
            return Ok(None);
        }
        // As QSPY's port, it can be reached from other machines only if the user asked for it.
        let address = if self.front_end.is_some() { "0.0.0.0" } else { "127.0.0.1" };
        match link::packets(&format!("udp://{address}:{port}")) {
            Ok(link) => Ok(Some(link)),
            Err(why) if self.front_end.is_some() => Err(why.into()),
            Err(why) => {
                notes.note(format_args!("no front-end can attach: {why}; -u PORT takes another port"));
                Ok(None)
            }
        }
    }
}
