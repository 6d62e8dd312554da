//! Is the history right when a signal arrives at any instruction of an append, and its handler appends as well?
//!
//! The program stops at an instruction, gets the signal, runs to the end, and is put back to where it was: so each
//! instruction is tried in one run of the program.

use xhist_tests::{Build, Case, Moment, Need, Stop, Torture, Tracee, recorded, tail};

/// `SIGUSR1`, `SIGUSR2`, `SIGALRM`, `SIGURG`: few statements, more than a frame, a loop, many pages.
pub const SIGNALS: [i32; 4] = [10, 12, 14, 23];

pub const CASES: &[Case] = &[
    Case::needing("on_the_same_page", &[Need::Tracing], || interrupted("same_page")),
    Case::needing("while_a_page_is_turned", &[Need::Tracing], || interrupted("pages")),
    Case::needing("while_a_page_of_another_frame_comes", &[Need::Tracing], || interrupted("pages_again")),
    Case::needing("while_the_time_is_told", &[Need::Tracing], || interrupted("marked")),
    Case::needing("while_a_frame_ends", &[Need::Tracing], || interrupted("frame_end")),
    Case::needing("while_a_frame_is_folded", &[Need::Tracing], || interrupted("fold")),
    Case::needing("while_a_thread_gets_its_ring", &[Need::Tracing], first),
    Case::needing("by_a_handler_that_forks", &[Need::Tracing], || {
        ["same_page", "pages", "pages_again", "frame_end"].iter().for_each(|kind| forked(kind));
    }),
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
        let torture = Torture::new(build, &format!("stepped {kind}"), "16k", 3000);
        let mut tracee = Tracee::start(&mut torture.command());
        assert_eq!(tracee.run(0), Stop::Mark);
        Stopped { torture, tracee, what: format!("{kind} {build:?}") }
    }

    /// The history is all that began.
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
        assert_eq!(ring.header.dropped, 0, "{}", what());
        let may_lack = if moment == Moment::Done { 0 } else { 4 };
        assert!(left_out <= may_lack, "{}: {left_out} statements left out at the beginning", what());
    }

    /// Instructions from here to the second mark; it goes back to here.
    pub fn steps_to_the_end(&mut self) -> u32 {
        let here = self.tracee.snapshot();
        let steps = (0..).take_while(|_| self.tracee.step(0) == Stop::Step).count();
        self.tracee.restore(&here);
        steps as u32
    }

    /// On to the second mark, with a look when the handler is done and what it interrupted is not.
    pub fn finish(&mut self, signal: i32, place: &dyn Fn() -> String) {
        let mut stop = self.tracee.run_to_call(signal);
        if stop == Stop::Step {
            self.check(Moment::Anywhere, place);
            stop = self.tracee.run(0);
        }
        assert_eq!(stop, Stop::Mark, "{} {}", self.what, place());
        self.check(Moment::Done, place);
    }
}

/// A signal at every instruction.
fn interrupted(kind: &str) {
    // What is much longer there tells nothing new.
    let is_long = ["fold", "event", "marked"].contains(&kind);
    let is_short = ["same_page", "pages", "pages_again"].contains(&kind);
    for build in Build::ALL.into_iter().filter(|build| !is_long || *build == Build::Optimised) {
        let mut stopped = Stopped::new(kind, build);
        let mut steps = 0;
        loop {
            // Each handler at each instruction would take too long where there are many.
            let is_due = |index: usize| match build {
                Build::Optimised => is_short || steps % 4 == index,
                Build::Plain => steps % 397 == index,
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

/// A signal at random instructions of the first statement of threads: what the kernel did for one cannot be put back.
fn first() {
    let mut stopped = Stopped::new("first_of_threads", Build::Optimised);
    for round in 0..150 {
        let (place, signal) = (fastrand::u32(0..3000), SIGNALS[round % 4]);
        let is_before = (0..place).all(|_| stopped.tracee.step(0) == Stop::Step);
        let place = || format!("signal {signal} at {place}, thread {round}");
        if is_before {
            let mut stop = stopped.tracee.run(signal);
            // It waited until the ring was made.
            while let Stop::Signal(signal) = stop {
                stop = stopped.tracee.run(signal);
            }
            assert_eq!(stop, Stop::Mark, "{}", place());
        }
        stopped.check_thread(1, Moment::Done, &place);
        assert_eq!(stopped.tracee.run(0), Stop::Mark, "the next thread");
    }
}

/// `SIGHUP`, `SIGQUIT`: their handlers fork, and return in the child as well; with the second it records before.
fn forked(kind: &str) {
    const SIGCHLD: i32 = 17;
    for (build, every) in [(Build::Optimised, 7), (Build::Plain, 397)] {
        let mut stopped = Stopped::new(kind, build);
        for steps in 0.. {
            for signal in [1, 3].into_iter().filter(|signal| (steps + signal) % every == 0) {
                let here = stopped.tracee.snapshot();
                let what = || format!("{} signal {signal} at {steps}", stopped.what);
                let mut stop = stopped.tracee.run(signal);
                while stop == Stop::Signal(SIGCHLD) {
                    stop = stopped.tracee.run(0);
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
