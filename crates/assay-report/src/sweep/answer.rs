//! The answer of a sweep in words: who wins where, pair by pair, and the first line of the page.

use super::page::{CrossoverPage, Limit, PageSweepKey, PairPage, SweepPage, ZonePage};
use super::value::{at, named_point, point, span, value};
use assay_pure::sweep::Winner;
use assay_pure::words;

/// Pairs whose whole sentences make the answer; of more, a summary does.
const MOST_SENTENCES: usize = 2;

/// Who wins where, of one pair, in a sentence without its full stop.
pub fn sentence(key: &PageSweepKey, pair: &PairPage, minimum_effect: f64) -> String {
    match pair.crossovers.as_slice() {
        [] => without_flip(key, pair, minimum_effect),
        [one] => one_flip(key, pair, one, minimum_effect),
        several => several_flips(key, several),
    }
}

/// What to do about it; none where every pair is decided everywhere.
pub fn next(page: &SweepPage) -> Option<String> {
    let pairs =
        || page.series.iter().flat_map(|series| &series.pairs).filter(|pair| pair.baseline == page.baseline);
    let crossovers = || pairs().flat_map(|pair| &pair.crossovers);
    let mut told = Vec::new();
    if pairs().any(|pair| {
        pair.crossovers.is_empty() && pair.zones.iter().any(|zone| zone.winner == Winner::Unclear)
    }) || crossovers().any(|found| !found.confirmed || found.limited_by == Some(Limit::Noise))
    {
        told.push("raise --budget to decide what is open");
    }
    if crossovers().any(|found| found.limited_by == Some(Limit::Points)) {
        told.push("raise --refine to narrow a crossover");
    }
    (!told.is_empty()).then(|| told.join("; "))
}

/// The name of a zone's winner.
fn winner<'a>(pair: &'a PairPage, zone: &ZonePage) -> Option<&'a str> {
    match zone.winner {
        Winner::Candidate => Some(&pair.candidate),
        Winner::Baseline => Some(&pair.baseline),
        Winner::Neither | Winner::Unclear => None,
    }
}

fn one_flip(key: &PageSweepKey, pair: &PairPage, flip: &CrossoverPage, minimum_effect: f64) -> String {
    let place = named_point(key, flip);
    let has = |name: &str| pair.zones.iter().any(|zone| winner(pair, zone) == Some(name));
    let margin = words::asked(minimum_effect);
    let mut text = if has(&flip.faster_above) && has(&flip.faster_below) {
        format!("{} wins above {place}, {} below", flip.faster_above, flip.faster_below)
    } else {
        let (who, side, other) = if has(&flip.faster_above) {
            (&flip.faster_above, "above", &flip.faster_below)
        } else {
            (&flip.faster_below, "below", &flip.faster_above)
        };
        if has(who) {
            format!("{who} wins {side} {place}; {other} is nowhere ahead by {margin} or more")
        } else {
            format!(
                "no practical difference: they cross at {place}, but neither is ahead by {margin} anywhere"
            )
        }
    };
    let near = pair.zones.iter().find(|zone| zone.winner == Winner::Neither && has(&flip.faster_above));
    if let Some(zone) = near {
        text.push_str(&format!("; equal within {margin} {}", stretch(key, zone)));
    }
    text
}

fn several_flips(key: &PageSweepKey, flips: &[CrossoverPage]) -> String {
    let first = named_point(key, &flips[0]);
    let mut parts = vec![format!("{} wins up to {first}", flips[0].faster_below)];
    for pair in flips.windows(2) {
        parts.push(format!("{} up to {}", pair[0].faster_above, point(key, &pair[1])));
    }
    let last = &flips[flips.len() - 1];
    format!("{}, {} above", parts.join(", "), last.faster_above)
}

