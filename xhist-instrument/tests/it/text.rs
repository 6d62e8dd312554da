//! Texts with unusual bytes, and generated ones.

use proptest::prelude::*;
use xhist_instrument::{
    Action, Analysis, Detail, IncludeKind, MainHash, Numbers, Options, Reason, Tasks, Trigger, ValueWatch,
    Values, When, analyze, ids_needed, instrument, parses, strip,
};

fn instrumented(text: &str) -> String {
    let options = Options::default();
    let analysis = analyze(text.as_bytes(), &options).unwrap();
    let ids: Vec<u16> = (7..).take(ids_needed(analysis.lines)).collect();
    let result =
        instrument(text.as_bytes(), &analysis, &Numbers { ids, first: 1, values: 1 }, &options).unwrap();
    assert_eq!(strip(&result), text.as_bytes());
    parses(&result).unwrap();
    String::from_utf8(result).unwrap()
}

fn refusal(text: &[u8]) -> String {
    analyze(text, &Options::default()).unwrap_err().to_string()
}

#[test]
fn a_byte_order_mark_stays_in_front() {
    assert_eq!(instrumented("\u{feff}fn f() { x() }"), "\u{feff}fn f() { ::xhist_rt::e(0x7_0001_0201);x() }");
}

#[test]
fn a_shebang_line_counts_as_a_line() {
    let text = "#!/usr/bin/env run\nfn f() { x() }\n";
    assert_eq!(instrumented(text), "#!/usr/bin/env run\nfn f() { ::xhist_rt::e(0x7_0002_0201);x() }\n");
    assert_eq!(instrumented("\u{feff}#!/x\n#![allow(a)]\n"), "\u{feff}#!/x\n#![allow(a)]\n");
}

#[test]
fn carriage_returns_stay() {
    let text = "fn f() {\r\n  let a = \"x\r\n  y\\\r\n z\";\r\n  a\r\n}\r\n";
    let expected = text
        .replace("let a", "::xhist_rt::e(0x7_0002_0201);let a")
        .replace("  a\r\n}", "  ::xhist_rt::s(0x7_0005_0301);a\r\n}");
    assert_eq!(instrumented(text), expected);
}

#[test]
fn offsets_are_bytes_and_columns_characters() {
    let text = "fn f() { let é = \"€\"; x() }";
    assert_eq!(
        instrumented(text),
        "fn f() { ::xhist_rt::e(0x7_0001_0201);let é = \"€\"; ::xhist_rt::s(0x7_0001_0301);x() }"
    );
    let analysis = analyze(text.as_bytes(), &Options::default()).unwrap();
    assert_eq!((analysis.sites[1].line, analysis.sites[1].column), (1, 23));
}

#[test]
fn lines_above_65535_use_the_next_id() {
    let text = format!("fn f() {{ a();{}b();\nc() }}", "\n".repeat(65_534));
    let result = instrumented(&text);
    assert!(
        result.contains("::xhist_rt::s(0x7_ffff_0301);b();\n::xhist_rt::s(0x8_0001_0401);c()"),
        "{}",
        &result[65_000..]
    );
}

#[test]
fn refusals_say_where_and_why() {
    assert!(refusal(b"fn f() {\n  let = 1;\n}").starts_with("2:7: does not parse: "));
    assert!(refusal(b"fn f() {\n  (").starts_with("2:3: does not parse: "));
    assert!(refusal(b"fn f() { x( }").contains("does not parse"));
    assert!(refusal(b"fn f()").starts_with("1:7: does not parse: "));
    assert!(refusal(b"fn f() {}\n// \xff").starts_with("2:4: not UTF-8"));
    assert!(refusal(b"---\n[package]\n---\nfn main() {}").starts_with("1:1: frontmatter"));
    assert!(
        refusal(b"fn f() {\n::xhist_rt::e(0x1_0002_0201);x() }").starts_with("2:1: already instrumented")
    );
    assert!(refusal(b"fn f() { x /*xh*/ }").contains("--strip"));
    assert!(
        refusal(b"fn f() {\n  ::xhist_rt::e(0x1_0002_0201);\n  x() }")
            .starts_with("2:3: already instrumented")
    );
    assert!(
        refusal(b"fn f() {\n  let a = ::xhist_rt::e(0x1_0002_0201); }")
            .starts_with("2:13: already instrumented")
    );
}

