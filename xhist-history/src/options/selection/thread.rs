//! A thread of the command line, by name or number.

use super::glob::matches;
use crate::model::Ring;

/// The text between a thread and the number of an interrupt in the column of threads.
const INTERRUPT: &str = " interrupt ";

/// The threads that a user asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadPattern {
    text: String,
    /// A glob over the name of a thread.
    name: String,
    /// A glob over the number of an interrupt, its name, or both; without it, all of the thread.
    interrupt: Option<String>,
}

/// How well a pattern fits a thread, the best one last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// Its id.
    Id,
    /// The number of its ring.
    Ring,
    /// Its name.
    Name,
}

impl ThreadPattern {
    /// Reads a name, a glob over names, the number of a ring or the id of a thread.
    pub fn new(text: &str) -> ThreadPattern {
        let (name, interrupt) = match text.split_once(INTERRUPT) {
            Some((name, number)) => (name, Some(number.to_owned())),
            None => (text, None),
        };
        ThreadPattern { text: text.to_owned(), name: name.to_owned(), interrupt }
    }

    /// The pattern as the user wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How the pattern fits a thread; `None` if it does not.
    pub fn fits(&self, ring: &Ring) -> Option<Fit> {
        let number = self.name.parse::<u64>().ok();
        match number {
            _ if matches(&self.name, &ring.thread()) => Some(Fit::Name),
            Some(number) if number == ring.number as u64 => Some(Fit::Ring),
            Some(number) if ring.tid != 0 && number == u64::from(ring.tid) => Some(Fit::Id),
            _ => None,
        }
    }

    /// Whether code of this interrupt is asked for; 0 is the code that interrupts interrupt.
    pub fn takes(&self, ring: &Ring, interrupt: u16) -> bool {
        let Some(glob) = &self.interrupt else { return true };
        let number = interrupt.to_string();
        let name = ring.interrupts.name(interrupt).filter(|_| interrupt != 0);
        matches(glob, &number)
            || name.is_some_and(|name| matches(glob, name) || matches(glob, &format!("{number} {name}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::InterruptNames;

    #[test]
    fn a_thread_has_a_name_a_ring_and_an_id() {
        let ring = Ring { number: 2, tid: 77, thread_name: Some("worker#2".into()), ..Ring::default() };
        let fit = |text: &str| ThreadPattern::new(text).fits(&ring);
        assert_eq!(fit("worker#2"), Some(Fit::Name));
        assert_eq!(fit("work*"), Some(Fit::Name));
        assert_eq!((fit("2"), fit("77")), (Some(Fit::Ring), Some(Fit::Id)));
        assert_eq!((fit("worker"), fit("3"), fit("")), (None, None, None));
        let nameless = Ring { number: 3, tid: 2, ..Ring::default() };
        assert_eq!(ThreadPattern::new("2").fits(&nameless), Some(Fit::Name));
    }

    #[test]
    fn interrupts_of_a_core_are_asked_for_by_number_or_name() {
        let interrupts = InterruptNames::new([(15, "SysTick".to_owned())].into());
        let ring = Ring { number: 1, interrupts, ..Ring::default() };
        let takes = |text: &str, interrupt| {
            let pattern = ThreadPattern::new(text);
            pattern.fits(&ring).is_some() && pattern.takes(&ring, interrupt)
        };
        assert!(takes("ring-1", 0) && takes("ring-1", 15));
        assert!(takes("ring-1 interrupt 15", 15) && !takes("ring-1 interrupt 15", 0));
        assert!(takes("* interrupt SysTick", 15) && takes("ring-1 interrupt 15 SysTick", 15));
        assert!(!takes("* interrupt SysTick", 14) && !takes("* interrupt PendSV", 15));
        assert!(takes("* interrupt 0", 0) && !takes("ring-2 interrupt 0", 0));
    }
}
