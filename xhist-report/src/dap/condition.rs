//! Conditions of breakpoints, and the texts of logpoints.

/// A comparison and how it is written, the longest first.
const SIGNS: &[(&str, Comparing)] = &[
    ("==", Comparing::Equal),
    ("!=", Comparing::NotEqual),
    (">=", Comparing::AtLeast),
    ("<=", Comparing::AtMost),
    (">", Comparing::Above),
    ("<", Comparing::Below),
];

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparing {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `>=`
    AtLeast,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `<`
    Below,
}

impl Comparing {
    fn holds<T: PartialOrd + ?Sized>(self, one: &T, other: &T) -> bool {
        match self {
            Comparing::Equal => one == other,
            Comparing::NotEqual => one != other,
            Comparing::AtLeast => one >= other,
            Comparing::AtMost => one <= other,
            Comparing::Above => one > other,
            Comparing::Below => one < other,
        }
    }
}

/// Which hits count: `3` is the third one, `>= 3`, `% 2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitCondition {
    /// Compared with the number of the hit, from 1.
    Compared(Comparing, u64),
    /// Every Nth one.
    Every(u64),
}

impl HitCondition {
    /// From its text.
    ///
    /// # Errors
    /// It is something else.
    pub fn parse(text: &str) -> Result<HitCondition, String> {
        let wrong =
            || format!("`{}` is no hit condition; write `3`, `>= 3` or `% 2`", super::message::short(text));
        let text = text.trim();
        if let Some(every) = text.strip_prefix('%') {
            let every = every.trim().parse().ok().filter(|every| *every > 0);
            return every.map(HitCondition::Every).ok_or_else(wrong);
        }
        let sign = SIGNS.iter().find_map(|(sign, comparing)| Some((*comparing, text.strip_prefix(sign)?)));
        let (comparing, number) = sign.unwrap_or((Comparing::Equal, text));
        number.trim().parse().map(|number| HitCondition::Compared(comparing, number)).map_err(|_| wrong())
    }

    /// Whether the hit with this number counts.
    pub fn holds(self, hit: u64) -> bool {
        match self {
            HitCondition::Compared(comparing, number) => comparing.holds(&hit, &number),
            HitCondition::Every(every) => hit.is_multiple_of(every),
        }
    }
}

/// A condition on a recorded value: `x == 5`; a name alone is true if its value is `true`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueCondition {
    /// The name.
    pub name: String,
    comparing: Comparing,
    value: String,
}

impl ValueCondition {
    /// From its text.
    ///
    /// # Errors
    /// It is something else.
    pub fn parse(text: &str) -> Result<ValueCondition, String> {
        let at = SIGNS.iter().filter_map(|(sign, comparing)| Some((text.find(sign)?, *sign, *comparing)));
        // The first sign; of two that begin there, the longer one.
        let first = at.min_by_key(|(at, sign, _)| (*at, std::cmp::Reverse(sign.len())));
        let (name, comparing, value) = match first {
            Some((at, sign, comparing)) => (&text[..at], comparing, &text[at + sign.len()..]),
            None if text.trim().starts_with('!') => (&text.trim()[1..], Comparing::NotEqual, "true"),
            None => (text, Comparing::Equal, "true"),
        };
        let (name, value) = (name.trim(), value.trim());
        let is_name = |char: char| char.is_alphanumeric() || matches!(char, '_' | '.');
        if name.is_empty() || value.is_empty() || !name.chars().all(is_name) {
            let text = super::message::short(text);
            return Err(format!("`{text}` is no condition on a recorded value; write `name == 5`"));
        }
        Ok(ValueCondition { name: name.to_owned(), comparing, value: value.to_owned() })
    }

    /// Whether it holds for the text of a value.
    pub fn holds(&self, text: &str) -> bool {
        let integers = || Some((text.parse::<i128>().ok()?, self.value.parse::<i128>().ok()?));
        let floats = || Some((text.parse::<f64>().ok()?, self.value.parse::<f64>().ok()?));
        if let Some((one, other)) = integers() {
            return self.comparing.holds(&one, &other);
        }
        if let Some((one, other)) = floats() {
            return self.comparing.holds(&one, &other);
        }
        let plain = |text: &str| text.trim_matches('"').to_owned();
        self.comparing.holds(&plain(text), &plain(&self.value))
    }
}

/// A piece of the text of a logpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogPiece {
    /// Printed as it is.
    Text(String),
    /// The value of a name.
    Name(String),
}

/// The pieces of a logpoint: `{name}` is the value of a name.
pub fn log_pieces(text: &str) -> Vec<LogPiece> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('{') {
        let Some((name, after)) = behind.split_once('}') else { break };
        pieces.push(LogPiece::Text(before.to_owned()));
        pieces.push(LogPiece::Name(name.trim().to_owned()));
        rest = after;
    }
    pieces.push(LogPiece::Text(rest.to_owned()));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_are_chosen_by_number() {
        let hits = |text: &str| {
            let condition = HitCondition::parse(text).unwrap();
            (1..=6).filter(|hit| condition.holds(*hit)).collect::<Vec<_>>()
        };
        assert_eq!((hits("3"), hits("== 3"), hits(">=5")), (vec![3], vec![3], vec![5, 6]));
        assert_eq!((hits("% 2"), hits("< 2"), hits("!= 4")), (vec![2, 4, 6], vec![1], vec![1, 2, 3, 5, 6]));
        for wrong in ["", "x", "% 0", "%", ">= y", "-1"] {
            assert!(HitCondition::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn values_are_compared_as_numbers_or_text() {
        let holds = |text: &str, value: &str| ValueCondition::parse(text).unwrap().holds(value);
        assert!(holds("x == 5", "5") && holds("x >= 5", "10") && !holds("x<5", "10"));
        assert!(holds("x > 1.5", "2") && holds("name == \"a=b\"", "\"a=b\"") && holds("name != b", "\"a\""));
        assert!(holds("done", "true") && holds("!done", "false") && !holds("done", "1"));
        for wrong in ["", "== 3", "x ==", "f(x) == 1", "{x}"] {
            assert!(ValueCondition::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_log_text_has_names_in_braces() {
        let (text, name) =
            (|text: &str| LogPiece::Text(text.into()), |text: &str| LogPiece::Name(text.into()));
        assert_eq!(log_pieces("n = { n }!"), [text("n = "), name("n"), text("!")]);
        assert_eq!(log_pieces("open {"), [text("open {")]);
    }
}
