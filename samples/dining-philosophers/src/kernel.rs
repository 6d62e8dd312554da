//! A small cooperative kernel: active objects with state machines, event queues and time events.
//! It sends the records that QP's kernel sends.

use std::collections::VecDeque;

use xhist_rt::qs::{self, Fun, Obj};

use crate::signals::Signal;

/// The highest priority of active objects; the lowest is 1.
pub const MAX_ACTIVE: usize = 8;
/// Capacity of an event queue.
const QUEUE: usize = 8;
/// The pool of all events: 0, static, because this kernel has no pools.
const STATIC: u8 = 0;

/// An event with its parameter.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub signal: Signal,
    /// Number of the philosopher concerned.
    pub philo: u8,
}

/// How a state handles an event.
pub enum Outcome<A: 'static> {
    Handled,
    Ignored,
    Transition(&'static State<A>),
}

/// A state: its handler, which also gets entry and exit events.
pub struct State<A: 'static> {
    pub name: &'static str,
    pub on_event: fn(&mut A, &mut Kernel, Event) -> Outcome<A>,
    pub on_entry: Option<fn(&mut A, &mut Kernel)>,
    pub on_exit: Option<fn(&mut A, &mut Kernel)>,
}

/// The state machine of an active object.
pub trait Machine: Sized + 'static {
    fn priority(&self) -> u8;
    fn state(&mut self) -> &mut &'static State<Self>;

    /// Enters the first state.
    fn start(&mut self, kernel: &mut Kernel) {
        let (prio, obj, state) = (self.priority(), Obj::of(self), *self.state());
        kernel.objects[usize::from(prio)] = obj;
        qs::record(prio, &qs::QepInitTran { obj, target: fun(state) });
        enter(self, kernel, state);
    }

    /// Dispatches an event to the current state.
    fn dispatch(&mut self, kernel: &mut Kernel, event: Event) {
        let (prio, obj, source) = (self.priority(), Obj::of(self), *self.state());
        let sig = event.signal.sig();
        qs::record(prio, &qs::QepDispatch { sig, obj, state: fun(source) });
        match (source.on_event)(self, kernel, event) {
            Outcome::Handled => {
                qs::record(prio, &qs::QepInternTran { sig, obj, state: fun(source) });
            }
            Outcome::Ignored => {
                qs::record(prio, &qs::QepIgnored { sig, obj, state: fun(source) });
            }
            Outcome::Transition(target) => {
                if let Some(on_exit) = source.on_exit {
                    on_exit(self, kernel);
                    qs::record(prio, &qs::QepStateExit { obj, state: fun(source) });
                }
                *self.state() = target;
                enter(self, kernel, target);
                qs::record(prio, &qs::QepTran { sig, obj, source: fun(source), target: fun(target) });
            }
        }
    }
}

fn enter<A: Machine>(machine: &mut A, kernel: &mut Kernel, state: &'static State<A>) {
    if let Some(on_entry) = state.on_entry {
        on_entry(machine, kernel);
        qs::record(machine.priority(), &qs::QepStateEntry { obj: Obj::of(machine), state: fun(state) });
    }
}

/// The address that identifies a state.
pub fn fun<A>(state: &'static State<A>) -> Fun {
    Fun::of(std::ptr::from_ref(state).cast())
}

#[derive(Default)]
struct Queue {
    events: VecDeque<Event>,
    /// The minimum of free entries so far.
    min: usize,
}

/// A time event that posts itself once.
#[derive(Clone, Copy, Default)]
struct TimeEvent {
    ticks: u32,
}

/// Queues, subscriptions and time events of all active objects.
#[derive(Default)]
pub struct Kernel {
    queues: [Queue; MAX_ACTIVE + 1],
    objects: [Obj; MAX_ACTIVE + 1],
    timers: [TimeEvent; MAX_ACTIVE + 1],
    /// The priorities that subscribed to each signal, one bit each.
    subscribers: [u16; Signal::ALL.len()],
    ticks: u32,
    /// Priority of the active object that ran last.
    last: u8,
}

impl Kernel {
    pub fn new() -> Kernel {
        let mut kernel = Kernel::default();
        kernel.queues.iter_mut().for_each(|queue| queue.min = QUEUE);
        kernel
    }

