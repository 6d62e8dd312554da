//! The receive channel: takes bytes from the host, and executes commands.

use qs_core::filter::Filter;
use qs_core::record::trace::Opcodes;
use qs_core::record::{Obj, Record, Sizes};
use qs_core::rx::{Callbacks, Executor, Port};

use super::config::SIZES;
use super::{filter, send};

/// The receive channel of a target, for packets of up to `LEN` bytes. The code that reads the link owns it.
///
/// ```
/// use xhist_rt::qs::{Callbacks, Channel};
///
/// struct Application;
///
/// impl Callbacks for Application {
///     fn command(&mut self, command: u8, params: [u32; 3]) {
///         println!("command {command} {params:?}");
///     }
/// }
///
/// let mut channel = Channel::<128>::new();
/// for byte in [1, 0, 0xFE, 0x7E] {
///     channel.byte(byte, &mut Application);
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Channel<const LEN: usize> {
    executor: Executor<LEN>,
}

impl<const LEN: usize> Channel<LEN> {
    /// The state after a reset: the host's first packet has sequence number 1.
    pub const fn new() -> Channel<LEN> {
        Channel { executor: Executor::new() }
    }

    /// Takes a byte. With the last byte of a packet, executes the command and answers it before returning.
    pub fn byte(&mut self, byte: u8, callbacks: &mut impl Callbacks) {
        if cfg!(feature = "trace") {
            self.executor.byte(byte, &mut Target, callbacks);
        }
    }

    /// The current object of a kind: 0 state machine, 1 active object, 2 memory pool, 3 event queue, 4 time event, 5 object of
    /// the application.
    pub fn current(&self, kind: u8) -> Option<Obj> {
        self.executor.current(kind)
    }
}

/// This program as the port of the receive channel.
pub(super) struct Target;

impl Port for Target {
    const SIZES: Sizes = SIZES;
    const TESTS: bool = cfg!(feature = "qutest");

    fn send(&mut self, record: &impl Record) {
        send::send(record);
    }

    fn send_info(&mut self, reset: u8) {
        send::send_info(reset);
    }

    fn set_global(&mut self, filter: Filter) {
        filter::change_global(|_| filter);
    }

    fn set_local(&mut self, change: impl FnOnce(Filter) -> Filter) {
        filter::change_local(change);
    }

    fn set_opcodes(&mut self, opcodes: Opcodes) -> bool {
        crate::trace::set(opcodes);
        true
    }

    #[cfg(feature = "qutest")]
    fn add_probe(&mut self, fun: qs_core::record::Fun, data: u32) -> bool {
        super::probe::add(fun, data)
    }

    #[cfg(feature = "qutest")]
    fn clear_probes(&mut self) {
        super::probe::clear();
    }

    #[cfg(feature = "memory")]
    fn peek(&mut self, address: usize, answer: qs_core::record::PeekData<'_>) -> bool {
        super::memory::peek(address, answer)
    }

    #[cfg(feature = "memory")]
    fn poke(&mut self, address: usize, size: u8, data: &[u8], times: u8) -> bool {
        super::memory::poke(address, size, data, times)
    }
}
