//! Executes the commands of a host and answers them. QP starts some commands before their checksum arrives; here all wait for it.

use super::command::{BOTH, Command};
use super::ids::id;
use super::receiver::{Packet, Receiver, fault};
use crate::filter::{self, Filter};
use crate::record::trace::Opcodes;
use crate::record::{Fun, Obj, PeekData, Query, QueryData, Record, RxStatus, Sig, Sizes, TargetDone};

/// Number of kinds of current objects, see [`SelectedObjects`], and the numbers of some.
const KINDS: usize = 6;
const STATE_MACHINE: usize = 0;
const ACTIVE: usize = 1;
const APPLICATION: usize = 5;
/// Set in an answer that reports a fault.
const ERROR: u8 = 0x80;

/// What a target does for the receive channel.
pub trait Port {
    /// How wide its fields are.
    const SIZES: Sizes;
    /// Whether the commands of unit tests are known.
    const TESTS: bool = false;

    /// Sends a record, whatever the filters say, with a time stamp where it has one.
    fn send(&mut self, record: &impl Record);

    /// Sends the target info with this reset flag, and the dictionaries.
    fn send_info(&mut self, reset: u8);

    /// Sets the global filter.
    fn set_global(&mut self, filter: Filter);

    /// Changes the local filter.
    fn set_local(&mut self, change: impl FnOnce(Filter) -> Filter);

    /// Switches all profile events. False if the target has none.
    fn set_opcodes(&mut self, opcodes: Opcodes) -> bool {
        let _ = opcodes;
        false
    }

    /// Sends this answer with the memory from `address` on. False if that is not allowed.
    fn peek(&mut self, address: usize, answer: PeekData<'_>) -> bool {
        let _ = (address, answer);
        false
    }

    /// Stores the value for the next use of this function's test probe. False without room. Only called with
    /// [`Port::TESTS`].
    fn add_probe(&mut self, fun: Fun, data: u32) -> bool {
        let _ = (fun, data);
        false
    }

    /// Forgets all test probes.
    fn clear_probes(&mut self) {}

    /// Writes this data `times` times from `address` on, in items of `size` bytes. If that is not allowed, writes nothing
    /// and returns false.
    fn poke(&mut self, address: usize, size: u8, data: &[u8], times: u8) -> bool {
        let _ = (address, size, data, times);
        false
    }
}

/// The receiver of an event from the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// All subscribers.
    Subscribers,
    /// The active object with this priority.
    Priority(u8),
    /// The current active object: the event is posted to its queue.
    Active(Obj),
    /// The current state machine, for its initial transition.
    Init(Obj),
    /// The current state machine: the event is dispatched.
    Dispatch(Obj),
}

/// What an application does for the receive channel. Every function has an empty default.
pub trait Callbacks {
    /// The host asks for a reset. On a microcontroller this need not return.
    fn reset(&mut self) {}

    /// A command of the application.
    fn command(&mut self, command: u8, params: [u32; 3]) {
        let _ = (command, params);
    }

    /// A clock tick of this rate.
    fn tick(&mut self, rate: u8) {
        let _ = rate;
    }

    /// An event from the host. False if it could not be allocated or posted.
    fn event(&mut self, to: To, sig: Sig, params: &[u8]) -> bool {
        let _ = (to, sig, params);
        false
    }

    /// The local-filter id (the priority) of an active object.
    fn priority(&mut self, object: Obj) -> Option<u8> {
        let _ = object;
        None
    }

    /// The answer about a current object: the state of a state machine or active object, and so on.
    fn query(&mut self, kind: u8, object: Obj) -> Option<Query> {
        let _ = (kind, object);
        None
    }

    /// A test begins.
    fn test_setup(&mut self) {}

    /// A test ends.
    fn test_teardown(&mut self) {}

    /// A paused test goes on.
    fn test_continue(&mut self) {}
}

/// The receive channel of a target: takes bytes and executes packets of up to `LEN` bytes.
#[derive(Clone, Debug)]
pub struct Executor<const LEN: usize> {
    receiver: Receiver<LEN>,
    objects: SelectedObjects,
}

/// The current objects: state machine, active object, memory pool, event queue, time event, application object.
#[derive(Clone, Debug)]
struct SelectedObjects([Obj; KINDS]);

impl<const LEN: usize> Default for Executor<LEN> {
    fn default() -> Self {
        Executor::new()
    }
}

impl<const LEN: usize> Executor<LEN> {
    /// The state after a reset: no packet received, no current objects.
    pub const fn new() -> Executor<LEN> {
        Executor { receiver: Receiver::new(), objects: SelectedObjects([Obj::NULL; KINDS]) }
    }

    /// The current object of a kind. Kinds are numbered as in the QS protocol.
    pub fn current(&self, kind: u8) -> Option<Obj> {
        self.objects.get(kind.into(), 0).ok()
    }

    /// Takes a byte from the host, and executes the packet that ends with it.
    pub fn byte<P: Port>(&mut self, byte: u8, port: &mut P, callbacks: &mut impl Callbacks) {
        let Some(received) = self.receiver.byte(byte) else { return };
        for fault in received.faults.into_iter().take_while(|fault| *fault != 0) {
            answer(port, ERROR | fault);
        }
        let Some(packet) = received.packet else { return };
        if let Err(fault) = self.objects.execute(&packet, port, callbacks) {
            answer(port, ERROR | fault);
        }
    }
}

/// Sends the status of a command: its id, or a fault with [`ERROR`].
fn answer(port: &mut impl Port, status: u8) {
    port.send(&RxStatus { status });
}

