//! The client's view of source files: how it counts lines, what it calls files, and where it has them.

use std::path::Path;

use serde::Deserialize;

use super::body::SourceBody;
use xhist_history::recording::{RecordedFile, Recording};

/// How the client counts lines, writes paths, and where it has the files of the build.
#[derive(Clone, Debug)]
pub struct ClientLook {
    /// The number of its first line.
    pub first_line: i64,
    /// The number of its first column.
    pub first_column: i64,
    /// Its paths are URIs.
    pub has_uris: bool,
    /// It shows types of variables.
    pub shows_types: bool,
    /// Directories of the build, and where the client has them.
    pub source_map: Vec<(String, String)>,
}

impl Default for ClientLook {
    fn default() -> ClientLook {
        ClientLook {
            first_line: 1,
            first_column: 1,
            has_uris: false,
            shows_types: false,
            source_map: Vec::new(),
        }
    }
}

/// A source as a client names it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SourceArg {
    /// Where the client has it.
    pub(super) path: Option<String>,
    /// What the client calls it.
    pub(super) name: Option<String>,
    /// Its number in this session, if its text comes from here.
    pub(super) source_reference: Option<i64>,
}

/// Where a text comes from that the client has no file of.
const FROM_MAP: &str = "made from the map; the file is gone or has changed since the build";
const FROM_RECORDING: &str = "as it was when the history was opened";

impl ClientLook {
    /// A line for the client.
    pub fn line(&self, line: u32) -> i64 {
        (i64::from(line) - 1 + self.first_line).max(self.first_line)
    }

    /// A column for the client.
    pub fn column(&self, column: u32) -> i64 {
        (i64::from(column) - 1 + self.first_column).max(self.first_column)
    }

    /// A line of the client, from 1.
    pub fn own_line(&self, line: i64) -> u32 {
        u32::try_from(line.saturating_sub(self.first_line).saturating_add(1).max(0)).unwrap_or(u32::MAX)
    }

    /// A column of the client, from 1.
    pub fn own_column(&self, column: i64) -> u32 {
        u32::try_from(column.saturating_sub(self.first_column).saturating_add(1).max(0)).unwrap_or(u32::MAX)
    }

    /// The file of the client; `None` if it must ask for the text.
    fn path(&self, file: &RecordedFile) -> Option<String> {
        let built = file.built.display().to_string();
        let found = file.found.as_ref().map(|path| path.display().to_string());
        let mapped = [Some(&built), found.as_ref()].into_iter().flatten().find_map(|path| self.mapped(path));
        mapped.or(found)
    }

    fn mapped(&self, path: &str) -> Option<String> {
        self.source_map.iter().find_map(|(from, to)| {
            let rest = Path::new(path).strip_prefix(from).ok()?;
            Some(Path::new(to).join(rest).display().to_string())
        })
    }

    /// A path as the client writes it.
    fn written(&self, path: String) -> String {
        if !self.has_uris {
            return path;
        }
        let escaped = path.bytes().map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                (byte as char).to_string()
            }
            other => format!("%{other:02X}"),
        });
        format!("file://{}", escaped.collect::<String>())
    }

    /// A path that the client wrote.
    fn plain(path: &str) -> String {
        let Some(path) = path.strip_prefix("file://") else { return path.to_owned() };
        let bytes = path.as_bytes();
        let mut plain = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let digits = path.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
            let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            plain.push(code.unwrap_or(bytes[at]));
            at += if code.is_some() { 3 } else { 1 };
        }
        String::from_utf8_lossy(&plain).into_owned()
    }

    /// A file for the client.
    pub fn source(&self, recording: &Recording, number: u32) -> Option<SourceBody> {
        let file = recording.files.get(number as usize)?;
        let path = self.path(file);
        let is_here = path.is_some();
        let path =
            path.unwrap_or_else(|| xhist_history::model::visible(&file.built.to_string_lossy()).into_owned());
        let name = Path::new(&file.path)
            .file_name()
            .map_or(file.path.as_str().into(), |name| name.to_string_lossy());
        Some(SourceBody {
            name: name.into_owned(),
            path: self.written(path),
            source_reference: (!is_here).then(|| i32::try_from(number).unwrap_or(i32::MAX - 1) + 1),
            origin: (!is_here).then_some(if file.is_from_map { FROM_MAP } else { FROM_RECORDING }),
            presentation_hint: file.is_dependency.then_some("deemphasize"),
        })
    }

    /// The files that a client means, by their numbers.
    pub fn files(&self, recording: &Recording, source: &SourceArg) -> Vec<u32> {
        let all = || recording.files.iter().enumerate().map(|(number, file)| (number as u32, file));
        if let Some(number) = source.source_reference.filter(|number| *number > 0) {
            return all().map(|(file, _)| file).filter(|file| i64::from(*file) + 1 == number).collect();
        }
        let Some(path) = source.path.as_ref().or(source.name.as_ref()) else { return Vec::new() };
        let path = if self.has_uris { ClientLook::plain(path) } else { path.clone() }.replace('\\', "/");
        let path = Path::new(&path);
        let is_it = |file: &RecordedFile| {
            let place = self.path(file);
            place.is_some_and(|place| Path::new(&place) == path)
                || file.built == path
                || file.found.as_deref() == Some(path)
        };
        let exact: Vec<u32> = all().filter(|(_, file)| is_it(file)).map(|(number, _)| number).collect();
        if !exact.is_empty() {
            return exact;
        }
        let found = self.files_by_end(recording, path);
        found.into_iter().collect()
    }

    /// Files whose path ends with this one, or the other way round; the one that has most in common.
    fn files_by_end(&self, recording: &Recording, path: &Path) -> Option<u32> {
        let ends = |file: &RecordedFile| {
            let own = Path::new(&file.path);
            let is_end = path.ends_with(own) || own.ends_with(path);
            is_end.then(|| own.components().count().min(path.components().count()))
        };
        let found =
            recording.files.iter().enumerate().filter_map(|(number, file)| Some((ends(file)?, number)));
        found.max().map(|(_, number)| number as u32)
    }

    /// The file that a user means by a name, such as `main.rs` or `src/main.rs`.
    pub fn file_named(&self, recording: &Recording, name: &str) -> Option<u32> {
        self.files_by_end(recording, Path::new(name))
    }
}
