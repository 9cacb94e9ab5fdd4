//! The experiment files that the repository ships, checked with the reader and with their folders.

use std::fs;
use std::path::{Path, PathBuf};

use assay_pure::experiment::Experiment;
use assay_pure::experiment::spec::InputSource;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn folders(of: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(of)).expect("the repository has this folder");
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.expect("the folder can be listed").path())
        .filter(|path| path.join("experiment.toml").is_file())
        .collect();
    found.sort();
    found
}

fn read(file: &Path) -> Experiment {
    let text = fs::read_to_string(file).expect("the file can be read");
    match Experiment::from_toml(&text, &file.display().to_string()) {
        Ok(parsed) => parsed.experiment,
        Err(problems) => {
            let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
            panic!("{}", said.join("\n"))
        }
    }
}

fn files_named_by(experiment: &Experiment) -> Vec<String> {
    let recorded = experiment.inputs.iter().filter_map(|input| match &input.source {
        InputSource::Recorded { path } => Some(path.clone()),
        InputSource::Generated { .. }
        | InputSource::Command { .. }
        | InputSource::Keys { .. }
        | InputSource::Settings { .. }
        | InputSource::Empty => None,
    });
    let program = &experiment.program;
    recorded.chain(program.sources.iter().chain(&program.include_dirs).cloned()).collect()
}

fn check(file: &Path) -> Experiment {
    let experiment = read(file);
    let folder = file.parent().expect("a file is in a folder");
    for name in files_named_by(&experiment) {
        assert!(folder.join(&name).exists(), "{}: there is no {name}", file.display());
    }
    experiment
}

#[test]
fn every_study_of_the_casebook_is_read_without_complaint() {
    let studies = folders("casebook");
    assert!(!studies.is_empty());
    for study in studies {
        let entries = fs::read_dir(study).expect("the folder can be listed");
        let files = entries.map(|entry| entry.expect("the folder can be listed").path());
        // A diary of stages and a package of cargo are no experiments.
        let others = ["STAGES.toml", "Cargo.toml"];
        for file in files.filter(|file| {
            file.extension().is_some_and(|ext| ext == "toml")
                && !others.iter().any(|other| file.ends_with(other))
        }) {
            check(&file);
        }
    }
    for study in ["varint", "dispatch", "lookup", "hashing", "sorting", "utf8"] {
        assert!(root().join(format!("casebook/{study}/smoke.toml")).is_file(), "{study}");
    }
}

#[test]
fn every_pair_says_what_is_true_of_each_of_its_inputs() {
    let pairs = folders("fixtures/verdicts");
    let (null, real): (Vec<_>, Vec<_>) = pairs
        .iter()
        .partition(|pair| pair.file_name().is_some_and(|name| name.to_string_lossy().starts_with("null_")));
    assert!(null.len() >= 12 && real.len() >= 12, "{} null and {} real pairs", null.len(), real.len());
    for pair in pairs {
        let experiment = check(&pair.join("experiment.toml"));
        let truth = fs::read_to_string(pair.join("expect.toml")).expect("each pair has an expect.toml");
        let truth: toml_edit::DocumentMut = truth.parse().expect("expect.toml is TOML");
        let names: Vec<&str> =
            truth["inputs"].as_table().expect("a table").iter().map(|(name, _)| name).collect();
        let inputs: Vec<&str> = experiment.inputs.iter().map(|input| input.name.as_str()).collect();
        assert_eq!(names, inputs, "{}", pair.display());
        for name in names {
            let verdict = truth["inputs"][name]["verdict"].as_str().expect("a text");
            let effect = truth["inputs"][name]["nominal_effect"].as_float().expect("a number");
            let beyond = experiment.minimum_effect.is_exceeded_by(1.0 + effect);
            let agrees = match verdict {
                "slower" => effect > 0.0 && beyond,
                "faster" => effect < 0.0 && beyond,
                "equivalent" => !beyond,
                _ => false,
            };
            assert!(agrees, "{}: {name} is said to be {verdict}, by {effect}", pair.display());
        }
    }
}

#[test]
fn the_experiments_of_the_kernels_name_what_is_there() {
    for (name, candidate) in [("null", "b"), ("real", "more")] {
        let experiment = check(&root().join(format!("fixtures/nulls/{name}.toml")));
        let variants: Vec<&str> = experiment.variants.iter().map(|variant| variant.name.as_str()).collect();
        assert_eq!(variants, ["a", candidate], "{name}.toml");
        assert_eq!(experiment.compilers, ["gcc", "clang"], "{name}.toml");
    }
}
