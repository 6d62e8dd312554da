use std::io::Write;

use flate2::{Compression, GzBuilder};
use proptest::prelude::*;
use tar::{Builder, EntryType, Header};

use super::super::{PackContent, PackEntry, write};
use super::*;

/// An archive with the comment of a pack: names, kinds, declared lengths and bytes as they are.
fn archive(entries: &[(&str, EntryType, u64, &[u8])]) -> Vec<u8> {
    let gzip = GzBuilder::new().comment("xhist pack 1").write(Vec::new(), Compression::fast());
    let mut tar = Builder::new(gzip);
    for (name, kind, len, bytes) in entries {
        let mut header = Header::new_ustar();
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(*len);
        header.set_cksum();
        tar.append(&header, *bytes).expect("room");
    }
    tar.into_inner().and_then(|gzip| gzip.finish()).expect("room")
}

/// Unpacks these bytes, and checks that what cannot be unpacked leaves nothing.
fn result_of(bytes: &[u8]) -> Result<Vec<(PathBuf, Vec<u8>)>, PackError> {
    let directory = tempfile::tempdir().expect("a directory");
    let (pack, cache) = (directory.path().join("p"), directory.path().join("cache"));
    fs::write(&pack, bytes).expect("a file");
    let result = unpacked_in(&pack, &cache);
    let files = walkdir::WalkDir::new(&cache).sort_by_file_name().into_iter().flatten();
    let files = files.filter(|entry| entry.file_type().is_file());
    let files: Vec<_> = files.map(|file| (file.path().to_owned(), fs::read(file.path()).unwrap())).collect();
    match result {
        Ok(run) => {
            assert!(files.iter().any(|(path, _)| path.starts_with(&run)), "{files:?}");
            Ok(files)
        }
        Err(error) => {
            assert!(files.is_empty(), "{error}: {files:?}");
            let beside = fs::read_dir(directory.path()).expect("a directory").count();
            assert!(beside <= 2, "{error}");
            Err(error)
        }
    }
}

fn message(bytes: &[u8]) -> String {
    result_of(bytes).err().map_or_else(|| "unpacked".to_owned(), |error| error.to_string())
}

fn packed() -> Vec<u8> {
    let directory = tempfile::tempdir().expect("a directory");
    let ring = directory.path().join("ring");
    fs::write(&ring, vec![7; 3000]).expect("a file");
    let entry = |name: &str, content| PackEntry { name: name.to_owned(), content };
    let entries = [
        entry("runs/17-4/a.xhist", PackContent::File(ring)),
        entry("maps/0f.source", PackContent::Text("fn main() {}\n".to_owned())),
        entry("programs/app", PackContent::Text("program".to_owned())),
    ];
    let mut out = Vec::new();
    write(&mut out, &entries).expect("a pack");
    out
}

#[test]
fn what_is_packed_is_unpacked() {
    let files = result_of(&packed()).expect("it is whole");
    let ends = ["maps/0f.source", "programs/app", "runs/17-4/a.xhist"];
    assert!(files.iter().zip(ends).all(|((path, _), end)| path.ends_with(end)), "{files:?}");
    assert_eq!((files.len(), files[2].1.len(), &files[0].1[..]), (3, 3000, &b"fn main() {}\n"[..]));
}

#[cfg(unix)]
#[test]
fn zeros_take_no_room() {
    use std::os::unix::fs::MetadataExt as _;
    let directory = tempfile::tempdir().expect("a directory");
    let ring = directory.path().join("a.xhist");
    let mut bytes = vec![0; 8 << 20];
    bytes[5 << 20] = 7;
    fs::write(&ring, &bytes).expect("a file");
    let entry = PackEntry { name: "runs/1/a.xhist".to_owned(), content: PackContent::File(ring) };
    let mut out = Vec::new();
    write(&mut out, &[entry]).expect("a pack");
    fs::write(directory.path().join("p"), out).expect("a file");
    let run = unpacked_in(&directory.path().join("p"), &directory.path().join("cache")).expect("a run");
    assert!(fs::read(run.join("a.xhist")).expect("the ring") == bytes);
    let blocks = fs::metadata(run.join("a.xhist")).expect("the ring").blocks();
    assert!(blocks * 512 < 1 << 20, "{blocks} blocks");
}

