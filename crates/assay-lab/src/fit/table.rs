//! The input's table as it stands in an experiment file.

use assay_pure::inputs::Markov;
use assay_pure::inputs::kinds::{Argument, InputRecipe};
use std::fmt::Write as _;

/// Columns of a line, where a list can be broken.
const WIDTH: usize = 80;

/// The table of an input with this name, of which `units` units are made from `seed`.
///
/// Input: a name of letters, digits, `_` and `-`, which needs no quotes.
pub fn table(name: &str, markov: &Markov, units: u64, seed: u64) -> String {
    let mut text = format!("[inputs.{name}]\ngenerator = \"markov\"\nunits = {units}\nseed = {seed}\n");
    if !markov.bits.is_empty() {
        text += "# Weights of the bit lengths 0, 1, 2, ... of the values.\n";
        text += &list("bits", &markov.bits);
    }
    text += "# After values of these lengths in bytes, the latest last: weights of 1, 2, 3, ... bytes.\n";
    let _ = writeln!(text, "[inputs.{name}.contexts]");
    for (context, weights) in &markov.contexts {
        text += &list(&format!("\"{context}\""), weights);
    }
    text
}

/// The table of an input that a generator of the list makes.
///
/// Input: as for [`table`].
pub fn recipe_table(name: &str, recipe: &InputRecipe, units: u64, seed: u64) -> String {
    let mut text = format!(
        "[inputs.{name}]\ngenerator = \"{}\"\nformat = \"{}\"\nunits = {units}\nseed = {seed}\n",
        recipe.kind().name,
        recipe.format().word()
    );
    for (key, value) in recipe.values() {
        let _ = match value {
            // TOML has no larger ones.
            Argument::Whole(value) if i64::try_from(value).is_err() => writeln!(text, "{key} = \"{value}\""),
            Argument::Whole(value) => writeln!(text, "{key} = {value}"),
            Argument::Number(value) => writeln!(text, "{key} = {value:?}"),
        };
    }
    text
}

/// `key = [1, 2, 3]`, broken between numbers where it would be too long.
fn list(key: &str, numbers: &[f64]) -> String {
    let mut lines = vec![format!("{key} = [")];
    for (index, number) in numbers.iter().enumerate() {
        let comma = if index + 1 < numbers.len() { "," } else { "]" };
        let word = format!("{number}{comma}");
        let line = lines.last_mut().expect("there is always a line");
        let blank = if line.ends_with('[') { "" } else { " " };
        if line.len() + blank.len() + word.len() <= WIDTH || line.ends_with('[') {
            *line += blank;
            *line += &word;
        } else {
            lines.push(format!("   {word}"));
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_pure::experiment::Experiment;
    use assay_pure::experiment::spec::InputSource;
    use assay_pure::inputs::Format;
    use assay_pure::inputs::Generator;
    use assay_pure::inputs::kinds::kind_named;

    #[test]
    fn an_experiment_with_the_table_makes_the_same_stream() {
        let weights = vec![0.0001, 33.33, 66.67, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1e-4];
        let contexts = [("", vec![100.0]), ("1 10", weights), ("2", vec![0.5, 99.5])];
        let markov = Markov {
            contexts: contexts.into_iter().map(|(context, weights)| (context.to_owned(), weights)).collect(),
            bits: (0..65).map(|bits| f64::from(bits) / 7.0 + 0.001).collect(),
        };
        let text = table("a-b_1", &markov, 1234, 7);
        assert!(text.lines().all(|line| line.len() <= 100), "{text}");
        let file = format!(
            "question = \"q?\"\nbaseline = \"a\"\nvariants = [\"a\", \"b\"]\nprogram.sources = [\"a.c\"]\n{text}"
        );
        let parsed = Experiment::from_toml(&file, "x.toml").unwrap_or_else(|problems| {
            panic!("{}", problems.iter().map(ToString::to_string).collect::<String>())
        });
        let [input] = &parsed.experiment.inputs[..] else { panic!("one input") };
        assert_eq!(input.name, "a-b_1");
        let source = InputSource::Generated {
            generator: Generator::Markov(markov),
            units: 1234,
            seed: 7,
            distinct_units: None,
        };
        assert_eq!(input.source, source);
    }

    #[test]
    fn every_generator_of_numbers_is_written_as_it_is_read() {
        for (name, format) in [
            ("uniform", "u64"),
            ("uniform", "i32"),
            ("normal", "f64"),
            ("few_distinct", "u16"),
            ("zipf", "u32"),
            ("booleans", "u8"),
            ("nearly_sorted", "u32"),
            ("wide_floats", "f32"),
            ("uniform_floats", "f64"),
        ] {
            let format = Format::parse(format).expect("a format");
            let recipe =
                InputRecipe::new(kind_named(name).expect("a generator"), format, |_| None).expect("defaults");
            let file = format!(
                "question = \"q?\"\nbaseline = \"a\"\nvariants = [\"a\", \"b\"]\nprogram.sources = [\"a.c\"]\n{}",
                recipe_table("x", &recipe, 70_000, 3)
            );
            let parsed = Experiment::from_toml(&file, "x.toml").unwrap_or_else(|problems| {
                panic!("{}", problems.iter().map(ToString::to_string).collect::<String>())
            });
            let generator = Generator::Of(recipe);
            let source = InputSource::Generated { generator, units: 70_000, seed: 3, distinct_units: None };
            assert_eq!(parsed.experiment.inputs[0].source, source);
        }
    }
}
