//! The answer in a few sentences: what differs, what is equivalent, what is undecided, what only looks different.

use super::page::{ComparePage, Compared, Method};
use crate::answer::next::{MOST_TIMES, rounded_up};
use crate::page::{AsBuiltSays, Verdict};
use assay_pure::words;

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

/// What to do about it; none where everything is decided.
pub fn next(page: &ComparePage) -> Option<String> {
    let ghosts: Vec<&str> = ghosts(page).map(|found| found.benchmark.as_str()).collect();
    let mut told = Vec::new();
    told.extend(longer(page));
    if !ghosts.is_empty() {
        told.push(format!("ignore the as-built difference of {}", named(&ghosts)));
    }
    if page.sides.len() < 2 && !page.benchmarks.is_empty() {
        told.push("name a revision to compare its code with this build's, apart from placement".to_owned());
    }
    (!told.is_empty()).then(|| told.join("; "))
}

/// "--budget 190 (seconds) should decide BM_hash; measuring longer will hardly decide BM_copy, which differs by at most 1.3 %".
fn longer(page: &ComparePage) -> Option<String> {
    let open: Vec<&Compared> = page.with(Verdict::Undecided).collect();
    let reach = MOST_TIMES * page.measured.seconds;
    let (near, far): (Vec<&Compared>, Vec<&Compared>) =
        open.iter().partition(|found| found.seconds_to_decide.is_some_and(|seconds| seconds <= reach));
    let names =
        |found: &[&Compared]| named(&found.iter().map(|found| found.benchmark.as_str()).collect::<Vec<_>>());
    // Rounds serve all benchmarks at once: the most demanding one decides.
    let seconds = near.iter().filter_map(|found| found.seconds_to_decide).reduce(f64::max);
    let budget = seconds.map(|seconds| {
        // What was measured did not do.
        let seconds = rounded_up(seconds.max(page.measured.seconds).max(1.0));
        format!("--budget {seconds:.0} (seconds) should decide {}", names(&near))
    });
    let rest = (!far.is_empty()).then(|| match far.iter().map(|found| bound(found)).reduce(f64::max) {
        Some(most) if most.is_finite() => {
            let differs = if far.len() == 1 { "differs" } else { "differ" };
            format!(
                "measuring longer will hardly decide {}, which {differs} by at most {}",
                names(&far),
                words::fraction(most)
            )
        }
        _ => format!("raise --budget to decide {}", names(&far)),
    });
    let told: Vec<String> = budget.into_iter().chain(rest).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// The farthest that it can be from no difference, by its interval.
fn bound(found: &Compared) -> f64 {
    found.code.map_or(f64::INFINITY, |code| (code.upper - 1.0).abs().max((1.0 - code.lower).abs()))
}

/// Names, beyond [`NAMED`] their number.
fn named<S: AsRef<str>>(names: &[S]) -> String {
    let mut shown: Vec<String> = names.iter().take(NAMED).map(|name| name.as_ref().to_owned()).collect();
    if names.len() > NAMED {
        shown.push(format!("{} more", names.len() - NAMED));
    }
    words::list(&shown)
}

fn of_two(page: &ComparePage, candidate: &str) -> String {
    let total = page.benchmarks.len() as u64;
    let mut sentences: Vec<String> = differs(page, candidate, total).into_iter().collect();
    let equivalent = page.with(Verdict::Equivalent).count() as u64;
    let margin = words::asked(page.measured.minimum_effect);
    let is = |count: u64| if count == 1 { "is" } else { "are" };
    let proof = proven(page, equivalent);
    if equivalent == total {
        let all = if total == 1 { "The benchmark is".into() } else { format!("All {total} benchmarks are") };
        sentences.push(format!("{all} equivalent within {margin} in {candidate}{proof}."));
    } else if equivalent > 0 {
        sentences
            .push(format!("{equivalent} of {total} {} equivalent within {margin}{proof}.", is(equivalent)));
    }
    let open = page.with(Verdict::Undecided).count() as u64;
    if open > 0 {
        let detectable = || page.with(Verdict::Undecided).filter_map(|found| found.minimum_detectable_effect);
        let ends = detectable().min_by(f64::total_cmp).zip(detectable().max_by(f64::total_cmp));
        let ends = ends.map(|(least, most)| (words::fraction(least), words::fraction(most)));
        let detectable = match ends {
            Some((least, most)) if least == most => format!(" (an effect of {least} would have been found)"),
            Some((least, most)) => format!(" (effects of {least} to {most} would have been found)"),
            None => String::new(),
        };
        sentences.push(format!("{open} of {total} {} undecided{detectable}.", is(open)));
    }
    sentences.extend(misled(page));
    sentences.join(" ")
}

/// ", 3 of them by proof: they execute the same machine code"
fn proven(page: &ComparePage, equivalent: u64) -> String {
    let proven = page.benchmarks.iter().filter(|found| found.proven).count() as u64;
    match proven {
        0 => String::new(),
        1 if equivalent == 1 => " by proof: it executes the same machine code".into(),
        all if all == equivalent => ", all by proof: they execute the same machine code".into(),
        some => format!(", {some} by proof: the same machine code is executed"),
    }
}

/// "HEAD is slower in 1 of 5 benchmarks (crc32 +5.1 % ± 0.6) and faster in 2 (sort -5.1 % ± 0.6 and copy -3.0 % ± 0.6)."
fn differs(page: &ComparePage, candidate: &str, total: u64) -> Option<String> {
    let mut told: Vec<String> = Vec::new();
    for verdict in [Verdict::Slower, Verdict::Faster] {
        let word = verdict.word();
        let mut found: Vec<&Compared> = page.with(verdict).collect();
        if found.is_empty() {
            continue;
        }
        let size = |compared: &Compared| compared.code.map_or(0.0, |code| code.ratio.ln().abs());
        found.sort_by(|one, other| size(other).total_cmp(&size(one)));
        let sized: Vec<String> = found
            .iter()
            .map(|compared| {
                let size = compared.code.map(|code| code.change()).unwrap_or_default();
                format!("{} {size}", compared.benchmark)
            })
            .collect();
        let of = match (told.is_empty(), total) {
            (true, 1) => " of 1 benchmark".to_owned(),
            (true, _) => format!(" of {total} benchmarks"),
            (false, _) => String::new(),
        };
        told.push(format!("{word} in {}{of} ({})", found.len(), named(&sized)));
    }
    (!told.is_empty()).then(|| format!("{candidate} is {}.", words::list(&told)))
}

fn ghosts(page: &ComparePage) -> impl Iterator<Item = &Compared> {
    page.benchmarks.iter().filter(|found| found.as_built_says == Some(AsBuiltSays::Ghost))
}

/// What only looks different as built. That it comes from the link is only said where it is more than noise: where the interval as
/// built and that of the code have nothing in common.
fn misled(page: &ComparePage) -> Option<String> {
    let (linked, unclear): (Vec<&Compared>, Vec<&Compared>) = ghosts(page).partition(|found| is_apart(found));
    let differ = |found: &[&Compared]| {
        let span =
            words::change_span(found.iter().filter_map(|found| found.as_built.map(|built| built.ratio)));
        match found {
            [one] => format!("As built, {} differs by {span}", one.benchmark),
            many => format!("As built, {} benchmarks differ by {span}", many.len()),
        }
    };
    let code = |found: &[&Compared]| if found.len() == 1 { "its code was" } else { "their code was" };
    let mut told = Vec::new();
    if !linked.is_empty() {
        told.push(format!(
            "{}: that comes from where {} linked, not from the code.",
            differ(&linked),
            code(&linked)
        ));
    }
    if !unclear.is_empty() {
        told.push(format!(
            "{}: that is noise, or comes from where {} linked; the code is equivalent.",
            differ(&unclear),
            code(&unclear)
        ));
    }
    (!told.is_empty()).then(|| told.join(" "))
}

/// Whether what was seen as built cannot be what the code does.
fn is_apart(found: &Compared) -> bool {
    let both = found.as_built.zip(found.code);
    both.is_some_and(|(built, code)| built.log_interval().disjoint(&code.log_interval()))
}

fn of_one(page: &ComparePage) -> String {
    let spread = |found: &Compared| found.baseline.worst / found.baseline.best - 1.0;
    let mut spreads: Vec<(f64, &str)> =
        page.benchmarks.iter().map(|found| (spread(found), found.benchmark.as_str())).collect();
    spreads.sort_by(|one, other| other.0.total_cmp(&one.0));
    let (most, name) = spreads[0];
    let middle = spreads[spreads.len() / 2].0;
    let what = match page.method {
        Method::Placements => "Placement alone (where the linker puts the same code)",
        Method::Surroundings => "The surroundings of the process alone (environment, stack, addresses)",
    };
    format!(
        "{what} changes {name} by up to {}, and the median benchmark by up to {}. A smaller change cannot be seen by timing one \
         build against another.",
        words::fraction(most),
        words::fraction(middle)
    )
}
