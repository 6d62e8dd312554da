//! gdb as a runner: its commands name the server that has the target. A second gdb asks the same server.

use std::ffi::OsString;
use std::path::Path;

use super::kind::{Reading, RunnerKind, options, words};
use crate::runner::firmware::ring_place::RingPlace;

pub(super) const KIND: RunnerKind = RunnerKind {
    is: |program, _| program == "gdb" || program.ends_with("-gdb") || program == "gdb-multiarch",
    reading: Reading::After(command),
};

/// Options with a command, and with a file of commands.
const COMMANDS: [&str; 4] = ["-ex", "--ex", "-eval-command", "--eval-command"];
const FILES: [&str; 4] = ["-x", "--x", "-command", "--command"];

fn command(runner: &[OsString], place: &RingPlace, file: &Path) -> Result<Vec<OsString>, String> {
    let (program, args) = runner.split_first().ok_or("there is no program")?;
    let target = commands(args)
        .into_iter()
        .rfind(|line| ["target remote ", "target extended-remote "].iter().any(|word| line.starts_with(word)))
        .ok_or("the commands of gdb name no server (`target remote ...`)")?;
    let end = place.start + place.len as u64;
    let dump = format!("dump binary memory {} {:#x} {end:#x}", file.display(), place.start);
    let mut command = vec![program.clone()];
    command.extend(words([&"-nx", &"-batch", &"-ex", &target, &"-ex", &dump]));
    Ok(command)
}

/// The commands that gdb gets: those of its files, then those of its options.
fn commands(args: &[OsString]) -> Vec<String> {
    let values = |names: &[&str]| -> Vec<String> {
        let found = options(args, names, &[]);
        let values = found.iter().filter(|word| !names.iter().any(|name| *word == name));
        // `-ex=command`
        let joined = |word: &OsString| {
            let word = word.to_string_lossy().into_owned();
            let value = names.iter().find_map(|name| word.strip_prefix(name)?.strip_prefix('='));
            value.map(String::from).unwrap_or(word)
        };
        values.map(joined).collect()
    };
    let texts = values(&FILES).into_iter().filter_map(|file| std::fs::read_to_string(file).ok());
    let lines = texts.flat_map(|text| text.lines().map(String::from).collect::<Vec<_>>());
    lines.chain(values(&COMMANDS)).map(|line| line.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_is_that_of_the_users_commands() {
        let directory = tempfile::tempdir().expect("a directory");
        let script = directory.path().join("openocd.gdb");
        std::fs::write(&script, "set print asm-demangle on\n  target extended-remote :3333\nload\n")
            .expect("a file");
        let place = RingPlace { start: 0x2000_0000, len: 16, chip: None };
        let read = |words: Vec<OsString>| {
            let command = command(&words, &place, Path::new("f"))?;
            Ok::<_, String>(command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join("|"))
        };
        let is = "gdb-multiarch|-nx|-batch|-ex|target extended-remote :3333|-ex|dump binary memory f 0x20000000 0x20000010";
        assert_eq!(read(vec!["gdb-multiarch".into(), "-x".into(), script.into()]).as_deref(), Ok(is));
        assert_eq!(
            read(vec!["gdb-multiarch".into(), "-ex=target extended-remote :3333".into()]).as_deref(),
            Ok(is)
        );
        assert!(read(vec!["gdb".into(), "-q".into()]).is_err_and(|error| error.contains("no server")));
    }
}
