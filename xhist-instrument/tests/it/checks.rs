//! Which calls check for room: those named `e`, `ae`, `pe` and `ce`. The others write without a check.

use xhist_instrument::{Numbers, Options, Tasks, Values, When, analyze, instrument, strip};

/// The text with each call shortened to `<name>`.
fn marked_with(text: &str, options: &Options) -> String {
    let analysis = analyze(text.as_bytes(), options).unwrap_or_else(|refusal| panic!("{refusal}: {text}"));
    let numbers = Numbers { ids: vec![1], first: 1, values: 1 };
    let result = instrument(text.as_bytes(), &analysis, &numbers, options).unwrap();
    assert_eq!(strip(&result), text.as_bytes());
    let result = String::from_utf8(result).unwrap();
    let mut marked = String::new();
    for (index, part) in result.split("::xhist_rt::").enumerate() {
        match part.split_once('(').filter(|_| index > 0) {
            Some((name, rest)) => {
                let (_, behind) = rest.split_once(");").unwrap();
                marked.push_str(&format!("<{name}>{behind}"));
            }
            None => marked.push_str(part),
        }
    }
    marked.replace("/*xh*/", "")
}

fn marked(text: &str) -> String {
    marked_with(text, &Options { tasks: Tasks::Off, ..Options::default() })
}

/// For texts without wrapped expressions and attributes, where the names are the only insertions.
#[track_caller]
fn assert_marked(expected: &str) {
    assert_eq!(marked(&expected.replace("<s>", "").replace("<e>", "")), expected);
}

#[test]
fn the_entry_of_a_function_checks() {
    assert_marked("fn f() { <e>a(); <s>b(); }");
    assert_marked("impl X { fn f(&self) { <e>a(); <s>b() } }");
    assert_marked("trait X { fn f(&self) { <e>a(); <s>b() } }");
    assert_marked("fn f() { fn g() { <e>a(); <s>b(); } <e>c(); <s>d(); }");
    assert_marked("fn f() { let x; use y; <e>x = 1; <s>b(); }");
}

#[test]
fn the_entry_of_a_closure_and_of_an_async_block_checks() {
    assert_eq!(
        marked("fn f() { a(); g(|| b(), || { c(); d() }); e() }"),
        "fn f() { <e>a(); <s>g(|| {<ae>b()}, || { <e>c(); <s>d() }); <s>e() }"
    );
    assert_marked("fn f() { <e>a(); <s>g(async { <e>b(); <s>c() }); <s>d() }");
    assert_eq!(marked("fn f() { a(|| {x} + 1) }"), "fn f() { <e>a(|| {<pe>({<s>x} + 1)}) }");
}

#[test]
fn the_first_statement_of_each_loop_checks() {
    assert_marked("fn f() { <e>a(); <s>loop { <e>b(); <s>c(); } }");
    assert_marked("fn f() { <e>a(); <s>while x { <e>b(); <s>c(); } <s>d() }");
    assert_marked("fn f() { <e>a(); <s>for _ in x { <e>b(); <s>c(); } <s>d() }");
    assert_marked("fn f() { <e>a(); <s>while { <e>b(); <s>c() } {<e>} }");
    assert_marked("fn f() { <e>a(); <s>loop { fn g() { <e>x() } <e>if y { <s>break; } } }");
}

#[test]
fn blocks_that_run_at_most_once_do_not_check() {
    assert_marked(
        "fn f() { <e>a(); <s>if x { <s>b(); } else { <s>c(); } <s>{ <s>d(); } <s>unsafe { <s>g() } }",
    );
    assert_eq!(
        marked("fn f() { a(); match x { 1 => b(), _ => { c() } } }"),
        "fn f() { <e>a(); <s>match x { 1 => {<a>b()}, _ => { <s>c() } } }"
    );
    assert_eq!(
        marked("fn f() { a(); if x { b() } else if y { c() } else { d() } }"),
        "fn f() { <e>a(); <s>if x { <s>b() } else {<a>if y { <s>c() } else { <s>d() }} }"
    );
}

#[test]
fn a_check_under_cfg_is_repeated() {
    assert_eq!(
        marked("fn f() { #[cfg(x)] a(); #[cfg(y)] b(); c(); #[cfg(z)] d(); g() }"),
        "fn f() { #[cfg(x)] <ce>#[cfg(x)] a(); #[cfg(y)] <ce>#[cfg(y)] b(); <e>c(); #[cfg(z)] <c>#[cfg(z)] d(); <s>g() }"
    );
}

#[test]
fn the_statement_after_an_await_or_a_yield_checks() {
    assert_marked("async fn f() { <e>a().await; <e>b(); <s>c(); }");
    assert_marked("async fn f() { <e>a(); <s>if x { <s>b().await; <e>c(); <s>d(); } <e>g(); <s>h(); }");
    assert_eq!(
        marked("async fn f() { a(); match b().await { 1 => c(), _ => { d(); e() } } g(); h() }"),
        "async fn f() { <e>a(); <s>match b().await { 1 => {<ae>c()}, _ => { <e>d(); <s>e() } } <e>g(); <s>h() }"
    );
    // A function of another module.
    assert_marked("fn f() { <e>a(async { <e>b().await }); <s>c(); }");
    assert_marked("fn f() { <e>a(); <s>yield b; <e>c(); <s>d(); }");
    // A macro of unknown rules may expand to an `.await`; macros of the standard library do not.
    assert_marked("async fn f() { <e>a(); <s>wait!(b); <e>c(); <s>println!(\"{}\", d); <s>g(); }");
    assert_marked("async fn f() { <e>a(); <s>println!(\"{}\", b.await); <e>c(); <s>d(); }");
    assert_marked("fn f() { <e>a(); <s>wait!(b); <s>c(); }");
}

