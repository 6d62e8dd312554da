//! Tests of regions, with files and forks of Unix.

use super::*;
use crate::hosted::system::sys::RingFile;

fn write(at: *mut u8, byte: u8) {
    // SAFETY: tests pass addresses in regions.
    unsafe { at.write_volatile(byte) };
}

fn read(at: *mut u8) -> u8 {
    // SAFETY: tests pass addresses in regions.
    unsafe { at.read_volatile() }
}

const SIZE: usize = 64 << 10;

#[test]
fn the_data_appear_twice() {
    let region = map(SIZE, page_size()).expect("memory");
    assert_eq!(region.data().addr() - region.header().addr(), page_size());
    assert_eq!(region.len(), SIZE + page_size());
    for (at, byte) in [(0, 0x55), (1, 0x56), (SIZE - 1, 0x57)] {
        write(region.data().wrapping_add(SIZE + at), byte);
        assert_eq!(read(region.data().wrapping_add(at)), byte);
    }
    write(region.header(), 7);
    assert_eq!(read(region.data().wrapping_add(SIZE)), 0x55, "the header is not part of the mirror");
}

#[test]
fn a_guard_grows_to_its_end() {
    let region = map_with_room(SIZE, 0, 3 * SIZE + page_size()).expect("memory");
    let data = region.data().addr();
    write(region.data().wrapping_add(9), 0x99);
    assert_eq!(grow(data + 2 * SIZE), Growth::Grown);
    assert_eq!(read(region.data().wrapping_add(2 * SIZE + 9)), 0x99);
    // This is the copy behind the next one.
    assert_eq!(grow(data + 4 * SIZE + 17), Growth::Grown);
    assert_eq!(read(region.data().wrapping_add(3 * SIZE + 9)), 0x99);
    assert_eq!(read(region.data().wrapping_add(4 * SIZE + 9)), 0x99);
    assert_eq!(grow(data + 5 * SIZE), Growth::Beyond);
    assert_eq!(grow((&raw const GROWN).addr()), Growth::Elsewhere);
    assert!(times_grown() >= 2);
}

fn temporary_file(len: usize) -> c_int {
    let path = std::env::temp_dir().join(format!("xhist-mirror-{}-{len}", std::process::id()));
    let file = std::fs::File::options().read(true).write(true).create_new(true).open(&path).expect("a file");
    std::fs::remove_file(path).expect("its name goes");
    file.set_len(len as u64).expect("room");
    std::os::fd::IntoRawFd::into_raw_fd(file)
}

#[test]
fn a_ring_that_has_moved_to_a_file_survives_a_cut_of_the_file() {
    let page = page_size();
    let region = map_with_room(SIZE, page, 3 * SIZE).expect("memory");
    assert_eq!(grow(region.data().addr() + 2 * SIZE), Growth::Grown);
    let fd = temporary_file(region.len() + page);
    let file = RingFile::of_descriptor(fd);
    write(region.header(), 1);
    write(region.data().wrapping_add(SIZE - 1), 2);
    assert!(file.move_region(page as u64, region, true));
    assert_eq!((read(region.header()), read(region.data().wrapping_add(SIZE - 1))), (1, 2), "kept");
    let in_file = |at: usize| {
        let mut byte = [0u8];
        // SAFETY: the file has room for one byte.
        unsafe { libc::pread(fd, byte.as_mut_ptr().cast(), 1, at as libc::off_t) };
        byte[0]
    };
    for copy in 1..3 {
        write(region.data().wrapping_add(copy * SIZE + 5 * page), 0x60 + copy as u8);
        assert_eq!(in_file(7 * page), 0x60 + copy as u8, "every mirror is the file's");
    }
    // The first half stays.
    // SAFETY: the descriptor is the test's.
    assert_eq!(unsafe { libc::ftruncate(fd, (page * 2 + SIZE / 2) as libc::off_t) }, 0);
    let lost = region.data().wrapping_add(SIZE - page);
    write(lost.wrapping_add(SIZE + 3), 0x44);
    assert_eq!([0, 1, 2].map(|copy| read(lost.wrapping_add(copy * SIZE + 3))), [0x44; 3]);
    assert_eq!(read(lost.wrapping_add(page - 1)), 0, "what the page held is lost");
    assert!(region.take_cut(), "the ring has a part of its bytes, so it begins again");
    assert_eq!((read(region.header()), region.take_cut(), cuts() > 0), (1, false, true));
    write(region.data(), 0x21);
    assert_eq!((in_file(2 * page), read(region.data().wrapping_add(SIZE))), (0x21, 0x21));
}

#[test]
fn a_child_has_memory_of_its_own() {
    let region = map_with_room(SIZE, page_size(), 4 * SIZE).expect("memory");
    grow(region.data().addr() + 2 * SIZE);
    write(region.header(), 5);
    write(region.data(), 6);
    // SAFETY: the child only makes calls that are allowed in a signal handler.
    let status = unsafe {
        let child = libc::fork();
        if child == 0 {
            region.unshare::<64>();
            let kept = read(region.header()) == 5 && read(region.data()) == 0;
            write(region.data().wrapping_add(SIZE), 0x77);
            let is_twin = read(region.data()) == 0x77 && read(region.data().wrapping_add(2 * SIZE)) == 0x77;
            libc::_exit(c_int::from(kept && is_twin));
        }
        let mut status = 0;
        libc::waitpid(child, &mut status, 0);
        status
    };
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 1, "{status:x}");
    assert_eq!((read(region.header()), read(region.data())), (5, 6), "the parent's");
}

#[test]
fn little_address_space_means_little_room() {
    // SAFETY: the child only makes calls that are allowed in a signal handler.
    let status = unsafe {
        let child = libc::fork();
        if child == 0 {
            let mut pages = [0u8; 64];
            let fd = libc::open(c"/proc/self/statm".as_ptr(), libc::O_RDONLY);
            let len = libc::read(fd, pages.as_mut_ptr().cast(), 64) as usize;
            let used = pages[..len].iter().take_while(|byte| byte.is_ascii_digit());
            let used = used.fold(0, |sum, byte| sum * 10 + usize::from(byte - b'0')) * page_size();
            let limit = (used + 3 * SIZE) as libc::rlim_t;
            libc::setrlimit(libc::RLIMIT_AS, &libc::rlimit { rlim_cur: limit, rlim_max: limit });
            let (small, large) = (map(SIZE, 0), map(64 * SIZE, 0));
            libc::_exit(c_int::from(small.is_some() && large.is_none()));
        }
        let mut status = 0;
        libc::waitpid(child, &mut status, 0);
        status
    };
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 1, "{status:x}");
}
