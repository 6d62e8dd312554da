//! Hooks of embassy's executor as records: which task begins, is woken, runs, and ends, and when there is nothing to do.
//! [`embassy_trace!`](crate::embassy_trace) defines the functions that the executor calls with its feature `trace`.
//!
//! The ring forgets a task that is silent for long, which is just the one that waits for ever. So the last statement of each
//! task is kept here, and [`report`] sends it.
//!
//! A task has a number, from 1 in the order in which tasks began, for the local filter and for [`SchedNext`] and
//! [`SchedIdle`], which are those of QP's kernels. Numbers of ended tasks are used again. Without a free number a task has 0.

use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

use super::dictionary::{name_enum, name_user};
use super::send::{record, user};
use super::{FILES, Obj, SchedIdle, SchedNext, element, is_on};
use crate::recorder;
use crate::shared::Shared;

/// Tasks with a number.
const TASKS: usize = 32;
/// The enumeration with the names of [`Step`].
const STEPS: u8 = 4;

/// Tasks, by number less one.
static KNOWN: Shared<[Known; TASKS]> = Shared::new([Known::new(0); TASKS]);
/// The number of the task that runs or ran last.
static NEWEST: AtomicU8 = AtomicU8::new(0);

/// A task that has not ended.
#[derive(Clone, Copy)]
struct Known {
    /// What the executor calls it. 0: the number is free.
    task: u32,
    /// File and line of its last statement. (0, 0) before that.
    place: (u16, u16),
    step: Step,
    /// It was woken while it ran, so it is ready when it pauses.
    is_woken: bool,
}

impl Known {
    const fn new(task: u32) -> Known {
        Known { task, place: (0, 0), step: Step::New, is_woken: false }
    }
}

/// What a task does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    New,
    Ready,
    Running,
    Waiting,
    End,
    Poll,
}

impl Step {
    const ALL: [(Step, &str); 6] = [
        (Step::New, "NEW"),
        (Step::Ready, "READY"),
        (Step::Running, "RUNNING"),
        (Step::Waiting, "WAITING"),
        (Step::End, "END"),
        (Step::Poll, "POLL"),
    ];
}

/// Names the record with this id and its steps, and sends a record for each task that has not ended: what it does, its
/// number, its address, and file and line of its last statement. Call it with the program's dictionaries: a host that asks
/// for the target info then gets all.
pub fn report(id: u8) {
    name_user(id, "TASK");
    for (step, name) in Step::ALL {
        name_enum(STEPS, step as u8, name);
    }
    let known = KNOWN.with(|known| *known);
    for (number, task) in (1..).zip(known.iter().flatten()).filter(|(_, task)| task.task != 0) {
        send(id, number, task.step, task.task, Some(task.place));
    }
}

/// A task was made, and will be queued.
pub fn task_new(id: u8, task: u32) {
    let number = KNOWN.with(|known| {
        let free = known.iter().position(|other| other.task == 0)?;
        *known.get_mut(free)? = Known::new(task);
        Some(free as u8 + 1)
    });
    send(id, number.flatten().unwrap_or(0), Step::New, task, None);
}

/// An executor polls its tasks that are ready.
pub fn poll(id: u8, executor: u32) {
    send(id, 0, Step::Poll, executor, None);
}

/// A task was woken, perhaps by an interrupt.
pub fn task_ready(id: u8, task: u32) {
    let number = change(task, |known| match known.step {
        // A task that wakes itself goes on running.
        Step::Running => known.is_woken = true,
        _ => known.step = Step::Ready,
    });
    send(id, number, Step::Ready, task, None);
}

/// A task is polled from here on.
pub fn task_begin(task: u32) {
    let prio = change(task, |known| (known.step, known.is_woken) = (Step::Running, false));
    let prev = NEWEST.load(Relaxed);
    NEWEST.store(prio, Relaxed);
    record(prio, &SchedNext { prio, prev });
}

/// A task was polled, and has not ended. Its last statement is the newest one.
pub fn task_pause(id: u8, task: u32) {
    let newest = recorder::newest();
    let mut paused = Known::new(task);
    let number = change(task, |known| {
        known.step = if known.is_woken { Step::Ready } else { Step::Waiting };
        known.place = newest.unwrap_or(known.place);
        paused = *known;
    });
    // A task that has ended is paused as well, and is no longer known.
    if number > 0 {
        send(id, number, paused.step, task, Some(paused.place));
    }
}

