//! The ten bugs of the fleet: what each replaces in the program, in which builds, and where it fails.

/// A bug: a text of the program without it, and the text with it.
#[derive(Debug)]
pub struct InjectedBug {
    /// Its number, from 1.
    pub number: u8,
    /// The file, below the program's directory.
    pub file: &'static str,
    /// The text without the bug, once in the file.
    pub before: &'static str,
    /// The text with the bug.
    pub after: &'static str,
    /// The first build with it.
    pub since: u8,
    /// The last build with it.
    pub until: u8,
    /// The function in which it fails, as it is declared. In builds with several bugs this is not always the innermost.
    pub function: &'static str,
    /// The statement of that function that ran last.
    pub statement: &'static str,
    /// What happens.
    pub what: &'static str,
}

/// How many builds there are.
pub const BUILDS: u8 = 5;

/// The bug that never ends: its process is killed.
pub const HANG: u8 = 4;

/// The bug in a crate of the corpus.
pub const IN_CRATE: u8 = 9;

/// Every bug.
pub const BUGS: [InjectedBug; 10] = [
    InjectedBug {
        number: 1,
        file: "src/meter.rs",
        before: "        if self.count == 0 {\n            return 0;\n        }\n",
        after: "",
        since: 1,
        until: 2,
        function: "fn mean(",
        statement: "self.sum / self.count",
        what: "panic: divides by zero",
    },
    InjectedBug {
        number: 2,
        file: "src/pool.rs",
        before: "    if words.len() < 4 {\n        return None;\n    }\n",
        after: "",
        since: 1,
        until: 5,
        function: "fn build_message(",
        statement: "let receiver = words[3];",
        what: "panic in a worker thread: index out of bounds",
    },
    InjectedBug {
        number: 3,
        file: "src/expression.rs",
        before: "best.unwrap_or_default()",
        after: "best.unwrap()",
        since: 2,
        until: 4,
        function: "fn largest(",
        statement: "best.unwrap()",
        what: "panic at any depth of a recursion: unwrap of None",
    },
    InjectedBug {
        number: HANG,
        file: "src/frames.rs",
        before: "            at += 1;\n            continue;\n",
        after: "            continue;\n",
        since: 3,
        until: 5,
        function: "fn split(",
        statement: "continue;",
        what: "hang: a loop that never ends, killed by SIGKILL",
    },
    InjectedBug {
        number: 5,
        file: "src/store.rs",
        before: "let slot = slot % limit;",
        after: "assert!(slot < limit, \"no slot {slot}\");",
        since: 1,
        until: 3,
        function: "fn put(",
        statement: "assert!(slot < limit, \"no slot {slot}\");",
        what: "panic: failed assertion, in the function of bug 6",
    },
    InjectedBug {
        number: 6,
        file: "src/store.rs",
        before: "self.free = self.free.saturating_sub(value);",
        after: "self.free -= value;",
        since: 2,
        until: 5,
        function: "fn put(",
        statement: "self.free -= value;",
        what: "panic: subtraction overflows, in the function of bug 5",
    },
    InjectedBug {
        number: 7,
        file: "src/settings.rs",
        before: "None => self.default,",
        after: "None => crate::fault::fail(\"no such setting\"),",
        since: 1,
        until: 5,
        function: "fn number(",
        statement: "None => crate::fault::fail(\"no such setting\"),",
        what: "panic in the helper `fail`, as bug 8",
    },
    InjectedBug {
        number: 8,
        file: "src/router.rs",
        before: "return self.gateway;",
        after: "crate::fault::fail(\"no route\");",
        since: 3,
        until: 5,
        function: "fn next_hop(",
        statement: "crate::fault::fail(\"no route\");",
        what: "panic in the helper `fail`, as bug 7",
    },
    InjectedBug {
        number: IN_CRATE,
        file: "vendor/httparse/src/lib.rs",
        before: "            b'0' ..= b'9' if in_chunk_size => {\n                if count > 15 {",
        after: "            b'0' ..= b'9' if in_chunk_size => {\n                if count > 16 {",
        since: 1,
        until: 4,
        function: "fn parse_chunk_size(",
        statement: "size *= RADIX;",
        what: "panic in a corpus crate: multiplication overflows",
    },
    InjectedBug {
        number: 10,
        file: "src/watchdog.rs",
        before: "self.late += 1;",
        after: "std::process::abort();",
        since: 2,
        until: 4,
        function: "fn feed(",
        statement: "std::process::abort();",
        what: "abort (SIGABRT), reached through three callers",
    },
];

impl InjectedBug {
    /// The bug with this number.
    pub fn numbered(number: u8) -> &'static InjectedBug {
        &BUGS[usize::from(number) - 1]
    }

    /// Whether this build has it.
    pub fn is_in(&self, build: u8) -> bool {
        (self.since..=self.until).contains(&build)
    }

    /// The line of the statement at which it fails, in the text of its file.
    ///
    /// # Panics
    /// The function or the statement is not in the text.
    pub fn line(&self, text: &str) -> usize {
        let function = text.find(self.function).expect("the function of the bug");
        let at = text[function..].find(self.statement).expect("the statement of the bug");
        1 + text[..function + at].matches('\n').count()
    }
}
