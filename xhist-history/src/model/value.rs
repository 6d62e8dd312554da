//! Recorded values, named and as text.

/// A value, as reports show it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ShownValue {
    /// The name that was bound or assigned; `value#7` if no map names it.
    pub name: String,
    /// Its type; empty if not known.
    pub type_name: String,
    /// The value; `<redacted>` if it is not to be shown.
    pub text: String,
    /// Its bytes, as far as they were recorded; none of a value that is not to be shown.
    pub bytes: Vec<u8>,
    /// It is not to be shown.
    pub is_redacted: bool,
    /// The bytes are those that the value points to.
    pub is_target: bool,
    /// Path of its file, printable.
    pub path: Option<String>,
    /// Line of the name; 0 if not known.
    pub line: u32,
    /// It is a parameter of its function.
    pub is_parameter: bool,
    /// Path of its function; empty if not known.
    pub function: String,
    /// It is bound in the statement of its entry, or at the entry of that statement's function.
    pub is_here: bool,
}

impl ShownValue {
    /// `len = 12`, with its line if it is bound elsewhere: `a.rs:7: len = 12`.
    pub fn to_line(&self) -> String {
        let ShownValue { name, text, .. } = self;
        match &self.path {
            Some(path) if !self.is_here => {
                let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
                format!("{file}:{}: {name} = {text}", self.line)
            }
            _ => format!("{name} = {text}"),
        }
    }
}

/// Parameters as in a call: `size: 4242, name: "hello"`.
pub fn arguments_line(arguments: &[ShownValue]) -> String {
    let arguments: Vec<String> = arguments.iter().map(|one| format!("{}: {}", one.name, one.text)).collect();
    arguments.join(", ")
}

/// Several values in one line.
pub fn values_line(values: &[ShownValue]) -> String {
    let (mut line, mut place) = (String::new(), None);
    for value in values {
        if !line.is_empty() {
            line.push_str(", ");
        }
        // The place of several in turn is written once.
        let is_same = place == Some((&value.path, value.line)) && !value.is_here;
        match is_same {
            true => line.push_str(&format!("{} = {}", value.name, value.text)),
            false => line.push_str(&value.to_line()),
        }
        place = Some((&value.path, value.line));
    }
    line
}

/// A place where a value is recorded, as a map describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValuePlace<'a> {
    /// File id of the first lines of its file.
    pub file: u16,
    /// Line of the name.
    pub line: u32,
    /// Column of the name.
    pub col: u32,
    /// The name.
    pub name: &'a str,
    /// How it is bound.
    pub kind: &'a str,
    /// Path of its function.
    pub function: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_another_line_names_it() {
        let value = |name: &str, line, is_here| ShownValue {
            name: name.into(),
            text: "1".into(),
            path: Some("src/a.rs".into()),
            line,
            is_here,
            ..ShownValue::default()
        };
        let values = [value("a", 7, true), value("b", 9, false), value("c", 9, false), value("d", 7, true)];
        assert_eq!(values_line(&values), "a = 1, a.rs:9: b = 1, c = 1, d = 1");
    }
}
