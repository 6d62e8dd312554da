//! A terminal with a screen: a program runs on a pseudo-terminal, and an emulator draws what it writes.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use vt100::{Color, Parser, Screen};
use xhist_tests::Run;

/// A program on a terminal.
pub struct Typing {
    master: File,
    output: Receiver<Vec<u8>>,
    parser: Parser,
    child: Child,
}

impl Typing {
    /// Starts a command on a terminal with this number of columns and rows.
    pub fn start(run: Run, (columns, rows): (u16, u16)) -> Typing {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
        grantpt(&master).expect("our terminal");
        unlockpt(&master).expect("our terminal");
        let name = ptsname(&master, Vec::new()).expect("a name").into_string().expect("a path");
        let master = File::from(master);
        set_size(&master, (columns, rows));
        let noctty = rustix::fs::OFlags::NOCTTY.bits().cast_signed();
        let open = || OpenOptions::new().read(true).write(true).custom_flags(noctty).open(Path::new(&name));
        let side = || open().expect("the other end");
        let mut command = run.into_command();
        command.stdin(side()).stdout(side()).stderr(side());
        let child = command.spawn().expect("it starts");
        let (sender, output) = channel();
        let mut from = master.try_clone().expect("a descriptor");
        std::thread::spawn(move || {
            let mut bytes = [0; 1 << 16];
            while let Ok(length) = from.read(&mut bytes)
                && length > 0
                && sender.send(bytes[..length].to_vec()).is_ok()
            {}
        });
        Typing { master, output, parser: Parser::new(size(rows), size(columns), 0), child }
    }

    /// Presses keys.
    pub fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).expect("a terminal");
    }

    /// Changes the size of the window.
    pub fn resize(&mut self, (columns, rows): (u16, u16)) {
        self.parser.screen_mut().set_size(size(rows), size(columns));
        set_size(&self.master, (columns, rows));
    }

    /// What is on the screen.
    pub fn screen(&self) -> &Screen {
        self.parser.screen()
    }

    /// Waits until the screen has this text; how long that took.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) -> Duration {
        self.wait_until(text, |screen| screen.contents().contains(text))
    }

    /// Waits until the screen is as expected; how long that took.
    #[track_caller]
    pub fn wait_until(&mut self, what: &str, is_so: impl Fn(&Screen) -> bool) -> Duration {
        let start = Instant::now();
        let deadline = start + Duration::from_secs(120);
        while !is_so(self.parser.screen()) {
            match self.output.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(bytes) => self.parser.process(&bytes),
                Err(RecvTimeoutError::Timeout) => {
                    panic!("no {what:?} in time:\n{}", self.parser.screen().contents())
                }
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("it ended before this: {what:?}\n{}", self.parser.screen().contents())
                }
            }
        }
        start.elapsed()
    }

    /// Waits for the end of the program.
    pub fn end(mut self) -> (ExitStatus, Parser) {
        let deadline = Instant::now() + Duration::from_secs(60);
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                break status;
            }
            assert!(Instant::now() < deadline, "it goes on:\n{}", self.parser.screen().contents());
            std::thread::sleep(Duration::from_millis(5));
        };
        while let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(200)) {
            self.parser.process(&bytes);
        }
        (status, self.parser)
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

fn size(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).expect("a size")
}

fn set_size(master: &File, (columns, rows): (u16, u16)) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(master, size).expect("a terminal");
}

/// Whether any character of a screen has a colour.
pub fn has_colour(screen: &Screen) -> bool {
    cells(screen).any(|cell| (cell.fgcolor(), cell.bgcolor()) != (Color::Default, Color::Default))
}

fn size_of(screen: &Screen) -> (u16, u16) {
    let (rows, columns) = screen.size();
    (rows.get(), columns.get())
}

fn cells(screen: &Screen) -> impl Iterator<Item = &vt100::Cell> {
    let (rows, columns) = size_of(screen);
    (0..rows).flat_map(move |row| (0..columns).filter_map(move |column| screen.cell(row, column)))
}

/// The screen as a program would print it: lines with the escape sequences of colours.
pub fn printed(screen: &Screen) -> String {
    let (rows, columns) = size_of(screen);
    let mut text = String::new();
    for row in 0..rows {
        let mut look = String::new();
        for cell in (0..columns).filter_map(|column| screen.cell(row, column)) {
            let mut now = "\u{1b}[0".to_owned();
            let codes = [(cell.bold(), ";1"), (cell.dim(), ";2")];
            codes.iter().filter(|(is_on, _)| *is_on).for_each(|(_, code)| now.push_str(code));
            match cell.fgcolor() {
                // Dark grey.
                Color::Idx(8) => now.push_str(";2"),
                Color::Idx(colour @ 0..=7) => now.push_str(&format!(";{}", 30 + colour)),
                _ => {}
            }
            // The picture has no reverse; bold shows what is selected.
            if cell.inverse() {
                now.push_str(";1");
            }
            now.push('m');
            if now != look {
                text.push_str(&now);
                look = now;
            }
            text.push_str(if cell.has_contents() { cell.contents() } else { " " });
        }
        text = text.trim_end().to_owned() + "\u{1b}[0m\n";
    }
    text
}
