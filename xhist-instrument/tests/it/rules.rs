//! Statements in the rules of macros: where they get calls, where not, and that no call stays behind.

use std::collections::HashSet;
use xhist_instrument::{
    Macros, Numbers, Options, Reason, analyze, analyze_freed, instrument, removable, strip,
};

/// The text with calls in its rules, each call as `|`. Without the calls it is the text again.
fn with_calls(text: &str) -> String {
    let options = Options::default();
    let macros = Macros::default();
    let mut analysis =
        analyze_freed(text.as_bytes(), &[], &HashSet::new(), &options, &macros).expect("it parses");
    assert!(analysis.sites.iter().all(|site| site.checks), "the code around a call counts on its room");
    analysis.give_recorder();
    let numbers = Numbers { ids: vec![1], first: 1, values: 1 };
    let result = instrument(text.as_bytes(), &analysis, &numbers, &options).expect("a text");
    assert_eq!(String::from_utf8(strip(&result)).expect("a text"), text);
    let mut result = String::from_utf8(result).expect("a text");
    result = result.replacen("#[doc(hidden)]pub extern crate xhist_rt as __xhist_rt;", "", 1);
    while let Some(at) = result.find("$crate::__xhist_rt::") {
        let end = at + result[at..].find(");").expect("its end") + 2;
        result.replace_range(at..end, "|");
    }
    assert!(!result.contains("xhist_rt"), "{result}");
    result.replace("/*xh*/", "")
}

#[test]
fn items_at_the_head_of_a_crate_are_removed_again() {
    let item = qs_core::inserted::RECORD_OUTPUT;
    for text in [
        "mod a;\n",
        "\nuse a::b;\n",
        "\n\n// Here.\nuse a::b;\n",
        "#![allow(x)]\n\n/// What it is.\nmod a;\n",
        "//! About.\n#![allow(x)]\n\n#[cfg(a)]\nmod a;\n",
        "#!/bin/x\nfn main() { a() }\n",
        "#!/bin/x\n\nfn main() { a() }\n",
    ] {
        for gives_recorder in [false, true] {
            let options = Options::default();
            let mut analysis = analyze(text.as_bytes(), &options).expect("it parses");
            analysis.record_output();
            if gives_recorder {
                analysis.give_recorder();
            }
            let numbers = Numbers { ids: vec![1], first: 1, values: 1 };
            let result = instrument(text.as_bytes(), &analysis, &numbers, &options).expect("a text");
            let result = String::from_utf8(result).expect("a text");
            assert!(result.contains(item) && result.lines().count() == text.lines().count(), "{result}");
            assert_eq!(strip(result.as_bytes()), text.as_bytes());
            // What only looks like it is the user's.
            let other = result.replace("println,", "");
            let left = String::from_utf8(strip(other.as_bytes())).expect("a text");
            assert!(left.contains("__xhist_out"), "{left}");
        }
    }
}

/// A macro with one rule.
fn rule(matcher: &str, body: &str) -> String {
    format!("macro_rules! m {{ ({matcher}) => {{{body}}}; }}")
}

/// `body` has `|` where calls are expected.
#[track_caller]
fn assert_rule(matcher: &str, body: &str) {
    let plain = body.replace("{|", "{").replace('|', "");
    let is_wrapped = body.contains("=> {|");
    let plain = if is_wrapped { plain.replace("=> {", "=> ").replace("},", ",") } else { plain };
    assert_eq!(with_calls(&rule(matcher, &plain)), rule(matcher, body));
}

#[test]
fn statements_of_a_block_get_calls() {
    assert_rule("$a:expr", "{ |let a = $a; |f(a); |a }");
    assert_rule("$a:expr", "{ |if $a { |return; } |$a }");
    assert_rule("$a:expr", "if $a { |f(); } else { |g() }");
    assert_rule("$a:expr, $t:ty", "match $a { 1 => {|<$t>::f()}, _ => {|$a + 1}, }");
    assert_rule("$a:ident", "|let $a = 1; |f($a);");
    assert_rule("$a:block", "{ |loop { |f(); |break $a; } }");
}

#[test]
fn functions_in_a_rule_get_calls() {
    assert_rule("$t:ty", "impl T for $t { const A: u8 = { f() }; fn f(&self) { |g(); } }");
    assert_rule("$($n:ident)*", "$(pub fn $n(&self) -> u8 { |1 })*");
    assert_rule("$v:vis $n:ident", "$v fn $n() { |1 } const fn g() { 1 }");
}

#[test]
fn nothing_precedes_what_may_be_an_expression() {
    for body in ["f($a)", "f($a);", "$a + 1", "g!($a);", "$a"] {
        assert_rule("$a:expr", body);
    }
}

#[test]
fn tokens_of_other_macros_are_left_alone() {
    assert_rule("$a:expr", "{ |g!({ let a = $a; a }); |println!(\"{}\", { |f(); |1 }); }");
    assert_rule("$n:ident", "macro_rules! $n { ($b:expr) => {{ let b = $b; b }}; }");
    assert_rule("$a:expr", "#[a({ b(); })] fn f() { |$a }");
}