#[test]
fn a_main_in_the_arguments_of_a_known_macro_gets_the_hash_too() {
    let options = Options { main_hash: MainHash::FromEnv, ..Options::default() };
    let text = "cfg_if::cfg_if! { if #[cfg(unix)] { fn main() { x(); } } else { fn main() {} } }";
    let analysis = analyze(text.as_bytes(), &options).unwrap();
    let result =
        instrument(text.as_bytes(), &analysis, &Numbers { ids: vec![1], first: 1, values: 1 }, &options)
            .unwrap();
    let expected = text.replace("x()", "::xhist_rt::m!();::xhist_rt::e(0x1_0001_0201);x()");
    assert_eq!(String::from_utf8(result).unwrap(), expected);
    let unknown = text.replace("cfg_if", "either");
    assert!(analyze(unknown.as_bytes(), &options).unwrap().main_at.is_empty());
}

/// Start-up code of firmware calls `main`, and an attribute names the user's function.
#[test]
fn the_first_function_of_firmware_gets_the_hash_whatever_its_name_is() {
    let count = |text: &str| analyze(text.as_bytes(), &Options::default()).unwrap().main_at.len();
    assert_eq!(count("#[cortex_m_rt::entry] fn start() -> ! { loop {} }"), 1);
    assert_eq!(count("#[embassy_executor::main] async fn start(_: Spawner) { x(); }"), 1);
    let app = "#[rtic::app(device = pac)] mod app { #[init] fn init(_: init::Context) { x(); } #[task] async fn t() { y(); } }";
    assert_eq!(count(app), 1);
    assert_eq!(count(&app.replace("rtic::app", "other")), 0, "the attribute of the module decides");
    assert_eq!(count(&app.replace("#[init]", "")), 0);
    // Each test of the target is a program of its own.
    let tests = "#[embedded_test::tests] mod tests { #[init] fn init() { x(); } #[test] fn a() { y(); } #[test] async fn b() { z(); } fn c() { z(); } }";
    assert_eq!(count(tests), 3);
    assert_eq!(count(&tests.replace("embedded_test::tests", "cfg(test)")), 0);
    assert_eq!(count("mod inner { #[entry] fn start() { x(); } fn main() { x(); } }"), 0);
}

#[test]
fn calls_in_strings_and_comments_are_text() {
    let text =
        "fn f() { x(\"{::xhist_rt::ae(0x1_0002_0201);/*xh*/}\"); y() } // ::xhist_rt::s(0x1_0002_0301);";
    let expected = text
        .replace("x(", "::xhist_rt::e(0x7_0001_0201);x(")
        .replace("y(", "::xhist_rt::s(0x7_0001_0301);y(");
    assert_eq!(instrumented(text), expected);
    let rules = "macro_rules! m { () => { ::xhist_rt::e(0x1_0002_0201); } }\nfn f() { ::xhist_rt::s(x, 2); }";
    assert_eq!(instrumented(rules), rules.replace("f() { ", "f() { ::xhist_rt::e(0x7_0002_0201);"));
}

#[test]
fn a_2015_module_of_the_recorders_name_is_refused() {
    let options = Options { edition2015: true, ..Options::default() };
    let refusal = analyze(b"mod xhist_rt {}", &options).unwrap_err();
    assert_eq!((refusal.line, refusal.column), (1, 5));
}

#[test]
fn an_instrumented_text_is_refused_again() {
    let once = instrumented("fn f() { x(); (|| y)() }");
    assert!(refusal(once.as_bytes()).contains("already instrumented"));
}

#[test]
fn a_crate_without_core_is_skipped() {
    let analysis = analyze(b"#![no_core]\nfn f() { x(); y() }", &Options::default()).unwrap();
    assert!(analysis.sites.is_empty());
    assert!(analysis.skips.iter().all(|skip| skip.reason == Reason::NoCore));
    assert_eq!(analysis.skips.iter().map(|skip| skip.statements).sum::<u32>(), 2);
}

