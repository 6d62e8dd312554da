//! Test results, read from the output of the harness and cargo: failed tests, and test programs that a signal ended.
//!
//! The parser reads the three formats of libtest: pretty, terse and JSON. What a test prints itself counts as a result only
//! if it looks exactly like one.

use std::collections::BTreeMap;

use xhist_history::runs::record::TestOutcome;

use crate::system::is_exception;

/// The longest line that is read, in bytes. Longer ones are skipped.
const LONGEST: usize = 64 * 1024;
/// Most results of one kind that are kept.
const MOST: usize = 100_000;

/// The results so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Results {
    /// Tests that failed. Two programs may have a test of one name.
    pub(crate) failed: Vec<Failed>,
    /// Tests that passed or were ignored, where the output names them.
    pub(crate) others: Vec<(String, TestOutcome)>,
    /// Ids of threads that panicked, by thread name: of tests whose output is not captured.
    pub(crate) panicked: BTreeMap<String, Vec<u32>>,
    /// Programs that a signal ended, by file name, and the signal's name.
    pub(crate) killed: Vec<(String, String)>,
    /// Test programs that failed, as cargo prints it.
    pub(crate) programs: Vec<FailedProgram>,
}

/// A test program that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FailedProgram {
    /// Its file name; with `cargo -q` only the name of its target.
    pub(crate) name: String,
    /// Its exit code, which cargo prints unless it is that of a failed test.
    pub(crate) code: Option<i32>,
}

impl FailedProgram {
    /// Whether this is the file name of the program. Cargo appends a hash to it.
    pub(crate) fn is(&self, program: &str) -> bool {
        program == self.name
            || program
                .rsplit_once('-')
                .is_some_and(|(name, hash)| is_hash(hash) && name == self.name.replace('-', "_"))
    }
}

impl Results {
    /// Whether there is any result.
    pub(crate) fn has_any(&self) -> bool {
        !self.failed.is_empty() || !self.others.is_empty()
    }

    fn add_other(&mut self, name: &str, result: TestOutcome) {
        if self.others.len() < MOST {
            self.others.push((name.to_owned(), result));
        }
    }
}

/// A test that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Failed {
    /// Its name as it was printed.
    pub(crate) name: String,
    /// The thread that panicked, by the id in the message; of a documentation test also the process.
    pub(crate) thread: Option<u32>,
}

/// Parses one stream of output.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    line: Vec<u8>,
    /// The current line is too long.
    is_cut: bool,
    /// The program that cargo started last.
    running: Option<String>,
    /// Failed tests of the current harness: their indices among the results.
    seen: BTreeMap<String, usize>,
    /// The test whose output follows, and the threads that panicked in each.
    output_of: Option<String>,
    panicked: BTreeMap<String, u32>,
    /// Names below `failures:`, until the result shows that they are names.
    listed: Option<Vec<String>>,
}

