//! The commands that dump the ring of a firmware: where it lies is told by the firmware's ELF file.

use std::path::Path;

use object::{Object, ObjectSymbol};

/// The ring's symbol.
const SYMBOL: &str = "XHIST_RING";

/// What to type, with a word on each.
///
/// # Errors
/// What is wrong with the file, in a sentence.
pub fn commands(elf: &Path) -> Result<String, String> {
    let shown = elf.display();
    let bytes = std::fs::read(elf).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let file = object::File::parse(&*bytes).map_err(|error| format!("{shown} is no ELF file: {error}"))?;
    let ring = file.symbols().find(|symbol| symbol.name() == Ok(SYMBOL) && symbol.size() > 0);
    let ring = ring.ok_or_else(|| {
        format!("{shown} has no {SYMBOL}: it was built without the `trace` feature of xhist-rt, or stripped of its symbols")
    })?;
    let (start, len) = (ring.address(), ring.size());
    if is_hosted(&file, len) {
        return Err(format!(
            "{shown} runs on an operating system: dump it as docs/debugger.md shows, or set XHIST_FILE"
        ));
    }
    Ok(told(&quoted(&shown.to_string()), start, len))
}

/// As a shell takes it for one word.
pub fn quoted(path: &str) -> String {
    let is_plain = |char: char| char.is_alphanumeric() || "/._-+=:,@%".contains(char);
    match path.chars().all(is_plain) {
        true => path.to_owned(),
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}

/// Hosted programs have a pointer of this name.
fn is_hosted(file: &object::File<'_>, len: u64) -> bool {
    len <= if file.is_64() { 8 } else { 4 }
}

fn told(elf: &str, start: u64, len: u64) -> String {
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
