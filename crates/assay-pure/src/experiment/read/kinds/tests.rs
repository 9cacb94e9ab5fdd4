use crate::experiment::spec::InputSource;
use crate::experiment::{Diagnostic, Experiment};

const MINIMAL: &str =
    "question = \"q\"\nbaseline = \"a\"\nvariants = [\"a\", \"b\"]\n[program]\nsources = [\"x.c\"]\n";

fn with(inputs: &str) -> Experiment {
    let read = Experiment::from_toml(&format!("{MINIMAL}{inputs}\n"), "x/x.toml");
    read.unwrap_or_else(|problems| panic!("{problems:#?}")).experiment
}

fn made(lines: &str) -> Vec<u8> {
    with(&format!("[inputs.x]\n{lines}")).inputs[0].source.bytes().expect("made")
}

fn problems(text: &str) -> Vec<Diagnostic> {
    Experiment::from_toml(text, "x/x.toml").expect_err("something is wrong")
}

#[test]
fn a_kind_of_the_table_is_read_with_its_defaults_and_makes_its_format() {
    let experiment = with(
        "[inputs.a]\ngenerator = \"uniform\"\n[inputs.b]\ngenerator = \"zipf\"\nformat = \"u64\"\nunits = 50\n[inputs.c]\ngenerator = \"text\"\nnon_ascii = \"10 %\"",
    );
    let formats: Vec<String> = experiment.inputs.iter().map(|input| input.format.word()).collect();
    assert_eq!(formats, ["u32", "u64", "lines"]);
    let units: Vec<u64> = experiment
        .inputs
        .iter()
        .map(|input| match input.source {
            InputSource::Generated { units, .. } => units,
            _ => 0,
        })
        .collect();
    assert_eq!(units, [1_000_000, 50, 100_000]);
    let bytes = experiment.inputs[1].source.bytes().expect("made");
    assert_eq!((bytes.len(), experiment.inputs[1].units(&bytes)), (400, Ok(50)));
    // Large and negative numbers, and a few units repeated.
    let lines = "generator = \"uniform\"\nformat = \"u64\"\nmin = \"0xffff_ffff_ffff_fff0\"\nunits = 10\ndistinct_units = 5";
    let bytes = made(lines);
    assert!(bytes.len() == 80 && bytes[..40] == bytes[40..] && bytes[1..8] == [0xff; 7]);
    let kept = serde_json::to_value(&experiment.inputs[1].source).expect("plain data");
    assert_eq!(serde_json::from_value::<InputSource>(kept).expect("readable"), experiment.inputs[1].source);
}

#[test]
fn parameters_of_kinds_are_refused_at_their_place() {
    let said = |lines: &str| {
        let found = problems(&format!("{MINIMAL}[inputs.x]\n{lines}\n"));
        assert_eq!(found.len(), 1, "{lines}: {found:#?}");
        let found = found.into_iter().next().expect("one");
        (found.key.clone(), found.to_string())
    };
    for (lines, key, part) in [
        ("generator = \"zipf\"\nexponent = -1", "inputs.x.exponent", "a number from 0 to 10: how steeply"),
        ("generator = \"zipf\"\nexponent = \"steep\"", "inputs.x.exponent", "wrong type"),
        ("generator = \"text\"\nnon_ascii = \"120 %\"", "inputs.x.non_ascii", "a fraction from 0 to 1"),
        ("generator = \"uniform\"\nmax = 300\nformat = \"u8\"", "inputs.x.max", "an integer from 0 to 255"),
        ("generator = \"uniform\"\nmin = 9\nmax = 3", "inputs.x.max", "min is 9, above max, which is 3"),
        (
            "generator = \"nearly_sorted\"\nunits = 3\ninversions = 4",
            "inputs.x.inversions",
            "3 values have 3 pairs",
        ),
        ("generator = \"nearly_sorted\"\nformat = \"u8\"", "inputs.x.generator", "256 from 0 to 255"),
        ("generator = \"uniform\"\nformat = \"lines\"", "inputs.x.format", "makes no lines"),
        ("generator = \"uniform\"\nformat = \"f64\"", "inputs.x.format", "uniform_floats"),
        ("generator = \"uniform\"\nformat = \"u33\"", "inputs.x.format", "`u32`"),
        ("generator = \"uniform\"\nexponent = 2", "inputs.x.exponent", "not a parameter of \"uniform\""),
        (
            "generator = \"messages\"\nsize = 16777216\nunits = 1_000_000_000",
            "inputs.x.units",
            "a generated input has at most 4.00 GiB: ask for at most 255, or for a lower `size`",
        ),
        (
            "generator = \"text\"\nline_length = 1_000_000",
            "inputs.x.line_length",
            "`inputs.x.units`: 100000 units are about 93.1 GiB",
        ),
        (
            "generator = \"uniform\"\nformat = \"u64\"\nunits = 536_870_913",
            "inputs.x.units",
            "at most 536870912",
        ),
        (
            "generator = \"entropy\"\nunits = 1_000_000_000\n[inputs.y]\ngenerator = \"constant\"\nlength = 10\nunits = 1_000_000_000",
            "inputs.y.units",
            "at most 4.00 GiB",
        ),
        (
            "path = \"x\"\nformat = \"records:1000\"\n[inputs.y]\ngenerator = \"keys\"\ntable = \"x\"\nunits = 1_000_000_000",
            "inputs.y.units",
            "are about 931 GiB",
        ),
        ("generator = \"uniforn\"", "inputs.x.generator", "`uniform`"),
        ("path = \"x\"\nformat = \"records:0\"", "inputs.x.format", "unknown value"),
        ("path = \"x\"\ninversions = 2", "inputs.x.inversions", "cannot be used together"),
    ] {
        let (found, text) = said(lines);
        assert_eq!(found, key, "{lines}");
        // As printed, lines are broken between words.
        let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined.contains(part), "{text}");
    }
}

#[test]
fn every_number_of_a_kind_can_be_swept() {
    for kind in crate::inputs::kinds::kinds() {
        for parameter in kind.parameters {
            let key = format!("inputs.x.{}", parameter.name);
            let value = parameter.example.split_once(" = ").expect("key = value").1;
            // As a sweep has it: one value, twice as large as nothing else depends on it.
            let text = format!(
                "[inputs.x]\ngenerator = \"{}\"\n{}\n[sweeps.s]\nkey = \"{key}\"\nvalues = [{value}]",
                kind.name, parameter.example
            );
            let found = Experiment::from_toml(&format!("{MINIMAL}{text}\n"), "x/x.toml");
            if let Err(problems) = found {
                // One value alone is no sweep, and may not go with the other defaults; but it is a number of the input.
                let known = ["sweeps.s.values", "inputs.x.generator", key.as_str()];
                assert!(
                    problems.iter().all(|problem| known.contains(&problem.key.as_str())),
                    "{text}: {problems:#?}"
                );
            }
        }
    }
}
