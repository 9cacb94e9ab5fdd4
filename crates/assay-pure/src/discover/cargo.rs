//! Benchmarks of Cargo.toml: `[[bench]]`, and the files of `benches/`, of the package and of the workspace's members.
//!
//! The library is known by the source: `criterion_main!`, `divan::main()`, `#[bench]`.

use super::{BuildPlace, Candidate, Discovery, FolderView, joined, quoted};
use regex::Regex;
use std::sync::LazyLock;
use toml_edit::{DocumentMut, Item};

/// A second per benchmark becomes about 0.2: the comparison repeats processes, not samples.
const CRITERION: &str =
    " -- --warm-up-time 0.05 --measurement-time 0.1 --sample-size 10 --nresamples 2000 --noplot";

/// A benchmark as its manifest has it.
struct BenchTarget {
    name: String,
    file: String,
    features: Vec<String>,
}

/// What measures in a source file.
enum BenchLibrary {
    Criterion,
    Divan,
    Libtest,
    /// One whose figures are not read.
    Unread(&'static str),
}

pub(super) fn find(folder: &FolderView<'_>, place: &BuildPlace, found: &mut Discovery) {
    let Some(root) = manifest(folder, "") else { return };
    let members = members(folder, &root);
    let own = root.get("package").is_some().then(|| (String::new(), &root));
    for (path, manifest) in own.into_iter().chain(members.iter().map(|(path, read)| (path.clone(), read))) {
        if manifest.get("package").is_none() {
            continue;
        }
        for target in targets(folder, &path, manifest) {
            let place_of_it = joined(&path, "Cargo.toml");
            let described = format!("benchmark `{}` of {place_of_it}", target.name);
            match library(folder, &target.file) {
                Some(BenchLibrary::Unread(library)) => {
                    found.notes.push(format!("{described} uses {library}, whose figures are not read."));
                }
                Some(library) => {
                    found.candidates.push(candidate(&described, &library, &path, &target, place));
                }
                None => {
                    found.notes.push(format!("{described} uses no known library ({}).", target.file));
                }
            }
        }
    }
}

fn manifest(folder: &FolderView<'_>, path: &str) -> Option<DocumentMut> {
    folder.text_of(&joined(path, "Cargo.toml"))?.parse().ok()
}

/// The packages of a workspace beside its own.
fn members(folder: &FolderView<'_>, root: &DocumentMut) -> Vec<(String, DocumentMut)> {
    let list = |key: &str| -> Vec<String> {
        let listed = root.get("workspace").and_then(|workspace| workspace.get(key)?.as_array());
        listed
            .into_iter()
            .flatten()
            .filter_map(|one| Some(one.as_str()?.trim_start_matches("./").to_owned()))
            .collect()
    };
    let (members, excluded) = (list("members"), list("exclude"));
    let folders = folder.files.iter().filter_map(|file| file.strip_suffix("/Cargo.toml"));
    let is_member = |path: &&str| {
        members.iter().any(|member| matches(member, path)) && !excluded.iter().any(|one| one == path)
    };
    folders.filter(is_member).filter_map(|path| Some((path.to_owned(), manifest(folder, path)?))).collect()
}

/// `crates/*` is any folder directly below `crates`.
fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, path): (Vec<&str>, Vec<&str>) =
        (pattern.trim_end_matches('/').split('/').collect(), path.split('/').collect());
    pattern.len() == path.len()
        && pattern.iter().zip(path).all(|(one, part)| wildmatch::WildMatch::new(one).matches(part))
}

fn targets(folder: &FolderView<'_>, path: &str, manifest: &DocumentMut) -> Vec<BenchTarget> {
    let mut all: Vec<BenchTarget> = Vec::new();
    let listed = manifest.get("bench").and_then(Item::as_array_of_tables);
    for bench in listed.into_iter().flatten() {
        let text = |key: &str| bench.get(key).and_then(Item::as_str).map(str::to_owned);
        let Some(name) = text("name") else { continue };
        if bench.get("bench").and_then(Item::as_bool) == Some(false) {
            continue;
        }
        let usual = [format!("benches/{name}.rs"), format!("benches/{name}/main.rs")];
        let file = text("path")
            .map(|file| joined(path, file.trim_start_matches("./")))
            .or_else(|| usual.iter().map(|file| joined(path, file)).find(|file| folder.has(file)));
        let features = bench.get("required-features").and_then(Item::as_array);
        let features =
            features.into_iter().flatten().filter_map(|one| one.as_str().map(str::to_owned)).collect();
        all.extend(file.map(|file| BenchTarget { name, file, features }));
    }
    let package = manifest.get("package");
    if package.and_then(|package| package.get("autobenches")?.as_bool()) == Some(false) {
        return all;
    }
    let benches = joined(path, "benches");
    for file in folder.below(&benches) {
        let below = &file[benches.len() + 1..];
        let stem = below.strip_suffix("/main.rs").or_else(|| below.strip_suffix(".rs"));
        let Some(name) = stem.filter(|stem| !stem.contains('/')) else { continue };
        if all.iter().all(|known| known.name != name && known.file != file) {
            all.push(BenchTarget { name: name.to_owned(), file: file.to_owned(), features: Vec::new() });
        }
    }
    all
}

