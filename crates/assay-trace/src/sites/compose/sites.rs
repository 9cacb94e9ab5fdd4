//! The list of sites: which, in what order, with what around them.

use super::super::image::{ModuleImage, SourceFrame as Placed};
use super::super::source::SourceFiles;
use super::{Priced, SiteSelection, fits, share};
use assay_report::sites::page::{CodeLine, FloorMisses, Frame, Site, SiteOrder, SourceLine};
use std::cmp::Ordering;
use wildmatch::WildMatch;

/// Lines of source before and after the branch.
const SOURCE_LINES: u32 = 2;
/// Instructions before and after it.
const CODE_LINES: usize = 4;

/// The sites to show, in order.
pub fn choose<'a>(priced: &'a [Priced], wish: &SiteSelection) -> Vec<&'a Priced> {
    let pattern = wish.function.as_deref().map(WildMatch::new);
    let mut chosen: Vec<&Priced> = priced
        .iter()
        .filter(|site| match &pattern {
            None => true,
            Some(pattern) => names(site).any(|name| fits(pattern, name)),
        })
        .collect();
    chosen.sort_by(|one, other| compare(one, other, wish.order));
    chosen.truncate(wish.top);
    chosen
}

/// The function of a site and those it was inlined into.
fn names(site: &Priced) -> impl Iterator<Item = &str> {
    let inlined = site.located.frames.iter().filter_map(|frame| frame.function.as_deref());
    inlined.chain(site.function.as_deref())
}

/// The greater first; of equals the more executed, then by place.
fn compare(one: &Priced, other: &Priced, order: SiteOrder) -> Ordering {
    let by = |of: &dyn Fn(&Priced) -> f64| of(other).total_cmp(&of(one));
    let executed = |site: &Priced| site.located.seen.executed as f64;
    let first = match order {
        SiteOrder::Mispredictions => by(&|site| site.cost),
        SiteOrder::Executions => by(&executed),
        SiteOrder::Taken => by(&|site| site.located.seen.taken as f64),
        SiteOrder::Rate => by(&|site| site.cost / executed(site).max(1.0)),
        SiteOrder::Excess => by(&excess),
        SiteOrder::Address => Ordering::Equal,
    };
    let second = if order == SiteOrder::Address { Ordering::Equal } else { by(&executed) };
    first.then(second).then_with(|| one.located.seen.place.cmp(&other.located.seen.place))
}

/// What is missed beyond the floor; of a branch without a floor all that is missed.
fn excess(site: &Priced) -> f64 {
    let floor = site.located.seen.least.and_then(|least| least.best).unwrap_or(0.0);
    (site.cost - floor).max(0.0)
}

/// The chosen sites as the page shows them.
pub fn list(
    images: &[ModuleImage],
    chosen: &[&Priced],
    cost: f64,
    sources: &SourceFiles,
    wish: &SiteSelection,
) -> Vec<Site> {
    let mut running = 0.0;
    let mut sites = Vec::new();
    for (rank, site) in (1_u64..).zip(chosen) {
        running += site.cost;
        let mut shown = show(images, site, wish);
        shown.rank = rank;
        shown.share = share(site.cost, cost);
        shown.running = share(running.min(cost), cost);
        if rank <= wish.detailed as u64 {
            shown.source = source_around(site, sources);
            shown.code = code_around(images, site);
        }
        sites.push(shown);
    }
    sites
}

fn show(images: &[ModuleImage], site: &Priced, wish: &SiteSelection) -> Site {
    let seen = &site.located.seen;
    let image = seen.place.image.map(|image| &images[image]);
    let own = site.located.frames.first().map(frame);
    let instruction = image.and_then(|image| {
        let code = image.code(seen.place.address);
        image.text(code.instructions.get(code.index(seen.place.address)?)?)
    });
    Site {
        rank: 0,
        function: site.function.clone(),
        file: own.as_ref().and_then(|own| own.file.clone()),
        line: own.as_ref().and_then(|own| own.line),
        column: own.as_ref().and_then(|own| own.column),
        inlined_into: site.located.frames.iter().skip(1).map(frame).collect(),
        module: image.map(|image| image.path.display().to_string()),
        address: format!("{:#x}", seen.place.address),
        process: seen.place.process,
        class: seen.class.to_string(),
        instruction,
        executed: seen.executed,
        taken: seen.taken,
        mispredictions: wish.missed(seen.class, &seen.missed),
        cost: site.cost,
        rate: site.cost / seen.executed.max(1) as f64,
        share: None,
        running: None,
        floor: seen.least.map(|least| FloorMisses {
            constant: least.constant,
            history_8: least.history,
            best: least.best,
        }),
        source: Vec::new(),
        code: Vec::new(),
    }
}

fn frame(placed: &Placed) -> Frame {
    let known = |number: u32| (number > 0).then_some(number);
    Frame {
        function: placed.function.clone(),
        file: placed.file.clone(),
        line: known(placed.at.line),
        column: known(placed.at.column),
    }
}

fn source_around(site: &Priced, sources: &SourceFiles) -> Vec<SourceLine> {
    let Some(placed) = site.located.frames.first().filter(|placed| placed.at.line > 0) else {
        return Vec::new();
    };
    let Some(source) = placed.file.as_deref().and_then(|file| sources.get(file)) else { return Vec::new() };
    let here = placed.at.line;
    let lines = here.saturating_sub(SOURCE_LINES).max(1)..=here.saturating_add(SOURCE_LINES);
    lines
        .filter_map(|line| {
            let text = source.line(line)?.trim_end().replace('\t', "    ");
            Some(SourceLine { line, text, here: line == here })
        })
        .collect()
}

fn code_around(images: &[ModuleImage], site: &Priced) -> Vec<CodeLine> {
    let seen = &site.located.seen;
    let Some(image) = seen.place.image.map(|image| &images[image]) else { return Vec::new() };
    let code = image.code(seen.place.address);
    let Some(index) = code.index(seen.place.address) else { return Vec::new() };
    let around = index.saturating_sub(CODE_LINES)..(index + CODE_LINES + 1).min(code.instructions.len());
    code.instructions[around]
        .iter()
        .filter_map(|instruction| {
            Some(CodeLine {
                address: format!("{:#x}", instruction.address),
                text: image.text(instruction)?,
                here: instruction.address == seen.place.address,
                target: Some(instruction.address) == seen.target,
            })
        })
        .collect()
}
