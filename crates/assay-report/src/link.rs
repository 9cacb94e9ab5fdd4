//! Links from a terminal to lines of source files, as OSC 8 has them: the text is shown, a click opens what it names.
//!
//! The formats and their names are those of `rg --hyperlink-format`, so that what is set up for one works for the other; a
//! format of one's own has the same placeholders. Source: "Hyperlinks in terminal emulators" (Egmont Koblinger), ripgrep's guide.
//! Known limits: only places with a whole path are linked; whether the file is still there is seen by whoever clicks.

/// Formats with names.
const NAMED: [(&str, &str); 11] = [
    ("none", ""),
    ("default", "file://{host}{path}#{line}"),
    ("file", "file://{host}{path}"),
    ("kitty", "file://{host}{path}#{line}"),
    ("grep+", "grep+://{path}:{line}"),
    ("cursor", "cursor://file{path}:{line}:{column}"),
    ("macvim", "mvim://open?url=file://{path}&line={line}&column={column}"),
    ("textmate", "txmt://open?url=file://{path}&line={line}&column={column}"),
    ("vscode", "vscode://file{path}:{line}:{column}"),
    ("vscode-insiders", "vscode-insiders://file{path}:{line}:{column}"),
    ("vscodium", "vscodium://file{path}:{line}:{column}"),
];
const PLACEHOLDERS: [&str; 4] = ["host", "path", "line", "column"];

/// How a link is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkForm {
    format: String,
    host: String,
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    path: String,
    line: u64,
    column: u64,
}

impl SourcePlace {
    /// A line, from 1; none of a path that is not whole.
    pub fn of(path: &str, line: u64) -> Option<Self> {
        path.starts_with('/').then(|| Self { path: path.to_owned(), line, column: 1 })
    }

    /// The same with a column, from 1.
    #[must_use]
    pub fn at_column(self, column: u64) -> Self {
        Self { column, ..self }
    }
}

impl LinkForm {
    /// Reads a format or the name of one; none where it says that there are no links.
    ///
    /// # Errors
    /// It has no `{path}`, or an unknown placeholder; what there is.
    pub fn read(text: &str, host: &str) -> Result<Option<Self>, String> {
        let named = NAMED.iter().find(|(name, _)| *name == text);
        let format = named.map_or(text, |(_, format)| format);
        if format.is_empty() {
            return Ok(None);
        }
        let names = || NAMED.map(|(name, _)| name).join(", ");
        if !format.contains("{path}") {
            return Err(format!(
                "`{text}` is not a link format: it needs {{path}}; or name one of {}",
                names()
            ));
        }
        let asked = format.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
        for (name, _) in asked {
            if !PLACEHOLDERS.contains(&name) {
                let known = PLACEHOLDERS.map(|name| format!("{{{name}}}")).join(", ");
                return Err(format!("`{{{name}}}` is not a placeholder of a link format; there are {known}"));
            }
        }
        Ok(Some(Self { format: encoded(format, true), host: encoded(host, false) }))
    }

    /// Where a place's link leads.
    pub fn address(&self, place: &SourcePlace) -> String {
        self.format
            .replace("{host}", &self.host)
            .replace("{line}", &place.line.to_string())
            .replace("{column}", &place.column.to_string())
            .replace("{path}", &encoded(&place.path, false))
    }

    /// A text that is a link to a place; it takes the columns of the text.
    pub fn wrap(&self, painted: &str, place: &SourcePlace) -> String {
        format!("\x1b]8;;{}\x1b\\{painted}\x1b]8;;\x1b\\", self.address(place))
    }
}

/// A text in which nothing ends or steers a link: bytes that RFC 3986 does not leave unreserved become `%XX`; of a format, only
/// those that no link has.
fn encoded(text: &str, is_format: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let is_plain = if is_format {
            (0x21..0x7f).contains(&byte)
        } else {
            byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte)
        };
        if is_plain {
            out.push(byte as char);
        } else {
            out += &format!("%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(text: &str) -> LinkForm {
        LinkForm::read(text, "box").unwrap().unwrap()
    }

    #[test]
    fn a_place_is_linked_as_the_format_says() {
        let place = SourcePlace::of("/src/a b/é.c", 12).unwrap().at_column(3);
        assert_eq!(form("default").address(&place), "file://box/src/a%20b/%C3%A9.c#12");
        assert_eq!(form("vscode").address(&place), "vscode://file/src/a%20b/%C3%A9.c:12:3");
        assert_eq!(form("my://{path}?{line}").address(&place), "my:///src/a%20b/%C3%A9.c?12");
        assert_eq!(
            form("file").wrap("é.c:12", &place),
            "\x1b]8;;file://box/src/a%20b/%C3%A9.c\x1b\\é.c:12\x1b]8;;\x1b\\"
        );
    }

    #[test]
    fn a_path_steers_no_terminal() {
        let place = SourcePlace::of("/a\x1b\\b\x07{line}", 1).unwrap();
        assert_eq!(form("file").address(&place), "file://box/a%1B%5Cb%07%7Bline%7D");
        assert!(!form("my\x1b://{path}").address(&place).contains('\x1b'));
        assert_eq!(SourcePlace::of("src/a.c", 1), None, "a relative path has no folder to start from");
    }

    #[test]
    fn a_format_that_leads_nowhere_is_refused_with_those_that_lead_somewhere() {
        assert_eq!(LinkForm::read("none", "box"), Ok(None));
        assert!(LinkForm::read("vscod", "box").is_err_and(|said| said.contains("vscode, vscode-insiders")));
        assert!(LinkForm::read("x://{path}{col}", "box").is_err_and(|said| said.contains("{column}")));
    }
}
