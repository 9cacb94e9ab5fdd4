//! A folder of kernels: each C file is one piece of work in several forms, and each experiment that the folder's
//! `kernels.toml` names makes one pair of it. So a kernel is added with one file.

use super::pair::{Expectation, KnownPair, PairSource};
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use toml_edit::{Array, DocumentMut, value};

/// What tells a folder of kernels.
const LIST: &str = "kernels.toml";

/// The pairs of a folder's kernels, named by pair and kernel: `null_adler32`. None if it is no folder of kernels.
///
/// # Errors
/// `kernels.toml` or a kernel cannot be read, or is wrong.
pub(super) fn read(folder: &Path) -> Result<Vec<KnownPair>> {
    let list = folder.join(LIST);
    if !list.is_file() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
    let made: BTreeMap<String, Expectation> =
        toml_edit::de::from_str(&text).with_context(|| format!("in {}", list.display()))?;
    let mut pairs = Vec::new();
    for (kernel, source, change) in sources(folder)? {
        for (name, pair) in &made {
            let from = PairSource::Kernel { template: folder.join(&pair.experiment), kernel: source.clone() };
            let name = format!("{name}_{kernel}");
            let known = pair.clone().known(name, folder.to_owned(), from, &list)?;
            pairs.push(KnownPair { change: Some(change.clone()), ..known });
        }
    }
    Ok(pairs)
}

/// Name, file and kind of change of each kernel: each C file with a line `// kind: `.
fn sources(folder: &Path) -> Result<Vec<(String, PathBuf, String)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let file = entry.with_context(|| format!("cannot list {}", folder.display()))?.path();
        if file.extension().is_none_or(|extension| extension != "c") {
            continue;
        }
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let kind = text.lines().find_map(|line| line.strip_prefix("// kind: "));
        if let (Some(kind), Some(name)) = (kind, file.file_stem()) {
            found.push((name.to_string_lossy().into_owned(), file.clone(), kind.trim().to_owned()));
        }
    }
    found.sort();
    Ok(found)
}

/// Writes the experiment of one kernel into the folder `to`: the template with the kernel as its first source, and all
/// paths absolute, so that it can be run from anywhere. Returns its file.
///
/// # Errors
/// The template is no experiment, a path is not UTF-8, or the file cannot be written.
pub(super) fn write_experiment(template: &Path, kernel: &Path, name: &str, to: &Path) -> Result<PathBuf> {
    let context = || format!("cannot make an experiment of {}", template.display());
    let text = fs::read_to_string(template).with_context(context)?;
    let text = for_kernel(&text, template, kernel, name).with_context(context)?;
    fs::create_dir_all(to).with_context(context)?;
    let file = to.join(format!("{name}.toml"));
    fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(file)
}

fn for_kernel(text: &str, template: &Path, kernel: &Path, name: &str) -> Result<String> {
    let folder = template.parent().context("a template lies in a folder")?;
    let mut experiment: DocumentMut = text.parse()?;
    experiment["name"] = value(name);
    let Some(program) = experiment.get_mut("program").and_then(|program| program.as_table_mut()) else {
        bail!("it has no table [program]");
    };
    for key in ["sources", "include_dirs"] {
        let Some(paths) = program.get(key).and_then(|paths| paths.as_array()) else {
            continue;
        };
        let mut absolute = Array::new();
        for (index, path) in paths.iter().enumerate() {
            let path = match path.as_str() {
                _ if key == "sources" && index == 0 => kernel.to_owned(),
                Some(path) => folder.join(path),
                None => bail!("{key} must contain only paths"),
            };
            let path = path.canonicalize().with_context(|| format!("there is no {}", path.display()))?;
            absolute.push(path.to_str().context("the folder's path is not UTF-8")?);
        }
        program[key] = value(absolute);
    }
    Ok(experiment.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::{PairKind, read_pairs};
    use super::*;
    use assay_pure::experiment::Experiment;

    fn shipped() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/nulls")
    }

    #[test]
    fn every_kernel_makes_a_null_and_a_real_pair() {
        let pairs = read_pairs(&shipped(), &[]).unwrap();
        let of = |kind| pairs.iter().filter(|pair| pair.kind == kind).count();
        assert_eq!((of(PairKind::Null), of(PairKind::Real)), (64, 64));
        let kinds = ["copy", "names", "cold", "helper"];
        for pair in &pairs {
            let change = pair.change.as_deref().unwrap_or("");
            assert!(kinds.contains(&change), "{}: no kind `{change}`", pair.name);
        }
        let one = read_pairs(&shipped(), &["*_adler32".into()]).unwrap();
        let names: Vec<&str> = one.iter().map(|pair| pair.name.as_str()).collect();
        assert_eq!(names, ["null_adler32", "real_adler32"]);
    }

    #[test]
    fn an_experiment_of_a_kernel_is_sound_and_runs_from_anywhere() {
        let scratch = tempfile::tempdir().unwrap();
        let pair = read_pairs(&shipped(), &["real_gcd".into()]).unwrap().remove(0);
        let file = pair.experiment(scratch.path()).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        let read = Experiment::from_toml(&text, "real_gcd.toml").expect("a sound experiment").experiment;
        assert_eq!((read.name.as_str(), read.budget_seconds), ("real_gcd", 4.0));
        assert_eq!(pair.experiment_name().unwrap(), read.name, "by it its campaigns are found again");
        let program = read.program;
        assert!(program.sources[0].ends_with("fixtures/nulls/gcd.c"), "{:?}", program.sources);
        for path in program.sources.iter().chain(&program.include_dirs) {
            assert!(Path::new(path).is_absolute() && Path::new(path).exists(), "{path}");
        }
    }

    #[test]
    fn a_template_that_is_none_is_refused_with_its_name() {
        let scratch = tempfile::tempdir().unwrap();
        let template = scratch.path().join("null.toml");
        fs::write(&template, "question = \"?\"\n").unwrap();
        let refused = write_experiment(&template, &template, "x", scratch.path()).unwrap_err();
        let said = format!("{refused:#}");
        assert!(said.contains("null.toml") && said.contains("[program]"), "{said}");
    }
}
