//! `--budget`, an option of every report of text or JSON.

use std::ffi::OsString;
use std::io::{self, Write};
use std::sync::OnceLock;

use clap::Args as ClapArgs;

use crate::budget::{Budget, BudgetedLines, FEWEST_BYTES, Weight};
use xhist_history::notes::typed::{self, quoted};

/// The option and the word behind it.
const OPTION: &str = "--budget";

/// What the user typed, without the budget.
static TYPED: OnceLock<String> = OnceLock::new();

/// How long a report may be.
#[derive(Clone, Copy, Debug, Default, ClapArgs)]
pub struct BudgetArgs {
    /// Print at most this number of bytes; what matters least is left out
    ///
    /// `8k` is 8192. Each place where entries are missing is marked, and the last line has the command that prints all.
    #[arg(long = "budget", value_name = "BYTES", value_parser = bytes)]
    bytes: Option<usize>,
}

/// A number of bytes, also as `8k`.
fn bytes(text: &str) -> Result<usize, String> {
    let (number, unit) = match text.strip_suffix(['k', 'K']) {
        Some(number) => (number, 1 << 10),
        None => (text, 1),
    };
    let bytes = number.parse().ok().and_then(|number: usize| number.checked_mul(unit));
    match bytes {
        None => Err("expected a number of bytes, such as 8000 or 8k".to_owned()),
        Some(bytes) if bytes < FEWEST_BYTES => Err(format!("the least is {FEWEST_BYTES} bytes")),
        Some(bytes) => Ok(bytes),
    }
}

/// Keeps the words of this process behind the program: the command for what is left out has them. `is_command`: the first of
/// them is the name of a report.
pub(super) fn typed(words: &[OsString], is_command: bool) {
    let _ = TYPED.set(command(words, is_command));
}

/// The words as a command that prints all.
fn command(words: &[OsString], is_command: bool) -> String {
    let mut shown = Vec::new();
    let mut is_value = false;
    for word in words {
        let is_option = word == OPTION;
        let is_both = word
            .to_str()
            .is_some_and(|word| word.strip_prefix(OPTION).is_some_and(|rest| rest.starts_with('=')));
        if !is_option && !is_both && !is_value {
            shown.push(quoted(word));
        }
        is_value = is_option;
    }
    if !is_command {
        shown.insert(0, "history".to_owned());
    }
    typed::command(shown.join(" "))
}

impl BudgetArgs {
    /// Whether the option is there.
    pub(super) fn is_given(self) -> bool {
        self.bytes.is_some()
    }

    /// The budget, if the option is there.
    pub(super) fn budget(self) -> Option<Budget> {
        let command = TYPED.get().cloned().unwrap_or_default();
        self.bytes.map(|bytes| Budget { bytes, command })
    }

    /// Lets `print` write lines within the budget; each is an entry. Also gives whether they could be written.
    pub(super) fn lines<T>(
        self,
        is_json: bool,
        weigh: fn(u64) -> Weight,
        out: &mut dyn Write,
        print: impl FnOnce(&mut dyn Write) -> T,
    ) -> (T, io::Result<()>) {
        let Some(budget) = self.budget() else { return (print(out), Ok(())) };
        let mut lines = BudgetedLines::new(budget, is_json, weigh);
        let printed = print(&mut lines);
        (printed, lines.finish(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_has_all_other_words() {
        for (typed, shown) in [
            ("calls a.xhist --budget 8000", "xhist-report calls a.xhist"),
            ("--budget=8k --last 3 a", "xhist-report --last 3 a"),
            ("--budget 8k", "xhist-report"),
            ("history --only f(x) --budget 999", "xhist-report --only 'f(x)'"),
        ] {
            let words: Vec<OsString> = typed.split(' ').map(OsString::from).collect();
            let is_command = matches!(words[0].to_str(), Some("calls" | "history"));
            assert_eq!(command(&words, is_command), shown);
        }
    }

    #[test]
    fn bytes_have_a_least_and_a_unit() {
        assert_eq!((bytes("8k"), bytes("1700")), (Ok(8192), Ok(1700)));
        assert!(bytes("10").unwrap_err().contains("1024") && bytes("x").is_err());
        assert!(bytes("99999999999999999999k").is_err());
    }
}
