//! Sessions over small recordings: what a client gets.

use std::rc::Rc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::launch::LaunchArgs;
use super::loading::{LoadEnd, Loading, Opener};
use super::session::DapSession;
use xhist_history::ExitCode;
use xhist_history::recording::{EventKind, RecordingSample, SharedRecording, StepId};

/// A client of a session.
struct Client {
    session: DapSession,
    recording: SharedRecording,
    seq: i64,
    /// Events that were not asked for yet.
    events: Vec<Value>,
}

/// A recording that is shared.
fn shared(sample: RecordingSample) -> SharedRecording {
    let recording = SharedRecording::default();
    *recording.lock() = sample.recording;
    recording
}

impl Client {
    fn new(recording: &SharedRecording) -> Client {
        let shown = recording.clone();
        Client::with_opener(recording, Rc::new(move |_: &LaunchArgs| Ok(Loading::complete(shown.clone()))))
    }

    fn with_opener(recording: &SharedRecording, opener: Opener) -> Client {
        Client { session: DapSession::new(&opener), recording: recording.clone(), seq: 0, events: Vec::new() }
    }

    /// Sends a request; its response, and what comes with it.
    fn send(&mut self, command: &str, arguments: Value) -> Option<Value> {
        self.seq += 1;
        let message = json!({"seq": self.seq, "type": "request", "command": command, "arguments": arguments});
        let answers = self.session.handle(message.to_string().as_bytes());
        self.take(answers)
    }

    fn tick(&mut self) -> Option<Value> {
        let answers = self.session.tick();
        self.take(answers)
    }

    fn take(&mut self, answers: Vec<Value>) -> Option<Value> {
        let mut response = None;
        for answer in answers {
            check_numbers(&answer);
            match answer["type"].as_str() {
                Some("response") if answer["request_seq"] == self.seq => response = Some(answer),
                _ => self.events.push(answer),
            }
        }
        response
    }

    /// The body of a successful request.
    fn ask(&mut self, command: &str, arguments: Value) -> Value {
        let response = self.send(command, arguments).expect("a response");
        assert_eq!(response["success"], true, "{response}");
        response["body"].clone()
    }

    /// Why a request fails.
    fn fail(&mut self, command: &str, arguments: Value) -> String {
        let response = self.send(command, arguments).expect("a response");
        assert_eq!(response["success"], false, "{response}");
        response["message"].as_str().expect("a text").to_owned()
    }

    /// The bodies of the events of this name.
    fn events(&mut self, name: &str) -> Vec<Value> {
        let (found, rest): (Vec<Value>, Vec<Value>) =
            std::mem::take(&mut self.events).into_iter().partition(|event| event["event"] == name);
        self.events = rest;
        found.into_iter().map(|event| event["body"].clone()).collect()
    }

    /// The body of the only stop.
    fn stop(&mut self) -> Value {
        let stops = self.events("stopped");
        assert_eq!(stops.len(), 1, "{stops:?}");
        stops[0].clone()
    }

    /// Opens the recording; the first stop.
    fn open(&mut self, launch: Value) -> Value {
        self.ask("initialize", json!({"adapterID": "xhist", "supportsVariableType": true}));
        assert!(self.send("launch", launch).is_none(), "the response follows later");
        self.tick();
        assert_eq!(self.events("initialized").len(), 1);
        self.ask("configurationDone", json!({}));
        let opened = self.events.iter().position(|event| event["command"] == "launch").expect("a response");
        assert_eq!(self.events.remove(opened)["success"], true);
        self.stop()
    }

    /// The lines on the stack, the innermost first.
    fn lines(&mut self) -> Vec<i64> {
        let trace = self.ask("stackTrace", json!({"threadId": 1}));
        trace["stackFrames"].as_array().unwrap().iter().map(|frame| frame["line"].as_i64().unwrap()).collect()
    }

    /// Moves by a request; the reason of the stop, and the lines on the stack.
    fn go(&mut self, command: &str) -> (String, Vec<i64>) {
        self.ask(command, json!({"threadId": 1}));
        (self.stop()["reason"].as_str().unwrap().to_owned(), self.lines())
    }

    /// What the console answers to a word.
    fn word(&mut self, text: &str) -> String {
        let answer = self.ask("evaluate", json!({"expression": text, "context": "repl"}));
        answer["result"].as_str().unwrap().to_owned()
    }

