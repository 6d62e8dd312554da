//! File names for the panic hook, from the map file: `XHIST_MAP`, or the map of this build. It is searched where
//! `cargo xhist` leaves it, in the directories above this program, and in the working directory, above it and under
//! `target/xhist`.
//!
//! Programs run in directories that other users may write. So a map must be a regular file of bounded length, its
//! hash must match its content, and a map that was found must belong to the user of the program or to root.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use qs_core::map::{Hash, Line, numbers};
use qs_core::record::{Numbers, Statement};
use qs_core::shown::is_visible;

use crate::hosted::setup::settings::MAP;
use crate::hosted::system::message::Shown;
use crate::hosted::system::{sandbox, sys};

/// Larger than the map of any program that prints panics. A file of another kind must not fill the memory.
const LONGEST: u64 = 64 << 20;

/// Path and base line of each file id.
#[derive(Default)]
pub(crate) struct Names {
    files: HashMap<u16, (String, u32)>,
    /// Statements by their numbers in the program.
    statements: Vec<Option<Statement>>,
    refusal: Option<String>,
}

impl Names {
    /// The map of the build with this hash, read once. Without a map, statements are shown by number. The hash 0
    /// means unknown.
    pub(crate) fn of(hash: u64) -> Arc<Names> {
        static LAST: Mutex<Option<(u64, Arc<Names>)>> = Mutex::new(None);
        // This never waits: in a forked child the thread that holds the lock may not exist.
        let Ok(mut last) = LAST.try_lock() else { return Arc::new(Names::load(hash)) };
        match &*last {
            Some((of, names)) if *of == hash => Arc::clone(names),
            _ => Arc::clone(&last.insert((hash, Arc::new(Names::load(hash)))).1),
        }
    }

    fn load(hash: u64) -> Names {
        if sys::has_more_rights_than_its_caller() {
            return Names::default();
        }
        if sandbox::is_on() {
            let reason = "in a sandbox no map is opened (XHIST_SANDBOX)".to_owned();
            return Names { refusal: Some(reason), ..Names::default() };
        }
        // The standard library reads the variable, because the program may change its environment meanwhile.
        let named = std::env::var_os(MAP.name()).filter(|path| !path.is_empty());
        let found = match &named {
            Some(path) => read(Path::new(path), hash, |_| true),
            None => candidates(hash).iter().find_map(|path| read(path, hash, is_trusted).ok()).ok_or(""),
        };
        match found {
            Ok(text) => Names { files: parse(&text), statements: statements(&text), refusal: None },
            Err(reason) => Names { refusal: named.map(|path| refusal(&path, reason)), ..Names::default() },
        }
    }

    /// The reason why the map that was named is not used.
    pub(crate) fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    /// `src/main.rs` and 12; without a map `file#3` and 12, or `statement` and its number in the program.
    pub(crate) fn place(&self, statement: Statement) -> (String, u32) {
        let statement = Numbers::new(&self.statements).resolve(statement);
        if let Some(number) = statement.number() {
            return ("statement".into(), u32::from(number));
        }
        let line = u32::from(statement.line);
        match self.files.get(&statement.file) {
            Some((path, base)) => (path.clone(), line.saturating_add(*base)),
            None => (format!("file#{}", statement.file), line),
        }
    }
}

fn refusal(path: &OsStr, reason: &str) -> String {
    format!("{}={} {reason}", MAP.name(), Shown(path.as_bytes()))
}

/// The text of a map, if it is that of the build with this hash.
fn read(path: &Path, hash: u64, is_trusted: fn(&std::fs::Metadata) -> bool) -> Result<String, &'static str> {
    const UNREADABLE: &str = "cannot be read";
    let is_map = |meta: &std::fs::Metadata| meta.is_file() && is_trusted(meta);
    // The kind is checked first, because opening a pipe or a device has effects. The file may be replaced before it
    // is opened.
    let check = |meta: std::io::Result<std::fs::Metadata>| match meta {
        Ok(meta) if is_map(&meta) => Ok(meta.len()),
        Ok(_) => Err("is not a regular file"),
        Err(_) => Err(UNREADABLE),
    };
    check(std::fs::metadata(path))?;
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = File::options().read(true).custom_flags(flags).open(path).map_err(|_| UNREADABLE)?;
    if check(file.metadata())? > LONGEST {
        return Err("is too long for a map");
    }
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).map_err(|_| UNREADABLE)?;
    check_hash(&text, hash).map(|()| text)
}

/// Whether a found map can be trusted: no other user can have put it there.
fn is_trusted(meta: &std::fs::Metadata) -> bool {
    [0, sys::user()].contains(&meta.uid())
}

/// Whether a map is whole and belongs to the build with this hash: programs run in directories of other projects.
fn check_hash(map: &str, hash: u64) -> Result<(), &'static str> {
    let (first, rest) = map.split_once('\n').unwrap_or((map, ""));
    let Ok(Line::Head(head)) = Line::parse(first) else { return Err("is not a map") };
    if hash != 0 && !head.may_be_of(hash) {
        return Err("is the map of another build");
    }
    let mut found = Hash::new();
    found.update(rest.as_bytes());
    if found.finish() == head.hash { Ok(()) } else { Err("is damaged: its hash is not that of its content") }
}

