//! What is chosen of small histories.

use super::super::tests::ran;
use super::*;
use crate::calls::{Handler, ThreadEntry};
use crate::model::Names;

const ROUNDS: usize = 1000;

/// What is shown of a function that calls itself, at lines 2 to 4. The recorder folded rounds behind the first ones.
fn recursive(folded: u64, lines: usize) -> Vec<String> {
    let map = r#"{"xhist":"map","version":3,"hash":"0","root":"/p","tool":"0"}
{"file":1,"path":"a.rs","base":0,"first":1,"room":9}
{"fn":1,"path":"f","at":"1:1","end":"5:2"}
{"stmt":1,"line":2,"col":5,"end":"2:9","kind":"let","fn":"f"}
{"stmt":1,"line":3,"col":5,"end":"3:9","kind":"let","fn":"f"}
{"stmt":1,"line":4,"col":5,"end":"4:9","kind":"expr","fn":"f","calls":"f"}
"#;
    let names = Names::parse(map.as_bytes());
    let code = Code::of(&names);
    let mut activations = Activations::new(&code);
    let rounds = |count| (0..count).flat_map(|_| 2..=4).map(|line| ran(1, line));
    rounds(ROUNDS).for_each(|entry| activations.take(&names, entry));
    if folded > 0 {
        let again = ThreadEntry::Again { statements: 3, times: folded };
        activations.take(&names, (Handler::default(), again));
        rounds(ROUNDS).for_each(|entry| activations.take(&names, entry));
    }
    lines_of(&rows(&activations, &code, Wanted { lines, suspects: &[], test: None }), &code)
}

/// The line of each statement, and what is folded.
fn lines_of(rows: &[Row], code: &Code) -> Vec<String> {
    let line = |row: &Row| match &row.kind {
        RowKind::Statement(statement) => code.place(*statement).1.line.to_string(),
        RowKind::Open(calls, _) => format!("{calls} open"),
        RowKind::Call(_, statements, _) => format!("{statements} in a call"),
        other => format!("{other:?}"),
    };
    rows.iter().map(line).collect()
}

#[test]
fn a_recursion_is_its_first_and_its_last_round() {
    assert_eq!(recursive(0, 20), ["2", "3", "4", "998 open", "2", "3", "4"]);
    assert_eq!(recursive(500, 20), ["2", "3", "4", "2498 open", "2", "3", "4"]);
}

#[test]
fn a_recursion_that_has_ended_is_not_opened_round_by_round() {
    let map = r#"{"xhist":"map","version":3,"hash":"0","root":"/p","tool":"0"}
{"file":1,"path":"a.rs","base":0,"first":1,"room":9}
{"fn":1,"path":"f","at":"1:1","end":"5:2"}
{"fn":1,"path":"g","at":"6:1","end":"9:2"}
{"stmt":1,"line":2,"col":5,"end":"2:9","kind":"let","fn":"f"}
{"stmt":1,"line":3,"col":5,"end":"3:9","kind":"expr","fn":"f","calls":"g"}
{"stmt":1,"line":4,"col":5,"end":"4:9","kind":"let","fn":"f"}
{"stmt":1,"line":7,"col":5,"end":"7:9","kind":"let","fn":"g"}
{"stmt":1,"line":8,"col":5,"end":"8:9","kind":"expr","fn":"g","calls":"g"}
"#;
    let names = Names::parse(map.as_bytes());
    let code = Code::of(&names);
    let mut activations = Activations::new(&code);
    let rounds = (0..100).flat_map(|_| [7, 8]);
    let lines = [2, 3].into_iter().chain(rounds).chain([4]);
    lines.for_each(|line| activations.take(&names, ran(1, line)));
    let rows = rows(&activations, &code, Wanted { lines: 40, suspects: &[], test: None });
    assert_eq!(lines_of(&rows, &code), ["2", "3", "7", "8", "7", "8", "196 in a call", "4"]);
}

