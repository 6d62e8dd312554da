//! The section `.xhist_types`: a row for each type that a place was compiled with.

/// A row: the number of the place, the bytes of a value, and the function whose parameter is the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeRow<'a> {
    /// The number of the place; 0 for the anchor and the build.
    pub number: u32,
    /// Bytes of a value; [`BUILD`] for the build.
    pub size: u32,
    /// Address of the function in the file; 0 if not recorded. For the build: the hash of its map.
    pub address: u64,
    /// Its symbol.
    pub symbol: &'a str,
}

/// The size in the row of the build.
pub const BUILD: u32 = 8;

/// The rows of a section, until the first that is cut. Rows are one behind the other, without padding or with zeros between.
pub fn rows(section: &[u8], word: u8, is_little: bool) -> impl Iterator<Item = TypeRow<'_>> {
    let mut left = section;
    std::iter::from_fn(move || {
        let (row, rest) = row(left, usize::from(word), is_little)?;
        left = rest;
        Some(row)
    })
}

fn row(bytes: &[u8], word: usize, is_little: bool) -> Option<(TypeRow<'_>, &[u8])> {
    // An address of four bytes has four bytes behind it, so that rows of all targets are alike.
    let (number, rest) = bytes.split_at_checked(4)?;
    let (size, rest) = rest.split_at_checked(4)?;
    let (address, rest) = rest.split_at_checked(8)?;
    let end = memchr::memchr(0, rest)?;
    let symbol = std::str::from_utf8(&rest[..end]).ok()?;
    let (number, size) = (number_of(number, is_little) as u32, number_of(size, is_little) as u32);
    let is_build = (number, size) == (0, BUILD);
    let address = if word == 4 && !is_build { &address[..4] } else { address };
    let address = number_of(address, is_little);
    Some((TypeRow { number, size, address, symbol }, &rest[end + 1..]))
}

/// A number of up to eight bytes.
pub fn number_of(bytes: &[u8], is_little: bool) -> u64 {
    let digit = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
    match is_little {
        true => bytes.iter().rev().fold(0, digit),
        false => bytes.iter().fold(0, digit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_end_where_the_section_is_cut() {
        let mut section = Vec::new();
        for (number, address, symbol) in [(7u32, 0x1234u64, "a"), (8, 0, "longer")] {
            section.extend(number.to_le_bytes());
            section.extend(4u32.to_le_bytes());
            section.extend(address.to_le_bytes());
            section.extend(symbol.bytes());
            section.push(0);
        }
        let all: Vec<_> = rows(&section, 8, true).collect();
        assert_eq!(all[0], TypeRow { number: 7, size: 4, address: 0x1234, symbol: "a" });
        assert_eq!(all[1], TypeRow { number: 8, size: 4, address: 0, symbol: "longer" });
        for end in 0..section.len() {
            let cut: Vec<_> = rows(&section[..end], 8, true).collect();
            assert!(cut.len() < 2 && cut[..] == all[..cut.len()]);
        }
        assert_eq!(number_of(&[1, 2], false), 0x102);
    }
}
