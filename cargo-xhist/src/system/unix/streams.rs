//! The standard streams, and channels in place of them: pipes, and pseudoterminals for a stream that is a terminal.

use std::fs::{File, OpenOptions};
use std::io::IsTerminal as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize};

/// The end of a channel that a child gets.
pub(crate) type Inner = OwnedFd;
/// Where a stream goes.
pub(crate) type Outer = File;

/// Standard output and standard error, and whether both have the same destination.
pub(crate) fn own_streams() -> Option<(Outer, Outer, bool)> {
    let copy = |stream: std::io::Result<OwnedFd>| stream.ok().map(File::from);
    let output = copy(std::io::stdout().as_fd().try_clone_to_owned())?;
    let error = copy(std::io::stderr().as_fd().try_clone_to_owned())?;
    let identity = |stream: &File| stream.metadata().ok().map(|meta| (meta.dev(), meta.ino(), meta.rdev()));
    let is_same = identity(&output).is_some_and(|one| identity(&error) == Some(one));
    Some((output, error, is_same))
}

/// A file that takes everything.
pub(crate) fn nowhere() -> Option<Outer> {
    OpenOptions::new().write(true).open("/dev/null").ok()
}

/// A channel in place of a stream: the end that is read, and that of the child. `None`: the system has no channel left.
pub(crate) fn channel(to: &Outer) -> Option<(File, Inner)> {
    if !to.is_terminal() {
        let (outer, inner) = std::io::pipe().ok()?;
        return Some((File::from(OwnedFd::from(outer)), inner.into()));
    }
    let outer = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).ok()?;
    rustix::io::fcntl_setfd(&outer, rustix::io::FdFlags::CLOEXEC).ok()?;
    grantpt(&outer).ok()?;
    unlockpt(&outer).ok()?;
    let name = ptsname(&outer, Vec::new()).ok()?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(OFlags::NOCTTY.bits().cast_signed());
    let inner = options.open(name.to_str().ok()?).ok()?;
    // The outer terminal translates line ends.
    let mut modes = tcgetattr(&inner).ok()?;
    modes.make_raw();
    tcsetattr(&inner, OptionalActions::Now, &modes).ok()?;
    if let Ok(size) = tcgetwinsize(to) {
        let _ = tcsetwinsize(&outer, size);
    }
    Some((File::from(outer), inner.into()))
}

/// Waits until a stream that does not block has room: another process that shares it made it so.
pub(crate) fn wait_for_room(to: &Outer) {
    let _ = poll(&mut [PollFd::new(to, PollFlags::OUT)], None);
}

/// Copies the size of the terminal, which may change.
pub(crate) fn follow_size(terminal: &Outer, inner: &File) {
    if let (Ok(size), Ok(known)) = (tcgetwinsize(terminal), tcgetwinsize(inner))
        && (size.ws_row, size.ws_col) != (known.ws_row, known.ws_col)
    {
        let _ = tcsetwinsize(inner, size);
    }
}
