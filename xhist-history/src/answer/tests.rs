//! Calls of small programs, with their loops folded.

use qs_core::record::Statement;

use super::activations::{Activations, MOST_PARTS};
use super::code::{Code, ListedStatement};
use super::content::{CallContent, FoldedCall, parts};
use super::rounds::fold;
use crate::calls::{Handler, ThreadEntry};
use crate::model::Names;

/// A statement that ran.
pub(super) fn ran(file: u16, line: u16) -> (Handler, ThreadEntry) {
    (Handler::default(), ThreadEntry::Statement(Statement { file, line }))
}

/// Two functions: `f` of lines 2 to 4 with a loop around line 3, which calls `g` of lines 7 to 8.
fn code() -> (Names, Code) {
    let map = r#"{"xhist":"map","version":3,"hash":"0","root":"/p","tool":"0"}
{"file":1,"path":"a.rs","base":0,"first":1,"room":9}
{"fn":1,"path":"f","at":"1:1","end":"5:2"}
{"fn":1,"path":"g","at":"6:1","end":"9:2"}
{"loop":1,"at":"2:20","end":"3:20"}
{"stmt":1,"line":2,"col":5,"end":"2:9","kind":"let","fn":"f"}
{"stmt":1,"line":3,"col":5,"end":"3:9","kind":"expr","fn":"f","calls":"g"}
{"stmt":1,"line":4,"col":5,"end":"4:9","kind":"expr","fn":"f"}
{"stmt":1,"line":7,"col":5,"end":"7:9","kind":"let","fn":"g"}
{"stmt":1,"line":8,"col":5,"end":"8:9","kind":"expr","fn":"g"}
"#;
    let names = Names::parse(map.as_bytes());
    let code = Code::of(&names);
    (names, code)
}

/// The open calls after these lines, and then after a repetition.
fn open_after(lines: &str, repetition: Option<(usize, u64)>) -> String {
    open_at_the_end(lines, repetition, "")
}

/// The same, and after more lines.
fn open_at_the_end(lines: &str, repetition: Option<(usize, u64)>, more: &str) -> String {
    let (names, code) = code();
    let mut activations = Activations::new(&code);
    let run = |activations: &mut Activations<'_>, lines: &str| {
        for line in lines.split_whitespace() {
            activations.take(&names, ran(1, line.parse().unwrap()));
        }
    };
    run(&mut activations, lines);
    if let Some((statements, times)) = repetition {
        let again = ThreadEntry::Again { statements, times };
        activations.take(&names, (Handler::default(), again));
    }
    run(&mut activations, more);
    let calls: Vec<String> = activations.open().iter().map(|call| drawn(&call.body, &code)).collect();
    calls.join(" > ")
}

/// `2 g(7 8) [3]x2`, with open calls after a `>`.
fn drawn(body: &[CallContent], code: &Code) -> String {
    let line = |statement: &ListedStatement| code.place(*statement).1.line;
    let parts = body.iter().map(|part| match part {
        CallContent::Line { statement, times: 1, .. } => line(statement).to_string(),
        CallContent::Line { statement, times, .. } => format!("{}x{times}", line(statement)),
        CallContent::Call(call) => {
            let name = call.function.map_or("?", |function| code.short_name(function));
            format!("{name}({})", drawn(&call.body, code))
        }
        CallContent::Loop(round) => format!("[{}]x{}", drawn(&round.body, code), round.times),
        CallContent::Repeated { statements, times, .. } => format!("{statements}*{times}"),
        CallContent::Counted(statements) => format!("+{statements}"),
    });
    parts.collect::<Vec<_>>().join(" ")
}

#[test]
fn calls_end_where_their_caller_goes_on() {
    assert_eq!(open_after("2 3 7 8 4", None), "2 3 g(7 8) 4");
    assert_eq!(open_after("2 3 7", None), "2 3 > 7");
    // Its caller began before the oldest statement.
    assert_eq!(open_after("7 8 4", None), "g(7 8) 4");
    assert_eq!(open_after("8 4", None), "g(8) 4");
}

