//! The calls of a CMake script, with their words.
//!
//! Source: cmake-language(7). Limits: nothing is expanded; brackets of several lines are one word.

/// One call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// In lower case.
    pub(super) name: String,
    /// Its arguments without quotes; parentheses among them are words.
    pub(super) words: Vec<String>,
}

/// All calls, in order.
pub(super) fn calls(text: &str) -> Vec<Call> {
    let mut found = Vec::new();
    let mut rest = text;
    let (mut word, mut depth) = (String::new(), 0_u32);
    while let Some(symbol) = rest.chars().next() {
        let after = &rest[symbol.len_utf8()..];
        match symbol {
            '#' => rest = behind_comment(after),
            '"' if depth > 0 => {
                let (quoted, behind) = string(after);
                put(&mut found, quoted);
                rest = behind;
            }
            '[' if depth > 0 && word.is_empty() && bracket(rest).is_some() => {
                let (inside, behind) = bracket(rest).expect("just found");
                put(&mut found, inside.to_owned());
                rest = behind;
            }
            '(' => {
                let name = std::mem::take(&mut word).trim().to_lowercase();
                if depth == 0 {
                    found.push(Call { name, words: Vec::new() });
                } else {
                    put(&mut found, "(".to_owned());
                }
                depth += 1;
                rest = after;
            }
            ')' => {
                end_word(&mut found, &mut word, depth);
                depth = depth.saturating_sub(1);
                if depth > 0 {
                    put(&mut found, ")".to_owned());
                }
                rest = after;
            }
            symbol if symbol.is_whitespace() || symbol == ';' => {
                // A name may stand before its parenthesis with a space.
                if depth > 0 || symbol == '\n' {
                    end_word(&mut found, &mut word, depth);
                }
                rest = after;
            }
            symbol => {
                word.push(symbol);
                rest = after;
            }
        }
    }
    found
}

fn put(found: &mut [Call], word: String) {
    if let Some(call) = found.last_mut() {
        call.words.push(word);
    }
}

fn end_word(found: &mut [Call], word: &mut String, depth: u32) {
    let word = std::mem::take(word);
    if depth > 0 && !word.is_empty() {
        put(found, word);
    }
}

/// What follows a comment, of one line or in brackets.
fn behind_comment(rest: &str) -> &str {
    bracket(rest).map_or_else(|| rest.find('\n').map_or("", |end| &rest[end..]), |(_, behind)| behind)
}

/// `[==[ text ]==]` at the start: the text, and what follows.
fn bracket(rest: &str) -> Option<(&str, &str)> {
    let inner = rest.strip_prefix('[')?;
    let equals = inner.bytes().take_while(|byte| *byte == b'=').count();
    let inside = inner[equals..].strip_prefix('[')?;
    let end = format!("]{}]", "=".repeat(equals));
    inside.split_once(&end)
}

/// A quoted word behind its first quote, and what follows.
fn string(rest: &str) -> (String, &str) {
    let mut text = String::new();
    let mut symbols = rest.char_indices();
    while let Some((at, symbol)) = symbols.next() {
        match symbol {
            '"' => return (text, &rest[at + 1..]),
            '\\' => text.extend(symbols.next().map(|(_, escaped)| escaped)),
            _ => text.push(symbol),
        }
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_their_words() {
        let text = "# add(not this)\nAdd_Executable (a b.cpp # sources (two)\n  \"c d.cpp\")\n#[[ if(x)\n]] if((A) AND B)\n\
                    message([=[ x]] ]=] \"a \\\" b\")endif()\n";
        let call = |name: &str, words: &[&str]| Call {
            name: name.into(),
            words: words.iter().map(|word| (*word).to_owned()).collect(),
        };
        let expected = [
            call("add_executable", &["a", "b.cpp", "c d.cpp"]),
            call("if", &["(", "A", ")", "AND", "B"]),
            call("message", &[" x]] ", "a \" b"]),
            call("endif", &[]),
        ];
        assert_eq!(calls(text), expected);
        assert_eq!(calls("a(\"b"), [call("a", &["b"])]);
        assert_eq!(calls(") \u{e9} (x)"), [call("\u{e9}", &["x"])]);
    }
}