/// The files of a map. Their names contain nothing that a terminal executes.
fn parse(text: &str) -> HashMap<u16, (String, u32)> {
    let lines = text.lines().filter(|line| line.starts_with("{\"file\""));
    let files = lines.filter_map(|line| match Line::parse(line) {
        Ok(Line::File(file)) => {
            let mut path = String::new();
            for char in file.path.chars() {
                if is_visible(char) { path.push(char) } else { path.extend(char.escape_default()) }
            }
            Some((file.file, (path, file.base)))
        }
        _ => None,
    });
    files.collect()
}

/// The statements that have short numbers in a map.
fn statements(text: &str) -> Vec<Option<Statement>> {
    let (mut ids, mut ranges, mut ordinals) = (HashMap::new(), HashMap::new(), HashMap::new());
    let mut table = Vec::new();
    for line in text.lines().filter(|line| line.starts_with("{\"file\"") || line.starts_with("{\"stmt\"")) {
        match Line::parse(line) {
            Ok(Line::File(file)) => {
                let path = file.path.to_string();
                ids.insert((path.clone(), file.base), file.file);
                ranges.entry(file.file).or_insert((file.numbers, path));
            }
            Ok(Line::Stmt(stmt)) => {
                let ordinal = ordinals.entry(stmt.file).or_insert(0usize);
                let Some((range, path)) = ranges.get(&stmt.file) else { continue };
                let number = range.number(*ordinal).map(|number| number as usize);
                *ordinal += 1;
                let Some(number) = number else { continue };
                if table.len() <= number {
                    table.resize(number + 1, None);
                }
                let id = |base| ids.get(&(path.clone(), base)).copied();
                table[number] = numbers::statement(stmt.line, id);
            }
            _ => {}
        }
    }
    table
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

/// The file that contains this code: the program, or a library in a program of another language.
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

    /// A map with these lines, and its hash.
    fn map(lines: &str) -> (String, u64) {
        let mut hash = Hash::new();
        hash.update(lines.as_bytes());
        let hash = hash.finish();
        let head =
            format!(r#"{{"xhist":"map","version":3,"hash":"{hash:016x}","root":"/p","tool":"0.1.0"}}"#);
        (format!("{head}\n{lines}"), hash)
    }

    #[test]
    fn statements_are_shown_by_name_or_by_number() {
        let files = parse("{\"file\":3,\"path\":\"src/a.rs\",\"base\":65535}\nnot json\n");
        let names = Names { files, ..Names::default() };
        assert_eq!(names.place(Statement { file: 3, line: 2 }), ("src/a.rs".into(), 65537));
        assert_eq!(names.place(Statement { file: 4, line: 93 }), ("file#4".into(), 93));
    }

    #[test]
    fn the_file_with_this_code_is_found() {
        assert_eq!(own_object(), std::env::current_exe().ok());
        let line = "1000-3000 r-xp 00000000 08:01 42    /a b/program";
        assert_eq!(mapped_at(line, 0x1000), Some("/a b/program".into()));
        assert_eq!((mapped_at(line, 0x3000), mapped_at("1000-3000 rw-p 0 00:00 0", 0x1000)), (None, None));
        let kept = std::env::current_exe().expect("a path").with_file_name("maps/00000000000000a7.map");
        assert!(candidates(0xA7).contains(&kept));
    }

    #[test]
    fn names_do_nothing_to_a_terminal() {
        let files = parse("{\"file\":3,\"path\":\"a\\u001b]0;x\\u0007\u{202e}b\",\"base\":0}\n");
        assert_eq!(files[&3].0, r"a\u{1b}]0;x\u{7}\u{202e}b");
    }

    #[test]
    fn a_map_of_another_build_or_a_changed_one_names_nothing() {
        let (text, hash) = map("{\"file\":3,\"path\":\"src/a.rs\",\"base\":0}\n");
        assert_eq!(check_hash(&text, hash), Ok(()));
        assert_eq!(check_hash(&text, 0), Ok(()), "the build of the program is unknown");
        assert_eq!(check_hash(&text, hash ^ 1), Err("is the map of another build"));
        // Sources were instrumented after `main`, which carries the hash of an earlier map.
        let later = text.replacen("}\n", &format!(",\"mains\":\"3:{:016x}\"}}\n", hash ^ 1), 1);
        assert_eq!(check_hash(&later, hash ^ 1), Ok(()));
        assert_eq!(check_hash(&later, hash ^ 2), Err("is the map of another build"));
        assert_eq!(
            check_hash(&text.replace("a.rs", "b.rs"), hash),
            Err("is damaged: its hash is not that of its content")
        );
        assert_eq!(check_hash("", hash), Err("is not a map"));
    }

    #[test]
    fn only_regular_files_are_read() {
        for path in ["/dev/zero", "/tmp", "/proc/self/fd"] {
            assert_eq!(read(Path::new(path), 0, |_| true), Err("is not a regular file"), "{path}");
        }
        assert_eq!(read(Path::new("/nowhere/xhist.map"), 0, |_| true), Err("cannot be read"));
        assert_eq!(read(Path::new("/proc/self/exe"), 0, |_| false), Err("is not a regular file"));
    }
}
