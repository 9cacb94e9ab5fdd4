//! Which simulated predictors stand for the measuring CPU, and for others that are about.

use assay_pure::predict::profile;
use assay_pure::predict::zoo;
use assay_pure::trace::classify::InstructionSet;

/// By vendor, family and models as /proc/cpuinfo numbers them, the profile that comes nearest. Zen 3 is told from Zen 4 by
/// sizes that nobody has published, so it shares that profile.
const CPUS: &[(&str, u32, &[std::ops::RangeInclusive<u32>], &str)] = &[
    ("AuthenticAMD", 25, &[0..=255], "zen4"),
    ("AuthenticAMD", 26, &[0..=255], "zen4"),
    ("AuthenticAMD", 23, &[0..=0x2f], "zen1"),
    ("AuthenticAMD", 23, &[0x30..=255], "zen2"),
    ("GenuineIntel", 6, &[0x3c..=0x3c, 0x3f..=0x3f, 0x45..=0x47, 0x4f..=0x4f, 0x56..=0x56], "haswell"),
    (
        "GenuineIntel",
        6,
        &[0x4e..=0x4e, 0x55..=0x55, 0x5e..=0x5e, 0x8e..=0x8e, 0x9e..=0x9e, 0xa5..=0xa6],
        "skylake",
    ),
    ("GenuineIntel", 6, &[0x6a..=0x6c, 0x7d..=0x7e, 0x8c..=0x8d, 0xa7..=0xa7], "sunny-cove"),
];

/// What stands for a CPU that is not listed: a recent one of its vendor, else the best predictor that was ever published.
const RECENT: [(&str, &str); 2] = [("AuthenticAMD", "zen4"), ("GenuineIntel", "golden-cove")];
const PUBLISHED: [&str; 3] = ["tage-sc-l-64k", "tage", "gshare"];

/// The predictors of a campaign: the one that stands for the CPU first, then those that span a range. All are known to the zoo.
pub(super) fn predictors(cpu_id: &str) -> Vec<String> {
    let architecture =
        if cfg!(target_arch = "aarch64") { InstructionSet::Aarch64 } else { InstructionSet::X86_64 };
    let known = |name: &&str| zoo::entries().any(|entry| entry.name == *name);
    let first = of_cpu(cpu_id).into_iter().chain(PUBLISHED).find(|name| known(name));
    let mut names: Vec<String> = Vec::new();
    for name in first.into_iter().chain(profile::default_range(architecture)).filter(|name| known(name)) {
        if !names.iter().any(|earlier| earlier == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// "AuthenticAMD 25 17" to a profile's name.
fn of_cpu(cpu_id: &str) -> Option<&'static str> {
    let mut words = cpu_id.split_whitespace();
    let vendor = words.next()?;
    let number = |word: Option<&str>| word.and_then(|word| word.parse::<u32>().ok());
    let (family, model) = (number(words.next()), number(words.next()));
    let listed = CPUS.iter().find(|(of, its, models, _)| {
        *of == vendor
            && Some(*its) == family
            && model.is_some_and(|model| models.iter().any(|range| range.contains(&model)))
    });
    let recent = RECENT.iter().find(|(of, _)| *of == vendor).map(|(_, name)| *name);
    listed.map(|(.., name)| *name).or(recent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_has_the_profile_of_its_generation_or_a_recent_one_of_its_vendor() {
        assert_eq!(of_cpu("AuthenticAMD 25 17"), Some("zen4"));
        assert_eq!(of_cpu("AuthenticAMD 23 1"), Some("zen1"));
        assert_eq!(of_cpu("AuthenticAMD 23 49"), Some("zen2"));
        assert_eq!(of_cpu("AuthenticAMD 99 1"), Some("zen4"));
        assert_eq!(of_cpu("GenuineIntel 6 85"), Some("skylake"));
        assert_eq!(of_cpu("GenuineIntel 6 106"), Some("sunny-cove"));
        assert_eq!(of_cpu("GenuineIntel 6 143"), Some("golden-cove"));
        assert_eq!(of_cpu("Somebody 1 1"), None);
        assert_eq!(of_cpu(""), None);
    }

    #[test]
    fn every_profile_named_here_is_known() {
        let names = CPUS.iter().map(|(.., name)| *name).chain(RECENT.map(|(_, name)| name));
        for name in names {
            assert!(profile::find(name).is_some(), "{name}");
        }
    }

    #[test]
    fn the_one_for_the_cpu_comes_first_and_none_twice() {
        for cpu in ["AuthenticAMD 25 17", "AuthenticAMD 23 1", "GenuineIntel 6 85", ""] {
            let names = predictors(cpu);
            assert_eq!(of_cpu(cpu).unwrap_or(&names[0]), names[0]);
            let mut sorted = names.clone();
            sorted.sort();
            sorted.dedup();
            assert!(sorted.len() == names.len() && names.len() >= 3, "{names:?}");
        }
    }
}
