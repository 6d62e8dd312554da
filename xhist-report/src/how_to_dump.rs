//! The commands that dump the rings of a program. The ELF file of firmware has the address of the ring; on an operating system a script
//! for gdb finds all rings in a process.

use std::path::Path;

use object::{Architecture, Object, ObjectSymbol};

use crate::model::is_visible;

/// The command `xhist` for gdb.
pub const GDB_SCRIPT: &str = include_str!("../gdb/xhist.py");
/// The ring's symbol; in a hosted program a pointer to the first of them.
const SYMBOL: &str = "XHIST_RING";
/// Sections of programs that an operating system loads, and that link to its libraries or say for which one they are.
const OF_SYSTEMS: [&str; 2] = [".interp", ".note.ABI-tag"];

/// What to type, with a word on each.
///
/// # Errors
/// What is wrong with the file, in a sentence.
pub fn commands(elf: &Path) -> Result<String, String> {
    let shown = elf.display();
    let bytes = std::fs::read(elf).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let file = object::File::parse(&*bytes).map_err(|error| format!("{shown} is no ELF file: {error}"))?;
    let ring = file.symbols().find(|symbol| symbol.name() == Ok(SYMBOL) && symbol.size() > 0);
    let pointer = if file.is_64() { 8 } else { 4 };
    let typed = quoted(&shown.to_string());
    match ring {
        Some(ring) if ring.size() <= pointer => Ok(hosted(&typed)),
        Some(ring) => Ok(bare(&typed, ring.address(), ring.size())),
        // gdb's command looks for rings in memory, and needs no symbol.
        None if is_hosted(&file) && file.symbols().next().is_none() => Ok(format!(
            "# {SYMBOL} is not in it, as it was stripped: whether it records is seen when it runs\n{}",
            hosted(&typed)
        )),
        None => Err(format!(
            "{shown} has no {SYMBOL}: it was built without the `trace` feature of xhist-rt, or stripped of its symbols"
        )),
    }
}

/// Whether an operating system is below, as far as that shows without a ring.
fn is_hosted(file: &object::File<'_>) -> bool {
    let is_of_pc = matches!(file.architecture(), Architecture::X86_64 | Architecture::I386);
    is_of_pc || OF_SYSTEMS.iter().any(|name| file.section_by_name(name).is_some())
}

/// As a shell takes it for one word.
pub fn quoted(path: &str) -> String {
    let is_plain = |char: char| char.is_alphanumeric() || "/._-+=:,@%".contains(char);
    if path.chars().all(is_plain) {
        return path.to_owned();
    }
    if path.chars().all(is_visible) {
        return format!("'{}'", path.replace('\'', r"'\''"));
    }
    let escaped = path.bytes().map(|byte| match byte {
        b'\'' | b'\\' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        byte => format!("\\x{byte:02x}"),
    });
    format!("$'{}'", escaped.collect::<String>())
}

/// Of a program on an operating system.
fn hosted(elf: &str) -> String {
    let is_path = elf.contains('/');
    let run = if is_path { elf.to_owned() } else { format!("./{elf}") };
    format!(
        "\
# with a ring file, which can be read at any time, also after kill -9
XHIST_FILE=ring.xhist {run}
xhist-report ring.xhist
# without one: a process that runs or hangs, with gdb; it goes on afterwards
PID=$(pidof -s {run})
xhist-report --gdb-script > xhist.py
gdb -p $PID -batch -x xhist.py -ex xhist
# the same by a core file, to be read later
gcore -o core $PID
xhist-report core.$PID
# after a crash that left a core file
xhist-report core
"
    )
}

/// Of firmware.
fn bare(elf: &str, start: u64, len: u64) -> String {
    let end = start.wrapping_add(len);
    format!(
        "\
# gdb, with a server that has halted the core (:3333 OpenOCD, :1337 probe-rs, :1234 QEMU)
gdb-multiarch -batch -ex 'target remote :3333' -ex 'dump binary memory dump.bin {start:#x} {end:#x}' {elf}
# probe-rs
probe-rs read --chip CHIP --output dump.bin --format binary b8 {start:#x} {len}
# OpenOCD
openocd -f interface/INTERFACE.cfg -f target/TARGET.cfg -c init -c halt -c 'dump_image dump.bin {start:#x} {len}' -c shutdown
# then
xhist-report dump.bin
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_knows_every_header() {
        use qs_core::ring::{BARE_HEADER_LEN, HOSTED_HEADER_LEN, PAGES_OF_WORDS};
        let line = GDB_SCRIPT.lines().find(|line| line.starts_with("HEADER_LENGTHS = ")).expect("the table");
        let pages = PAGES_OF_WORDS.filter(|len| len.is_power_of_two());
        for len in [BARE_HEADER_LEN, HOSTED_HEADER_LEN].into_iter().chain(pages) {
            assert!(line.contains(&format!(" {len}")) || line.contains(&format!("({len}")), "{line}");
        }
    }

    #[test]
    fn paths_are_one_word_for_a_shell() {
        assert_eq!(quoted("target/debug/demo"), "target/debug/demo");
        assert_eq!(quoted("it's new"), r"'it'\''s new'");
        assert_eq!(quoted("a\u{1b}'b\u{202e}"), r"$'a\x1b\'b\xe2\x80\xae'");
    }
}