    fn at(&self) -> StepId {
        self.session.at
    }
}

/// All whole numbers fit into 31 bits.
fn check_numbers(value: &Value) {
    match value {
        Value::Number(number) => {
            let number = number.as_i64().expect("a whole number");
            assert!((0..=i64::from(i32::MAX)).contains(&number), "{number}");
        }
        Value::Array(values) => values.iter().for_each(check_numbers),
        Value::Object(fields) => fields.values().for_each(check_numbers),
        _ => {}
    }
}

/// `main` (1, 2, 3) calls `leaf` (10, 11) in line 2, twice, and panics.
fn panicking() -> SharedRecording {
    let mut sample = RecordingSample::calls();
    sample.event(EventKind::Panic, "attempt to divide by zero");
    sample.recording.calls[0].last = StepId(7);
    sample.value((2, 1), "x", "1");
    sample.value((4, 2), "x", "22");
    shared(sample)
}

fn in_main(line: i64) -> Value {
    json!({"source": {"path": "/somewhere/src/main.rs"}, "breakpoints": [{"line": line}]})
}

#[test]
fn a_session_opens_at_the_failure_and_steps_back_over_calls() {
    let mut client = Client::new(&panicking());
    let stop = client.open(json!({}));
    assert_eq!((&stop["reason"], &stop["text"]), (&json!("exception"), &json!("attempt to divide by zero")));
    assert_eq!((&stop["description"], &stop["threadId"]), (&json!("panic"), &json!(1)));
    assert_eq!(client.lines(), [3]);
    let info = client.ask("exceptionInfo", json!({"threadId": 1}));
    assert_eq!(
        (&info["exceptionId"], &info["details"]["stackTrace"]),
        (&json!("panic"), &json!("main src/main.rs:3"))
    );
    assert_eq!(client.go("stepBack"), ("step".to_owned(), vec![2]));
    assert_eq!(client.go("stepIn"), ("step".to_owned(), vec![10, 2]));
    assert_eq!(client.go("stepOut"), ("step".to_owned(), vec![10, 2]));
    assert_eq!(client.at(), StepId(4));
    assert_eq!(client.go("stepOut"), ("step".to_owned(), vec![3]));
    assert_eq!(client.go("reverseContinue"), ("entry".to_owned(), vec![1]));
    assert_eq!(client.go("stepBack"), ("entry".to_owned(), vec![1]));
    assert_eq!(client.go("next"), ("step".to_owned(), vec![2]));
    assert_eq!(client.go("next"), ("step".to_owned(), vec![3]));
    assert_eq!(client.go("next"), ("exception".to_owned(), vec![3]));
    // The end is a stop as well, and the session goes on.
    assert_eq!(client.go("continue"), ("exception".to_owned(), vec![3]));
    assert_eq!(client.go("next"), ("exception".to_owned(), vec![3]));
    assert_eq!(client.go("stepBack"), ("step".to_owned(), vec![2]));
    assert!(client.events("terminated").is_empty());
    client.ask("disconnect", json!({}));
    assert_eq!(client.events("terminated").len(), 1);
    assert!(client.session.is_over());
}

#[test]
fn instructions_are_statements() {
    let mut client = Client::new(&panicking());
    client.open(json!({"stopAt": "start"}));
    let mut lines = Vec::new();
    for command in ["next", "stepIn", "next", "stepBack", "stepBack", "stepBack"] {
        client.ask(command, json!({"threadId": 1, "granularity": "instruction"}));
        client.stop();
        lines.push(client.lines()[0]);
    }
    assert_eq!(lines, [2, 10, 11, 10, 2, 1]);
}

