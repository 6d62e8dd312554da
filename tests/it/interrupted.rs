//! Is the history right when a signal arrives at any instruction of an append, and its handler appends as well?
//!
//! The program stops at an instruction, gets the signal, runs to the end, and is put back to where it was: so each
//! instruction is tried in one run of the program.

use xhist_tests::{Build, Case, Moment, Need, Stop, Torture, Tracee, is_long, recorded, tail};

/// `SIGUSR1`, `SIGUSR2`, `SIGALRM`, `SIGURG`: few statements, many, a loop, some again and again.
pub const SIGNALS: [i32; 4] = [10, 12, 14, 23];

pub const CASES: &[Case] = &[
    Case::needing("in_statements", &[Need::Tracing], || interrupted("statement")),
    Case::needing("in_statements_with_numbers_known_later", &[Need::Tracing], || interrupted("straight")),
    Case::needing("while_a_stamp_is_taken", &[Need::Tracing], || interrupted("stamp")),
    Case::needing("while_the_turn_is_taken", &[Need::Tracing], || interrupted("turn")),
    Case::needing("while_a_chunk_is_cut_before_its_loop", &[Need::Tracing], || interrupted("restructure")),
    Case::needing("while_a_chunk_is_folded", &[Need::Tracing], || interrupted("fold")),
    Case::needing("while_a_thread_gets_its_ring", &[Need::Tracing], first),
    Case::needing("by_a_handler_that_forks", &[Need::Tracing], || {
        ["straight", "statement", "turn", "record"].iter().for_each(|kind| forked(kind));
    }),
    Case::needing("while_a_record_is_written", &[Need::Tracing], || interrupted("record")),
    Case::needing("while_an_event_is_recorded", &[Need::Tracing], || interrupted("event")),
];

/// One run of the program, stopped at the first mark.
pub struct Stopped {
    pub torture: Torture,
    pub tracee: Tracee,
    what: String,
}

impl Stopped {
    pub fn new(kind: &str, build: Build) -> Stopped {
        let torture = Torture::new(build, &format!("interrupted {kind}"), "16k", 8000);
        let mut tracee = Tracee::start(&mut torture.command());
        let mut stop = tracee.run(0);
        // It sends signals to itself, because later no memory may be mapped.
        while let Stop::Signal(signal) = stop {
            stop = tracee.run(signal);
        }
        assert_eq!(stop, Stop::Mark);
        Stopped { torture, tracee, what: format!("{kind} {build:?}") }
    }

    /// Checks that the history has all statements that began.
    pub fn check(&self, moment: Moment, place: &dyn Fn() -> String) {
        self.check_thread(0, moment, place);
    }

    fn check_thread(&self, thread: usize, moment: Moment, place: &dyn Fn() -> String) {
        let rings = self.torture.recorded();
        let log = self.torture.reference(thread);
        let ring = rings.iter().find(|ring| ring.header.tid == log.thread).expect("a ring");
        let what = || format!("{} {}", self.what, place());
        if !ring.wrong.is_empty() {
            ring.whole(&what());
        }
        let left_out = log.agree(&ring.statements, moment, 0).unwrap_or_else(|why| {
            panic!("{}: {why}; the ring ends in {:?}", what(), tail(&ring.statements));
        });
        // The first ring counts the statements that are in no ring.
        let dropped: u32 = rings.iter().map(|ring| ring.header.dropped).sum();
        assert_eq!(dropped, 0, "{}", what());
        let may_lack = if moment == Moment::Done { 0 } else { 4 };
        assert!(left_out <= may_lack, "{}: {left_out} statements left out at the beginning", what());
    }

    /// Counts the instructions up to the second mark, and goes back.
    pub fn steps_to_the_end(&mut self) -> u32 {
        let here = self.tracee.snapshot();
        let steps = (0..).take_while(|_| self.tracee.step(0) == Stop::Step).count();
        self.tracee.restore(&here);
        steps as u32
    }

    /// One instruction, perhaps of a handler whose signal has waited.
    pub fn step(&mut self, signal: i32) -> Stop {
        let mut stop = self.tracee.step(signal);
        while let Stop::Signal(signal) = stop {
            stop = self.tracee.step(signal);
        }
        stop
    }

    /// Runs to the second mark. Checks once before: when the handler is done and the interrupted code is not.
    pub fn finish(&mut self, signal: i32, place: &dyn Fn() -> String) {
        let mut stop = self.tracee.run_to_return(signal);
        if stop == Stop::Step {
            self.check(Moment::Anywhere, place);
            stop = self.tracee.run(0);
        }
        // The signal waited.
        while let Stop::Signal(signal) = stop {
            stop = self.tracee.run(signal);
        }
        assert_eq!(stop, Stop::Mark, "{} {}", self.what, place());
        self.check(Moment::Done, place);
    }
}