impl Parser {
    /// Takes the next bytes of the stream.
    pub(crate) fn take(&mut self, bytes: &[u8], results: &mut Results) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, is_end) = match piece.split_last() {
                Some((b'\n', text)) => (text, true),
                _ => (piece, false),
            };
            let room = LONGEST - self.line.len().min(LONGEST);
            self.is_cut |= text.len() > room;
            self.line.extend_from_slice(&text[..text.len().min(room)]);
            if is_end {
                let line = std::mem::take(&mut self.line);
                if !std::mem::take(&mut self.is_cut) {
                    self.line(&plain(&line), results);
                }
            }
        }
    }

    fn line(&mut self, line: &str, results: &mut Results) {
        if let Some(count) = line.strip_prefix("running ") {
            let count = count.strip_suffix(" tests").or(count.strip_suffix(" test"));
            if count.is_some_and(|count| count.parse::<usize>().is_ok()) {
                self.begin();
            }
        } else if let Some(name) =
            line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----"))
        {
            self.output_of = Some(name.to_owned());
            self.listed = None;
        } else if let Some((name, thread)) = panicked(line) {
            match &self.output_of {
                Some(test) => _ = self.panicked.entry(test.clone()).or_insert(thread),
                None if results.panicked.len() < MOST => {
                    results.panicked.entry(name.to_owned()).or_default().push(thread);
                }
                None => {}
            }
        } else if line == "failures:" {
            self.listed = Some(Vec::new());
        } else if line.starts_with("test result: ") {
            for name in self.listed.take().into_iter().flatten() {
                self.add_failed(&name, results);
            }
            for (name, at) in std::mem::take(&mut self.seen) {
                results.failed[at].thread = self.panicked.get(&name).copied();
            }
            self.begin();
        } else if let Some(rest) =
            line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED"))
        {
            self.add_failed(without_mode(rest), results);
        } else if let Some((name, result)) = passed_or_ignored(line) {
            results.add_other(name, result);
        } else if line.starts_with('{') {
            self.json(line, results);
        } else if let Some(killed) = killed(line) {
            results.killed.push(killed);
        } else if let Some(program) = running(line) {
            self.running = program;
        } else if let Some(target) = line.strip_prefix("error: test failed, to rerun pass `") {
            let name = self.running.take().or_else(|| target_name(target));
            results.programs.extend(name.map(|name| FailedProgram { name, code: None }));
        } else if let Some((name, code)) = exited(line) {
            let program = results.programs.iter_mut().rfind(|program| program.is(name));
            program.into_iter().for_each(|program| program.code = Some(code));
        } else if let Some(listed) = &mut self.listed {
            match line.strip_prefix("    ") {
                Some(name) if listed.len() < MOST => listed.push(name.to_owned()),
                _ if line.is_empty() => {}
                // Another line: `failures:` was the title above the output of the tests.
                _ => self.listed = None,
            }
        }
    }

    /// A harness begins or ends.
    fn begin(&mut self) {
        *self = Parser { running: self.running.take(), ..Parser::default() };
    }

    fn json(&mut self, line: &str, results: &mut Results) {
        let Ok(event) = serde_json::from_str::<serde_json::Value>(line) else { return };
        let text = |key: &str| event.get(key).and_then(serde_json::Value::as_str);
        let name = text("name").unwrap_or_default();
        match (text("type"), text("event")) {
            // The event `timeout` is no result: the test runs for long, and goes on.
            (Some("test"), Some("failed")) => self.add_failed(name, results),
            (Some("test"), Some("ok")) => results.add_other(name, TestOutcome::Passed),
            (Some("test"), Some("ignored")) => results.add_other(name, TestOutcome::Ignored),
            (Some("suite"), Some("started")) => self.begin(),
            _ => {}
        }
    }

    fn add_failed(&mut self, name: &str, results: &mut Results) {
        if results.failed.len() < MOST && !self.seen.contains_key(name) {
            self.seen.insert(name.to_owned(), results.failed.len());
            results.failed.push(Failed { name: name.to_owned(), thread: None });
        }
    }
}

/// `test a::b ... ok`, `test a::b - should panic ... ok`, `test a::b ... ignored, reason`.
fn passed_or_ignored(line: &str) -> Option<(&str, TestOutcome)> {
    let (name, rest) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let result = match rest {
        "ok" => TestOutcome::Passed,
        _ if rest == "ignored" || rest.starts_with("ignored, ") => TestOutcome::Ignored,
        _ => return None,
    };
    Some((without_mode(name), result))
}

/// The name of a test, without the mode that only the pretty format prints behind it, and the blanks of libtest-mimic.
fn without_mode(name: &str) -> &str {
    let name = name.trim_end();
    let modes = [" - should panic", " - compile fail", " - compile"];
    modes.iter().find_map(|mode| name.strip_suffix(mode)).unwrap_or(name)
}

/// `thread 'name' (4711) panicked at src/lib.rs:1:2:`, as Rust prints it since 1.91.
fn panicked(line: &str) -> Option<(&str, u32)> {
    let (name, rest) = line.strip_prefix("thread '")?.rsplit_once("' (")?;
    Some((name, rest.split_once(") panicked at ")?.0.parse().ok()?))
}

/// ``process didn't exit successfully: `/path/name args` (signal: 6, SIGABRT: process abort signal)``, as cargo prints it; on
/// Windows `(exit code: 0xc0000005, STATUS_ACCESS_VIOLATION)`.
fn killed(line: &str) -> Option<(String, String)> {
    let rest = line.trim_start().strip_prefix("process didn't exit successfully: `")?;
    let (command, status) = rest.rsplit_once("` (signal: ").or(rest.rsplit_once("` (exit code: "))?;
    let is_name = |word: &&str| word.starts_with("SIG") || is_exception(word);
    let signal = status.split([',', ':', ' ', ')']).find(is_name)?;
    Some((program_name(command).to_owned(), signal.to_owned()))
}

/// ``process didn't exit successfully: `/path/name args` (exit status: 1)``; on Windows `(exit code: 1)`.
fn exited(line: &str) -> Option<(&str, i32)> {
    let rest = line.trim_start().strip_prefix("process didn't exit successfully: `")?;
    let (command, status) = rest.rsplit_once("` (exit status: ").or(rest.rsplit_once("` (exit code: "))?;
    Some((program_name(command), status.strip_suffix(')')?.parse().ok()?))
}

