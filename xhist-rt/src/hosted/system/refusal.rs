//! Why a file cannot hold rings.

/// The reason why a name gives no ring file.
#[derive(Clone, Copy)]
pub(crate) enum NoFile {
    /// Another process has its rings in it.
    Held,
    /// Its content must be kept.
    Kept,
    /// It cannot be used.
    Refused(Refusal),
}

/// The reason why a file cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(windows, allow(dead_code, reason = "some reasons are those of other systems"))]
pub(crate) enum Refusal {
    /// The last part of the name is a symbolic link, which may point anywhere.
    Link,
    Directory,
    /// A device, a pipe, a socket.
    NotAFile,
    /// It has other content.
    Foreign,
    /// Its owner could read the recorded data.
    OtherOwner,
    /// Other processes have their rings in it.
    InUse,
    /// The path is longer than the buffer for it.
    TooLong,
    /// The disk is full, or the file must not grow.
    NoRoom,
    /// The program has closed its descriptor, as a daemon closes all descriptors.
    Closed,
    NoDirectory,
    /// A part of the path is something else.
    NotADirectory,
    Permission,
    ReadOnly,
    NameTooLong,
    NoSpace,
    TooManyFiles,
    TooManyLinks,
    NoMemory,
    /// Another error of the system.
    System(i32),
}

/// The kind of content that a file has, derived from its first bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// Rings that may be overwritten, or nothing.
    Free,
    /// Rings that must be kept.
    Kept,
    /// Anything else.
    Foreign,
}

/// The first bytes of a file that is not empty.
pub(crate) type FirstBytes = [u8; 128];