/// `main` calls `run`, which calls `parse`, `check` and `parse` again, and then reports the error of that one.
#[test]
fn few_lines_go_to_the_newest_call_and_what_it_called() {
    let map = r#"{"xhist":"map","version":3,"hash":"0","root":"/p","tool":"0"}
{"file":1,"path":"a.rs","base":0,"first":1,"room":99}
{"fn":1,"path":"main","at":"1:1","end":"9:2"}
{"fn":1,"path":"run","at":"10:1","end":"19:2"}
{"fn":1,"path":"parse","at":"20:1","end":"29:2"}
{"fn":1,"path":"check","at":"30:1","end":"39:2"}
"#;
    let statement = |(line, function, calls): (u32, &str, &str)| {
        format!(
            "{{\"stmt\":1,\"line\":{line},\"col\":5,\"end\":\"{line}:9\",\"kind\":\"expr\",\"fn\":\"{function}\",\"calls\":\"{calls}\"}}\n"
        )
    };
    let run = [(11, "run", ""), (12, "run", "parse"), (13, "run", "check"), (14, "run", "parse")];
    let main = [(2, "main", "run"), (3, "main", ""), (4, "main", ""), (5, "main", "")];
    let others = [
        (21, "parse", ""),
        (22, "parse", ""),
        (23, "parse", ""),
        (24, "parse", ""),
        (31, "check", ""),
        (32, "check", ""),
    ];
    let statements: String = main.into_iter().chain(run).chain(others).map(statement).collect();
    let names = Names::parse(format!("{map}{statements}").as_bytes());
    let code = Code::of(&names);
    let mut activations = Activations::new(&code);
    let lines = [2, 11, 12, 21, 22, 23, 24, 13, 31, 32, 14, 21, 22, 23, 3, 4, 5];
    lines.into_iter().for_each(|line| activations.take(&names, ran(1, line)));
    let shown =
        |lines| lines_of(&rows(&activations, &code, Wanted { lines, suspects: &[], test: None }), &code);
    let brief = shown(12);
    assert!(
        brief.len() <= 12 && ["14", "23", "5"].iter().all(|line| brief.iter().any(|of| of == line)),
        "{brief:?}"
    );
    assert_eq!(shown(40).len(), lines.len(), "all of them, if there is room");
}

/// Trait objects and parsers come back to a function by way of several others.
#[test]
fn a_recursion_of_four_functions_is_its_first_and_its_last_round() {
    let mut map = r#"{"xhist":"map","version":3,"hash":"0","root":"/p","tool":"0"}
{"file":1,"path":"a.rs","base":0,"first":1,"room":9}
"#
    .to_owned();
    for (line, [of, calls]) in (1..).zip([["p", "q"], ["q", "r"], ["r", "s"], ["s", "p"]]) {
        map.push_str(&format!(
            "{{\"fn\":1,\"path\":\"{of}\",\"at\":\"{line}:1\",\"end\":\"{line}:20\"}}\n{{\"stmt\":1,\"line\":{line},\
             \"col\":9,\"end\":\"{line}:12\",\"kind\":\"expr\",\"fn\":\"{of}\",\"calls\":\"{calls}\"}}\n"
        ));
    }
    let names = Names::parse(map.as_bytes());
    let code = Code::of(&names);
    let shown = |row: &Row| match &row.kind {
        RowKind::Statement(statement) => code.place(*statement).1.line.to_string(),
        RowKind::Open(calls, functions) => {
            let names: Vec<&str> = functions.iter().map(|function| code.short_name(*function)).collect();
            format!("{calls} open of {}", names.join(" "))
        }
        other => format!("{other:?}"),
    };
    let of = |rounds: usize| {
        let mut activations = Activations::new(&code);
        let again = (Handler::default(), ThreadEntry::Again { statements: 4, times: 500 });
        let lines = |rounds| (0..rounds).flat_map(|_| 1..=4).map(|line| ran(1, line));
        lines(rounds).chain([again]).chain(lines(ROUNDS)).for_each(|entry| activations.take(&names, entry));
        let rows = rows(&activations, &code, Wanted { lines: 20, suspects: &[], test: None });
        rows.iter().map(shown).collect::<Vec<String>>()
    };
    let all = ["1", "2", "3", "4", "9992 open of p q r s", "1", "2", "3", "4"];
    assert_eq!(of(ROUNDS), all);
    let folded_first =
        ["2000 open of p q r s", "1", "2", "3", "4", "3996 open of p q r s", "1", "2", "3", "4"];
    assert_eq!(of(1), folded_first, "the functions of the round, not of its first call");
}

/// The open calls that are shown of functions that call each other, each in a line; these are suspects.
fn nested(functions: usize, suspects: &[(u32, usize)]) -> Vec<String> {
    let mut map = r#"{"xhist":"map","version":3,"hash":"0","root":"/p","tool":"0"}
{"file":1,"path":"a.rs","base":0,"first":1,"room":99}
"#
    .to_owned();
    for line in 1..=functions {
        map.push_str(&format!(
            "{{\"fn\":1,\"path\":\"f{line}\",\"at\":\"{line}:1\",\"end\":\"{line}:20\"}}\n{{\"stmt\":1,\
             \"line\":{line},\"col\":9,\"end\":\"{line}:12\",\"kind\":\"expr\",\"fn\":\"f{line}\",\"calls\":\"f{}\"}}\n",
            line + 1
        ));
    }
    let names = Names::parse(map.as_bytes());
    let code = Code::of(&names);
    let mut activations = Activations::new(&code);
    (1..=functions).for_each(|line| activations.take(&names, ran(1, line as u16)));
    let suspects: Vec<SuspectLine> = suspects
        .iter()
        .map(|(line, rank)| SuspectLine { map_hash: 0, file: 1, line: *line, rank: *rank })
        .collect();
    let wanted = Wanted { lines: 12, suspects: &suspects, test: Some("f1") };
    lines_of(&rows(&activations, &code, wanted), &code)
}

