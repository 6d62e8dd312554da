//! What a user meant who typed a word that names nothing: a command or a format, perhaps with a typo.

use std::ffi::OsStr;
use std::path::Path;

use clap::CommandFactory;
use strsim::jaro_winkler;

use super::args::Args;

/// How like two words must be, from 0 to 1.
const LIKE: f64 = 0.8;

/// The command line that was probably meant by a source that does not exist.
pub(super) fn instead_of(source: &OsStr) -> Option<String> {
    meant(source.to_str().filter(|name| !Path::new(name).exists())?)
}

fn meant(word: &str) -> Option<String> {
    let args = <Args as CommandFactory>::command();
    let commands = args.get_subcommands().map(|command| command.get_name().to_owned());
    let commands = commands.map(|name| (jaro_winkler(word, &name), format!("xhist-report {name}")));
    let formats = args.get_arguments().find(|argument| argument.get_id() == "format");
    let formats = formats.into_iter().flat_map(clap::Arg::get_possible_values);
    let formats = formats.map(|value| {
        let name = value.get_name().to_owned();
        (jaro_winkler(word, &name), format!("xhist-report --format {name}"))
    });
    let flags = args.get_arguments().filter_map(|argument| argument.get_long());
    let flags = flags.map(|name| (jaro_winkler(word, name), format!("xhist-report --{name}")));
    let all = commands.chain(formats).chain(flags).filter(|(likeness, _)| *likeness >= LIKE);
    all.reduce(|best, other| if other.0 > best.0 { other } else { best }).map(|(_, line)| line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_formats_are_recognised() {
        for (word, line) in [
            ("answr", Some("xhist-report answer")),
            ("suspect", Some("xhist-report suspects")),
            ("vieuw", Some("xhist-report view")),
            ("calls", Some("xhist-report --format calls")),
            ("perfeto", Some("xhist-report --format perfetto")),
            ("tasks", Some("xhist-report --tasks")),
            ("dump.bin", None),
            ("core", None),
        ] {
            assert_eq!(meant(word).as_deref(), line, "{word}");
        }
    }
}
