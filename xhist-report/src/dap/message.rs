//! Messages of the protocol: requests that come in, responses and events that go out.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Longest text of a request that an error repeats.
const MAX_REPEATED: usize = 80;

/// A request of the client.
#[derive(Clone, Debug, Deserialize)]
pub struct DapRequest {
    /// Its number, which the response repeats.
    pub seq: i64,
    /// `request`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its name.
    pub command: String,
    /// Its arguments, an object or nothing.
    #[serde(default)]
    pub arguments: Value,
}

/// What goes out, still without its number.
#[derive(Clone, Debug, PartialEq)]
pub enum Outgoing {
    /// An event and its body.
    Event(&'static str, Value),
    /// The answer to the request with this number and name.
    Response(i64, String, Result<Value, DapError>),
}

/// What a request brings at once.
pub enum Reply {
    /// The body of its response.
    Body(Value),
    /// The response follows later.
    Later,
}

/// Requests that an editor sends of itself, while it draws or the mouse moves. A failure is shown in their place, if at
/// all: a window would be in the way, for example when a quick step makes the frames of the last stop invalid.
const UNASKED: [&str; 9] = [
    "threads",
    "stackTrace",
    "scopes",
    "variables",
    "evaluate",
    "completions",
    "exceptionInfo",
    "breakpointLocations",
    "loadedSources",
];

/// Why a request cannot be carried out, in words for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DapError(pub String);

impl DapError {
    /// With this text.
    pub fn new(text: impl Into<String>) -> DapError {
        DapError(text.into())
    }
}

impl Outgoing {
    /// The message with this number.
    pub fn with_number(self, seq: i64) -> Value {
        match self {
            Outgoing::Event(event, body) => {
                json!({"seq": seq, "type": "event", "event": event, "body": body})
            }
            Outgoing::Response(request, command, Ok(Value::Null)) => json!({
                "seq": seq, "type": "response", "request_seq": request, "success": true, "command": command,
            }),
            Outgoing::Response(request, command, Ok(body)) => json!({
                "seq": seq, "type": "response", "request_seq": request, "success": true, "command": command,
                "body": body,
            }),
            Outgoing::Response(request, command, Err(DapError(text))) => json!({
                "seq": seq, "type": "response", "request_seq": request, "success": false, "command": command,
                "message": text,
                "body": {"error": {"id": 1, "format": text.replace('{', "(").replace('}', ")"), "showUser": !UNASKED.contains(&command.as_str())}},
            }),
        }
    }
}

/// A response body.
///
/// # Errors
/// Never: our bodies are plain data.
pub fn body(value: &impl Serialize) -> Result<Reply, DapError> {
    serde_json::to_value(value).map(Reply::Body).map_err(|error| DapError::new(error.to_string()))
}

/// A response without a body.
///
/// # Errors
/// Never.
pub fn done() -> Result<Reply, DapError> {
    Ok(Reply::Body(Value::Null))
}

/// The arguments of a request; a request without any has an empty object.
///
/// # Errors
/// An argument is missing or of another type.
pub fn arguments<T: for<'de> Deserialize<'de>>(value: Value) -> Result<T, DapError> {
    let value = if value.is_null() { json!({}) } else { value };
    serde_json::from_value(value)
        .map_err(|error| DapError(format!("wrong arguments: {}", short(&error.to_string()))))
}

/// The text, cut where it is long, without control characters.
pub fn short(text: &str) -> String {
    let cut: String = text.chars().take(MAX_REPEATED).collect();
    let dots = if cut.len() < text.len() { "…" } else { "" };
    format!("{}{dots}", xhist_history::model::visible(&cut))
}
