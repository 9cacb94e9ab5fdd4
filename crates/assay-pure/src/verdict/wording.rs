//! Numbers as they are said in reasons.

use super::contrast::RatioInterval;

/// A log ratio as a signed percentage: "+8.9 %", "-0.42 %".
pub(super) fn percent(log_ratio: f64) -> String {
    let percent = 100.0 * log_ratio.exp_m1();
    if percent.abs() < 1.0 { format!("{percent:+.2} %") } else { format!("{percent:+.1} %") }
}

/// A log ratio as a comparison of times: "8.9 % more time", "0.42 % less time".
pub(super) fn more_or_less(log_ratio: f64) -> String {
    let word = if log_ratio < 0.0 { "less" } else { "more" };
    format!("{} {word} time", percent(log_ratio).trim_start_matches(['+', '-']))
}

/// A fraction as an unsigned percentage: "1 %", "0.25 %".
pub(super) fn fraction(value: f64) -> String {
    let percent = (1e6 * value).round() / 1e4;
    if percent >= 10.0 { format!("{percent:.0} %") } else { format!("{} %", (1e2 * percent).round() / 1e2) }
}

/// An interval of ratios as percentages: "+8.4 % to +9.4 %".
pub(super) fn span(interval: &RatioInterval) -> String {
    let ends = interval.log_interval();
    format!("{} to {}", percent(ends.lower), percent(ends.upper))
}

/// A confidence as a percentage with as many nines as it has: "95 %", "99.979 %".
pub(super) fn confidence(level: f64) -> String {
    let digits = if level >= 0.9999 {
        4
    } else if level >= 0.99 {
        2
    } else {
        1
    };
    let text = format!("{:.digits$}", 100.0 * level);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Names as a list: "a", "a and b", "a, b and c".
pub(super) fn list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_said_plainly() {
        assert_eq!(percent(1.089f64.ln()), "+8.9 %");
        assert_eq!(percent(0.9958f64.ln()), "-0.42 %");
        assert_eq!(more_or_less(1.089f64.ln()), "8.9 % more time");
        assert_eq!(more_or_less(0.9958f64.ln()), "0.42 % less time");
        assert_eq!(fraction(0.01), "1 %");
        assert_eq!(fraction(0.0025), "0.25 %");
        assert_eq!(fraction(0.6666), "67 %");
        assert_eq!(confidence(0.95), "95 %");
        assert_eq!(confidence(0.9998), "99.98 %");
        assert_eq!(confidence(0.99998), "99.998 %");
        assert_eq!(span(&RatioInterval { ratio: 1.0, lower: 0.99, upper: 1.02 }), "-1.0 % to +2.0 %");
        let names: Vec<String> = ["a", "b", "c"].map(String::from).to_vec();
        assert_eq!(list(&names), "a, b and c");
        assert_eq!(list(&names[..2]), "a and b");
        assert_eq!(list(&names[..1]), "a");
    }
}
