//! The sites of a program: lines with a statement, the function of each, and whether it is test code or a dependency's.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::bits::SiteSet;
use super::control::Branches;
use qs_core::record::Statement;

use xhist_history::model::{BodyKind, CodeBody, Names};

/// Whose code a site is. The mistake is most often in the first of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The program's own.
    Own,
    /// Of a test.
    Test,
    /// Of a dependency.
    Dependency,
}

/// A line with a statement.
#[derive(Clone, Debug)]
pub struct Site {
    /// The first id of its file.
    pub file: u16,
    /// Its line.
    pub line: u32,
    /// The last line of the longest statement that starts here.
    pub end_line: u32,
    /// The column of the first statement.
    pub col: u32,
    /// The function of the first statement, among [`ProgramSites::functions`].
    pub function: u32,
    /// Whose code it is.
    pub role: Role,
    /// It is in the initializer of a static or a constant: it counts for the test that came first, whatever that tests.
    pub is_initializer: bool,
    /// The innermost site whose statement contains this one, in the same function.
    pub parent: Option<u32>,
}

/// No site.
const NONE: u32 = u32::MAX;

/// A function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Function {
    /// The first id of its file.
    pub file: u16,
    /// Its path in the file; empty if the map has none.
    pub path: String,
}

/// The sites of a program.
#[derive(Clone, Debug, Default)]
pub struct ProgramSites {
    /// By file, then by line.
    pub sites: Vec<Site>,
    /// All functions.
    pub functions: Vec<Function>,
    /// The line at which each of them begins; 0 without a known one.
    pub function_lines: Vec<u32>,
    by_place: HashMap<(u16, u32), u32>,
    /// By the number of a statement; [`NONE`] for none.
    by_number: Vec<u32>,
    /// For each file id the first id of the same file.
    first_ids: HashMap<u16, u16>,
    branches: Branches,
}

impl ProgramSites {
    /// The program that a map describes.
    pub fn of(names: &Names) -> ProgramSites {
        let mut program = ProgramSites::default();
        let mut functions: HashMap<Function, u32> = HashMap::new();
        let by_path: HashMap<&str, u16> =
            names.files().filter_map(|file| Some((names.path(file)?, file))).collect();
        let first = |(file, path): (u16, &str)| Some((file, *by_path.get(path)?));
        program.first_ids = names.paths().filter_map(first).collect();
        for file in names.files() {
            let Some(path) = names.path(file) else { continue };
            let first = program.sites.len();
            let bodies = names.code(file).map_or(&[][..], |code| &code.bodies);
            let is_named =
                |body: &&CodeBody| matches!(body.kind, BodyKind::Function | BodyKind::AsyncFunction);
            let named: HashMap<&str, u32> =
                bodies.iter().filter(is_named).map(|body| (&*body.path, body.span.line)).collect();
            let statements = names.described(file).zip(names.statements(file));
            for (statement, span) in statements.filter(|(statement, _)| statement.recorded) {
                let function = Function { file, path: statement.function.to_owned() };
                let role = role(path, &function.path);
                let begin = named.get(&*function.path).copied();
                let is_initializer = !bodies.is_empty() && begin.is_none();
                let number = *functions.entry(function).or_insert_with_key(|function| {
                    program.functions.push(function.clone());
                    program.function_lines.push(begin.unwrap_or(0));
                    program.functions.len() as u32 - 1
                });
                let next = program.sites.len() as u32;
                let site = *program.by_place.entry((file, span.line)).or_insert(next);
                if site == next {
                    let (line, end_line, col) = (span.line, span.end_line, span.col);
                    program.sites.push(Site {
                        file,
                        line,
                        end_line,
                        col,
                        function: number,
                        role,
                        is_initializer,
                        parent: None,
                    });
                } else {
                    let known = &mut program.sites[site as usize];
                    known.end_line = known.end_line.max(span.end_line);
                }
                if let Some(number) = statement.numbered.and_then(Statement::number).map(usize::from) {
                    let len = program.by_number.len().max(number + 1);
                    program.by_number.resize(len, NONE);
                    program.by_number[number] = site;
                }
            }
            program.nest(first);
            let places = program.sites[first..].iter().map(|site| (site.line, site.col));
            program.branches.add(names.code(file), first, &places.collect::<Vec<_>>());
        }
        program
    }

