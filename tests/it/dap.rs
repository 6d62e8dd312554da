//! Does `xhist-report dap` lead an editor from the failure back to its cause?

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use xhist_tests::{
    BROWSER_PACKAGES, Case, DAP_PACKAGES, Need, Run, Tree, cargo, free_port, line_of, report, repository,
    rings_in, share_of_million,
};

use super::bugs::{hanging, paper};

pub const CASES: &[Case] = &[
    Case::needing("the_cause_of_a_panic_is_found_by_stepping_back", &[Need::DapClient], meter),
    Case::needing("a_failed_test_is_stepped_back_from", &[Need::DapClient], failed_test),
    Case::needing("a_hanging_task_is_found_where_it_waits", &[Need::DapClient], hanging_task),
    Case::needing("a_running_program_is_followed", &[Need::DapClient], follow),
    Case::needing("sources_are_found_elsewhere_or_shown_from_the_map", &[Need::DapClient], paths),
    Case::needing("what_cannot_be_opened_is_an_error_of_launch", &[Need::DapClient], errors),
    Case::new("the_conversation_of_neovim_goes_as_it_was_recorded", neovim),
    Case::new("bytes_that_break_the_protocol_end_the_session", hostile),
    Case::new("a_long_history_is_stepped_through_at_once", large),
    Case::needing("the_extension_of_vs_code_starts_the_adapter", &[Need::DapClient], extension),
    Case::needing("vs_code_steps_back_from_a_panic", &[Need::Browser, Need::Editor], editor),
];

/// The program xhist-report.
fn program() -> PathBuf {
    report(Path::new(".")).into_command().get_program().into()
}

/// Plays a scene of the client, and checks the types of all messages of the adapter; what the client printed.
pub fn play(scene: &str, arguments: &[&str]) -> String {
    let tree = Tree::empty(scene);
    let packages = Need::npm(&DAP_PACKAGES).expect("the packages");
    let client = repository().join("tests/dap/client.mjs");
    let mut run = Run::new("node", tree.path()).env("XHIST_NPM", &packages).arg(client);
    run = run.arg(scene).arg(program()).arg(tree.join("log"));
    for argument in arguments {
        run = run.arg(argument);
    }
    let done = run.limit(Duration::from_secs(120)).succeed();
    let typed = packages.join(format!("messages-{scene}.ts"));
    Run::new("node", tree.path())
        .arg(repository().join("tests/dap/types.mjs"))
        .arg(tree.join("log"))
        .arg(&typed)
        .succeed();
    let compiler = packages.join("node_modules/typescript/bin/tsc");
    Run::new("node", &packages)
        .arg(compiler)
        .args("--noEmit --strict --module esnext --moduleResolution bundler")
        // Types of a browser and of other packages take five times as long as the messages.
        .args("--lib es2020 --skipLibCheck")
        .arg(&typed)
        .succeed();
    std::fs::remove_file(typed).expect("it is there");
    done.stdout
}

pub fn text(path: &Path) -> &str {
    path.to_str().expect("a path of text")
}

fn meter() {
    play("meter", &[text(paper().path())]);
}

fn failed_test() {
    let tree = Tree::copy_of(&repository().join("tests/fixtures/many"));
    cargo(tree.path()).args("xhist test -q --lib").done().expect(101);
    play("failed_test", &[text(tree.path())]);
}

fn hanging_task() {
    let tree = hanging();
    let stuck = line_of(&tree.join("src/main.rs"), "// stuck").to_string();
    play("hanging_task", &[text(tree.path()), &stuck]);
}

/// Reads lines, and answers each.
const ECHO: &str = r#"use std::io::{BufRead, Write};

fn main() {
    let mut number = 0;
    for line in std::io::stdin().lock().lines() {
        number += 1;
        answer(number, &line.unwrap());
    }
}

fn answer(number: u32, line: &str) {
    println!("{number} {line}"); // answer
    std::io::stdout().flush().unwrap();
}
"#;

fn follow() {
    let tree = Tree::program("echo", ECHO);
    cargo(tree.path()).args("xhist build -q --values **").succeed();
    let (program, file) = (tree.join("target/xhist/build/debug/echo"), tree.join("echo.xhist"));
    let line = line_of(&tree.join("src/main.rs"), "// answer").to_string();
    play("follow", &[text(tree.path()), text(&program), text(&file), &line]);
}

