//! Command-line options about trace events.

use std::path::{Path, PathBuf};

use clap::Args;

use xhist_history::options::trace::{FormatPlaces, TraceSelection};

/// Directory of formats that are installed for all users.
const INSTALLED: &str = "/usr/share/xhist/fmt";
/// Directory of formats beside a dump, and in the working directory.
const BESIDE: &str = "fmt";

/// Options about trace events.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Trace events")]
pub struct TraceArgs {
    /// Read names and texts of codes from this file or directory
    ///
    /// Of a directory its *.fmt files. They come before those that XHIST_FMT names (PATH:PATH...), in fmt/ here, beside the dump
    /// and in the directories above it, and in /usr/share/xhist/fmt.
    #[arg(long = "fmt", value_name = "PATH")]
    formats: Vec<PathBuf>,
    /// Only exception events of these severities: HW3,SW2, hw, sw, 2.., hw1..2
    ///
    /// Each of these options hides the events that it does not select.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    severity: Vec<String>,
    /// Only exception events of these owners: numbers, 0x10..0x20, names
    #[arg(long, value_name = "LIST", value_delimiter = ',', hide_short_help = true)]
    major: Vec<String>,
    /// Only exception events with these minor codes
    ///
    /// Numbers, ranges, names of whole codes.
    #[arg(long, value_name = "LIST", value_delimiter = ',', hide_short_help = true)]
    minor: Vec<String>,
    /// Only these profile events: numbers, ranges, names
    #[arg(long, value_name = "LIST", value_delimiter = ',', hide_short_help = true)]
    opcode: Vec<String>,
}

impl TraceArgs {
    /// The first of these options that was given.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            (!self.formats.is_empty(), "--fmt"),
            (!self.severity.is_empty(), "--severity"),
            (!self.major.is_empty(), "--major"),
            (!self.minor.is_empty(), "--minor"),
            (!self.opcode.is_empty(), "--opcode"),
        ];
        given.into_iter().find_map(|(given, option)| given.then_some(option))
    }

    /// The selection of events.
    pub fn wanted(&self) -> TraceSelection {
        TraceSelection {
            severities: self.severity.clone(),
            majors: self.major.clone(),
            minors: self.minor.clone(),
            opcodes: self.opcode.clone(),
        }
    }

    /// The places of files of formats, with those beside the dump.
    pub fn places(&self, dump_dir: Option<&Path>) -> FormatPlaces {
        let variable = std::env::var_os("XHIST_FMT").unwrap_or_default();
        let of_environment = std::env::split_paths(&variable).filter(|path| path != Path::new(""));
        let usual = [Some(Path::new(BESIDE).to_owned()), dump_dir.map(|dir| dir.join(BESIDE))];
        // A ring below target/xhist uses the formats of its project.
        let absolute = dump_dir.and_then(|dir| std::path::absolute(dir).ok()).unwrap_or_default();
        let above = absolute.ancestors().skip(1).map(|dir| dir.join(BESIDE));
        FormatPlaces {
            named: self.formats.clone(),
            of_environment: of_environment.collect(),
            usual: usual.into_iter().flatten().chain(above).chain([PathBuf::from(INSTALLED)]).collect(),
        }
    }
}