#[test]
fn breakpoints_move_and_say_what_never_ran() {
    let mut client = Client::new(&panicking());
    client.open(json!({"stopAt": "start"}));
    let found = client.ask("setBreakpoints", in_main(10));
    assert_eq!(found["breakpoints"][0]["verified"], true);
    assert_eq!(client.go("continue"), ("breakpoint".to_owned(), vec![10, 2]));
    assert_eq!(client.go("continue"), ("breakpoint".to_owned(), vec![10, 2]));
    assert_eq!(client.at(), StepId(4));
    // A step over a call stops at a breakpoint in it.
    assert_eq!(client.go("reverseContinue").0, "breakpoint");
    assert_eq!(client.go("reverseContinue").0, "entry");
    assert_eq!(client.go("next").1, [2]);
    assert_eq!(client.go("next"), ("breakpoint".to_owned(), vec![10, 2]));
    // Line 4 has no statement, and line 5 never ran.
    let found = client.ask("setBreakpoints", in_main(4));
    let point = &found["breakpoints"][0];
    assert_eq!((&point["line"], &point["verified"]), (&json!(5), &json!(true)));
    assert_eq!(point["message"], "this line never ran in this history");
    let found = client.ask("setBreakpoints", in_main(99));
    assert_eq!(
        (&found["breakpoints"][0]["verified"], &found["breakpoints"][0]["reason"]),
        (&json!(false), &json!("failed"))
    );
    let other = json!({"source": {"path": "/other.rs"}, "breakpoints": [{"line": 1}]});
    let found = client.ask("setBreakpoints", other);
    assert_eq!(found["breakpoints"][0]["message"], "no statement of this file ran in this history");
    let found = client
        .ask("breakpointLocations", json!({"source": {"path": "src/main.rs"}, "line": 1, "endLine": 5}));
    let lines: Vec<i64> =
        found["breakpoints"].as_array().unwrap().iter().map(|at| at["line"].as_i64().unwrap()).collect();
    assert_eq!(lines, [1, 2, 3, 5]);
}

#[test]
fn breakpoints_have_conditions_on_hits_and_values() {
    let mut client = Client::new(&panicking());
    client.open(json!({"stopAt": "start"}));
    let set = |client: &mut Client, point: Value| {
        let all = json!({"source": {"path": "src/main.rs"}, "breakpoints": [point]});
        client.ask("setBreakpoints", all)["breakpoints"][0].clone()
    };
    for point in [
        json!({"line": 10, "hitCondition": "2"}),
        json!({"line": 10, "condition": "x == 22"}),
        json!({"line": 10, "condition": "x > 2", "hitCondition": "% 2"}),
    ] {
        assert_eq!(set(&mut client, point)["verified"], true);
        assert_eq!(client.go("continue"), ("breakpoint".to_owned(), vec![10, 2]));
        assert_eq!(client.at(), StepId(4));
        assert_eq!(client.go("reverseContinue").0, "entry");
    }
    let wrong = set(&mut client, json!({"line": 10, "condition": "f()"}));
    assert!(wrong["verified"] == false && wrong["message"].as_str().unwrap().contains("write `name == 5`"));
    let unknown = set(&mut client, json!({"line": 10, "condition": "y == 1"}));
    assert!(unknown["message"].as_str().unwrap().contains("no value of `y`"));
    set(&mut client, json!({"line": 10, "logMessage": "x is {x}, y is {y}"}));
    let lines: Vec<String> =
        client.events("output").iter().map(|line| line["output"].as_str().unwrap().to_owned()).collect();
    assert_eq!(
        lines,
        ["step 3: x is 1, y is <y is not recorded>\n", "step 5: x is 22, y is <y is not recorded>\n"]
    );
    // The same logpoint has no more to say, and stops nothing.
    set(&mut client, json!({"line": 10, "logMessage": "x is {x}, y is {y}"}));
    assert!(client.events("output").is_empty());
    assert_eq!(client.go("continue").0, "exception");
    let found =
        client.ask("setFunctionBreakpoints", json!({"breakpoints": [{"name": "leaf"}, {"name": "nothing"}]}));
    assert_eq!(
        (&found["breakpoints"][0]["line"], &found["breakpoints"][1]["verified"]),
        (&json!(10), &json!(false))
    );
    assert_eq!(client.go("reverseContinue"), ("function breakpoint".to_owned(), vec![10, 2]));
    client.ask("setExceptionBreakpoints", json!({"filters": []}));
    client.ask("setFunctionBreakpoints", json!({"breakpoints": []}));
    client.word("goto 1");
    client.stop();
    assert_eq!(client.go("continue").0, "exception");
    assert_eq!(client.at(), StepId(7));
}

#[test]
fn a_logpoint_prints_a_bounded_number_of_lines() {
    let mut sample = RecordingSample::default();
    (0..3000).for_each(|_| {
        sample.line(1);
    });
    let mut client = Client::new(&shared(sample));
    client.open(json!({}));
    let all = json!({"source": {"path": "src/main.rs"}, "breakpoints": [{"line": 1, "logMessage": "here"}]});
    client.ask("setBreakpoints", all);
    let lines = client.events("output");
    let texts: Vec<&str> = lines.iter().map(|line| line["output"].as_str().unwrap()).collect();
    let end = "No failure is recorded. At the end of the history:\nthread main: src/main.rs:1 main: line 1\n";
    assert_eq!((texts.len(), texts[0]), (1002, end));
    assert!(texts[1001].contains("its line ran 3000 times"), "{}", texts[1001]);
}

