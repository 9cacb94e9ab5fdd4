//! Flags for a build that the emulator can run.

/// The most that the emulator knows of x86-64: AVX2 and BMI2, not AVX-512.
const CAP: &str = "-march=x86-64-v3";

/// The flags with those taken back that ask for more than the emulator knows, and what was done, in words. Nothing where no
/// build would help: on another architecture than x86-64.
pub fn capped_flags(flags: &[String]) -> Option<(Vec<String>, String)> {
    if !cfg!(target_arch = "x86_64") {
        return None;
    }
    let mut capped = false;
    let mut changed: Vec<String> = Vec::new();
    for flag in flags {
        if flag.starts_with("-march=") {
            if !std::mem::replace(&mut capped, true) {
                changed.push(CAP.to_owned());
            }
        } else if !flag.starts_with("-mavx512") && !flag.starts_with("-mavx10") {
            changed.push(flag.clone());
        }
    }
    if !capped {
        changed.push(CAP.to_owned());
    }
    Some((
        changed,
        format!("built with {CAP} for the emulator, which lacks some instructions of the measured build"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capped(flags: &[&str]) -> Option<Vec<String>> {
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        capped_flags(&flags).map(|(flags, _)| flags)
    }

    #[test]
    fn the_architecture_is_lowered_where_it_stands_or_named_last() {
        if !cfg!(target_arch = "x86_64") {
            eprintln!("skipped: only x86-64 builds are capped");
            return;
        }
        assert_eq!(capped(&["-O2", "-march=native", "-Wall"]).unwrap(), ["-O2", CAP, "-Wall"]);
        assert_eq!(capped(&["-march=native", "-O3", "-march=znver4"]).unwrap(), [CAP, "-O3"]);
        assert_eq!(capped(&["-O2", "-mavx512f", "-mavx512vl"]).unwrap(), ["-O2", CAP]);
        assert_eq!(capped(&[]).unwrap(), [CAP]);
    }
}
