//! Small programs for tests, written as outlines: a line is a statement, deeper lines are inside it.

use std::fmt::Write as _;

use qs_core::record::{Statement, TaskMark, TaskStep};

use super::ThreadEntry;
use crate::model::Names;

/// A line of an outline: its depth, and the last line that is deeper.
fn extents(outline: &str) -> Vec<(usize, usize, &str)> {
    let lines: Vec<(usize, &str)> =
        outline.lines().map(|line| (line.len() - line.trim_start().len(), line.trim())).collect();
    let end = |index: usize| {
        let deeper = lines[index + 1..].iter().take_while(|(depth, _)| *depth > lines[index].0);
        index + deeper.count()
    };
    (0..lines.len()).map(|index| (lines[index].0, end(index), lines[index].1)).collect()
}

/// The map of an outline. `fn PATH [KIND] [of TRAIT]` is a body, `loop CALLS` a statement that is a loop, `branch` a branch
/// of the statement around it, `let CALLS` one that binds a result, and `s CALLS [jump J] [await]` any other statement.
pub fn map(outline: &str) -> Names {
    let mut map = String::from(r#"{"xhist":"map","version":3,"hash":"0","root":"/","tool":""}"#);
    map.push_str("\n{\"file\":1,\"path\":\"a.rs\",\"base\":0}\n");
    let (mut regions, mut statements) = (String::new(), String::new());
    let lines = extents(outline);
    for (index, (depth, end, text)) in lines.iter().enumerate() {
        let (at, end) = (format!("{}:{}", index + 1, depth + 1), format!("{}:99", end + 1));
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        match word {
            "fn" => {
                let (rest, of_trait) = rest.split_once(" of ").unwrap_or((rest, ""));
                let (path, kind) = rest.split_once(' ').unwrap_or((rest, ""));
                writeln!(
                    map,
                    r#"{{"fn":1,"path":"{path}","at":"{at}","end":"{end}","kind":"{kind}","trait":"{of_trait}"}}"#
                )
                .unwrap();
            }
            "branch" => {
                let behind = lines[index + 1..].iter().enumerate();
                let mut group = behind.take_while(|(_, (other, ..))| other >= depth);
                let past = group.by_ref().last().map_or(index + 1, |(more, _)| index + more + 2);
                writeln!(regions, r#"{{"branch":1,"at":"{at}","end":"{end}","past":"{past}:99"}}"#).unwrap();
            }
            _ => {
                if word == "loop" {
                    writeln!(regions, r#"{{"loop":1,"at":"{at}","end":"{end}"}}"#).unwrap();
                }
                let (rest, awaits) =
                    rest.strip_suffix("await").map_or((rest, false), |rest| (rest.trim(), true));
                let (calls, jump) = rest.split_once("jump ").unwrap_or((rest, ""));
                writeln!(
                    statements,
                    r#"{{"stmt":1,"line":{},"col":{},"end":"{end}","kind":"{word}","fn":"","calls":"{calls}","jump":"{jump}","await":{awaits}}}"#,
                    index + 1,
                    depth + 1
                )
                .unwrap();
            }
        }
    }
    let names = Names::parse(format!("{map}{regions}{statements}").as_bytes());
    assert_eq!(names.bad_lines, []);
    names
}

/// An entry in a word: a line of an outline, `p` for a panic, `t7` for the id of a future, `gap` for a loss, `2x9` for two statements
/// that ran again nine times.
pub fn entry(word: &str) -> ThreadEntry {
    if let Some(task) = word.strip_prefix('t') {
        let (task, step) = match task.split_at(task.len() - 1) {
            (task, "e") => (task, TaskStep::End),
            (task, "r") => (task, TaskStep::Resume),
            _ => (task, TaskStep::Enter),
        };
        return ThreadEntry::Task(TaskMark { step, task: task.parse().unwrap() });
    }
    if let Some((statements, times)) = word.split_once('x') {
        return ThreadEntry::Again { statements: statements.parse().unwrap(), times: times.parse().unwrap() };
    }
    match word {
        "p" => ThreadEntry::Panic,
        "gap" => ThreadEntry::Gap,
        "overwritten" => ThreadEntry::Overwritten,
        line => ThreadEntry::Statement(Statement { file: 1, line: line.parse().unwrap() }),
    }
}
