//! ReadOptions about recorded values.

use std::path::{Path, PathBuf};

use clap::Args;

use super::moment;
use xhist_history::selection::Pattern;
use xhist_history::source::Opened;
use xhist_history::{MapPlaces, ProgramPlaces, ReadOptions};

/// ReadOptions about recorded values.
#[derive(Args, Clone, Debug, Default)]
pub struct ValueArgs {
    /// The program that recorded, for the types of values
    ///
    /// Without it the right one is looked for as for maps.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(super) program: Option<PathBuf>,

    /// Print `<redacted>` in place of these values, in any format
    ///
    /// May be given several times. The pattern is that of --only, or the name of a variable, alone or behind its function:
    /// `password`, `login::key`, `src/auth/`; `**` is all.
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse, hide_short_help = true)]
    pub(super) redact: Vec<Pattern>,
}

impl ValueArgs {
    /// Where the program of a source is looked for.
    pub(super) fn programs(&self, opened: Option<&Opened>) -> ProgramPlaces {
        ProgramPlaces {
            given: self.program.clone(),
            core: opened.and_then(|opened| opened.program.clone()),
            source: opened.and_then(|opened| opened.path.clone()),
        }
    }

    /// The part of a report's options that an opened source decides: its data, and where its map and program are.
    pub(super) fn of_source(&self, opened: &Opened, map: Option<&Path>) -> ReadOptions {
        ReadOptions {
            maps: MapPlaces {
                given: map.map(Path::to_owned),
                dump_dir: opened.dir.clone(),
                work_dir: Some(Path::new(".").to_owned()),
                ..MapPlaces::default()
            },
            data: opened.data.clone(),
            written: opened.written,
            moment: moment::of(opened),
            live: opened.file.clone(),
            programs: self.programs(Some(opened)),
            redact: self.redact.clone(),
            ..ReadOptions::default()
        }
    }
}
