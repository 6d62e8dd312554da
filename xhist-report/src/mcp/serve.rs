//! Reads requests, a line each, and writes answers.

use std::io::{self, BufRead, Read, Write};

use serde_json::Value;

use super::child::Run;
use super::protocol::{answer, too_long};

/// The longest request that is read. The rest of a longer line is skipped.
const MAX_LINE: u64 = 1 << 20;

/// Answers requests until the input ends. `run` starts a command.
///
/// # Errors
/// The input cannot be read, or the output cannot be written.
pub fn serve(mut input: impl BufRead, out: &mut dyn Write, run: Run<'_>) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut input).take(MAX_LINE).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        let answered = if !line.ends_with(b"\n") && read as u64 == MAX_LINE {
            skip_line(&mut input)?;
            Some(too_long(MAX_LINE))
        } else if line.trim_ascii().is_empty() {
            None
        } else {
            answer(&line, run)
        };
        if let Some(answered) = answered {
            write_line(&answered, out)?;
        }
    }
}

fn write_line(answer: &Value, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, answer)?;
    out.write_all(b"\n")?;
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

    fn talk(text: &[u8]) -> Vec<Value> {
        let mut out = Vec::new();
        let mut run = |words: &[String]| Ended { code: 0, out: words.join(" "), notes: String::new() };
        serve(text, &mut out, &mut run).unwrap();
        String::from_utf8(out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
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
        let mut out = Vec::new();
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
        serve(&text[..], &mut out, &mut run).unwrap();
        assert_eq!(unsafe_words, Vec::<String>::new());
        let mut errors = 0;
        for line in String::from_utf8(out).unwrap().lines() {
            let answer: Value = serde_json::from_str(line).unwrap();
            let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
            assert!(text.len() <= 8 << 10 && !text.contains('\u{1b}'), "{} bytes", text.len());
            errors += usize::from(answer["result"]["isError"] != json!(false));
        }
        assert!(errors > 5000 && started > 100, "{errors} errors, {started} started");
    }
}
