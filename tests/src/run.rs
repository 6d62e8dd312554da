//! Runs a command with a time limit, captures what it prints, and counts the processor time that it takes.
//! The command is given by the caller.

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// Awaited output is looked for in this many bytes of it.
const HEAD: u64 = 1 << 16;

/// Time between two looks at a running command.
const TICK: Duration = Duration::from_millis(5);

std::thread_local! {
    static DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
    /// Processor time of the commands of this thread, in clock ticks.
    static TICKS: Cell<u64> = const { Cell::new(0) };
}

/// Every command of this thread ends by then.
pub fn set_deadline(limit: Duration) {
    DEADLINE.set(Some(Instant::now() + limit));
}

/// Processor seconds of this thread and of the commands that it ran so far. Other than time that passes, it is about the same
/// on a busy machine.
pub fn processor_seconds() -> f64 {
    seconds(TICKS.get() + ticks_of("thread-self", 2))
}

fn seconds(ticks: u64) -> f64 {
    ticks as f64 / rustix::param::clock_ticks_per_second() as f64
}

/// Appends a line to the file that this variable names, if it is set.
pub fn append_times(variable: &str, line: impl FnOnce() -> String) {
    let Some(file) = std::env::var_os(variable) else { return };
    let mut times = File::options().append(true).create(true).open(file).expect("a file to append to");
    // In one call: other cases end at the same time.
    times.write_all(format!("{}\n", line()).as_bytes()).expect("room for a line");
}

/// Processor time of a process so far.
pub(crate) fn processor_time(pid: u32) -> Duration {
    Duration::from_secs_f64(seconds(ticks_of(&pid.to_string(), 2)))
}

/// Clock ticks of a task of `/proc`: the first two fields are its own time, four include the children that it waited for.
fn ticks_of(task: &str, fields: usize) -> u64 {
    /// Fields between the name in parentheses and the first time.
    const BEFORE: usize = 11;
    let text = std::fs::read_to_string(format!("/proc/{task}/stat")).unwrap_or_default();
    let behind_name = text.rsplit(')').next().unwrap_or_default();
    let times = behind_name.split_whitespace().skip(BEFORE).take(fields);
    times.filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
}

/// A command to run. Variables that cargo set for this process's own package are not passed on.
pub struct Run {
    command: Command,
    limit: Duration,
}

impl Run {
    /// This program, in this directory.
    pub fn new(program: impl AsRef<OsStr>, directory: &Path) -> Run {
        let mut command = Command::new(program);
        command.current_dir(directory).stdin(Stdio::null()).process_group(0);
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        for name in names.filter(|name| is_ours(name)) {
            command.env_remove(name);
        }
        command.env("CARGO_TERM_COLOR", "never");
        Run { command, limit: Duration::from_secs(600) }
    }

    /// One more argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Run {
        self.command.arg(arg);
        self
    }

    /// More arguments, separated by spaces.
    #[must_use]
    pub fn args(mut self, args: &str) -> Run {
        self.command.args(args.split_whitespace());
        self
    }

    /// A variable of its environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Run {
        self.command.env(name, value);
        self
    }

    /// Reads its input from [`Started::write`].
    #[must_use]
    pub fn with_input(mut self) -> Run {
        self.command.stdin(Stdio::piped());
        self
    }

    /// Fails when it takes longer.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Run {
        self.limit = limit;
        self
    }

    /// Starts it.
    pub fn start(mut self) -> Started {
        let what =
            format!("{:?}", self.command).split("\" \"").collect::<Vec<_>>().join(" ").replace('"', "");
        let what = &what[what.rfind("CARGO_TERM_COLOR=never ").map_or(0, |at| at + 23)..];
        // The path is long, and the same for most.
        let words: Vec<&str> = what.split(' ').filter(|word| !word.starts_with("PATH=")).collect();
        let place = self.command.get_current_dir().and_then(Path::file_name).unwrap_or_default();
        let what = format!("{}$ {}", place.to_string_lossy(), words.join(" "));
        let stdout = tempfile::tempfile().expect("a temporary file");
        let stderr = tempfile::tempfile().expect("a temporary file");
        self.command.stdout(stdout.try_clone().expect("a descriptor"));
        self.command.stderr(stderr.try_clone().expect("a descriptor"));
        let child = self.command.spawn().unwrap_or_else(|error| panic!("cannot run {what}: {error}"));
        let own = Instant::now() + self.limit;
        let deadline = DEADLINE.get().map_or(own, |deadline| deadline.min(own));
        Started { child, stdout, stderr, deadline, what, waited: false }
    }

    /// The command itself, for a caller that uses its pipes and ends it.
    pub fn into_command(self) -> Command {
        self.command
    }

    /// Runs it to its end.
    pub fn done(self) -> Done {
        self.start().done()
    }

    /// Runs it to its end and discards its output, for benchmarks.
    pub fn wait(mut self) -> ExitStatus {
        self.command.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("it runs")
    }

    /// Runs it to its end, which must be a success.
    pub fn succeed(self) -> Done {
        self.done().expect(0)
    }
}