#[test]
fn rounds_that_took_the_same_way_are_a_loop() {
    assert_eq!(open_after("2 3 7 8 3 7 8 3 7 8 4", None), "2 [3x3 g(7x3 8x3)]x3 4");
    assert_eq!(open_after("2 3 7 8 3 7 8 3 7 3 7 8 4", None), "2 [3x2 g(7x2 8x2)]x2 3 g(7) 3 g(7 8) 4");
}

#[test]
fn recorded_repetitions_become_loops() {
    assert_eq!(open_after("2 3 7 8", Some((3, 9))), "2 [3x10 g(7x10 8x10)]x10");
    assert_eq!(open_at_the_end("2 3 7 8", Some((3, 9)), "4"), "2 [3x10 g(7x10 8x10)]x10 4");
    assert_eq!(open_at_the_end("2 3 7", Some((2, 9)), "8"), "2 [3x10 g(7x10)]x10 > 8");
    assert_eq!(open_at_the_end("2 3 7", Some((2, 9)), "3 7"), "2 [3x10 g(7x10)]x10 3 > 7");
    assert_eq!(open_after("2 3", Some((1, 4))), "2 3x5");
    assert_eq!(open_after("2 3", Some((9, 1))), "2 3 9*1");
    assert_eq!(open_after("2 3 7 8 3 7 8", Some((6, 9))), "2 [3x20 g(7x20 8x20)]x20", "two rounds");
    assert_eq!(
        open_after("2 3 7 8 3 7 8", Some((3, 9))),
        "2 [3x11 g(7x11 8x11)]x11",
        "the last of two rounds"
    );
    for begun in ["", "3", "3 7", "3 7 8"] {
        let rest = &"3 7 8"[begun.len()..];
        let shown = open_at_the_end(&format!("2 3 7 8 3 7 8 {begun}"), Some((3, 9)), &format!("{rest} 4"));
        assert_eq!(shown, "2 [3x12 g(7x12 8x12)]x12 4", "inside the next round, behind `{begun}`");
    }
    assert_eq!(
        open_at_the_end("2 3 7 8 3 7 8 3 4", Some((3, 9)), ""),
        "2 [3x2 g(7x2 8x2)]x2 3 4 3*9",
        "no round"
    );
    let outer = "3 7 3 7 3 7 8 3 7 3 7 3 7 8";
    assert_eq!(
        open_at_the_end(&format!("2 {outer}"), Some((3, 9)), "3 7 8 3 7 8 4"),
        "2 [[3x4 g(7x4)]x4 3x2 g(7x2 8x2)]x2 [3x11 g(7x11 8x11)]x11 4",
        "the end of an outer round"
    );
    // A round may have the same statement twice.
    assert_eq!(open_after("2 3 3 4", Some((3, 49))), "2 [3x100 4x50]x50");
}

/// A repetition counts the statements of the thread, not those of its handlers.
#[test]
fn a_repeated_round_may_have_a_handler() {
    let statement = ListedStatement::Unknown { file: 1, line: 2 };
    let line = || CallContent::Line { statement, times: 1, first: 1, since: 1 };
    let handler =
        || CallContent::Call(FoldedCall { is_handler: true, statements: 3, ..FoldedCall::default() });
    let repeated = CallContent::Repeated { statements: 1, times: 4, since: 1 };
    let mut body = vec![line(), handler(), repeated, line(), handler()];
    fold(&mut body);
    assert!(matches!(&body[..], [_, _, CallContent::Loop(round)] if round.times == 5), "{body:?}");
}

