//! How pages are shown: colour, links to source lines. Options of every verb, and what terminals are known to do.

use assay_report::link::LinkForm;
use std::io::IsTerminal as _;
use std::sync::OnceLock;

/// Heading of these options.
const TERMINAL: &str = "Terminal";

/// When something is done that not every terminal can.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum When {
    /// Where it is known to work.
    #[default]
    Auto,
    /// Whatever the output is.
    Always,
    /// Not at all.
    Never,
}

/// Options of every verb.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct DisplayArguments {
    /// Use colour; auto: on a terminal, unless NO_COLOR is set; CLICOLOR_FORCE=1 is always
    #[arg(long, alias = "colour", global = true, help_heading = TERMINAL, value_name = "WHEN", value_enum, default_value_t, hide_possible_values = true)]
    pub color: When,
    /// Link source lines; auto: on terminals known to show links
    #[arg(long, global = true, help_heading = TERMINAL, value_name = "WHEN", value_enum, default_value_t, hide_possible_values = true)]
    pub hyperlinks: When,
    /// Where links lead: default, vscode, kitty, none or others of ripgrep's names, or a text with {host}, {path}, {line}, {column}
    #[arg(long, global = true, help_heading = TERMINAL, value_name = "FORMAT")]
    pub hyperlink_format: Option<String>,
}

static LINKS: OnceLock<(When, LinkForm)> = OnceLock::new();

impl DisplayArguments {
    /// Takes note of what was asked for, once; returns what the user should be warned of.
    ///
    /// # Errors
    /// The format of links leads nowhere.
    pub fn apply(&self) -> Result<Option<String>, String> {
        match self.color {
            When::Auto => {}
            When::Always => anstream::ColorChoice::Always.write_global(),
            When::Never => anstream::ColorChoice::Never.write_global(),
        }
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let (form, warning) = self.form(&variable, host.trim())?;
        if let Some(form) = form {
            let _ = LINKS.set((self.hyperlinks, form));
        }
        Ok(warning)
    }

    /// How links are written, and a warning. What the option says wrongly is an error; a variable is set once for all calls, and
    /// what it says wrongly must not end them.
    fn form(
        &self,
        variable: &dyn Fn(&str) -> Option<String>,
        host: &str,
    ) -> Result<(Option<LinkForm>, Option<String>), String> {
        const VARIABLE: &str = "ASSAY_HYPERLINK_FORMAT";
        let read = |format: &str| LinkForm::read(format, host);
        if let Some(format) = &self.hyperlink_format {
            return Ok((read(format).map_err(|error| format!("--hyperlink-format: {error}"))?, None));
        }
        let usual = || read(usual(variable)).unwrap_or_default();
        Ok(match variable(VARIABLE).map(|format| read(&format)) {
            Some(Ok(form)) => (form, None),
            Some(Err(error)) => (usual(), Some(format!("{VARIABLE}, which is ignored: {error}"))),
            None => (usual(), None),
        })
    }
}

/// How places are linked on a stream; none: they are not.
pub fn links(is_terminal: bool) -> Option<&'static LinkForm> {
    let (when, form) = LINKS.get()?;
    let shown = match when {
        When::Always => true,
        When::Never => false,
        When::Auto => is_terminal && shows_links(&|name| std::env::var(name).ok()),
    };
    shown.then_some(form)
}

/// The format that a terminal understands best.
fn usual(variable: &dyn Fn(&str) -> Option<String>) -> &'static str {
    match variable("TERM_PROGRAM").as_deref() {
        Some("vscode") => "vscode",
        _ => "default",
    }
}

