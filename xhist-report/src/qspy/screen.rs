//! Where lines go: to the reader, in colour and as many as wanted, and to a file, all of them. It must not know what is in them.

use std::io::{self, Write};

use crate::qs::{Class, Lines, Palette, push_coloured};

use super::options::QsOptions;
use super::outputs::Output;

/// From so many on, only what is no record is shown.
const SILENT: u32 = 99;

/// So many bytes are worth a write.
const ENOUGH: usize = 256 << 10;

/// Takes lines.
pub struct Screen<'o> {
    out: Box<dyn Write + 'o>,
    /// What is not yet written.
    waiting: Vec<u8>,
    /// Keeps the lines.
    pub file: Option<Output>,
    palette: Palette,
    visible: bool,
    /// Every so-manieth line, and how many dots there are to go.
    quiet: Option<(u32, i64)>,
    /// The record that lines are about.
    pub id: u8,
    in_dots: bool,
    line: Vec<u8>,
    error: Option<io::Error>,
}

impl<'o> Screen<'o> {
    /// As the options say.
    pub fn new(options: &QsOptions, file: Option<Output>, out: Box<dyn Write + 'o>) -> Screen<'o> {
        Screen {
            out,
            waiting: Vec::new(),
            file,
            palette: options.palette,
            visible: options.visible,
            // QSPY has told by now that it opened the file.
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

    /// Shows nothing but what is no record, or all again.
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

    /// Writes what waits.
    pub fn flush(&mut self) -> io::Result<()> {
        self.pass_on();
        self.take_error()?;
        self.out.flush()
    }

    /// Leaves nothing waiting here.
    pub fn pass_on(&mut self) {
        if let Err(error) = self.out.write_all(&self.waiting) {
            self.error.get_or_insert(error);
        }
        self.waiting.clear();
    }

    /// Ends a line of dots, and writes what waits.
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
    fn show(&mut self, class: Class, line: &[u8]) {
        if self.palette != Palette::None || self.visible {
            return self.show_dressed(class, line);
        }
        self.waiting.extend_from_slice(line);
        self.write(b"\n");
    }

    /// In colour, or with what a terminal must not be sent made visible.
    fn show_dressed(&mut self, class: Class, line: &[u8]) {
        let mut shown = std::mem::take(&mut self.line);
        shown.clear();
        match self.visible && line.iter().any(|byte| byte.is_ascii_control() || !byte.is_ascii()) {
            true => {
                let text = String::from_utf8_lossy(line);
                let text = crate::model::visible(&text);
                push_coloured(self.palette, class, self.id, text.as_bytes(), &mut shown);
            }
            false => push_coloured(self.palette, class, self.id, line, &mut shown),
        }
        shown.push(b'\n');
        self.write(&shown);
        self.line = shown;
    }

    /// Quiet mode: dots in place of lines.
    fn show_some(&mut self, class: Class, line: &[u8], every: u32, to_go: i64) {
        let is_special = class != Class::Ordinary;
        let mut to_go = to_go;
        if to_go == 0 || is_special {
            if every < SILENT || is_special {
                if to_go != i64::from(every) - 1 {
                    self.write(b"\n");
                }
                self.show(class, line);
                self.in_dots = false;
            }
            to_go = every.into();
        } else {
            self.write(b".");
            self.in_dots = true;
        }
        self.quiet = Some((every, to_go - 1));
    }
}

impl Lines for Screen<'_> {
    #[inline]
    fn line(&mut self, class: Class, line: &[u8]) {
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
