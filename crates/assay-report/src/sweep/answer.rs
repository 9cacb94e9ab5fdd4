//! The answer of a sweep in words: who wins where, pair by pair, and the first line of the page.

use super::page::{CrossoverPage, Limit, PageSweepKey, PairPage, SweepPage, ZonePage};
use super::value::{at, crossover, span, value};
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
    let place = at(key, &crossover(key, flip));
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
    let first = at(key, &crossover(key, &flips[0]));
    let mut parts = vec![format!("{} wins up to {first}", flips[0].faster_below)];
    for pair in flips.windows(2) {
        parts.push(format!("{} up to {}", pair[0].faster_above, crossover(key, &pair[1])));
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
            parts.extend(
                (zones[0].from > key.from)
                    .then(|| format!("not measured below {}", value(key, zones[0].from))),
            );
            let last = zones[zones.len() - 1].to;
            parts.extend((last < key.to).then(|| format!("not measured above {}", value(key, last))));
            format!("{} ({})", parts.join(", "), key.label)
        }
    }
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

fn summary(page: &SweepPage, pairs: &[&PairPage]) -> String {
    let mut crossing = Vec::new();
    let (mut faster, mut slower, mut other) = (Vec::new(), Vec::new(), Vec::new());
    for pair in pairs {
        match pair.crossovers.as_slice() {
            [one] => {
                let side = if one.faster_above == pair.candidate { "above" } else { "below" };
                crossing.push(format!("{} {side} {}", pair.candidate, crossover(&page.key, one)));
            }
            [] => match pair.zones.as_slice() {
                [zone] if zone.winner == Winner::Candidate && covers(&page.key, zone) => {
                    faster.push(pair.candidate.as_str())
                }
                [zone] if zone.winner == Winner::Baseline && covers(&page.key, zone) => {
                    slower.push(pair.candidate.as_str())
                }
                _ => other.push(pair.candidate.as_str()),
            },
            _ => other.push(pair.candidate.as_str()),
        }
    }
    let mut parts = Vec::new();
    if !crossing.is_empty() {
        let verb = if crossing.len() == 1 { "wins" } else { "win" };
        let places: Vec<String> = crossing;
        parts.push(format!(
            "compared with {}, by {}, {verb} {}",
            page.baseline,
            page.key.label,
            words::list(&places)
        ));
    }
    if !faster.is_empty() {
        parts.push(format!("{} {} everywhere", words::list(&faster), verb(&faster, "win", "wins")));
    }
    if !slower.is_empty() {
        parts.push(format!("{} {} everywhere", words::list(&slower), verb(&slower, "lose", "loses")));
    }
    if !other.is_empty() {
        parts.push(format!("{}: see below", words::list(&other)));
    }
    parts.join("; ")
}

fn verb<'a>(names: &[&str], plural: &'a str, singular: &'a str) -> &'a str {
    if names.len() == 1 { singular } else { plural }
}

/// Names of variants begin as they are written; a word of ours with a capital.
fn capital(text: &str) -> String {
    let ours = ["no practical", "compared", "undecided", "not measured"];
    if ours.iter().any(|word| text.starts_with(word)) { words::capital(text) } else { text.to_owned() }
}
