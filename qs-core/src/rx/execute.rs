//! Carries commands out and answers them. What QP does with a command before it knows the checksum is done behind it here.

use super::command::{Command, id};
use super::receiver::{Packet, Receiver, fault};
use crate::filter::{self, Filter};
use crate::record::trace::Opcodes;
use crate::record::{Fun, Obj, PeekData, Query, QueryData, Record, RxStatus, Sig, Sizes, TargetDone};

/// Kinds of current objects, see [`Executor`].
const KINDS: usize = 6;
const STATE_MACHINE: usize = 0;
const ACTIVE: usize = 1;
const APPLICATION: usize = 5;
/// Kind that stands for state machine and active object together.
const BOTH: u8 = 6;
/// Set in an answer that tells of a fault.
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

    /// Switches all profile events; false where there are none.
    fn set_opcodes(&mut self, opcodes: Opcodes) -> bool {
        let _ = opcodes;
        false
    }

    /// Sends this answer with the memory from `address` on; false where that is not allowed.
    fn peek(&mut self, address: usize, answer: PeekData<'_>) -> bool {
        let _ = (address, answer);
        false
    }

    /// Keeps what the next use of this function's test probe gets; false where there is no room. Only called with
    /// [`Port::TESTS`].
    fn add_probe(&mut self, fun: Fun, data: u32) -> bool {
        let _ = (fun, data);
        false
    }

    /// Forgets all test probes.
    fn clear_probes(&mut self) {}

    /// Writes this data so many times from `address` on, in items of `size` bytes; false, and nothing is written, where that is
    /// not allowed.
    fn poke(&mut self, address: usize, size: u8, data: &[u8], times: u8) -> bool {
        let _ = (address, size, data, times);
        false
    }
}

/// Whom an event from the host is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// All subscribers.
    Subscribers,
    /// The active object with this priority.
    Priority(u8),
    /// The current active object, to be posted.
    Active(Obj),
    /// The current state machine, for its initial transition.
    Init(Obj),
    /// The current state machine, to be dispatched.
    Dispatch(Obj),
}

/// What an application does for the receive channel. Everything may be left out.
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

    /// An event from the host; false when it could not be allocated or posted.
    fn event(&mut self, to: To, sig: Sig, params: &[u8]) -> bool {
        let _ = (to, sig, params);
        false
    }

    /// The local-filter id (the priority) of an active object.
    fn priority(&mut self, object: Obj) -> Option<u8> {
        let _ = object;
        None
    }

    /// What is to be told of a current object: of a state machine or active object its state, and so on.
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

/// The receive channel of a target: takes bytes, carries out packets of up to `LEN` bytes.
#[derive(Clone, Debug)]
pub struct Executor<const LEN: usize> {
    receiver: Receiver<LEN>,
    objects: Objects,
}

/// The current objects: state machine, active object, memory pool, event queue, time event, application object.
#[derive(Clone, Debug)]
struct Objects([Obj; KINDS]);

impl<const LEN: usize> Default for Executor<LEN> {
    fn default() -> Self {
        Executor::new()
    }
}

impl<const LEN: usize> Executor<LEN> {
    /// As after a reset.
    pub const fn new() -> Executor<LEN> {
        Executor { receiver: Receiver::new(), objects: Objects([Obj::NULL; KINDS]) }
    }

    /// The current object of a kind, as the host numbers them.
    pub fn current(&self, kind: u8) -> Option<Obj> {
        self.objects.get(kind.into(), 0).ok()
    }

    /// Takes a byte from the host; carries out the packet that ends with it.
    pub fn byte<P: Port>(&mut self, byte: u8, port: &mut P, callbacks: &mut impl Callbacks) {
        let Some(received) = self.receiver.byte(byte) else { return };
        for fault in received.faults.into_iter().take_while(|fault| *fault != 0) {
            answer(port, ERROR | fault);
        }
        let Some(packet) = received.packet else { return };
        if let Err(fault) = self.objects.carry_out(&packet, port, callbacks) {
            answer(port, ERROR | fault);
        }
    }
}

fn answer(port: &mut impl Port, status: u8) {
    port.send(&RxStatus { status });
}

impl Objects {
    fn get(&self, kind: usize, id: u8) -> Result<Obj, u8> {
        self.0.get(kind).copied().filter(|object| *object != Obj::NULL).ok_or(id)
    }

    fn place(&self, offset: u16, id: u8) -> Result<usize, u8> {
        Ok(self.get(APPLICATION, id)?.0.wrapping_add(offset.into()))
    }

    fn carry_out<P: Port>(
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
                if answer.len() > PeekData::MAX || !port.peek(self.place(offset, id)?, answer) {
                    return Err(id);
                }
            }
            Command::Poke { offset, size, data } => {
                if !port.poke(self.place(offset, id)?, size, data, 1) {
                    return Err(id);
                }
                answer(port, id);
            }
            Command::Fill { offset, size, count, item } => {
                let item = item.to_le_bytes();
                let item = item.get(..usize::from(size)).ok_or(id)?;
                if !port.poke(self.place(offset, id)?, size, item, count) {
                    return Err(id);
                }
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
                if !port.add_probe(fun, data) {
                    return Err(id);
                }
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
                if !port.set_opcodes(opcodes) {
                    return Err(id);
                }
                answer(port, id);
            }
            Command::LocalFilter(bytes) => {
                answer(port, id);
                port.set_local(|_| Filter::local_from(bytes));
            }
            Command::AoFilter { kind: BOTH, .. } => answer(port, id),
            Command::AoFilter { kind, obj } => {
                let prio = (obj != Obj::NULL).then(|| callbacks.priority(obj)).flatten().ok_or(id)?;
                answer(port, id);
                let object = filter::Objects::Id(prio);
                port.set_local(|filter| match kind {
                    0 => filter.object_on(object),
                    _ => filter.object_off(object),
                });
            }
            Command::CurrentObject { kind, obj } => {
                match kind {
                    BOTH => (self.0[STATE_MACHINE], self.0[ACTIVE]) = (obj, obj),
                    _ => *self.0.get_mut(usize::from(kind)).ok_or(id)? = obj,
                }
                answer(port, id);
            }
            Command::Query { kind } => {
                let obj = self.get(kind.into(), id)?;
                let query = match usize::from(kind) {
                    APPLICATION => Query::Nothing,
                    _ => callbacks.query(kind, obj).ok_or(id)?,
                };
                port.send(&QueryData { kind, obj, query });
            }
            Command::Event { prio, sig, params } => {
                answer(port, id);
                let to = match prio {
                    0 => To::Subscribers,
                    253 => To::Active(self.get(ACTIVE, id)?),
                    254 => To::Init(self.get(STATE_MACHINE, id)?),
                    255 => To::Dispatch(self.get(STATE_MACHINE, id)?),
                    _ => To::Priority(prio),
                };
                if !callbacks.event(to, sig, params) {
                    return Err(id);
                }
                done(port);
            }
        }
        Ok(())
    }
}
