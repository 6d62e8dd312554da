//! Five philosophers and a table, as in QP's example of that name.
//!
//! `dining-philosophers TICKS [FILE | HOST:PORT]` runs for TICKS ticks of its clock. It sends the stream to a file, or
//! to a listening host, which may send commands.

mod kernel;
mod link;
mod philo;
mod signals;
mod table;

use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use xhist_rt::qs::{self, Group, Obj, Records};

use kernel::{Kernel, MAX_ACTIVE, Machine, fun};
use link::{Application, Link};
use philo::Philo;
use signals::Signal;
use table::Table;

pub const PHILOSOPHERS: usize = 5;

/// The same sequence in each run.
pub fn random() -> u32 {
    static SEED: AtomicU32 = AtomicU32::new(1_234);
    let seed = SEED.load(Ordering::Relaxed).wrapping_mul(3 * 7 * 11 * 13 * 23).wrapping_add(1);
    SEED.store(seed, Ordering::Relaxed);
    seed >> 8
}

/// Objects with fixed addresses while the program runs.
struct Named {
    table: Obj,
    philosophers: [Obj; PHILOSOPHERS],
    timers: Vec<Obj>,
}

static NAMED: OnceLock<Named> = OnceLock::new();

/// Sends the names of all objects in records: at start, and on request of the host.
fn dictionaries() {
    if let Some(named) = NAMED.get() {
        qs::name_obj(named.table, "Table");
        for (index, philo) in named.philosophers.iter().enumerate() {
            qs::name_obj_of(*philo, "Philo[n]", index);
        }
        for (index, timer) in named.timers.iter().enumerate() {
            qs::name_obj_of(*timer, "Philo[n].timer", index);
        }
    }
    for (signal, name) in Signal::ALL {
        qs::name_sig(signal.sig(), Obj::NULL, name);
    }
    qs::name_fun(fun(&philo::THINKING), philo::THINKING.name);
    qs::name_fun(fun(&philo::HUNGRY), philo::HUNGRY.name);
    qs::name_fun(fun(&philo::EATING), philo::EATING.name);
    qs::name_fun(fun(&table::SERVING), table::SERVING.name);
    qs::name_fun(fun(&table::PAUSED), table::PAUSED.name);
    xhist_rt::name_files!();
    qs::name_user(philo::PHILO_STAT, "PHILO_STAT");
    qs::name_user(table::TABLE_STAT, "TABLE_STAT");
    qs::name_enum(7, link::PAUSE, "PAUSE");
    qs::name_enum(7, link::SERVE, "SERVE");
}

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let ticks: u32 = args.next().and_then(|ticks| ticks.parse().ok()).unwrap_or(200);
    let mut link = match Link::open(args.next().as_deref()) {
        Ok(link) => link,
        Err(error) => {
            eprintln!("dining-philosophers: {error}");
            return ExitCode::FAILURE;
        }
    };

    let mut kernel = Kernel::new();
    let mut table = Table::new();
    let mut philosophers: [Philo; PHILOSOPHERS] = std::array::from_fn(|number| Philo::new(number as u8));
    let timers = (1..=PHILOSOPHERS as u8).map(|prio| kernel.timer(prio));
    let named = Named {
        table: Obj::of(&table),
        philosophers: std::array::from_fn(|number| Obj::of(&philosophers[number])),
        timers: timers.collect(),
    };
    NAMED.get_or_init(|| named);

    qs::start(qs::Info {
        max_active: MAX_ACTIVE as u8,
        max_rates: 1,
        dictionaries: Some(dictionaries),
        ..qs::Info::default()
    });
    for group in [Group::Sm, Group::Ao, Group::Te, Group::Sc, Group::Qf, Group::Usr] {
        qs::global_on(Records::Group(group));
    }
    table.begin(&mut kernel);
    philosophers.iter_mut().for_each(|philo| philo.begin(&mut kernel));
    qs::record(0, &qs::QfRun {});

    for _ in 0..ticks {
        kernel.tick();
        while let Some((prio, event)) = kernel.next() {
            match prio {
                table::PRIORITY => table.dispatch(&mut kernel, event),
                _ => philosophers[usize::from(prio) - 1].dispatch(&mut kernel, event),
            }
        }
        if let Err(error) = link.exchange(&mut Application { kernel: &mut kernel }) {
            eprintln!("dining-philosophers: {error}");
            return ExitCode::FAILURE;
        }
    }
    println!("{ticks} ticks");
    ExitCode::SUCCESS
}
