//! Serial lines of Unix.
//!
//! Own code instead of the crate `serial2`: a device that vanishes while it is read has to end the read with an error, and
//! `rustix` (already a dependency) does that in a few lines.

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

use super::super::ends::{TAKE, is_a_pause};
use super::{Connection, Flow, Parity, SerialLine};

/// Whether the error shows another kind of file: settings do not apply, or it is a directory.
pub(super) fn is_other_file(error: &io::Error) -> bool {
    let none = [Errno::NOTTY, Errno::ISDIR, Errno::NOTDIR].map(Errno::raw_os_error);
    error.raw_os_error().is_some_and(|number| none.contains(&number))
}

pub(super) fn open(line: &SerialLine) -> io::Result<Connection> {
    // Do not wait for a carrier. The line must not become the terminal of this process.
    let flags = (OFlags::NOCTTY | OFlags::NONBLOCK).bits() as i32;
    let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(&line.path)?;
    set(&file, line)?;
    // The buffers hold bytes that were sent with other settings.
    let _ = tcflush(&file, QueueSelector::IOFlush);
    let port = Port(Arc::new(file));
    Ok(Connection { peer: line.path.display().to_string(), from: Box::new(port.clone()), to: Box::new(port) })
}

fn set(file: &File, line: &SerialLine) -> io::Result<()> {
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

/// The open device. Reads and writes wait for a bounded time.
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
