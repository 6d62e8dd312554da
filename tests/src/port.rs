//! Ports for programs that cannot print which one they were given.

use std::net::{TcpListener, UdpSocket};
use std::sync::atomic::{AtomicU32, Ordering};

/// A free port, below those that Linux assigns by itself: it is still free when it is used.
pub fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Other processes begin elsewhere.
    let number = || std::process::id() * 100 + NEXT.fetch_add(1, Ordering::Relaxed);
    let mut ports = std::iter::repeat_with(|| 20_000 + (number() % 12_000) as u16);
    let is_free = |port: &u16| {
        TcpListener::bind(("127.0.0.1", *port)).is_ok() && UdpSocket::bind(("127.0.0.1", *port)).is_ok()
    };
    ports.find(is_free).expect("one of them")
}
