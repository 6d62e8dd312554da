//! Tests on the target: each starts it again.

#![no_std]
#![no_main]
#![expect(unexpected_cfgs, reason = "the attribute of the tests asks for rust_analyzer")]

use cortex_m as _;
use cortex_m_rt as _;

#[embedded_test::tests]
mod tests {
    use firmware_tests::Thermostat;

    #[test]
    fn averages() {
        let mut thermostat = Thermostat::new();
        for reading in [10, 20, 30, 40] {
            thermostat.take(reading);
        }
        assert_eq!(thermostat.average(), 25);
    }

    #[test]
    fn forgets_old_readings() {
        let mut thermostat = Thermostat::new();
        for reading in 0..8 {
            thermostat.take(reading);
        }
        assert_eq!(thermostat.average(), 5);
    }

    #[test]
    #[timeout(5)]
    fn cools_down() {
        let mut thermostat = Thermostat::new();
        thermostat.take(80);
        thermostat.wait_until_below(10);
    }

    #[test]
    #[timeout(5)]
    fn reads_the_sensor() {
        let mut thermostat = Thermostat::new();
        // Nothing is at this address: a hard fault.
        thermostat.take_from(0x6000_0001);
    }

    #[test]
    #[should_panic]
    fn needs_a_limit() {
        let limit: Option<i32> = None;
        Thermostat::new().wait_until_below(limit.unwrap());
    }

    #[test]
    fn starts_cold() -> Result<(), &'static str> {
        let thermostat = Thermostat::new();
        match thermostat.average() {
            0 => Err("no reading yet"),
            _ => Ok(()),
        }
    }
}
