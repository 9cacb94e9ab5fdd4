//! `--shard-by`: an experiment as parts that know nothing of each other. What is compared with each other stays in one part.

use anyhow::Result;
use assay_lab::campaign::prepare::Outline;
use assay_lab::lead::Misuse;
use assay_lab::shards::ShardPart;
use assay_pure::experiment::axis::Axis;

/// What the parts differ in.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardBy {
    /// A job for each input
    Input,
    /// A job for each compiler
    Compiler,
}

/// The parts of an experiment.
///
/// # Errors
/// [`Misuse`]: there is nothing to share out, or compilers are compared with each other.
pub fn of(axis: ShardBy, outline: &Outline) -> Result<Vec<ShardPart>, Misuse> {
    let experiment = &outline.experiment;
    let (option, what, names): (_, _, Vec<&String>) = match axis {
        ShardBy::Input => ("--input", "input", experiment.inputs.iter().map(|input| &input.name).collect()),
        ShardBy::Compiler => {
            ("--compiler", "compiler", outline.compilers.iter().map(|compiler| &compiler.name).collect())
        }
    };
    let is_compared = experiment.contrasts.along.contains(&Axis::Compiler)
        || experiment.claims.iter().any(|claim| claim.baseline_compiler.is_some());
    if axis == ShardBy::Compiler && is_compared {
        return Err(Misuse(
            "--shard-by compiler: this experiment compares compilers with each other (contrasts.along, or a claim), which must be \
             measured on one machine; use --shard-by input"
                .into(),
        ));
    }
    if names.len() < 2 {
        return Err(Misuse(format!(
            "--shard-by {what}: the experiment has only one {what}, so there is nothing to share out; leave it out"
        )));
    }
    let words = |name: &str| vec![option.to_owned(), name.to_owned(), format!("--one-of={}", names.len())];
    Ok(names.iter().map(|name| ShardPart { name: format!("{what} {name}"), words: words(name) }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_pure::experiment::Experiment;
    use std::path::PathBuf;

    fn outline(inputs: &[&str], more: &str) -> Outline {
        let mut text = format!(
            "question = \"q\"\nunit = \"byte\"\nbaseline = \"a\"\nvariants = [\"a\", \"b\"]\nprogram.sources = [\"p.c\"]\n{more}"
        );
        for input in inputs {
            text += &format!(
                "[inputs.{input}]\ngenerator = \"log_uniform\"\nmin_bits = 0\nmax_bits = 7\nunits = 100\n"
            );
        }
        let experiment = Experiment::from_toml(&text, "e.toml").expect("a good file").experiment;
        Outline { experiment, text, folder: PathBuf::new(), compilers: Vec::new(), skipped: Vec::new() }
    }

    #[test]
    fn each_input_is_a_part_with_its_share_and_one_alone_is_not_shared_out() {
        let parts = of(ShardBy::Input, &outline(&["log", "flat"], "")).unwrap();
        let told: Vec<(String, String)> =
            parts.iter().map(|part| (part.name.clone(), part.words.join(" "))).collect();
        let expected = [("input log", "--input log --one-of=2"), ("input flat", "--input flat --one-of=2")];
        assert_eq!(told, expected.map(|(name, words)| (name.to_owned(), words.to_owned())));
        let one = of(ShardBy::Input, &outline(&["log"], "")).unwrap_err().0;
        assert!(one.contains("has only one input"), "{one}");
    }

    #[test]
    fn compilers_that_are_compared_stay_together() {
        let along = "contrasts.along = [\"variant\", \"compiler\"]\n";
        let refused = of(ShardBy::Compiler, &outline(&["log"], along)).unwrap_err().0;
        assert!(refused.contains("must be measured on one machine"), "{refused}");
    }
}
