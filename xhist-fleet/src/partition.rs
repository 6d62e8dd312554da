//! Names of partitions: builds and days.

/// Microseconds of a day.
const DAY: i64 = 24 * 60 * 60 * 1_000_000;
/// Longest value of a partition.
const LONGEST: usize = 100;

/// The value of a partition: a text that every engine reads from the name of a directory as it is.
pub fn partition_value(text: &str) -> String {
    let allowed = |char: char| char.is_ascii_alphanumeric() || matches!(char, '.' | '_' | '-' | '+');
    let value: String =
        text.chars().map(|char| if allowed(char) { char } else { '_' }).take(LONGEST).collect();
    if value.is_empty() { "unknown".to_owned() } else { value }
}

/// The day of a time in microseconds since 1970, as `2026-11-23`.
pub fn day(micros: i64) -> String {
    let days = micros.div_euclid(DAY);
    // Howard Hinnant's civil_from_days, with years that start in March.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = (year_of_era + era * 400 + i64::from(month <= 2)).clamp(0, 9999);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        let expected = [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_795_478_399, "2026-11-23"),
            (-1, "1969-12-31"),
        ];
        for (seconds, text) in expected {
            assert_eq!(day(seconds * 1_000_000), text);
        }
        assert_eq!(day(i64::MAX), "9999-01-10");
    }

    #[test]
    fn builds_become_names_of_directories() {
        assert_eq!(partition_value("1.4.2+g1a"), "1.4.2+g1a");
        assert_eq!(partition_value("../a=b/é"), ".._a_b__");
        assert_eq!(partition_value(""), "unknown");
    }
}