#[test]
fn of_many_open_calls_those_between_are_one_line_but_for_the_first_suspects() {
    assert_eq!(nested(7, &[]), ["1", "2", "3", "4", "5", "6", "7"], "one alone has its own line");
    assert_eq!(nested(9, &[]), ["1", "2", "3", "3 open", "7", "8", "9"]);
    let with_suspect = ["1", "2", "3", "2 open", "6", "2 open", "9", "10", "11"];
    assert_eq!(nested(11, &[(6, 3), (4, 4)]), with_suspect);
}

/// What is shown of `f`, which calls `g` and then runs 69 other lines.
fn far(suspects: &[(u32, usize)], lines: usize) -> Vec<String> {
    shown(&(2..21).chain(92..99).chain(21..90).collect::<Vec<u16>>(), suspects, lines)
}

/// A function `f`, whose lines 20 and 21 call `g`.
fn f_and_g() -> (Names, Code) {
    let mut map = r#"{"xhist":"map","version":3,"hash":"0","root":"/p","tool":"0"}
{"file":1,"path":"a.rs","base":0,"first":1,"room":99}
{"fn":1,"path":"f","at":"1:1","end":"90:2"}
{"fn":1,"path":"g","at":"91:1","end":"99:2"}
"#
    .to_owned();
    for line in (2..90).chain(92..99) {
        let (of, calls) = (if line < 90 { "f" } else { "g" }, if matches!(line, 20 | 21) { "g" } else { "" });
        map.push_str(&format!(
            "{{\"stmt\":1,\"line\":{line},\"col\":5,\"end\":\"{line}:9\",\"kind\":\"expr\",\"fn\":\"{of}\",\
             \"calls\":\"{calls}\"}}\n"
        ));
    }
    let names = Names::parse(map.as_bytes());
    let code = Code::of(&names);
    (names, code)
}

/// What is shown of it when these lines ran.
fn shown(ran_lines: &[u16], suspects: &[(u32, usize)], lines: usize) -> Vec<String> {
    let (names, code) = f_and_g();
    let mut activations = Activations::new(&code);
    ran_lines.iter().for_each(|line| activations.take(&names, ran(1, *line)));
    let suspects =
        suspects.iter().map(|(line, rank)| SuspectLine { map_hash: 0, file: 1, line: *line, rank: *rank });
    let suspects: Vec<SuspectLine> = suspects.collect();
    let shown = |row: &Row| match &row.kind {
        RowKind::Statement(statement) => {
            let rank = row.rank.map_or(String::new(), |rank| format!("<{rank}"));
            let inside = if row.inside > 0 { format!("({})", row.inside) } else { String::new() };
            format!("{}{}{inside}{rank}", " ".repeat(row.depth), code.place(*statement).1.line)
        }
        RowKind::Earlier(_, statements, _) => format!("{}+{statements}", " ".repeat(row.depth)),
        RowKind::Later(statements, _) => format!("{}{statements}+", " ".repeat(row.depth)),
        RowKind::Call(function, statements, _) => {
            format!("{}{}:{statements}", " ".repeat(row.depth), code.short_name(*function))
        }
        other => format!("{other:?}"),
    };
    rows(&activations, &code, Wanted { lines, suspects: &suspects, test: Some("f") })
        .iter()
        .map(shown)
        .collect()
}

#[test]
fn suspects_are_shown_where_they_ran_last_and_with_what_called_them() {
    assert_eq!(far(&[], 4), ["+92", "87", "88", "89"], "a small step where a whole one has no room");
    let around = ["+18", "20", " +1", " 93", " 94<1", " 95", " 3+", "+66", "87", "88", "89"];
    assert_eq!(far(&[(94, 1)], 11), around);
    // The first rank may take all lines, another one only some of them.
    assert_eq!(far(&[(94, 1), (40, 4)], 11), around);
    assert!(far(&[(94, 1), (40, 4)], 30).contains(&"40<4".to_owned()));
}

#[test]
fn no_fold_hides_the_first_suspects() {
    let alone = ["+18", "20", " +2", " 94<1", " 4+", "+66", "87", "88", "89"];
    assert_eq!(far(&[(94, 1)], 9), alone, "without room for what is around");
    assert!(far(&[(94, 1), (40, 2)], 9).contains(&"40<2".to_owned()));
    assert!(!far(&[(94, 1), (40, 4)], 9).contains(&"40<4".to_owned()));
    assert_eq!(far(&[(94, 1)], 1), ["+94", "89"], "it does not fit");
}

