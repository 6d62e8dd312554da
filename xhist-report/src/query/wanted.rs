//! What a question is about: a line of a file, a function, a value, a step.

use std::fmt;

use super::row::AskedHistory;
use xhist_history::model::visible;
use xhist_history::notes::typed;
use xhist_history::options::selection::line_range;
use xhist_history::recording::{RecordedFile, Recording};

/// Names that are offered in place of one that is not there.
const OFFERED: usize = 8;

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WantedPlace {
    /// The entry with this number.
    Step(u64),
    /// Lines of a file, the first and the last.
    Lines(String, u32, u32),
    /// A function, by its path or the end of it.
    Function(String),
    /// A recorded value of a name.
    Value(String, String),
    /// A text that was printed, logged or traced.
    Text(String),
}

/// Which of several calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallNumber {
    /// The newest.
    #[default]
    Last,
    /// The one with this number, from 1, oldest first.
    Number(usize),
}

/// What was looked for is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFound(pub String);

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl WantedPlace {
    /// Reads what a user typed.
    pub fn parse(text: &str) -> WantedPlace {
        let is_name = |name: &str| {
            name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.')) && !name.is_empty()
        };
        if let Some(quoted) = text.strip_prefix('"') {
            return WantedPlace::Text(quoted.strip_suffix('"').unwrap_or(quoted).to_owned());
        }
        if let Some((name, value)) = text.split_once('=').filter(|(name, _)| is_name(name.trim())) {
            return WantedPlace::Value(name.trim().to_owned(), value.trim().to_owned());
        }
        if let Ok(number) = text.parse() {
            return WantedPlace::Step(number);
        }
        if let Some((file, lines)) = text.rsplit_once(':')
            && let Some((first, last)) = line_range(lines)
            && first <= last
        {
            return WantedPlace::Lines(file.to_owned(), first, last);
        }
        WantedPlace::Function(text.to_owned())
    }

    /// The same with `#3` or `#last` behind it.
    pub fn parse_choice(text: &str) -> (WantedPlace, CallNumber) {
        match text.rsplit_once('#') {
            Some((name, "last")) => (WantedPlace::parse(name), CallNumber::Last),
            Some((name, number)) => match number.parse() {
                Ok(number) => (WantedPlace::parse(name), CallNumber::Number(number)),
                Err(_) => (WantedPlace::parse(text), CallNumber::Last),
            },
            None => (WantedPlace::parse(text), CallNumber::Last),
        }
    }

    /// That it is not there, with what is. `asked`: for the next command.
    pub fn not_found(&self, recording: &Recording, asked: &AskedHistory) -> NotFound {
        let why = match self {
            WantedPlace::Step(number) => {
                let last = recording.last().map_or(0, |last| recording.number(last));
                let first = if last == 0 { 0 } else { recording.left_out + 1 };
                format!("there is no entry {number}; there are entries {first} to {last}")
            }
            WantedPlace::Lines(path, first, last) => {
                let lines = if first == last { first.to_string() } else { format!("{first}-{last}") };
                let path = visible(path);
                match recording.files.iter().enumerate().find(|(_, file)| is_file(file, &path)) {
                    None => format!("no file {path} ran; {}", offered("files", files(recording), &path)),
                    Some((index, _)) => {
                        let mut ran: Vec<u32> = recording
                            .sites
                            .iter()
                            .filter(|site| site.file as usize == index)
                            .map(|site| site.line)
                            .collect();
                        ran.sort_by_key(|line| line.abs_diff(*first));
                        ran.dedup();
                        ran.truncate(OFFERED);
                        ran.sort_unstable();
                        let ran: Vec<String> = ran.iter().map(u32::to_string).collect();
                        format!(
                            "no statement of {path}:{lines} is in this history; lines near it that are: {}",
                            ran.join(", ")
                        )
                    }
                }
            }
            WantedPlace::Function(name) => {
                let functions = recording.functions.iter().map(|function| &*function.name);
                let is_value = recording
                    .strings
                    .find(name)
                    .is_some_and(|name| recording.values.iter().any(|value| value.name == name));
                let value = asked.next_find(&format!("{name}=*"));
                let name = visible(name);
                match is_value {
                    true => format!(
                        "no function {name} is in this history, but values {name}: `{value}` lists them"
                    ),
                    false => {
                        format!(
                            "no function {name} is in this history; {}",
                            offered("functions", functions, &name)
                        )
                    }
                }
            }
            WantedPlace::Text(text) => {
                format!("nothing that was printed, logged or traced has the text {}", visible(text))
            }
            WantedPlace::Value(name, value) => {
                let names = recording.values.iter().map(|value| recording.strings.get(value.name));
                let (name, value) = (visible(name), visible(value));
                match recording.values.is_empty() {
                    true => format!(
                        "no values are recorded here; `{}` records them",
                        match (typed::is_server(), typed::is_cargo()) {
                            (true, _) => "xhist_run {\"args\":[\"--values\",\"CRATE::**\"]}",
                            (_, true) => "cargo xhist test --values 'CRATE::**'",
                            _ => "--values",
                        }
                    ),
                    false => format!(
                        "no value {name} = {value} is in this history; {}",
                        offered("names", names, &name)
                    ),
                }
            }
        };
        NotFound(why)
    }
}

