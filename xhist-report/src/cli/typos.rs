//! What a user meant who typed a word that names nothing, perhaps with a typo.

use std::ffi::OsStr;
use std::path::Path;

use clap::CommandFactory;

use super::command::CommandLine;
use xhist_history::notes::typed;

/// The name that is very like this word, and not the word itself.
pub fn meant<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Cargo has short options that differ from ours in two letters: `--tests` is not `--tasks`.
    let most = if word.len() < 6 { 1 } else { 2 };
    let alike = names.into_iter().map(|name| (strsim::osa_distance(word, name), name));
    alike.filter(|(distance, _)| (1..=most).contains(distance)).min().map(|(_, name)| name)
}

/// The command line that was probably meant by a source that does not exist.
pub(super) fn instead_of(source: &OsStr) -> Option<String> {
    command_like(source.to_str().filter(|name| !Path::new(name).exists())?)
}

fn command_like(word: &str) -> Option<String> {
    let mut program = CommandLine::command();
    program.build();
    // Of `export` the formats, too: their names are what a user remembers.
    let lines = program.get_subcommands().flat_map(|command| {
        let name = command.get_name();
        let formats = command
            .get_subcommands()
            .map(move |format| (format.get_name(), format!("{name} {}", format.get_name())));
        std::iter::once((name, name.to_owned())).chain(formats)
    });
    let lines: Vec<(&str, String)> = lines.collect();
    let exact = lines.iter().find(|(name, _)| *name == word).map(|(name, _)| *name);
    let name = exact.or_else(|| meant(word, lines.iter().map(|(name, _)| *name)))?;
    lines.iter().find(|(of, _)| *of == name).map(|(_, line)| typed::command(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_is_recognised_and_another_word_is_none() {
        let names = ["run", "test", "build", "nextest"];
        for (word, name) in [
            ("rnu", Some("run")),
            ("tset", Some("test")),
            ("bulid", Some("build")),
            ("nexttset", Some("nextest")),
            ("doc", None),
            ("list", None),
            ("run", None),
        ] {
            assert_eq!(meant(word, names), name, "{word}");
        }
    }

    #[test]
    fn commands_and_formats_are_recognised() {
        for (word, line) in [
            ("answr", Some("xhist-report answer")),
            ("suspect", Some("xhist-report suspects")),
            ("vieuw", Some("xhist-report view")),
            ("call", Some("xhist-report calls")),
            ("perfetto", Some("xhist-report export perfetto")),
            ("perfeto", Some("xhist-report export perfetto")),
            ("task", Some("xhist-report tasks")),
            ("dump.bin", None),
            ("core", None),
        ] {
            assert_eq!(command_like(word).as_deref(), line, "{word}");
        }
    }
}
