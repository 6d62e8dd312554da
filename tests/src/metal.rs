//! Firmware: built once for each choice of features, run in QEMU, stopped through QEMU's gdb port.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::tools::kept_builds;
use crate::{Run, Tree, finding_recorder, free_port, other_cargo, repository};

/// A board: the target that firmware is compiled for, and the emulator that runs it.
#[derive(Debug, PartialEq, Eq)]
pub struct Board {
    sample: &'static str,
    pub(crate) target: &'static str,
    /// The linker for a compiler that has none of its own, and its flags.
    linker: (&'static str, &'static str),
    qemu: &'static [&'static str],
}

/// A Cortex-M3.
pub const CORTEX_M: Board = Board {
    sample: "firmware-cortex-m",
    target: "thumbv7m-none-eabi",
    linker: ("arm-none-eabi-ld", ""),
    qemu: &["qemu-system-arm", "-cpu", "cortex-m3", "-machine", "lm3s6965evb"],
};

/// A RISC-V of 32 bits.
pub const RISC_V: Board = Board {
    sample: "firmware-riscv",
    target: "riscv32imac-unknown-none-elf",
    linker: ("riscv64-unknown-elf-ld", "-C linker-flavor=ld -C link-arg=-melf32lriscv"),
    qemu: &["qemu-system-riscv32", "-machine", "virt", "-bios", "none"],
};

/// A RISC-V of a chip that QEMU does not have.
pub const ESP32_C3: Board = Board { target: "riscv32imc-unknown-none-elf", ..RISC_V };

/// Two cores of it.
pub const TWO_CORES: Board = Board {
    sample: "firmware-two-cores",
    qemu: &["qemu-system-riscv32", "-machine", "virt", "-smp", "2", "-bios", "none"],
    ..RISC_V
};

/// Two cores of a Cortex-M33. They run what is compiled for a Cortex-M3, too.
pub const TWO_CORTEX_M: Board =
    Board { sample: "firmware-two-cores", qemu: &["qemu-system-arm", "-machine", "mps2-an521"], ..CORTEX_M };

/// A Cortex-M3 with embassy's executor.
pub const EMBASSY: Board = Board { sample: "firmware-embassy", ..CORTEX_M };

/// In place of features of the sample: its recorder has one ring, and keeps nothing across a reset.
pub const ONE_RING: &str = "one-ring";
/// The sample in function detail.
pub const ENTRIES: &str = "entries";
/// The sample, which stops recording when a line has run three times.
pub const STOPPED: &str = "stopped";
/// The sample with the values of its critical section.
pub const VALUES: &str = "values";

/// How firmware is compiled here.
#[derive(Clone, Copy, Debug)]
pub enum Compiler {
    /// The target is installed with the toolchain at hand.
    Installed,
    /// Debian's compiler and the sources of its libraries.
    Debian,
}

/// The compiler that is installed for this target.
fn compiler(target: &str) -> Option<Compiler> {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?.stdout;
    let sysroot = PathBuf::from(String::from_utf8_lossy(&sysroot).trim());
    if sysroot.join("lib/rustlib").join(target).is_dir() {
        return Some(Compiler::Installed);
    }
    let sources = Path::new("/usr/lib/rustlib/src/rust/library/core").is_dir();
    let all = sources && Path::new("/usr/bin/rustc").is_file() && Path::new("/usr/bin/cargo").is_file();
    all.then_some(Compiler::Debian)
}

/// Whether something is compiled for this target.
pub fn has_compiler(target: &str) -> bool {
    compiler(target).is_some()
}

/// A cargo command that compiles for this target in release mode, with more flags for the compiler.
pub fn cargo_for_target(target: &str, flags: &str, directory: &Path, command: &str) -> Run {
    plain_cargo(target, flags, directory, &format!("{command} --release --target {target}"))
}

/// `cargo check` for this target. The core library is only checked as well, which takes a tenth of compiling it.
pub fn check_for_target(target: &str, directory: &Path, command: &str) -> Run {
    let command = format!("check --release --target {target} {command}");
    let Some(Compiler::Debian) = compiler(target) else {
        return other_cargo("cargo", directory).args(&command);
    };
    let cargo = other_cargo("/usr/bin/cargo", directory).args(&command).arg("-Zbuild-std=core");
    let cargo = cargo.env("RUSTC", "/usr/bin/rustc").env("RUSTC_BOOTSTRAP", "1");
    cargo.env(&variable(target, "RUSTFLAGS"), "-Z no-codegen")
}

