//! The experiments that the repository ships can be built at a placement, flags and all.

use assay_link::build::{Builder, Link, find_compilers};
use assay_pure::experiment::Experiment;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the crate lies in the repository")
}

fn link_one(experiment: &Path, store: &Path) {
    let text = std::fs::read_to_string(experiment).expect("a shipped experiment is there");
    let parsed = Experiment::from_toml(&text, "experiment.toml").expect("a shipped experiment is sound");
    let Ok(compilers) = find_compilers(&["gcc".to_owned()]) else {
        eprintln!("skipped: no gcc on this machine");
        return;
    };
    let folder = experiment.parent().expect("a file lies in a folder");
    let builder = Builder::new(store).expect("a temporary folder can be written");
    let spec = &parsed.experiment;
    let recipe = builder
        .compile(folder, &spec.program, &spec.flags[0], &compilers[0])
        .unwrap_or_else(|failure| panic!("{}: {failure}", experiment.display()));
    for phase_bytes in [0, 32] {
        let link = Link::Placed { shuffle: 3, phase_bytes };
        builder.link(&recipe, link).unwrap_or_else(|failure| panic!("{}: {failure}", experiment.display()));
    }
}

#[test]
fn every_pair_of_known_truth_can_be_placed() {
    let store = tempfile::tempdir().expect("a temporary folder can be made");
    let folder = repository().join("fixtures/verdicts");
    let mut pairs: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the pairs are shipped")
        .flatten()
        .map(|entry| entry.path().join("experiment.toml"))
        .filter(|path| path.is_file())
        .collect();
    pairs.sort();
    assert!(pairs.len() >= 24, "{}", pairs.len());
    // Their flags are alike: one null and one real pair stand for them.
    for pair in [&pairs[0], &pairs[pairs.len() - 1]] {
        link_one(pair, store.path());
    }
}

#[test]
fn the_casebook_can_be_placed() {
    let store = tempfile::tempdir().expect("a temporary folder can be made");
    for study in ["varint", "dispatch", "lookup", "hashing"] {
        link_one(&repository().join(format!("casebook/{study}/smoke.toml")), store.path());
    }
}
