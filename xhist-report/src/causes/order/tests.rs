//! Are broken rules found, and nothing in code that keeps them?

use std::collections::BTreeMap;
use std::sync::Arc;

use qs_core::record::{Statement, TaskMark, TaskStep};

use super::{Directives, LockOrder, LockWait, OrderFindings, OrderProgram, Rule, ThreadOrder, circle};
use xhist_history::calls::{Handler, ThreadEntry};
use xhist_history::model::Names;

/// A program as text and as a map: each line of `code` that ends in `//` and more words is a statement, which these words describe: its
/// last line if that is another one, `calls=a,.b`, `jump=return`. A line that starts with `fn` is a function up to the next `}` at
/// its start.
fn names(code: &str) -> Names {
    let lines: Vec<&str> = code.lines().map(|line| line.split(" //").next().unwrap().trim_end()).collect();
    let mut map = vec![
        r#"{"xhist":"map","version":3,"hash":"00000000000000ff","root":"/nowhere/app","tool":"0"}"#
            .to_owned(),
        r#"{"file":1,"path":"src/main.rs","base":0}"#.to_owned(),
    ];
    let mut statements = Vec::new();
    let mut function = String::new();
    for (index, (line, text)) in lines.iter().zip(code.lines()).enumerate() {
        let number = index + 1;
        let kind = if line.starts_with("async") { "asyncfn" } else { "" };
        if let Some(name) = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ") {
            function = name.split('(').next().unwrap().to_owned();
            let end = number + lines[index..].iter().position(|line| *line == "}").unwrap();
            let at = line.find('{').unwrap() + 1;
            map.push(format!(
                r#"{{"fn":1,"path":"{function}","at":"{number}:{at}","end":"{end}:2","kind":"{kind}"}}"#
            ));
        }
        let Some((_, words)) = text.split_once(" //") else { continue };
        let word = |key: &str| words.split_whitespace().find_map(|word| word.strip_prefix(key));
        let end = words.split_whitespace().find_map(|word| word.parse().ok()).unwrap_or(number);
        let col = line.len() - line.trim_start().len() + 1;
        let end_col = lines[end - 1].len() + 1;
        let awaits = words.split_whitespace().any(|word| word == "await");
        let calls = word("calls=").map(|calls| format!(r#","calls":"{}""#, calls.replace(',', " ")));
        let jump = word("jump=").map(|jump| format!(r#","jump":"{jump}""#));
        statements.push(format!(
            r#"{{"stmt":1,"line":{number},"col":{col},"end":"{end}:{end_col}","kind":"expr","fn":"{function}","await":{awaits}{}{}}}"#,
            calls.unwrap_or_default(),
            jump.unwrap_or_default()
        ));
    }
    map.extend(statements);
    let names = Names::parse(map.join("\n").as_bytes());
    assert_eq!(names.bad_lines, []);
    names
}

/// A step of a thread.
#[derive(Clone, Copy)]
enum Step {
    Lines(&'static [u16]),
    In(Handler, &'static [u16]),
    Panic,
    Gap,
    Repeat(usize),
    Task(TaskStep, u32),
}

use Step::{Gap, In, Lines, Panic, Repeat, Task};

/// What is found in threads that run these lines, as `KIND rule: line,line | line,line`.
fn found(code: &str, rules: &[&str], threads: &[&[Step]]) -> Vec<String> {
    checked(code, rules, threads).0
}

/// The same, and the locks that threads are at in the end, as `thread: held line, wanted line`; those that wait for each other
/// have a `!`.
fn checked(code: &str, rules: &[&str], threads: &[&[Step]]) -> (Vec<String>, Vec<String>) {
    let names = names(code);
    let rules: Vec<Rule> = rules.iter().map(|rule| Rule::parse(rule).unwrap()).collect();
    let directives = Directives::read(code.lines());
    let text = |line: u32| code.lines().nth(line as usize - 1).map(|line| line.split(" //").next().unwrap());
    let mut line_text = |_, line| text(line).map(str::to_owned);
    let program =
        Arc::new(OrderProgram::new(&names, &rules, &BTreeMap::from([(1, directives)]), &mut line_text));
    let (mut locks, mut found) = (LockOrder::default(), OrderFindings::default());
    let (mut number, mut waits) = (0, Vec::new());
    for (index, steps) in threads.iter().enumerate() {
        let mut thread = ThreadOrder::new(&program, format!("t{index}"));
        for step in *steps {
            let (handler, lines) = match step {
                Lines(lines) => (Handler::default(), *lines),
                In(handler, lines) => (*handler, *lines),
                Panic => {
                    let panic = (Handler::default(), ThreadEntry::Panic);
                    thread.take(number, panic, &mut locks, &mut found);
                    continue;
                }
                Task(step, task) => {
                    let mark = ThreadEntry::Task(TaskMark { step: *step, task: *task });
                    thread.take(number, (Handler::default(), mark), &mut locks, &mut found);
                    continue;
                }
                Gap => {
                    thread.gap();
                    continue;
                }
                Repeat(statements) => {
                    let again = ThreadEntry::Again { statements: *statements, times: 9 };
                    thread.take(number, (Handler::default(), again), &mut locks, &mut found);
                    continue;
                }
            };
            for line in lines {
                number += 1;
                let entry = ThreadEntry::Statement(Statement { file: 1, line: *line });
                thread.take(number, (handler, entry), &mut locks, &mut found);
            }
        }
        waits.extend(thread.lock_wait());
    }
    let place = |id| program.structure.place(id).1.line;
    let circle = circle(&waits);
    let wait = |wait: &LockWait| {
        let held = wait.held.iter().map(|(lock, id)| format!("{lock} {}", place(*id))).collect::<Vec<_>>();
        let mark = if circle.contains(&wait) { "!" } else { "" };
        format!("{}{mark}: {}, {} {}", wait.thread, held.join(", "), wait.wanted.join(", "), place(wait.at))
    };
    let waiting = waits.iter().map(wait).collect();
    let line = |seen: &super::Seen| program.structure.place(seen.id).1.line.to_string();
    let shown = found.checks().iter().map(|(check, times)| {
        let pieces =
            check.pieces.iter().map(|piece| piece.lines.iter().map(line).collect::<Vec<_>>().join(","));
        let pieces = pieces.collect::<Vec<_>>().join(" | ");
        let perhaps = if check.certain { "" } else { "perhaps " };
        let times = if *times > 1 { format!(" x {times}") } else { String::new() };
        format!("{perhaps}{}: {pieces}{times}", check.rule)
    });
    (shown.collect(), waiting)
}

const SECTION: &str = "\
fn main() {
    add(1); // calls=add
    add(2); // calls=add
}
// xhist exclusive TRUE
fn add(change: i32) {
    let old = read(); // calls=read
    if old == 9 { // 10
        return; // jump=return
    }
    write(old + change); // calls=write
}
// xhist exclusive FALSE
fn handler() {
    add(3); // calls=add
}
";

const RULE: &str = "exclusive src/main.rs:5-13";

#[test]
fn a_section_that_is_entered_again_is_found_where_it_happens() {
    let check = |steps: &[Step]| found(SECTION, &[], &[steps]);
    assert_eq!(check(&[Lines(&[2, 7, 15, 7, 8, 11, 8, 11, 3])]), [format!("{RULE}: 7,15,7")]);
    // The program hangs there.
    assert_eq!(check(&[Lines(&[2, 7, 8, 15, 7])]), [format!("{RULE}: 7,8,15,7")]);
    assert_eq!(
        check(&[Lines(&[2, 7, 15, 7, 8, 11, 8, 11, 3, 7, 15, 7, 8, 11])]),
        [format!("{RULE}: 7,15,7 x 2")]
    );
}

#[test]
fn a_section_that_is_left_may_be_entered_again() {
    let check = |steps: &[Step]| found(SECTION, &[], &[steps]);
    for steps in [
        [Lines(&[2, 7, 8, 11, 3, 7, 8, 11])],
        // By an early return.
        [Lines(&[2, 7, 8, 9, 3, 7, 8, 11])],
        // A callback behind it.
        [Lines(&[2, 7, 8, 11, 15, 7, 8, 11, 3])],
        // The history begins in it.
        [Lines(&[8, 11, 3, 7, 8, 11])],
    ] {
        assert!(check(&steps).is_empty(), "{:?}", check(&steps));
    }
    // A panic may have ended it, or what is missing.
    assert!(check(&[Lines(&[2, 7]), Panic, Lines(&[3, 7, 8, 11])]).is_empty());
    assert!(check(&[Lines(&[2, 7]), Gap, Lines(&[3, 7, 8, 11])]).is_empty());
}

#[test]
fn a_handler_in_the_last_statement_is_perhaps_in_the_section() {
    let check = |steps: &[Step]| found(SECTION, &[], &[steps]);
    for handler in [Handler { signals: 1, interrupt: 0 }, Handler { signals: 0, interrupt: 15 }] {
        let steps = [Lines(&[2, 7, 8, 11]), In(handler, &[15, 7, 8, 11]), Lines(&[3, 7, 8, 11])];
        assert_eq!(check(&steps), [format!("perhaps {RULE}: 7,8,11,15,7")]);
        let steps = [Lines(&[2, 7]), In(handler, &[15, 7, 8, 11]), Lines(&[8, 11, 3, 7, 8, 11])];
        assert_eq!(check(&steps), [format!("{RULE}: 7,15,7")]);
        // In the statement of the caller.
        let steps = [Lines(&[2]), In(handler, &[15, 7, 8, 11]), Lines(&[7, 8, 11])];
        assert!(check(&steps).is_empty());
    }
}

#[test]
fn a_function_or_lines_may_be_named_instead() {
    let code = SECTION.replace("// xhist exclusive TRUE", "//").replace("// xhist exclusive FALSE", "//");
    let steps: &[&[Step]] = &[&[Lines(&[2, 7, 15, 7])]];
    assert_eq!(found(&code, &["exclusive add"], steps), ["exclusive add: 7,15,7"]);
    assert_eq!(found(&code, &["exclusive main.rs:7-11"], steps), ["exclusive main.rs:7-11: 7,15,7"]);
    // Only behind the first statement.
    assert!(found(&code, &["exclusive main.rs:8-11"], steps).is_empty());
    assert!(found(&code, &["exclusive handler"], steps).is_empty());
}

#[test]
fn a_statement_that_should_follow_and_does_not_is_found() {
    let check = |rule: &str, steps: &[Step]| found(SECTION, &[rule], &[steps]);
    let rule = "expect main.rs:7..main.rs:11";
    assert!(check(rule, &[Lines(&[2, 7, 8, 11, 3, 7, 8, 11])]).is_empty());
    assert_eq!(check(rule, &[Lines(&[2, 7, 8, 9, 3, 7, 8, 11])]), [format!("{rule}: 7,8,9,3,7")]);
    // Functions by their entries.
    let rule = "expect add..handler";
    assert_eq!(check(rule, &[Lines(&[2, 7, 8, 9, 15, 7, 8, 9])]), Vec::<String>::new());
    assert_eq!(check(rule, &[Lines(&[2, 7, 8, 9, 3, 7, 8, 9])]), [format!("{rule}: 7,8,9,3,7")]);
    // Threads have nothing to do with each other.
    let threads: &[&[Step]] = &[&[Lines(&[2, 7, 8, 9])], &[Lines(&[2, 7, 8, 9])]];
    assert!(found(SECTION, &[rule], threads).is_empty());
    // What is missing may have been the second.
    assert!(check(rule, &[Lines(&[2, 7, 8, 9]), Gap, Lines(&[3, 7, 8, 9])]).is_empty());
}

#[test]
fn a_folded_loop_is_seen_to_begin_again() {
    let rule = "expect main.rs:7..main.rs:11";
    let round: &[u16] = &[2, 7, 8, 9];
    assert_eq!(found(SECTION, &[rule], &[&[Lines(round), Repeat(4)]]), [format!("{rule}: 7,7")]);
    let round: &[u16] = &[2, 7, 8, 11];
    assert!(found(SECTION, &[rule], &[&[Lines(round), Repeat(4)]]).is_empty());
}

const LOCKS: &str = "\
fn pay(bank: &Bank) {
    let from = bank.accounts.lock().unwrap(); // calls=.lock,.unwrap
    let log = bank.log.lock().unwrap(); // calls=.lock,.unwrap
    log.push(1); // calls=.push
}
fn report(bank: &Bank) {
    let log = bank.log.lock().unwrap(); // calls=.lock,.unwrap
    show(bank, &log); // calls=show
}
fn show(bank: &Bank, log: &Log) {
    let sum = bank.accounts.lock().unwrap().len(); // calls=.lock,.unwrap,.len
    print(sum); // calls=print
}
fn careful(bank: &Bank) {
    let log = bank.log.lock().unwrap(); // calls=.lock,.unwrap
    drop(log); // calls=drop
    let sum = bank.accounts.lock().unwrap(); // calls=.lock,.unwrap
}
fn block(bank: &Bank) {
    if true { // 23
        let log = bank.log.lock().unwrap(); // calls=.lock,.unwrap
        log.push(2); // calls=.push
    }
    let sum = bank.accounts.lock().unwrap(); // calls=.lock,.unwrap
}
fn gated(bank: &Bank) {
    let gate = bank.gate.lock().unwrap(); // calls=.lock,.unwrap
    pay(bank); // calls=pay
    report(bank); // calls=report
}
fn main() {
    report(&bank); // calls=report
    careful(&bank); // calls=careful
    pay(&bank); // calls=pay
}
fn tick(bank: &Bank) {
    let log = bank.log.lock().unwrap(); // calls=.lock,.unwrap
    let all = bank.gate.lock().unwrap(); // calls=.lock,.unwrap
}
";

#[test]
fn locks_in_two_orders_are_found_also_through_calls() {
    let pay: &[Step] = &[Lines(&[2, 3, 4])];
    let report: &[Step] = &[Lines(&[7, 8, 11, 12])];
    let rule = "locks .accounts and .log";
    assert_eq!(found(LOCKS, &[], &[pay, report]), [format!("{rule}: 2,3 | 7,11")]);
    assert_eq!(found(LOCKS, &[], &[report, pay]), [format!("{rule}: 7,11 | 2,3")]);
    // The two wait for each other.
    assert_eq!(
        found(LOCKS, &[], &[&[Lines(&[2, 3])], &[Lines(&[7, 8, 11])]]),
        [format!("{rule}: 2,3 | 7,11")]
    );
    assert!(found(LOCKS, &[], &[pay, pay]).is_empty());
}

#[test]
fn a_lock_that_was_released_is_not_held() {
    let pay: &[Step] = &[Lines(&[2, 3, 4])];
    for other in [
        // Dropped, at the end of a block, at the end of its function, by a panic.
        &[Lines(&[15, 16, 17])][..],
        &[Lines(&[20, 21, 22, 24])],
        &[Lines(&[7]), Panic, Lines(&[11, 12])],
    ] {
        let found = found(LOCKS, &[], &[pay, other]);
        assert!(found.is_empty(), "{found:?}");
    }
    // `report` has ended before `pay` starts.
    let one_by_one: &[Step] = &[Lines(&[33, 15, 16, 17, 34, 2, 3, 4])];
    assert!(found(LOCKS, &[], &[one_by_one]).is_empty());
}

#[test]
fn locks_under_a_third_one_cannot_wait_for_each_other() {
    let gated: &[Step] = &[Lines(&[27, 28, 2, 3, 4, 29, 7, 8, 11, 12])];
    assert!(found(LOCKS, &[], &[gated]).is_empty());
    let report: &[Step] = &[Lines(&[7, 8, 11, 12])];
    assert_eq!(found(LOCKS, &[], &[gated, report]), ["locks .accounts and .log: 2,3 | 7,11"]);
}

#[test]
fn locks_in_a_circle_are_found() {
    let pay: &[Step] = &[Lines(&[2, 3])];
    let tick: &[Step] = &[Lines(&[37, 38])];
    let behind: &[Step] = &[Lines(&[27, 28, 2])];
    let circle = |pieces: &str| format!("locks .accounts, .log and .gate: {pieces}");
    assert_eq!(found(LOCKS, &[], &[pay, tick, behind]), [circle("2,3 | 37,38 | 27,2")]);
    assert_eq!(found(LOCKS, &[], &[behind, pay, tick]), [circle("27,2 | 2,3 | 37,38")]);
    // Again, and by one thread alone.
    assert_eq!(found(LOCKS, &[], &[pay, tick, behind, behind]), [circle("2,3 | 37,38 | 27,2")]);
    assert!(found(LOCKS, &[], &[pay, tick]).is_empty());
    // `.gate` is held around the second way already, so those two cannot meet.
    let gated: &[Step] = &[Lines(&[27, 28, 2, 3])];
    assert_eq!(found(LOCKS, &[], &[gated, tick]), ["locks .gate and .log: 27,3 | 37,38"]);
}

#[test]
fn what_a_handler_interrupts_holds_its_locks() {
    let pay = In(Handler { signals: 1, interrupt: 0 }, &[2]);
    let interrupted: &[Step] = &[Lines(&[32, 7, 8]), pay];
    let pay: &[Step] = &[Lines(&[2, 3, 4])];
    assert_eq!(found(LOCKS, &[], &[pay, interrupted]), ["locks .accounts and .log: 2,3 | 7,2"]);
}

#[test]
fn a_task_that_waits_holds_no_lock_of_the_task_that_goes_on() {
    let code = "\
async fn pay(bank: &Bank) {
    let from = bank.accounts.lock().await; // calls=.lock await
    step(bank).await; // calls=step await
}
async fn step(bank: &Bank) {
    wait().await; // calls=wait await
    let log = bank.log.lock().await; // calls=.lock await
}
fn report(bank: &Bank) {
    let log = bank.log.lock().unwrap(); // calls=.lock,.unwrap
    let from = bank.accounts.lock().unwrap(); // calls=.lock,.unwrap
}
";
    let (enter, resume) = (TaskStep::Enter, TaskStep::Resume);
    // `step` waits as a task of its own. Then `pay` waits in another `step`, and the first one goes on.
    let begin = [Task(enter, 1), Lines(&[6]), Task(enter, 2), Lines(&[2, 3]), Task(enter, 3), Lines(&[6])];
    let go_on = |task| begin.into_iter().chain([Task(resume, task), Lines(&[7])]).collect::<Vec<_>>();
    let report: &[Step] = &[Lines(&[10, 11])];
    assert!(found(code, &[], &[&go_on(1), report]).is_empty());
    assert_eq!(found(code, &[], &[&go_on(3), report]), ["locks .accounts and .log: 2,7 | 10,11"]);
}

#[test]
fn threads_that_end_at_a_lock_are_known_with_the_locks_that_they_hold() {
    let waits = |threads: &[&[Step]]| checked(LOCKS, &[], threads).1;
    let (pay, report): (&[Step], &[Step]) = (&[Lines(&[2, 3])], &[Lines(&[7, 8, 11])]);
    let both = ["t0!: .accounts 2, .log 3", "t1!: .log 7, .accounts 11"];
    assert_eq!(waits(&[pay, report]), both);
    // One waits for the two, and nothing waits for it; another one holds nothing.
    let behind: &[Step] = &[Lines(&[27, 28, 2])];
    let all = waits(&[pay, report, behind, &[Lines(&[2])]]);
    assert_eq!(all, [both[0], both[1], "t2: .gate 27, .accounts 2"]);
    assert_eq!(waits(&[pay, pay]), ["t0: .accounts 2, .log 3", "t1: .accounts 2, .log 3"]);
    // A circle of three.
    let tick: &[Step] = &[Lines(&[37, 38])];
    let three = waits(&[pay, tick, behind]);
    assert_eq!(three, ["t0!: .accounts 2, .log 3", "t1!: .log 37, .gate 38", "t2!: .gate 27, .accounts 2"]);
    // A lock that the thread holds.
    let twice: &[Step] = &[Lines(&[7, 8]), In(Handler { signals: 1, interrupt: 0 }, &[37])];
    assert_eq!(waits(&[twice]), ["t0!: .log 7, .log 37"]);
    // It went on.
    assert!(waits(&[&[Lines(&[2, 3, 4])], report]).iter().all(|wait| !wait.contains('!')));
}
