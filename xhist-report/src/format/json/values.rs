//! Recorded values as JSON.

use serde::Serialize;

use xhist_history::model::ShownValue;

/// A value behind an entry.
#[derive(Serialize)]
pub(super) struct JsonShownValue<'a> {
    name: &'a str,
    #[serde(rename = "type", skip_serializing_if = "str::is_empty")]
    type_name: &'a str,
    text: &'a str,
    /// In hexadecimal; missing if the value is not to be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<String>,
    /// The bytes are those that the value points to.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    target: bool,
    /// Only of a value that is bound elsewhere than in the statement of its entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

impl<'a> JsonShownValue<'a> {
    fn new(value: &'a ShownValue) -> JsonShownValue<'a> {
        let digits = || value.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        JsonShownValue {
            name: &value.name,
            type_name: &value.type_name,
            text: &value.text,
            bytes: (!value.is_redacted).then(digits),
            target: value.is_target,
            file: value.path.as_deref().filter(|_| !value.is_here),
            line: (value.line > 0).then_some(value.line),
        }
    }
}

/// The values behind an entry.
pub(super) fn json_values(values: &[ShownValue]) -> Vec<JsonShownValue<'_>> {
    values.iter().map(JsonShownValue::new).collect()
}
