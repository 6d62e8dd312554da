//! A serial line, raw and with the settings that were asked for. It goes when the device does, and comes back with it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::termios::{
    ControlModes, OptionalActions, QueueSelector, SpecialCodeIndex, tcflush, tcgetattr, tcsetattr,
};

use super::serial_name::{Flow, Line, Parity};
use super::{Ends, Keeping, Link, client, is_a_pause};

/// A device that takes nothing for so long does not listen.
const TAKE: Duration = Duration::from_secs(1);

/// A device that is missing is waited for. A file of another kind never becomes a serial line.
///
/// # Errors
/// That it is not a serial line, in a sentence.
pub fn link(name: &str, line: Line) -> Result<Link, String> {
    // Opened once only: many devices take that for a reset.
    let mut first = match open(&line) {
        Err(error) if is_other_file(&error) => {
            return Err(format!("{name}: {} is not a serial line: {error}", line.path.display()));
        }
        first => Some(first),
    };
    let again = move || first.take().unwrap_or_else(|| open(&line));
    Ok(Link::new(name, Keeping::Newest, move |feed| client::keep(&feed, again)))
}

/// Whether what was opened cannot have the settings of a line, or cannot be opened so: a directory.
fn is_other_file(error: &io::Error) -> bool {
    let none = [Errno::NOTTY, Errno::ISDIR, Errno::NOTDIR].map(Errno::raw_os_error);
    error.raw_os_error().is_some_and(|number| none.contains(&number))
}

fn open(line: &Line) -> io::Result<Ends> {
    // Without waiting for a carrier, and without becoming this process's terminal.
    let flags = (OFlags::NOCTTY | OFlags::NONBLOCK).bits() as i32;
    let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(&line.path)?;
    set(&file, line)?;
    // What stood in the buffers was sent at other settings.
    let _ = tcflush(&file, QueueSelector::IOFlush);
    let port = Port(Arc::new(file));
    Ok(Ends { peer: line.path.display().to_string(), from: Box::new(port.clone()), to: Box::new(port) })
}

fn set(file: &File, line: &Line) -> io::Result<()> {
    let mut settings = tcgetattr(file)?;
    settings.make_raw();
    settings.set_speed(line.baud)?;
    let modes = &mut settings.control_modes;
    modes.insert(ControlModes::CREAD | ControlModes::CLOCAL);
    modes.remove(
        ControlModes::CSIZE
            | ControlModes::PARENB
            | ControlModes::PARODD
            | ControlModes::CSTOPB
            | ControlModes::CRTSCTS,
    );
    modes.insert(if line.bits == 7 { ControlModes::CS7 } else { ControlModes::CS8 });
    modes.insert(match line.parity {
        Parity::None => ControlModes::empty(),
        Parity::Even => ControlModes::PARENB,
        Parity::Odd => ControlModes::PARENB | ControlModes::PARODD,
    });
    modes.set(ControlModes::CSTOPB, line.two_stops);
    modes.set(ControlModes::CRTSCTS, line.flow == Flow::Hardware);
    settings.special_codes[SpecialCodeIndex::VMIN] = 1;
    settings.special_codes[SpecialCodeIndex::VTIME] = 0;
    Ok(tcsetattr(file, OptionalActions::Now, &settings)?)
}

/// The open device, which never lets anybody wait for long.
#[derive(Clone)]
struct Port(Arc<File>);

impl Port {
    fn wait(&self, what: PollFlags, limit: Duration) -> io::Result<PollFlags> {
        let mut fds = [PollFd::new(&*self.0, what)];
        let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() };
        poll(&mut fds, Some(&limit))?;
        Ok(fds[0].revents())
    }
}

impl Read for Port {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let ready = self.wait(PollFlags::IN, TAKE)?;
        if !ready.contains(PollFlags::IN)
            && ready.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)
        {
            return Err(io::Error::new(io::ErrorKind::BrokenPipe, "the device is gone"));
        }
        if !ready.contains(PollFlags::IN) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        (&*self.0).read(into)
    }
}

impl Write for Port {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let start = Instant::now();
        loop {
            match (&*self.0).write(bytes) {
                Err(error) if is_a_pause(&error) && start.elapsed() < TAKE => {
                    self.wait(PollFlags::OUT, TAKE)?;
                }
                result => return result,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
