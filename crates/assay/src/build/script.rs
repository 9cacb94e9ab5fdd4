//! GNU ld's default script with the order of the code written out.
//!
//! ld places code in groups: .text.unlikely, .text.exit, .text.startup, .text.hot, .text.sorted, then .text. Padding
//! ahead of .text alone would leave the groups before it where they are, so it goes ahead of the first statement of
//! the output section; and with an order given, every function of the program is named ahead of the groups.

/// A section of one of the program's objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// File name of its object, unique in the link.
    pub object: String,
    /// Its name.
    pub name: String,
}

/// The statement that begins the code in every default script.
const FIRST: &str = "*(.text.unlikely";

/// The script with `phase_bytes` of padding after a 64-byte border, then the sections in this order, then the rest as
/// before. None: the script has no such place.
pub fn placed(default: &str, phase_bytes: u32, order: &[Section]) -> Option<String> {
    let at = default.find(FIRST)?;
    let mut code = format!(". = ALIGN(64);\n    . = . + {phase_bytes};\n    ");
    for section in order {
        // KEEP is not wanted: with --gc-sections what is unused goes, here as in the user's link.
        code.push_str(&format!("*{}({})\n    ", section.object, section.name));
    }
    Some(format!("{}{code}{}", &default[..at], &default[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pads_ahead_of_all_code_and_names_the_order() {
        let default =
            "SECTIONS {\n  .text :\n  {\n    *(.text.unlikely .text.*_unlikely)\n    *(.text)\n  }\n}";
        let section = |object: &str, name: &str| Section { object: object.into(), name: name.into() };
        let script = placed(default, 48, &[section("u1.o", ".text.b"), section("u0.o", ".text.a")]).unwrap();
        assert_eq!(
            script,
            "SECTIONS {\n  .text :\n  {\n    . = ALIGN(64);\n    . = . + 48;\n    *u1.o(.text.b)\n    \
             *u0.o(.text.a)\n    *(.text.unlikely .text.*_unlikely)\n    *(.text)\n  }\n}"
        );
        assert_eq!(placed("nothing", 0, &[]), None);
    }
}
