//! Text before the code: byte-order mark, shebang line, and the frontmatter of a cargo script.

const BOM: &str = "\u{feff}";

/// Why a text has no code to analyse.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BadPrefix {
    SecondByteOrderMark(usize),
    Frontmatter(usize),
}

impl BadPrefix {
    /// Offset of the offending text.
    pub fn at(&self) -> usize {
        match self {
            Self::SecondByteOrderMark(at) | Self::Frontmatter(at) => *at,
        }
    }
}

/// Length of a byte-order mark.
pub(crate) fn bom_len(text: &str) -> usize {
    if text.starts_with(BOM) { BOM.len() } else { 0 }
}

/// Offset of the first byte that is Rust code.
pub(crate) fn code_start(text: &str) -> Result<usize, BadPrefix> {
    let bom = bom_len(text);
    let start = bom + shebang_len(&text[bom..]);
    let code = &text[start..];
    if code.starts_with(BOM) {
        return Err(BadPrefix::SecondByteOrderMark(start));
    }
    let trimmed = code.trim_start();
    if trimmed.starts_with("---") {
        return Err(BadPrefix::Frontmatter(text.len() - trimmed.len()));
    }
    Ok(start)
}

/// Length of a `#!` line, without its newline. `#![` is an attribute, even with blanks or comments in between.
fn shebang_len(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("#!") else { return 0 };
    if skip_blank(rest).starts_with('[') {
        return 0;
    }
    text.find('\n').unwrap_or(text.len())
}

/// The text after leading white space and comments.
fn skip_blank(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        if text.starts_with("//") {
            text = text.find('\n').map_or("", |end| &text[end..]);
        } else if text.starts_with("/*") {
            text = text.find("*/").map_or("", |end| &text[end + 2..]);
        } else {
            return text;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_starts_after_byte_order_mark_and_shebang() {
        assert_eq!(code_start("fn main() {}"), Ok(0));
        assert_eq!(code_start("\u{feff}fn main() {}"), Ok(3));
        assert_eq!(code_start("#!/usr/bin/env run\nfn main() {}"), Ok(18));
        assert_eq!(code_start("\u{feff}#!/run\n"), Ok(9));
        assert_eq!(code_start("#![allow(x)]"), Ok(0));
        assert_eq!(code_start("#! /* c */ // d\n [allow(x)]"), Ok(0));
        assert_eq!(code_start("#!"), Ok(2));
    }

    #[test]
    fn frontmatter_is_refused() {
        assert_eq!(code_start("#!/x\n\n---\n[package]\n---\n"), Err(BadPrefix::Frontmatter(6)));
        assert_eq!(code_start("\u{feff}\u{feff}"), Err(BadPrefix::SecondByteOrderMark(3)));
    }
}
