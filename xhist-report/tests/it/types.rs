//! Values of each kind of type, from programs that the test compiles: what a reader shows is what `{:?}` prints.

use std::path::{Path, PathBuf};
use std::process::Command;

use xhist_history::program::values::types::{Memory, Program, RowType, hex, render};

/// Builds a program of `tests/programs`; with its file and what it printed.
fn built(folder: &Path, name: &str, options: &[&str]) -> (PathBuf, String) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name).with_extension("rs");
    let program = folder.join(name);
    let mut compiler = Command::new("rustc");
    compiler.args(["--edition", "2024"]).args(options).arg(source).arg("-o").arg(&program);
    let built = compiler.output().expect("rustc runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let ran = Command::new(&program).output().expect("the program runs");
    assert!(ran.status.success());
    (program, String::from_utf8(ran.stdout).expect("text"))
}

fn opened(path: &Path) -> Program {
    Program::read(Box::new(std::fs::read(path).expect("a file"))).expect("a program")
}

/// A value that the program printed.
struct Printed<'t> {
    number: u32,
    bytes: Vec<u8>,
    text: &'t str,
}

fn printed(output: &str) -> Vec<Printed<'_>> {
    fn value(line: &str) -> Option<Printed<'_>> {
        let mut parts = line.splitn(3, '\t');
        let number = parts.next()?.parse().ok()?;
        let digits = parts.next()?;
        let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).ok();
        let bytes = (0..digits.len()).step_by(2).map(byte).collect::<Option<_>>()?;
        Some(Printed { number, bytes, text: parts.next()? })
    }
    output.lines().filter_map(value).collect()
}

/// How far the program ran above its addresses, and its values.
fn values(output: &str, program: &Program) -> (u64, Vec<(u32, Vec<u8>, String)>) {
    let mut printed = printed(output);
    let anchor = printed.remove(0);
    let at = anchor.bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    let slide = at - program.anchor().expect("the row of the anchor");
    (slide, printed.into_iter().map(|one| (one.number, one.bytes, one.text.to_owned())).collect())
}

/// The texts of a value by each type that its place has.
fn texts(program: &mut Program, number: u32, bytes: &[u8], slide: u64) -> Vec<String> {
    let rows: Vec<RowType> = program.rows(number).to_vec();
    let of_size = rows.into_iter().filter(|row| row.size as usize == bytes.len());
    of_size
        .map(|row| match program.type_of(row).layout.clone() {
            Some(layout) => render(bytes, &layout, &program.memory(Some(slide))),
            None => hex(bytes, u64::from(row.size)),
        })
        .collect()
}

/// Whether a text is the expected one, in which any address is `POINTER`.
fn is_like(text: &str, expected: &str) -> bool {
    let mut rest = text;
    for (index, part) in expected.split("POINTER").enumerate() {
        if index > 0 {
            let Some(digits) = rest.strip_prefix("0x") else { return false };
            rest = digits.trim_start_matches(|digit: char| digit.is_ascii_hexdigit());
        }
        let Some(behind) = rest.strip_prefix(part) else { return false };
        rest = behind;
    }
    rest.is_empty()
}

fn compare(options: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, output) = built(folder.path(), "kinds", options);
    let program = &mut opened(&path);
    let (slide, values) = values(&output, program);
    assert!(values.len() > 100);
    let mut wrong = Vec::new();
    for (number, bytes, expected) in &values {
        let texts = texts(program, *number, bytes, slide);
        let is_right =
            texts.iter().any(|text| expected == "ANY" && text.len() > 1 || is_like(text, expected));
        if !is_right {
            wrong.push(format!("{number}: {expected}, not {texts:?}"));
        }
        if std::env::var_os("XHIST_SHOW").is_some() {
            println!("{number}: {expected} => {texts:?}");
        }
    }
    assert!(wrong.is_empty(), "{options:?}:\n{}", wrong.join("\n"));
}

