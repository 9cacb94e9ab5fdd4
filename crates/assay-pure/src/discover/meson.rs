//! Calls `benchmark('name', program)` of meson.build.
//!
//! The program is started directly, with the words that the call gives it, for meson keeps what benchmarks print.

use super::{BuildPlace, Candidate, Discovery, FolderView, joined, quoted};
use regex::Regex;
use std::sync::LazyLock;

static PROGRAM: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(\w+)\s*=\s*executable\(\s*'([^']+)'").expect("a regular expression"));
static BENCHMARK: LazyLock<Regex> = LazyLock::new(|| {
    let call = r"(?m)^[^#'\n]*\bbenchmark\(\s*'(?<name>[^']+)'\s*,\s*(?:executable\(\s*'(?<own>[^']+)'|(?<variable>\w+))";
    Regex::new(call).expect("a regular expression")
});
static WORDS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\bargs\s*:\s*(?:\[([^\]]*)\]|('[^']*'))").expect("a regular expression"));
static OPTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"option\(\s*'(?<name>[^']*bench[^']*)'\s*,[^)]*?\btype\s*:\s*'boolean'[^)]*")
        .expect("a regular expression")
});

pub(super) fn find(folder: &FolderView<'_>, place: &BuildPlace, found: &mut Discovery) {
    if !folder.has("meson.build") {
        return;
    }
    let options = options(folder);
    for file in folder.files.iter().filter(|file| *file == "meson.build" || file.ends_with("/meson.build")) {
        let Some(text) = folder.text_of(file).filter(|_| !file.starts_with("subprojects/")) else { continue };
        let below = file.rsplit_once('/').map_or("", |(below, _)| below);
        for call in BENCHMARK.captures_iter(&text) {
            let described = format!("benchmark '{}' of {file}", &call["name"]);
            let program = match (call.name("own"), call.name("variable")) {
                (Some(own), _) => Some(own.as_str().to_owned()),
                (_, Some(variable)) => program(&text, variable.as_str()),
                _ => None,
            };
            let Some(program) = program else {
                found.notes.push(format!("{described} is not built by {file}."));
                continue;
            };
            let behind = &text[call.get(0).expect("the match").end()..];
            let words = behind.split("benchmark(").next().and_then(words);
            found.candidates.push(candidate(described, &joined(below, &program), words, &options, place));
        }
    }
}

fn program(text: &str, variable: &str) -> Option<String> {
    let is_it = |found: &regex::Captures<'_>| &found[1] == variable;
    PROGRAM.captures_iter(text).find(is_it).map(|found| found[2].to_owned())
}

/// The words of a call that are plain text.
fn words(behind: &str) -> Option<String> {
    let found = WORDS.captures(behind)?;
    let listed = found.get(1).or(found.get(2))?.as_str();
    let words = listed.split(',').map(|word| word.trim().strip_prefix('\'')?.strip_suffix('\''));
    let words: Vec<String> = words.map(|word| word.map(quoted)).collect::<Option<_>>()?;
    Some(words.iter().map(|word| format!(" {word}")).collect())
}

/// Options about benchmarks that are off unless they are asked for.
fn options(folder: &FolderView<'_>) -> String {
    let text = ["meson.options", "meson_options.txt"]
        .iter()
        .find_map(|file| folder.text_of(file))
        .unwrap_or_default();
    let off = OPTION.captures_iter(&text).filter(|found| found[0].replace(' ', "").contains("value:false"));
    off.map(|found| format!(" -D{}=true", &found["name"])).collect()
}

fn candidate(
    what: String,
    program: &str,
    words: Option<String>,
    options: &str,
    place: &BuildPlace,
) -> Candidate {
    let built = place.folder();
    let file = joined(built, program);
    Candidate {
        what,
        build: format!(
            "{}(test -f {built}/build.ninja || meson setup {built} --buildtype=release{options}) && ninja -C {built} {}",
            place.afresh(&quoted(&file)),
            quoted(program)
        ),
        bench: format!("{}{}", quoted(&file), words.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::found_in;
    use super::*;

    #[test]
    fn benchmarks_are_started_with_their_words() {
        let files = [
            ("meson.build", "project('p', 'c')\nsubdir('bench')\n"),
            (
                "bench/meson.build",
                "# benchmark('old', exe)\nexe = executable('sums', 'sums.c')\nbenchmark('sums', exe, args: ['-n', '10 0'])\n\
                 benchmark('own', executable('own_bench', 'o.c'))\nbenchmark('script', find_program('x.sh'))\n",
            ),
            (
                "meson_options.txt",
                "option('benchmarks', type : 'boolean', value : false)\noption('x', type: 'string')\n",
            ),
        ];
        let found = found_in(&files, &BuildPlace::Revision);
        let build = "(test -f build-assay/build.ninja || meson setup build-assay --buildtype=release -Dbenchmarks=true) && \
                     ninja -C build-assay bench/sums";
        assert_eq!(found.candidates[0].what, "benchmark 'sums' of bench/meson.build");
        assert_eq!(found.candidates[0].build, build);
        assert_eq!(found.candidates[0].bench, "build-assay/bench/sums -n '10 0'");
        assert_eq!(found.candidates[1].bench, "build-assay/bench/own_bench");
        assert_eq!(found.candidates.len(), 2);
        assert_eq!(
            found.notes,
            ["benchmark 'script' of bench/meson.build is not built by bench/meson.build."]
        );
    }
}
