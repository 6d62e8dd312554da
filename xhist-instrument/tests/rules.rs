//! Statements in the rules of macros: where they get calls, where not, and that no call stays behind.

use xhist_instrument::{
    Detail, Macros, MainHash, Numbers, Options, Reason, Tasks, Values, When, analyze, analyze_among,
    instrument, strip,
};

/// Those of `cargo xhist`, with a recorder that a `const fn` may call.
const OPTIONS: Options = Options {
    constants: true,
    rules: true,
    edition2015: false,
    detail: Detail::Statement,
    when: When::Before,
    tasks: Tasks::On,
    values: Values::Off,
    main_hash: MainHash::None,
    main_values: false,
    triggers: false,
    watches: false,
};

/// The text with calls in its rules, each call as `|`. Without the calls it is the text again.
fn with_calls(text: &str) -> String {
    let mut analysis = analyze(text.as_bytes(), &OPTIONS).expect("it parses");
    assert!(analysis.sites.iter().all(|site| site.checks), "the code around a call counts on its room");
    analysis.give_recorder();
    let numbers = Numbers { ids: vec![1], first: 1, values: 1 };
    let result = instrument(text.as_bytes(), &analysis, &numbers, &OPTIONS).expect("a text");
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
    assert_rule("$v:vis $n:ident", "$v fn $n() { |1 } const fn g() { |1 }");
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

#[test]
fn a_refused_macro_is_listed_with_its_reason() {
    let (text, mut macros) = (rule("$a:expr", "{ let a = $a; a }"), Macros::default());
    let found = |macros: &Macros| analyze_among(text.as_bytes(), &OPTIONS, macros).expect("it parses");
    macros.refuse("other");
    assert_eq!(found(&macros).sites.len(), 2);
    macros.refuse("m");
    let analysis = found(&macros);
    assert_eq!((analysis.sites.len(), analysis.skips[0].reason), (0, Reason::RefusedMacro));
}

#[test]
fn a_const_function_that_may_call_the_recorder_gets_calls() {
    let text = "const fn f() -> u8 { 1 }\npub const unsafe fn g() { let a = 1; }\nconst X: u8 = { let a = 1; a };\n\
        #[rustversion::attr(since(1.60), const)] fn h() { f() }\n#[rustc_const_stable(since = \"1\")] const fn i() { f() }\n";
    let lines = |options: &Options| -> Vec<u32> {
        let analysis = analyze(text.as_bytes(), options).expect("it parses");
        let numbers = Numbers { ids: vec![1], first: 1, values: 1 };
        let result = instrument(text.as_bytes(), &analysis, &numbers, options).expect("a text");
        assert_eq!(String::from_utf8(strip(&result)).expect("a text"), text);
        analysis.sites.iter().map(|site| site.line).collect()
    };
    assert_eq!(lines(&OPTIONS), [1, 2, 4]);
    assert_eq!(lines(&Options::default()), [0; 0]);
}

#[test]
fn values_of_a_const_function_are_recorded_with_its_statements() {
    let text = "const fn f(x: u8) -> u8 { let y = x; y }\n";
    let values = |constants: bool| {
        let options = Options { values: Values::Eight, constants, ..Options::default() };
        analyze(text.as_bytes(), &options).expect("it parses").values.len()
    };
    assert_eq!((values(true), values(false)), (2, 0));
}
