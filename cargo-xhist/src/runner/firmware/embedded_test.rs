//! The tests of a program with `embedded-test` (0.7), whose harness is the runner: it starts the target again for each test.

use std::collections::BTreeMap;

use object::{Object, ObjectSection, ObjectSymbol};

/// The section that the tests are in. Nothing of it is loaded.
const SECTION: &str = ".embedded_test";
/// What comes before the address of a test in the command line that an emulator gives to the program.
const RUN: &str = "arg=run_addr,arg=";

/// The tests of a program: their names by the addresses of their functions. Older versions have no names here.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tests(BTreeMap<u64, String>);

impl Tests {
    /// Of the program with these bytes. `None`: it is no such program.
    pub(super) fn of(bytes: &[u8]) -> Option<Tests> {
        let elf = object::File::parse(bytes).ok()?;
        let section = elf.section_by_name(SECTION)?;
        let inside = elf.symbols().filter(|symbol| symbol.section_index() == Some(section.index()));
        Some(Tests(
            inside.filter_map(|symbol| test(&elf, &section, symbol.name().ok()?, symbol.address())).collect(),
        ))
    }

    /// The test that an emulator with these words ran.
    pub(super) fn run_by(&self, words: &[String]) -> Option<&str> {
        let address = words.iter().find_map(|word| word.split_once(RUN))?.1.split(',').next()?;
        self.0.get(&address.parse().ok()?).map(String::as_str)
    }
}

/// A test is a function and the path of its module; the name of its symbol is JSON.
fn test<'data>(
    elf: &object::File<'data>,
    section: &object::Section<'data, '_>,
    symbol: &str,
    address: u64,
) -> Option<(u64, String)> {
    let name: serde_json::Value = serde_json::from_str(symbol).ok()?;
    let size = if elf.is_64() { 8 } else { 4 };
    let word = |index: u64| {
        let bytes = section.data_range(address.checked_add(index * size)?, size).ok()??;
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        Some(u64::from_le_bytes(word))
    };
    let (function, path, len) = (word(0)?, word(1)?, word(2)?);
    let mut others = elf.sections().filter(|other| other.index() != section.index());
    let path = others.find_map(|other| other.data_range(path, len).ok()?)?;
    // The first part is the crate, which a name does not have.
    let (_, module) = std::str::from_utf8(path).ok()?.split_once("::")?;
    Some((function, format!("{module}::{}", name.get("name")?.as_str()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_an_emulator_name_its_test() {
        let tests = Tests([(1025, "tests::a".to_owned())].into());
        let words = |config: &str| ["qemu-system-arm", "-semihosting-config", config].map(String::from);
        let named = |config: &str| tests.run_by(&words(config)).map(String::from);
        assert_eq!(named("enable=on,target=native,arg=run_addr,arg=1025").as_deref(), Some("tests::a"));
        for other in ["enable=on", "enable=on,arg=run_addr,arg=1026", "arg=run_addr,arg=x"] {
            assert_eq!(named(other), None, "{other}");
        }
        let program = std::env::current_exe().and_then(std::fs::read).expect("this program");
        assert_eq!(Tests::of(&program), None);
    }
}
