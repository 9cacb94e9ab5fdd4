//! Assembly cut into statements: at ends of lines and semicolons, outside of strings and comments.

/// One statement, comments taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement<'a> {
    /// Its line, from 1.
    pub line: usize,
    /// Its text.
    pub text: &'a str,
}

/// Prefixes of instructions.
const PREFIXES: &[&str] = &[
    "rep", "repe", "repz", "repne", "repnz", "lock", "notrack", "bnd", "data16", "data32", "addr32", "rex64",
    "rex.w", "cs", "ds", "es", "ss", "fs", "gs", "xacquire", "xrelease",
];

/// Repetitions that are written out.
const MOST: usize = 10_000;

/// The statements of a text. A comment of several lines is a blank.
pub fn statements(text: &str) -> Vec<Statement<'_>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut line, mut from, mut at) = (1, 0, 0);
    // Where the statement ended, if a comment ended it: the rest of its line is skipped.
    let mut ended: Option<usize> = None;
    let mut quoted = false;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quoted => at += 1,
            b'"' if ended.is_none() => quoted = !quoted,
            b'\n' | b';' if bytes[at] == b'\n' || (!quoted && ended.is_none()) => {
                push(&mut found, line, &text[from..ended.take().unwrap_or(at)]);
                line += usize::from(bytes[at] == b'\n');
                from = at + 1;
                quoted = false;
            }
            b'#' if !quoted && ended.is_none() => ended = Some(at),
            b'/' if !quoted && ended.is_none() && bytes.get(at + 1) == Some(&b'*') => {
                push(&mut found, line, &text[from..at]);
                let length = text[at..].find("*/").map_or(text.len() - at, |length| length + 2);
                line += text[at..at + length].matches('\n').count();
                at += length;
                from = at;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    push(&mut found, line, &text[from.min(text.len())..ended.unwrap_or(text.len())]);
    found
}

/// The same with repetitions (`.rept` and a number) written out; what cannot be written out stays.
pub fn repeated(statements: Vec<Statement<'_>>) -> Vec<Statement<'_>> {
    let mut found = Vec::with_capacity(statements.len());
    // Where what is repeated begins, and how often.
    let mut open: Option<(usize, usize)> = None;
    for statement in statements {
        match (statement.instruction(), open) {
            (Some((".rept", times)), None) if times.parse::<usize>().is_ok_and(|times| times <= MOST) => {
                found.extend(statement.labelled());
                open = Some((found.len(), times.parse().unwrap_or(0)));
            }
            (Some((".endr", _)), Some((from, times))) => {
                let body = found.split_off(from);
                found.extend(std::iter::repeat_n(body, times).flatten());
                found.extend(statement.labelled());
                open = None;
            }
            _ => found.push(statement),
        }
    }
    found
}

/// Where a branch of this statement leads whose target is a label that is a number, `1b` or `1f`: the nearest one. Nothing where it is
/// none, or is not found.
pub fn numbered(statements: &[Statement<'_>], at: usize, target: &str) -> Option<usize> {
    let number = target.strip_suffix(['b', 'f']).filter(|number| number.parse::<u32>().is_ok())?;
    let is_it = |place: &usize| statements[*place].labels().contains(&number);
    if target.ends_with('b') { (0..=at).rev().find(is_it) } else { (at + 1..statements.len()).find(is_it) }
}

fn push<'a>(found: &mut Vec<Statement<'a>>, line: usize, text: &'a str) {
    if !text.trim().is_empty() {
        found.push(Statement { line, text });
    }
}

impl<'a> Statement<'a> {
    /// Its labels, and where what follows them begins.
    fn split(&self) -> (Vec<&'a str>, &'a str) {
        let mut labels = Vec::new();
        let mut rest = self.text;
        loop {
            let trimmed = rest.trim_start();
            let length = trimmed
                .bytes()
                .take_while(|byte| byte.is_ascii_alphanumeric() || b"_.$@".contains(byte) || *byte >= 0x80)
                .count();
            let after = trimmed[length..].trim_start();
            if length == 0 || !after.starts_with(':') {
                return (labels, rest);
            }
            labels.push(&trimmed[..length]);
            rest = &after[1..];
        }
    }

    /// Its labels alone, if it has any.
    fn labelled(self) -> Option<Statement<'a>> {
        let length = self.text.len() - self.split().1.len();
        (length > 0).then(|| Statement { text: &self.text[..length], ..self })
    }

    /// The labels that it begins with.
    pub fn labels(&self) -> Vec<&'a str> {
        self.split().0
    }

    /// What follows them.
    pub fn body(&self) -> &'a str {
        self.split().1.trim()
    }

    /// The instruction or directive without prefixes, and its operands; nothing if there are only labels.
    pub fn instruction(&self) -> Option<(&'a str, &'a str)> {
        let mut rest = self.body().trim();
        loop {
            let length = rest.find([' ', '\t']).unwrap_or(rest.len());
            let (name, operands) = (&rest[..length], rest[length..].trim());
            if name.is_empty() {
                return None;
            }
            if operands.is_empty() || !PREFIXES.contains(&name) {
                return Some((name, operands));
            }
            rest = operands;
        }
    }

    /// It is a prefix whose instruction comes as the next statement.
    pub fn is_bare_prefix(&self) -> bool {
        let text = self.text.trim();
        !text.is_empty() && text.split_whitespace().all(|word| PREFIXES.contains(&word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<(usize, &str)> {
        statements(text).into_iter().map(|statement| (statement.line, statement.text.trim())).collect()
    }

    #[test]
    fn statements_end_at_lines_and_semicolons_outside_of_strings() {
        assert_eq!(
            texts("a: nop; ret # x; y\n\t.ascii \"a;b\\\";#\" ; b\n"),
            [(1, "a: nop"), (1, "ret"), (2, ".ascii \"a;b\\\";#\""), (2, "b")]
        );
        assert_eq!(texts("a /* ; \n b */ c\nd"), [(1, "a"), (2, "c"), (3, "d")]);
        // An apostrophe or a quotation mark in a comment begins no string.
        assert_eq!(texts("a # don't \"x\nb"), [(1, "a"), (2, "b")]);
    }

    #[test]
    fn a_label_that_is_a_number_is_the_nearest_one() {
        let statements = statements("1: nop\n1: nop\njmp 1b\njmp 2f\n1: nop\n2: nop\n");
        assert_eq!(numbered(&statements, 2, "1b"), Some(1));
        assert_eq!(numbered(&statements, 3, "2f"), Some(5));
        assert_eq!((numbered(&statements, 3, "3f"), numbered(&statements, 3, "f")), (None, None));
    }

    #[test]
    fn labels_prefixes_and_operands_are_told_apart() {
        let of = |text: &'static str| {
            let statement = Statement { line: 1, text };
            (statement.labels(), statement.instruction())
        };
        assert_eq!(of("f: .L2: rep ret"), (vec!["f", ".L2"], Some(("ret", ""))));
        assert_eq!(of("1:\tnotrack jmp *%rax"), (vec!["1"], Some(("jmp", "*%rax"))));
        assert_eq!(of("x:"), (vec!["x"], None));
        assert_eq!(of("movq %fs:x@tpoff, %rax"), (Vec::new(), Some(("movq", "%fs:x@tpoff, %rax"))));
        assert!(Statement { line: 1, text: " rep " }.is_bare_prefix());
        assert!(!Statement { line: 1, text: "rep movsb" }.is_bare_prefix());
    }
}
