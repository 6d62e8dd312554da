//! A philosopher: thinks, is hungry, eats.

use xhist_rt::qs::Obj;
use xhist_rt::qs_record;

use crate::kernel::{Event, Kernel, Machine, Outcome, State};
use crate::random;
use crate::signals::Signal;
use crate::table;

/// The application record of a philosopher's state.
pub const PHILO_STAT: u8 = 100;

pub struct Philo {
    number: u8,
    state: &'static State<Philo>,
}

pub static THINKING: State<Philo> = State {
    name: "Philo_thinking",
    on_event: |_, _, event| match event.signal {
        Signal::Timeout => Outcome::Transition(&HUNGRY),
        // Ignore the meals of the others.
        Signal::Eat | Signal::Done => Outcome::Handled,
        _ => Outcome::Ignored,
    },
    on_entry: Some(|philo, kernel| {
        philo.show("thinking");
        kernel.arm(philo.priority(), 2 + random() % 20);
    }),
    on_exit: None,
};

pub static HUNGRY: State<Philo> = State {
    name: "Philo_hungry",
    on_event: |philo, _, event| match event.signal {
        Signal::Eat if event.philo == philo.number => Outcome::Transition(&EATING),
        Signal::Eat | Signal::Done => Outcome::Handled,
        _ => Outcome::Ignored,
    },
    on_entry: Some(|philo, kernel| {
        philo.show("hungry");
        kernel.post(table::PRIORITY, philo.event(Signal::Hungry), Obj::of(philo));
    }),
    on_exit: None,
};

pub static EATING: State<Philo> = State {
    name: "Philo_eating",
    on_event: |_, _, event| match event.signal {
        Signal::Timeout => Outcome::Transition(&THINKING),
        Signal::Eat | Signal::Done => Outcome::Handled,
        _ => Outcome::Ignored,
    },
    on_entry: Some(|philo, kernel| {
        philo.show("eating");
        kernel.arm(philo.priority(), 2 + random() % 10);
    }),
    on_exit: Some(|philo, kernel| {
        kernel.publish(philo.event(Signal::Done), Obj::of(philo), philo.priority());
    }),
};

impl Philo {
    pub fn new(number: u8) -> Philo {
        Philo { number, state: &THINKING }
    }

    pub fn begin(&mut self, kernel: &mut Kernel) {
        self.start(kernel);
        kernel.subscribe(self.priority(), Signal::Eat);
        kernel.subscribe(self.priority(), Signal::Done);
    }

    fn event(&self, signal: Signal) -> Event {
        Event { signal, philo: self.number }
    }

    fn show(&self, state: &str) {
        qs_record!(PHILO_STAT, self.priority(); u8[1] self.number, str state);
    }
}

impl Machine for Philo {
    fn priority(&self) -> u8 {
        1 + self.number
    }

    fn state(&mut self) -> &mut &'static State<Philo> {
        &mut self.state
    }
}