impl SelectedObjects {
    /// The current object of a kind. Without one, the command with this id fails.
    fn get(&self, kind: usize, id: u8) -> Result<Obj, u8> {
        self.0.get(kind).copied().filter(|object| *object != Obj::NULL).ok_or(id)
    }

    /// The address at an offset in the current application object.
    fn address(&self, offset: u16, id: u8) -> Result<usize, u8> {
        Ok(self.get(APPLICATION, id)?.0.wrapping_add(offset.into()))
    }

    /// Executes one command. `Err` is the fault code for the host.
    fn execute<P: Port>(
        &mut self,
        packet: &Packet<'_>,
        port: &mut P,
        callbacks: &mut impl Callbacks,
    ) -> Result<(), u8> {
        let id = packet.id;
        if matches!(id, id::PEEK | id::POKE | id::FILL) {
            self.get(APPLICATION, id)?;
        }
        if matches!(id, id::TEST_SETUP | id::TEST_TEARDOWN | id::TEST_PROBE | id::TEST_CONTINUE) && !P::TESTS
        {
            return Err(fault::UNKNOWN);
        }
        let done = |port: &mut P| port.send(&TargetDone { command: id });
        match Command::parse(packet, &P::SIZES)? {
            Command::Info => port.send_info(0),
            Command::Reset => callbacks.reset(),
            Command::User { command, params } => {
                answer(port, id);
                callbacks.command(command, params);
                done(port);
            }
            Command::Tick { rate } => {
                answer(port, id);
                callbacks.tick(rate);
                done(port);
            }
            Command::Peek { offset, size, count } => {
                let answer = PeekData { offset, size, count, data: &[] };
                let address = self.address(offset, id)?;
                accepted(answer.len() <= PeekData::MAX && port.peek(address, answer), id)?;
            }
            Command::Poke { offset, size, data } => {
                accepted(port.poke(self.address(offset, id)?, size, data, 1), id)?;
                answer(port, id);
            }
            Command::Fill { offset, size, count, item } => {
                let item = item.to_le_bytes();
                let item = item.get(..usize::from(size)).ok_or(id)?;
                accepted(port.poke(self.address(offset, id)?, size, item, count), id)?;
                answer(port, id);
            }
            Command::TestSetup => {
                answer(port, id);
                port.clear_probes();
                callbacks.test_setup();
            }
            Command::TestTeardown => {
                answer(port, id);
                callbacks.test_teardown();
            }
            Command::TestProbe { data, fun } => {
                accepted(port.add_probe(fun, data), id)?;
                answer(port, id);
            }
            Command::TestContinue => {
                answer(port, id);
                callbacks.test_continue();
            }
            Command::GlobalFilter(bytes) => {
                answer(port, id);
                port.set_global(Filter::global_from(bytes));
            }
            Command::Opcodes(opcodes) => {
                accepted(port.set_opcodes(opcodes), id)?;
                answer(port, id);
            }
            Command::LocalFilter(bytes) => {
                answer(port, id);
                port.set_local(|_| Filter::local_from(bytes));
            }
            Command::AoFilter { kind: BOTH, .. } => answer(port, id),
            Command::AoFilter { kind, obj } => switch_local_filter(kind, obj, id, port, callbacks)?,
            Command::CurrentObject { kind, obj } => {
                self.select(kind, obj).ok_or(id)?;
                answer(port, id);
            }
            Command::Query { kind } => {
                let answer = self.query(kind, id, callbacks)?;
                port.send(&answer);
            }
            Command::Event { prio, sig, params } => {
                answer(port, id);
                let to = self.receiver(prio, id)?;
                accepted(callbacks.event(to, sig, params), id)?;
                done(port);
            }
        }
        Ok(())
    }

    /// Makes an object the current one of its kind. `None` if the kind does not exist.
    fn select(&mut self, kind: u8, obj: Obj) -> Option<()> {
        match kind {
            BOTH => (self.0[STATE_MACHINE], self.0[ACTIVE]) = (obj, obj),
            _ => *self.0.get_mut(usize::from(kind))? = obj,
        }
        Some(())
    }

    fn query(&self, kind: u8, id: u8, callbacks: &mut impl Callbacks) -> Result<QueryData, u8> {
        let obj = self.get(kind.into(), id)?;
        let query = match usize::from(kind) {
            APPLICATION => Query::Nothing,
            _ => callbacks.query(kind, obj).ok_or(id)?,
        };
        Ok(QueryData { kind, obj, query })
    }

    /// The receiver of an event with this priority in its packet.
    fn receiver(&self, priority: u8, id: u8) -> Result<To, u8> {
        Ok(match priority {
            0 => To::Subscribers,
            253 => To::Active(self.get(ACTIVE, id)?),
            254 => To::Init(self.get(STATE_MACHINE, id)?),
            255 => To::Dispatch(self.get(STATE_MACHINE, id)?),
            _ => To::Priority(priority),
        })
    }
}

/// `Err` with the packet's id, the fault code for a refused command.
fn accepted(is_accepted: bool, id: u8) -> Result<(), u8> {
    if is_accepted { Ok(()) } else { Err(id) }
}

/// Adds an active object to the local filter, or removes it.
fn switch_local_filter(
    kind: u8,
    obj: Obj,
    id: u8,
    port: &mut impl Port,
    callbacks: &mut impl Callbacks,
) -> Result<(), u8> {
    let priority = (obj != Obj::NULL).then(|| callbacks.priority(obj)).flatten().ok_or(id)?;
    answer(port, id);
    let object = filter::Objects::Id(priority);
    port.set_local(|filter| match kind {
        0 => filter.object_on(object),
        _ => filter.object_off(object),
    });
    Ok(())
}