/// A cargo command that finds what compiles for this target.
fn plain_cargo(target: &str, flags: &str, directory: &Path, command: &str) -> Run {
    let Some(Compiler::Debian) = compiler(target) else {
        return other_cargo("cargo", directory).args(command);
    };
    let flags = format!("--sysroot={} {flags}", sysroot(target).display());
    let cargo = other_cargo("/usr/bin/cargo", directory).args(command).env("RUSTC", "/usr/bin/rustc");
    cargo.env(&variable(target, "RUSTFLAGS"), flags)
}

/// Cargo's variable with this setting of a target.
fn variable(target: &str, setting: &str) -> String {
    format!("CARGO_TARGET_{}_{setting}", target.to_uppercase().replace('-', "_"))
}

/// Arguments of QEMU by which the board's clock counts instructions, 64 ns each: how busy the host is changes nothing then.
pub const COUNTED: [&str; 2] = ["-icount", "shift=6"];

/// Where Debian's compiler finds the core library for this target: compiled once from its sources, for all firmware, all
/// recorders and all runs. `-Zbuild-std` would compile it for each of them.
fn sysroot(target: &str) -> PathBuf {
    const PARTS: [&str; 3] = ["libcore-", "libcompiler_builtins-", "librustc_std_workspace_core-"];
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _lock = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let version = Command::new("/usr/bin/rustc").arg("--version").output().expect("a compiler").stdout;
    let version = String::from_utf8_lossy(&version).replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let sysroot = kept_builds().join("core").join(version);
    let libraries = sysroot.join("lib/rustlib").join(target).join("lib");
    if libraries.is_dir() {
        return sysroot;
    }
    let tree = Tree::empty("core");
    let manifest = "[package]\nname = \"nothing\"\nedition = \"2024\"\n\n[workspace]\n\n[profile.release]\nopt-level = \"s\"\n";
    tree.write("Cargo.toml", manifest);
    tree.write("src/lib.rs", "#![no_std]\n");
    let cargo =
        Run::new("/usr/bin/cargo", tree.path()).args("build --quiet --release -Zbuild-std=core --target");
    // Samples are linked with `lto`, which reads bitcode.
    let cargo = cargo.arg(target).env("RUSTFLAGS", "-C embed-bitcode=yes").env("RUSTC", "/usr/bin/rustc");
    cargo.env("RUSTC_BOOTSTRAP", "1").succeed();
    // A run that is killed leaves no half of it.
    let draft = sysroot.join(format!("draft-{}", std::process::id()));
    std::fs::create_dir_all(&draft).expect("a directory");
    for file in std::fs::read_dir(tree.join("target").join(target).join("release/deps")).expect("libraries") {
        let file = file.expect("a file");
        if PARTS.iter().any(|part| file.file_name().to_string_lossy().starts_with(part)) {
            std::fs::copy(file.path(), draft.join(file.file_name())).expect("a copy");
        }
    }
    std::fs::create_dir_all(libraries.parent().expect("a directory")).expect("a directory");
    std::fs::rename(&draft, &libraries).expect("in its place");
    sysroot
}

impl Board {
    /// The target that firmware is compiled for.
    pub fn target(&self) -> &'static str {
        self.target
    }

    /// A cargo command that compiles for this board in release mode.
    pub fn cargo(&self, directory: &Path, command: &str) -> Run {
        self.with_linker(cargo_for_target(self.target, self.linker.1, directory, command))
    }

    /// `cargo xhist why` of what was built by [`Board::cargo`].
    pub fn why(&self, directory: &Path, test: &str) -> Run {
        let command = format!("xhist why {test}");
        self.with_linker(plain_cargo(self.target, self.linker.1, directory, &command))
    }

    fn with_linker(&self, cargo: Run) -> Run {
        let (linker, _) = self.linker;
        match compiler(self.target) {
            Some(Compiler::Debian) => cargo.env(&variable(self.target, "LINKER"), linker),
            _ => cargo,
        }
    }
}

/// A firmware that is built.
#[derive(Clone, Debug)]
pub struct Firmware {
    /// Where it was built, and where its map is found.
    pub directory: PathBuf,
    /// The program.
    pub elf: PathBuf,
    board: &'static Board,
}

impl Firmware {
    /// The sample, recorded by `cargo xhist`, with these features.
    pub fn sample(board: &'static Board, features: &str) -> Firmware {
        static BUILT: Mutex<BTreeMap<(&str, String), Firmware>> = Mutex::new(BTreeMap::new());
        let mut built = BUILT.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        built.entry((board.sample, features.to_owned())).or_insert_with(|| build(board, features)).clone()
    }

