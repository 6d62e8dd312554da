//! The keys: one table that drives what they do, the help screen and the page of the documentation.

use xhist_history::recording::Direction::{self, Back, Forward};
use xhist_history::recording::Motion;

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Moves as a debugger does.
    Go(Motion, Direction),
    /// To another run of the line.
    SameLine(Direction),
    /// To a breakpoint.
    Continue(Direction),
    /// Sets or removes a breakpoint.
    Breakpoint,
    /// To another thread.
    Thread(Direction),
    /// To the step that the view opened at.
    Failure,
    /// By rows.
    Row(Direction),
    /// By pages.
    Page(Direction),
    /// To the first or last row; to the step with the number that was typed before.
    End(Direction),
    /// Sideways.
    Shift(Direction),
    /// Asks for a number.
    AskNumber,
    /// Asks for a text.
    AskText,
    /// To another match: on in the way of the search, or against it.
    Match(Direction),
    /// The letter that follows names this step.
    Mark,
    /// To the step of the letter that follows.
    GoToMark,
    /// To another pane.
    Pane(Direction),
    /// One pane on the whole screen.
    Zoom,
    /// To what the selected row is about.
    Choose,
    /// The whole call instead of the panes.
    WholeCall,
    /// Where a value of the call comes from.
    Origin,
    /// The time axis shows less or more.
    Axis(Direction),
    /// Opens the editor.
    Edit,
    /// Shows the keys.
    Help,
    /// Draws everything again.
    Redraw,
    /// Leaves what is being typed or shown.
    Cancel,
    /// Stops the process until the shell continues it.
    Suspend,
    /// Ends the view.
    Quit,
}

/// A line of the help screen.
pub struct KeyRow {
    /// The keys that the line shows.
    pub keys: &'static [(&'static str, Action)],
    /// Other keys that do the same.
    pub also: &'static [(&'static str, Action)],
    /// What they do, in the order of the keys.
    pub help: &'static str,
}

/// The rule that most keys follow.
pub const RULE: &str = "A small letter goes forward in time, its capital goes back.";

