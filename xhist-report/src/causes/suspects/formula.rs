//! Ochiai's formula of spectrum-based fault localization (Abreu, Zoeteweij and van Gemund, 2006): how suspicious a statement is,
//! from the numbers of tests that ran it.

/// In how many tests a statement ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Failed tests that ran it.
    pub failed: u32,
    /// Passed tests that ran it.
    pub passed: u32,
}

/// The numbers of all tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TestTotals {
    /// Tests that failed.
    pub failed: u32,
    /// Tests that passed.
    pub passed: u32,
}

/// Its name.
pub const NAME: &str = "ochiai";

/// How suspicious a statement is, from 0 to 1: e_f / sqrt(F (e_f + e_p)), where F tests failed and e_f failed and e_p passed tests
/// ran it. A statement that no failed test ran has 0.
pub fn ochiai(counts: Counts, totals: TestTotals) -> f64 {
    if counts.failed == 0 {
        return 0.0;
    }
    let [failed, passed, all] = [counts.failed, counts.passed, totals.failed].map(f64::from);
    failed / (all * (failed + passed)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TOTALS: TestTotals = TestTotals { failed: 4, passed: 6 };

    fn value(failed: u32, passed: u32) -> f64 {
        ochiai(Counts { failed, passed }, TOTALS)
    }

    #[test]
    fn values_are_those_of_the_definition() {
        // e_f = 3, e_p = 1, F = 4.
        assert!((value(3, 1) - 0.75).abs() < 1e-12);
        assert_eq!([value(0, 3), value(0, 0), value(4, 0)], [0.0, 0.0, 1.0]);
    }

    proptest! {
        #[test]
        fn it_grows_with_failed_tests_and_falls_with_passed_ones(failed in 0u32..4, passed in 0u32..6) {
            prop_assert!((0.0..=1.0).contains(&value(failed, passed)));
            prop_assert!(value(failed + 1, passed) > value(failed, passed));
            prop_assert!(failed == 0 || value(failed, passed + 1) < value(failed, passed));
        }
    }
}
