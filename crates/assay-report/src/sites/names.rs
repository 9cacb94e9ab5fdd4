//! Names of functions for narrow columns.

/// What C++ calls a namespace without a name.
const ANONYMOUS: &str = "(anonymous namespace)";

/// What code without a name is called.
pub const NO_SYMBOL: &str = "(no symbol)";

/// A name for a narrow column: arguments and what is between angle brackets left out.
pub fn short(name: &str) -> String {
    let (mut short, mut depth, mut previous) = (String::new(), 0_usize, ' ');
    let chars: Vec<char> = name.chars().collect();
    let mut at = 0;
    while at < chars.len() {
        let c = chars[at];
        let rest: String = chars[at..].iter().take(ANONYMOUS.len()).collect();
        let is_operator = depth == 0 && short.ends_with("operator");
        if rest == ANONYMOUS {
            short.push_str(if depth == 0 { "(anon)" } else { "" });
            at += ANONYMOUS.len();
            continue;
        }
        if is_operator && rest.starts_with("()") {
            short.push_str("()");
            at += 2;
            continue;
        }
        match c {
            '<' | '>' if is_operator => short.push(c),
            // Rust: `<T as Trait>::f` keeps what it is about.
            '<' if depth == 0 && short.is_empty() => {}
            '>' if depth == 0 => {}
            '<' | '(' | '[' => depth += 1,
            '>' if previous == '-' => {}
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            _ if depth == 0 => short.push(c),
            _ => {}
        }
        previous = c;
        at += 1;
    }
    let short = short.replace("::::", "::");
    let short = short.trim().trim_end_matches(" const").trim_end_matches("::");
    if short.is_empty() { name.to_owned() } else { short.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_name_keeps_the_path() {
        let cases = [
            ("main", "main"),
            ("foo::bar(int)", "foo::bar"),
            ("foo::bar(int).cold", "foo::bar.cold"),
            ("std::vector<int, std::allocator<int> >::push_back(int&&)", "std::vector::push_back"),
            ("(anonymous namespace)::f(int)", "(anon)::f"),
            (
                "<alloc::string::String as core::fmt::Write>::write_str",
                "alloc::string::String as core::fmt::Write::write_str",
            ),
            ("a::operator<(b, c)", "a::operator<"),
            ("a::operator()(int) const", "a::operator()"),
            ("foo<bar>::baz() const", "foo::baz"),
            ("<>", "<>"),
        ];
        for (long, expected) in cases {
            assert_eq!(short(long), expected, "{long}");
        }
    }
}
