//! What an experiment asks for and this machine cannot give, each with its reason: nothing is left out silently.

use crate::store::FailureRow;
use assay_link::build::{Compiler, needs_cxx};
use assay_linux::machine::Machine;
use assay_pure::experiment::{Axis, Experiment, axis};
use assay_pure::ledger::Stage;

/// Variants that this machine can run, by number, and the others with reasons.
pub fn variants(experiment: &Experiment, machine: &Machine) -> (Vec<usize>, Vec<FailureRow>) {
    let mut runnable = Vec::new();
    let mut skipped = Vec::new();
    for (index, variant) in experiment.variants.iter().enumerate() {
        let lacking: Vec<&str> = variant
            .needs
            .iter()
            .map(String::as_str)
            .filter(|need| !machine.features.iter().any(|feature| feature == need))
            .collect();
        if lacking.is_empty() {
            runnable.push(index);
        } else {
            let reason = format!("this CPU ({}) lacks {}", machine.cpu, lacking.join(", "));
            skipped.push(FailureRow { variant: Some(variant.name.clone()), ..skip(reason) });
        }
    }
    (runnable, skipped)
}

/// Compilers that can build the program, and those left out: a C compiler without its C++ half, for C++ sources. If none
/// can, all stay, so that their builds say what to install.
pub fn compilers(experiment: &Experiment, found: Vec<Compiler>) -> (Vec<Compiler>, Vec<FailureRow>) {
    let cxx = needs_cxx(&experiment.program.sources);
    let able = |compiler: &Compiler| !cxx || compiler.cxx_path.is_some();
    if !found.iter().any(able) {
        return (found, Vec::new());
    }
    let (kept, without): (Vec<Compiler>, Vec<Compiler>) = found.into_iter().partition(able);
    let skipped = without.into_iter().map(|compiler| {
        let reason = format!(
            "it has no C++ driver of version {} on PATH, which the program's sources need",
            compiler.version
        );
        FailureRow { compiler: Some(compiler.name), ..skip(reason) }
    });
    (kept, skipped.collect())
}

/// A compiler that contrasts were to run against and that is not among those found.
pub fn baselines(experiment: &Experiment, compilers: &[Compiler]) -> Vec<FailureRow> {
    if !experiment.contrasts.along.contains(&Axis::Compiler) {
        return Vec::new();
    }
    let names: Vec<String> = compilers.iter().map(|compiler| compiler.name.clone()).collect();
    let missing = axis::missing_baseline(&names, experiment.contrasts.compiler.as_deref());
    let skipped = missing.zip(names.first()).map(|(wanted, instead)| {
        let reason =
            format!("it is not among the compilers found: compilers are compared with {instead} instead");
        FailureRow { compiler: Some(wanted.to_owned()), ..skip(reason) }
    });
    let alone = (compilers.len() == 1).then(|| {
        let reason = format!("only {} was found: there is no other to compare it with", names[0]);
        FailureRow { compiler: Some("a second compiler".to_owned()), ..skip(reason) }
    });
    skipped.into_iter().chain(alone).collect()
}

fn skip(reason: String) -> FailureRow {
    FailureRow { stage: Stage::Skipped, variant: None, input: None, compiler: None, flags: None, reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_link::build::CompilerFamily;

    fn compiler(name: &str, cxx: bool) -> Compiler {
        Compiler {
            name: name.into(),
            aliases: Vec::new(),
            family: CompilerFamily::Gcc,
            version: "12.2.0".into(),
            target: "x86_64-linux-gnu".into(),
            path: name.into(),
            cxx_path: cxx.then(|| "g++".into()),
            sha256: String::new(),
        }
    }

    fn experiment(source: &str, contrasts: &str) -> Experiment {
        let text = format!(
            "question = \"q\"\nbaseline = \"a\"\nvariants = [\"a\", \"b\"]\nprogram.sources = [\"{source}\"]\n{contrasts}"
        );
        Experiment::from_toml(&text, "x.toml").expect("a valid file").experiment
    }

    #[test]
    fn leaves_out_compilers_without_a_cxx_driver_where_the_program_needs_one() {
        let found = || vec![compiler("gcc-11", false), compiler("gcc-12", true)];
        let (kept, skipped) = compilers(&experiment("x.cpp", ""), found());
        assert_eq!(kept.iter().map(|kept| kept.name.as_str()).collect::<Vec<_>>(), ["gcc-12"]);
        assert_eq!((skipped[0].stage, skipped[0].compiler.as_deref()), (Stage::Skipped, Some("gcc-11")));
        let (kept, skipped) = compilers(&experiment("x.c", ""), found());
        assert_eq!((kept.len(), skipped.len()), (2, 0));
    }

    #[test]
    fn keeps_compilers_where_none_can_so_that_they_say_why() {
        let (kept, skipped) = compilers(&experiment("x.cpp", ""), vec![compiler("gcc-11", false)]);
        assert_eq!((kept.len(), skipped.len()), (1, 0));
    }

    #[test]
    fn says_that_a_baseline_is_missing_and_what_takes_its_place() {
        let two = [compiler("gcc-11", true), compiler("gcc-12", true)];
        let asked = experiment("x.c", "[contrasts]\nalong = [\"compiler\"]\ncompiler = \"gcc-9\"");
        let skipped = baselines(&asked, &two);
        assert_eq!(skipped.len(), 1);
        assert!(skipped[0].reason.contains("with gcc-11"), "{}", skipped[0].reason);
        assert_eq!(baselines(&asked, &two[..1]).len(), 2);
        assert_eq!(baselines(&experiment("x.c", ""), &two[..1]), []);
    }
}
