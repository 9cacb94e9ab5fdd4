//! What `assay --version` says beside the number: from which commit, for which machine, whether the emulator's plugin is
//! inside, what is linked in.

use assay_pure::trace::channel;
use std::sync::OnceLock;

/// The commit, where whoever built it said so; the bytes of the plugin.
static BUILT: OnceLock<(Option<&str>, usize)> = OnceLock::new();

/// Tells what the program was built from, and how large the plugin in it is: 0 bytes are none.
pub fn tell(commit: Option<&'static str>, plugin: usize) {
    let _ = BUILT.set((commit.filter(|commit| !commit.is_empty()), plugin));
}

/// The text below `assay`.
pub fn long() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let (commit, plugin) = BUILT.get().copied().unwrap_or_default();
        text(commit, plugin)
    })
}

/// The first two lines that `assay --version` prints: what a machine must have that measures for this one.
pub fn of_build() -> String {
    let lines: Vec<&str> = long().lines().take(2).collect();
    format!("assay {}", lines.join("\n"))
}

fn text(commit: Option<&str>, plugin: usize) -> String {
    let plugin = match plugin {
        0 => "none, so nothing is counted by emulation".to_owned(),
        bytes => format!("version {}, {bytes} bytes", channel::VERSION),
    };
    format!(
        "{}\ncommit: {}\ntarget: {}\nplugin: {plugin}\nlicence: {}\n\nlinked in, by licence:\n{}\
         in pages and pictures: D3 and Observable Plot (ISC), the font DejaVu (its own, free)\n\n\
         Their texts: THIRD-PARTY.txt beside the packages' licences, or each crate's source.",
        env!("CARGO_PKG_VERSION"),
        commit.unwrap_or("unknown"),
        env!("ASSAY_TARGET"),
        env!("CARGO_PKG_LICENSE"),
        include_str!(concat!(env!("OUT_DIR"), "/linked.txt")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_is_the_version_and_a_commit_that_nobody_told_is_unknown() {
        assert_eq!(text(None, 1).lines().next(), Some(env!("CARGO_PKG_VERSION")));
        assert!(text(None, 1).contains("\ncommit: unknown\n"));
        assert!(text(Some("1234abc"), 1).contains("\ncommit: 1234abc\n"));
    }

    #[test]
    fn a_program_without_the_plugin_says_so() {
        assert!(text(None, 0).contains("\nplugin: none, so "));
        assert!(text(None, 7).contains(&format!("\nplugin: version {}, 7 bytes\n", channel::VERSION)));
    }
}