#[test]
fn values_belong_to_their_calls() {
    let mut client = Client::new(&panicking());
    client.open(json!({"stopAt": 6}));
    assert_eq!(client.lines(), [11, 2]);
    let trace = client.ask("stackTrace", json!({"threadId": 1, "startFrame": 0, "levels": 1}));
    assert_eq!((&trace["totalFrames"], trace["stackFrames"].as_array().unwrap().len()), (&json!(2), 1));
    let frame = &trace["stackFrames"][0];
    assert_eq!((&frame["name"], &frame["source"]["name"]), (&json!("leaf"), &json!("main.rs")));
    let id = frame["id"].clone();
    let scopes = client.ask("scopes", json!({"frameId": id}))["scopes"].clone();
    let names: Vec<&str> =
        scopes.as_array().unwrap().iter().map(|scope| scope["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Arguments", "Locals", "xhist"]);
    let mut values = |place: usize| {
        client.ask("variables", json!({"variablesReference": scopes[place]["variablesReference"]}))["variables"].clone()
    };
    let x = values(0)[0].clone();
    assert_eq!((&x["name"], &x["value"], &x["type"]), (&json!("x"), &json!("22"), &json!("seen at step 5")));
    assert!(values(1)[0]["value"].as_str().unwrap().contains("this call has recorded none"));
    let about = values(2);
    let about = |name: &str| {
        about.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap()["value"].clone()
    };
    assert_eq!((about("step"), about("statement")), (json!("6 of 8"), json!("line 11")));
    assert_eq!(about("call"), "entered at step 5, returned at step 6");
    let x = client.ask("evaluate", json!({"expression": "x", "frameId": id, "context": "hover"}));
    assert_eq!(x["result"], "22");
    assert!(
        client
            .fail("evaluate", json!({"expression": "back", "context": "watch"}))
            .contains("no value of `back`")
    );
    // What belongs to this stop is forgotten at the next one.
    client.go("stepBack");
    assert!(client.fail("scopes", json!({"frameId": id})).contains("earlier stop"));
    // An editor asks that of itself, so it opens no window about it; a move is what the user wanted.
    for (command, arguments, is_shown) in
        [("scopes", json!({"frameId": id}), false), ("goto", json!({"threadId": 1, "targetId": 99}), true)]
    {
        let response = client.send(command, arguments).expect("a response");
        assert_eq!(response["body"]["error"]["showUser"], is_shown, "{response}");
    }
    let reference = &scopes[0]["variablesReference"];
    assert!(client.fail("variables", json!({"variablesReference": reference})).contains("earlier stop"));
}

#[test]
fn the_console_says_where_a_value_comes_from() {
    let mut sample = RecordingSample::default();
    let text = "fn main() {\n    let a = 4;\n    let b = a;\n    end(b);\n}\n";
    sample.recording.files[0].text = Some(text.into());
    for line in [2, 3, 4] {
        sample.line(line);
    }
    sample.call(0, (0, 2), None);
    let mut client = Client::new(&shared(sample));
    client.open(json!({}));
    let text = client.word("origin b");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(lines[0].starts_with("step 2 of 3, main: src/main.rs:3 ") && lines[0].ends_with("bound b"));
    assert!(lines[1].starts_with("step 1 of 3, main: src/main.rs:2 ") && lines[1].ends_with("bound a"));
    assert_eq!(lines[2], "made in src/main.rs:2 by `4`");
    let why = client.fail("evaluate", json!({"expression": "origin c", "context": "repl"}));
    assert!(why.contains("has a variable `c`"), "{why}");
}

#[test]
fn the_console_shows_a_whole_call() {
    let mut client = Client::new(&panicking());
    client.open(json!({}));
    let main = client.word("frame");
    client.word("last leaf");
    let here = client.word("frame");
    let lines: Vec<&str> = here.lines().map(str::trim).collect();
    assert_eq!(
        lines[2..],
        ["5  src/main.rs:10  line 10", "6  src/main.rs:11  line 11", "returned"],
        "{here}"
    );
    assert_eq!(here, client.word("frame leaf#last"));
    assert_eq!(main, client.word("frame main.rs:1"));
    assert!(
        client
            .fail("evaluate", json!({"expression": "frame nothing", "context": "repl"}))
            .contains("nothing")
    );
}

