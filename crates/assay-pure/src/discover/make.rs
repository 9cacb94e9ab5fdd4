//! The target `bench` of a Makefile, or `benchmark` or `benchmarks`.
//!
//! What it needs is built first, where it names that plainly; otherwise the target is made once to build. A target that is
//! itself a program (`-o bench` in its recipe) is built, and then started.

use super::{BuildPlace, Candidate, Discovery, FolderView, quoted};

/// In the order in which make looks for them.
const FILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];
const TARGETS: [&str; 3] = ["bench", "benchmark", "benchmarks"];

pub(super) fn find(folder: &FolderView<'_>, place: &BuildPlace, found: &mut Discovery) {
    let Some((file, text)) = FILES.iter().find_map(|file| Some((file, folder.text_of(file)?))) else {
        return;
    };
    let text = text.replace("\\\n", " ");
    for target in TARGETS {
        let Some((needed, recipe)) = rule(&text, target) else { continue };
        let plain = !needed.is_empty() && needed.iter().all(|word| !word.contains(['$', '%', '|']));
        let is_program = is_linked_by(&recipe, target);
        let goals: Vec<String> = match plain && !is_program {
            true => needed.iter().map(|word| quoted(word)).collect(),
            false => vec![target.into()],
        };
        // In the user's own tree everything may be built already, and nothing would be linked.
        let again = if matches!(place, BuildPlace::Tree(_)) { " -B" } else { "" };
        found.candidates.push(Candidate {
            what: format!("target `{target}` of {file}"),
            build: format!("make{again} {}", goals.join(" ")),
            bench: if is_program { format!("./{target}") } else { format!("make {target}") },
        });
    }
}

/// What a target needs, and the lines of its recipe.
fn rule<'a>(text: &'a str, target: &str) -> Option<(Vec<&'a str>, Vec<&'a str>)> {
    let mut lines = text.lines();
    let needed = lines.by_ref().find_map(|line| needs(line, target))?;
    Some((needed, lines.take_while(|line| line.starts_with('\t')).collect()))
}

/// Whether the target is a program that the recipe links, not a name for running one.
fn is_linked_by(recipe: &[&str], target: &str) -> bool {
    let is_output = |pair: &[&str]| pair[0] == "-o" && (pair[1] == target || pair[1] == "$@");
    recipe.iter().any(|line| line.split_whitespace().collect::<Vec<_>>().windows(2).any(is_output))
}

/// What a target needs, where the line is its rule.
fn needs<'a>(line: &'a str, target: &str) -> Option<Vec<&'a str>> {
    let (targets, rest) = line.split_once(':')?;
    let is_rule = !line.starts_with('\t') && !rest.starts_with('=') && !rest.starts_with(":=");
    let named = targets.split_whitespace().any(|word| word == target);
    let rest = rest.trim_start_matches(':').split(['#', ';']).next()?;
    (is_rule && named && !targets.contains('=') && !rest.contains('='))
        .then(|| rest.split_whitespace().collect())
}

#[cfg(test)]
mod tests {
    use super::super::tests::found_in;
    use super::*;

    fn commands(makefile: &str, place: &BuildPlace) -> Vec<(String, String)> {
        let found = found_in(&[("Makefile", makefile)], place).candidates;
        found.into_iter().map(|one| (one.build, one.bench)).collect()
    }

    #[test]
    fn what_the_target_needs_is_built_first() {
        let both = |build: &str| vec![(build.to_owned(), "make bench".to_owned())];
        let makefile = ".PHONY: bench all\nBENCH := x\nall: tool\nbench: tool \\\n  words.txt # both\n\t./tool -b words.txt\n";
        assert_eq!(commands(makefile, &BuildPlace::Revision), both("make tool words.txt"));
        assert_eq!(commands(makefile, &BuildPlace::Tree("t".into())), both("make -B tool words.txt"));
        let program = [("make bench".to_owned(), "./bench".to_owned())];
        assert_eq!(commands("bench: bench.c\n\tcc -O2 -o $@ bench.c\n", &BuildPlace::Revision), program);
        assert_eq!(commands("bench:\n\tcd b && make\n", &BuildPlace::Revision), both("make bench"));
        assert_eq!(commands("bench: $(BIN)\n\t./x\n", &BuildPlace::Revision), both("make bench"));
    }

    #[test]
    fn variables_and_other_targets_are_none() {
        for text in
            ["bench := 1\n", "bench: CFLAGS = -O2\n", "benches:\n", "all:\n\tbench: x\n", "bench ::= a\n"]
        {
            assert!(commands(text, &BuildPlace::Revision).is_empty(), "{text}");
        }
    }
}
