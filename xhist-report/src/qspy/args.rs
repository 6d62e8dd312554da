//! Command-line options about QS streams, with QSPY's letters.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use qs_core::record::Sizes;

use super::{DictionaryFile, QsOptions, SessionError, by_time};
use qs_host::{Palette, Sequence, TargetDescription};

/// QSPY's options about the target.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "QS records, with QSPY's letters")]
pub struct TargetArgs {
    /// Bytes of a time stamp
    #[arg(short = 'T', value_name = "SIZE", value_parser = number())]
    time_size: Option<u8>,
    /// Bytes of an object's address
    #[arg(short = 'O', value_name = "SIZE", value_parser = address())]
    object_size: Option<u8>,
    /// Bytes of a function's address
    #[arg(short = 'F', value_name = "SIZE", value_parser = address())]
    function_size: Option<u8>,
    /// Bytes of a signal
    #[arg(short = 'S', value_name = "SIZE", value_parser = number())]
    signal_size: Option<u8>,
    /// Bytes of the size of an event
    #[arg(short = 'E', value_name = "SIZE", value_parser = number())]
    event_size: Option<u8>,
    /// Bytes of a queue's counter
    #[arg(short = 'Q', value_name = "SIZE", value_parser = number())]
    queue_size: Option<u8>,
    /// Bytes of a memory pool's counter
    #[arg(short = 'P', value_name = "SIZE", value_parser = number())]
    pool_size: Option<u8>,
    /// Bytes of the size of a pool's block
    #[arg(short = 'B', value_name = "SIZE", value_parser = number())]
    block_size: Option<u8>,
    /// Bytes of a time event's counter
    #[arg(short = 'C', value_name = "SIZE", value_parser = number())]
    counter_size: Option<u8>,
    /// Version of QS whose records come: 7.3
    #[arg(short = 'v', long = "qs-version", value_name = "X.Y", value_parser = version)]
    qs_version: Option<u16>,
}

/// QSPY's options.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "QS records, with QSPY's letters")]
pub struct QsArgs {
    #[command(flatten)]
    target: TargetArgs,
    /// Read names from this dictionary file
    ///
    /// Without =FILE from the one of the target's build, qspyYYMMDD_hhmmss.dic; names are saved in that one when the target runs.
    #[arg(short = 'd', long = "dictionaries", value_name = "FILE", num_args = 0..=1, require_equals = true)]
    dictionaries: Option<Option<String>>,
    /// Only every Nth line, and dots; 0 or nothing: none.
    #[arg(short = 'q', long = "quiet", value_name = "N", num_args = 0..=1, value_parser = lines_between)]
    quiet: Option<Option<u32>>,
    /// Colours: c0 none, c1 for dark terminals, c2 for light ones
    #[arg(short = 'r', long = "rendering", value_name = "COLOURS", value_enum)]
    rendering: Option<Rendering>,
    /// Keep the lines in FILE (qspyYYMMDD_hhmmss.txt, by the time now)
    #[arg(short = 'o', long = "save-text", value_name = "FILE", num_args = 0..=1, require_equals = true)]
    text: Option<Option<PathBuf>>,
    /// Keep the stream in FILE (qspyYYMMDD_hhmmss.bin)
    #[arg(short = 's', long = "save-stream", value_name = "FILE", num_args = 0..=1, require_equals = true)]
    stream: Option<Option<PathBuf>>,
    /// Write rows for Matlab to FILE (qspyYYMMDD_hhmmss.mat)
    #[arg(short = 'm', long = "matlab", value_name = "FILE", num_args = 0..=1, require_equals = true)]
    matlab: Option<Option<PathBuf>>,
    /// Draw a sequence diagram of these objects, ? being all others, to qspyYYMMDD_hhmmss.seq
    #[arg(short = 'g', long = "sequence", value_name = "OBJECT,OBJECT...")]
    sequence: Option<String>,
    /// Draw it to FILE
    #[arg(long, value_name = "FILE", requires = "sequence")]
    sequence_file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Rendering {
    C0,
    C1,
    C2,
}

fn number() -> impl TypedValueParser<Value = u8> {
    PossibleValuesParser::new(["1", "2", "4"]).map(|size| size.parse().unwrap_or(1))
}

fn address() -> impl TypedValueParser<Value = u8> {
    PossibleValuesParser::new(["1", "2", "4", "8"]).map(|size| size.parse().unwrap_or(1))
}

/// `7.3` is 730, as in a target-info record; `7.3.4` is 734.
fn version(text: &str) -> Result<u16, String> {
    let digits: Option<Vec<u16>> =
        text.split('.').map(|part| part.parse::<u16>().ok().filter(|digit| *digit < 10)).collect();
    match digits.as_deref() {
        Some([major, minor]) => Ok(100 * major + 10 * minor),
        Some([major, minor, patch]) => Ok(100 * major + 10 * minor + patch),
        _ => Err("a version of QS is written as 7.3 or 7.3.4".to_owned()),
    }
}

/// The number behind `-q`, which may be missing: then the word is the source.
fn lines_between(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("it takes a number; to read this source, type `-q0 {text}`"))
}

