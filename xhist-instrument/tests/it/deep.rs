//! Nesting that would overflow an ordinary stack works, or is refused with a place; it never aborts.
//! An abort here ends the whole test binary, which reveals a limit that is too high.

use rayon::prelude::*;
use xhist_instrument::{Numbers, Options, analyze, instrument, parses, strip};

use crate::sources::is_long;

/// Nests `before` .. `after` around `middle` in a function body.
fn nest(before: &str, middle: &str, after: &str, times: usize) -> String {
    format!("fn f() {{ {}{middle}{}; }}", before.repeat(times), after.repeat(times))
}

fn round_trip(text: &str) -> Result<(), String> {
    let options = Options::default();
    let analysis = analyze(text.as_bytes(), &options).map_err(|refusal| refusal.to_string())?;
    let result =
        instrument(text.as_bytes(), &analysis, &Numbers { ids: vec![1], first: 1, values: 1 }, &options)
            .map_err(|refusal| refusal.to_string())?;
    assert_eq!(strip(&result), text.as_bytes());
    parses(&result).map_err(|refusal| refusal.to_string())
}

/// One entry per recursive syntax of Rust.
const SHAPES: [(&str, &str, &str); 34] = [
    ("(", "x", ")"),
    ("[", "x", "]"),
    ("{", "x", "}"),
    ("unsafe {", "x", "}"),
    ("f(", "x", ")"),
    ("a.f(", "x", ")"),
    ("", "x", " + x"),
    ("", "x", " = x"),
    ("", "x", ".y"),
    ("", "x", ".y()"),
    ("", "x", "?"),
    ("", "x", "()"),
    ("", "x", "[0]"),
    ("", "x", " as u8"),
    ("", "x", ".await"),
    ("!", "x", ""),
    ("-", "x", ""),
    ("&", "x", ""),
    ("&mut ", "x", ""),
    ("return ", "x", ""),
    ("|| ", "x", ""),
    ("|a, b| ", "x", ""),
    ("move |a: u8| ", "x", ""),
    ("if a {} else ", "{}", ""),
    ("if a { ", "x", " }"),
    ("match a { _ => ", "x", " }"),
    ("match a { b if ", "x", " => 1 }"),
    ("loop { ", "x", " }"),
    ("let (", "x", ") = y"),
    ("let x: A<u8, ", "x", "> = y"),
    ("x::<A<u8, ", "x", ">>()"),
    ("S { a: ", "x", " }"),
    ("vec![", "x", "]"),
    ("fn g() { ", "x", " }"),
];

#[test]
fn thousands_of_levels_of_any_syntax_work_or_are_refused() {
    let levels = if is_long() { 3_000 } else { 1_000 };
    SHAPES.par_iter().for_each(|(before, middle, after)| {
        if let Err(refusal) = round_trip(&nest(before, middle, after, levels)) {
            let is_known = refusal.contains("levels deep") || refusal.contains("does not parse");
            assert!(is_known, "{before}..{after}: {refusal}");
        }
    });
}

#[test]
fn three_thousand_parentheses_work() {
    round_trip(&nest("(", "x", ")", 3_000)).unwrap();
}

#[test]
fn fifty_thousand_terms_work() {
    round_trip(&nest("", "x", " + x", 50_000)).unwrap();
}

#[test]
fn a_long_chain_of_tests_does_not_nest_as_deep() {
    let text = nest("if a { b() } else ", "{ c() }", "", 1_000);
    let options = Options::default();
    let analysis = analyze(text.as_bytes(), &options).unwrap();
    let result = String::from_utf8(
        instrument(text.as_bytes(), &analysis, &Numbers { ids: vec![1], first: 1, values: 1 }, &options)
            .unwrap(),
    )
    .unwrap();
    // Each branch records one block; the other openings nest.
    let parts = || result.split("::xhist_rt::");
    assert_eq!(
        parts()
            .filter(|part| (part.starts_with("a(") || part.starts_with("ae(")) && part.contains(");if a"))
            .count(),
        256
    );
    let ends = |part: &&str| (part.starts_with("s(") || part.starts_with("e(")) && part.contains(");b() }");
    assert_eq!(parts().filter(ends).count(), 1_000);
    assert_eq!(analysis.skips.len(), 999 - 256);
}

#[test]
fn absurd_nesting_is_refused_with_a_reason() {
    SHAPES.par_iter().for_each(|(before, middle, after)| {
        let refusal = round_trip(&nest(before, middle, after, 100_000)).unwrap_err();
        assert!(
            refusal.contains("levels deep") || refusal.contains("does not parse"),
            "{before}..: {refusal}"
        );
    });
}

/// The deepest accepted nesting, for every syntax. Slow: `cargo test -- --ignored`.
#[test]
#[ignore = "takes minutes without optimisation; run when the limit or the parser changes"]
fn the_limit_itself_is_safe() {
    for (before, middle, after) in SHAPES {
        let (mut low, mut high) = (1, 100_000);
        while high - low > 100 {
            let times = (low + high) / 2;
            match round_trip(&nest(before, middle, after, times)) {
                Err(refusal) if refusal.contains("levels deep") => high = times,
                _ => low = times,
            }
            println!("{before}..{after}: {times}");
        }
    }
}

#[test]
fn thousands_of_statements_on_a_line_work() {
    let statements = if is_long() { 60_000 } else { 10_000 };
    let text = format!("fn f() {{ {} }}", "x();".repeat(statements));
    round_trip(&text).unwrap();
}