fn library(folder: &FolderView<'_>, file: &str) -> Option<BenchLibrary> {
    static LIBTEST: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?m)^\s*#\[bench\]").expect("a regular expression"));
    let text = folder.text_of(file)?;
    let has = |word: &str| text.contains(word);
    if has("iai_callgrind") || has("iai::") || has("gungraun") {
        return Some(BenchLibrary::Unread("iai-callgrind"));
    }
    if has("criterion_main!") || has("criterion::") || has("Criterion") {
        return Some(BenchLibrary::Criterion);
    }
    if has("divan::main") || has("divan::bench") {
        return Some(BenchLibrary::Divan);
    }
    LIBTEST.is_match(&text).then_some(BenchLibrary::Libtest)
}

fn candidate(
    described: &str,
    library: &BenchLibrary,
    member: &str,
    target: &BenchTarget,
    place: &BuildPlace,
) -> Candidate {
    let (name, options, needs) = match library {
        BenchLibrary::Criterion => ("criterion", CRITERION, ""),
        BenchLibrary::Divan => ("divan", "", ""),
        BenchLibrary::Libtest | BenchLibrary::Unread(_) => ("#[bench]", "", " +nightly"),
    };
    // Its name alone may also be that of a published version which something here depends on.
    let mut which = match member {
        "" => String::new(),
        member => format!(" --manifest-path {}", quoted(&joined(member, "Cargo.toml"))),
    };
    which += &format!(" --bench {}", target.name);
    if !target.features.is_empty() {
        which += &format!(" --features {}", target.features.join(","));
    }
    let mut afresh = String::new();
    if let BuildPlace::Tree(folder) = place {
        which += &format!(" --target-dir {folder}");
        // Dependencies stay built; cargo calls a benchmark's file by the crate's name.
        afresh = place.afresh(&format!("{folder}/release/deps/{}-*", target.name.replace('-', "_")));
    }
    Candidate {
        what: format!("{described} ({name})"),
        build: format!("{afresh}cargo{needs} bench --no-run{which}"),
        bench: format!("cargo{needs} bench{which}{options}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::found_in;
    use super::*;

    const CRITERION_SOURCE: &str =
        "use criterion::{criterion_group, criterion_main};\ncriterion_main!(all);\n";

    #[test]
    fn benches_are_known_by_their_library() {
        let files = [
            (
                "Cargo.toml",
                "[package]\nname = \"p\"\n[[bench]]\nname = \"parse\"\nharness = false\nrequired-features = [\"std\", \"x\"]\n\
                 [[bench]]\nname = \"other\"\npath = \"perf/o.rs\"\n",
            ),
            ("benches/parse.rs", CRITERION_SOURCE),
            ("benches/count.rs", "use iai_callgrind::main;\n"),
            ("benches/common/mod.rs", CRITERION_SOURCE),
            ("benches/table/main.rs", "fn main() { divan::main(); }\n"),
            ("perf/o.rs", "#![feature(test)]\n#[bench]\nfn a(b: &mut Bencher) {}\n"),
        ];
        let found = found_in(&files, &BuildPlace::Revision);
        let what: Vec<&str> = found.candidates.iter().map(|one| one.what.as_str()).collect();
        let expected = [
            "benchmark `parse` of Cargo.toml (criterion)",
            "benchmark `other` of Cargo.toml (#[bench])",
            "benchmark `table` of Cargo.toml (divan)",
        ];
        assert_eq!(what, expected);
        assert_eq!(found.candidates[0].build, "cargo bench --no-run --bench parse --features std,x");
        let options =
            " -- --warm-up-time 0.05 --measurement-time 0.1 --sample-size 10 --nresamples 2000 --noplot";
        assert_eq!(found.candidates[0].bench, format!("cargo bench --bench parse --features std,x{options}"));
        assert_eq!(found.candidates[1].bench, "cargo +nightly bench --bench other");
        assert_eq!(found.candidates[2].bench, "cargo bench --bench table");
        assert_eq!(
            found.notes,
            ["benchmark `count` of Cargo.toml uses iai-callgrind, whose figures are not read."]
        );
    }

    #[test]
    fn members_of_a_workspace_are_named_by_their_manifest() {
        let files = [
            ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\nexclude = [\"crates/not\"]\n"),
            ("crates/one/Cargo.toml", "[package]\nname = \"first\"\n"),
            ("crates/one/benches/fast-path.rs", CRITERION_SOURCE),
            ("crates/not/Cargo.toml", "[package]\nname = \"not\"\n"),
            ("crates/not/benches/b.rs", CRITERION_SOURCE),
            ("elsewhere/Cargo.toml", "[package]\nname = \"elsewhere\"\n"),
            ("elsewhere/benches/b.rs", CRITERION_SOURCE),
        ];
        let found = found_in(&files, &BuildPlace::Tree(".assay/tree".into())).candidates;
        assert_eq!(found.len(), 1, "{found:?}");
        let build = "rm -f .assay/tree/release/deps/fast_path-* && cargo bench --no-run --manifest-path \
                     crates/one/Cargo.toml --bench fast-path --target-dir .assay/tree";
        assert_eq!(found[0].build, build);
        let bench = "cargo bench --manifest-path crates/one/Cargo.toml --bench fast-path --target-dir .assay/tree -- ";
        assert!(found[0].bench.starts_with(bench));
    }
}
