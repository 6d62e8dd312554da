//! A debug probe: it takes RTT's channel `xhist` from the memory of a program in QEMU and gives it to hosts over TCP, byte for byte. As
//! OpenOCD's `rtt server` it waits for hosts, and puts their bytes into the channel of the other direction. As `cargo embed` of
//! probe-rs (`TcpPublisher` there, 0.32) it connects to a host when there are bytes, and reads none.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::metal::Machine;

/// Length of the control block's head, and of a channel in it.
const HEAD: u32 = 24;
const CHANNEL: u32 = 24;

/// A running probe.
#[derive(Debug)]
pub struct RttServer {
    /// Where hosts connect.
    pub port: u16,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Which channels are served.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Up,
    Both,
}

/// A channel: where its words are, its buffer, and its size.
#[derive(Clone, Copy, Debug)]
struct RttChannel {
    address: u32,
    buffer: u32,
    size: u32,
}

impl RttServer {
    /// Lets the halted program run, and serves one host after another. The control block is looked for in this memory.
    pub fn start(machine: Machine, ram: u32, len: usize) -> RttServer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        listener.set_nonblocking(true).expect("an option");
        let accept = move || Some(listener.accept().ok()?.0);
        RttServer::run(port, machine, (ram, len), Way::Both, accept)
    }

    /// The same for a host that waits at this port.
    pub fn publish(machine: Machine, ram: u32, len: usize, port: u16) -> RttServer {
        RttServer::run(port, machine, (ram, len), Way::Up, move || {
            TcpStream::connect(("127.0.0.1", port)).ok()
        })
    }

    fn run(
        port: u16,
        machine: Machine,
        ram: (u32, usize),
        way: Way,
        host: impl Fn() -> Option<TcpStream> + Send + 'static,
    ) -> RttServer {
        let stop = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&stop);
        let thread = std::thread::spawn(move || serve(machine, ram, way, host, &ended));
        RttServer { port, stop, thread: Some(thread) }
    }

    /// Ends it, and fails if it has failed.
    pub fn finish(mut self) {
        self.stop.store(true, Relaxed);
        self.thread.take().expect("it runs").join().expect("the probe");
    }
}

impl Drop for RttServer {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        // A case that fails leaves no emulator.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn serve(
    mut machine: Machine,
    (ram, len): (u32, usize),
    way: Way,
    next_host: impl Fn() -> Option<TcpStream>,
    stop: &AtomicBool,
) {
    machine.ask("?");
    let (mut channels, mut host) = (None, None);
    while !stop.load(Relaxed) {
        machine.run_for(Duration::from_millis(20));
        let Some((up, down)) = channels.or_else(|| find(&mut machine, ram, len)) else { continue };
        channels = Some((up, down));
        // A server takes the newest host; one that connects does so once.
        let is_served = way == Way::Up && host.is_some();
        if let Some(link) = (!is_served).then(&next_host).flatten() {
            link.set_nonblocking(way == Way::Both).expect("an option");
            host = Some(link);
        }
        let Some(link) = host.as_mut() else { continue };
        let moved = take(&mut machine, link, up).and_then(|()| match way {
            Way::Up => Ok(()),
            Way::Both => give(&mut machine, link, down),
        });
        if moved.is_err() {
            host = None;
        }
    }
}

/// Both channels, once the program has made its control block. There is exactly one.
fn find(machine: &mut Machine, ram: u32, len: usize) -> Option<(RttChannel, RttChannel)> {
    const MARK: &[u8] = b"SEGGER RTT\0\0\0\0\0\0";
    let memory = machine.memory(ram, len);
    let mut found = memory.windows(MARK.len()).zip(ram..).filter(|(window, _)| *window == MARK);
    let (_, block) = found.next()?;
    assert!(found.next().is_none(), "one control block");
    let [ups, downs] = words(machine, block + 16);
    let mut named = |first: u32, count: u32| {
        let mut channels = (0..count).map(|number| first + number * CHANNEL);
        channels.find_map(|address| {
            let [name, buffer, size] = words(machine, address);
            (buffer != 0 && machine.memory(name, 6) == b"xhist\0").then_some(RttChannel {
                address,
                buffer,
                size,
            })
        })
    };
    let up = named(block + HEAD, ups).expect("an up-channel named xhist");
    let down = named(block + HEAD + ups * CHANNEL, downs).expect("a down-channel named xhist");
    Some((up, down))
}

fn words<const N: usize>(machine: &mut Machine, address: u32) -> [u32; N] {
    let bytes = machine.memory(address, 4 * N);
    std::array::from_fn(|at| u32::from_le_bytes(bytes[4 * at..4 * at + 4].try_into().expect("four bytes")))
}

/// Moves what the program has written.
fn take(machine: &mut Machine, host: &mut TcpStream, up: RttChannel) -> std::io::Result<()> {
    let [write, read] = words(machine, up.address + 12);
    let buffer = machine.memory(up.buffer, up.size as usize);
    let bytes = match write >= read {
        true => buffer[read as usize..write as usize].to_vec(),
        false => [&buffer[read as usize..], &buffer[..write as usize]].concat(),
    };
    host.write_all(&bytes)?;
    machine.set_memory(up.address + 16, &write.to_le_bytes());
    Ok(())
}

/// Moves what the host has sent.
fn give(machine: &mut Machine, host: &mut TcpStream, down: RttChannel) -> std::io::Result<()> {
    let [mut write, read] = words(machine, down.address + 12);
    loop {
        let next = (write + 1) % down.size;
        let mut byte = [0];
        if next == read {
            return Ok(());
        }
        match host.read(&mut byte) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(_) => machine.set_memory(down.buffer + write, &byte),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        }
        write = next;
        machine.set_memory(down.address + 12, &write.to_le_bytes());
    }
}
