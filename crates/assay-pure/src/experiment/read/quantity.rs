//! Numbers as people write them: "1 %", "2 min", "0xffff".

/// "12 %", "12%", "0.12" as a fraction (0.12); `None` if it is none of these or not finite.
pub(super) fn fraction(text: &str) -> Option<f64> {
    match text.trim().strip_suffix('%') {
        // Division, not multiplication by 0.01: "1 %" must be the same number as 0.01.
        Some(percent) => number(percent).map(|percent| percent / 100.0),
        None => number(text),
    }
}

/// "60 s", "2 min", "500 ms", "1.5 h" in seconds; `None` without a unit or with another.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic())?;
    let amount = number(&text[..split])?;
    match &text[split..] {
        "ms" => Some(amount / 1000.0),
        "s" => Some(amount),
        "min" => Some(amount * 60.0),
        "h" => Some(amount * 3600.0),
        _ => None,
    }
}

/// "64 MB", "64 MiB", "512 KiB" in bytes; `None` without a unit or with another.
pub(super) fn bytes(text: &str) -> Option<f64> {
    amount(text.trim().strip_suffix('B')?.trim_end().replace('K', "k").replace("ki", "Ki").as_str())
}

/// "4096", "4k", "1.5 M", "64 Ki", "31 %" as a number; `None` with any other ending.
pub(crate) fn amount(text: &str) -> Option<f64> {
    let text = text.trim().replace('_', "");
    let split = text.find(|c: char| c == '%' || c.is_ascii_alphabetic() && c != 'e').unwrap_or(text.len());
    let amount = number(&text[..split])?;
    let amount = match &text[split..] {
        "" => amount,
        "%" => amount / 100.0,
        "k" => amount * 1e3,
        "M" => amount * 1e6,
        "G" => amount * 1e9,
        "Ki" => amount * 1024.0,
        "Mi" => amount * 1_048_576.0,
        "Gi" => amount * 1_073_741_824.0,
        _ => return None,
    };
    amount.is_finite().then_some(amount)
}

/// A whole number of 64 bits, decimal or hexadecimal, `_` between digits as in TOML.
pub(super) fn whole(text: &str) -> Option<u64> {
    let digits = text.trim().replace('_', "");
    match digits.strip_prefix("0x") {
        // `from_str_radix` would take a sign.
        Some(hex) if hex.starts_with(|c: char| c.is_ascii_hexdigit()) => u64::from_str_radix(hex, 16).ok(),
        Some(_) => None,
        None if digits.starts_with(|c: char| c.is_ascii_digit()) => digits.parse().ok(),
        None => None,
    }
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_fractions_and_per_cents() {
        assert_eq!(fraction("1 %"), Some(0.01));
        assert_eq!(fraction("95%"), Some(0.95));
        assert_eq!(fraction(" 0.5 "), Some(0.5));
        assert_eq!(fraction("-47 %"), Some(-0.47));
        for wrong in ["", "%", "one %", "1 % of it", "inf", "nan %"] {
            assert_eq!(fraction(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn reads_times_with_their_unit() {
        assert_eq!(seconds("60 s"), Some(60.0));
        assert_eq!(seconds("2min"), Some(120.0));
        assert_eq!(seconds("500 ms"), Some(0.5));
        assert_eq!(seconds("1.5 h"), Some(5400.0));
        for wrong in ["60", "s", "60 parsecs", "1 m", "2 min 3 s"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn reads_amounts_with_their_prefix() {
        assert_eq!(amount("4096"), Some(4096.0));
        assert_eq!(amount("1.5k"), Some(1500.0));
        assert_eq!(amount("2 M"), Some(2e6));
        assert_eq!(amount("3G"), Some(3e9));
        assert_eq!(amount("64 Ki"), Some(65_536.0));
        assert_eq!(amount("2Mi"), Some(2_097_152.0));
        assert_eq!(amount("1 Gi"), Some(1_073_741_824.0));
        assert_eq!(amount("31 %"), Some(0.31));
        assert_eq!(amount("1_000"), Some(1000.0));
        assert_eq!(amount("1e3"), Some(1000.0));
        for wrong in ["", "k", "4 parsecs", "1 K", "1 %%", "inf"] {
            assert_eq!(amount(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn reads_whole_numbers_of_64_bits() {
        assert_eq!(whole("18446744073709551615"), Some(u64::MAX));
        assert_eq!(whole("0xffff_ffff"), Some(u64::from(u32::MAX)));
        for wrong in ["18446744073709551616", "-1", "+1", "0x", "0x+1", "1.5", ""] {
            assert_eq!(whole(wrong), None, "{wrong}");
        }
    }
}