    /// Runs it in QEMU until it ends by itself; what it prints, through semihosting or the UART.
    pub fn run(&self) -> String {
        let qemu = Run::new(self.board.qemu[0], &self.directory).args(&self.board.qemu[1..].join(" "));
        let qemu = qemu
            .args("-display none -monitor none -serial stdio -semihosting-config enable=on,target=native");
        // In real time, a busy host lets the timer interrupt it between any two instructions.
        let qemu = qemu.args(&COUNTED.join(" "));
        let done = qemu.limit(Duration::from_secs(60)).arg("-kernel").arg(&self.elf).done();
        format!("{}{}", done.stdout, done.stderr)
    }

    /// Runs it in QEMU and gives the address of every instruction, until `each` has seen enough. Its clock counts instructions,
    /// 64 ns each. Logged one by one, they are too slow for a timer in real time.
    pub fn trace(&self, mut each: impl FnMut(u32) -> bool) {
        let help = Command::new(self.board.qemu[0]).arg("-help").output().expect("QEMU").stdout;
        let one_by_one: &[&str] = match String::from_utf8_lossy(&help).contains("-singlestep") {
            true => &["-singlestep"],
            false => &["-accel", "tcg,one-insn-per-tb=on"],
        };
        let mut qemu = Command::new(self.board.qemu[0]);
        qemu.args(&self.board.qemu[1..])
            .args(one_by_one)
            .args(COUNTED)
            .args(["-display", "none", "-monitor", "none"]);
        qemu.args(["-d", "exec,nochain", "-D", "/dev/stdout", "-kernel"]).arg(&self.elf);
        qemu.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = qemu.spawn().expect("QEMU");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        // `Trace 0: 0x7f4c30000100 [00000000/00000404/00000110/ff000201] main`
        let addresses = lines
            .map_while(Result::ok)
            .filter_map(|line| u32::from_str_radix(line.split_once('[')?.1.split('/').nth(1)?, 16).ok());
        for address in addresses {
            if !each(address) {
                break;
            }
        }
        let _ = child.kill();
        let _ = child.wait();
    }

    /// Another program for the same board.
    pub fn other(board: &'static Board, elf: PathBuf) -> Firmware {
        let directory = elf.parent().unwrap_or(Path::new(".")).to_owned();
        Firmware { directory, elf, board }
    }