/// The program of `Running tests/a.rs (target/debug/deps/a-0f1e)`, and with `-v` of ``Running `/path/a-0f1e args` ``.
/// Documentation tests have none that is known by its name.
fn running(line: &str) -> Option<Option<String>> {
    let line = line.trim_start();
    if line.starts_with("Doc-tests ") {
        return Some(None);
    }
    let rest = line.strip_prefix("Running ")?;
    let quoted = rest.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    let named = || rest.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")).map(|(_, path)| path);
    Some(Some(program_name(quoted.or_else(named)?).to_owned()))
}

/// The name in ``-p app --test name` ``. That of a library is the package's in most cases.
fn target_name(words: &str) -> Option<String> {
    let words: Vec<&str> = words.trim_end_matches('`').split(' ').collect();
    let behind = |word: &str| words.iter().position(|it| *it == word).and_then(|at| words.get(at + 1));
    let of_target = ["--test", "--bin", "--example", "--bench"].into_iter().find_map(behind);
    let of_library = || words.contains(&"--lib").then(|| behind("-p")).flatten();
    of_target.or_else(of_library).map(|name| (*name).to_owned())
}

fn is_hash(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a program of this name may be one that runs tests: cargo appends a hash to their names.
pub(crate) fn is_test_program(name: &str) -> bool {
    name.rsplit_once('-').is_some_and(|(_, hash)| is_hash(hash))
}

/// The file name of the program in a command. Its path may contain blanks, and its arguments slashes, so the hash decides
/// that cargo appends to the names of test programs.
fn program_name(command: &str) -> &str {
    let first_word = |text| {
        let word = str::split(text, ' ').next().unwrap_or(text);
        word.strip_suffix(".exe").unwrap_or(word)
    };
    let mut names = command.rsplit(['/', '\\']).map(first_word);
    names.find(|name| is_test_program(name)).unwrap_or_else(|| {
        let path = command.split(" -").next().unwrap_or(command);
        first_word(path.rsplit(['/', '\\']).next().unwrap_or(path))
    })
}

/// The line without a carriage return and without colours.
fn plain(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.trim_end_matches('\r').chars();
    while let Some(char) = chars.next() {
        if char != '\u{1b}' {
            plain.push(char);
            continue;
        }
        match chars.next() {
            // A control sequence ends with its first character from `@` to `~`.
            Some('[') => _ = chars.by_ref().find(|char| ('@'..='~').contains(char)),
            // A choice of a character set.
            Some('(' | ')') => _ = chars.next(),
            _ => {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(results: &Results) -> Vec<&str> {
        results.failed.iter().map(|failed| failed.name.as_str()).collect()
    }

    fn read(text: &str) -> Results {
        let (mut whole, mut results) = (Parser::default(), Results::default());
        whole.take(text.as_bytes(), &mut results);
        // The same in pieces.
        let (mut parser, mut again) = (Parser::default(), Results::default());
        text.as_bytes().chunks(3).for_each(|chunk| parser.take(chunk, &mut again));
        assert_eq!(again, results);
        results
    }

    #[test]
    fn pretty_output_names_the_tests_that_failed() {
        let results = read(
            "running 4 tests\ntest a::ok ... ok\ntest a::bad ... \u{1b}[31mFAILED\u{1b}(B\u{1b}[m\r\n\
             test a::panics - should panic ... ok\ntest a::late - should panic ... FAILED\n\n\
             failures:\n\n---- a::bad stdout ----\nfailures:\n    no name\nthread 'a' (b' (4711) panicked at x.rs:1:2:\n\n\nfailures:\n    a::bad\n    a::late\n\n\
             test result: FAILED. 2 passed; 2 failed; 0 ignored\n",
        );
        assert_eq!(names(&results), ["a::bad", "a::late"]);
        assert_eq!([results.failed[0].thread, results.failed[1].thread], [Some(4711), None]);
        let passed = |name: &str| (name.to_owned(), TestOutcome::Passed);
        assert_eq!(results.others, [passed("a::ok"), passed("a::panics")]);
        let ignored = read("test a ... ignored, slow ... ok\ntest b ... ignored\n").others;
        assert_eq!(ignored, ["a", "b"].map(|name| (name.to_owned(), TestOutcome::Ignored)));
    }

    #[test]
    fn terse_output_names_them_at_its_end() {
        let text = "running 2 tests\nF.\nfailures:\n\n---- same stdout ----\n\nfailures:\n    same\n    src/lib.rs - a (line 3)\n\ntest result: FAILED. x\n";
        let results = read(&format!("{text}{text}"));
        assert_eq!(names(&results), ["same", "src/lib.rs - a (line 3)", "same", "src/lib.rs - a (line 3)"]);
    }

    #[test]
    fn json_output_names_the_tests_that_failed() {
        let results = read(
            "{ \"type\": \"suite\", \"event\": \"started\", \"test_count\": 2 }\n\
             { \"type\": \"test\", \"event\": \"timeout\", \"name\": \"slow\" }\n\
             { \"type\": \"test\", \"name\": \"b\", \"event\": \"failed\", \"stdout\": \"x\" }\n\
             { \"type\": \"test\", \"name\": \"slow\", \"event\": \"ok\" }\n\
             { \"type\": \"suite\", \"event\": \"failed\", \"passed\": 1 }\n{ no json\n",
        );
        assert_eq!(names(&results), ["b"]);
        assert_eq!(results.others, [("slow".to_owned(), TestOutcome::Passed)]);
    }

    #[test]
    fn a_documentation_test_that_should_not_compile_fails_once() {
        let name = "src/lib.rs - a (line 3)";
        for mode in ["", " - should panic", " - compile fail", " - compile"] {
            let results = read(&format!(
                "running 1 test\ntest {name}{mode} ... FAILED\n\nfailures:\n    {name}\n\ntest result: FAILED. x\n"
            ));
            assert_eq!(names(&results), [name], "{mode}");
        }
    }

    #[test]
    fn threads_are_known_by_messages_that_are_not_captured() {
        let results =
            read("running 1 test\nthread 'a::b' (12) panicked at x.rs:1:2:\ntest a::b ... FAILED\n");
        assert_eq!(results.panicked["a::b"], [12]);
        assert_eq!(names(&results), ["a::b"]);
    }

    #[test]
    fn cargo_names_the_signal_that_ended_a_program() {
        let results = read(
            "Caused by:\n  process didn't exit successfully: `/t/de bug/deps/many-0f1e --x y` (signal: 6, SIGABRT: process abort signal)\n\
             process didn't exit successfully: `/t/a-2` (exit status: 1)\n\
             process didn't exit successfully: `/de bug/b-0123456789abcdef src/lib.rs` (signal: 11, SIGSEGV: invalid memory reference)\n",
        );
        let killed = [("many-0f1e", "SIGABRT"), ("b-0123456789abcdef", "SIGSEGV")];
        assert_eq!(results.killed, killed.map(|(name, signal)| (name.to_owned(), signal.to_owned())));
    }

    #[test]
    fn cargo_names_the_exception_that_ended_a_program_of_windows() {
        let results = read(
            "process didn't exit successfully: `C:\\my w\\deps\\a_b-0123456789abcdef.exe src\\lib.rs` (exit code: 0xc0000005, STATUS_ACCESS_VIOLATION)\r\n\
             process didn't exit successfully: `C:\\w\\a.exe` (exit code: 0xc0000409, STATUS_STACK_BUFFER_OVERRUN)\n\
             process didn't exit successfully: `C:\\w\\a.exe` (exit code: 101)\n",
        );
        let killed =
            [("a_b-0123456789abcdef", "STATUS_ACCESS_VIOLATION"), ("a", "STATUS_STACK_BUFFER_OVERRUN")];
        assert_eq!(results.killed, killed.map(|(name, how)| (name.to_owned(), how.to_owned())));
    }

    #[test]
    fn cargo_names_the_programs_that_failed() {
        let hash = "0123456789abcdef";
        let results = read(&format!(
            "     Running unittests src/lib.rs (target/x y/debug/deps/app-{hash})\n\nrunning 1 test\n\ntest result: ok. x\n\
             \x1b[1m     Running\x1b[0m tests/own.rs (target/x (1)/deps/my_own-{hash})\n\x1b[31merror\x1b[0m: test failed, to rerun pass `-p app --test my-own`\n\
             Caused by:\n  process didn't exit successfully: `/t/my_own-{hash} --x` (exit status: 3)\n\
             Doc-tests app\nerror: doctest failed, to rerun pass `-p app --doc`\n\
             error: test failed, to rerun pass `-p app --test at-last`\nerror: test failed, to rerun pass `-p app --lib`\n"
        ));
        let programs: Vec<_> = results.programs.iter().map(|it| (it.name.as_str(), it.code)).collect();
        let own = format!("my_own-{hash}");
        assert_eq!(programs, [(own.as_str(), Some(3)), ("at-last", None), ("app", None)]);
        assert!(results.programs[1].is(&format!("at_last-{hash}")) && results.programs[0].is(&own));
        assert!(!results.programs[1].is("at_last-0") && !results.programs[1].is("at-last-1"));
    }

    #[test]
    fn a_line_without_end_takes_no_memory() {
        let (mut parser, mut results) = (Parser::default(), Results::default());
        (0..100).for_each(|_| parser.take(&[b'x'; 10_000], &mut results));
        assert!(parser.line.len() <= LONGEST);
        parser.take(b"\nrunning 1 test\ntest a ... FAILED\n", &mut results);
        assert_eq!(names(&results), ["a"]);
    }
}
