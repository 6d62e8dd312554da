//! Reads requests, a line each, and writes answers.

use std::io::{self, BufRead, Read, Write};
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::Value;

use super::child::Run;
use super::protocol::{AtOnce, answer, at_once, id_of, too_long};
use super::requests::Requests;

/// The longest request that is read. The rest of a longer line is skipped.
const MAX_LINE: u64 = 1 << 20;

/// Lines that wait for their turn, at most.
const MOST_WAITING: usize = 16;

/// A line that was read.
enum RequestLine {
    Request(Vec<u8>),
    /// It is longer than [`MAX_LINE`].
    TooLong,
}

/// Answers requests in their order until the input ends. `run` starts a command.
///
/// A thread reads them. It answers a `ping` at once, so that a client knows that the server lives while a tool runs.
///
/// # Errors
/// The input cannot be read, or the output cannot be written.
pub fn serve(
    input: impl BufRead + Send + 'static,
    out: impl Write + Send + 'static,
    requests: &Arc<Requests>,
    run: Run<'_>,
) -> io::Result<()> {
    let out = Arc::new(Mutex::new(out));
    let (sender, lines) = mpsc::sync_channel(MOST_WAITING);
    let reader = (Arc::clone(&out), Arc::clone(requests));
    // Not joined: where the output is closed, it may wait for input for ever.
    thread::spawn(move || read(input, &reader.0, &reader.1, &sender));
    for line in lines {
        let line = line?;
        let id = id_of(&line);
        let is_wanted = requests.begin(id.as_ref());
        let answered = if is_wanted { answer(&line, run) } else { None };
        // A request that was taken back has no answer.
        let is_wanted = requests.end();
        if let Some(answered) = answered.filter(|_| is_wanted) {
            write_line(&answered, &out)?;
        }
    }
    Ok(())
}

/// Reads requests to the end of the input and hands on those that have a turn.
fn read(
    mut input: impl BufRead,
    out: &Mutex<impl Write>,
    requests: &Requests,
    lines: &SyncSender<io::Result<Vec<u8>>>,
) {
    while let Some(read) = next_turn(&mut input, out, requests).transpose() {
        let is_over = read.is_err();
        if lines.send(read).is_err() || is_over {
            return;
        }
    }
}

/// The next request that has a turn; `None` at the end. What needs no turn is done at once.
fn next_turn(
    input: &mut impl BufRead,
    out: &Mutex<impl Write>,
    requests: &Requests,
) -> io::Result<Option<Vec<u8>>> {
    while let Some(read) = read_line(input)? {
        match read {
            RequestLine::TooLong => write_line(&too_long(MAX_LINE), out)?,
            RequestLine::Request(line) if line.trim_ascii().is_empty() => (),
            RequestLine::Request(line) => match at_once(&line) {
                Some(AtOnce::Answer(answered)) => write_line(&answered, out)?,
                Some(AtOnce::Cancel(id)) => requests.cancel(id),
                None => return Ok(Some(line)),
            },
        }
    }
    Ok(None)
}

/// The next line; `None` at the end.
fn read_line(input: &mut impl BufRead) -> io::Result<Option<RequestLine>> {
    let mut line = Vec::new();
    let read = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
    if !line.ends_with(b"\n") && read as u64 == MAX_LINE {
        skip_line(input)?;
        return Ok(Some(RequestLine::TooLong));
    }
    Ok((read > 0).then_some(RequestLine::Request(line)))
}

fn write_line(answer: &Value, out: &Mutex<impl Write>) -> io::Result<()> {
    let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    out.write_all(&line)?;
    out.flush()
}