/// Whether a terminal is known to show links instead of printing what they are made of. Behind tmux and screen it is not known.
///
/// Source: the list beside "Hyperlinks in terminal emulators" (Egmont Koblinger); FORCE_HYPERLINK is what other programs look at.
fn shows_links(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    const PROGRAMS: [&str; 7] = ["iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "WarpTerminal", "rio"];
    const TERMS: [&str; 6] = ["xterm-kitty", "xterm-ghostty", "foot", "alacritty", "contour", "wezterm"];
    let has = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let number = |name: &str| variable(name).and_then(|value| value.parse::<u32>().ok()).unwrap_or(0);
    if let Some(forced) = variable("FORCE_HYPERLINK") {
        return forced != "0";
    }
    let term = variable("TERM").unwrap_or_default();
    if term == "dumb" || term.starts_with("screen") || term.starts_with("tmux") || has("TMUX") {
        return false;
    }
    variable("TERM_PROGRAM").is_some_and(|program| PROGRAMS.contains(&program.as_str()))
        || TERMS.iter().any(|known| term.starts_with(known))
        || number("VTE_VERSION") >= 5000
        || number("KONSOLE_VERSION") >= 201_200
        || has("KITTY_WINDOW_ID")
        || has("WT_SESSION")
        || has("DOMTERM")
}

/// Whether the terminal's locale has only ASCII: one is set, and it is not of UTF-8. Where none is set nothing is known, as in
/// containers, and terminals of today show UTF-8.
pub fn is_ascii() -> bool {
    std::io::stdout().is_terminal() && is_ascii_locale(&|name| std::env::var(name).ok())
}

fn is_ascii_locale(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    let set = |name: &&str| variable(name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(set);
    locale.is_some_and(|locale| !locale.to_lowercase().replace('-', "").contains("utf8"))
}

/// Our own signs in letters of ASCII, each as wide as it was; what others wrote stays.
pub fn in_ascii(text: &str) -> String {
    text.chars()
        .map(|sign| match sign {
            '─' | '┄' => '-',
            '│' | '┊' | '╎' => '|',
            '┤' | '└' | '┼' | '├' => '+',
            '●' => '*',
            '○' => 'o',
            '·' => '.',
            '±' => '~',
            '…' => '.',
            'µ' => 'u',
            '‹' => '<',
            '›' => '>',
            '▁' | '▂' => '_',
            '▃' | '▄' => '-',
            '▅' | '▆' => '=',
            '▇' | '█' => '#',
            other => other,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable<'a>(all: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |name| all.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn a_wrong_variable_is_named_and_ends_nothing() {
        let environment = [("ASSAY_HYPERLINK_FORMAT", "nowhere")];
        let plain = DisplayArguments::default();
        let (form, warning) = plain.form(&variable(&environment), "host").unwrap();
        assert!(form.is_some(), "the usual one");
        assert!(warning.unwrap().starts_with("ASSAY_HYPERLINK_FORMAT, which is ignored: `nowhere`"));
        let wrong =
            DisplayArguments { hyperlink_format: Some("nowhere".into()), ..DisplayArguments::default() };
        let said = wrong.form(&variable(&[]), "host").unwrap_err();
        assert!(said.starts_with("--hyperlink-format: `nowhere`"), "{said}");
    }

    #[test]
    fn links_are_for_terminals_that_are_known_to_show_them() {
        for known in [
            &[("TERM_PROGRAM", "vscode")][..],
            &[("TERM", "xterm-kitty")],
            &[("VTE_VERSION", "7600"), ("TERM", "xterm-256color")],
            &[("FORCE_HYPERLINK", "1"), ("TMUX", "x")],
        ] {
            assert!(shows_links(&variable(known)), "{known:?}");
        }
        for unknown in [
            &[("TERM", "xterm-256color")][..],
            &[("TERM_PROGRAM", "vscode"), ("TMUX", "/tmp/x")],
            &[("TERM", "dumb"), ("WT_SESSION", "x")],
            &[("VTE_VERSION", "4600")],
            &[("FORCE_HYPERLINK", "0"), ("TERM", "xterm-kitty")],
        ] {
            assert!(!shows_links(&variable(unknown)), "{unknown:?}");
        }
        assert_eq!(usual(&variable(&[("TERM_PROGRAM", "vscode")])), "vscode");
    }

    #[test]
    fn a_locale_that_is_set_and_not_of_utf_8_has_ascii() {
        assert!(is_ascii_locale(&variable(&[("LANG", "C")])));
        assert!(is_ascii_locale(&variable(&[("LC_ALL", "de_DE.ISO-8859-1"), ("LANG", "C.UTF-8")])));
        assert!(!is_ascii_locale(&variable(&[("LC_ALL", ""), ("LANG", "en_GB.utf8")])));
        assert!(!is_ascii_locale(&variable(&[])));
        assert_eq!(in_ascii("  ─●──┊│ ±0.5 µs é"), "  -*--|| ~0.5 us é");
    }
}