impl QsArgs {
    /// Only names, from this dictionary file.
    pub fn with_names(file: Option<String>) -> QsArgs {
        QsArgs { dictionaries: file.map(Some), ..QsArgs::default() }
    }

    /// The options that the arguments mean. `colours`: the terminal shows colours.
    ///
    /// # Errors
    /// A wrong list of objects.
    pub fn options(&self, is_terminal: bool, colours: bool) -> Result<QsOptions, SessionError> {
        let file = |given: &Option<Option<PathBuf>>, extension: &str| {
            given.as_ref().map(|given| given.clone().unwrap_or_else(|| by_time(extension)))
        };
        let sequence = match &self.sequence {
            Some(list) => {
                Sequence::new(list)?;
                let path = self.sequence_file.clone();
                Some((list.clone(), path.unwrap_or_else(|| by_time("seq"))))
            }
            None => None,
        };
        let palette = match self.rendering {
            Some(Rendering::C0) => Palette::None,
            Some(Rendering::C1) => Palette::Dark,
            Some(Rendering::C2) => Palette::Light,
            None if colours => Palette::Dark,
            None => Palette::None,
        };
        Ok(QsOptions {
            target: self.target.target(),
            names: None,
            dictionaries: match &self.dictionaries {
                None => DictionaryFile::No,
                Some(None) => DictionaryFile::OfBuild,
                Some(Some(name)) => DictionaryFile::Named(name.clone()),
            },
            dir: PathBuf::new(),
            palette,
            quiet: self.quiet.map(|every| every.unwrap_or(0)),
            visible: is_terminal,
            text: file(&self.text, "txt"),
            raw: file(&self.stream, "bin"),
            matlab: file(&self.matlab, "mat"),
            sequence,
        })
    }
}

impl TargetArgs {
    /// The target as described by the arguments.
    pub fn target(&self) -> TargetDescription {
        let mut target = TargetDescription::default();
        target.set_version(self.qs_version.unwrap_or(target.version));
        let Sizes { time, obj, fun, sig, evt_size, queue_ctr, pool_ctr, pool_blk, time_ctr } =
            &mut target.sizes;
        for (size, given) in [
            (time, self.time_size),
            (obj, self.object_size),
            (fun, self.function_size),
            (sig, self.signal_size),
            (evt_size, self.event_size),
            (queue_ctr, self.queue_size),
            (pool_ctr, self.pool_size),
            (pool_blk, self.block_size),
            (time_ctr, self.counter_size),
        ] {
            *size = given.unwrap_or(*size);
        }
        target
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(version("7.3"), Ok(730));
        assert_eq!(version("7.3.4"), Ok(734));
        assert!(version("73").is_err() && version("7.33").is_err() && version("").is_err());
    }
}