    /// Starts it in QEMU, halted.
    pub fn start(&self, arguments: &[&str]) -> Machine {
        let port = free_port();
        let child = Command::new(self.board.qemu[0])
            .args(&self.board.qemu[1..])
            .args(["-display", "none", "-monitor", "none"])
            .args([
                "-semihosting-config",
                "enable=on,target=native",
                "-gdb",
                &format!("tcp:127.0.0.1:{port}"),
                "-S",
            ])
            .args(arguments)
            .arg("-kernel")
            .arg(&self.elf)
            .current_dir(&self.directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("QEMU");
        Machine { child, port, link: None }
    }

    /// First address and length of the ring, as `--how-to-dump` prints them.
    pub fn ring(&self) -> (u32, usize) {
        let printed = crate::report(&self.directory).args("--how-to-dump").arg(&self.elf).succeed().stdout;
        let words = printed.split("dump_image dump.bin ").nth(1).and_then(|rest| rest.split('\'').next());
        let (start, len) = words.and_then(|words| words.split_once(' ')).expect("OpenOCD's command");
        let start = u32::from_str_radix(start.trim_start_matches("0x"), 16).expect("an address");
        (start, len.parse().expect("a length"))
    }
}

/// Where it stops: the second statement of a function, as the sample has it.
pub const STOP_AT: &str = "src/crit_section.rs:11#3";

/// In one directory for all features, so that what others wrote is compiled once.
fn build(board: &'static Board, features: &str) -> Firmware {
    let name = if features.is_empty() { "plain" } else { features };
    let sample = repository().join("samples").join(board.sample);
    let directory = Tree::kept(board.sample, &sample, |manifest| {
        let manifest = finding_recorder(manifest);
        // Its own recorder takes the place of this one, which is compiled and not linked: the sooner the better.
        let manifest = ["xhist-rt", "xhist-qs"].iter().fold(manifest, |manifest, package| {
            format!("{manifest}\n[profile.release.package.{package}]\nopt-level = 0\n")
        });
        if features == ONE_RING { manifest.replace(", \"keep\"", "") } else { manifest }
    });
    let directory = directory.path().to_owned();
    let mut cargo = board.cargo(&directory, "xhist build --quiet").limit(Duration::from_secs(550));
    if features == ENTRIES {
        cargo = cargo.args("--detail function");
    } else if features == STOPPED {
        cargo = cargo.args(&format!("--stop-at {STOP_AT}"));
    } else if features == VALUES {
        cargo = cargo.args("--values **::crit_section");
    } else if !["", ONE_RING].contains(&features) {
        cargo = cargo.args(&format!("--features {features}"));
    }
    // In QEMU a RISC-V counts cycles, and a Cortex-M does not.
    let cargo = if *board == RISC_V { cargo.env("XHIST_TIME", "on") } else { cargo };
    cargo.succeed();
    let elf = directory.join(format!("{name}.elf"));
    let built = directory.join("target/xhist/build").join(board.target).join("release").join(board.sample);
    std::fs::copy(built, &elf).expect("the program");
    Firmware { directory, elf, board }
}

/// A firmware in QEMU.
#[derive(Debug)]
pub struct Machine {
    child: Child,
    /// Where QEMU waits for a debugger.
    pub port: u16,
    link: Option<TcpStream>,
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Machine {
    /// Waits for its end.
    pub fn wait(&mut self, limit: Duration) -> bool {
        for _ in 0..limit.as_millis() / 20 {
            if self.child.try_wait().expect("a status").is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }

    fn link(&mut self) -> &mut TcpStream {
        let port = self.port;
        self.link.get_or_insert_with(|| {
            let connect = || TcpStream::connect(("127.0.0.1", port)).ok();
            let wait = || std::thread::sleep(Duration::from_millis(20));
            let link = (0..500)
                .find_map(|_| {
                    connect().or_else(|| {
                        wait();
                        None
                    })
                })
                .expect("QEMU's gdb port");
            link.set_nodelay(true).expect("an option");
            link.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
            link
        })
    }

    /// Sends a packet in gdb's remote protocol.
    pub fn say(&mut self, command: &str) {
        let sum = command.bytes().fold(0u8, u8::wrapping_add);
        self.link().write_all(format!("${command}#{sum:02x}").as_bytes()).expect("sent");
    }

    /// The next answer.
    pub fn answer(&mut self) -> String {
        let (mut byte, mut text) = ([0], String::new());
        let mut inside = false;
        loop {
            self.link().read_exact(&mut byte).expect("an answer");
            match byte[0] {
                b'$' => inside = true,
                b'#' if inside => break,
                other if inside => text.push(other.into()),
                _ => {}
            }
        }
        let mut sum = [0; 2];
        self.link().read_exact(&mut sum).expect("a sum");
        self.link().write_all(b"+").expect("sent");
        text
    }

    /// Sends a packet and returns the answer.
    pub fn ask(&mut self, command: &str) -> String {
        self.say(command);
        self.answer()
    }

    /// Lets it run for this time, then halts it.
    pub fn run_for(&mut self, time: Duration) {
        self.say("c");
        std::thread::sleep(time);
        self.link().write_all(&[3]).expect("sent");
        self.answer();
    }

    /// Lets it run in short turns, until a look at it has a result. A busy host takes any time for what the board does at once.
    pub fn run_until<T>(&mut self, what: &str, mut look: impl FnMut(&mut Machine) -> Option<T>) -> T {
        const TURN: Duration = Duration::from_millis(100);
        let end = Instant::now() + Duration::from_secs(120);
        loop {
            self.run_for(TURN);
            if let Some(seen) = look(self) {
                return seen;
            }
            assert!(Instant::now() < end, "not within two minutes: {what}");
        }
    }

    /// A register.
    pub fn register(&mut self, number: u8) -> u32 {
        self.registers()[usize::from(number)]
    }

    /// All registers, by number.
    pub fn registers(&mut self) -> Vec<u32> {
        let all = self.ask("g");
        let words = all.as_bytes().chunks_exact(8).map(|digits| std::str::from_utf8(digits).expect("text"));
        words.map(|digits| u32::from_str_radix(digits, 16).expect("a register").swap_bytes()).collect()
    }

    /// Writes bytes into memory.
    pub fn set_memory(&mut self, start: u32, bytes: &[u8]) {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let answer = self.ask(&format!("M{start:x},{:x}:{digits}", bytes.len()));
        assert_eq!(answer, "OK", "memory at {start:#x}");
    }

    /// Bytes of memory.
    pub fn memory(&mut self, start: u32, len: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        while bytes.len() < len {
            // QEMU's packets have 4096 bytes.
            let piece = (len - bytes.len()).min(2000);
            let text = self.ask(&format!("m{:x},{piece:x}", start + bytes.len() as u32));
            let digits = text.as_bytes().chunks(2);
            bytes.extend(
                digits.map(|two| {
                    u8::from_str_radix(std::str::from_utf8(two).expect("text"), 16).expect("digits")
                }),
            );
        }
        bytes
    }
}
