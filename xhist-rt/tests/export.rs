//! Concurrent exports to one pipe: each image is whole.

#![cfg(all(feature = "trace", feature = "std"))]

use std::io::Read as _;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd as _;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};

use qs_core::ring::{Header, MAGIC};

/// Number of calls of the handler.
static HANDLED: AtomicU32 = AtomicU32::new(0);

extern "C" fn handler(_: i32) {
    HANDLED.fetch_add(1, Ordering::Relaxed);
    xhist_rt::xhist_write();
}

/// Blocks or unblocks the signal of the test for this thread and those it starts.
fn mask(how: i32) {
    let mut set = MaybeUninit::uninit();
    // SAFETY: `sigemptyset` writes the whole set before the other calls read it.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGUSR1);
        libc::pthread_sigmask(how, set.as_ptr(), std::ptr::null_mut());
    }
}

#[test]
fn exports_of_several_threads_and_handlers_do_not_mix() {
    const THREADS: usize = 3;
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    xhist_rt::e(xhist_rt::short(1, 1, 1));
    xhist_rt::xhist_logdev(writer.as_raw_fd());
    assert!(xhist_rt::Init::new().no_panic_line().no_signal().install());
    let handler = handler as extern "C" fn(i32) as usize;
    // SAFETY: the handler makes only async-signal-safe calls.
    unsafe { libc::signal(libc::SIGUSR1, handler) };
    let together = Barrier::new(THREADS);
    // A handler that exports on the reading thread would wait for a reader: that thread starts with the signal blocked.
    mask(libc::SIG_BLOCK);
    let image = std::thread::scope(|scope| {
        let reading = scope.spawn(move || {
            let mut image = Vec::new();
            reader.read_to_end(&mut image).expect("a pipe");
            image
        });
        mask(libc::SIG_UNBLOCK);
        let writing: Vec<_> = (0..THREADS)
            .map(|_| {
                scope.spawn(|| {
                    // All rings exist before the first export.
                    xhist_rt::e(xhist_rt::short(1, 2, 1));
                    together.wait();
                    for _ in 0..10 {
                        xhist_rt::xhist_write();
                        // SAFETY: `raise` only sends a signal to this thread, and its handler is installed above.
                        unsafe { libc::raise(libc::SIGUSR1) };
                    }
                })
            })
            .collect();
        // Interrupts the exporting thread.
        for _ in 0..20 {
            std::thread::sleep(std::time::Duration::from_millis(1));
            // SAFETY: this call has no preconditions.
            unsafe { libc::kill(libc::getpid(), libc::SIGUSR1) };
        }
        writing.into_iter().for_each(|thread| thread.join().expect("no panic"));
        xhist_rt::xhist_logdev(-1);
        drop(writer);
        reading.join().expect("no panic")
    });
    let header = Header::parse(&image).expect("a ring");
    let len = header.header_len + header.size;
    assert_eq!(image.len() % len, 0, "whole rings");
    let rings = image.chunks(len);
    assert!(rings.len() >= (1 + THREADS) * 10 * THREADS, "each export has every ring: {}", rings.len());
    for (number, ring) in rings.enumerate() {
        assert!(ring.starts_with(&MAGIC), "ring {number} begins at the end of the previous one");
    }
    assert!(HANDLED.load(Ordering::Relaxed) > 20);
}
