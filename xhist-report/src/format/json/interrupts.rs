//! The interrupt that something ran in, as JSON.

use serde::Serialize;

use xhist_history::model::Ring;

/// Its number; its name and priority where the program has them.
#[derive(Clone, Debug, Serialize)]
pub(super) struct JsonInterrupt {
    interrupt: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    interrupt_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interrupt_priority: Option<u8>,
}

impl JsonInterrupt {
    /// `None` for the code outside interrupts.
    pub(super) fn of(ring: &Ring, interrupt: u16) -> Option<JsonInterrupt> {
        let interrupt_name = ring.interrupts.name(interrupt).map(str::to_owned);
        let interrupt_priority = ring.interrupts.priority(interrupt);
        (interrupt != 0).then_some(JsonInterrupt { interrupt, interrupt_name, interrupt_priority })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xhist_history::model::InterruptNames;

    #[test]
    fn an_interrupt_has_its_number_and_the_name_and_priority_that_are_known() {
        let names = [(15, "SysTick".to_owned()), (17, "UART0".to_owned())];
        let priorities = [("UART0".to_owned(), 3)];
        let interrupts = InterruptNames::with_priorities(names.into(), priorities.into());
        let ring = Ring { interrupts, ..Ring::default() };
        let json = |number| serde_json::to_string(&JsonInterrupt::of(&ring, number)).expect("JSON");
        assert_eq!(json(15), r#"{"interrupt":15,"interrupt_name":"SysTick"}"#);
        assert_eq!(json(17), r#"{"interrupt":17,"interrupt_name":"UART0","interrupt_priority":3}"#);
        assert_eq!(json(16), r#"{"interrupt":16}"#);
        assert_eq!(json(0), "null");
    }
}
