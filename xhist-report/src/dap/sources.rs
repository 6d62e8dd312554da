//! Requests about source files: their list, and the text of those that the client does not have.

use serde::Deserialize;
use serde_json::{Value, json};

use super::look::SourceArg;
use super::message::{DapError, Reply, arguments, body};
use super::session::DapSession;
use xhist_history::recording::Recording;

/// The request `source`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SourceArgs {
    #[serde(default)]
    source: SourceArg,
    #[serde(default)]
    source_reference: i64,
}

impl DapSession {
    /// The text of a file that the client does not have.
    pub(super) fn source(&mut self, recording: &Recording, args: Value) -> Result<Reply, DapError> {
        let args: SourceArgs = arguments(args)?;
        let number = match args.source.source_reference {
            Some(number) if number > 0 => number,
            _ => args.source_reference,
        };
        let source = match number > 0 {
            true => SourceArg { source_reference: Some(number), ..SourceArg::default() },
            false => args.source,
        };
        let file = self.look.files(recording, &source).first().copied();
        let file = file.and_then(|file| recording.files.get(file as usize));
        let file = file.ok_or_else(|| DapError::new("this history has no such source"))?;
        let text = file.text.as_deref().ok_or_else(|| {
            DapError(format!(
                "no text of {}: the file is gone and the map does not describe it; sourceRoots names directories to look in",
                file.path
            ))
        })?;
        body(&json!({"content": text, "mimeType": "text/x-rust"}))
    }

    /// All files of the history.
    pub(super) fn loaded_sources(&mut self, recording: &Recording, _: Value) -> Result<Reply, DapError> {
        let sources = (0..recording.files.len() as u32).filter_map(|file| self.look.source(recording, file));
        body(&json!({"sources": sources.collect::<Vec<_>>()}))
    }
}