/// A signal at every instruction.
fn interrupted(kind: &str) {
    // In these kinds the plain build has many more instructions, which show nothing new.
    let is_slow = ["turn", "restructure", "fold", "event", "stamp"].contains(&kind);
    let is_short = ["straight", "statement"].contains(&kind);
    for build in Build::ALL.into_iter().filter(|build| !is_slow || *build == Build::Optimised) {
        let mut stopped = Stopped::new(kind, build);
        let mut steps = 0;
        loop {
            // Each handler at each instruction would take too long where there are many. Usually each instruction of the
            // short kinds gets one of the signals, and one of twelve of the long kinds.
            let is_due = |index: usize| match (build, is_long()) {
                (Build::Plain, _) => steps % 397 == index,
                (_, true) => is_short || steps % 4 == index,
                (_, false) if is_short => steps % 4 == index,
                (_, false) => steps % 48 == 12 * index,
            };
            for (index, signal) in SIGNALS.into_iter().enumerate().filter(|(index, _)| is_due(*index)) {
                let here = stopped.tracee.snapshot();
                stopped.finish(signal, &|| format!("signal {signal} at {steps} ({index})"));
                stopped.tracee.restore(&here);
            }
            if stopped.tracee.step(0) != Stop::Step {
                break;
            }
            steps += 1;
        }
        stopped.check(Moment::Done, &|| "at the end".into());
        assert!(steps > 50);
    }
}

/// A signal at the first instructions of a thread's first statement, a thread for each, and at random ones behind them: what
/// the kernel did for one thread cannot be put back.
fn first() {
    let mut stopped = Stopped::new("first_of_threads", Build::Optimised);
    for round in 0..if is_long() { 200 } else { 100 } {
        let place = if round < 60 { round } else { fastrand::u32(60..3000) };
        let signal = SIGNALS[round as usize % 4];
        let is_before = (0..place).all(|_| stopped.tracee.step(0) == Stop::Step);
        let place = || format!("signal {signal} at {place}, thread {round}");
        if is_before {
            let mut stop = stopped.tracee.run(signal);
            // The signal waited until the ring was made.
            while let Stop::Signal(signal) = stop {
                stop = stopped.tracee.run(signal);
            }
            assert_eq!(stop, Stop::Mark, "{}", place());
        }
        stopped.check_thread(1, Moment::Done, &place);
        assert_eq!(stopped.tracee.run(0), Stop::Mark, "the next thread");
    }
}

/// `SIGHUP`, `SIGQUIT`, `SIGVTALRM`: their handlers fork, and return in the child as well; with the second it records before,
/// with the third another handler in it has forked.
fn forked(kind: &str) {
    const SIGCHLD: i32 = 17;
    let optimised = (Build::Optimised, if is_long() { 7 } else { 211 });
    // As above: without optimisation a turn has many more instructions.
    let plain = (is_long() || kind != "turn").then_some((Build::Plain, if is_long() { 397 } else { 3203 }));
    for (build, every) in [optimised].into_iter().chain(plain) {
        let mut stopped = Stopped::new(kind, build);
        for steps in 0.. {
            for signal in [1, 3, 26].into_iter().filter(|signal| (steps + signal) % every == 0) {
                let here = stopped.tracee.snapshot();
                let what = || format!("{} signal {signal} at {steps}", stopped.what);
                let mut stop = stopped.tracee.run(signal);
                while let Stop::Signal(signal) = stop {
                    stop = stopped.tracee.run(if signal == SIGCHLD { 0 } else { signal });
                }
                assert_eq!(stop, Stop::Mark, "{}", what());
                check_child(&stopped.torture, &what);
                stopped.tracee.restore(&here);
            }
            if stopped.tracee.step(0) != Stop::Step {
                break;
            }
        }
        stopped.check(Moment::Done, &|| "at the end".into());
    }
}

/// All that the child began is in its ring, and at most the statement that began before it.
fn check_child(torture: &Torture, what: &dyn Fn() -> String) {
    let log = torture.reference(1);
    let file = torture.tree.join(&format!("ring.xhist.{}", log.thread));
    let rings = recorded(&std::fs::read(&file).expect("the child's rings"));
    std::fs::remove_file(file).expect("it is there");
    let mut begun = log.statements().peekable();
    let recorded: Vec<_> = rings.iter().flat_map(|ring| ring.whole(&what()).statements.clone()).collect();
    let others = recorded.iter().filter(|statement| begun.next_if_eq(statement).is_none()).count();
    assert!(begun.next().is_none() && others <= 1, "{}: {:?}", what(), tail(&recorded));
}