    pub fn subscribe(&mut self, prio: u8, signal: Signal) {
        self.subscribers[signal as usize] |= 1 << prio;
        let obj = self.objects[usize::from(prio)];
        qs::record(prio, &qs::QfActiveSubscribe { sig: signal.sig(), obj });
    }

    /// Posts an event to an active object; false when its queue is full.
    pub fn post(&mut self, prio: u8, event: Event, sender: Obj) -> bool {
        let (queue, obj) = (&mut self.queues[usize::from(prio)], self.objects[usize::from(prio)]);
        let (sig, pool, refs) = (event.signal.sig(), STATIC, 0);
        let free = QUEUE - queue.events.len();
        if free == 0 {
            qs::record(prio, &qs::QfActivePostAttempt { sender, sig, obj, pool, refs, free: 0, margin: 0 });
            return false;
        }
        queue.events.push_back(event);
        queue.min = queue.min.min(free - 1);
        let (free, min) = (free as u32 - 1, queue.min as u32);
        qs::record(prio, &qs::QfActivePost { sender, sig, obj, pool, refs, free, min });
        true
    }

    /// Posts an event to all subscribers.
    pub fn publish(&mut self, event: Event, sender: Obj, prio: u8) {
        let sig = event.signal.sig();
        qs::record(prio, &qs::QfPublish { sender, sig, pool: STATIC, refs: 0 });
        for prio in (1..=MAX_ACTIVE as u8).rev() {
            if self.subscribers[event.signal as usize] >> prio & 1 != 0 {
                self.post(prio, event, sender);
            }
        }
    }

    /// Posts `TIMEOUT` to an active object after this many ticks.
    pub fn arm(&mut self, prio: u8, ticks: u32) {
        self.timers[usize::from(prio)].ticks = ticks;
        let (te, ao) = (self.timer(prio), self.objects[usize::from(prio)]);
        qs::record(prio, &qs::QfTimeevtArm { te, ao, ctr: ticks, interval: 0, rate: 0 });
    }

    /// The address that identifies the time event of an active object.
    pub fn timer(&self, prio: u8) -> Obj {
        Obj::of(&self.timers[usize::from(prio)])
    }

    /// A tick of the clock.
    pub fn tick(&mut self) {
        self.ticks += 1;
        qs::record(0, &qs::QfTick { ctr: self.ticks, rate: 0 });
        for prio in 1..=MAX_ACTIVE as u8 {
            let timer = &mut self.timers[usize::from(prio)];
            match timer.ticks {
                0 => continue,
                ticks => timer.ticks = ticks - 1,
            }
            if timer.ticks == 0 {
                let (te, ao) = (self.timer(prio), self.objects[usize::from(prio)]);
                qs::record(prio, &qs::QfTimeevtAutoDisarm { te, ao, rate: 0 });
                let sig = Signal::Timeout.sig();
                qs::record(prio, &qs::QfTimeevtPost { te, sig, ao, rate: 0 });
                self.post(prio, Event { signal: Signal::Timeout, philo: prio - 1 }, Obj::NULL);
            }
        }
    }

    /// Takes the next event of the active object with the highest priority that has one.
    pub fn next(&mut self) -> Option<(u8, Event)> {
        let prio = (1..=MAX_ACTIVE).rev().find(|prio| !self.queues[*prio].events.is_empty());
        let Some(prio) = prio else {
            if self.last != 0 {
                qs::record(self.last, &qs::SchedIdle { prev: self.last });
                self.last = 0;
            }
            return None;
        };
        let (queue, obj) = (&mut self.queues[prio], self.objects[prio]);
        let event = queue.events.pop_front()?;
        let (prio, free) = (prio as u8, QUEUE - queue.events.len());
        qs::record(prio, &qs::SchedNext { prio, prev: self.last });
        self.last = prio;
        let (sig, pool, refs) = (event.signal.sig(), STATIC, 0);
        match free {
            QUEUE => qs::record(prio, &qs::QfActiveGetLast { sig, obj, pool, refs }),
            _ => qs::record(prio, &qs::QfActiveGet { sig, obj, pool, refs, free: free as u32 }),
        }
        Some((prio, event))
    }

    /// Priority of the active object at this address.
    pub fn priority(&self, object: Obj) -> Option<u8> {
        self.objects.iter().position(|known| *known == object).map(|prio| prio as u8)
    }
}
