//! From sites and hints to the page.

mod answer;
mod components;
mod hints;
mod sites;

pub use components::{BudgetRequest, OtherBudget};

use super::audit::Located;
use super::gather::{GatheredSites, Watch, gather};
use super::image::{LineSource, ModuleImage};
use super::source::SourceFiles;
use crate::Trace;
use assay_pure::predict::PredictionKind;
use assay_pure::trace::BranchClass;
use assay_pure::words;
use assay_report::sites::page::{
    LeftOut, LineSourceKind, Module, Predictor, SITES_SCHEMA, SiteMisses, SiteOrder, SitesPage, SitesProcess,
    Totals,
};
use wildmatch::WildMatch;

/// A predictor of the zoo, as the page shows it.
#[derive(Clone, Debug)]
pub struct SimulatedPredictor {
    /// Its name.
    pub name: String,
    /// What it is.
    pub what: String,
    /// The hash of what it does.
    pub definition: u64,
    /// What it predicts.
    pub judges: &'static [PredictionKind],
}

/// What the reader wants to see.
#[derive(Clone, Debug, Default)]
pub struct SiteSelection {
    /// The command and its arguments.
    pub command: Vec<String>,
    /// The members of the zoo, in its order.
    pub models: Vec<SimulatedPredictor>,
    /// How many sites.
    pub top: usize,
    /// Of how many of them the source and the code.
    pub detailed: usize,
    /// In which order.
    pub order: SiteOrder,
    /// Only functions whose name fits.
    pub function: Option<String>,
    /// Processes apart.
    pub per_process: bool,
    /// With the hints.
    pub hints: bool,
    /// With the budget by component.
    pub components: Option<BudgetRequest>,
}

impl SiteSelection {
    /// The members that judge branches of a class.
    fn judges(&self, class: BranchClass) -> impl Iterator<Item = usize> + '_ {
        let about = PredictionKind::of(class);
        let judging = self.models.iter().enumerate();
        judging
            .filter(move |(_, model)| about.is_some_and(|about| model.judges.contains(&about)))
            .map(|(at, _)| at)
    }

    /// The mean of the mispredictions of those members that judge this class; 0 where none does.
    fn cost(&self, class: BranchClass, missed: &[u64]) -> f64 {
        let judged: Vec<u64> = self.judges(class).map(|at| missed[at]).collect();
        if judged.is_empty() { 0.0 } else { judged.iter().sum::<u64>() as f64 / judged.len() as f64 }
    }

    fn missed(&self, class: BranchClass, missed: &[u64]) -> Vec<SiteMisses> {
        self.judges(class)
            .map(|at| SiteMisses { predictor: self.models[at].name.clone(), count: missed[at] })
            .collect()
    }
}

/// A site with its places and its cost.
struct Priced {
    located: Located,
    cost: f64,
    /// The name of its function, with arguments.
    function: Option<String>,
}

/// Makes the page of a traced command.
pub fn compose(trace: &Trace<Watch>, wish: &SiteSelection) -> SitesPage {
    let gathered = gather(trace, wish.per_process);
    let sources = SourceFiles::default();
    let components = wish.components.as_ref().map(|wanted| components::compose(&gathered, wanted, wish));
    let GatheredSites { images, seen, instructions, notes, .. } = gathered;
    let priced: Vec<Priced> = seen.into_iter().map(|seen| price(&images, seen, wish)).collect();
    let totals = totals(&priced, instructions, wish);
    let hints = wish.hints.then(|| hints::hints(&images, &priced, &sources, wish));
    let modules = modules(&images, &priced, totals.cost);
    let chosen = sites::choose(&priced, wish);
    let mut page = SitesPage {
        schema: SITES_SCHEMA.to_owned(),
        answer: String::new(),
        command: wish.command.clone(),
        emulator: trace.emulator.clone(),
        warnings: warnings(trace, notes, &modules, &totals, &chosen, wish),
        predictors: predictors(wish),
        sorted_by: wish.order,
        function: wish.function.clone(),
        left_out: left_out(&priced, &chosen, totals.cost),
        sites: sites::list(&images, &chosen, totals.cost, &sources, wish),
        totals,
        processes: processes(trace),
        modules,
        hints,
        components,
    };
    page.answer = answer::answer(&page);
    page
}

fn price(images: &[ModuleImage], seen: super::gather::SiteCounts, wish: &SiteSelection) -> Priced {
    let image = seen.place.image.map(|image| &images[image]);
    let frames = image.map_or_else(Vec::new, |image| image.frames(seen.place.address));
    let by_symbol = || {
        let function = image?.function(seen.place.address)?;
        Some(function.name())
    };
    let function = frames.first().and_then(|frame| frame.function.clone()).or_else(by_symbol);
    let cost = wish.cost(seen.class, &seen.missed);
    Priced { located: Located { seen, frames }, cost, function }
}

