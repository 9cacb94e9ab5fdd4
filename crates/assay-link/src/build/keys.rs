//! What a compilation or a link depends on besides its command and files: the environment, and the processor where the
//! flags say "native".

use assay_pure::inputs::digest;
use std::fs;

/// Variables that gcc, clang and the linkers obey.
const VARIABLES: &[&str] = &[
    "CCC_OVERRIDE_OPTIONS",
    "COMPILER_PATH",
    "CPATH",
    "CPLUS_INCLUDE_PATH",
    "C_INCLUDE_PATH",
    "GCC_EXEC_PREFIX",
    "GNUTARGET",
    "LDEMULATION",
    "LD_RUN_PATH",
    "LIBRARY_PATH",
    "SOURCE_DATE_EPOCH",
];

/// The key of a record: a hash over its parts, each kept apart from the next.
pub fn key(parts: &[&str]) -> String {
    let mut text = String::new();
    for part in parts {
        text.push_str(&format!("{}:{part}\n", part.len()));
    }
    digest(text.as_bytes())
}

/// The surroundings that the given flags make matter, as one part of a key.
pub fn surroundings(flags: &[String]) -> String {
    let mut text = String::new();
    for name in VARIABLES {
        if let Some(value) = std::env::var_os(name) {
            text.push_str(&format!("{name}={}\n", value.to_string_lossy()));
        }
    }
    if flags.iter().any(|flag| flag.contains("native")) {
        text.push_str(&processor());
    }
    text
}

/// The lines of /proc/cpuinfo from which compilers deduce what "native" means, of the first processor.
fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let first = info.split("\n\n").next().unwrap_or("");
    let tells =
        |line: &&str| !["MHz", "bogomips", "BogoMIPS", "apicid"].iter().any(|word| line.contains(word));
    first.lines().filter(tells).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(key(&["ab", "c"]), key(&["a", "bc"]));
        assert_ne!(key(&["a\n1:b"]), key(&["a", "b"]));
        assert_eq!(key(&["a", "b"]), key(&["a", "b"]));
    }

    #[test]
    fn the_processor_matters_where_the_flags_say_native() {
        let plain = surroundings(&["-O2".into()]);
        assert_ne!(surroundings(&["-march=native".into()]), plain);
    }
}
