//! Shows lines, in colour and as many as wanted, and writes all of them to the file of lines.

use std::io::{self, Write};

use qs_host::{LineClass, LineSink, Palette, push_coloured};

use super::options::QsOptions;
use super::outputs::Output;

/// Quiet mode from this number on shows no records.
const SILENT: u32 = 99;

/// Lines are written when they have this many bytes together.
const ENOUGH: usize = 256 << 10;

/// The place that lines are shown at.
pub struct Screen<'o> {
    out: Box<dyn Write + 'o>,
    /// Bytes that are not yet written.
    waiting: Vec<u8>,
    /// The file of lines.
    pub file: Option<Output>,
    palette: Palette,
    visible: bool,
    /// Quiet mode: which lines are shown (every Nth), and how many dots come before the next one.
    quiet: Option<(u32, i64)>,
    /// Id of the record that the lines are about.
    pub id: u8,
    in_dots: bool,
    line: Vec<u8>,
    error: Option<io::Error>,
}

impl<'o> Screen<'o> {
    /// Creates a screen with these options.
    pub fn new(options: &QsOptions, file: Option<Output>, out: Box<dyn Write + 'o>) -> Screen<'o> {
        Screen {
            out,
            waiting: Vec::new(),
            file,
            palette: options.palette,
            visible: options.visible,
            // QSPY has already shown a line: that it opened the file.
            quiet: options.quiet.map(|every| (every, i64::from(every) - 1)),
            id: 0,
            in_dots: false,
            line: Vec::new(),
            error: None,
        }
    }

    /// The first error of the output.
    pub fn take_error(&mut self) -> io::Result<()> {
        self.error.take().map_or(Ok(()), Err)
    }

    /// Switches quiet mode, which shows no records. Returns whether it is on now.
    pub fn toggle_quiet(&mut self) -> bool {
        self.quiet = match self.quiet {
            Some(_) => None,
            None => Some((SILENT, 0)),
        };
        self.quiet.is_some()
    }

    /// Shows an empty screen.
    pub fn clear(&mut self) {
        if self.visible {
            self.write(b"\x1b[2J\x1b[H");
        }
    }

    /// Writes and flushes all lines.
    pub fn flush(&mut self) -> io::Result<()> {
        self.pass_on();
        self.take_error()?;
        self.out.flush()
    }

    /// Writes all lines, without a flush.
    pub fn pass_on(&mut self) {
        if let Err(error) = self.out.write_all(&self.waiting) {
            self.error.get_or_insert(error);
        }
        self.waiting.clear();
    }

    /// Ends a line of dots, writes and flushes.
    pub fn finish(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.in_dots) {
            self.write(b"\n");
        }
        self.flush()
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() >= ENOUGH {
            self.pass_on();
        }
    }

    #[inline]
    fn show(&mut self, class: LineClass, line: &[u8]) {
        if self.palette != Palette::None || self.visible {
            return self.show_dressed(class, line);
        }
        self.waiting.extend_from_slice(line);
        self.write(b"\n");
    }

    /// Shows a line in colour, with control characters escaped for a terminal.
    fn show_dressed(&mut self, class: LineClass, line: &[u8]) {
        let mut shown = std::mem::take(&mut self.line);
        shown.clear();
        match self.visible && line.iter().any(|byte| byte.is_ascii_control() || !byte.is_ascii()) {
            true => {
                let text = String::from_utf8_lossy(line);
                let text = xhist_history::model::visible(&text);
                push_coloured(self.palette, class, self.id, text.as_bytes(), &mut shown);
            }
            false => push_coloured(self.palette, class, self.id, line, &mut shown),
        }
        shown.push(b'\n');
        self.write(&shown);
        self.line = shown;
    }

    /// Shows a line in quiet mode: most are dots. From `SILENT` on, one record is not even a dot: the count passes zero there,
    /// and never returns to it without an error or a note.
    fn show_some(&mut self, class: LineClass, line: &[u8], every: u32, to_go: i64) {
        let is_special = class != LineClass::Ordinary;
        let mut to_go = to_go;
        if to_go == 0 || is_special {
            if every < SILENT || is_special {
                if to_go != i64::from(every) - 1 {
                    self.write(b"\n");
                }
                self.show(class, line);
                self.in_dots = false;
                to_go = every.into();
            }
        } else {
            self.write(b".");
            self.in_dots = true;
        }
        self.quiet = Some((every, to_go - 1));
    }
}

impl LineSink for Screen<'_> {
    #[inline]
    fn line(&mut self, class: LineClass, line: &[u8]) {
        if let Some(file) = &mut self.file {
            file.write(line);
            file.write(b"\n");
        }
        match self.quiet {
            None => self.show(class, line),
            Some((0, _)) => {}
            Some((every, to_go)) => self.show_some(class, line, every, to_go),
        }
    }
}
