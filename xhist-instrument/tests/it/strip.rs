//! Strips fixtures and real sources after rustfmt or an editor moved the calls.

use crate::sources::{analyzed, options, rust_files};
use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use rayon::prelude::*;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use xhist_instrument::{Options, ids_needed, instrument, strip, try_strip};

/// The instrumented text; `None` if it is refused.
fn instrumented(text: &str, options: &Options) -> Option<String> {
    let analysis = analyzed(text.as_bytes(), options).ok()?;
    let ids: Vec<u16> = (1..).take(ids_needed(analysis.lines)).collect();
    let result = instrument(
        text.as_bytes(),
        &analysis,
        &xhist_instrument::Numbers { ids, first: 1, values: 1 },
        options,
    )
    .expect("it is proved");
    Some(String::from_utf8(result).unwrap())
}

/// Fixtures, then real sources.
fn texts() -> Vec<(PathBuf, String)> {
    let mut found = rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures"));
    assert!(found.len() > 50, "the fixtures are there");
    found.retain(|path| path.ends_with("in.rs"));
    found.extend(crate::sources::sample(80));
    found.into_iter().filter_map(|path| Some((path.clone(), std::fs::read_to_string(path).ok()?))).collect()
}

/// Numbers that depend on the text only.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// The texts of the tokens, and whether the next token must follow without a gap.
fn flatten(tokens: TokenStream, into: &mut Vec<(Range<usize>, bool)>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                assert!(group.delimiter() != Delimiter::None, "not in a source");
                into.push((group.span_open().byte_range(), false));
                flatten(group.stream(), into);
                into.push((group.span_close().byte_range(), false));
            }
            TokenTree::Punct(punct) => {
                into.push((
                    punct.span().byte_range(),
                    punct.spacing() == Spacing::Joint || punct.as_char() == '$',
                ));
            }
            token => into.push((token.span().byte_range(), false)),
        }
    }
    // A doc comment is several tokens with the same span.
    into.dedup_by(|b, a| a.0 == b.0 || b.0.start < a.0.end);
}

/// The text with other blanks between its tokens. Comments stay in place.
fn spaced(text: &str, seed: u64) -> Option<String> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let shebang = body.starts_with("#!") && !body.starts_with("#![");
    let tokens: TokenStream = if shebang { return None } else { body.parse().ok()? };
    let mut ranges = Vec::new();
    flatten(tokens, &mut ranges);
    let offset = text.len() - body.len();
    respaced(text, &ranges, offset, seed)
}

fn respaced(text: &str, ranges: &[(Range<usize>, bool)], offset: usize, seed: u64) -> Option<String> {
    let mut numbers = Numbers(seed);
    let mut blank = |may_be_none: bool| match numbers.next(12) {
        0..4 if may_be_none => "",
        0..7 => " ",
        7 => "\n",
        8 => "\n    ",
        9 => "  ",
        10 => "\t",
        _ => "\n\n        ",
    };
    let mut out = String::new();
    let mut done = 0;
    for pair in ranges.windows(2) {
        let (range, joint) = (&pair[0].0, pair[0].1);
        let (end, next) = (range.end + offset, pair[1].0.start + offset);
        let gap = text.get(end..next)?;
        let is_bracket = |at: usize| b"()[]{};,".contains(&text.as_bytes()[at]);
        let is_doc = text[range.start + offset..].starts_with("//");
        out.push_str(&text[done..end]);
        done = next;
        let may_be_none = is_bracket(end - 1) || is_bracket(next) && text.as_bytes()[next] != b'[';
        match gap.trim() {
            _ if is_doc || joint && gap.is_empty() => out.push_str(gap),
            "" if gap.is_empty() && !may_be_none => out.push_str(gap),
            "" => out.push_str(blank(may_be_none)),
            "/*xh*/" => {
                out.push_str(blank(true));
                out.push_str("/*xh*/");
                out.push_str(blank(true));
            }
            _ => out.push_str(gap),
        }
    }
    out.push_str(&text[done..]);
    Some(out)
}

/// The parts that do not depend on blanks.
fn without_blanks(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_whitespace()).collect()
}

/// rustfmt adds a semicolon to a final `return`, `break` or `continue` of a multi-line block.
fn without_last_semicolon(tokens: TokenStream) -> TokenStream {
    let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_semicolon = |token: &TokenTree| token.to_string() == ";";
    if tokens.last().is_some_and(is_semicolon) {
        let before = tokens[..tokens.len() - 1].iter().rposition(is_semicolon).map_or(0, |at| at + 1);
        if ["return", "break", "continue"].contains(&&*tokens[before].to_string()) {
            tokens.pop();
        }
    }
    tokens.into_iter().collect()
}

/// The texts of the tokens.
fn tokens(text: &str) -> Option<Vec<String>> {
    fn add(tokens: TokenStream, into: &mut Vec<String>) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => {
                    into.push(format!("{:?}", group.delimiter()));
                    add(without_last_semicolon(group.stream()), into);
                    // rustfmt decides which brackets get a trailing comma.
                    into.pop_if(|last| last == ",");
                    into.push("end".to_owned());
                }
                token => into.push(token.to_string()),
            }
        }
    }
    let mut texts = Vec::new();
    add(text.trim_start_matches('\u{feff}').parse().ok()?, &mut texts);
    Some(texts)
}

