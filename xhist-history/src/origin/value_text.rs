//! Parts of values that are recorded as text.

use super::syntax::ERROR_FIELD;

/// The value of a field in the text of a value: of `b` in `A { a: 1, b: 2 }`, of `0` in `Some(7)`. `None` if it is not in it.
pub fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let is_error = text.starts_with("Err(");
    let name = match name.strip_prefix(ERROR_FIELD) {
        Some(name) => is_error.then_some(name)?,
        None => (!is_error).then_some(name)?,
    };
    let open = text.find(['{', '(', '['])?;
    let is_name = |character: char| character.is_alphanumeric() || "_:<>, &'".contains(character);
    text[..open].chars().all(is_name).then_some(())?;
    let inner = text[open + 1..].strip_suffix(['}', ')'])?;
    let by_name = text[open..].starts_with('{');
    for (number, part) in parts(inner).into_iter().enumerate() {
        let part = part.trim();
        if by_name {
            let (known, value) = part.split_once(": ")?;
            if known == name {
                return Some(value);
            }
        } else if number.to_string() == name {
            return Some(part).filter(|part| !part.is_empty() && *part != "..");
        }
    }
    None
}

/// The value behind several fields.
pub fn fields(text: &str, names: &[String]) -> Option<String> {
    let value = names.iter().try_fold(text, |text, name| field(text, name))?;
    Some(value.to_owned())
}

/// Whether a text is all of a value: not cut, and no address.
pub fn is_whole(text: &str) -> bool {
    !text.contains("..") && !text.contains("0x") && !text.starts_with('<')
}

/// Whether two texts cannot be the same value.
pub fn differ(one: &str, other: &str) -> bool {
    is_whole(one) && is_whole(other) && one != other
}

/// The text between commas, outside of brackets and quotes.
fn parts(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut is_quoted, mut is_escaped) = (0i32, 0, false, false);
    let mut parts = Vec::new();
    for (at, character) in text.char_indices() {
        if is_quoted {
            is_quoted = is_escaped || character != '"';
            is_escaped = !is_escaped && character == '\\';
            continue;
        }
        match character {
            '"' => is_quoted = true,
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_in_the_text_of_a_value() {
        let text = r#"Pair { a: Some((1, "x, \" y")), b: [1, 2] }"#;
        assert_eq!(field(text, "b"), Some("[1, 2]"));
        assert_eq!(fields(text, &["a".into(), "0".into(), "1".into()]).as_deref(), Some(r#""x, \" y""#));
        assert_eq!(field(text, "c"), None);
        assert_eq!(field("Some(7)", "0"), Some("7"));
        assert_eq!(field("(1, ..)", "1"), None);
        assert_eq!(field("None", "0"), None);
        assert_eq!(field("7", "0"), None);
    }

    #[test]
    fn values_that_are_not_whole_may_be_equal() {
        assert!(differ("1", "2") && !differ("1", "1"));
        assert!(!differ("\"a\".. (9 bytes)", "\"b\"") && !differ("0x7f", "1"));
    }
}