/// All keys.
pub const KEYS: &[KeyRow] = &[
    row(
        &[("s", Action::Go(Motion::Into, Forward)), ("S", Action::Go(Motion::Into, Back))],
        "step: next, previous statement of this thread, also in calls",
    ),
    row(
        &[("o", Action::Go(Motion::Over, Forward)), ("O", Action::Go(Motion::Over, Back))],
        "over: next, previous line of this function, over its calls",
    ),
    row(
        &[("u", Action::Go(Motion::Out, Forward)), ("U", Action::Go(Motion::Out, Back))],
        "up: behind this call, back to the statement that entered it",
    ),
    KeyRow {
        keys: &[("l", Action::SameLine(Forward)), ("L", Action::SameLine(Back))],
        also: &[("*", Action::SameLine(Forward)), ("#", Action::SameLine(Back))],
        help: "line: next, previous time that this line runs",
    },
    row(
        &[("c", Action::Continue(Forward)), ("C", Action::Continue(Back))],
        "continue to the next, previous breakpoint",
    ),
    row(&[("B", Action::Breakpoint)], "breakpoint on this line: set or remove"),
    row(&[("t", Action::Thread(Forward)), ("T", Action::Thread(Back))], "thread: next, previous one"),
    row(&[("!", Action::Failure)], "the failure: the step where the view opened"),
    KeyRow {
        keys: &[("j", Action::Row(Forward)), ("k", Action::Row(Back))],
        also: &[("Down", Action::Row(Forward)), ("Up", Action::Row(Back))],
        help: "row down, row up in this pane; the rows of History are steps",
    },
    KeyRow {
        keys: &[("Space", Action::Page(Forward)), ("b", Action::Page(Back))],
        also: &[
            ("PgDn", Action::Page(Forward)),
            ("PgUp", Action::Page(Back)),
            ("f", Action::Page(Forward)),
            ("Ctrl-F", Action::Page(Forward)),
            ("Ctrl-B", Action::Page(Back)),
        ],
        help: "page down, page up",
    },
    KeyRow {
        keys: &[("g", Action::End(Back)), ("G", Action::End(Forward))],
        also: &[("Home", Action::End(Back)), ("End", Action::End(Forward))],
        help: "first, last row; with a number before it that step: 120g",
    },
    row(&[("Left", Action::Shift(Back)), ("Right", Action::Shift(Forward))], "long lines: move sideways"),
    row(&[(":", Action::AskNumber)], "go to a step by its number"),
    row(
        &[("/", Action::AskText), ("n", Action::Match(Forward)), ("N", Action::Match(Back))],
        "search text, file:line, function or value; go on, other way",
    ),
    row(&[("m", Action::Mark), ("'", Action::GoToMark)], "mark this step with a letter, go to a mark"),
    row(&[("Tab", Action::Pane(Forward)), ("Shift-Tab", Action::Pane(Back))], "next, previous pane"),
    row(
        &[("Enter", Action::Choose), ("z", Action::Zoom)],
        "go to what the row is about; zoom: this pane alone, and back",
    ),
    row(
        &[("i", Action::WholeCall), ("w", Action::Origin)],
        "inside: the whole call; where from: the value of Values",
    ),
    row(&[("+", Action::Axis(Forward)), ("-", Action::Axis(Back))], "Threads: show a shorter, longer time"),
    KeyRow {
        keys: &[("e", Action::Edit)],
        also: &[("v", Action::Edit)],
        help: "edit: open $VISUAL or $EDITOR at the line",
    },
    KeyRow {
        keys: &[("?", Action::Help)],
        also: &[("h", Action::Help), ("F1", Action::Help)],
        help: "this help; any key leaves it",
    },
    KeyRow {
        keys: &[("q", Action::Quit)],
        also: &[
            ("Q", Action::Quit),
            ("Ctrl-C", Action::Quit),
            ("Ctrl-Z", Action::Suspend),
            ("Ctrl-L", Action::Redraw),
            ("Esc", Action::Cancel),
        ],
        help: "quit",
    },
];

const fn row(keys: &'static [(&'static str, Action)], help: &'static str) -> KeyRow {
    KeyRow { keys, also: &[], help }
}

/// What a key does; `None` for a key that does nothing.
pub fn action(key: &str) -> Option<Action> {
    let mut bound = KEYS.iter().flat_map(|row| row.keys.iter().chain(row.also));
    bound.find(|(name, _)| *name == key).map(|(_, action)| *action)
}

/// The keys of a row, as they are shown.
pub fn shown(keys: &[(&str, Action)]) -> String {
    keys.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" ")
}

/// Reads keys as `--keys` writes them: characters, and names such as `<Tab>`.
pub fn parse(text: &str) -> Vec<String> {
    let mut keys = Vec::new();
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let named = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
        let named = named.filter(|(name, _)| {
            name.chars().count() > 1 && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '-')
        });
        match named {
            Some((name, behind)) => {
                keys.push(name.to_owned());
                rest = behind;
            }
            None => {
                keys.push(if char == ' ' { "Space".to_owned() } else { char.to_string() });
                rest = &rest[char.len_utf8()..];
            }
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_key_is_bound_twice() {
        let mut names = BTreeSet::new();
        for (name, _) in KEYS.iter().flat_map(|row| row.keys.iter().chain(row.also)) {
            assert!(names.insert(*name), "{name}");
        }
        assert_eq!((action("S"), action("é")), (Some(Action::Go(Motion::Into, Back)), None));
    }

    #[test]
    fn the_help_fits_on_a_small_screen() {
        assert!(KEYS.len() <= 22);
        for row in KEYS {
            assert!(shown(row.keys).len() <= 13 && row.help.len() <= 64, "{}", row.help);
        }
    }

    #[test]
    fn keys_are_characters_and_names() {
        assert_eq!(parse("s<Tab>/a <b<Enter>"), ["s", "Tab", "/", "a", "Space", "<", "b", "Enter"]);
    }
}
