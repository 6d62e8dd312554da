//! `find`, `frame` and `source`.

use serde_json::Value;
use xhist_tests::{Done, line_of};

use super::{shell, tree, xhist};

fn lines(done: &Done) -> Vec<Value> {
    done.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn of_kind<'l>(lines: &'l [Value], kind: &'l str) -> impl Iterator<Item = &'l Value> {
    lines.iter().filter(move |line| line["kind"] == kind)
}

/// A place of the parser, by a text in its line.
fn place(mark: &str) -> String {
    format!("src/lib.rs:{}", line_of(&tree().join("src/lib.rs"), mark))
}

pub fn find() {
    let line = place("total += ");
    let listed = xhist("history").succeed().stdout;
    let numbers: Vec<&str> = listed
        .lines()
        .filter(|entry| entry.split(' ').nth(1) == Some(&line))
        .filter_map(|entry| entry.split(' ').next())
        .collect();
    let done = xhist(&format!("find {line} --format json")).succeed();
    let lines_of_line = lines(&done);
    let found = &lines_of_line[1];
    done.check(found["count"] == numbers.len() && found["what"] == "line", "each time that it ran");
    done.check(of_kind(&lines_of_line, "hit").count() == numbers.len(), "each is listed");
    done.check(of_kind(&lines_of_line, "thread").count() == 3, "each test");
    let text = xhist(&format!("find {line} --limit 2")).succeed();
    text.check(text.stdout.starts_with(&format!("{line}: {} hits, entries ", numbers.len())), "the heading");
    text.check(text.stdout.contains(&format!("  {} earlier are not listed", numbers.len() - 2)), "the limit");
    let next = text.stdout.trim_end().rsplit_once(": ").expect("a command").1;
    shell(tree(), next).succeed();

    let done = xhist("find Parser::value --format json").succeed();
    let calls = lines(&done);
    let entered = xhist("calls --format json").succeed();
    let entered: u64 = of_kind(&lines(&entered), "call")
        .filter(|call| call["function"] == "Parser::value" && call["part"] != "end")
        .map(|call| call["times"].as_u64().unwrap_or(1))
        .sum();
    done.check(calls[1]["count"] == entered && calls[1]["what"] == "function", "each call");
    // 1+2+3, (1+(2+3))+4 and 1+(2+(3+4)+5
    let done = xhist("find digit=3").succeed();
    done.check(done.stdout.starts_with("digit=3: 3 hits, entries "), "each value");
    done.check(done.stdout.contains("digit = 3"), "the value");
    let done = xhist("find digit=* --format json").succeed();
    done.check(lines(&done)[1]["count"] == 24, "any value, of the pattern and of the binding");
}

pub fn frame() {
    let done = xhist("frame").succeed();
    let failing = place("no closing bracket");
    done.check(
        done.stdout.starts_with("Parser::value(") && done.stdout.contains("thread tests::unclosed"),
        "the failed call",
    );
    done.check(
        done.stdout.contains(&format!("called by {} Parser::sum: total += ", place("total += "))),
        "its caller",
    );
    done.check(done.stdout.contains(&format!("  {failing}  assert_eq!(close")), "its statements");
    done.check(done.stdout.contains("    -> Parser::sum("), "its callees");
    done.check(done.stdout.contains("let inner = self.sum();  [inner = 14]"), "what its callees returned");
    let last = done.stdout.lines().last().unwrap_or_default();
    done.check(last.starts_with("panicked at entry "), "how it was left");
    let caller = done.stdout.split("   (").nth(1).and_then(|rest| rest.split(')').next()).expect("a command");
    let caller = shell(tree(), caller).succeed();
    caller.check(caller.stdout.starts_with("Parser::sum("), "the caller's frame");
    caller.check(caller.stdout.contains("left by a panic that passed through it"), "how the caller was left");

    // The same by a key of the view, and by another where a value comes from.
    let view = xhist("view --print --keys i --width 200 --height 60").succeed();
    let heading = done.stdout.lines().next().unwrap_or_default();
    view.check(view.stdout.contains(heading) && view.stdout.contains("-> Parser::sum("), "the call by a key");
    let view = xhist("view --print --keys w --width 200 --height 60").succeed();
    view.check(view.stdout.contains("origin of `"), "an origin by a key");

    for (call, function) in [
        ("Parser::next#last", "Parser::next"),
        ("Parser::sum#1", "Parser::sum"),
        (&*place("Parser { text"), "Parser::new"),
    ] {
        let done = xhist("frame --format json").arg(call).succeed();
        let rows = lines(&done);
        let frame = of_kind(&rows, "frame").next().expect("a frame");
        done.check(frame["function"] == function, function);
        done.check(
            of_kind(&rows, "left").next().is_some_and(|left| left["exit"] == "returned"),
            "how it was left",
        );
    }
    // A value that a recursive call returned is one of its caller.
    let innermost = xhist("frame power").succeed();
    innermost.check(innermost.stdout.starts_with("power(base = 2, times = 0)"), "the newest call");
    innermost.check(!innermost.stdout.contains("[below"), "no value of its caller");
    let next = xhist("find below=1").succeed().stdout;
    let caller = shell(tree(), next.trim_end().rsplit_once(": ").expect("a command").1).succeed();
    caller.check(caller.stdout.starts_with("power(base = 2, times = 1)"), "the call of the value");
    caller.check(caller.stdout.contains("let below = power(base, times - 1);  [below = 1]"), "its value");

    // Of one thread entries have other numbers, so the next command names it.
    let done = xhist("frame power#3 --thread tests::powers").succeed();
    let next = done.stdout.split("   (").nth(1).and_then(|rest| rest.split(")\n").next()).expect("a command");
    let caller = shell(tree(), next).succeed();
    caller.check(caller.stdout.starts_with("power(base = 2, times = 2)"), "the caller in that thread");

    // The same call by the number of an entry in it.
    let rows = lines(&xhist("frame --format json Parser::sum#2").succeed());
    let number = of_kind(&rows, "statement").last().expect("a statement")["n"].to_string();
    assert_eq!(lines(&xhist(&format!("frame --format json {number}")).succeed()), rows);
}

pub fn source() {
    let text = tree().read("src/lib.rs");
    let done = xhist("source src/lib.rs --test unclosed --format json").succeed();
    let rows = lines(&done);
    let listed: Vec<&str> = of_kind(&rows, "line").filter_map(|line| line["source"].as_str()).collect();
    done.check(listed == text.lines().collect::<Vec<_>>(), "the text");
    let runs = |mark: &str, rows: &[Value]| {
        let line = line_of(&tree().join("src/lib.rs"), mark);
        of_kind(rows, "line").find(|row| row["line"] == line).map(|row| row["runs"].to_string())
    };
    // Of 1+(2+(3+4)+5, three digits are added before the end.
    done.check(runs("let digit = ", &rows).as_deref() == Some("[5]"), "digits of this test");
    done.check(runs("end of text", &rows).as_deref() == Some("[0]"), "a statement that never ran");
    done.check(runs("pub struct Parser", &rows).as_deref() == Some("[]"), "no statement");
    let all = lines(&xhist("source src/lib.rs --format json").succeed());
    done.check(runs("let digit = ", &all).as_deref() == Some("[12]"), "digits of all tests");

    let done = xhist("source lib.rs last::tests::unclosed --beside last::tests::adds").succeed();
    let differs: Vec<&str> = done.stdout.lines().filter(|line| line.contains("! ")).collect();
    done.check(differs.iter().any(|line| line.contains("self.depth += 1;")), "a line of one of them");
    done.check(differs.iter().all(|line| !line.contains("let digit")), "a line of both");
    let heading = "the history of last::tests::unclosed | last::tests::adds has each line;";
    done.check(done.stdout.contains(heading), "the heading");
}

pub fn not_there() {
    for (question, why) in [
        ("find nothing", "functions that are: Parser::new"),
        ("frame Parser::sum#999", "#1 to #"),
        ("frame 99999", "there are entries 1 to "),
        ("frame last", "a history comes behind the call: `cargo xhist frame '' last`"),
        ("find src/lib.rs:1", "lines near it that are: "),
        ("find digit=77", "names that are: "),
        ("source src/other.rs", "files that are: src/lib.rs"),
        ("source src/lib.rs:999", "src/lib.rs has "),
        ("frame digit=3", "cargo xhist find digit=3"),
    ] {
        let done = xhist(question).done().expect(3);
        done.check(done.stderr.contains(why) && done.stdout.is_empty(), why);
    }
    xhist("find Parser::next --follow").done().expect(2);
}