fn totals(priced: &[Priced], instructions: u64, wish: &SiteSelection) -> Totals {
    let sum = |of: &dyn Fn(&Priced) -> u64| priced.iter().map(of).sum::<u64>();
    let conditional = |site: &Priced| site.located.seen.class.is_conditional();
    let mispredictions = wish.models.iter().enumerate().map(|(at, model)| SiteMisses {
        predictor: model.name.clone(),
        count: sum(&|site| site.located.seen.missed[at]),
    });
    Totals {
        instructions,
        branches: sum(&|site| site.located.seen.executed),
        conditional: sum(&|site| if conditional(site) { site.located.seen.executed } else { 0 }),
        taken: sum(&|site| if conditional(site) { site.located.seen.taken } else { 0 }),
        sites: priced.len() as u64,
        mispredictions: mispredictions.collect(),
        cost: priced.iter().map(|site| site.cost).sum(),
        without_floor: sum(&|site| {
            u64::from(site.located.seen.least.is_some_and(|least| least.best.is_none()))
        }),
    }
}

fn predictors(wish: &SiteSelection) -> Vec<Predictor> {
    let of = |model: &SimulatedPredictor| Predictor {
        name: model.name.clone(),
        what: model.what.clone(),
        definition: format!("{:016x}", model.definition),
    };
    wish.models.iter().map(of).collect()
}

fn processes(trace: &Trace<Watch>) -> Vec<SitesProcess> {
    trace
        .processes
        .iter()
        .map(|process| SitesProcess {
            pid: process.pid,
            parent: process.parent,
            program: process.program.display().to_string(),
            threads: process.threads.len() as u64,
            ended: process.ended.brief(),
        })
        .collect()
}

fn modules(images: &[ModuleImage], priced: &[Priced], cost: f64) -> Vec<Module> {
    let of = |(number, image): (usize, &ModuleImage)| {
        let own = || priced.iter().filter(|site| site.located.seen.place.image == Some(number));
        let (lines, note) = match &image.lines {
            LineSource::Own => (LineSourceKind::Own, None),
            LineSource::Separate(path) => (LineSourceKind::Separate, Some(path.display().to_string())),
            LineSource::Missing => (LineSourceKind::Missing, None),
            LineSource::Unreadable(why) => (LineSourceKind::Unreadable, Some(why.clone())),
        };
        Module {
            path: image.path.display().to_string(),
            build_id: image.build_id.clone(),
            lines,
            lines_note: note,
            executed: own().map(|site| site.located.seen.executed).sum(),
            share: share(own().map(|site| site.cost).sum(), cost),
        }
    };
    let mut modules: Vec<Module> = images.iter().enumerate().map(of).collect();
    modules.sort_by(|one, other| {
        let cost = other.share.unwrap_or(0.0).total_cmp(&one.share.unwrap_or(0.0));
        cost.then_with(|| other.executed.cmp(&one.executed))
    });
    modules
}

fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

fn left_out(priced: &[Priced], chosen: &[&Priced], cost: f64) -> LeftOut {
    let sum = |sites: &mut dyn Iterator<Item = &Priced>| {
        sites.fold((0, 0, 0.0), |(sites, executed, cost), site| {
            (sites + 1, executed + site.located.seen.executed, cost + site.cost)
        })
    };
    let (all, shown) = (sum(&mut priced.iter()), sum(&mut chosen.iter().copied()));
    LeftOut {
        sites: all.0 - shown.0,
        executed: all.1 - shown.1,
        share: share((all.2 - shown.2).max(0.0), cost),
    }
}

/// What the reader must know before believing a figure.
fn warnings(
    trace: &Trace<Watch>,
    notes: Vec<String>,
    modules: &[Module],
    totals: &Totals,
    chosen: &[&Priced],
    wish: &SiteSelection,
) -> Vec<String> {
    let mut warnings = Vec::new();
    for process in &trace.processes {
        for note in &process.notes {
            let note = if trace.processes.len() > 1 {
                format!("{} ({}): {note}", process.program.display(), process.pid)
            } else {
                note.clone()
            };
            if !warnings.contains(&note) {
                warnings.push(note);
            }
        }
    }
    warnings.extend(trace.unusual_end());
    warnings.extend(notes);
    warnings.extend(modules.iter().filter_map(|module| without_lines(module, totals)));
    if let Some(pattern) = wish.function.as_deref().filter(|_| chosen.is_empty() && totals.sites > 0) {
        warnings.push(format!(
            "No executed function matches `{pattern}`; `*` matches any text, `?` one character."
        ));
    }
    warnings
}

/// What is missing where a module that matters has no lines.
fn without_lines(module: &Module, totals: &Totals) -> Option<String> {
    let by_executions = module.executed as f64 / totals.branches.max(1) as f64;
    let part = module.share.unwrap_or(by_executions);
    if part < 0.01 || matches!(module.lines, LineSourceKind::Own | LineSourceKind::Separate) {
        return None;
    }
    let of_what = if module.share.is_some() { "mispredictions" } else { "branches" };
    let share = words::part(part);
    Some(match &module.lines_note {
        Some(why) => {
            format!("The debug information of {} ({share} of {of_what}) cannot be read: {why}.", module.path)
        }
        None => format!(
            "{} ({share} of {of_what}) has no debug information, so its lines are unknown. Build with -g, or install the \
             package of its debug symbols.",
            module.path
        ),
    })
}

/// Whether a name fits a pattern; the name without its arguments fits too.
fn fits(pattern: &WildMatch, name: &str) -> bool {
    pattern.matches(name) || pattern.matches(&assay_report::sites::names::short(name))
}
