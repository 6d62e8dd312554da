//! File names for the panic hook, from the map file: `XHIST_MAP`, or the map of this build among those in the directories
//! above this program, where `cargo xhist` leaves them, and in the working directory, above it and under `target/xhist`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use qs_core::map::Line;
use qs_core::record::Statement;

/// Path and base line of each file id.
#[derive(Default)]
pub(super) struct Names(HashMap<u16, (String, u32)>);

impl Names {
    /// Reads the map of the build with this hash; without one, statements are shown by number.
    pub(super) fn load(hash: u64) -> Names {
        let read = |path: PathBuf| std::fs::read_to_string(path).ok();
        let text = match std::env::var_os("XHIST_MAP") {
            Some(path) => read(path.into()),
            None => candidates(hash).into_iter().filter_map(read).find(|text| is_of(text, hash)),
        };
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

/// Whether a map that was found may be used: programs run in directories of other projects. A hash of 0 is not known.
fn is_of(map: &str, hash: u64) -> bool {
    let head = map.lines().next().and_then(|line| Line::parse(line).ok());
    hash == 0 || matches!(head, Some(Line::Head(head)) if head.hash == hash)
}

fn candidates(hash: u64) -> Vec<PathBuf> {
    let object = own_object().unwrap_or_default();
    let kept = format!("maps/{hash:016x}.map");
    let here = std::env::current_dir().unwrap_or_default();
    let above_object = object.ancestors().skip(1).flat_map(|dir| [dir.join("xhist.map"), dir.join(&kept)]);
    let above_here =
        here.ancestors().flat_map(|dir| [dir.join("xhist.map"), dir.join("target/xhist/xhist.map")]);
    above_object.chain(above_here).collect()
}

/// The file that this code was loaded from: the program, or a library in a program of another language.
fn own_object() -> Option<PathBuf> {
    let address = own_object as *const () as usize;
    let Ok(mappings) = std::fs::read_to_string("/proc/self/maps") else {
        return std::env::current_exe().ok();
    };
    mappings.lines().find_map(|line| mapped_at(line, address))
}

/// The file in a line such as `1000-3000 r-xp 00000000 08:01 42 /a/program`, if the address is in its range.
fn mapped_at(line: &str, address: usize) -> Option<PathBuf> {
    let (start, end) = line.split_once(' ')?.0.split_once('-')?;
    let limit = |text| usize::from_str_radix(text, 16).ok();
    let path = &line[line.find('/')?..];
    (limit(start)?..limit(end)?).contains(&address).then(|| Path::new(path).to_path_buf())
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

    #[test]
    fn the_file_that_this_code_is_from_is_found() {
        assert_eq!(own_object(), std::env::current_exe().ok());
        let line = "1000-3000 r-xp 00000000 08:01 42    /a b/program";
        assert_eq!(mapped_at(line, 0x1000), Some("/a b/program".into()));
        assert_eq!((mapped_at(line, 0x3000), mapped_at("1000-3000 rw-p 0 00:00 0", 0x1000)), (None, None));
        let kept = std::env::current_exe().expect("a path").with_file_name("maps/00000000000000a7.map");
        assert!(candidates(0xA7).contains(&kept));
    }

    #[test]
    fn a_map_of_another_build_names_nothing() {
        let map = r#"{"xhist":"map","version":1,"hash":"00000000000000a7","root":"/p","tool":"0.1.0"}"#;
        assert!(is_of(map, 0xA7));
        assert!(!is_of(map, 0xA8) && !is_of("", 0xA7));
        assert!(is_of(map, 0), "nobody knows of which build the program is");
    }
}