#[test]
fn the_console_finds_what_was_printed() {
    let mut sample = RecordingSample::calls();
    sample.event(EventKind::Output, "stdout: no answer");
    sample.recording.calls[0].last = StepId(7);
    let mut client = Client::new(&shared(sample));
    client.open(json!({}));
    let found = client.word("find \"no answer");
    assert!(found.starts_with("\"no answer: 1 hit, ") && found.contains("stdout: no answer"), "{found}");
    // From the text to its step, and back.
    let number = found.lines().nth(2).and_then(|line| line.split_whitespace().next()).unwrap().to_owned();
    assert!(client.word(&format!("goto {number}")).starts_with(&format!("step {number} of ")));
    assert!(client.word("frame").contains("stdout: no answer"));
    assert!(client.word("find leaf").starts_with("leaf: 2 calls, "));
    let why = client.fail("evaluate", json!({"expression": "find \"nothing", "context": "repl"}));
    assert!(why.contains("nothing that was printed"), "{why}");
}

#[test]
fn words_of_the_console_move() {
    let mut client = Client::new(&panicking());
    client.open(json!({}));
    for (word, line) in [
        ("rin", 11),
        ("rin", 10),
        ("rout", 2),
        ("into", 10),
        ("over", 11),
        ("out", 10),
        ("prev", 10),
        ("next", 10),
        ("goto 1", 1),
        ("next main.rs:11", 11),
        ("next src/main.rs:3", 3),
        ("prev 2", 2),
        ("continue", 3),
        ("last leaf", 10),
        ("last leaf", 10),
        ("back", 2),
        ("rc", 1),
    ] {
        let text = client.word(word);
        assert_eq!(client.events("continued").len(), 1, "a client does not expect a stop after `evaluate`");
        let stop = client.stop();
        assert_eq!(client.lines()[0], line, "{word}: {text} {stop}");
        assert!(text.starts_with("step ") && text.contains(&format!("main.rs:{line} ")), "{word}: {text}");
    }
    assert!(client.word("where").ends_with("\n#0 main src/main.rs:1"));
    assert!(client.word("help").contains("rin"));
    for (wrong, why) in [
        ("goto x", "goto 12"),
        ("prev", "did not run before"),
        ("last x", "no function"),
        ("last leaf", "not entered before"),
        ("next x.rs:1", "no statement of this file"),
        ("next 9", "line 9"),
        ("nonsense", "help"),
    ] {
        let text = client.fail("evaluate", json!({"expression": wrong, "context": "repl"}));
        assert!(text.contains(why), "{wrong}: {text}");
        assert!(client.events("stopped").is_empty());
    }
    let targets = client.ask("completions", json!({"text": "ro", "column": 3}))["targets"].clone();
    assert_eq!(targets, json!([{"label": "rout", "start": 1, "length": 2}]));
}

