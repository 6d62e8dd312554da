//! The map file (`xhist.map`): what a statement's (file id, line) stands for.
//!
//! JSON lines, one flat object a line, so that `grep` and `jq` read it too:
//!
//! ```text
//! {"xhist":"map","version":2,"hash":"0123456789abcdef","root":"/home/me/project","tool":"0.1.0"}
//! {"file":3,"path":"src/crit_section.rs","base":0,"first":101,"room":51}
//! {"fn":3,"path":"crit_section::enter","at":"25:20","end":"31:2"}
//! {"stmt":3,"line":26,"col":5,"end":"27:10","kind":"let","fn":"crit_section::enter"}
//! {"stmt":3,"line":29,"col":5,"end":"29:30","kind":"expr","fn":"crit_section::enter","await":true}
//! ```
//!
//! `hash` is the FNV-1a 64 of every byte behind the first line. A path is relative to
//! `root` when it lies below it. `base` is added to the recorded line (lines above 65,535
//! use a second id of the same path). Functions and statements follow their file's lines, each in the order of the text.
//! `at` and `end` of a function are those of its body, braces included; a closure is listed where no function of its path is
//! around it. `await` means that a statement contains an `.await` of its own body, `silent` that it is not recorded, as others than entries
//! are with `--detail function`.
//!
//! Each statement has a number in the program. A file owns the numbers from `first` on, `room` of them, and its statements
//! have them in the order of their lines here. Ranges are given upwards from 1. A file that outgrows its own gets one above
//! all others, so the numbers of the old one are never given again. Maps of version 1 have no numbers, functions and awaits.
//! This module knows one line at a time and no files; it allocates nothing.

mod json;
pub mod numbers;

pub use json::Text;
pub use numbers::Numbers;

use core::fmt;

/// Version of the format that this crate reads and writes.
pub const VERSION: u32 = 2;

/// One line of a map file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// The first line.
    Head(Head<'a>),
    /// A file id and its path.
    File(FileLine<'a>),
    /// The body of a function.
    Function(FunctionLine<'a>),
    /// A recorded statement.
    Stmt(StmtLine<'a>),
}

/// The first line of a map: which build it describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head<'a> {
    /// FNV-1a 64 of all bytes behind the first line; goes into the ring header of the program.
    pub hash: u64,
    /// Directory that relative paths start from.
    pub root: Text<'a>,
    /// Version of the tool that wrote the map.
    pub tool: Text<'a>,
}

/// A file id. Ids are stable from run to run and never reused for another path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileLine<'a> {
    /// The id that records carry.
    pub file: u16,
    /// Path of the source file, with `/` between its parts.
    pub path: Text<'a>,
    /// Lines to add to a recorded line: 0, or a multiple of 65,535.
    pub base: u32,
    /// The numbers of its statements; none in further lines of a path.
    pub numbers: Numbers,
}

/// The body of a function, recorded or not, by its place in the user's own source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionLine<'a> {
    /// File id of the first 65,535 lines of its file.
    pub file: u16,
    /// Path of the function.
    pub path: Text<'a>,
    /// Line that the body starts in, from 1.
    pub line: u32,
    /// Column of its first character, from 1.
    pub col: u32,
    /// Its last line, from 1.
    pub end_line: u32,
    /// Column behind its last character.
    pub end_col: u32,
}

/// A recorded statement, by its place in the user's own source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StmtLine<'a> {
    /// File id of the first 65,535 lines of its file.
    pub file: u16,
    /// Line in the file, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub col: u32,
    /// Last line of the statement, from 1.
    pub end_line: u32,
    /// Column behind its last character.
    pub end_col: u32,
    /// What kind of statement: `let`, `expr`, `arm`, ...
    pub kind: Text<'a>,
    /// Path of the function around it.
    pub function: Text<'a>,
    /// It contains an `.await` of its own body.
    pub awaits: bool,
    /// The program records it. In function detail that is so for entries only.
    pub recorded: bool,
}

/// Why a line of a map could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapError {
    /// Not one flat JSON object.
    Syntax,
    /// A field is missing or of the wrong type.
    Field(&'static str),
    /// Written by a newer tool.
    Version(u32),
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MapError::Syntax => f.write_str("not a line of a map file (one flat JSON object is expected)"),
            MapError::Field(name) => write!(f, "field \"{name}\" is missing or has the wrong type"),
            MapError::Version(version) => {
                write!(f, "map version {version} is newer than this tool (it reads {VERSION}); update xhist")
            }
        }
    }
}