#[test]
fn the_statement_after_a_recursive_call_checks() {
    assert_marked("fn f() { <e>a(); <s>f(); <e>b(); <s>c(); }");
    assert_marked("impl X { fn f(&self) { <e>a(); <s>if x { <s>self.y.f(); } <e>b(); <s>c(); } }");
    assert_marked("impl X { fn f() { <e>Self::f(); <e>b(); <s>g(); } }");
    assert_marked("fn f() { <e>a(); <s>println!(\"{}\", f(1)); <e>b(); <s>g(f); <s>c(); }");
    assert_marked("fn f() { fn g() { <e>f(); <s>a(); } <e>g(); <s>a(); }");
    assert_eq!(
        marked("fn f() { a(|| { f(); b() }); c(); d() }"),
        "fn f() { <e>a(|| { <e>f(); <e>b() }); <s>c(); <s>d() }"
    );
}

#[test]
fn blocks_in_the_arguments_of_a_macro_check() {
    let rules = "macro_rules! m { ($b:block) => { loop { $b } } }\n";
    assert_marked(&format!("{rules}fn f() {{ <e>a(); <s>m!({{ <e>b(); <s>c(); }}); <s>d(); }}"));
    assert_marked("fn f() { <e>a(); <s>println!(\"{}\", { <e>b(); <s>c() }); <s>d(); }");
    let statements = "macro_rules! m { ($($t:tt)*) => { { $($t)* } } }\n";
    assert_marked(&format!("{statements}fn f() {{ <e>a(); <s>m! {{ <e>b(); <s>c(); }} <s>d(); }}"));
}

#[test]
fn the_statement_after_switched_off_lines_checks() {
    assert_marked(
        "fn f() {\n<e>a();\n// xhist instrument FALSE\nb();\n// xhist instrument TRUE\n<e>c();\n<s>d();\n}",
    );
}

#[test]
fn every_statement_recorded_after_it_ran_checks() {
    let options = Options { when: When::After, ..Options::default() };
    assert_eq!(
        marked_with("fn f() { a(); if x { b(); } c() }", &options),
        "fn f() { a();<e> if x { b();<e> }<e> <e>c() }"
    );
}

#[test]
fn one_in_500_consecutive_calls_checks() {
    let numbers_of = |text: &str| -> Vec<usize> {
        let analysis = analyze(text.as_bytes(), &Options::default()).unwrap();
        let checks = analysis.sites.iter().enumerate().filter(|(_, site)| site.checks);
        checks.map(|(index, _)| index).collect()
    };
    let row = |times: usize| "a();".repeat(times);
    assert_eq!(numbers_of(&format!("fn f() {{ {} }}", row(1600))), [0, 500, 1000, 1500]);
    // A loop that is skipped runs none of its checks.
    let beside = format!("fn f() {{ {} if x {{ loop {{ b() }} }} {} }}", row(400), row(400));
    assert_eq!(numbers_of(&beside), [0, 402, 501]);
    assert_eq!(numbers_of(&format!("fn f() {{ {} }} fn g() {{ {} }}", row(400), row(400))), [0, 400]);
    // A check under `cfg` does not count.
    let cfg = format!("fn f() {{ {} #[cfg(x)] b(); c(); d(); }}", row(500));
    assert_eq!(numbers_of(&cfg), [0, 500, 501]);
}

#[test]
fn statements_are_numbered_in_the_order_of_the_text() {
    let text = "fn f() { a(); g(|| b()); #[cfg(x)] c(); }\nfn h() { d(); d(); }";
    let options = Options::default();
    let analysis = analyze(text.as_bytes(), &options).unwrap();
    let result =
        instrument(text.as_bytes(), &analysis, &Numbers { ids: vec![3], first: 70, values: 1 }, &options)
            .unwrap();
    assert_eq!(
        str::from_utf8(&result).unwrap(),
        "fn f() { ::xhist_rt::e(0x3_0001_4701);a(); ::xhist_rt::s(0x3_0001_4801);g(|| {::xhist_rt::ae(0x3_0001_4901);b()/*xh*/}); \
         /*xh*/#[cfg(x)] ::xhist_rt::c(0x3_0001_4a01);#[cfg(x)] c(); }\n\
         fn h() { ::xhist_rt::e(0x3_0002_4b01);d(); ::xhist_rt::s(0x3_0002_4c01);d(); }"
    );
}

#[test]
fn values_count_as_several_statements() {
    let text = format!("fn f() {{ {} }}", "let x = y(); ".repeat(100));
    let checks = |values| {
        let options = Options { values, ..Options::default() };
        let analysis = analyze(text.as_bytes(), &options).unwrap();
        analysis.sites.iter().filter(|site| site.checks).count()
    };
    let counts = [Values::Off, Values::Eight, Values::ThirtyTwo, Values::Targets].map(checks);
    assert_eq!(counts, [1, 2, 5, 10]);
    // More names than there is room for behind one statement.
    let names: Vec<String> = (0..20).map(|number| format!("x{number}")).collect();
    let text = format!("fn f() {{ let ({}) = y(); }}", names.join(", "));
    let options = Options { values: Values::Targets, ..Options::default() };
    let analysis = analyze(text.as_bytes(), &options).unwrap();
    assert_eq!((analysis.values.len(), analysis.value_skips.len()), (10, 10));
}