fn without_flip(key: &PageSweepKey, pair: &PairPage, minimum_effect: f64) -> String {
    let names = format!("{} and {}", pair.candidate, pair.baseline);
    match pair.zones.as_slice() {
        [] => format!("{names} were never measured together"),
        [zone] if covers(key, zone) => match winner(pair, zone) {
            Some(name) => format!(
                "{name} wins everywhere ({}), by {}",
                at(key, &span(key, key.from, key.to)),
                size(zone)
            ),
            None if zone.winner == Winner::Neither => {
                format!("no practical difference between {names} ({})", at(key, &span(key, key.from, key.to)))
            }
            None => format!("undecided: whether {names} differ by {} or more", words::asked(minimum_effect)),
        },
        // A point of which nothing is known beside a zone does not belong to it.
        zones => {
            let say = |zone: &ZonePage| match winner(pair, zone) {
                Some(name) => format!("{name} wins {} by {}", stretch(key, zone), size(zone)),
                None if zone.winner == Winner::Neither => {
                    format!("no practical difference {}", stretch(key, zone))
                }
                None => format!("undecided {}", stretch(key, zone)),
            };
            let mut parts: Vec<String> = zones.iter().map(say).collect();
            parts.extend(beyond(key, pair, zones));
            format!("{} ({})", parts.join(", "), key.label)
        }
    }
}

/// What is said of the ends of the range that belong to no zone: nothing is known of what was measured there, or nothing was.
fn beyond(key: &PageSweepKey, pair: &PairPage, zones: &[ZonePage]) -> Vec<String> {
    let (first, last) = (zones[0].from, zones[zones.len() - 1].to);
    let one = |is_empty: bool, side: &str, end: f64, is_there: &dyn Fn(f64) -> bool| {
        let mut measured = pair.ratios.iter().map(|ratio| ratio.at).filter(|at| is_there(*at));
        match (is_empty, measured.next(), measured.next_back()) {
            (true, ..) => None,
            (false, None, _) => Some(format!("not measured {side} {}", value(key, end))),
            (false, Some(only), None) => Some(format!("undecided at {}", value(key, only))),
            (false, Some(from), Some(to)) => Some(format!("undecided from {}", span(key, from, to))),
        }
    };
    let below = one(first <= key.from, "below", first, &|at| at < first);
    below.into_iter().chain(one(last >= key.to, "above", last, &|at| at > last)).collect()
}

/// Does a zone go over the whole range?
fn covers(key: &PageSweepKey, zone: &ZonePage) -> bool {
    zone.from <= key.from && zone.to >= key.to
}

/// "from 258 to 1,000", or "at 10" where one point alone is known.
fn stretch(key: &PageSweepKey, zone: &ZonePage) -> String {
    if zone.from == zone.to {
        return format!("at {}", value(key, zone.from));
    }
    format!("from {}", span(key, zone.from, zone.to))
}

/// By how much a zone's winner wins: the loser's excess over it is not meant, but the time it spares.
fn size(zone: &ZonePage) -> String {
    let (low, high) = (zone.lowest_ratio, zone.highest_ratio);
    // As the share of time that the winner spares, whichever side it is.
    let spared = |ratio: f64| if ratio < 1.0 { ratio } else { 1.0 / ratio };
    words::size_span([spared(low), spared(high)])
}

/// The first line of the page.
pub fn answer(page: &SweepPage) -> String {
    let several = page.series.len() > 1;
    let mut parts = Vec::new();
    for series in &page.series {
        let own: Vec<&PairPage> = series.pairs.iter().filter(|pair| pair.baseline == page.baseline).collect();
        let text = if own.len() <= MOST_SENTENCES {
            own.iter().map(|pair| pair.note.clone()).collect::<Vec<_>>().join(". ")
        } else {
            summary(page, &own)
        };
        let prefix = if several {
            format!("{}, {}, {}: ", series.input, series.compiler, series.flags)
        } else {
            String::new()
        };
        parts.push(format!("{prefix}{text}"));
    }
    if parts.iter().all(String::is_empty) {
        return "Nothing could be measured.".into();
    }
    format!("{}.", capital(&parts.join(". ")))
}

