//! The table: assigns forks, so that two neighbours never eat at the same time.

use xhist_rt::qs::Obj;
use xhist_rt::qs_record;

use crate::PHILOSOPHERS;
use crate::kernel::{Event, Kernel, Machine, Outcome, State};
use crate::signals::Signal;

pub const PRIORITY: u8 = PHILOSOPHERS as u8 + 1;
/// The application record of the table's state.
pub const TABLE_STAT: u8 = 101;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fork {
    Free,
    Used,
}

pub struct Table {
    state: &'static State<Table>,
    forks: [Fork; PHILOSOPHERS],
    hungry: [bool; PHILOSOPHERS],
}

pub static SERVING: State<Table> = State {
    name: "Table_serving",
    on_event: |table, kernel, event| {
        let philo = usize::from(event.philo);
        match event.signal {
            Signal::Hungry => {
                table.hungry[philo] = true;
                table.serve(kernel, philo);
                Outcome::Handled
            }
            Signal::Done => {
                table.take_back(philo);
                table.serve(kernel, left(philo));
                table.serve(kernel, right(philo));
                Outcome::Handled
            }
            Signal::Pause => Outcome::Transition(&PAUSED),
            Signal::Eat => Outcome::Handled,
            _ => Outcome::Ignored,
        }
    },
    on_entry: Some(|table, kernel| {
        qs_record!(TABLE_STAT, PRIORITY; str "serving");
        (0..PHILOSOPHERS).for_each(|philo| table.serve(kernel, philo));
    }),
    on_exit: None,
};

pub static PAUSED: State<Table> = State {
    name: "Table_paused",
    on_event: |table, _, event| {
        let philo = usize::from(event.philo);
        match event.signal {
            Signal::Serve => return Outcome::Transition(&SERVING),
            Signal::Hungry => table.hungry[philo] = true,
            Signal::Done => table.take_back(philo),
            Signal::Eat => {}
            _ => return Outcome::Ignored,
        }
        Outcome::Handled
    },
    on_entry: Some(|_, _| qs_record!(TABLE_STAT, PRIORITY; str "paused")),
    on_exit: None,
};

fn right(philo: usize) -> usize {
    (philo + PHILOSOPHERS - 1) % PHILOSOPHERS
}

fn left(philo: usize) -> usize {
    (philo + 1) % PHILOSOPHERS
}

impl Table {
    pub fn new() -> Table {
        Table { state: &SERVING, forks: [Fork::Free; PHILOSOPHERS], hungry: [false; PHILOSOPHERS] }
    }

    pub fn begin(&mut self, kernel: &mut Kernel) {
        self.start(kernel);
        for signal in [Signal::Done, Signal::Pause, Signal::Serve] {
            kernel.subscribe(PRIORITY, signal);
        }
    }

    /// Lets a hungry philosopher eat if both forks are free.
    fn serve(&mut self, kernel: &mut Kernel, philo: usize) {
        let forks = [philo, left(philo)];
        if self.hungry[philo] && forks.iter().all(|fork| self.forks[*fork] == Fork::Free) {
            forks.iter().for_each(|fork| self.forks[*fork] = Fork::Used);
            self.hungry[philo] = false;
            let event = Event { signal: Signal::Eat, philo: philo as u8 };
            kernel.publish(event, Obj::of(self), PRIORITY);
        }
    }

    fn take_back(&mut self, philo: usize) {
        for fork in [philo, left(philo)] {
            assert_eq!(self.forks[fork], Fork::Used, "the fork was free");
            self.forks[fork] = Fork::Free;
        }
    }
}

impl Machine for Table {
    fn priority(&self) -> u8 {
        PRIORITY
    }

    fn state(&mut self) -> &mut &'static State<Table> {
        &mut self.state
    }
}