#[test]
fn the_parts_of_a_call_are_found_by_its_number() {
    let (names, code) = code();
    let mut activations = Activations::new(&code);
    [2, 3, 7, 8, 4].iter().for_each(|line| activations.take(&names, ran(1, *line)));
    let [f] = activations.open() else { panic!("one call: {activations:?}") };
    let g = f.body.iter().find_map(|part| match part {
        CallContent::Call(call) => Some(call.id),
        _ => None,
    });
    assert_eq!((f.len_of(f.id), f.len_of(g.unwrap()), f.len_of(99)), (Some(4), Some(2), None));
}

#[test]
fn statements_that_no_map_has_are_a_flat_list() {
    let names = Names::default();
    let code = Code::of(&names);
    let mut activations = Activations::new(&code);
    for line in [7, 3, 9] {
        activations.take(&names, ran(2, line));
    }
    let [call] = activations.open() else { panic!("one call: {activations:?}") };
    assert_eq!((drawn(&call.body, &code).as_str(), call.statements), ("7 3 9", 3));
    let places = call.body.iter().filter_map(|part| match part {
        CallContent::Line { statement, .. } => Some(code.shown_place(*statement)),
        _ => None,
    });
    assert_eq!(places.collect::<Vec<_>>(), ["file#2:7", "file#2:3", "file#2:9"]);
}

#[test]
fn memory_does_not_depend_on_the_number_of_statements() {
    let (names, code) = code();
    let mut activations = Activations::new(&code);
    let mut state = 7u32;
    for _ in 0..400_000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let line = [3, 4, 7, 8][(state >> 16) as usize % 4];
        activations.take(&names, ran(1, line));
    }
    let kept: usize = activations.open().iter().flat_map(|call| &call.body).map(parts).sum();
    assert!(kept <= MOST_PARTS + 1, "{kept}");
    let all: u64 = activations.open().iter().map(|call| call.statements).sum();
    assert!(all <= 400_000, "{all}");
}

#[test]
fn a_folded_recursion_is_open_calls() {
    let map = r#"{"xhist":"map","version":3,"hash":"0","root":"/p","tool":"0"}
{"file":1,"path":"a.rs","base":0,"first":1,"room":9}
{"fn":1,"path":"f","at":"1:1","end":"5:2"}
{"stmt":1,"line":2,"col":5,"end":"2:9","kind":"let","fn":"f"}
{"stmt":1,"line":3,"col":5,"end":"3:9","kind":"expr","fn":"f","calls":"f"}
"#;
    let names = Names::parse(map.as_bytes());
    let code = Code::of(&names);
    let mut activations = Activations::new(&code);
    for line in [2, 3, 2, 3] {
        activations.take(&names, ran(1, line));
    }
    let again = ThreadEntry::Again { statements: 2, times: 48_000 };
    activations.take(&names, (Handler::default(), again));
    let folded: u64 = activations.open().iter().map(|call| call.folded).sum();
    assert_eq!((activations.open().len(), folded), (2, 48_000));
}

#[test]
fn what_panicked_while_it_made_a_text_is_known() {
    let map = r#"{"xhist":"map","version":3,"hash":"0","root":"/p","tool":"0"}
{"file":1,"path":"a.rs","base":0,"first":1,"room":9}
{"fn":1,"path":"f","at":"1:1","end":"3:2"}
{"fn":1,"path":"A::fmt","at":"4:1","end":"6:2","trait":"Display"}
{"stmt":1,"line":2,"col":5,"end":"2:9","kind":"macro","fn":"f","calls":"print!"}
{"stmt":1,"line":5,"col":5,"end":"5:9","kind":"expr","fn":"A::fmt"}
"#;
    let names = Names::parse(map.as_bytes());
    let code = Code::of(&names);
    let mut activations = Activations::new(&code);
    [2, 5].into_iter().for_each(|line| activations.take(&names, ran(1, line)));
    let at = |line| activations.formats_at(&|statement| code.place(statement).1.line == line);
    assert_eq!([at(5), at(2)], [true, false]);
    let left_out = activations.leave_out_formatting(&mut |_| false);
    assert_eq!((left_out, drawn(&activations.open()[0].body, &code).as_str()), (1, "2"));
}
