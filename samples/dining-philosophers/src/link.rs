//! Sends the stream to a file or a host, and receives the host's commands.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use xhist_rt::qs::{self, Callbacks, Channel, Obj, Sig, To};

use crate::kernel::{Event, Kernel};
use crate::signals::Signal;

/// Commands of the application.
pub const PAUSE: u8 = 0;
pub const SERVE: u8 = 1;

/// Duration of a tick with a connected host.
const TICK: Duration = Duration::from_millis(10);

pub struct Link {
    end: End,
    channel: Channel<128>,
}

enum End {
    Nowhere,
    File(File),
    Host(TcpStream),
}

impl Link {
    pub fn open(to: Option<&str>) -> io::Result<Link> {
        let end = match to {
            None => End::Nowhere,
            Some(address) if address.contains(':') => {
                let stream = TcpStream::connect(address)?;
                stream.set_read_timeout(Some(TICK))?;
                End::Host(stream)
            }
            Some(path) => End::File(File::create(path)?),
        };
        Ok(Link { end, channel: Channel::new() })
    }

    /// Sends the ring's new bytes; executes received commands.
    pub fn exchange(&mut self, application: &mut Application<'_>) -> io::Result<()> {
        if let End::Host(stream) = &mut self.end {
            let mut bytes = [0; 256];
            let len = match stream.read(&mut bytes) {
                // Interrupted: the program was stopped for a moment, such as with Ctrl-Z.
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) =>
                {
                    0
                }
                Ok(0) => return Err(io::Error::new(ErrorKind::ConnectionAborted, "the host has gone")),
                len => len?,
            };
            for byte in &bytes[..len] {
                self.channel.byte(*byte, application);
            }
        }
        // Only one pass: the loop itself is recorded, so it would always find new bytes.
        qs::flush();
        let mut block = [0; 1024];
        loop {
            let len = qs::get_block(&mut block);
            match &mut self.end {
                _ if len == 0 => break,
                End::Nowhere => break,
                End::File(file) => file.write_all(&block[..len])?,
                End::Host(stream) => stream.write_all(&block[..len])?,
            }
        }
        Ok(())
    }
}

/// Commands of the host for the application.
pub struct Application<'a> {
    pub kernel: &'a mut Kernel,
}

impl Callbacks for Application<'_> {
    fn reset(&mut self) {
        std::process::exit(0);
    }

    fn command(&mut self, command: u8, params: [u32; 3]) {
        let signal = match command {
            PAUSE => Signal::Pause,
            SERVE => Signal::Serve,
            _ => return eprintln!("unknown command {command} {params:?}"),
        };
        self.kernel.publish(Event { signal, philo: 0 }, Obj::NULL, 0);
    }

    fn tick(&mut self, _rate: u8) {
        self.kernel.tick();
    }

    fn event(&mut self, to: To, sig: Sig, params: &[u8]) -> bool {
        let Some(signal) = Signal::from_sig(sig) else { return false };
        let event = Event { signal, philo: params.first().copied().unwrap_or(0) };
        match to {
            To::Subscribers => self.kernel.publish(event, Obj::NULL, 0),
            To::Priority(prio) => return self.kernel.post(prio, event, Obj::NULL),
            To::Active(object) => {
                let prio = self.kernel.priority(object);
                return prio.is_some_and(|prio| self.kernel.post(prio, event, Obj::NULL));
            }
            To::Init(_) | To::Dispatch(_) => return false,
        }
        true
    }

    fn priority(&mut self, object: Obj) -> Option<u8> {
        self.kernel.priority(object)
    }
}
