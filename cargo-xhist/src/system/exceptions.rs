//! Exit codes of Windows that say how a program died. Its exceptions are exit codes of 32 bits.

/// The code, and the name that Windows has for it.
const NAMES: [(u32, &str); 20] = [
    (0x8000_0003, "STATUS_BREAKPOINT"),
    (0x8000_0004, "STATUS_SINGLE_STEP"),
    (0xC000_0005, "STATUS_ACCESS_VIOLATION"),
    (0xC000_0006, "STATUS_IN_PAGE_ERROR"),
    (0xC000_0017, "STATUS_NO_MEMORY"),
    (0xC000_001D, "STATUS_ILLEGAL_INSTRUCTION"),
    (0xC000_0025, "STATUS_NONCONTINUABLE_EXCEPTION"),
    (0xC000_008C, "STATUS_ARRAY_BOUNDS_EXCEEDED"),
    (0xC000_008E, "STATUS_FLOAT_DIVIDE_BY_ZERO"),
    (0xC000_0094, "STATUS_INTEGER_DIVIDE_BY_ZERO"),
    (0xC000_0095, "STATUS_INTEGER_OVERFLOW"),
    (0xC000_0096, "STATUS_PRIVILEGED_INSTRUCTION"),
    (0xC000_00FD, "STATUS_STACK_OVERFLOW"),
    (0xC000_0135, "STATUS_DLL_NOT_FOUND"),
    (0xC000_0139, "STATUS_ENTRYPOINT_NOT_FOUND"),
    (0xC000_013A, "STATUS_CONTROL_C_EXIT"),
    (0xC000_0142, "STATUS_DLL_INIT_FAILED"),
    (0xC000_0374, "STATUS_HEAP_CORRUPTION"),
    // A Rust program that aborts, too.
    (0xC000_0409, "STATUS_STACK_BUFFER_OVERRUN"),
    (0xC000_0420, "STATUS_ASSERTION_FAILURE"),
];

/// What an unknown code begins with.
const UNKNOWN: &str = "exception ";

/// The exception that an exit code means: its name, or its number. Other codes are the program's own.
#[cfg_attr(unix, allow(dead_code, reason = "no exit code of Unix has 32 bits"))]
pub(crate) fn name_of(code: u32) -> Option<String> {
    let known = NAMES.iter().find(|(known, _)| *known == code).map(|(_, name)| (*name).to_owned());
    known.or_else(|| (0xC000_0000..0xD000_0000).contains(&code).then(|| format!("{UNKNOWN}{code:#010X}")))
}

/// The code of a name.
pub(crate) fn code_of(name: &str) -> Option<u32> {
    NAMES.iter().find(|(_, known)| *known == name).map(|(code, _)| *code)
}

/// Whether cargo printed the name of an exception.
pub(crate) fn is_exception(word: &str) -> bool {
    word.starts_with("STATUS_") && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_are_not_exit_codes() {
        assert_eq!(name_of(0xC000_0005).as_deref(), Some("STATUS_ACCESS_VIOLATION"));
        assert_eq!(name_of(0xC012_3456).as_deref(), Some("exception 0xC0123456"));
        for own in [0, 1, 101, 255, 0x8000_0000, u32::MAX] {
            assert_eq!(name_of(own), None, "{own:#x}");
        }
        assert_eq!(code_of("STATUS_STACK_OVERFLOW"), Some(0xC000_00FD));
        assert!(is_exception("STATUS_ACCESS_VIOLATION") && !is_exception("SIGSEGV"));
    }
}
