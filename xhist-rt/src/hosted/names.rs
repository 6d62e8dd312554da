//! File names for the panic hook, from the map file: `XHIST_MAP`, or `xhist.map` in the working
//! directory or above it, or under its `target/xhist`.

use std::collections::HashMap;
use std::path::PathBuf;

use qs_core::map::Line;
use qs_core::record::Statement;

/// Path and base line of each file id.
#[derive(Default)]
pub(super) struct Names(HashMap<u16, (String, u32)>);

impl Names {
    /// Reads the first map found; without one, statements are shown by number.
    pub(super) fn load() -> Names {
        let text = candidates().into_iter().find_map(|path| std::fs::read_to_string(path).ok());
        text.map_or_else(Names::default, |text| Names::parse(&text))
    }

    fn parse(text: &str) -> Names {
        let files = text.lines().filter(|line| !line.starts_with("{\"stmt\"")).filter_map(|line| {
            match Line::parse(line) {
                Ok(Line::File(file)) => Some((file.file, (file.path.chars().collect(), file.base))),
                _ => None,
            }
        });
        Names(files.collect())
    }

    /// `src/main.rs` and 12, or `file#3` and 12 without a map.
    pub(super) fn place(&self, statement: Statement) -> (String, u32) {
        let line = u32::from(statement.line);
        match self.0.get(&statement.file) {
            Some((path, base)) => (path.clone(), line + base),
            None => (format!("file#{}", statement.file), line),
        }
    }
}

fn candidates() -> Vec<PathBuf> {
    if let Some(path) = std::env::var_os("XHIST_MAP") {
        return vec![path.into()];
    }
    let Ok(here) = std::env::current_dir() else { return Vec::new() };
    here.ancestors().flat_map(|dir| [dir.join("xhist.map"), dir.join("target/xhist/xhist.map")]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_shown_by_name_or_by_number() {
        let names = Names::parse("{\"file\":3,\"path\":\"src/a.rs\",\"base\":65535}\nnot json\n");
        assert_eq!(names.place(Statement { file: 3, line: 2 }), ("src/a.rs".into(), 65537));
        assert_eq!(names.place(Statement { file: 4, line: 93 }), ("file#4".into(), 93));
    }
}
