//! Where the task of an async body begins, and before which statements it goes on.

use xhist_instrument::{Detail, Numbers, Options, Tasks, When, analyze, instrument, parses, strip};

/// The text with `<T>` where a task begins and `<R>` where it goes on, without other calls.
fn marked_with(text: &str, options: &Options) -> String {
    let analysis = analyze(text.as_bytes(), options).unwrap_or_else(|refusal| panic!("{refusal}: {text}"));
    let numbers = Numbers { ids: vec![1], first: 1, values: 1 };
    let result = instrument(text.as_bytes(), &analysis, &numbers, options).unwrap();
    parses(&result).unwrap();
    assert_eq!(strip(&result), text.as_bytes());
    let mut result = String::from_utf8(result).unwrap();
    result =
        result.replace("let __xh_task=::xhist_rt::t();", "<T>").replace("::xhist_rt::r(&__xh_task);", "<R>");
    while let Some(at) = result.find("::xhist_rt::") {
        let end = at + result[at..].find(';').unwrap() + 1;
        result.replace_range(at..end, "");
    }
    result
}

/// The text is as given, without other insertions.
#[track_caller]
fn assert_marked(expected: &str) {
    assert_eq!(marked_with(&expected.replace("<T>", "").replace("<R>", ""), &Options::default()), expected);
}

#[test]
fn a_task_begins_before_the_first_statement_and_goes_on_behind_each_await() {
    assert_marked("async fn f() { <T>a(); b().await; <R>c(); d(); }");
    assert_marked("async fn f() { const A: u8 = 1; fn g() {} <T>a(); b().await }");
    assert_marked("fn f() { async { <T>a().await; <R>b() }; async move || { <T>a().await; <R>b() }; }");
    assert_marked("impl A { async fn f(&self) { let x; <T>x = a().await; <R>b(); } }");
    assert_marked("trait A { async fn f(&self) { <T>a().await; <R>b(); } }");
    assert_marked("async fn f() { <T>if a { b().await; <R>c(); } <R>d(); e(); }");
    assert_marked("async fn f() { <T>a(b().await, c().await)?; <R>d(); }");
    assert_marked("async fn f() { <T>select! { _ = a() => {} } <R>b(); }");
}

#[test]
fn a_loop_with_an_await_goes_on_at_its_head() {
    assert_marked("async fn f() { <T>for a in b { <R>c(); d().await; } <R>e(); for a in b { c(); } d(); }");
    assert_marked("async fn f() { <T>while let a = b().await { <R>c(); d(); } <R>e(); }");
    assert_marked("async fn f() { <T>loop { <R>select! {} } }");
    assert_marked("async fn f() { <T>loop { a(async { <T>b().await; }); c(); } d().await; }");
}

#[test]
fn a_body_without_an_await_of_its_own_has_no_task() {
    assert_marked("async fn f() { a(); b(); }");
    assert_marked("async fn f() { let a = async { <T>b().await; <R>c() }; d(a); }");
    assert_marked("async fn f() { let a = || { b(); c() }; d(a); }");
    assert_marked("fn f() { a(); }");
}

#[test]
fn closures_and_macros_in_a_body_do_not_use_its_task() {
    assert_marked("async fn f() { <T>a().await; <R>b(|| { c(); d() }); e(); }");
    assert_marked("async fn f() { <T>a(); select! { x = b() => { c(); } } <R>d(async { e(); }); }");
    // An async closure without a block has no place for the variable.
    let text = "fn f() { async |a| match a.await { 1 => b(), _ => c() }; }";
    let marked = marked_with(text, &Options::default());
    assert!(!marked.contains("<T>") && !marked.contains("<R>"), "{marked}");
}

#[test]
fn attributes_and_arms_are_kept() {
    let text = "async fn f() { a().await; #[cfg(x)] b(); c(); match d().await { 1 => e(), _ => { g() } } }";
    assert_eq!(
        marked_with(text, &Options::default()),
        "async fn f() { <T>a().await; /*xh*/#[cfg(x)] <R>/*xh*/#[cfg(x)] #[cfg(x)] b(); <R>c(); \
         match d().await { 1 => {<R>e()/*xh*/}, _ => { <R>g() } } }"
    );
}

#[test]
fn tasks_are_off_by_option_with_entries_only_and_after_statements() {
    let text = "async fn f() { a().await; b(); }";
    for options in [
        Options { tasks: Tasks::Off, ..Options::default() },
        Options { detail: Detail::Function, ..Options::default() },
        Options { when: When::After, ..Options::default() },
    ] {
        assert_eq!(marked_with(text, &options), text);
    }
    let off = "async fn f() { a().await;\n// xhist instrument FALSE\n}\nasync fn g() { b().await; c() }";
    assert!(!marked_with(off, &Options::default()).contains("g() { <T>"));
}