/// Reads to the end of the line and keeps nothing.
fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let found = input.fill_buf()?;
        let end = found.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(found.len(), |end| end + 1);
        input.consume(used);
        if end.is_some() || used == 0 {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::child::Ended;
    use serde_json::json;

    /// An output that the test reads.
    #[derive(Clone, Default)]
    struct Out(Arc<Mutex<Vec<u8>>>);

    impl Write for Out {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Out {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }

        fn answers(&self) -> Vec<Value> {
            self.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        }
    }

    fn ended(words: &[String]) -> Ended {
        Ended { code: 0, out: words.join(" "), notes: String::new() }
    }

    fn talk(text: &[u8]) -> Vec<Value> {
        let out = Out::default();
        let requests = Arc::new(Requests::default());
        serve(io::Cursor::new(text.to_vec()), out.clone(), &requests, &mut ended).unwrap();
        out.answers()
    }

    fn find(id: u32) -> String {
        let params = json!({ "name": "xhist_find", "arguments": { "what": format!("f{id}") } });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
    }

    fn wait_for(what: impl Fn() -> bool) {
        let start = std::time::Instant::now();
        while !what() {
            assert!(start.elapsed().as_secs() < 60, "it does not come");
            thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    #[test]
    fn a_ping_is_answered_while_a_tool_runs_and_tools_in_their_order() {
        let (input, mut client) = io::pipe().unwrap();
        let out = Out::default();
        let requests = Arc::new(Requests::default());
        writeln!(client, "{}\n{}", find(1), find(2)).unwrap();
        let mut run = |words: &[String]| {
            if words.iter().any(|word| word == "f1") {
                writeln!(client, r#"{{"jsonrpc":"2.0","id":"p","method":"ping"}}"#).unwrap();
                wait_for(|| !out.answers().is_empty());
                // The other end stays open as long as this one lives.
                client = io::pipe().unwrap().1;
            }
            ended(words)
        };
        serve(io::BufReader::new(input), out.clone(), &requests, &mut run).unwrap();
        let ids: Vec<Value> = out.answers().iter().map(|answer| answer["id"].clone()).collect();
        assert_eq!(ids, [json!("p"), json!(1), json!(2)]);
    }

    #[test]
    fn a_request_that_is_taken_back_ends_and_has_no_answer() {
        let (input, mut client) = io::pipe().unwrap();
        let out = Out::default();
        let requests = Arc::new(Requests::default());
        writeln!(client, "{}\n{}\n{}", find(1), find(2), find(3)).unwrap();
        let mut run = |words: &[String]| {
            if words.iter().any(|word| word == "f1") {
                for id in [2, 1] {
                    let params = json!({ "requestId": id });
                    let method = "notifications/cancelled";
                    writeln!(client, "{}", json!({ "jsonrpc": "2.0", "method": method, "params": params }))
                        .unwrap();
                }
                wait_for(|| requests.is_cancelled());
                client = io::pipe().unwrap().1;
            }
            ended(words)
        };
        serve(io::BufReader::new(input), out.clone(), &requests, &mut run).unwrap();
        let ids: Vec<Value> = out.answers().iter().map(|answer| answer["id"].clone()).collect();
        assert_eq!(ids, [json!(3)]);
    }

    #[test]
    fn a_long_line_is_an_error_and_the_next_is_read() {
        let mut text = vec![b'x'; 3 << 20];
        text.extend_from_slice(b"\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\n");
        let answers = talk(&text);
        assert_eq!(answers.len(), 2);
        assert!(answers[0]["error"]["message"].as_str().unwrap().contains("1048576"));
        assert_eq!((&answers[1]["id"], &answers[1]["result"]), (&json!(1), &json!({})));
    }

    /// A number from the one before it.
    fn next(seed: &mut u64) -> usize {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*seed >> 33) as usize
    }

    #[test]
    fn ten_thousand_damaged_requests_end_in_errors() {
        let tools = ["xhist_run", "xhist_frame", "xhist_find", "xhist_source", "xhist_compare"];
        let names = ["args", "call", "what", "file", "source", "failed", "passed", "limit", "test"];
        let values = [
            json!(null),
            json!(-1),
            json!(1e300),
            json!([[[]]]),
            json!({"a": {}}),
            json!("\u{1b}[2J"),
            json!("--config"),
            json!("../../etc/passwd"),
            json!("/etc/passwd"),
            json!("x".repeat(9000)),
            json!([1, "--config=x"]),
            json!(true),
            json!(["--target-dir", "/"]),
            json!("tcp://localhost:1"),
            json!("-"),
            json!(["--manifest-path=/x"]),
        ];
        let (mut seed, mut text, mut requests) = (7, Vec::new(), 0);
        while requests < 10_000 {
            let arguments: serde_json::Map<String, Value> = (0..1 + next(&mut seed) % 3)
                .map(|_| {
                    let name = names[next(&mut seed) % names.len()];
                    (name.to_owned(), values[next(&mut seed) % values.len()].clone())
                })
                .collect();
            let tool = tools[next(&mut seed) % tools.len()];
            let mut line = json!({"jsonrpc": "2.0", "id": requests, "method": "tools/call",
                "params": {"name": tool, "arguments": arguments}})
            .to_string()
            .into_bytes();
            // One of three is no JSON any more, or another request.
            if next(&mut seed).is_multiple_of(3) {
                let at = next(&mut seed) % line.len();
                line[at] = [b'{', b'"', 0xff, b'0', b' '][next(&mut seed) % 5];
            }
            text.extend_from_slice(&line);
            text.push(b'\n');
            requests += 1;
        }
        let out = Out::default();
        let (mut started, mut unsafe_words) = (0, Vec::new());
        let mut run = |words: &[String]| {
            started += 1;
            // The first word of these two only names something in a history.
            let names = usize::from(matches!(words[0].as_str(), "find" | "frame"));
            let places = words[1..].iter().filter(|word| !word.starts_with("--")).skip(names);
            let is_outside =
                |word: &&String| word.contains("etc/passwd") || words[0] != "source" && word.contains("://");
            unsafe_words.extend(places.filter(is_outside).cloned());
            let is_escape = |word: &&String| {
                let escapes = ["--config", "--target-dir", "--manifest-path", "--beside=/", "--beside=.."];
                escapes.iter().any(|escape| word.starts_with(escape))
            };
            unsafe_words.extend(words.iter().filter(is_escape).cloned());
            Ended { code: 0, out: "\u{1b}[31m".repeat(4000), notes: "n\n".repeat(9000) }
        };
        serve(io::Cursor::new(text), out.clone(), &Arc::new(Requests::default()), &mut run).unwrap();
        assert_eq!(unsafe_words, Vec::<String>::new());
        let mut errors = 0;
        for line in out.text().lines() {
            let answer: Value = serde_json::from_str(line).unwrap();
            let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
            assert!(text.len() <= 8 << 10 && !text.contains('\u{1b}'), "{} bytes", text.len());
            errors += usize::from(answer["result"]["isError"] != json!(false));
        }
        assert!(errors > 5000 && started > 100, "{errors} errors, {started} started");
    }
}
