//! Starts this program again with other words: each tool is a command.

use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::requests::Requests;
use xhist_history::notes::typed;

/// The longest that a command runs.
const PATIENCE: Duration = Duration::from_secs(30 * 60);
/// Bytes of each output that are kept: the first and the last.
const KEPT: usize = 64 << 10;

/// Starts a command with these words and waits for its end.
pub type Run<'r> = &'r mut dyn FnMut(&[String]) -> Ended;

/// How a command ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Its exit code; 101 if a signal ended it.
    pub code: i32,
    /// What it printed.
    pub out: String,
    /// What it printed on standard error.
    pub notes: String,
}

/// This program, as it was started.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its file.
    pub path: PathBuf,
    /// The words before each command.
    pub before: Vec<String>,
    /// What the client takes back.
    pub requests: Arc<Requests>,
}

impl Program {
    /// Runs a command.
    pub fn run(&self, words: &[String]) -> Ended {
        self.try_run(words).unwrap_or_else(|error| Ended {
            code: 2,
            out: String::new(),
            notes: format!("cannot start {}: {error}", self.path.display()),
        })
    }

    fn try_run(&self, words: &[String]) -> io::Result<Ended> {
        let mut command = Command::new(&self.path);
        command.args(&self.before).args(words).env(typed::SERVER, "1");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // What it starts ends with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let (out, notes) = (child.stdout.take(), child.stderr.take());
        let (out, notes) = (thread::spawn(move || read(out)), thread::spawn(move || read(notes)));
        let (code, end) = wait(&mut child, &self.requests)?;
        let text = |handle: thread::JoinHandle<Vec<u8>>| {
            String::from_utf8_lossy(&handle.join().unwrap_or_default()).into_owned()
        };
        let mut ended = Ended { code, out: text(out), notes: text(notes) };
        ended.notes.push_str(&end);
        Ok(ended)
    }
}

/// Waits for the end of a command: its exit code, and why it was ended.
fn wait(child: &mut Child, requests: &Requests) -> io::Result<(i32, String)> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status.code().unwrap_or(101), String::new()));
        }
        let is_late = start.elapsed() > PATIENCE;
        if is_late || requests.is_cancelled() {
            #[cfg(unix)]
            if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            }
            let _ = child.kill();
            let why = match is_late {
                true => format!("ended after {} minutes\n", PATIENCE.as_secs() / 60),
                false => "cancelled\n".to_owned(),
            };
            return Ok((child.wait()?.code().unwrap_or(101), why));
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

/// Reads to the end and keeps the beginning and the end.
fn read(source: Option<impl Read>) -> Vec<u8> {
    let Some(mut source) = source else { return Vec::new() };
    let (mut first, mut last) = (Vec::new(), Vec::new());
    let mut buffer = vec![0; 16 << 10];
    loop {
        let read = match source.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let room = KEPT.saturating_sub(first.len()).min(read);
        first.extend_from_slice(&buffer[..room]);
        last.extend_from_slice(&buffer[room..read]);
        if last.len() > 2 * KEPT {
            last.drain(..last.len() - KEPT);
        }
    }
    first.append(&mut last);
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_command_ends_when_its_request_is_taken_back() {
        let requests = Arc::new(Requests::default());
        let id = serde_json::json!(7);
        assert!(requests.begin(Some(&id)));
        let program = Program { path: "sleep".into(), before: Vec::new(), requests: Arc::clone(&requests) };
        let start = Instant::now();
        let canceller = thread::spawn(move || {
            thread::sleep(Duration::from_millis(100));
            requests.cancel(id);
        });
        let ended = program.run(&["60".to_owned()]);
        canceller.join().unwrap();
        assert!(ended.notes.contains("cancelled") && start.elapsed() < Duration::from_secs(30), "{ended:?}");
    }

    #[test]
    fn of_a_long_output_the_beginning_and_the_end_are_kept() {
        let text: Vec<u8> = (0..2_000_000_u32).map(|at| b'a' + (at % 26) as u8).collect();
        let kept = read(Some(&text[..]));
        assert!(
            kept.len() <= 3 * KEPT
                && kept[..KEPT] == text[..KEPT]
                && kept.ends_with(&text[text.len() - 100..])
        );
        assert_eq!(read(Some(&b"abc"[..])), b"abc");
    }
}
