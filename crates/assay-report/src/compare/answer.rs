//! The answer in a few sentences: what differs first, then what only looks so, then what is not known.

use super::page::{ComparePage, Compared, Method};
use crate::number;
use crate::page::{AsBuiltSays, Verdict};
use crate::prose;

/// Benchmarks named in a sentence; beyond that they are counted.
const NAMED: usize = 4;

/// The answer to a comparison's question.
pub fn answer(page: &ComparePage) -> String {
    if page.benchmarks.is_empty() {
        return "Nothing could be compared: no benchmark has figures on both sides.".into();
    }
    match page.sides.as_slice() {
        [_, candidate] => of_two(page, &candidate.name),
        _ => of_one(page),
    }
}

fn of_two(page: &ComparePage, candidate: &str) -> String {
    let total = page.benchmarks.len() as u64;
    let mut sentences = Vec::new();
    for (verdict, word) in [(Verdict::Slower, "slower"), (Verdict::Faster, "faster")] {
        let found: Vec<&Compared> = page.with(verdict).collect();
        if !found.is_empty() {
            sentences.push(differs(&found, total, word, candidate));
        }
    }
    let equivalent = page.with(Verdict::Equivalent).count() as u64;
    let margin = number::asked(page.measured.minimum_effect);
    if equivalent == total {
        let all = if total == 1 { "The benchmark is".into() } else { format!("All {total} benchmarks are") };
        sentences.push(format!("{all} equivalent within {margin} in {candidate}."));
    } else if equivalent > 0 {
        let verb = if equivalent == 1 { "is" } else { "are" };
        sentences.push(format!("{equivalent} of {total} {verb} equivalent within {margin}."));
    }
    let open = page.with(Verdict::Inconclusive).count() as u64;
    if open > 0 {
        sentences.push(undecided(page, open, total));
    }
    sentences.extend(misled(page));
    sentences.join(" ")
}

fn differs(found: &[&Compared], total: u64, word: &str, candidate: &str) -> String {
    let named = |compared: &&Compared| {
        let size = compared.code.map(|code| number::change_with_interval(&code)).unwrap_or_default();
        format!("{} {size}", compared.benchmark)
    };
    let mut by_size = found.to_vec();
    let size = |compared: &Compared| compared.code.map_or(0.0, |code| code.ratio.ln().abs());
    by_size.sort_by(|one, other| size(other).total_cmp(&size(one)));
    let mut names: Vec<String> = by_size.iter().take(NAMED).map(named).collect();
    if found.len() > NAMED {
        names.push(format!("{} more", found.len() - NAMED));
    }
    let verb = if found.len() == 1 { "is" } else { "are" };
    format!("{} of {total} benchmarks {verb} {word} in {candidate}: {}.", found.len(), prose::list(&names))
}

fn undecided(page: &ComparePage, open: u64, total: u64) -> String {
    let finest = page
        .with(Verdict::Inconclusive)
        .filter_map(|found| found.minimum_detectable_effect)
        .max_by(f64::total_cmp);
    let detectable = finest.map_or(String::new(), |effect| {
        format!(" (effects of {} would have been found in each)", number::fraction(effect))
    });
    format!("{open} of {total} {} undecided{detectable}.", if open == 1 { "is" } else { "are" })
}

fn misled(page: &ComparePage) -> Option<String> {
    let ghosts: Vec<&str> = page
        .benchmarks
        .iter()
        .filter(|found| found.as_built_says == Some(AsBuiltSays::Ghost))
        .map(|found| found.benchmark.as_str())
        .collect();
    let ratios = page.benchmarks.iter().filter(|found| found.as_built_says == Some(AsBuiltSays::Ghost));
    let span = number::change_span(ratios.filter_map(|found| found.as_built.map(|built| built.ratio)));
    match ghosts.as_slice() {
        [] => None,
        [one] => Some(format!(
            "As built, {one} differs by {span}: that is where its code was linked, not what it does."
        )),
        many => Some(format!(
            "As built, {} more differ, by {span}: that is where their code was linked, not what it does.",
            many.len()
        )),
    }
}

fn of_one(page: &ComparePage) -> String {
    let spread = |found: &Compared| found.baseline.worst / found.baseline.best - 1.0;
    let mut spreads: Vec<(f64, &str)> =
        page.benchmarks.iter().map(|found| (spread(found), found.benchmark.as_str())).collect();
    spreads.sort_by(|one, other| other.0.total_cmp(&one.0));
    let (most, name) = spreads[0];
    let middle = spreads[spreads.len() / 2].0;
    let what = match page.method {
        Method::Placements => "where the same code is linked",
        Method::Surroundings => "the surroundings of the process",
    };
    format!(
        "Between {what}, {name} varies by {}, the median benchmark by {}: a change that is smaller than that cannot be \
         seen in one build.",
        number::fraction(most),
        number::fraction(middle)
    )
}
