//! Words of a command that a user can type as they are printed.

/// One word for a POSIX shell. No control character is in it.
pub fn quoted(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+,=:@%".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_plain) {
        return text.to_owned();
    }
    if !text.contains(char::is_control) {
        return format!("'{}'", text.replace('\'', r"'\''"));
    }
    let octal =
        |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("\\0{byte:03o}") };
    format!("\"$(printf %b '{}')\"", text.bytes().map(octal).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_gives_the_text_back() {
        for text in ["/a/b-1.2_c", "", "a b", "it's", "$HOME `x` \"y\" \\ *", "esc\x1b[0m%s\\'é", "cfg(unix)"]
        {
            let word = quoted(text);
            assert!(!word.contains(char::is_control), "{word}");
            let done =
                std::process::Command::new("sh").arg("-c").arg(format!("printf %s {word}")).output().unwrap();
            assert_eq!(String::from_utf8(done.stdout).unwrap(), text, "{word}");
        }
    }
}
