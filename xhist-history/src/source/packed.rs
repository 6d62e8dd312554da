//! How a packed run begins: the header of its gzip stream has a comment, which other archives do not have.

/// The comment behind the ten bytes of a gzip header, up to its version.
pub const PACK_COMMENT: &str = "xhist pack ";
/// A gzip header with a comment and nothing else.
const GZIP: [u8; 4] = [0x1f, 0x8b, 8, 0x10];
/// Length of a gzip header.
const HEADER: usize = 10;

/// The version of the packed run that begins with these bytes, as its text; `None` for anything else.
pub fn pack_version(start: &[u8]) -> Option<&str> {
    let comment = start.strip_prefix(&GZIP)?.get(HEADER - GZIP.len()..)?;
    let version = comment.strip_prefix(PACK_COMMENT.as_bytes())?.split(|byte| *byte == 0).next()?;
    Some(std::str::from_utf8(&version[..version.len().min(8)]).unwrap_or("?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_comment_makes_a_pack() {
        let start =
            |flags, comment: &str| [&[0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 255], comment.as_bytes()].concat();
        assert_eq!(pack_version(&start(0x10, "xhist pack 1\0rest")), Some("1"));
        assert_eq!(pack_version(&start(0x10, "xhist pack 12345678901234")), Some("12345678"));
        assert_eq!(pack_version(&start(0, "xhist pack 1\0")), None);
        assert_eq!(pack_version(&start(0x10, "other\0")), None);
        assert_eq!(pack_version(b"\x1f\x8b\x08\x10"), None);
    }
}