fn paths() {
    let tree = Tree::copy_of(&repository().join("samples/meter"));
    cargo(tree.path()).args("xhist run -q").done().expect(101);
    let elsewhere = Tree::empty("elsewhere");
    let run =
        std::fs::read_dir(tree.join("target/xhist/runs")).expect("runs").flatten().next().expect("a run");
    let ring = rings_in(&run.path()).pop().expect("a ring file");
    let history = elsewhere.join("crash.xhist");
    std::fs::copy(ring, &history).expect("a copy");
    let maps = walk(&tree.join("target/xhist"), "map");
    std::fs::copy(&maps[0], elsewhere.join("xhist.map")).expect("a copy");
    let moved = elsewhere.join("moved");
    std::fs::create_dir_all(moved.join("src")).expect("a directory");
    for name in ["main.rs", "meter.rs"] {
        std::fs::rename(tree.join("src").join(name), moved.join("src").join(name)).expect("moved");
    }
    play("paths", &[text(elsewhere.path()), text(&history), text(tree.path()), text(&moved)]);
}

/// Files below a directory with this extension.
fn walk(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let files = walkdir::WalkDir::new(directory).into_iter().flatten().map(walkdir::DirEntry::into_path);
    let found: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
    assert!(!found.is_empty(), "no *.{extension} below {}", directory.display());
    found
}

fn errors() {
    let tree = paper();
    play("errors", &[text(tree.path())]);
    let port = free_port();
    let mut adapter = report(tree.path()).args(&format!("dap --listen 127.0.0.1:{port}")).start();
    adapter.wait_for_stderr("debug adapters connect to");
    let port = port.to_string();
    // One client after another.
    play("errors", &[text(tree.path()), &port]);
    play("errors", &[text(tree.path()), &port]);
    adapter.end_with(rustix::process::Signal::TERM);
}

/// A message in its frame.
fn framed(message: &Value) -> String {
    let text = message.to_string();
    format!("Content-Length: {}\r\n\r\n{text}", text.len())
}

/// What the adapter answers to bytes on its standard input, message by message.
fn answers(directory: &Path, input: &[u8], code: i32) -> (Vec<Value>, String) {
    let mut command = report(directory).args("dap").into_command();
    let pipe = std::process::Stdio::piped;
    let mut child = command.stdin(pipe()).stdout(pipe()).stderr(pipe()).spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("its input");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("written");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    let mut rest = &output.stdout[..];
    let mut all = Vec::new();
    while !rest.is_empty() {
        let head = rest.windows(4).position(|end| end == b"\r\n\r\n").expect("a header");
        let length = String::from_utf8_lossy(&rest[16..head]).trim().parse::<usize>().expect("a length");
        all.push(serde_json::from_slice(&rest[head + 4..head + 4 + length]).expect("JSON"));
        rest = &rest[head + 4 + length..];
    }
    (all, stderr)
}

/// The conversation of Neovim 0.7.2 with nvim-dap 0.4.0, as it was on the wire.
const NEOVIM: &str = "tests/dap/nvim.jsonl";

/// What two conversations must have in common; times, and addresses in values, change from run to run.
fn gist(message: &Value) -> Value {
    let body = &message["body"];
    let frames = body["stackFrames"].as_array().map(|frames| {
        let frame = |frame: &Value| json!([frame["id"], frame["name"], frame["line"], frame["source"]]);
        frames.iter().map(frame).collect::<Vec<_>>()
    });
    let names =
        body["variables"].as_array().map(|all| all.iter().map(|one| one["name"].clone()).collect::<Vec<_>>());
    json!([
        message["type"],
        message["event"],
        message["command"],
        message["success"],
        message["request_seq"],
        message["message"],
        body["reason"],
        body["description"],
        body["hitBreakpointIds"],
        body["result"],
        body["breakpoints"],
        body["scopes"],
        frames,
        names,
    ])
}

fn neovim() {
    let tree = paper();
    let recorded = std::fs::read_to_string(repository().join(NEOVIM)).expect("the conversation");
    let recorded = recorded.replace("$DIR", text(tree.path()));
    let lines = recorded.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let (client, adapter): (Vec<Value>, Vec<Value>) = lines.partition(|line| line.get("client").is_some());
    // The history is still being read while requests come: they wait for `initialized`.
    let mut session = report(tree.path()).args("dap").with_input().start();
    let mut sent = 0;
    for line in &client {
        let request = &line["client"];
        session.write(&framed(request));
        sent += 1;
        if request["command"] == "launch" {
            session.wait_until("initialized", |session| session.printed().contains("\"initialized\""));
        }
    }
    assert!(sent > 40);
    session.close_input();
    let output = session.done().expect(0).stdout;
    let found: Vec<Value> = output
        .split("Content-Length: ")
        .filter_map(|piece| serde_json::from_str(piece.split_once("\r\n\r\n")?.1).ok())
        .collect();
    let expected: Vec<Value> = adapter.iter().map(|line| gist(&line["adapter"])).collect();
    let found: Vec<Value> = found.iter().map(gist).collect();
    for (place, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(found, expected, "message {place}");
    }
    assert_eq!(found.len(), expected.len());
}