    /// Marks the functions that are tests outside of test modules, by the names of the run's tests.
    pub fn mark_tests(&mut self, names: &Names, tests: &HashSet<&str>) {
        let is_test = |function: &Function| {
            let file = names.path(function.file).unwrap_or_default();
            tests.contains(&*format!("{}{}", module(file), function.path))
        };
        let are_tests: Vec<bool> = self.functions.iter().map(is_test).collect();
        let of_tests = self.sites.iter_mut().filter(|site| are_tests[site.function as usize]);
        of_tests.filter(|site| site.role == Role::Own).for_each(|site| site.role = Role::Test);
    }

    /// What the mistake can be in. Where failed tests ran no code but that of tests, it is in there.
    pub fn blamed<'p>(&'p self, mut failed: impl Iterator<Item = &'p SiteSet>) -> Cow<'p, ProgramSites> {
        let is_own = |site: u32| self.sites[site as usize].role == Role::Own;
        if failed.any(|ran| ran.iter().any(is_own)) {
            return Cow::Borrowed(self);
        }
        let mut blamed = self.clone();
        let of_tests = blamed.sites.iter_mut().filter(|site| site.role == Role::Test);
        of_tests.for_each(|site| site.role = Role::Own);
        Cow::Owned(blamed)
    }

    /// For each site the nearest one in front of it, inside the same statement of the same function, that may run before it.
    pub fn in_front(&self) -> Vec<Option<u32>> {
        self.branches
            .in_front(self.sites.iter().map(|site| ((site.line, site.col), site.parent, site.function)))
    }

    /// Finds the parents of the sites of one file, which start at this one.
    fn nest(&mut self, first: usize) {
        let mut order: Vec<usize> = (first..self.sites.len()).collect();
        order.sort_by_key(|site| (self.sites[*site].line, self.sites[*site].col));
        let mut open: Vec<usize> = Vec::new();
        for index in order {
            let (line, function) = (self.sites[index].line, self.sites[index].function);
            while open.last().is_some_and(|top| self.sites[*top].end_line < line) {
                open.pop();
            }
            let parent = open.iter().rev().find(|top| self.sites[**top].function == function);
            self.sites[index].parent = parent.map(|top| *top as u32);
            open.push(index);
        }
    }

    /// The site of a recorded statement.
    pub fn site(&self, statement: Statement, names: &Names) -> Option<u32> {
        if let Some(number) = statement.number() {
            let known = self.by_number.get(usize::from(number)).copied();
            return known.filter(|site| *site != NONE);
        }
        let place = names.place(statement.file, statement.line);
        let first = *self.first_ids.get(&place.file)?;
        self.by_place.get(&(first, place.line)).copied()
    }

    /// Whether a site is in `main`: that only begins what other functions do.
    pub fn is_of_main(&self, site: u32) -> bool {
        self.path_of(site) == "main"
    }

    /// Whether a site is in the body of a macro, which several functions may use.
    pub fn is_of_macro(&self, site: u32) -> bool {
        self.path_of(site).ends_with('!')
    }

    /// Whether a site is in a destructor: that makes no value.
    pub fn is_of_drop(&self, site: u32) -> bool {
        self.path_of(site).ends_with("::drop")
    }

    fn path_of(&self, site: u32) -> &str {
        &self.functions[self.sites[site as usize].function as usize].path
    }

    /// Whether the text of a statement at the first site contains the second one.
    pub fn is_around(&self, outer: u32, inner: u32) -> bool {
        let [outer, inner] = [outer, inner].map(|site| &self.sites[site as usize]);
        outer.file == inner.file && outer.line < inner.line && inner.line <= outer.end_line
    }

    /// The site that starts in this line.
    pub fn at(&self, file: u16, line: u32) -> Option<u32> {
        self.by_place.get(&(file, line)).copied()
    }
}

/// The module that a file of a crate usually is, with `::` behind it; empty for the root.
pub fn module(file: &str) -> String {
    let file = file.rsplit_once("src/").map_or(file, |(_, below)| below);
    let path = file.strip_suffix(".rs").unwrap_or(file).split('/');
    let modules: Vec<&str> = path.filter(|name| !matches!(*name, "lib" | "main" | "mod")).collect();
    modules.into_iter().map(|module| format!("{module}::")).collect()
}

/// Directories of test code, from the root of a package.
const TEST_DIRECTORIES: [&str; 3] = ["tests", "benches", "examples"];
/// Where cargo keeps the sources of dependencies.
const PACKAGES: [&str; 3] = ["registry/src/", "git/checkouts/", "vendor/"];