/// A task is no more.
pub fn task_end(id: u8, task: u32) {
    send(id, change(task, |known| known.task = 0), Step::End, task, None);
}

/// No task is ready.
pub fn idle() {
    let prev = NEWEST.load(Relaxed);
    NEWEST.store(0, Relaxed);
    record(0, &SchedIdle { prev });
}

/// Changes what is known of a task. Returns its number, 0 for an unknown one.
fn change(task: u32, how: impl FnOnce(&mut Known)) -> u8 {
    let number = KNOWN.with(|known| {
        let (place, known) = known.iter_mut().enumerate().find(|(_, known)| known.task == task)?;
        how(known);
        Some(place as u8 + 1)
    });
    number.flatten().unwrap_or(0)
}

fn send(id: u8, number: u8, step: Step, task: u32, place: Option<(u16, u16)>) {
    if is_on(id, number) {
        user(id, |to| {
            element::enumeration(to, STEPS, step as u8);
            element::u8(to, 0, number);
            element::obj(to, 0, Obj(task as usize));
            if let Some((file, line)) = place {
                match u8::try_from(file) {
                    Ok(file) => element::enumeration(to, FILES, file),
                    Err(_) => element::u16(to, 0, file),
                }
                element::u16(to, 0, line);
            }
        });
    }
}

/// Defines the functions that embassy's executor calls with its feature `trace`, in the program: `embassy_trace!(110)`. The
/// argument is the id of an application record, which shows when tasks begin, are woken, pause and end. The records are off until
/// [`qs::global_on`](crate::qs::global_on) switches on that id and [`Group::Sc`](crate::qs::Group).
///
/// Two executors, such as one of an interrupt, share the numbers of tasks.
#[macro_export]
macro_rules! embassy_trace {
    ($id:expr) => {
        const _: () = {
            const ID: u8 = $crate::qs::user_id($id);

            #[unsafe(no_mangle)]
            fn _embassy_trace_poll_start(executor: u32) {
                $crate::qs::embassy::poll(ID, executor);
            }
            #[unsafe(no_mangle)]
            fn _embassy_trace_task_new(_executor: u32, task: u32) {
                $crate::qs::embassy::task_new(ID, task);
            }
            #[unsafe(no_mangle)]
            fn _embassy_trace_task_end(_executor: u32, task: u32) {
                $crate::qs::embassy::task_end(ID, task);
            }
            #[unsafe(no_mangle)]
            fn _embassy_trace_task_exec_begin(_executor: u32, task: u32) {
                $crate::qs::embassy::task_begin(task);
            }
            #[unsafe(no_mangle)]
            fn _embassy_trace_task_exec_end(_executor: u32, task: u32) {
                $crate::qs::embassy::task_pause(ID, task);
            }
            #[unsafe(no_mangle)]
            fn _embassy_trace_task_ready_begin(_executor: u32, task: u32) {
                $crate::qs::embassy::task_ready(ID, task);
            }
            #[unsafe(no_mangle)]
            fn _embassy_trace_executor_idle(_executor: u32) {
                $crate::qs::embassy::idle();
            }
        };
    };
}

#[cfg(all(test, feature = "trace"))]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_ended_tasks_are_used_again() {
        let number = |task| change(task, |_| ());
        (0..TASKS as u32 + 1).for_each(|task| task_new(110, 0x2000_0000 + task));
        assert_eq!((number(0x2000_0000), number(0x2000_001F), number(0x2000_0020)), (1, 32, 0));
        task_end(110, 0x2000_0004);
        task_new(110, 0x2000_0020);
        assert_eq!((number(0x2000_0020), number(0x2000_0004)), (5, 0));
        task_begin(0x2000_0020);
        task_ready(110, 0x2000_0020);
        let step = || KNOWN.with(|known| known[4].step);
        assert!(step() == Some(Step::Running), "it wakes itself");
        task_pause(110, 0x2000_0020);
        assert!(step() == Some(Step::Ready), "its turn comes again");
        task_begin(0x2000_0020);
        task_pause(110, 0x2000_0020);
        assert!(step() == Some(Step::Waiting));
        (0..TASKS as u32 + 1).for_each(|task| task_end(110, 0x2000_0000 + task));
        assert_eq!(number(0x2000_0020), 0);
    }
}