#[test]
fn const_code_of_a_nightly_compiler_is_skipped() {
    let text = b"struct S { a: u8 = { let x = 1; x }, b: fn() -> u8 = || { let y = 2; y } }";
    let analysis = analyze(text, &Options::default()).unwrap();
    assert!(analysis.skips.iter().all(|skip| skip.reason == Reason::ConstContext));
    assert_eq!((analysis.sites.len(), analysis.skips.len()), (2, 2));
}

#[test]
fn main_gets_the_hash_at_the_right_place() {
    let with_options = |text: &str, options: &Options| {
        let analysis = analyze(text.as_bytes(), options).unwrap();
        let numbers = Numbers { ids: vec![1], first: 1, values: 1 };
        let result = instrument(text.as_bytes(), &analysis, &numbers, options).unwrap();
        assert_eq!(strip(&result), text.as_bytes());
        String::from_utf8(result).unwrap()
    };
    let with = |text: &str, main_hash| with_options(text, &Options { main_hash, ..Options::default() });
    assert_eq!(with("fn main() {}", MainHash::FromEnv), "fn main() {::xhist_rt::m!();}");
    let entries = |main_hash| Options { main_hash, detail: Detail::Function, ..Options::default() };
    let with_entries = |main_hash| with_options("fn main() {}", &entries(main_hash));
    assert_eq!(with_entries(MainHash::FromEnv), "fn main() {::xhist_rt::me!();}");
    assert_eq!(with_entries(MainHash::Literal(255)), "fn main() {::xhist_rt::me(0x00000000000000ff);}");
    assert_eq!(
        with("fn main() {}", MainHash::Literal(255)),
        "fn main() {::xhist_rt::m(0x00000000000000ff);}"
    );
    assert_eq!(
        with("fn main() { fn x() {} x() }", MainHash::FromEnv),
        "fn main() { fn x() {} ::xhist_rt::m!();::xhist_rt::e(0x1_0001_0201);x() }"
    );
    for elsewhere in
        ["mod a { fn main() {} }", "impl A { fn main() {} }", "const fn main() {}", "fn f() { fn main() {} }"]
    {
        assert!(!with(elsewhere, MainHash::FromEnv).contains("::m!"), "{elsewhere}");
    }
}

