//! Which section of a text do its statements belong to?

/// The section that follows, and the one before it.
#[derive(Debug)]
pub struct Sections {
    now: Section,
    before: Section,
    pushed: Vec<(Section, Section)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Section {
    name: String,
    code: bool,
}

impl Default for Sections {
    fn default() -> Self {
        let text = Section { name: ".text".to_owned(), code: true };
        Self { now: text.clone(), before: text, pushed: Vec::new() }
    }
}

impl Sections {
    /// Whether code is what follows.
    pub fn is_code(&self) -> bool {
        self.now.code
    }

    /// The name of the section that follows.
    pub fn name(&self) -> &str {
        &self.now.name
    }

    /// Takes note of a directive.
    pub fn directive(&mut self, name: &str, rest: &str) {
        match name {
            ".text" | ".data" | ".bss" => self.enter(name, name == ".text"),
            ".section" => self.named(rest),
            ".pushsection" => {
                self.pushed.push((self.now.clone(), self.before.clone()));
                self.named(rest);
            }
            ".popsection" => {
                if let Some(pushed) = self.pushed.pop() {
                    (self.now, self.before) = pushed;
                }
            }
            ".previous" => std::mem::swap(&mut self.now, &mut self.before),
            _ => {}
        }
    }

    /// A section of these words.
    fn named(&mut self, words: &str) {
        let mut parts = words.split(',').map(str::trim);
        let name = parts.next().unwrap_or_default().trim_matches('"');
        let code = match parts.next() {
            Some(flags) => flags.contains('x'),
            None => name.starts_with(".text") || name == ".init" || name == ".fini",
        };
        self.enter(name, code);
    }

    fn enter(&mut self, name: &str, code: bool) {
        let new = Section { name: name.to_owned(), code };
        self.before = std::mem::replace(&mut self.now, new);
    }
}
