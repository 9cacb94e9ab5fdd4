//! What kind of processor is it? A level of instructions in place of a hundred flags; a microarchitecture where the name tells none.
//!
//! Method: the flags that Linux lists in /proc/cpuinfo, compared with the levels of the x86-64 psABI (version 1.0, table 3.1:
//! "Micro-Architecture Levels"), under the kernel's names for them; of AArch64 its vector extensions.
//! Limits: OSXSAVE is no flag there; `xsave` without it is not seen on any kernel that has AVX in the list.
//! Checked by: what gcc and the loader of glibc say of the same processors.

use crate::placement::front_end::front_end;

/// What each level of x86-64 adds to the one before.
const LEVELS: [(&str, &[&str]); 3] = [
    ("x86-64-v2", &["cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"]),
    ("x86-64-v3", &["avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"]),
    ("x86-64-v4", &["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"]),
];

/// The level of a processor with these flags; none where they are not known.
pub fn instructions(flags: &[&str]) -> Option<&'static str> {
    let has = |flag: &&str| flags.contains(flag);
    if has(&"asimd") {
        return Some(match (has(&"sve2"), has(&"sve")) {
            (true, _) => "AArch64, SVE2",
            (_, true) => "AArch64, SVE",
            _ => "AArch64",
        });
    }
    let reached = LEVELS.iter().take_while(|(_, added)| added.iter().all(has)).last();
    has(&"lm").then(|| reached.map_or("x86-64", |(name, _)| name))
}

/// A processor's name: "AMD EPYC", which says neither model nor family, becomes "AMD EPYC (Zen 3)" by its vendor, family and
/// model, as guests often show no more than that.
pub fn processor_name(name: &str, cpu_id: &str) -> String {
    let tells = name.contains('(') || name.contains(|letter: char| letter.is_ascii_digit());
    match front_end(cpu_id) {
        Some(known) if !tells => format!("{name} ({})", known.name),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_model_or_family_gets_its_microarchitecture() {
        for (name, id, wanted) in [
            ("AMD EPYC", "AuthenticAMD 25 1", "AMD EPYC (Zen 3)"),
            ("AMD EPYC-Rome Processor", "AuthenticAMD 23 49", "AMD EPYC-Rome Processor (Zen 2)"),
            ("AMD EPYC 9B14", "AuthenticAMD 25 17", "AMD EPYC 9B14"),
            ("Intel Xeon Processor (Skylake)", "GenuineIntel 6 85", "Intel Xeon Processor (Skylake)"),
            ("QEMU TCG CPU version 2.5+", "AuthenticAMD 15 107", "QEMU TCG CPU version 2.5+"),
            ("aarch64", "", "aarch64"),
        ] {
            assert_eq!(processor_name(name, id), wanted);
        }
    }

    fn of(flags: &str) -> Option<&'static str> {
        instructions(&flags.split(' ').collect::<Vec<_>>())
    }

    const FIRST: &str = "lm fxsr sse sse2 syscall nx";
    const NEHALEM: &str = "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3";
    const HASWELL: &str = "avx avx2 bmi1 bmi2 f16c fma abm movbe xsave";
    const SKYLAKE: &str = "avx512f avx512bw avx512cd avx512dq avx512vl";

    #[test]
    fn each_level_needs_all_of_the_one_before() {
        assert_eq!(of(FIRST), Some("x86-64"));
        assert_eq!(of(&[FIRST, NEHALEM].join(" ")), Some("x86-64-v2"));
        assert_eq!(of(&[FIRST, NEHALEM, HASWELL].join(" ")), Some("x86-64-v3"));
        assert_eq!(of(&[FIRST, NEHALEM, HASWELL, SKYLAKE].join(" ")), Some("x86-64-v4"));
        assert_eq!(of(&[FIRST, HASWELL, SKYLAKE].join(" ")), Some("x86-64"), "AVX2 without SSE4.2");
        // FMA without AVX2, as on Opteron_G5; Sandy Bridge.
        assert_eq!(of(&[FIRST, NEHALEM, "avx fma f16c abm xsave"].join(" ")), Some("x86-64-v2"));
    }

    #[test]
    fn one_missing_flag_of_a_level_is_the_level_below() {
        for missing in HASWELL.split(' ') {
            let flags = [FIRST, NEHALEM, HASWELL, SKYLAKE].join(" ");
            let without: Vec<&str> = flags.split(' ').filter(|flag| *flag != missing).collect();
            assert_eq!(instructions(&without), Some("x86-64-v2"), "without {missing}");
        }
    }

    #[test]
    fn aarch64_is_told_by_its_vectors_and_nothing_is_said_of_no_flags() {
        assert_eq!(of("fp asimd evtstrm aes"), Some("AArch64"));
        assert_eq!(of("fp asimd sve"), Some("AArch64, SVE"));
        assert_eq!(of("fp asimd sve sve2"), Some("AArch64, SVE2"));
        assert_eq!((instructions(&[]), of("fpu sse2")), (None, None));
    }
}