#[test]
fn files_that_a_source_names_are_found() {
    let text = r##"
        mod a;
        #[path = "other.rs"] mod b;
        #[cfg_attr(unix, path = "u.rs")] mod c;
        mod inline { #[path = "deep"] mod er { mod d; } }
        cfg_if! { if #[cfg(unix)] { #[path = "x.rs"] mod e; mod f { mod r#type; } } }
        #[doc = include_str!("../README.md")] #[cfg_attr(doc, doc = include_str!("doc.md"))]
        fn g() { include!("table.rs"); println!("{:?}", include_bytes!(r"data.bin")); include!(concat!("a", "b")); }
        macro_rules! h { ($n:literal) => { include_str!(concat!("../d/e", $n)) } }
        macro_rules! modules { ($($(#[path = $p:literal])? $n:ident)*) => { $($(#[path = $p])? pub mod $n;)* } }
        modules!(i);
        modules! { #[path = "y.rs"] j }
    "##;
    let analysis = analyze(text.as_bytes(), &Options::default()).unwrap();
    let found = |name: &str| analysis.modules.iter().find(|module| module.name == name).unwrap();
    assert_eq!(analysis.modules.len(), 8);
    assert!(found("a").paths.is_empty() && found("a").line == 2);
    assert!(found("b").paths == ["other.rs"] && found("b").path_is_certain);
    assert!(found("c").paths == ["u.rs"] && !found("c").path_is_certain);
    let inside: Vec<_> =
        found("d").inside.iter().map(|module| (module.name.as_str(), module.paths.len())).collect();
    assert_eq!(inside, [("inline", 0), ("er", 1)]);
    assert_eq!(found("e").paths, ["x.rs"]);
    assert_eq!(found("type").inside[0].name, "f");
    assert!(found("i").paths.is_empty() && found("i").line == 11);
    assert_eq!(found("j").paths, ["y.rs"]);
    let includes: Vec<_> =
        analysis.includes.iter().map(|include| (include.kind, include.path.as_str())).collect();
    assert_eq!(
        includes,
        [
            (IncludeKind::Str, "../README.md"),
            (IncludeKind::Str, "doc.md"),
            (IncludeKind::Code, "table.rs"),
            (IncludeKind::Bytes, "data.bin"),
            (IncludeKind::Directory, "../d"),
        ]
    );
}

/// Fragments of Rust, and some that are not Rust.
const PIECES: [&str; 67] = [
    "fn f() {",
    "}",
    "{",
    "(",
    ")",
    "[",
    "]",
    "let x = ",
    "let Some(x) = ",
    ";",
    ",",
    "if a ",
    "else ",
    "match x {",
    "_ => ",
    "A | B if c => ",
    "|a, b| ",
    "|| ",
    "move ",
    "async ",
    "unsafe ",
    "loop ",
    "while a ",
    "for i in x ",
    "return ",
    "break ",
    "'a: ",
    "x",
    "1",
    "\"s;}\"",
    "r#\"raw\"#",
    "'c'",
    "+ ",
    "== ",
    "= ",
    ".m()",
    ".f",
    "?",
    " as T",
    "::",
    "&",
    "*",
    "!",
    "..",
    "#[cfg(a)] ",
    "#![allow(b)] ",
    "// line\n",
    "/* block */ ",
    "/// doc\n",
    "//! inner\n",
    "m! {",
    "vec![",
    "const ",
    "static S: T = ",
    "impl T {",
    "mod m {",
    "mod n;",
    "<",
    "> ",
    "\n",
    "\r\n",
    "é",
    "/*xh*/",
    "::xhist_rt::e(0x1_0002_0201);",
    "::xhist_rt::stop_at(0,1,2);",
    "// xhist instrument FALSE\n",
    "fn main() {",
];

fn close(text: &str) -> String {
    // Most random texts are unbalanced; added closing brackets make many of them parse.
    let mut open = Vec::new();
    for byte in text.bytes() {
        match byte {
            b'{' => open.push('}'),
            b'(' => open.push(')'),
            b'[' => open.push(']'),
            b'}' | b')' | b']' => drop(open.pop()),
            _ => {}
        }
    }
    text.chars().chain(open.into_iter().rev()).collect()
}

/// Programs that always parse.
fn statement() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("x();".to_owned()),
        Just("let y = 1;".to_owned()),
        Just("let z;".to_owned()),
        Just("z = a;".to_owned()),
        Just("let (mut b, ref c) = d.await;".to_owned()),
        Just("return;".to_owned()),
        Just("p!(a; b);".to_owned()),
        Just("#[cfg(a)] x();".to_owned()),
        Just("fn item() { x() }".to_owned()),
        Just("// comment }\n".to_owned()),
    ];
    leaf.prop_recursive(5, 60, 4, |inner| {
        let body = prop::collection::vec(inner, 0..4).prop_map(|statements| statements.concat());
        prop_oneof![
            body.clone().prop_map(|body| format!("{{{body}}}")),
            body.clone().prop_map(|body| format!("if a {{{body}}} else {{}}")),
            body.clone().prop_map(|body| format!("loop {{\n{body}}}")),
            body.clone().prop_map(|body| format!("fn n<T>(self, a: T, (b, c): u8) {{{body}}}")),
            body.clone().prop_map(|body| format!("for (a, b) in c {{{body}}}")),
            body.clone().prop_map(|body| format!("while let Some(a) = b && let c = d {{{body}}}")),
            body.clone().prop_map(|body| format!("if let Some(a) | None = b {{{body}}}")),
            body.clone().prop_map(|body| format!("f(|x| match x {{ 1 => {{{body}}} _ => 2 }} + x);")),
            body.clone().prop_map(|body| format!("let Some(a) = (|| async {{{body}}})() else {{{body}}};")),
            body.prop_map(|body| format!("const C: fn() = || {{{body}}};")),
        ]
    })
}

fn any_options() -> impl Strategy<Value = Options> {
    let values = prop::sample::select(vec![Values::Off, Values::Eight, Values::ThirtyTwo, Values::Targets]);
    let choices = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), values);
    choices.prop_map(|(edition2015, entries, after, hash, values)| Options {
        edition2015,
        detail: if entries { Detail::Function } else { Detail::Statement },
        when: if after { When::After } else { When::Before },
        tasks: if entries == hash { Tasks::Off } else { Tasks::On },
        main_hash: if hash { MainHash::FromEnv } else { MainHash::None },
        triggers: after != hash,
        values,
        main_values: values != Values::Off,
        watches: entries && hash,
    })
}

/// Triggers at every second statement, if the options allow triggers.
fn set_triggers(analysis: &mut Analysis, options: &Options) {
    for site in (0..analysis.sites.len()).step_by(2).filter(|_| options.triggers) {
        let number = (site % 64) as u8;
        analysis.add_trigger(Trigger { site, number, hit: 1, action: Action::Start });
        let action = Action::Stop { after: site as u32 };
        analysis.add_trigger(Trigger { site, number, hit: u32::MAX, action });
    }
    for value in (0..analysis.values.len()).filter(|_| options.watches) {
        analysis.add_watch(ValueWatch { value, number: 0, after: 1, expected: None });
    }
}

proptest! {
    #[test]
    fn any_pieces_round_trip_or_are_refused(
        picks in prop::collection::vec(0..PIECES.len(), 0..40),
        options in any_options(),
    ) {
        let text: String = picks.into_iter().map(|pick| PIECES[pick]).collect();
        for text in [close(&text), text] {
            if let Ok(mut analysis) = analyze(text.as_bytes(), &options) {
                set_triggers(&mut analysis, &options);
                let result = instrument(text.as_bytes(), &analysis, &Numbers { ids: vec![3], first: 1, values: 1 }, &options);
                prop_assert!(result.is_ok(), "{text:?}: {result:?}");
                prop_assert_eq!(strip(&result.unwrap()), text.as_bytes());
            }
        }
    }

    #[test]
    fn no_bytes_cause_a_panic(text in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = analyze(&text, &Options::default());
        let _ = strip(&text);
    }

    #[test]
    fn programs_round_trip(statements in prop::collection::vec(statement(), 0..5), options in any_options()) {
        let text = format!("fn main() {{{}}}", statements.concat());
        let mut analysis = analyze(text.as_bytes(), &options).unwrap();
        set_triggers(&mut analysis, &options);
        let result = instrument(text.as_bytes(), &analysis, &Numbers { ids: vec![3], first: 1, values: 1 }, &options).unwrap();
        prop_assert_eq!(strip(&result), text.as_bytes());
    }
}

#[test]
fn arguments_are_walked_only_if_the_macro_is_known() {
    let own = "macro_rules! info { ($($t:tt)*) => { $($t)* } }\n";
    let call =
        |text: &str| instrumented(&format!("{own}fn f() {{ {text} }}")).matches("xhist_rt::").count() - 1;
    assert_eq!(call("info!({ x(); })"), 1);
    assert_eq!(call("crate::info!({ x(); })"), 1);
    assert_eq!(call("log::info!({ x(); })"), 0);
    // The name is not enough: the source must also name the crate.
    let select = "select! { x = y => { z(); } }";
    assert_eq!(call(select), 0);
    assert_eq!(call(&format!("use tokio::select; {select}")), 1);
    assert_eq!(call(&format!("tokio::{select}")), 1);
    assert_eq!(call("crossbeam_channel::select! { recv(r) -> x => { z(); } }"), 0);
}

#[test]
fn an_endless_macro_is_skipped() {
    let again =
        "macro_rules! again { ($($t:tt)*) => { again! { $($t)* $($t)* } } }\nfn f() { again! { { x(); } } }";
    assert_eq!(instrumented(again).matches("xhist_rt").count(), 1);
    let deep = "macro_rules! deep { ($($t:tt)*) => { deep! { { $($t)* } } } }\nfn f() { deep! { { x(); } } }";
    assert_eq!(instrumented(deep).matches("xhist_rt").count(), 1);
}
