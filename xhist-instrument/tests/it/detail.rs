//! Which statements are entries, the only ones that `--detail function` records.

use qs_core::inserted::StatementNumber;
use qs_core::record::Statement;
use xhist_instrument::{
    Action, Detail, MainHash, Numbers, Options, Tasks, Trigger, Values, When, analyze, instrument, parses,
    strip,
};

const FUNCTION: Options = Options {
    edition2015: false,
    detail: Detail::Function,
    when: When::Before,
    tasks: Tasks::On,
    main_hash: MainHash::None,
    triggers: false,
    values: Values::Off,
    main_values: false,
    watches: false,
};

/// The text with each call shortened to `<name number>`.
fn marked(text: &str, options: &Options) -> String {
    let analysis = analyze(text.as_bytes(), options).unwrap_or_else(|refusal| panic!("{refusal}: {text}"));
    let numbers = Numbers { ids: vec![1], first: 1, values: 1 };
    let result = instrument(text.as_bytes(), &analysis, &numbers, options).unwrap();
    let number_of = |argument: &str| {
        let line: u16 = u16::from_str_radix(argument.split('_').nth(1).unwrap(), 16).unwrap();
        let is =
            |number: &u32| StatementNumber::new(Statement { file: 1, line }, *number).to_string() == argument;
        (1..100).find(is).unwrap()
    };
    parses(&result).unwrap();
    assert_eq!(strip(&result), text.as_bytes());
    let result = String::from_utf8(result).unwrap();
    let mut parts = result.split("::xhist_rt::");
    let mut marked = parts.next().unwrap().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('(').unwrap();
        let (argument, behind) = rest.split_once(");").unwrap();
        marked += &format!("<{name} {}>{behind}", number_of(argument));
    }
    marked.replace("/*xh*/", "")
}

/// `@` marks the expected calls.
#[track_caller]
fn assert_entries(expected: &str) {
    let found = marked(&expected.replace('@', ""), &FUNCTION);
    let shown = (1..100).fold(found.clone(), |text, number| text.replace(&format!("<e {number}>"), "@"));
    assert_eq!(shown, expected);
}

#[test]
fn a_function_records_its_first_statement() {
    assert_entries("fn f() { @a(); b(); if c { d(); } loop { g(); } match h { 1 => i, _ => { j() } } }");
    assert_entries("impl X { fn f(&self) { @a() } } trait Y { fn g() { @b(); c() } fn h(); }");
    assert_entries("fn f() { let x; use y; fn g() { @i(); } @x = 1; a(); }");
    assert_entries("async fn f() { @a().await; b().await; }");
    assert_entries("fn f() { @if a { b() } else if c { d() } else {} e() } fn g() {}");
    assert_entries("const fn f() { a(); } const X: u8 = { b(); 1 };");
}

#[test]
fn closures_with_a_block_and_async_blocks_have_entries() {
    assert_entries("fn f() { @a(|x| x + 1, |y| { @b(); c() }, move || {@}); d() }");
    assert_entries("fn f() { @a(|x| if x { b() } else { c() }, |y| match y { _ => { d() } }); }");
    assert_entries("fn f() { @a(async { @b().await; c() }, async move { @loop { d() } }); }");
    assert_entries("fn f() { @a(|x| unsafe { @b(); c() }, || async { @d() }); }");
    assert_entries("static F: fn() = || { @a(); b() };");
}

#[test]
fn an_entry_under_cfg_is_followed_by_another() {
    let text = "fn f() { #[cfg(x)] a(); b(); c(); }";
    assert_eq!(marked(text, &FUNCTION), "fn f() { #[cfg(x)] <ce 1>#[cfg(x)] a(); <e 2>b(); c(); }");
}

#[test]
fn a_switched_off_first_statement_is_not_the_entry() {
    assert_entries("fn f() {\n// xhist instrument FALSE\na();\n// xhist instrument TRUE\n@b();\nc(); }");
}

#[test]
fn entries_in_arguments_of_macros_are_found() {
    assert_entries("macro_rules! m { ($e:expr) => { $e } }\nfn f() { @m!(g(|| { @a(); b() })); }");
    assert_entries("macro_rules! m { ($($t:tt)*) => { $($t)* } }\nm! { fn f() { @a(); b(); } }");
}

#[test]
fn statements_keep_their_numbers_and_are_all_in_the_map() {
    let text = "fn f() { a(); b(); } fn g() { c(); d(); }";
    assert_eq!(marked(text, &FUNCTION), "fn f() { <e 1>a(); b(); } fn g() { <e 3>c(); d(); }");
    let recorded = |detail| {
        let analysis = analyze(text.as_bytes(), &Options { detail, ..FUNCTION }).unwrap();
        analysis.sites.iter().map(|site| site.recorded).collect::<Vec<_>>()
    };
    assert_eq!(recorded(Detail::Function), [true, false, true, false]);
    assert_eq!(recorded(Detail::Statement), [true; 4]);
}

#[test]
fn entries_are_recorded_before_their_statement() {
    let after = Options { when: When::After, ..FUNCTION };
    let text = "fn f() { a(); b(); c() }";
    assert_eq!(marked(text, &after), marked(text, &FUNCTION));
}

#[test]
fn a_statement_with_a_trigger_is_recorded_and_checks() {
    let text = "fn f() { loop { a(); b(); } }";
    let mut analysis = analyze(text.as_bytes(), &FUNCTION).unwrap();
    let site = analysis.sites.iter().position(|site| text[site.range.clone()].starts_with('b')).unwrap();
    analysis.add_trigger(Trigger { site, number: 0, hit: 1, action: Action::Stop { after: 0 } });
    let result =
        instrument(text.as_bytes(), &analysis, &Numbers { ids: vec![1], first: 1, values: 1 }, &FUNCTION)
            .unwrap();
    let expected = "fn f() { ::xhist_rt::e(0x1_0001_0201);loop { a(); ::xhist_rt::e(0x1_0001_0401);::xhist_rt::stop_at(0,1,0);b(); } }";
    assert_eq!(String::from_utf8(result).unwrap(), expected);
}