#[test]
fn it_is_unpacked_once_and_old_ones_go() {
    let directory = tempfile::tempdir().expect("a directory");
    let (pack, cache) = (directory.path().join("p"), directory.path().join("cache"));
    fs::write(&pack, packed()).expect("a file");
    let run = unpacked_in(&pack, &cache).expect("a run");
    fs::write(run.join("mark"), "").expect("a file");
    assert_eq!(unpacked_in(&pack, &cache).expect("the same"), run);
    assert!(run.join("mark").is_file(), "it was unpacked again");
    for number in 0..KEPT + 3 {
        let other = archive(&[("runs/1/a", EntryType::Regular, 1, &[number as u8])]);
        fs::write(&pack, other).expect("a file");
        unpacked_in(&pack, &cache).expect("another");
    }
    assert_eq!(fs::read_dir(&cache).expect("the cache").count(), KEPT);
}

#[test]
fn hostile_entries_are_refused() {
    let file = EntryType::Regular;
    for name in ["../../x", "/tmp/x", "runs/1/../../../x", "runs/1/a\u{1b}[2J"] {
        let found = message(&archive(&[(name, file, 1, b"x")]));
        assert!(found.contains("is not a plain path") && !found.contains('\u{1b}'), "{found}");
    }
    for kind in [EntryType::Symlink, EntryType::Link, EntryType::Directory, EntryType::GNULongName] {
        let found = message(&archive(&[("runs/1/a", kind, 0, b"")]));
        assert!(found.contains("`runs/1/a` is not a file"), "{found}");
    }
    let one = ("runs/1/a", file, 1, &b"x"[..]);
    assert!(message(&archive(&[one, one])).contains("is there twice"));
    assert!(message(&archive(&[one, ("runs/2/a", file, 1, b"x")])).contains("second run"));
    assert!(message(&archive(&[("maps/a", file, 1, b"x")])).contains("has no run"));
    // A length without the bytes, and more bytes than are read.
    assert!(message(&archive(&[("runs/1/a", file, 1 << 20, b"x")])).contains("damaged or cut"));
    assert!(message(&archive(&[("runs/1/a", file, MAX_BYTES + 1, b"x")])).contains("more than 4 GiB"));
}

#[test]
fn a_later_version_is_named() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("p");
    let gzip = GzBuilder::new().comment("xhist pack 2").write(Vec::new(), Compression::fast());
    fs::write(&path, gzip.finish().expect("room")).expect("a file");
    let found = unpacked(&path).expect_err("another version").to_string();
    assert!(found.contains("version 2") && found.contains("install a newer"), "{found}");
    fs::write(&path, b"\x1f\x8b\x08\0 of another program").expect("a file");
    assert!(unpacked(&path).expect("no pack").is_none());
}

#[test]
fn a_pack_is_no_dump() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("p");
    fs::write(&path, packed()).expect("a file");
    let error = crate::source::open(path.as_os_str()).err().expect("a pack").to_string();
    assert!(error.contains("is a packed run"), "{error}");
}

#[test]
fn bytes_behind_the_end_are_damage() {
    let mut bytes = Vec::new();
    let mut gzip = GzBuilder::new().comment("xhist pack 1").write(&mut bytes, Compression::fast());
    let mut inner = Vec::new();
    flate2::read::GzDecoder::new(&packed()[..]).read_to_end(&mut inner).expect("a pack");
    gzip.write_all(&inner).expect("room");
    gzip.write_all(&vec![0; 2 << 20]).expect("room");
    gzip.finish().expect("room");
    assert!(message(&bytes).contains("more follows"), "{}", message(&bytes));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_cut_pack_is_damaged(at in 0usize..10_000) {
        let whole = packed();
        let cut = &whole[..at % whole.len()];
        prop_assert!(result_of(cut).is_err());
    }

    #[test]
    fn a_changed_bit_is_found(at in 40usize..10_000, bit in 0u8..8) {
        let mut bytes = packed();
        let at = 40 + at % (bytes.len() - 40);
        bytes[at] ^= 1 << bit;
        // The last byte before the eight of the check sum may have bits that mean nothing.
        prop_assert!(result_of(&bytes).is_err() || at == bytes.len() - 9);
    }
}