#[test]
fn a_line_has_targets_and_a_call_begins_again() {
    let mut client = Client::new(&panicking());
    client.open(json!({"stopAt": 4}));
    let ask = json!({"source": {"path": "src/main.rs"}, "line": 10});
    let targets = client.ask("gotoTargets", ask)["targets"].clone();
    let labels: Vec<&str> =
        targets.as_array().unwrap().iter().map(|target| target["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["previous time: step 3", "next time: step 5"]);
    client.ask("goto", json!({"threadId": 1, "targetId": targets[1]["id"]}));
    assert_eq!((client.stop()["reason"].clone(), client.at()), (json!("goto"), StepId(4)));
    assert!(
        client.fail("goto", json!({"threadId": 1, "targetId": targets[1]["id"]})).contains("earlier stop")
    );
    let id = client.ask("stackTrace", json!({"threadId": 1}))["stackFrames"][1]["id"].clone();
    client.ask("restartFrame", json!({"frameId": id}));
    assert_eq!((client.stop()["reason"].clone(), client.at()), (json!("restart"), StepId(0)));
    client.word("goto 5");
    client.stop();
    client.ask("restart", json!({}));
    assert_eq!((client.stop()["reason"].clone(), client.at()), (json!("entry"), StepId(0)));
}

#[test]
fn a_file_that_is_gone_is_shown_from_the_recording() {
    let recording = panicking();
    recording.lock().files[0].built = "/build/src/main.rs".into();
    recording.lock().files[0].is_from_map = true;
    let mut client = Client::new(&recording);
    client.open(json!({}));
    let source = client.ask("stackTrace", json!({"threadId": 1}))["stackFrames"][0]["source"].clone();
    assert_eq!((&source["sourceReference"], &source["path"]), (&json!(1), &json!("/build/src/main.rs")));
    assert!(source["origin"].as_str().unwrap().starts_with("made from the map"));
    for arguments in [json!({"source": source, "sourceReference": 1}), json!({"sourceReference": 1})] {
        assert!(client.ask("source", arguments)["content"].as_str().unwrap().contains("    line 3\n"));
    }
    assert!(client.fail("source", json!({"sourceReference": 9})).contains("no such source"));
    assert_eq!(client.ask("loadedSources", json!({}))["sources"][0]["name"], "main.rs");
    // With the directory of the client in its place.
    let mut client = Client::new(&recording);
    client.open(json!({"sourceMap": {"/build": "/home/me/a b", "/": "/no"}}));
    let source = client.ask("stackTrace", json!({"threadId": 1}))["stackFrames"][0]["source"].clone();
    assert_eq!(source, json!({"name": "main.rs", "path": "/home/me/a b/src/main.rs"}));
    let points = json!({"source": {"path": "/home/me/a b/src/main.rs"}, "breakpoints": [{"line": 1}]});
    assert_eq!(client.ask("setBreakpoints", points)["breakpoints"][0]["verified"], true);
}

#[test]
fn a_client_may_count_from_zero_and_write_uris() {
    let recording = panicking();
    recording.lock().files[0].found = Some("/a b/src/main.rs".into());
    let mut client = Client::new(&recording);
    let look =
        json!({"adapterID": "x", "linesStartAt1": false, "columnsStartAt1": false, "pathFormat": "uri"});
    client.ask("initialize", look);
    client.send("attach", json!({}));
    client.tick();
    let points =
        json!({"source": {"path": "file:///a%20b/src/main.rs"}, "breakpoints": [{"line": 9, "column": 0}]});
    let point = client.ask("setBreakpoints", points)["breakpoints"][0].clone();
    assert_eq!((&point["line"], &point["column"]), (&json!(9), &json!(4)));
    client.ask("configurationDone", json!({}));
    assert_eq!(client.lines(), [2]);
    let frame = client.ask("stackTrace", json!({"threadId": 1}))["stackFrames"][0].clone();
    assert_eq!(
        (&frame["source"]["path"], &frame["column"]),
        (&json!("file:///a%20b/src/main.rs"), &json!(4))
    );
}

#[test]
fn steps_pass_dependencies_by() {
    let recording = panicking();
    {
        let mut recording = recording.lock();
        let mut file = recording.files[0].clone();
        (file.path, file.is_dependency) = ("leaf.rs".to_owned(), true);
        recording.files.push(file);
        recording.sites.iter_mut().filter(|site| site.line >= 10).for_each(|site| site.file = 1);
    }
    let mut client = Client::new(&recording);
    client.open(json!({"stopAt": 2}));
    assert_eq!(client.go("stepIn").1, [3]);
    client.word("goto 3");
    client.stop();
    let frame = client.ask("stackTrace", json!({"threadId": 1}))["stackFrames"][0].clone();
    assert_eq!(
        (&frame["presentationHint"], &frame["source"]["presentationHint"]),
        (&json!("subtle"), &json!("deemphasize"))
    );
    let mut client = Client::new(&recording);
    client.open(json!({"stopAt": 2, "justMyCode": false}));
    assert_eq!(client.go("stepIn").1, [10, 2]);
}

#[test]
fn what_cannot_be_opened_is_an_error_of_the_request() {
    let recording = SharedRecording::default();
    let mut client = Client::with_opener(&recording, Rc::new(|_| Err("no.xhist: no such file".to_owned())));
    assert!(client.fail("threads", json!({})).contains("send `launch` first"));
    assert_eq!(client.fail("launch", json!({"history": "no.xhist"})), "no.xhist: no such file");
    assert!(client.fail("launch", json!({"stopAt": "x"})).contains("\"end\", \"start\" or a step number"));
    assert!(client.fail("launch", json!({"history": 5})).contains("wrong arguments"));
    let opener: Opener = Rc::new(|_| {
        let (sender, end) = std::sync::mpsc::channel();
        let notes = "xhist-report: error: no ring\nxhist-report: note: do this\n".to_owned();
        sender.send(LoadEnd { code: ExitCode::NothingFound, notes }).unwrap();
        Ok(Loading { recording: SharedRecording::default(), end, stop: Default::default(), is_live: false })
    });
    let mut client = Client::with_opener(&recording, opener);
    assert!(client.send("launch", json!({})).is_none());
    let response = client.tick().expect("the response to launch");
    assert_eq!(
        (&response["success"], &response["message"]),
        (&json!(false), &json!("error: no ring\nnote: do this"))
    );
    // The client may try another one.
    assert!(client.send("launch", json!({})).is_none());
}

#[test]
fn a_history_that_grows_is_waited_for() {
    let recording = SharedRecording::default();
    let (sender, end) = std::sync::mpsc::channel();
    let end = std::cell::Cell::new(Some(end));
    let shown = recording.clone();
    let opener: Opener = Rc::new(move |_| {
        Ok(Loading {
            recording: shown.clone(),
            end: end.take().unwrap(),
            stop: Default::default(),
            is_live: true,
        })
    });
    let mut client = Client::with_opener(&recording, opener);
    client.ask("initialize", json!({"adapterID": "x"}));
    client.send("launch", json!({"follow": true}));
    client.tick();
    assert!(client.events("initialized").is_empty());
    let mut sample = RecordingSample::default();
    [1, 2, 3].into_iter().for_each(|line| {
        sample.line(line);
    });
    *recording.lock() = sample.recording.clone();
    client.tick();
    let points = json!({"source": {"path": "src/main.rs"}, "breakpoints": [{"line": 5}]});
    assert!(
        client.ask("setBreakpoints", points)["breakpoints"][0]["message"]
            .as_str()
            .unwrap()
            .contains("never ran")
    );
    client.ask("configurationDone", json!({}));
    assert_eq!((client.stop()["reason"].clone(), client.lines()), (json!("entry"), vec![3]));
    client.ask("continue", json!({"threadId": 1}));
    assert!(client.events("stopped").is_empty());
    [1, 5, 3].into_iter().for_each(|line| {
        sample.line(line);
    });
    *recording.lock() = sample.recording.clone();
    client.tick();
    assert_eq!((client.stop()["reason"].clone(), client.at()), (json!("breakpoint"), StepId(4)));
    client.ask("continue", json!({"threadId": 1}));
    client.tick();
    assert!(client.events("stopped").is_empty());
    client.ask("pause", json!({"threadId": 1}));
    assert_eq!((client.stop()["reason"].clone(), client.at()), (json!("pause"), StepId(5)));
    client.ask("continue", json!({"threadId": 1}));
    sender.send(LoadEnd { code: ExitCode::Complete, notes: String::new() }).unwrap();
    client.tick();
    let stop = client.stop();
    assert!(stop["description"].as_str().unwrap().starts_with("End of the recorded history"), "{stop}");
}

#[test]
fn hostile_messages_get_errors() {
    let mut client = Client::new(&panicking());
    client.open(json!({}));
    for message in [
        "",
        "{}",
        "[]",
        "null",
        "{\"seq\":1,\"type\":\"request\"}",
        "{\"seq\":1e99,\"type\":\"request\",\"command\":\"x\"}",
    ] {
        assert_eq!(client.session.handle(message.as_bytes())[0]["event"], "output", "{message}");
    }
    assert!(client.session.handle(br#"{"seq":1,"type":"response","command":"x"}"#).is_empty());
    assert!(client.fail("\u{1b}[31m", json!({})).contains("\\u{1b}"));
    for (command, arguments) in [
        ("stackTrace", json!({"threadId": i64::MAX})),
        ("stackTrace", json!({"threadId": 0})),
        ("stackTrace", json!([])),
        ("scopes", json!({"frameId": i64::MIN})),
        ("variables", json!({"variablesReference": -1})),
        ("goto", json!({"threadId": 1, "targetId": 1u64 << 40})),
        ("launch", json!({})),
        ("setBreakpoints", json!({"source": {}, "breakpoints": vec![json!({"line": 1}); 5000]})),
    ] {
        client.fail(command, arguments);
    }
    for arguments in
        [json!({"line": i64::MIN}), json!({"line": i64::MAX}), json!({"line": 1, "column": i64::MIN})]
    {
        client.ask("setBreakpoints", json!({"source": {"path": "src/main.rs"}, "breakpoints": [arguments]}));
    }
    let deep = json!({"threadId": 1, "startFrame": i64::MAX, "levels": i64::MAX});
    assert_eq!(client.ask("stackTrace", deep)["stackFrames"], json!([]));
}

/// One of the requests that a client may send at a stop.
fn any_request() -> impl Strategy<Value = (String, Value)> {
    let number = || prop_oneof![(0i64..12), any::<i64>()];
    let moves = prop::sample::select(vec![
        "next",
        "stepIn",
        "stepOut",
        "stepBack",
        "continue",
        "reverseContinue",
        "pause",
    ]);
    let grain = prop::sample::select(vec!["statement", "line", "instruction", "else"]);
    let words = prop::sample::select(vec![
        "back",
        "rin",
        "rout",
        "rc",
        "into",
        "over",
        "out",
        "continue",
        "prev",
        "next",
        "last leaf",
        "where",
        "help",
        "x",
        "goto 3",
        "goto 99999999999",
        "prev main.rs:10",
        "next 11",
    ]);
    let condition = prop::sample::select(vec!["", "x == 22", "x > 1", "% 2", "3", "{", "=="]);
    prop_oneof![
        4 => (moves, grain, 0i64..3).prop_map(|(command, grain, thread)| (command.to_owned(), json!({"threadId": thread, "granularity": grain}))),
        2 => words.prop_map(|word| ("evaluate".to_owned(), json!({"expression": word, "context": "repl"}))),
        1 => (number(), number(), number()).prop_map(|(thread, start, levels)| ("stackTrace".to_owned(), json!({"threadId": thread, "startFrame": start, "levels": levels}))),
        1 => number().prop_map(|id| ("scopes".to_owned(), json!({"frameId": id}))),
        1 => number().prop_map(|id| ("restartFrame".to_owned(), json!({"frameId": id}))),
        1 => (number(), number()).prop_map(|(id, start)| ("variables".to_owned(), json!({"variablesReference": id, "start": start, "count": start}))),
        1 => number().prop_map(|line| ("gotoTargets".to_owned(), json!({"source": {"path": "src/main.rs"}, "line": line}))),
        1 => number().prop_map(|id| ("goto".to_owned(), json!({"threadId": 1, "targetId": id}))),
        1 => (number(), condition.clone(), condition.clone(), condition).prop_map(|(line, one, other, log)| ("setBreakpoints".to_owned(),
            json!({"source": {"path": "main.rs"}, "breakpoints": [{"line": line, "condition": one, "hitCondition": other, "logMessage": log}]}))),
        1 => Just(("threads".to_owned(), json!({}))),
        1 => Just(("loadedSources".to_owned(), json!({}))),
        1 => Just(("exceptionInfo".to_owned(), json!({"threadId": 1}))),
        1 => (number(), ".{0,6}").prop_map(|(column, text)| ("completions".to_owned(), json!({"text": text, "column": column}))),
    ]
}

proptest! {
    #[test]
    fn any_walk_gets_an_answer_and_stays_in_the_history(requests in prop::collection::vec(any_request(), 1..60)) {
        let mut client = Client::new(&panicking());
        client.open(json!({}));
        for (command, arguments) in requests {
            let response = client.send(&command, arguments).expect("a response");
            prop_assert_eq!(&response["command"], &json!(command));
            prop_assert!(client.at() <= client.recording.lock().last().unwrap());
        }
    }

    #[test]
    fn a_step_back_undoes_a_step_in(from in 0u32..7, count in 1usize..4) {
        let mut client = Client::new(&panicking());
        client.open(json!({"stopAt": from + 1}));
        let mut passed = Vec::new();
        for _ in 0..count {
            passed.push(client.at());
            client.ask("stepIn", json!({"threadId": 1, "granularity": "instruction"}));
            client.stop();
        }
        // Behind the last statement is the panic, where a step back leaves its statement.
        let is_inside = client.recording.lock().event(client.at()).is_none();
        if is_inside {
            for step in passed.into_iter().rev() {
                client.ask("stepBack", json!({"threadId": 1, "granularity": "instruction"}));
                client.stop();
                prop_assert_eq!(client.at(), step);
            }
        }
    }
}
