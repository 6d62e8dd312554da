//! The program's logger: records all events in the ring. The first fatal one freezes the ring.

use xhist_rt::trace::{self, Class, Event};

pub fn log(event: &Event<'_>) {
    trace::to_ring(event);
    if let Class::Exception { severity, .. } = event.class
        && severity.level() == 3
    {
        // The ring keeps the events before the fault, even if the program continues.
        xhist_rt::stop();
    }
}