impl core::error::Error for MapError {}

impl<'a> Line<'a> {
    /// Reads one line, without its line end.
    ///
    /// # Errors
    /// [`MapError`] says which field is wrong. Unknown fields are passed over.
    pub fn parse(line: &'a str) -> Result<Line<'a>, MapError> {
        let object = json::Object::parse(line).ok_or(MapError::Syntax)?;
        let text = |name| object.text(name).ok_or(MapError::Field(name));
        let number = |name| object.number(name).ok_or(MapError::Field(name));
        let place = |name| {
            let parts = text(name)?.raw().split_once(':');
            let parts = parts.and_then(|(line, col)| Some((line.parse().ok()?, col.parse().ok()?)));
            parts.ok_or(MapError::Field(name))
        };
        let file_id = |name| u16::try_from(number(name)?).map_err(|_| MapError::Field(name));
        if object.text("xhist").is_some() {
            let version = number("version")?;
            if version > VERSION {
                return Err(MapError::Version(version));
            }
            let hash = u64::from_str_radix(text("hash")?.raw(), 16).map_err(|_| MapError::Field("hash"))?;
            Ok(Line::Head(Head { hash, root: text("root")?, tool: text("tool")? }))
        } else if object.number("stmt").is_some() {
            let (end_line, end_col) = place("end")?;
            Ok(Line::Stmt(StmtLine {
                file: file_id("stmt")?,
                line: number("line")?,
                col: number("col")?,
                end_line,
                end_col,
                kind: text("kind")?,
                function: text("fn")?,
                awaits: object.is_true("await"),
                recorded: !object.is_true("silent"),
            }))
        } else if object.number("fn").is_some() {
            let ((line, col), (end_line, end_col)) = (place("at")?, place("end")?);
            let (file, path) = (file_id("fn")?, text("path")?);
            Ok(Line::Function(FunctionLine { file, path, line, col, end_line, end_col }))
        } else {
            let numbers = match object.number("room") {
                Some(room) => Numbers { first: number("first")?, room },
                None => Numbers::default(),
            };
            if numbers.first.checked_add(numbers.room).is_none() {
                return Err(MapError::Field("room"));
            }
            let (file, path, base) = (file_id("file")?, text("path")?, number("base")?);
            Ok(Line::File(FileLine { file, path, base, numbers }))
        }
    }
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Line::Head(head) => write!(
                f,
                r#"{{"xhist":"map","version":{VERSION},"hash":"{:016x}","root":"{}","tool":"{}"}}"#,
                head.hash, head.root, head.tool
            ),
            Line::File(file) => {
                write!(f, r#"{{"file":{},"path":"{}","base":{}"#, file.file, file.path, file.base)?;
                let Numbers { first, room } = file.numbers;
                if room > 0 {
                    write!(f, r#","first":{first},"room":{room}"#)?;
                }
                f.write_str("}")
            }
            Line::Function(function) => {
                let FunctionLine { file, path, line, col, end_line, end_col } = function;
                write!(
                    f,
                    r#"{{"fn":{file},"path":"{path}","at":"{line}:{col}","end":"{end_line}:{end_col}"}}"#
                )
            }
            Line::Stmt(stmt) => {
                let StmtLine { file, line, col, end_line, end_col, kind, function, awaits, recorded } = stmt;
                let awaits = if *awaits { r#","await":true"# } else { "" };
                let silent = if *recorded { "" } else { r#","silent":true"# };
                write!(f, r#"{{"stmt":{file},"line":{line},"col":{col},"end":"{end_line}:{end_col}","#)?;
                write!(f, r#""kind":"{kind}","fn":"{function}"{awaits}{silent}}}"#)
            }
        }
    }
}

/// FNV-1a, 64 bits: the hash that ties a program to its map.
#[derive(Clone, Copy, Debug)]
pub struct Hash(u64);

impl Hash {
    /// The hash of no bytes.
    pub const fn new() -> Hash {
        Hash(0xcbf2_9ce4_8422_2325)
    }

    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// The hash of all bytes so far.
    pub const fn finish(self) -> u64 {
        self.0
    }
}

impl Default for Hash {
    fn default() -> Hash {
        Hash::new()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::{String, ToString};

    #[test]
    fn lines_round_trip() {
        for line in [
            r#"{"xhist":"map","version":2,"hash":"00000000000000ff","root":"/a \"b\"","tool":"0.1.0"}"#,
            r#"{"file":3,"path":"src/é\\x.rs","base":65535}"#,
            r#"{"file":3,"path":"a.rs","base":0,"first":101,"room":51}"#,
            r#"{"fn":3,"path":"<A as B<'_>>::f","at":"69999:3","end":"70002:4"}"#,
            r#"{"stmt":3,"line":7,"col":5,"end":"7:10","kind":"expr","fn":"f","await":true}"#,
            r#"{"stmt":3,"line":7,"col":5,"end":"7:10","kind":"expr","fn":"f","await":true,"silent":true}"#,
            r#"{"stmt":3,"line":70000,"col":5,"end":"70001:10","kind":"let","fn":"<A as B<'_>>::f"}"#,
        ] {
            assert_eq!(Line::parse(line).unwrap().to_string(), line);
        }
    }

    #[test]
    fn plain_text_is_escaped_and_read_back() {
        let path = "a\"b\\c\n\u{1}é.rs";
        let line =
            Line::File(FileLine { file: 1, path: Text::plain(path), base: 0, numbers: Numbers::default() })
                .to_string();
        assert_eq!(line, "{\"file\":1,\"path\":\"a\\\"b\\\\c\\n\\u0001é.rs\",\"base\":0}");
        let Line::File(read) = Line::parse(&line).unwrap() else { panic!("not a file line") };
        assert_eq!(read.path.chars().collect::<String>(), path);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&line).unwrap()["path"], path);
    }

    #[test]
    fn unknown_fields_and_spaces_are_passed_over() {
        let line =
            r#" { "new" : [1, {"x":"]}"}, true, null], "file": 3 , "path":"a", "base": 0, "z":-1.5e3 } "#;
        let expected = FileLine { file: 3, path: Text::plain("a"), base: 0, numbers: Numbers::default() };
        let Ok(Line::File(read)) = Line::parse(line) else { panic!("not a file line") };
        assert_eq!((read.file, read.path.raw()), (expected.file, "a"));
    }

    #[test]
    fn a_map_of_version_1_is_read() {
        let head = r#"{"xhist":"map","version":1,"hash":"0","root":"/r","tool":"0.1.0"}"#;
        assert!(matches!(Line::parse(head), Ok(Line::Head(Head { hash: 0, .. }))));
        let Ok(Line::File(file)) = Line::parse(r#"{"file":3,"path":"a","base":0}"#) else {
            panic!("not a file line")
        };
        assert_eq!(file.numbers, Numbers::default());
    }

    #[test]
    fn bad_lines_say_what_is_wrong() {
        assert_eq!(Line::parse(""), Err(MapError::Syntax));
        assert_eq!(Line::parse("{\"file\":3"), Err(MapError::Syntax));
        assert_eq!(Line::parse(r#"{"file":70000,"path":"a","base":0}"#), Err(MapError::Field("file")));
        assert_eq!(Line::parse(r#"{"file":1,"base":0}"#), Err(MapError::Field("path")));
        let room = r#"{"file":1,"path":"a","base":0,"room":5}"#;
        assert_eq!(Line::parse(room), Err(MapError::Field("first")));
        let place = r#"{"fn":1,"path":"f","at":"7","end":"8:1"}"#;
        assert_eq!(Line::parse(place), Err(MapError::Field("at")));
        let beyond = r#"{"file":1,"path":"a","base":0,"first":4294967295,"room":1}"#;
        assert_eq!(Line::parse(beyond), Err(MapError::Field("room")));
        let newer = r#"{"xhist":"map","version":3,"hash":"0","root":"","tool":""}"#;
        assert_eq!(Line::parse(newer), Err(MapError::Version(3)));
    }

    #[test]
    fn fnv_matches_the_published_vector() {
        let mut hash = Hash::new();
        hash.update(b"foobar");
        assert_eq!(hash.finish(), 0x8594_4171_f739_67e8);
    }
}
