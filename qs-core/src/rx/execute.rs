//! Carries commands out and answers them. What QP does with a command before it knows the checksum is done behind it here.

use super::command::{Command, id};
use super::receiver::{Packet, Receiver, fault};
use crate::filter::{Filter, Objects};
use crate::record::{
    Fun, Obj, PeekData, Query, QueryData, Record, RxStatus, Sig, Sizes, TargetDone, TestProbeGet,
};

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

    /// Sends a record, whatever the filters say, with a time stamp where it has one.
    fn send(&mut self, record: &impl Record);

    /// Sends the target info with this reset flag, and the dictionaries.
    fn send_info(&mut self, reset: u8);

    /// Sets the global filter.
    fn set_global(&mut self, filter: Filter);

    /// Changes the local filter.
    fn set_local(&mut self, change: impl FnOnce(Filter) -> Filter);

    /// Sends this answer with the memory from `address` on; false where that is not allowed.
    fn peek(&mut self, address: usize, answer: PeekData<'_>) -> bool {
        let _ = (address, answer);
        false
    }

    /// Writes memory from `address` on, in items of `size` bytes; false where that is not allowed.
    fn poke(&mut self, address: usize, size: u8, data: &[u8]) -> bool {
        let _ = (address, size, data);
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

/// The receive channel of a target: takes bytes, carries out packets of up to `LEN` bytes and keeps up to `PROBES` test
/// probes. Without test probes the commands of unit tests are unknown, as in QP.
#[derive(Clone, Debug)]
pub struct Executor<const LEN: usize, const PROBES: usize> {
    receiver: Receiver<LEN>,
    /// The current objects: state machine, active object, memory pool, event queue, time event, application object.
    current: [Obj; KINDS],
    probes: [(Fun, u32); PROBES],
    waiting: usize,
}

impl<const LEN: usize, const PROBES: usize> Default for Executor<LEN, PROBES> {
    fn default() -> Self {
        Executor::new()
    }
}

impl<const LEN: usize, const PROBES: usize> Executor<LEN, PROBES> {
    /// As after a reset.
    pub const fn new() -> Executor<LEN, PROBES> {
        Executor {
            receiver: Receiver::new(),
            current: [Obj::NULL; KINDS],
            probes: [(Fun::NULL, 0); PROBES],
            waiting: 0,
        }
    }

    /// The current object of a kind, as the host numbers them.
    pub fn current(&self, kind: u8) -> Option<Obj> {
        self.current.get(usize::from(kind)).copied().filter(|object| *object != Obj::NULL)
    }

    /// Takes a byte from the host; carries out the packet that ends with it.
    pub fn byte<P: Port>(&mut self, byte: u8, port: &mut P, callbacks: &mut impl Callbacks) {
        let Executor { receiver, current, probes, waiting } = self;
        let Some(received) = receiver.byte(byte) else { return };
        for fault in received.faults.into_iter().take_while(|fault| *fault != 0) {
            answer(port, ERROR | fault);
        }
        let Some(packet) = received.packet else { return };
        let mut rest = Rest { current, probes, waiting };
        if let Err(fault) = rest.carry_out(&packet, port, callbacks) {
            answer(port, ERROR | fault);
        }
    }

    /// The data that the host gave for the next use of this function, which is told; 0 for none.
    pub fn probe(&mut self, fun: Fun, port: &mut impl Port) -> u32 {
        let found = self.probes[..self.waiting].iter().position(|(of, _)| *of == fun);
        let Some(found) = found else { return 0 };
        let (_, data) = self.probes[found];
        self.probes.copy_within(found + 1..self.waiting, found);
        self.waiting -= 1;
        port.send(&TestProbeGet { fun, data });
        data
    }
}

fn answer(port: &mut impl Port, status: u8) {
    port.send(&RxStatus { status });
}

/// What a command works on beside the packet.
struct Rest<'a> {
    current: &'a mut [Obj; KINDS],
    probes: &'a mut [(Fun, u32)],
    waiting: &'a mut usize,
}

impl Rest<'_> {
    fn current(&self, kind: usize, id: u8) -> Result<Obj, u8> {
        self.current.get(kind).copied().filter(|object| *object != Obj::NULL).ok_or(id)
    }

    fn place(&self, offset: u16, id: u8) -> Result<usize, u8> {
        Ok(self.current(APPLICATION, id)?.0.wrapping_add(offset.into()))
    }

    fn carry_out<P: Port>(
        &mut self,
        packet: &Packet<'_>,
        port: &mut P,
        callbacks: &mut impl Callbacks,
    ) -> Result<(), u8> {
        let id = packet.id;
        if matches!(id, id::PEEK | id::POKE | id::FILL) {
            self.current(APPLICATION, id)?;
        }
        if matches!(id, id::TEST_SETUP | id::TEST_TEARDOWN | id::TEST_PROBE | id::TEST_CONTINUE)
            && self.probes.is_empty()
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
                if !port.poke(self.place(offset, id)?, size, data) {
                    return Err(id);
                }
                answer(port, id);
            }
            Command::Fill { offset, size, count, item } => {
                let place = self.place(offset, id)?;
                let item = &item.to_le_bytes()[..usize::from(size)];
                for index in 0..usize::from(count) {
                    if !port.poke(place.wrapping_add(index * item.len()), size, item) {
                        return Err(id);
                    }
                }
                answer(port, id);
            }
            Command::TestSetup => {
                answer(port, id);
                *self.waiting = 0;
                callbacks.test_setup();
            }
            Command::TestTeardown => {
                answer(port, id);
                callbacks.test_teardown();
            }
            Command::TestProbe { data, fun } => {
                *self.probes.get_mut(*self.waiting).ok_or(id)? = (fun, data);
                *self.waiting += 1;
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
            Command::LocalFilter(bytes) => {
                answer(port, id);
                port.set_local(|_| Filter::local_from(bytes));
            }
            Command::AoFilter { kind: BOTH, .. } => answer(port, id),
            Command::AoFilter { kind, obj } => {
                let prio = (obj != Obj::NULL).then(|| callbacks.priority(obj)).flatten().ok_or(id)?;
                answer(port, id);
                let object = Objects::Id(prio);
                port.set_local(|filter| match kind {
                    0 => filter.object_on(object),
                    _ => filter.object_off(object),
                });
            }
            Command::CurrentObject { kind, obj } => {
                match kind {
                    BOTH => (self.current[STATE_MACHINE], self.current[ACTIVE]) = (obj, obj),
                    _ => *self.current.get_mut(usize::from(kind)).ok_or(id)? = obj,
                }
                answer(port, id);
            }
            Command::Query { kind } => {
                let obj = self.current(kind.into(), id)?;
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
                    253 => To::Active(self.current(ACTIVE, id)?),
                    254 => To::Init(self.current(STATE_MACHINE, id)?),
                    255 => To::Dispatch(self.current(STATE_MACHINE, id)?),
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
