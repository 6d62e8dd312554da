//! Attributes of a file: hard links, owner, mode, extended attributes.

use std::fs::{File, Metadata};
use std::io;

/// Number of hard links.
#[cfg(unix)]
pub(super) fn hard_links(meta: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(meta)
}

#[cfg(not(unix))]
pub(super) fn hard_links(_meta: &Metadata) -> u64 {
    1
}

/// Copies owner, mode and extended attributes to a new file; false if that is not permitted.
#[cfg(unix)]
pub(super) fn copy_attributes(new: &File, old: &File, meta: &Metadata) -> bool {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let owns = |new: Metadata| (new.uid(), new.gid()) == (meta.uid(), meta.gid());
    // Only the superuser may change the owner.
    let owned = new.metadata().is_ok_and(owns) || fchown(new, Some(meta.uid()), Some(meta.gid())).is_ok();
    owned && new.set_permissions(meta.permissions()).is_ok() && extended(new, old).is_ok()
}

#[cfg(not(unix))]
pub(super) fn copy_attributes(new: &File, _old: &File, meta: &Metadata) -> bool {
    new.set_permissions(meta.permissions()).is_ok()
}

/// Makes a new file readable for all users.
pub(super) fn make_readable(file: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        file.set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

/// Copies extended attributes: access control lists, labels, and those of the user.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
fn extended(new: &File, old: &File) -> io::Result<()> {
    use rustix::fs::{XattrFlags, fremovexattr, fsetxattr};
    let (wanted, made) = (all_extended(old)?, all_extended(new)?);
    // Remove attributes that the new file inherited from its directory.
    for (name, _) in made.iter().filter(|(name, _)| !wanted.iter().any(|(wanted, _)| wanted == name)) {
        fremovexattr(new, name.as_slice())?;
    }
    for (name, value) in wanted.iter().filter(|wanted| !made.contains(wanted)) {
        fsetxattr(new, name.as_slice(), value, XattrFlags::empty())?;
    }
    Ok(())
}

/// Names and values of all extended attributes.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
fn all_extended(file: &File) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    use rustix::fs::{fgetxattr, flistxattr};
    use rustix::io::Errno;
    let names = match with_growing_buffer(|buffer| flistxattr(file, buffer)) {
        // The file system has no extended attributes.
        Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(Vec::new()),
        names => names?,
    };
    let names = names.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names
        .map(|name| Ok((name.to_vec(), with_growing_buffer(|buffer| fgetxattr(file, name, buffer))?)))
        .collect()
}

/// Calls a function with a larger buffer until the result fits.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
fn with_growing_buffer(call: impl Fn(&mut [u8]) -> rustix::io::Result<usize>) -> rustix::io::Result<Vec<u8>> {
    let mut buffer = vec![0; 256];
    loop {
        match call(&mut buffer) {
            Err(rustix::io::Errno::RANGE) if buffer.len() < MAX_ATTRIBUTE => {
                buffer.resize(buffer.len() * 16, 0)
            }
            length => {
                buffer.truncate(length?);
                return Ok(buffer);
            }
        }
    }
}

/// No attribute is larger than this.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
const MAX_ATTRIBUTE: usize = 16 << 20;

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android", target_os = "macos"))))]
fn extended(_new: &File, _old: &File) -> io::Result<()> {
    Ok(())
}
