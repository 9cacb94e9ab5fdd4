//! Fields of CSV (RFC 4180). Every table ends its lines with [`END`].

/// How a line ends.
pub const END: &str = "\r\n";

/// A text that no spreadsheet takes for a formula, or for two fields. Numbers need none of it.
pub fn field(text: &str) -> String {
    let text =
        if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\r', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn a_field_is_one_field_and_no_formula() {
        assert_eq!(field("a b"), "a b");
        assert_eq!(field("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(field("=1+2"), "'=1+2");
        assert_eq!(field("-O2,x"), "\"'-O2,x\"");
    }
}
