//! Formulas of spectrum-based fault localization: how suspicious a statement is, from the numbers of tests that ran it.

use std::fmt;
use std::str::FromStr;

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

/// A formula.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Formula {
    /// e_f / sqrt(F (e_f + e_p)).
    #[default]
    Ochiai,
    /// (e_f / F) / (e_f / F + e_p / P).
    Tarantula,
    /// e_f² / (e_p + n_f).
    DStar,
    /// 1 - e_p / (e_p + e_f).
    Barinel,
    /// e_f - e_p / (P + 1), also called Naish2.
    Op2,
    /// e_f / (F + e_p).
    Jaccard,
}

/// A row of the table of formulas.
pub struct FormulaRow {
    /// The formula.
    pub formula: Formula,
    /// Its name on the command line.
    pub name: &'static str,
    /// Its other name.
    pub alias: Option<&'static str>,
}

/// All formulas.
pub const FORMULAS: [FormulaRow; 6] = [
    FormulaRow { formula: Formula::Ochiai, name: "ochiai", alias: None },
    FormulaRow { formula: Formula::Tarantula, name: "tarantula", alias: None },
    FormulaRow { formula: Formula::DStar, name: "dstar", alias: None },
    FormulaRow { formula: Formula::Barinel, name: "barinel", alias: None },
    FormulaRow { formula: Formula::Op2, name: "op2", alias: Some("naish2") },
    FormulaRow { formula: Formula::Jaccard, name: "jaccard", alias: None },
];

impl Formula {
    /// How suspicious a statement is. A statement that no failed test ran has the least value.
    pub fn value(self, counts: Counts, totals: TestTotals) -> f64 {
        let [failed, passed] = [counts.failed, counts.passed].map(f64::from);
        let [all_failed, all_passed] = [totals.failed, totals.passed].map(f64::from);
        if self == Formula::Op2 {
            return failed - passed / (all_passed + 1.0);
        }
        if counts.failed == 0 {
            return 0.0;
        }
        match self {
            Formula::Ochiai => failed / (all_failed * (failed + passed)).sqrt(),
            Formula::Tarantula => {
                let (of_failed, of_passed) = (failed / all_failed, ratio(passed, all_passed));
                of_failed / (of_failed + of_passed)
            }
            Formula::DStar => match passed + (all_failed - failed) {
                0.0 => f64::INFINITY,
                others => failed * failed / others,
            },
            Formula::Barinel => 1.0 - passed / (passed + failed),
            Formula::Jaccard => failed / (all_failed + passed),
            Formula::Op2 => unreachable!("it is above"),
        }
    }

    /// The value on a scale from 0 to 1, in the same order.
    pub fn scaled(self, value: f64, totals: TestTotals) -> f64 {
        match self {
            Formula::DStar if value.is_infinite() => 1.0,
            Formula::DStar => value / (1.0 + value),
            Formula::Op2 => ((value + 1.0) / (f64::from(totals.failed) + 1.0)).clamp(0.0, 1.0),
            _ => value,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        FORMULAS.iter().find(|row| row.formula == self).map_or("", |row| row.name)
    }
}

/// A part of a whole; 0 of nothing.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}

/// No formula has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFormula(String);

impl fmt::Display for UnknownFormula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> =
            FORMULAS.iter().flat_map(|row| [Some(row.name), row.alias]).flatten().collect();
        write!(f, "`{}` is not a formula; there are {}", self.0, names.join(", "))
    }
}

impl std::error::Error for UnknownFormula {}

impl FromStr for Formula {
    type Err = UnknownFormula;

    fn from_str(text: &str) -> Result<Formula, UnknownFormula> {
        let is_it = |row: &&FormulaRow| row.name == text || row.alias == Some(text);
        FORMULAS.iter().find(is_it).map(|row| row.formula).ok_or_else(|| UnknownFormula(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TOTALS: TestTotals = TestTotals { failed: 4, passed: 6 };

    fn values(failed: u32, passed: u32) -> [f64; 6] {
        FORMULAS.map(|row| row.formula.value(Counts { failed, passed }, TOTALS))
    }

    /// The definitions of flitsr 3.0.0 (Barinel: the usual one), with e_f = 3, e_p = 1, F = 4, P = 6.
    #[test]
    fn values_are_those_of_the_definitions() {
        let expected = [0.75, 0.75 / (0.75 + 1.0 / 6.0), 4.5, 0.75, 3.0 - 1.0 / 7.0, 0.6];
        for (value, expected) in values(3, 1).iter().zip(expected) {
            assert!((value - expected).abs() < 1e-12, "{value} and not {expected}");
        }
    }

    #[test]
    fn a_statement_that_no_failed_test_ran_is_the_least_suspicious() {
        assert_eq!(values(0, 3), [0.0, 0.0, 0.0, 0.0, -3.0 / 7.0, 0.0]);
        assert_eq!(values(0, 0), [0.0; 6]);
        assert_eq!(values(4, 0), [1.0, 1.0, f64::INFINITY, 1.0, 4.0, 1.0]);
    }

    #[test]
    fn names_are_those_of_the_table() {
        assert_eq!(("naish2".parse(), "op2".parse()), (Ok(Formula::Op2), Ok(Formula::Op2)));
        assert!("ochia".parse::<Formula>().unwrap_err().to_string().contains("jaccard"));
    }

    proptest! {
        /// With one failed test, all formulas rank by the passed tests alone.
        #[test]
        fn with_one_failed_test_all_formulas_rank_alike(passed in 1u32..40, one in 0u32..40, other in 0u32..40) {
            let totals = TestTotals { failed: 1, passed };
            let [one, other] = [one.min(passed), other.min(passed)].map(|passed| Counts { failed: 1, passed });
            let fewer = other.passed.cmp(&one.passed);
            for row in FORMULAS {
                let [one, other] = [one, other].map(|counts| row.formula.value(counts, totals));
                prop_assert_eq!(one.total_cmp(&other), fewer, "{}", row.name);
            }
        }

        #[test]
        fn more_copies_of_the_passed_tests_keep_the_order_of_tarantula(
            copies in 2u32..5, passed in 1u32..20, a in (0u32..5, 0u32..20), b in (0u32..5, 0u32..20),
        ) {
            let order = |copies: u32| {
                let totals = TestTotals { failed: 4, passed: passed * copies };
                let value = |(failed, ran): (u32, u32)| {
                    let counts = Counts { failed: failed.min(4), passed: ran.min(passed) * copies };
                    Formula::Tarantula.value(counts, totals)
                };
                let (a, b) = (value(a), value(b));
                if (a - b).abs() < 1e-12 { std::cmp::Ordering::Equal } else { a.total_cmp(&b) }
            };
            prop_assert_eq!(order(1), order(copies));
        }

        #[test]
        fn scaled_values_are_from_0_to_1_in_the_same_order(
            a in (0u32..=4, 0u32..=6), b in (0u32..=4, 0u32..=6),
        ) {
            for row in FORMULAS {
                let [one, other] = [a, b].map(|(failed, passed)| {
                    row.formula.value(Counts { failed, passed }, TOTALS)
                });
                let [low, high] = [one, other].map(|value| row.formula.scaled(value, TOTALS));
                prop_assert!((0.0..=1.0).contains(&low));
                prop_assert!(one.total_cmp(&other).is_eq() || low.total_cmp(&high) == one.total_cmp(&other));
            }
        }
    }
}