#[test]
fn what_a_test_called_is_counted_beside_its_statement_but_for_the_newest_call() {
    let of_g = 92..99;
    let lines: Vec<u16> = [2, 3, 20].into_iter().chain(of_g.clone()).chain([21]).chain(of_g).collect();
    let opened = [" 92", " 93", " 94", " 95", " 96", " 97", " 98"];
    assert_eq!(shown(&lines, &[(1, 1)], 30), [&["2", "3", "20(7)", "21"][..], &opened].concat());
    assert_eq!(shown(&lines, &[(94, 1)], 30).iter().filter(|row| **row == " 94<1").count(), 1);
    let without = shown(&lines, &[], 30);
    assert!(!without.contains(&"20(7)".to_owned()), "no suspects, no outline: {without:?}");
}

#[test]
fn a_call_that_is_not_opened_is_below_its_statement() {
    let of_g = 92..99;
    let lines: Vec<u16> = [2, 20].into_iter().chain(of_g).chain([22, 23]).collect();
    assert_eq!(shown(&lines, &[], 5), ["2", "20", " g:7", "22", "23"]);
}

#[test]
fn the_call_that_is_nearest_to_the_end_is_opened_first() {
    let of_g = 92..99;
    let lines = [2, 20].into_iter().chain(of_g.clone()).chain([21]).chain(of_g).chain([22]);
    let rows = shown(&lines.collect::<Vec<u16>>(), &[], 12);
    let opened = [" 92", " 93", " 94", " 95", " 96", " 97", " 98", "22"];
    assert_eq!(rows, [&["2", "20", " g:7", "21"][..], &opened].concat());
}

#[test]
fn a_row_that_hides_the_beginning_of_a_call_has_its_first_statement() {
    let (names, code) = f_and_g();
    let mut activations = Activations::new(&code);
    let of_g = 92..99;
    let lines = [2, 20].into_iter().chain(of_g).chain([22, 23]);
    lines.for_each(|line| activations.take(&names, ran(1, line)));
    let entries = |lines: usize| {
        let rows = rows(&activations, &code, Wanted { lines, suspects: &[], test: Some("f") });
        let line = |(statement, _)| code.place(statement).1.line;
        rows.iter().map(|row| row.entry.map(line)).collect::<Vec<_>>()
    };
    assert_eq!(entries(5), [None, None, Some(92), None, None]);
    assert_eq!(entries(2), [Some(2), None]);
}

/// What calls a closure of the test may be code of another crate, which reads like the function that ran last.
#[test]
fn the_outline_is_that_of_the_test_by_its_name() {
    let (names, code) = f_and_g();
    let mut activations = Activations::new(&code);
    [2, 20, 92, 93].iter().for_each(|line| activations.take(&names, ran(1, *line)));
    for (test, outline) in [("tests::g", "g"), ("tests::f", "f"), ("other", "f"), ("", "f")] {
        let function = outline_of(activations.open(), &code, test).and_then(|call| call.function);
        assert_eq!(function.map(|function| code.short_name(function)), Some(outline), "{test}");
    }
}

#[test]
fn never_more_lines_than_wanted_and_always_the_last_one() {
    for (rounds, wanted) in [(1, 8), (5, 8), (40, 12), (3, 30)] {
        let shown = recursive(rounds, wanted);
        assert!(shown.len() <= wanted && shown.last().is_some_and(|last| last == "4"), "{shown:?}");
    }
}

#[test]
fn a_loop_is_its_last_round_and_knows_when_the_first_one_ran() {
    let map = r#"{"xhist":"map","version":3,"hash":"0","root":"/p","tool":"0"}
{"file":1,"path":"a.rs","base":0,"first":1,"room":9}
{"fn":1,"path":"f","at":"1:1","end":"6:2"}
{"loop":1,"at":"2:20","end":"5:2"}
{"stmt":1,"line":2,"col":5,"end":"5:2","kind":"expr","fn":"f"}
{"stmt":1,"line":3,"col":5,"end":"3:9","kind":"expr","fn":"f"}
{"stmt":1,"line":4,"col":5,"end":"4:9","kind":"expr","fn":"f"}
"#;
    let names = Names::parse(map.as_bytes());
    let code = Code::of(&names);
    let mut activations = Activations::new(&code);
    [2, 3, 4, 3, 4, 3, 4].iter().for_each(|line| activations.take(&names, ran(1, *line)));
    let rows = rows(&activations, &code, Wanted { lines: 20, suspects: &[], test: None });
    let when: Vec<_> = rows.iter().map(|row| (row.times, &row.firsts[..], &row.runs[..])).collect();
    assert_eq!(when, [(1, &[1][..], &[1][..]), (3, &[2], &[6]), (3, &[3], &[7])]);
}