#[test]
fn values_are_shown_as_debug_prints_them() {
    compare(&["-g", "-Csymbol-mangling-version=v0"]);
}

#[test]
fn values_of_optimised_programs_are_shown_as_debug_prints_them() {
    compare(&["-g", "-O", "-Csymbol-mangling-version=v0"]);
    if crate::integrity::is_long() {
        compare(&["-g", "-O", "-Clto=fat", "-Csymbol-mangling-version=v0", "-Cdwarf-version=5"]);
    }
}

/// Without debug information the name of the type is in the symbol: it is enough for numbers and text.
#[test]
fn programs_without_debug_information_show_simple_values() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = ["-Cdebuginfo=0", "-Cstrip=symbols", "-O", "-Csymbol-mangling-version=v0"];
    let (path, output) = built(folder.path(), "kinds", &options);
    let program = &mut opened(&path);
    let (slide, values) = values(&output, program);
    for (number, bytes, expected) in &values {
        let texts = texts(program, *number, bytes, slide);
        let is_simple = matches!(number, 1..=21 | 25..=27 | 68..=72 | 78..=79 | 83 | 85 | 110);
        assert!(
            !is_simple || texts.iter().any(|text| is_like(text, expected)),
            "{number}: {expected}, {texts:?}"
        );
    }
    let names: Vec<_> = program.rows(44).to_vec();
    assert_eq!(program.type_of(names[0]).name, "kinds::Data");
    assert!(!program.has_layouts());
}

/// Values that are cut at any byte, and bytes of another type: a short text, never a panic.
#[test]
fn values_may_be_cut_at_any_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, output) = built(folder.path(), "kinds", &["-g", "-Csymbol-mangling-version=v0"]);
    let program = &mut opened(&path);
    let (slide, values) = values(&output, program);
    let numbers: Vec<u32> = program.numbers().collect();
    for number in numbers {
        for row in program.rows(number).to_vec() {
            let Some(layout) = program.type_of(row).layout.clone() else { continue };
            let memory = &program.memory(Some(slide));
            for (_, bytes, _) in &values {
                let bytes = &bytes[..bytes.len().min(row.size as usize)];
                (0..=bytes.len()).for_each(|len| {
                    assert!(render(&bytes[..len], &layout, memory).len() < 2000);
                });
            }
            assert!(!memory.is_little() || render(&[0xff; 8], &layout, memory).len() < 2000);
        }
    }
}

/// A file in which any byte is another one.
#[test]
fn debug_information_may_lie() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = ["-g", "-Csymbol-mangling-version=v0", "-Cpanic=abort", "-Clink-arg=-nostartfiles"];
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/small.rs");
    let path = folder.path().join("small");
    let mut compiler = Command::new("rustc");
    compiler.args(["--edition", "2024", "-Clink-arg=-static", "-Crelocation-model=static"]).args(options);
    let built = compiler.arg(source).arg("-o").arg(&path).output().expect("rustc runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let good = std::fs::read(&path).expect("a file");
    let all = |bytes: Vec<u8>| {
        let Some(mut program) = Program::read(Box::new(bytes)) else { return 0 };
        let mut numbers: Vec<u32> = program.numbers().collect();
        numbers.sort_unstable();
        let mut known = 0;
        for number in numbers.into_iter().take(64) {
            for row in program.rows(number).to_vec().into_iter().take(4) {
                let answer = program.type_of(row);
                let Some(layout) = &answer.layout else { continue };
                known += 1;
                assert_eq!(layout.size, u64::from(row.size));
                let bytes = vec![1; row.size.min(32) as usize];
                assert!(render(&bytes, layout, &program.memory(Some(0))).len() < 10_000);
            }
        }
        known
    };
    assert!(all(good.clone()) >= 5);
    let mut seed = 1u64;
    for round in 0..400usize {
        let mut bad = good.clone();
        for _ in 0..=round % 7 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (seed >> 20) as usize % bad.len();
            bad[at] = (seed >> 12) as u8;
        }
        all(bad);
    }
}