fn hostile() {
    let tree = paper();
    for (input, error) in [
        ("GET / HTTP/1.1\r\n\r\n", "is no header"),
        ("Content-Length: 99999999999\r\n\r\n", "too long"),
        ("Content-Length: 100\r\n\r\n{}", "cannot read the next message"),
        (&"x".repeat(1 << 20), "is no header"),
    ] {
        let (found, stderr) = answers(tree.path(), input.as_bytes(), 2);
        assert!(found.is_empty() && stderr.contains(error), "{stderr}");
    }
    let request = |command: &str, arguments: Value| {
        framed(&json!({"seq": 1, "type": "request", "command": command, "arguments": arguments}))
    };
    let input = [
        framed(&json!({"seq": "x"})),
        framed(&json!([[]])),
        request("stepBack", json!({"threadId": 1})),
        request("initialize", json!({"adapterID": 5})),
        request("evaluate", json!({"expression": "x".repeat(1 << 20)})),
        format!("Content-Length: 200000\r\n\r\n{}", "[".repeat(200_000)),
        request("disconnect", json!({})),
    ];
    let (found, _) = answers(tree.path(), input.concat().as_bytes(), 0);
    let kinds: Vec<&str> =
        found.iter().map(|one| one["event"].as_str().or(one["command"].as_str()).expect("a name")).collect();
    assert_eq!(kinds, ["output", "output", "stepBack", "initialize", "evaluate", "output", "disconnect"]);
    // An adapter whose client is gone ends.
    assert!(answers(tree.path(), b"", 0).0.is_empty());
}

/// A program that runs eight statements a round, which do not fold, in nested calls.
const LONG: &str = "fn main() {
    let mut random = 1_u32;
    for _ in 0..ROUNDS {
        // Nothing that comes in this order folds.
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        outer(random); // call
    }
    assert_eq!(random, 0);
}

fn outer(number: u32) -> u32 {
    if number >> 31 == 0 {
        return inner(number);
    }
    let other = inner(number / 2);
    other / 3
}

fn inner(number: u32) -> u32 {
    let double = number / 2;
    let more = double + 3;
    more ^ 1
}
";

/// A session answers fast once its history is loaded.
fn large() {
    let tree = Tree::program("long", &LONG.replace("ROUNDS", &share_of_million(130_000).to_string()));
    let run = cargo(tree.path()).args("xhist run -q").env("XHIST_SIZE", "64m");
    run.done().expect(101);
    let mut session = report(tree.path()).args("dap").with_input().start();
    let mut seq = 0;
    let mut ask = |session: &mut xhist_tests::Started, command: &str, arguments: Value, until: &str| {
        seq += 1;
        let before = session.printed().len();
        let start = Instant::now();
        session.write(&framed(
            &json!({"seq": seq, "type": "request", "command": command, "arguments": arguments}),
        ));
        session.wait_until(command, |session| session.printed()[before..].contains(until));
        start.elapsed()
    };
    ask(&mut session, "initialize", json!({"adapterID": "x"}), "\"initialize\"");
    ask(&mut session, "launch", json!({}), "\"initialized\"");
    ask(&mut session, "configurationDone", json!({}), "\"stopped\"");
    let line = line_of(&tree.join("src/main.rs"), "// call");
    let source = json!({"source": {"path": tree.join("src/main.rs")}, "breakpoints": [{"line": line, "hitCondition": "2"}]});
    for (command, arguments, until) in [
        ("setBreakpoints", source, "setBreakpoints"),
        ("stackTrace", json!({"threadId": 1}), "stackFrames"),
        ("stepBack", json!({"threadId": 1}), "\"stopped\""),
        ("reverseContinue", json!({"threadId": 1}), "\"stopped\""),
        ("stackTrace", json!({"threadId": 1}), "stackFrames"),
        ("continue", json!({"threadId": 1}), "\"stopped\""),
    ] {
        let took = ask(&mut session, command, arguments, until);
        // A walk through all steps would take longer, also on a busy machine.
        assert!(took < Duration::from_secs(4), "{command} took {took:?}");
    }
    session.close_input();
    session.done().expect(0);
}