/// Variables that cargo sets for what it runs, and ours.
fn is_ours(name: &str) -> bool {
    const PREFIXES: [&str; 4] = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "XHIST"];
    const NAMES: [&str; 7] = [
        "CARGO",
        "CARGO_CRATE_NAME",
        "CARGO_PRIMARY_PACKAGE",
        "CARGO_TARGET_DIR",
        "CARGO_TARGET_TMPDIR",
        "OUT_DIR",
        "RUST_BACKTRACE",
    ];
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// A running command; killed with all its children when dropped.
pub struct Started {
    child: Child,
    stdout: File,
    stderr: File,
    deadline: Instant,
    what: String,
    waited: bool,
}

impl Started {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal to it.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("a running process");
    }

    /// Sends a signal until it has ended. One SIGSEGV is not enough: the handler that Rust's library installs
    /// for stack overflows takes the first, and leaves the next to the system.
    pub fn end_with(mut self, signal: Signal) -> Done {
        while self.ended().is_none() {
            self.check_time();
            self.signal(signal);
            std::thread::sleep(TICK);
        }
        self.done()
    }

    /// Gives it input.
    pub fn write(&mut self, text: &str) {
        let input = self.child.stdin.as_mut().expect("`with_input` was asked for");
        input.write_all(text.as_bytes()).expect("it reads its input");
    }

    /// Ends its input.
    pub fn close_input(&mut self) {
        self.child.stdin = None;
    }

    /// Waits until it has printed this to stdout, near its beginning.
    pub fn wait_for(&mut self, text: &str) {
        self.wait_until(text, |started| head(&mut started.stdout, HEAD).contains(text));
    }

    /// Waits until it has printed this to stderr.
    pub fn wait_for_stderr(&mut self, text: &str) {
        self.wait_until(text, |started| contents(&mut started.stderr).contains(text));
    }

    /// What it has printed to stderr so far.
    pub fn stderr_so_far(&mut self) -> String {
        contents(&mut self.stderr)
    }

    /// What it has printed so far.
    pub fn printed(&mut self) -> String {
        contents(&mut self.stdout)
    }

    /// Waits until something is true.
    pub fn wait_until(&mut self, what: &str, is_so: impl Fn(&mut Started) -> bool) {
        while !is_so(self) {
            if let Some(status) = self.ended() {
                let stderr = contents(&mut self.stderr);
                panic!("{} ended ({status}) before this: {what}\n{stderr}", self.what);
            }
            self.check_time();
            std::thread::sleep(TICK);
        }
    }

    /// Waits for its end.
    pub fn done(mut self) -> Done {
        let status = loop {
            if let Some(status) = self.ended() {
                break status;
            }
            self.check_time();
            std::thread::sleep(TICK);
        };
        let (stdout, stderr) = (contents(&mut self.stdout), contents(&mut self.stderr));
        Done { status, stdout, stderr, what: std::mem::take(&mut self.what) }
    }

    /// How it ended, if it has.
    fn ended(&mut self) -> Option<ExitStatus> {
        let ticks = self.ticks();
        let status = self.child.try_wait().expect("a child");
        if status.is_some() && !self.waited {
            self.waited = true;
            self.count(ticks);
        }
        status
    }

    /// Its processor time so far. It is gone after a wait.
    fn ticks(&self) -> u64 {
        if self.waited { 0 } else { ticks_of(&self.pid().to_string(), 4) }
    }

    /// Adds its processor time to that of the case.
    fn count(&self, ticks: u64) {
        TICKS.set(TICKS.get() + ticks);
        append_times("XHIST_COMMAND_TIMES", || format!("{:7.2} {}", seconds(ticks), self.what));
    }

    fn check_time(&mut self) {
        if Instant::now() > self.deadline {
            let (stdout, stderr) = (contents(&mut self.stdout), contents(&mut self.stderr));
            panic!("{} took too long\n{}\n{}", self.what, tail(&stdout), tail(&stderr));
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if !self.waited {
            self.count(self.ticks());
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

/// A command that has ended.
#[derive(Clone, Debug)]
pub struct Done {
    status: ExitStatus,
    /// What it printed.
    pub stdout: String,
    /// What it printed to stderr.
    pub stderr: String,
    what: String,
}

impl Done {
    /// Its exit code as a shell prints it: 128 and the signal for one that was killed.
    pub fn code(&self) -> i32 {
        self.status.code().or(self.status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
    }

    /// Fails with everything it printed unless this is its exit code.
    #[track_caller]
    pub fn expect(self, code: i32) -> Done {
        self.check(self.code() == code, &format!("exit code {code} expected"));
        self
    }

    /// Fails with everything it printed unless `fact`.
    #[track_caller]
    pub fn check(&self, fact: bool, expected: &str) {
        assert!(fact, "{expected}\n{}", self.summary());
    }

    /// Its exit code and the last lines that it printed.
    pub fn summary(&self) -> String {
        let (stdout, stderr) = (tail(&self.stdout), tail(&self.stderr));
        let (what, code) = (&self.what, self.code());
        format!("{what}: exit code {code}\n--- stdout\n{stdout}\n--- stderr\n{stderr}\n")
    }
}

fn contents(file: &mut File) -> String {
    head(file, u64::MAX)
}

/// The first bytes of a file. By offset: the command shares this file's position while it writes.
fn head(file: &mut File, most: u64) -> String {
    let length = file.metadata().map_or(0, |meta| meta.len()).min(most);
    let mut bytes = vec![0; usize::try_from(length).expect("it fits in memory")];
    file.read_exact_at(&mut bytes, 0).expect("a file that only grows");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The last lines of a long text.
fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(60)..].join("\n")
}
