//! Packages of a Go module with functions `BenchmarkName(b *testing.B)` in their tests.
//!
//! The test program is compiled once and started in its package's folder, as `go test` does, for it may read files there.

use super::{BuildPlace, Candidate, Discovery, FolderView, quoted};
use crate::words;
use regex::Regex;
use std::sync::LazyLock;

const PROGRAM: &str = "assay-bench.test";

pub(super) fn find(folder: &FolderView<'_>, place: &BuildPlace, found: &mut Discovery) {
    static FUNCTION: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?m)^func Benchmark(?:[^a-z\W]\w*)?\(\w+ \*testing\.B\)").expect("a regular expression")
    });
    if !folder.has("go.mod") {
        return;
    }
    let modules: Vec<&str> = folder.files.iter().filter_map(|file| file.strip_suffix("/go.mod")).collect();
    let mut packages: Vec<(&str, usize)> = Vec::new();
    for file in folder.files.iter().filter(|file| file.ends_with("_test.go")) {
        let package = file.rsplit_once('/').map_or("", |(package, _)| package);
        let is_other =
            modules.iter().any(|module| package == *module || package.starts_with(&format!("{module}/")));
        if is_other
            || package.split('/').any(|part| part == "testdata" || part == "vendor" || part.starts_with('_'))
        {
            continue;
        }
        let count = folder.text_of(file).map_or(0, |text| FUNCTION.find_iter(&text).count());
        match packages.iter_mut().find(|(known, _)| *known == package) {
            Some((_, known)) => *known += count,
            None => packages.push((package, count)),
        }
    }
    found
        .candidates
        .extend(packages.into_iter().filter(|(_, count)| *count > 0).map(|one| candidate(one, place)));
}

fn candidate((package, count): (&str, usize), place: &BuildPlace) -> Candidate {
    let path = if package.is_empty() { ".".to_owned() } else { format!("./{package}") };
    let up = "../".repeat(if package.is_empty() { 0 } else { package.split('/').count() });
    let (program, made) = match place {
        BuildPlace::Revision => (format!("./{PROGRAM}"), super::joined(package, PROGRAM)),
        BuildPlace::Tree(folder) if folder.starts_with('/') => {
            (format!("{folder}/{PROGRAM}"), format!("{folder}/{PROGRAM}"))
        }
        BuildPlace::Tree(folder) => (format!("{up}{folder}/{PROGRAM}"), format!("{folder}/{PROGRAM}")),
    };
    let enter = if package.is_empty() { String::new() } else { format!("cd {} && ", quoted(package)) };
    Candidate {
        what: format!("Go package {path} ({})", words::plural(count as u64, "benchmark function")),
        build: format!("go test -c -o {} {}", quoted(&made), quoted(&path)),
        bench: format!("{enter}{} -test.run '^$' -test.bench . -test.benchtime 10ms", quoted(&program)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::found_in;
    use super::*;

    const TESTS: &str = "package p\nfunc BenchmarkSum(b *testing.B) {\n}\nfunc TestSum(t *testing.T) {\n}\n";

    #[test]
    fn packages_with_benchmarks_are_found() {
        let files = [
            ("go.mod", "module example.org/p\n"),
            ("sum_test.go", "package p\nfunc TestSum(t *testing.T) {}\nfunc Benchmarking(b *testing.B) {}\n"),
            ("in/side/sum_test.go", TESTS),
            ("other/go.mod", "module example.org/other\n"),
            ("other/sum_test.go", TESTS),
            ("vendor/x/sum_test.go", TESTS),
        ];
        let found = found_in(&files, &BuildPlace::Revision).candidates;
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].build, "go test -c -o in/side/assay-bench.test ./in/side");
        let options = "-test.run '^$' -test.bench . -test.benchtime 10ms";
        assert_eq!(found[0].bench, format!("cd in/side && ./assay-bench.test {options}"));
        let found = found_in(&files, &BuildPlace::Tree(".assay/tree".into())).candidates;
        assert_eq!(found[0].bench, format!("cd in/side && ../../.assay/tree/assay-bench.test {options}"));
        assert!(found_in(&[("sum_test.go", TESTS)], &BuildPlace::Revision).candidates.is_empty());
    }
}
