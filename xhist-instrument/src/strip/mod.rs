//! Removes what `splice` inserts, from the text alone, even after rustfmt or an editor moved it. Works on tokens:
//! comments, strings and the rules of macros stay untouched.
//!
//! ```text
//! text ─► tokens ─► calls: recognise ─► plan: tokens to remove ─► write: the text without them
//! ```

pub(crate) mod proof;

mod calls;
mod plan;
mod write;

use crate::refusal::{Obstacle, Refusal};
use crate::text::{self, Lexer, LineIndex, TokenFingerprint, TokenKind, Tokens};
use memchr::memmem;
use plan::Stuck;
use qs_core::inserted::{CRATE, MARK};

/// A text without inserted calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stripped {
    /// The text.
    pub text: Vec<u8>,
    /// File and line of each removed call.
    pub calls: Vec<(u16, u16)>,
    /// Line and column of the first removed token.
    pub first: Option<(u32, u32)>,
    /// Line and column of each comment that holds calls. Comments stay.
    pub comments: Vec<(u32, u32)>,
}

/// The text without inserted calls; the unchanged text if [`try_strip`] refuses it.
pub fn strip(text: &[u8]) -> Vec<u8> {
    try_strip(text).map_or_else(|_| text.to_vec(), |stripped| stripped.text)
}

/// The text without inserted calls. Text without any is returned unchanged.
///
/// # Errors
/// A call cannot be removed without changing the text around it. The refusal has the place of the first.
pub fn try_strip(text: &[u8]) -> Result<Stripped, Refusal> {
    if !may_hold(text) {
        return Ok(Stripped { text: text.to_vec(), ..Stripped::default() });
    }
    let start = code_start(text);
    let tokens = Tokens::new(text, start);
    let plan = plan::plan(&tokens).map_err(|stuck| refusal(&tokens, stuck))?;
    if plan.removals.is_empty() {
        return Ok(Stripped { text: text.to_vec(), ..Stripped::default() });
    }
    let (result, fingerprint) = write::write(&tokens, &plan, start);
    let first = tokens.list[plan.removals[0].0.start].range.start;
    let mut written = TokenFingerprint::new(start);
    Lexer::new(&result, start).for_each(|(_, token)| written.add(&token));
    if written != fingerprint {
        return Err(refusal(&tokens, (plan.removals[0].0.start, Obstacle::JoinsTokens)));
    }
    let calls = plan.calls.iter().filter_map(|call| call.statement).collect();
    let lines = LineIndex::new(text, bom_len(text));
    let comments = comments(&tokens).into_iter().map(|at| lines.position(at)).collect();
    Ok(Stripped { text: result, calls, first: Some(lines.position(first)), comments })
}

/// The text without inserted calls, and the fingerprint of its tokens.
pub(crate) fn strip_for_proof(text: &[u8], start: usize) -> Result<(Vec<u8>, TokenFingerprint), Refusal> {
    let tokens = Tokens::new(text, start);
    let plan = plan::plan(&tokens).map_err(|stuck| refusal(&tokens, stuck))?;
    Ok(write::write(&tokens, &plan, start))
}

/// Offset of the first inserted call, or of a text that resembles one.
pub(crate) fn find_inserted(text: &[u8]) -> Option<usize> {
    if !may_hold(text) {
        return None;
    }
    let tokens = Tokens::new(text, code_start(text));
    let at = match plan::plan(&tokens) {
        Ok(plan) => {
            let call = plan.removals.first().map(|(range, _)| range.start);
            call.into_iter().chain(plan.lone_mark(&tokens)).min()
        }
        Err((at, _)) => Some(at),
    };
    at.map(|at| tokens.list[at].range.start)
}

fn may_hold(text: &[u8]) -> bool {
    [CRATE.trim_end_matches(':'), MARK].iter().any(|part| memmem::find(text, part.as_bytes()).is_some())
}

/// Offset of the code; 0 for text without code.
fn code_start(text: &[u8]) -> usize {
    str::from_utf8(text).ok().and_then(|text| text::code_start(text).ok()).unwrap_or(0)
}

fn refusal(tokens: &Tokens<'_>, (at, obstacle): Stuck) -> Refusal {
    let lines = LineIndex::new(tokens.text, bom_len(tokens.text));
    let place = lines.position(tokens.list[at].range.start);
    Refusal::new(place, obstacle)
}

fn bom_len(text: &[u8]) -> usize {
    str::from_utf8(text).map_or(0, text::bom_len)
}