/// A sentence for those that win or lose everywhere, then one for each other candidate.
fn summary(page: &SweepPage, pairs: &[&PairPage]) -> String {
    let everywhere = |winner: Winner| -> Vec<&str> {
        let is_whole = |pair: &&&PairPage| {
            let whole = |zone: &ZonePage| zone.winner == winner && covers(&page.key, zone);
            pair.crossovers.is_empty() && matches!(pair.zones.as_slice(), [zone] if whole(zone))
        };
        pairs.iter().filter(is_whole).map(|pair| pair.candidate.as_str()).collect()
    };
    let mut told = Vec::new();
    let mut sentences = Vec::new();
    for (winner, plural, singular) in [
        (Winner::Candidate, "win everywhere", "wins everywhere"),
        (Winner::Baseline, "lose everywhere", "loses everywhere"),
        (Winner::Neither, "make no practical difference", "makes no practical difference"),
    ] {
        let names = everywhere(winner);
        if !names.is_empty() {
            sentences.push(format!("{} {}", words::list(&names), verb(&names, plural, singular)));
            told.extend(names);
        }
    }
    let mut names_key = true;
    for pair in pairs.iter().filter(|pair| !told.contains(&pair.candidate.as_str())) {
        sentences.push(of_candidate(&page.key, pair, page.measured.minimum_effect, names_key));
        names_key = false;
    }
    match sentences.first_mut() {
        None => return String::new(),
        Some(first) => *first = format!("compared with {}, {first}", page.baseline),
    }
    sentences.join(". ")
}

/// Where a candidate wins, short: "swar wins from 30 % ± 5 to 77.5 % ± 1.3". The key's name stands in the first such sentence.
fn of_candidate(key: &PageSweepKey, pair: &PairPage, minimum_effect: f64, names_key: bool) -> String {
    let name = &pair.candidate;
    let ahead = pair.zones.iter().filter(|zone| zone.winner == Winner::Candidate);
    let by = words::asked(minimum_effect);
    let label = if names_key { format!(" ({})", key.label) } else { String::new() };
    if !pair.crossovers.is_empty() {
        let stretches = words::list(&won(key, pair));
        // The winner of an established flip may be ahead by less than matters.
        return if ahead.count() > 0 || pair.zones.is_empty() {
            format!("{name} wins {stretches}{label}")
        } else {
            format!("{name} is ahead {stretches}, nowhere by {by} or more{label}")
        };
    }
    let of = |winner: Winner, verb: &str| {
        let zones = pair.zones.iter().filter(|zone| zone.winner == winner);
        let stretches: Vec<String> = zones.map(|zone| stretch(key, zone)).collect();
        (!stretches.is_empty()).then(|| format!("{verb} {}", words::list(&stretches)))
    };
    let parts = [
        of(Winner::Candidate, "wins"),
        of(Winner::Baseline, "loses"),
        of(Winner::Neither, "makes no practical difference"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match parts.as_slice() {
        [] if pair.ratios.is_empty() && pair.zones.is_empty() => {
            format!("{name} was never measured with {}", pair.baseline)
        }
        [] => format!("{name} is undecided: whether it differs by {by} or more"),
        parts => {
            let rest = beyond(key, pair, &pair.zones);
            let rest: String = rest.iter().map(|part| format!(", {part}")).collect();
            format!("{name} {}{rest}{label}", words::list(parts))
        }
    }
}

/// The stretches between its crossovers that a candidate wins: "below 15 ± 2", "from 30 % ± 5 to 77.5 % ± 1.3".
fn won(key: &PageSweepKey, pair: &PairPage) -> Vec<String> {
    let mut found = Vec::new();
    let mut since: Option<&CrossoverPage> = None;
    for flip in &pair.crossovers {
        if flip.faster_below == pair.candidate {
            found.push(match since {
                None => format!("below {}", point(key, flip)),
                Some(before) => format!("from {} to {}", point(key, before), point(key, flip)),
            });
        }
        since = (flip.faster_above == pair.candidate).then_some(flip);
    }
    found.extend(since.map(|flip| format!("above {}", point(key, flip))));
    found
}

fn verb<'a>(names: &[&str], plural: &'a str, singular: &'a str) -> &'a str {
    if names.len() == 1 { singular } else { plural }
}

/// Names of variants begin as they are written; a word of ours with a capital.
fn capital(text: &str) -> String {
    let ours = ["no practical", "compared", "undecided", "not measured"];
    if ours.iter().any(|word| text.starts_with(word)) { words::capital(text) } else { text.to_owned() }
}