fn files(recording: &Recording) -> impl Iterator<Item = &str> {
    recording.files.iter().map(|file| &*file.path)
}

/// Names that are there, first those like the wanted one.
fn offered<'n>(what: &str, names: impl Iterator<Item = &'n str>, wanted: &str) -> String {
    let mut names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    let end = wanted.rsplit([':', '/']).next().unwrap_or(wanted).to_lowercase();
    names.sort_by_key(|name| !name.to_lowercase().contains(&end));
    let more = names.len().saturating_sub(OFFERED);
    names.truncate(OFFERED);
    match (names.is_empty(), more) {
        (true, _) => format!("it has no {what}"),
        (_, 0) => format!("{what} that are: {}", names.join(", ")),
        (_, more) => format!("{what} that are: {} and {more} more", names.join(", ")),
    }
}

/// Whether what a user typed is the number of an entry, which means another one in each history.
pub fn is_entry(text: &str) -> bool {
    matches!(WantedPlace::parse_choice(text).0, WantedPlace::Step(_))
}

/// Whether what a user typed is a recorded value.
pub fn is_of_values(text: &str) -> bool {
    matches!(WantedPlace::parse(text), WantedPlace::Value(..))
}

/// Whether a path is that of the file, or its end.
pub fn is_file(file: &RecordedFile, path: &str) -> bool {
    let path = path.strip_prefix("./").unwrap_or(path);
    let is_end =
        |whole: &str| whole.strip_suffix(path).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    is_end(&file.path) || file.built.to_str().is_some_and(is_end)
}

/// Whether a name is that of a function, or its end.
pub fn is_function(function: &str, name: &str) -> bool {
    function.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with("::"))
}

/// Whether a value is meant: the same text, also without quotes; `*` is any.
pub fn is_value(text: &str, wanted: &str) -> bool {
    let bare = |text: &str| text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).map(str::to_owned);
    wanted == "*" || text == wanted || bare(text).is_some_and(|text| text == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use xhist_history::recording::RecordingSample;

    #[test]
    fn what_is_typed_has_a_meaning() {
        let lines = |file: &str, first, last| WantedPlace::Lines(file.to_owned(), first, last);
        for (text, wanted) in [
            ("src/lib.rs:42", lines("src/lib.rs", 42, 42)),
            ("lib.rs:4-9", lines("lib.rs", 4, 9)),
            ("217", WantedPlace::Step(217)),
            ("Parser::next", WantedPlace::Function("Parser::next".to_owned())),
            ("<A as B<T = u8>>::f", WantedPlace::Function("<A as B<T = u8>>::f".to_owned())),
            ("len = 3", WantedPlace::Value("len".to_owned(), "3".to_owned())),
            ("lib.rs:9-4", WantedPlace::Function("lib.rs:9-4".to_owned())),
        ] {
            assert_eq!(WantedPlace::parse(text), wanted);
        }
        let function = || WantedPlace::Function("f".to_owned());
        assert_eq!(WantedPlace::parse_choice("f#last"), (function(), CallNumber::Last));
        assert_eq!(WantedPlace::parse_choice("f#3"), (function(), CallNumber::Number(3)));
        assert_eq!(WantedPlace::parse_choice("f"), (function(), CallNumber::Last));
    }

    #[test]
    fn ends_of_names_are_enough() {
        assert!(is_function("a::Parser::next", "Parser::next") && is_function("next", "next"));
        assert!(!is_function("a::context", "text") && !is_function("next", "a::next"));
        assert!(
            is_value("\"a b\"", "a b") && is_value("3", "3") && is_value("3", "*") && !is_value("33", "3")
        );
    }

    #[test]
    fn the_name_of_a_value_leads_to_its_values() {
        let mut sample = RecordingSample::calls();
        sample.value((0, 0), "victim", "3");
        let asked = AskedHistory { source: Some("last".to_owned()), ..AskedHistory::default() };
        let why = WantedPlace::parse("victim").not_found(&sample.recording, &asked).to_string();
        assert!(why.contains("find 'victim=*' last` lists them"), "{why}");
    }

    #[test]
    fn what_is_not_there_is_answered_by_what_is() {
        let recording = &RecordingSample::calls().recording;
        let asked = AskedHistory::default();
        let why = |text: &str| WantedPlace::parse(text).not_found(recording, &asked).to_string();
        assert!(why("99").starts_with("there is no entry 99; there are entries 1 to 7"), "{}", why("99"));
        assert!(why("src/none.rs:1").contains("files that are: "), "{}", why("src/none.rs:1"));
        assert!(why("nothing").contains("functions that are: "), "{}", why("nothing"));
        assert!(why("x=1").contains("no values are recorded"), "{}", why("x=1"));
        let file = &recording.files[0].path;
        assert!(
            why(&format!("{file}:999")).contains("lines near it that are: "),
            "{}",
            why(&format!("{file}:999"))
        );
    }
}