/// Offsets of comments that hold calls.
fn comments(tokens: &Tokens<'_>) -> Vec<usize> {
    let holds = |comment: &[u8]| {
        memmem::find(comment, b"xhist_rt").is_some()
            && plan::plan(&Tokens::new(comment, 2)).is_ok_and(|plan| !plan.calls.is_empty())
    };
    let found = tokens.list.iter().filter(|token| token.kind == TokenKind::Comment);
    let found = found.filter(|token| holds(&tokens.text[token.range.clone()]));
    found.map(|token| token.range.start).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(text: &str) -> String {
        String::from_utf8(strip(text.as_bytes())).unwrap()
    }

    /// The reason of the refusal.
    fn refused(text: &str) -> String {
        try_strip(text.as_bytes()).err().map_or_else(String::new, |refusal| refusal.to_string())
    }

    /// The calls of earlier versions.
    #[test]
    fn const_arguments_are_removed() {
        for (text, expected) in [
            ("{::xhist_rt::s::<1,2,9>();f()}", "{f()}"),
            ("{xhist_rt::e::<1,65535,4294967295>();f()}", "{f()}"),
            ("A => {::xhist_rt::ae::<1,2,9>();x/*xh*/},", "A => x,"),
            ("{/*xh*/#[cfg(a)] ::xhist_rt::c::<1,2,9>();x", "{x"),
            ("{\n    ::xhist_rt::s::<1, 6, 9>();\n    f()\n}", "{\n    f()\n}"),
            ("A => {\n    ::xhist_rt::a::<1, 2, 9>();\n    x /*xh*/\n}\nB => y", "A => x,\nB => y"),
            ("::xhist_rt::s::<1, 2, X>();", "::xhist_rt::s::<1, 2, X>();"),
            ("::xhist_rt::sl::<1, 2, 9>();", "::xhist_rt::sl::<1, 2, 9>();"),
        ] {
            assert_eq!(stripped(text), expected);
        }
        assert!(refused("xhist_rt::s::<1,123456,9>();").contains("numbers are not written"));
    }

    #[test]
    fn every_kind_of_call_is_removed() {
        assert_eq!(stripped("{::xhist_rt::s(0x1_0002_0a01);f()}"), "{f()}");
        assert_eq!(stripped("{xhist_rt::s(0x1_ffff_0a01);f()}"), "{f()}");
        assert_eq!(stripped("A => {::xhist_rt::a(0x1_0002_0a01);x/*xh*/},"), "A => x,");
        assert_eq!(stripped("|| {::xhist_rt::p(0x1_0002_0a01);({x} + 1/*xh*/)}"), "|| {x} + 1");
        assert_eq!(stripped("{/*xh*/#[cfg(a)] #[allow(b)] ::xhist_rt::c(0x1_0002_0a01);x"), "{x");
        assert_eq!(stripped("{::xhist_rt::el(0x1_0002_0c07_02cb);f()}"), "{f()}");
        assert_eq!(stripped("A => {::xhist_rt::ae(0x1_0002_0a01);x/*xh*/},"), "A => x,");
        assert_eq!(stripped("|| {::xhist_rt::pe(0x1_0002_0a01);({x} + 1/*xh*/)}"), "|| {x} + 1");
        assert_eq!(stripped("{/*xh*/#[cfg(a)] #[allow(b)] ::xhist_rt::ce(0x1_0002_0a01);x"), "{x");
        assert_eq!(stripped("{::xhist_rt::m(0x0123456789abcdef);::xhist_rt::m!();x"), "{x");
        assert_eq!(stripped("{::xhist_rt::me(0x0123456789abcdef);::xhist_rt::me!();x"), "{x");
        assert_eq!(
            stripped("|| {::xhist_rt::a(0x1_0002_0a01);|| {::xhist_rt::a(0x1_0002_0a01);x/*xh*/}/*xh*/}"),
            "|| || x"
        );
    }

    #[test]
    fn values_are_removed() {
        let watch = "::xhist_rt::watch(0,3,::core::option::Option::Some(\"a\\\"b\"),&x);";
        for (text, original) in [
            ("let x = 1;::xhist_rt::v::<7,_>(&x);f(x)", "let x = 1;f(x)"),
            ("let r#in = 1;::xhist_rt::v::<7,_>(&r#in);f()", "let r#in = 1;f()"),
            ("let x = 1;::xhist_rt::vtg::<16194276,_>(&{x});", "let x = 1;"),
            ("let x = 1;/*xh*/#[cfg(a)] ::xhist_rt::vw::<7,_>(&x);", "let x = 1;"),
            ("{::xhist_rt::s(0x1_0002_0a01);xhist_rt::v::<1,_>(&self);f()}", "{f()}"),
            ("|x| {::xhist_rt::a(0x1_0002_0a01);::xhist_rt::v::<1,_>(&x);x/*xh*/}", "|x| x"),
            ("|x| {::xhist_rt::p(0x1_0002_0a01);::xhist_rt::v::<1,_>(&x);({x} + 1/*xh*/)}", "|x| {x} + 1"),
            (
                "A(x) => {\n    ::xhist_rt::a(0x1_0002_0a01);\n    ::xhist_rt::v::<1, _>(&x);\n    x /*xh*/\n}\nB => y",
                "A(x) => x,\nB => y",
            ),
            ("let x = 1;\n    ::xhist_rt::v::<7, _>(&x);\n    f(x)", "let x = 1;\n    f(x)"),
            ("let x = 1;\n  ::xhist_rt::v::<7, _>(\n    &long,\n  );\n  f()", "let x = 1;\n  f()"),
            ("let x = 1;\n  ::xhist_rt::v::<7, _>(&{ x });\n  f()", "let x = 1;\n  f()"),
            ("{::xhist_rt::mv::<0x0123456789abcdef>();::xhist_rt::mev!();x", "{x"),
            (&format!("let x = 1;{watch}f()"), "let x = 1;f()"),
            ("let x = 1;xhist_rt::watch(0,0,core::option::Option::None,&{x});f()", "let x = 1;f()"),
            (
                &format!("|x| {{::xhist_rt::a(0x1_0002_0a01);::xhist_rt::v::<1,_>(&x);{watch}x/*xh*/}}"),
                "|x| x",
            ),
            ("a(::xhist_rt::v::<7,_>(&x.y))", "a(::xhist_rt::v::<7,_>(&x.y))"),
            ("::xhist_rt::v::<N,_>(&x);", "::xhist_rt::v::<N,_>(&x);"),
            ("::xhist_rt::v::<7,u8>(&x);", "::xhist_rt::v::<7,u8>(&x);"),
            ("::xhist_rt::watch(1);", "::xhist_rt::watch(1);"),
        ] {
            assert_eq!(stripped(text), original, "{text}");
        }
        assert!(refused("let a = ::xhist_rt::v::<7,_>(&x);").contains("part of an expression"));
    }

    #[test]
    fn triggers_are_removed_with_their_calls() {
        let (start, stop) = ("::xhist_rt::start_at(63,1);", "::xhist_rt::stop_at(0,3,4294967295);");
        for (text, original) in [
            (format!("{{{start}::xhist_rt::s(0x1_0002_0a01);{stop}f()}}"), "{f()}"),
            (format!("A => {{{start}{start}::xhist_rt::a(0x1_0002_0a01);{stop}x/*xh*/}},"), "A => x,"),
            (
                format!("|| {{{start}::xhist_rt::p(0x1_0002_0a01);{stop}{stop}({{x}} + 1/*xh*/)}}"),
                "|| {x} + 1",
            ),
            (
                format!(
                    "{{/*xh*/#[cfg(a)] {start}/*xh*/#[cfg(a)] ::xhist_rt::c(0x1_0002_0a01);/*xh*/#[cfg(a)] {stop}x"
                ),
                "{x",
            ),
            (format!("{{{start}::xhist_rt::m!();{start}::xhist_rt::s(0x1_0002_0a01);x"), "{x"),
            (
                format!(
                    "|a| {{::xhist_rt::a(0x1_0002_0a01);{start}|b| {{{start}::xhist_rt::a(0x1_0002_0a01);x/*xh*/}}/*xh*/}}"
                ),
                "|a| |b| x",
            ),
        ] {
            assert_eq!(stripped(&text), original);
            assert_eq!(stripped(&text.replace("::xhist_rt", "xhist_rt")), original);
        }
    }

    #[test]
    fn moved_calls_are_removed_with_their_lines() {
        for (text, original) in [
            ("{\n    ::xhist_rt::s(0x1_0006_0a01);\n    f()\n}", "{\n    f()\n}"),
            ("{\r\n\t::xhist_rt::s(0x1_0006_0a01);\r\n\tf()\r\n}", "{\r\n\tf()\r\n}"),
            ("{\n  f();\n  ::xhist_rt::s(0x1_0006_0a01);\n}", "{\n  f();\n}"),
            ("A => {\n    ::xhist_rt::s(0x1_0006_0a01);\n} // c", "A => {} // c"),
            ("{ :: xhist_rt :: s ::< 1 , 6 , 9 > ( ) ; f() }", "{ f() }"),
            ("{\n  ::xhist_rt::s::<\n    1, 6, 9,\n  >();\n  f()\n}", "{\n  f()\n}"),
            ("{\n  ::xhist_rt::sl(\n    0x1_0002_0101_01C9,\n  );\n  f()\n}", "{\n  f()\n}"),
            ("f(); xhist_rt::s::<1,\n 6, 9>(); g();", "f(); g();"),
            (
                "a();\n\n  ::xhist_rt::s(0x1_0006_0a01);\n\n  ::xhist_rt::s(0x1_0007_0a01);\n  b()",
                "a();\n\n\n  b()",
            ),
            ("f();\n  ::xhist_rt::s(0x1_0006_0a01); // why\n  g()", "f(); // why\n  g()"),
            ("f(); // a\n  ::xhist_rt::s(0x1_0006_0a01); // b\n  g()", "f(); // a\n  // b\n  g()"),
            (
                "{\n  /*xh*/\n  #[cfg(a)]\n  ::xhist_rt::c(0x1_0006_0a01);\n  #[cfg(a)]\n  f()",
                "{\n  #[cfg(a)]\n  f()",
            ),
            ("::xhist_rt::s(0x1_0006_0a01);", ""),
            ("::xhist_rt::m(0x0123_4567_89AB_cdef);x", "x"),
            // An attribute of the user above a line that starts with a call.
            ("#[cfg(a)]\n    ::xhist_rt::s(0x1_0002_0a01);f();", "#[cfg(a)]\n    f();"),
        ] {
            assert_eq!(stripped(text), original, "{text}");
        }
    }

    #[test]
    fn moved_blocks_become_expressions_again() {
        for (text, original) in [
            ("A => {\n    ::xhist_rt::a(0x1_0002_0a01);\n    x /*xh*/\n}\nB => y", "A => x,\nB => y"),
            ("A => {\n    ::xhist_rt::a(0x1_0002_0a01);\n    x /*xh*/\n} // c\n}", "A => x, // c\n}"),
            ("A => {\n    ::xhist_rt::a(0x1_0002_0a01);\n    return x; /*xh*/\n}\n}", "A => return x,\n}"),
            ("f(|| {\n    ::xhist_rt::a(0x1_0002_0a01);\n    x\n})", "f(|| x)"),
            (
                "f(|| {\n    ::xhist_rt::p(0x1_0002_0a01);\n    (if a {} else {} + 1/*xh*/)\n})",
                "f(|| if a {} else {} + 1)",
            ),
            ("else{ ::xhist_rt::a(0x1_0002_0a01); if a {} /*xh*/ }", "else if a {}"),
            ("A => { ::xhist_rt::a(0x1_0002_0a01); x /*xh*/ }\n}", "A => x\n}"),
            ("A => { ::xhist_rt::a(0x1_0002_0a01); x // note\n/*xh*/ }}", "A => x // note\n}"),
        ] {
            assert_eq!(stripped(text), original, "{text}");
        }
    }

    #[test]
    fn the_semicolon_that_rustfmt_adds_to_a_jump_is_removed() {
        let spread = "::xhist_rt::s(0x1_0002_0a01);\nlet Some(x) = y else {\n    ::xhist_rt::s(0x1_0002_0a01);\n    return 0;\n};";
        assert_eq!(stripped(spread), "let Some(x) = y else {\n    return 0\n};");
        let other_line = spread.replacen("0x1_0002", "0x1_0001", 1);
        assert_eq!(stripped(&other_line), "let Some(x) = y else {\n    return 0;\n};");
    }

    #[test]
    fn blocks_with_code_of_the_user_stay() {
        for (text, original) in [
            ("A => {::xhist_rt::a(0x1_0002_0a01);f(); x/*xh*/},", "A => {f(); x},"),
            ("A => {::xhist_rt::a(0x1_0002_0a01);if a {} -b/*xh*/},", "A => {if a {} -b},"),
            ("A => {::xhist_rt::a(0x1_0002_0a01);if a {} b/*xh*/},", "A => {if a {} b},"),
            ("A => unsafe {::xhist_rt::a(0x1_0002_0a01);x/*xh*/},", "A => unsafe {x},"),
            ("A => {f(); ::xhist_rt::a(0x1_0002_0a01);x/*xh*/},", "A => {f(); x},"),
            ("|| {::xhist_rt::p(0x1_0002_0a01);({x} + 1/*xh*/) + 2}", "|| {({x} + 1) + 2}"),
        ] {
            assert_eq!(stripped(text), original, "{text}");
        }
    }

    #[test]
    fn similar_code_stays() {
        for text in [
            "my_xhist_rt::s(0x1_0002_0a01);",
            "crate::xhist_rt::s(0x1_0002_0a01);",
            "crate ::xhist_rt::s(0x1_0002_0a01);",
            "a::b::xhist_rt::s(0x1_0002_0a01);",
            "::xhist_rt::s::<X, Y, Z>();",
            "::xhist_rt::s::<1, 2, X>();",
            "::xhist_rt::s::<1, { 2 }, 9>();",
            "::xhist_rt::s::<1, 2, 9>(3);",
            "::xhist_rt::s::<1, 2, 9>;",
            "::xhist_rt::s::<1, 2, 9",
            "::xhist_rt::s::<1, 2>();",
            "::xhist_rt::start_at::<1, 2>();",
            "::xhist_rt::e(1,2);",
            "::xhist_rt::s(X);",
            "::xhist_rt::s(x, y);",
            "::xhist_rt::s::<1, { line!() as u16 }, 9>();",
            "::xhist_rt::s(1, line!());",
            "::xhist_rt::t(1,2);",
            "::xhist_rt::stop_after(1);",
            "::xhist_rt::start_at(1);",
            "::xhist_rt::s();",
            "mod xhist_rt { pub fn s(_: u8, _: u8) {} } fn f() { xhist_rt::s(0x1_0002_0a01); }",
            "::xhist_rt::start_atx(1,2);",
            "\"::xhist_rt::s(0x1_0002_0a01);\"",
            "r#\"{/*xh*/}\"#",
            "// ::xhist_rt::s(0x1_0002_0a01);",
            "/* {::xhist_rt::a(0x1_0002_0a01);x/*xh*/} */",
            "macro_rules! m { () => { ::xhist_rt::s(0x1_0002_0a01); } }",
            "macro m($a:expr) { ::xhist_rt::s(0x1_0002_0a01); /*xh*/ }",
            "/*xh*/ }",
            "xhist_rt::",
            "xhist_rt::s",
            "xhist_rt::s(1",
            "/*xh*/",
            "use xhist_rt::s;",
        ] {
            assert_eq!(stripped(text), text);
            assert_eq!(refused(text), "", "{text}");
        }
    }

    #[test]
    fn calls_that_cannot_be_removed_are_refused_with_their_place() {
        for (text, why) in [
            (
                "f();\n let a = ::xhist_rt::s(0x1_0002_0a01);",
                "2:12: looks like an inserted call, but it is part",
            ),
            ("|| ::xhist_rt::s(0x1_0002_0a01)", "no `;` follows it"),
            ("return ::xhist_rt::s(0x1_0002_0a01);", "part of an expression"),
            ("xhist_rt::s::<1,123456,9>();", "numbers are not written"),
            ("xhist_rt::s(42);", "numbers are not written"),
            ("xhist_rt::s(0x1_0001_0002_0a01);", "numbers are not written"),
            ("xhist_rt::e::<1,2,12345678901>();", "numbers are not written"),
            ("::xhist_rt::stop_at(1,2,12345678901);", "numbers are not written"),
            ("{ #[cfg(a)]\n::xhist_rt::c(0x1_0002_0a01);", "may be yours"),
            ("{ ::xhist_rt::s(0x1_0002_0a01); x /*xh*/ }", "the mark of one, without the call"),
            ("(::xhist_rt::a(0x1_0002_0a01))", "no `;`"),
        ] {
            assert!(refused(text).contains(why), "{text}: {}", refused(text));
            assert_eq!(stripped(text), text, "as it was");
        }
    }

    #[test]
    fn comments_that_hold_calls_are_reported() {
        let text = "f();\n// ::xhist_rt::s(0x1_0002_0a01);\n::xhist_rt::s(0x1_0003_0a01);g();";
        let stripped = try_strip(text.as_bytes()).unwrap();
        assert_eq!((stripped.comments, stripped.calls), (vec![(2, 1)], vec![(1, 3)]));
    }

    #[test]
    fn calls_and_parts_of_calls_are_found() {
        assert_eq!(find_inserted(b"x /*xh*/"), Some(2));
        assert_eq!(find_inserted(b"x; ::xhist_rt::s(0x1_0002_0a01);"), Some(3));
        assert_eq!(find_inserted(b"x;\n ::xhist_rt::s::<\n1, 2, 9>();"), Some(4));
        assert_eq!(find_inserted(b"x = xhist_rt::s(0x1_0002_0a01);"), Some(4));
        assert_eq!(find_inserted(b"x ::xhist_rt::init();"), None);
        assert_eq!(find_inserted(b"\"::xhist_rt::s(0x1_0002_0a01);/*xh*/\""), None);
    }
}
