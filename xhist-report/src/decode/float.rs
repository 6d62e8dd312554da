//! Numbers in the exponent form of C's `%e`. It must not know records.

/// `value` with so many digits behind the point, right-justified as QSPY does.
pub fn exponent(value: f64, negative: bool, digits: usize) -> String {
    let width = if digits == 0 { 7 } else { 8 + digits };
    let sign = if negative { "-" } else { "" };
    let text = if value.is_nan() {
        format!("{sign}nan")
    } else if value.is_infinite() {
        format!("{sign}inf")
    } else {
        let text = format!("{value:.digits$e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) = match exponent.strip_prefix('-') {
            Some(exponent) => ('-', exponent),
            None => ('+', exponent),
        };
        format!("{mantissa}e{sign}{exponent:0>2}")
    };
    format!("{text:>width$}")
}