#[test]
fn calls_with_any_spacing_are_removed() {
    let texts = texts();
    let wrong: Vec<String> = texts
        .par_iter()
        .enumerate()
        .filter_map(|(index, (path, text))| {
            let options = options(index);
            let instrumented = instrumented(text, &options)?;
            let moved = spaced(&instrumented, index as u64)?;
            let stripped = match try_strip(moved.as_bytes()) {
                Ok(stripped) => String::from_utf8(stripped.text).unwrap(),
                Err(refusal) => return Some(format!("{}: {refusal}", path.display())),
            };
            let same = without_blanks(&stripped) == without_blanks(text) && tokens(&stripped) == tokens(text);
            keep(!same, index, &[text, &moved, &stripped]);
            (!same).then(|| format!("{}: other tokens", path.display()))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), texts.len(), wrong.join("\n"));
}

/// Keeps the texts of a failure for inspection.
fn keep(wrong: bool, of: usize, texts: &[&str]) {
    if let (true, Some(dir)) = (wrong, std::env::var_os("XHIST_KEEP")) {
        for (index, text) in texts.iter().enumerate() {
            std::fs::write(Path::new(&dir).join(format!("{of}-{index}.rs")), text).unwrap();
        }
    }
}

/// The text formatted by rustfmt; `None` if rustfmt fails.
fn formatted(text: &str, edition: &str) -> Option<String> {
    let mut command = Command::new("rustfmt");
    command.args(["--edition", edition, "--emit", "stdout"]).current_dir(env!("CARGO_TARGET_TMPDIR"));
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("rustfmt is installed");
    let mut stdin = child.stdin.take().unwrap();
    let input = text.to_owned();
    let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

#[test]
fn calls_formatted_by_rustfmt_are_removed() {
    let texts = texts();
    let results: Vec<(bool, Option<String>)> = texts
        .par_iter()
        .enumerate()
        .filter_map(|(index, (path, text))| {
            let options = options(index);
            let edition = if options.edition2015 { "2015" } else { "2021" };
            let original = formatted(text, edition)?;
            let instrumented = instrumented(&original, &options)?;
            let moved = formatted(&instrumented, edition)?;
            let stripped = match try_strip(moved.as_bytes()) {
                Ok(stripped) => String::from_utf8(stripped.text).unwrap(),
                Err(refusal) => return Some((false, Some(format!("{}: {refusal}", path.display())))),
            };
            let stable = formatted(&original, edition)? == original;
            let again = formatted(&stripped, edition).unwrap_or_default();
            let wrong = tokens(&stripped) != tokens(&original);
            keep(wrong || stable && again != original, index, &[&original, &moved, &stripped, &again]);
            let what = wrong.then(|| format!("{}: other tokens", path.display()));
            Some((again == original || !stable, what))
        })
        .collect();
    let wrong: Vec<&String> = results.iter().filter_map(|(_, wrong)| wrong.as_ref()).collect();
    let same = results.iter().filter(|(same, _)| *same).count();
    println!("{} texts: {same} the same byte for byte after rustfmt", results.len());
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), results.len());
    // rustfmt itself drops empty lines before attributes, and keeps what it cannot format. Some fixtures hold such
    // code.
    assert!(same * 100 >= results.len() * 90, "{same} of {} are the same", results.len());
}

#[test]
fn texts_without_calls_stay_unchanged() {
    for (path, text) in texts() {
        let stripped = try_strip(text.as_bytes()).unwrap_or_else(|left| panic!("{}: {left}", path.display()));
        assert!(stripped.first.is_none() && stripped.text == text.as_bytes(), "{}", path.display());
        assert_eq!(strip(text.as_bytes()), text.as_bytes());
    }
}

/// rustfmt writes no comma behind an arm that is a block. Without the braces of the call, the arm needs it again.
#[test]
fn an_arm_has_its_comma_again() {
    let text = "fn f(a: &[u8], g: fn() -> u8) -> u8 {
    match a.len() {
        0 => match a[..] {
            [] => g(),
            _ => 1,
        },
        1 => unsafe {
            let b = g();
            b + 1
        },
        2 => loop {
            break g();
        },
        3 => if a[0] == a[1] { g() } else { a[0] },
        _ => 2,
    }
}
";
    let original = formatted(text, "2021").expect("it is formatted");
    for index in [0, 2] {
        let instrumented = instrumented(&original, &options(index)).expect("it is instrumented");
        let moved = formatted(&instrumented, "2021").expect("it is formatted");
        let stripped = try_strip(moved.as_bytes()).expect("calls that are removed").text;
        let stripped = String::from_utf8(stripped).unwrap();
        assert_eq!(tokens(&stripped), tokens(&original), "{stripped}");
        assert_eq!(formatted(&stripped, "2021").as_ref(), Some(&original));
    }
}
