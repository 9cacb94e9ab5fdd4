//! Flags for a build that the emulator can run.

use assay_link::build::CompilerFamily;

/// The most that the emulator knows of x86-64: AVX2 and BMI2, not AVX-512. As each compiler is told.
const CAP: &str = "-march=x86-64-v3";
const CAP_OF_ZIG: &str = "-mcpu=x86_64_v3";
const CAP_OF_RUSTC: &str = "-Ctarget-cpu=x86-64-v3";

/// The flags with those taken back that ask for more than the emulator knows, and what was done, in words. Nothing where no
/// build would help: on another architecture than x86-64.
pub fn capped_flags(flags: &[String], family: CompilerFamily) -> Option<(Vec<String>, String)> {
    if !cfg!(target_arch = "x86_64") {
        return None;
    }
    let (cap, asks) = match family {
        CompilerFamily::Zig => (CAP_OF_ZIG, "-mcpu="),
        CompilerFamily::Rustc => (CAP_OF_RUSTC, CAP_OF_RUSTC),
        _ => (CAP, "-march="),
    };
    let mut capped = false;
    let mut changed: Vec<String> = Vec::new();
    for flag in flags {
        if flag.starts_with(asks) {
            if !std::mem::replace(&mut capped, true) {
                changed.push(cap.to_owned());
            }
        } else if !flag.starts_with("-mavx512") && !flag.starts_with("-mavx10") {
            changed.push(flag.clone());
        }
    }
    if !capped {
        changed.push(cap.to_owned());
    }
    Some((
        changed,
        format!("built with {cap} for the emulator, which lacks some instructions of the measured build"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capped(flags: &[&str], family: CompilerFamily) -> Vec<String> {
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        capped_flags(&flags, family).expect("x86-64").0
    }

    #[test]
    fn the_architecture_is_lowered_where_it_stands_or_named_last() {
        if !cfg!(target_arch = "x86_64") {
            eprintln!("skipped: only x86-64 builds are capped");
            return;
        }
        let gcc = |flags: &[&str]| capped(flags, CompilerFamily::Gcc);
        assert_eq!(gcc(&["-O2", "-march=native", "-Wall"]), ["-O2", CAP, "-Wall"]);
        assert_eq!(gcc(&["-march=native", "-O3", "-march=znver4"]), [CAP, "-O3"]);
        assert_eq!(gcc(&["-O2", "-mavx512f", "-mavx512vl"]), ["-O2", CAP]);
        assert_eq!(gcc(&[]), [CAP]);
        let zig = |flags: &[&str]| capped(flags, CompilerFamily::Zig);
        assert_eq!(zig(&["-OReleaseFast", "-mcpu=native"]), ["-OReleaseFast", "-mcpu=x86_64_v3"]);
        // rustc takes the last one.
        let rustc = capped(&["-C target-cpu=native"], CompilerFamily::Rustc);
        assert_eq!(rustc, ["-C target-cpu=native", "-Ctarget-cpu=x86-64-v3"]);
    }
}
