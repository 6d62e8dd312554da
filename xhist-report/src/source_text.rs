//! The source line beside a statement. It must not know records; it never fails, it only finds nothing.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::console::Notes;
use crate::model::{Names, visible};

/// Larger than any source file; a map may name anything.
const MAX_SOURCE: u64 = 64 << 20;

/// Source files, read when they are first asked for.
#[derive(Debug, Default)]
pub struct SourceText {
    /// By number of the map and file id.
    files: HashMap<(usize, u16), Option<Lines>>,
}

#[derive(Debug)]
struct Lines {
    text: String,
    starts: Vec<u32>,
}

impl SourceText {
    /// The text of a line without the blanks around it. A missing file is noted once.
    pub fn line(
        &mut self,
        (map, names): (usize, &Names),
        file: u16,
        line: u32,
        notes: &mut Notes<'_>,
    ) -> Option<&str> {
        let path = names.path(file)?;
        let lines = self.files.entry((map, file)).or_insert_with(|| {
            let lines = places(&names.root, path).iter().find_map(|path| read(path));
            if lines.is_none() {
                let (path, root) = (visible(path), visible(&names.root));
                notes.note(format_args!(
                    "no source text of {path}: not found below {root} or the working directory"
                ));
            }
            lines
        });
        lines.as_ref()?.get(line)
    }
}

impl Lines {
    fn new(text: &str) -> Lines {
        let text = text.lines().map(|line| visible(line.trim())).collect::<Vec<_>>().join("\n");
        let starts =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at as u32 + 1)).collect();
        Lines { text, starts }
    }

    fn get(&self, line: u32) -> Option<&str> {
        let start = *self.starts.get((line as usize).checked_sub(1)?)? as usize;
        self.text[start..].lines().next().or(Some(""))
    }
}

/// A map made on another machine has a root that is not here; then the working directory may do.
fn places(root: &str, path: &str) -> [PathBuf; 2] {
    [Path::new(root).join(path), PathBuf::from(path)]
}

fn read(path: &Path) -> Option<Lines> {
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(MAX_SOURCE).read_to_end(&mut bytes).ok()?;
    Some(Lines::new(&String::from_utf8_lossy(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_count_from_one_and_are_trimmed() {
        let lines = Lines::new("fn main() {\r\n\n\tlet x = 1;  \n}");
        let got: Vec<_> = (0..=5).map(|line| lines.get(line)).collect();
        assert_eq!(got, [None, Some("fn main() {"), Some(""), Some("let x = 1;"), Some("}"), None]);
    }
}
