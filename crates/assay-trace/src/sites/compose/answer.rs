//! The first sentence: how concentrated mispredictions are, where the worst are, and whether they can be predicted.

use assay_pure::words;
use assay_pure::words::plural;
use assay_report::prose::file_name;
use assay_report::sites::names::short;
use assay_report::sites::page::{HintVerdict, Site, SiteOrder, SitesPage};

/// The part of all mispredictions that "most of them" means.
const MOST: f64 = 0.9;

/// The answer in plain words.
pub fn answer(page: &SitesPage) -> String {
    let mut sentences: Vec<String> = page.components.iter().filter_map(super::components::answer).collect();
    sentences.push(about_sites(page));
    sentences.extend(about_hints(page));
    sentences.join(" ")
}

fn about_sites(page: &SitesPage) -> String {
    let Some(worst) = page.sites.first() else {
        return match page.totals.branches {
            0 => "No branch was executed.".to_owned(),
            _ => "No site matches.".to_owned(),
        };
    };
    if page.totals.cost <= 0.0 || page.sorted_by == SiteOrder::Address {
        let part = worst.executed as f64 / page.totals.branches.max(1) as f64;
        let judged = if page.predictors.is_empty() { "" } else { "; none was mispredicted" };
        return format!(
            "{} branched{judged}; {} makes {} of all branches.",
            plural(page.totals.sites, "place"),
            whereabouts(worst),
            words::fraction(part)
        );
    }
    if page.sorted_by != SiteOrder::Mispredictions {
        return format!("First, sorted by {}: {}.", page.sorted_by.name(), described(worst));
    }
    let running = page.sites.iter().find(|site| site.running.is_some_and(|running| running >= MOST));
    let concentration = match running {
        Some(site) if site.rank == 1 => format!("1 of {} sites causes", words::count(page.totals.sites)),
        Some(site) => format!(
            "{} of {} sites cause {} of the mispredictions; the worst causes",
            words::count(site.rank),
            words::count(page.totals.sites),
            words::fraction(site.running.unwrap_or(0.0))
        ),
        None => format!("The worst of {} causes", plural(page.totals.sites, "site")),
    };
    let share = words::fraction(worst.share.unwrap_or(0.0));
    let of_what = if concentration.contains("of the mispredictions") { "" } else { " of the mispredictions" };
    format!("{concentration} {share}{of_what}: {}{}.", whereabouts(worst), floor(worst))
}

/// Function, file and line, as much as is known.
pub fn whereabouts(site: &Site) -> String {
    let function = site.function.as_deref().map(short);
    let line = site.file.as_deref().zip(site.line).map(|(file, line)| format!("{}:{line}", file_name(file)));
    match (function, line) {
        (Some(function), Some(line)) => format!("{function} at {line}"),
        (Some(function), None) => format!("{function} at {}", site.address),
        (None, Some(line)) => line,
        (None, None) => {
            let module = site.module.as_deref().map_or("code made at run time", file_name);
            format!("{module} at {}", site.address)
        }
    }
}

fn described(site: &Site) -> String {
    format!(
        "{}, executed {}, {} of these mispredicted",
        whereabouts(site),
        words::plural(site.executed, "time"),
        words::fraction(site.rate)
    )
}

/// How much of a site's mispredictions cannot be predicted from its own history, and what helps.
fn floor(site: &Site) -> String {
    let Some(best) = site.floor.as_ref().and_then(|floor| floor.best).filter(|_| site.cost > 0.0) else {
        return String::new();
    };
    let inherent = best / site.cost;
    if inherent >= 0.95 {
        "; they cannot be predicted from its own history: change the data or remove the branch".to_owned()
    } else if inherent >= 0.5 {
        format!("; {} of them cannot be predicted from its own history", words::fraction(inherent))
    } else {
        format!(
            "; only {} of them cannot be predicted from its own history: simplify the pattern",
            words::fraction(inherent)
        )
    }
}

fn about_hints(page: &SitesPage) -> Option<String> {
    let hints = page.hints.as_ref()?;
    let judged = hints.right + hints.wrong;
    let wrong = hints.list.iter().find(|hint| hint.verdict == HintVerdict::Wrong);
    Some(match wrong {
        None if judged + hints.unclear + hints.not_executed == 0 => "No hints were found.".to_owned(),
        None => format!("None of {} is wrong.", plural(judged, "judged hint")),
        Some(worst) => {
            let place = worst.file.as_deref().zip(worst.line);
            let place = place
                .map_or(String::new(), |(file, line)| format!(": {}:{line} costs most", file_name(file)));
            format!(
                "{} of {} wrong{place}.",
                words::count(hints.wrong),
                plural(judged, "judged hint") + if hints.wrong == 1 { " is" } else { " are" }
            )
        }
    })
}