/// Whose code a function is, from its file and its path in the file.
pub fn role(file: &str, function: &str) -> Role {
    let file = file.replace('\\', "/");
    if file.starts_with("..") || PACKAGES.iter().any(|packages| file.contains(packages)) {
        return Role::Dependency;
    }
    let is_test = |word: &str| {
        matches!(word, "test" | "tests" | "testing" | "testutil" | "test_util" | "test_utils")
            || word.ends_with("_tests")
            || word.ends_with("_test")
            || word.starts_with("test_")
            || word.starts_with("tests_")
    };
    let mut parts: Vec<&str> = file.split('/').collect();
    let name = parts.pop().unwrap_or_default();
    let stem = name.strip_suffix(".rs").unwrap_or(name);
    let in_directory = parts.iter().any(|part| TEST_DIRECTORIES.contains(part) || is_test(part));
    let modules = function.rsplit_once("::").map_or("", |(modules, _)| modules);
    let in_module = modules.split("::").any(is_test);
    match in_directory || is_test(stem) || in_module {
        true => Role::Test,
        false => Role::Own,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: &str = r#"{"xhist":"map","version":3,"hash":"00000000000000ff","root":"/p","tool":"0"}
{"file":1,"path":"src/a.rs","base":0,"first":5,"room":9}
{"stmt":1,"line":2,"col":5,"end":"6:6","kind":"expr","fn":"f"}
{"stmt":1,"line":3,"col":9,"end":"3:20","kind":"expr","fn":"f"}
{"stmt":1,"line":3,"col":22,"end":"4:9","kind":"expr","fn":"f"}
{"stmt":1,"line":8,"col":5,"end":"8:9","kind":"expr","fn":"tests::g"}
"#;

    #[test]
    fn tests_are_blamed_where_nothing_else_failed() {
        let program = ProgramSites::of(&Names::parse(MAP.as_bytes()));
        let roles = |program: &ProgramSites| program.sites.iter().map(|site| site.role).collect::<Vec<_>>();
        assert_eq!(roles(&program), [Role::Own, Role::Own, Role::Test]);
        let [of_test, of_both]: [SiteSet; 2] = [[2].into_iter().collect(), [0, 2].into_iter().collect()];
        assert_eq!(roles(&program.blamed([&of_test].into_iter())), [Role::Own; 3]);
        assert_eq!(roles(&program.blamed([&of_test, &of_both].into_iter())), roles(&program));
    }

    #[test]
    fn statements_of_a_line_are_one_site() {
        let names = Names::parse(MAP.as_bytes());
        let program = ProgramSites::of(&names);
        let lines: Vec<_> =
            program.sites.iter().map(|site| (site.line, site.end_line, site.parent)).collect();
        assert_eq!(lines, [(2, 6, None), (3, 4, Some(0)), (8, 8, None)]);
        let sites = [5, 6, 7, 8].map(|number| program.site(Statement::numbered(number), &names));
        assert_eq!(sites, [Some(0), Some(1), Some(1), Some(2)]);
        assert_eq!(program.site(Statement { file: 1, line: 3 }, &names), Some(1));
        assert_eq!(program.site(Statement { file: 1, line: 4 }, &names), None);
        assert_eq!(program.sites[2].role, Role::Test);
        assert_eq!(program.at(1, 8), Some(2));
    }

    #[test]
    fn a_test_outside_of_a_test_module_is_known_by_its_name() {
        let map = MAP.replace("src/a.rs", "src/b/mod.rs");
        let names = Names::parse(map.as_bytes());
        let mut program = ProgramSites::of(&names);
        program.mark_tests(&names, &["f", "a::f"].into_iter().collect());
        assert_eq!(program.sites[0].role, Role::Own, "of another module");
        program.mark_tests(&names, &["b::f"].into_iter().collect());
        assert_eq!(program.sites[0].role, Role::Test);
        assert_eq!((module("src/lib.rs"), module("a/src/b/c.rs")), (String::new(), "b::c::".to_owned()));
    }

    #[test]
    fn the_role_of_code_is_known_by_its_place() {
        for (file, function, role) in [
            ("src/lib.rs", "Parser::next", Role::Own),
            ("src/lib.rs", "tests::works", Role::Test),
            ("src/attest.rs", "contest::f", Role::Own),
            ("tests/it/main.rs", "f", Role::Test),
            ("src/tests.rs", "f", Role::Test),
            ("src/latest/mod.rs", "test", Role::Own),
            ("../other/src/lib.rs", "f", Role::Dependency),
            ("/home/u/.cargo/registry/src/index/a-1.0.0/src/lib.rs", "f", Role::Dependency),
        ] {
            assert_eq!(super::role(file, function), role, "{file} {function}");
        }
    }
}