#[test]
fn arguments_of_the_programs_own_macros_are_tokens_in_a_rule() {
    let own = "macro_rules! own { ($($t:tt)*) => { $($t)* }; }\n";
    let body = "{ |f(); own!({ let a = $a; a }) }";
    let wanted = rule("$a:expr", body.replace("own!", "|own!").as_str());
    assert_eq!(
        with_calls(&(own.to_owned() + &rule("$a:expr", &body.replace('|', "")))),
        own.to_owned() + &wanted
    );
}

#[test]
fn repetitions_keep_their_statements_inside() {
    assert_rule("$($a:expr),*", "{ $(|f($a);)* |g($($a),*) }");
    assert_rule("$($a:expr),*", "fn f() { $(f($a)) && * }");
    assert_rule("$($a:expr),*", "fn f() { $(-f($a))* }");
    assert_rule("$($a:expr),*", "fn f() { $(|f($a));* }");
    assert_rule("$($a:expr),*", "fn f() { $(|if $a { |g(); })* }");
    assert_rule("$($a:expr),*", "{ |x; $(if $a { |f() } else)* { |g() } }");
    assert_rule("$($(#[$m:meta])* $a:expr);*", "{ |x; $($(#[$m])* let b = $a;)* |y }");
}

#[test]
fn what_may_be_anything_begins_no_statement() {
    assert_rule("$($t:tt)*", "{ $($t)* }");
    assert_rule("$t:tt, $s:stmt, $b:block", "{ |f(); $s; $t; $b }");
    assert_rule("$c:meta", "{ #[cfg($c)] let a = 1; |f() }");
}

#[test]
fn a_task_that_waits_is_the_callers() {
    assert_rule("$a:expr", "{ let a = $a.await; a }");
}

#[test]
fn in_place_rules_stay_as_they_are() {
    let text = rule("$a:expr", "{ let a = $a; a }");
    let analysis = analyze(text.as_bytes(), &Options::default()).expect("it parses");
    assert_eq!((analysis.sites.len(), analysis.skips[0].reason), (0, Reason::MacroDefinition));
    assert_eq!(analysis.skips[0].statements, 2);
}

/// The macros that these files must leave as they are.
fn kept(texts: &[&str], refused: &[&str]) -> Vec<String> {
    let noted: Vec<_> =
        texts.iter().map(|text| analyze(text.as_bytes(), &Options::default()).expect("it parses")).collect();
    let noted: Vec<_> = noted.iter().map(|analysis| analysis.constness()).collect();
    let refused = refused.iter().map(|name| (*name).to_owned()).collect();
    let mut kept: Vec<String> = removable(&noted, &refused).kept_macros.into_iter().collect();
    kept.sort();
    kept
}

#[test]
fn each_const_context_keeps_the_macros_that_it_calls() {
    for context in [
        "const X: u8 = m!();",
        "static X: u8 = a::m!();",
        "type X = [u8; m!()];",
        "fn g() { let x = [0; m!()]; }",
        "enum E { A = m!() }",
        "fn g() { h::<{ m!() }>(); }",
        "fn g() { const { m!() } }",
        "trait T { const X: u8 = m!(); }",
        "fn g() { const X: u8 = { f(m!()) }; }",
        "thread_local! { static X: u8 = m!(); }",
        "other! { const X: u8 = m!(); }",
        "fn g() { other!(const { m!() }) }",
        "macro_rules! n { () => { const X: u8 = m!(); } }",
        "const fn f() -> u8 { m!() } const X: u8 = f();",
        "use b::m as n; const X: u8 = n!();",
        "/// `const X: u8 = m!();`\nstruct S;",
    ] {
        assert!(kept(&[context], &[]).contains(&"m".to_owned()), "{context}");
    }
    for context in
        ["fn g() { m!() }", "m! {}", "const fn f() { m!() }", "other!(m!());", "const X: fn() = f;"]
    {
        assert!(!kept(&[context], &[]).contains(&"m".to_owned()), "{context}");
    }
}

#[test]
fn what_a_kept_macro_calls_is_kept() {
    let text = "macro_rules! a { () => { b!(c!()) } } macro_rules! b { () => { d!() } } macro_rules! e { () => { f!() } }";
    assert_eq!(kept(&[text], &[]), [""; 0]);
    assert_eq!(kept(&[text, "const X: u8 = a!();"], &[]), ["a", "b", "c", "d"]);
    assert_eq!(kept(&[text], &["e!", "a"]), ["e", "e!", "f"]);
}

#[test]
fn a_kept_macro_is_listed_with_its_reason() {
    let sites = |body: &str, kept: &str| {
        let (text, kept) = (rule("$a:expr", body), HashSet::from([kept.to_owned()]));
        let analysis = analyze_freed(text.as_bytes(), &[], &kept, &Options::default(), &Macros::default());
        let analysis = analysis.expect("it parses");
        assert!(analysis.skips.iter().all(|skip| skip.reason == Reason::ConstMacro));
        analysis.sites.len()
    };
    assert_eq!(sites("{ let a = $a; a }", "m"), 0);
    // A function is no part of the constant around it.
    assert_eq!(sites("fn f() { $a }", "m"), 1);
    assert_eq!(sites("fn f() { $a }", "m!"), 0);
}