/// The extension with a stub of VS Code in the place of the editor.
fn extension() {
    let tree = Tree::empty("extension");
    tree.write(
        "test.cjs",
        r#"const Module = require('node:module'), assert = require('node:assert');
const registered = {};
const vscode = {
  workspace: { getConfiguration: () => ({ get: () => '' }) },
  DebugAdapterExecutable: class { constructor(...all) { this.all = all; } },
  debug: {
    registerDebugAdapterDescriptorFactory: (type, factory) => (registered[type] = factory),
    registerDebugConfigurationProvider: (type, provider) => (registered.provider = provider),
    activeDebugSession: { type: 'xhist', customRequest: async (...all) => (registered.said = all) },
  },
  commands: { registerCommand: (name, run) => (registered[name] = run) },
};
const load = Module._load;
Module._load = (name, ...rest) => (name === 'vscode' ? vscode : load(name, ...rest));
require(process.argv[2] + '/extension.js').activate({ subscriptions: [] });
const session = { configuration: { cwd: '/here' } };
assert.deepEqual(registered.xhist.createDebugAdapterDescriptor(session).all, ['cargo-xhist', ['dap'], { cwd: '/here' }]);
const made = registered.provider.resolveDebugConfiguration({ uri: { fsPath: '/there' } }, {});
assert.deepEqual(made, { type: 'xhist', request: 'launch', name: 'The run that failed last', cwd: '/there' });
const { commands, debuggers } = require(process.argv[2] + '/package.json').contributes;
assert.equal(debuggers[0].type, 'xhist');
for (const { command } of commands) {
  registered[command]();
  assert.deepEqual(registered.said, ['evaluate', { expression: command.split('.')[1], context: 'repl' }]);
}
"#,
    );
    Run::new("node", tree.path())
        .arg(tree.join("test.cjs"))
        .arg(repository().join("editors/vscode"))
        .succeed();
}

/// The picture of the documentation is of this session. `XHIST_BLESS=1` writes it; otherwise it is only made.
fn editor() {
    let project = paper();
    let tree = Tree::empty("editor");
    let launch = json!({"version": "0.2.0", "configurations": [
        {"type": "xhist", "request": "launch", "name": "The run that failed last", "cwd": "${workspaceFolder}"},
    ]});
    let settings = json!({"xhist.command": program(), "workbench.startupEditor": "none"});
    project.write(".vscode/launch.json", &launch.to_string());
    project.write(".vscode/settings.json", &settings.to_string());
    let is_blessed = std::env::var_os("XHIST_BLESS").is_some();
    let picture =
        if is_blessed { repository().join("docs/images/editor.webp") } else { tree.join("editor.webp") };
    let done = Run::new("node", tree.path())
        .env("XHIST_BROWSER", Need::browser().expect("the case needs it"))
        .env("XHIST_NPM", Need::npm(&BROWSER_PACKAGES).expect("the case needs it"))
        .env("XHIST_EDITOR", Need::editor().expect("the case needs it"))
        .env("XHIST_EXTENSION", repository().join("editors/vscode"))
        .arg(repository().join("tests/browser/editor.mjs"))
        .arg(project.path())
        .arg(tree.join("data"))
        .arg(&picture)
        .arg("2")
        .limit(Duration::from_secs(240))
        .succeed();
    let shown: Value = serde_json::from_str(done.stdout.trim()).expect("JSON");
    let line = |file: &str, text: &str| line_of(&project.join(&format!("src/{file}")), text);
    let frames = [
        format!("Meter::mean meter.rs:{}", line("meter.rs", "self.sum / self.count")),
        format!("main main.rs:{}", line("main.rs", "println!(")),
        format!("main main.rs:{}", line("main.rs", "meter.take(")),
    ];
    assert_eq!(shown["frames"], json!(frames));
    let variables = shown["variables"].as_array().expect("a list");
    assert!(variables.contains(&json!("meter =Meter { sum: 0, count: 0 }")), "{variables:?}");
    assert_eq!(shown["windows"], json!([]), "nothing covers the editor");
    let size = std::fs::metadata(picture).expect("a picture").len();
    assert!((4_000..200_000).contains(&size), "{size}");
}
