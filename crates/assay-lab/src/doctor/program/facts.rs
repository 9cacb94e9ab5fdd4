//! What is known of a program: its files, its sites with their places, each instruction's executions, its calls; and what of that
//! counts as hot.
//!
//! Hot, with units of work: once in twenty units. Without: one hundredth of the most executed conditional branch of the program's
//! own files, because a fault in the loop around the hottest one still counts, and start-up code does not. Never fewer than 16
//! times: what a program does so seldom costs it nothing, and of 16 outcomes that are all the same way the next one is so too
//! with a chance of 94 % (the rule of succession).

use super::call::ProgramCall;
use super::listing::Listing;
use super::origin::{Condition, FunctionReader};
use super::stores::Stores;
use crate::examine::check::{Facts, Needs, Shares, TracedCost};
use crate::examine::names::is_library;
use assay_report::doctor::CodePlace;
use assay_trace::sites::audit::Located;
use assay_trace::sites::gather::{GatheredSites, SiteAddress};
use assay_trace::sites::image::{ModuleImage, SourceFrame};
use assay_trace::sites::instruction;
use assay_trace::sites::source::SourceFiles;
use iced_x86::Instruction;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::rc::Rc;

/// Executions per unit from which on a place is hot.
const PER_UNIT: f64 = 0.05;
/// The part of the hottest branch's executions from which on a place is hot, without units.
const OF_HOTTEST: f64 = 0.01;
/// Fewer are never hot.
const LEAST: u64 = 16;

/// What executions are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heat {
    /// Units of work that the command did.
    pub units: Option<u64>,
    /// Executions of the most executed conditional branch of the program's own files.
    pub hottest: u64,
}

impl Heat {
    /// The fewest executions that are hot.
    pub fn least(&self) -> u64 {
        let share = match self.units {
            Some(units) => units as f64 * PER_UNIT,
            None => self.hottest as f64 * OF_HOTTEST,
        };
        (share.ceil() as u64).max(LEAST)
    }

    /// Whether so many executions are often.
    pub fn is_hot(&self, executed: u64) -> bool {
        executed >= self.least()
    }

    /// Whether it happens about once per unit: in every second one at least. Without units, whether it is hot.
    pub fn is_each(&self, executed: u64) -> bool {
        self.is_hot(executed) && self.units.is_none_or(|units| 2 * executed >= units)
    }

    /// Executions per unit of work.
    pub fn per_unit(&self, executed: u64) -> Option<f64> {
        self.units.map(|units| executed as f64 / units.max(1) as f64)
    }
}

/// What was executed over the whole command.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Whole {
    /// Branches.
    pub branches: u64,
    /// Instructions.
    pub instructions: u64,
    /// Mispredictions, the mean over the predictors.
    pub misses: f64,
    /// Calls of the system.
    pub system_calls: u64,
}

/// Functions that were decoded, by file and beginning; none for those that can't be.
type Listings = HashMap<(usize, u64), Option<Rc<Listing>>>;

/// A program, read and perhaps traced.
pub struct ProgramFacts {
    /// Its files; the program alone where it was not traced.
    pub images: Vec<ModuleImage>,
    /// Which of them are the program's own: not the system's libraries.
    pub own: Vec<bool>,
    /// The sites of all files; those of its own with their places in the source.
    pub sites: Vec<Located>,
    /// Mispredictions of each site, the mean over the predictors that judge it.
    pub costs: Vec<f64>,
    /// Executions of each instruction of its own files, by file and address.
    pub executed: BTreeMap<(usize, u64), u64>,
    /// Where indirect jumps and calls went.
    pub arrivals: Vec<(SiteAddress, SiteAddress, u64)>,
    /// Over the whole command.
    pub whole: Whole,
    /// What counts as often.
    pub heat: Heat,
    /// Why it was not traced, if so.
    pub not_traced: Option<String>,
    /// Source files.
    pub sources: SourceFiles,
    listings: RefCell<Listings>,
    pub(super) calls: OnceCell<Vec<ProgramCall>>,
    pub(super) stores: OnceCell<Stores>,
}

impl ProgramFacts {
    /// A program whose file alone is read.
    pub fn still(image: ModuleImage, units: Option<u64>, not_traced: String) -> ProgramFacts {
        let gathered = GatheredSites {
            images: vec![image],
            seen: Vec::new(),
            arrivals: Vec::new(),
            stretches: Vec::new(),
            instructions: 0,
            notes: Vec::new(),
        };
        let mut facts = ProgramFacts::traced(gathered, Path::new(""), Vec::new(), 0, units);
        facts.own = vec![true];
        facts.not_traced = Some(not_traced);
        facts
    }

    /// A traced program, with the cost of each site; `program` is the file that was started.
    pub fn traced(
        gathered: GatheredSites,
        program: &Path,
        costs: Vec<f64>,
        system_calls: u64,
        units: Option<u64>,
    ) -> ProgramFacts {
        let GatheredSites { images, seen, arrivals, stretches, instructions, .. } = gathered;
        let own: Vec<bool> =
            images.iter().map(|image| image.path == program || !is_of_system(&image.path)).collect();
        let mut executed: BTreeMap<(usize, u64), u64> = BTreeMap::new();
        for stretch in &stretches {
            let Some(number) = stretch.place.image.filter(|number| own[*number]) else { continue };
            let image = &images[number];
            let bytes = image.bytes(stretch.place.address);
            let bytes = &bytes[..bytes.len().min(stretch.bytes as usize)];
            for found in instruction::decode(image.architecture, bytes, stretch.place.address) {
                *executed.entry((number, found.address)).or_default() += stretch.executed;
            }
        }
        let whole = Whole {
            branches: seen.iter().map(|seen| seen.executed).sum(),
            instructions,
            misses: costs.iter().sum(),
            system_calls,
        };
        let is_own = |place: &SiteAddress| place.image.is_some_and(|image| own[image]);
        let hottest = seen.iter().filter(|seen| seen.class.is_conditional() && is_own(&seen.place));
        let heat = Heat { units, hottest: hottest.map(|seen| seen.executed).max().unwrap_or(0) };
        let sites = seen.into_iter().map(|seen| {
            let image = seen.place.image.filter(|image| own[*image]);
            let frames = image.map_or_else(Vec::new, |image| images[image].frames(seen.place.address));
            Located { seen, frames }
        });
        ProgramFacts {
            sites: sites.collect(),
            images,
            own,
            costs,
            executed,
            arrivals,
            whole,
            heat,
            not_traced: None,
            sources: SourceFiles::default(),
            listings: RefCell::default(),
            calls: OnceCell::new(),
            stores: OnceCell::new(),
        }
    }

    /// Whether a place is in one of the program's own files.
    pub fn is_own(&self, place: SiteAddress) -> bool {
        place.image.is_some_and(|image| self.own[image])
    }

    /// The function that holds an address, decoded.
    pub fn listing(&self, image: usize, address: u64) -> Option<Rc<Listing>> {
        let start = self.images[image].function(address)?.start;
        let mut known = self.listings.borrow_mut();
        let found = known.entry((image, start));
        found.or_insert_with(|| Listing::of(&self.images[image], start).map(Rc::new)).clone()
    }

    /// The function that holds an address, and the place of the instruction there.
    pub fn decoded(&self, image: usize, address: u64) -> Option<(Rc<Listing>, usize)> {
        let listing = self.listing(image, address)?;
        let at = listing.index(address)?;
        Some((listing, at))
    }

    /// The instruction at an address.
    pub fn instruction(&self, image: usize, address: u64) -> Option<Instruction> {
        self.decoded(image, address).map(|(listing, at)| listing.instructions[at])
    }

    /// What the conditional branch at an address depends on.
    pub fn condition(&self, image: usize, address: u64) -> Option<Condition> {
        let (listing, at) = self.decoded(image, address)?;
        Some(FunctionReader::new(&listing, &|address| self.is_table(image, address)).condition(at))
    }

    /// The hot conditional branches of the program's own files that always went one way: site and file.
    pub fn one_sided(&self) -> impl Iterator<Item = (usize, usize)> {
        self.sites.iter().enumerate().filter_map(|(number, site)| {
            let seen = &site.seen;
            let is_one_sided = seen.taken == 0 || seen.taken == seen.executed;
            let is_it = seen.class.is_conditional() && is_one_sided && self.heat.is_hot(seen.executed);
            let image = seen.place.image.filter(|_| is_it && self.is_own(seen.place))?;
            Some((number, image))
        })
    }

    /// What the branches of a site cost.
    pub fn cost_of_site(&self, site: usize) -> TracedCost {
        let executed = self.sites[site].seen.executed;
        TracedCost { executed: Some(executed), branches: executed, misses: self.costs[site] }
    }

    /// Whether an address of a file is in a table that the dynamic linker fills.
    pub fn is_table(&self, image: usize, address: u64) -> bool {
        self.images[image].section(address).starts_with(".got")
    }

    /// Where a reader should look: the innermost frame that is the program's own source, else the innermost.
    pub fn spot(&self, image: usize, address: u64) -> CodePlace {
        spot_of(&self.images[image], address, &self.images[image].frames(address))
    }

    /// As [`ProgramFacts::spot`], of a site.
    pub fn spot_of_site(&self, site: usize) -> CodePlace {
        let located = &self.sites[site];
        match located.seen.place.image {
            Some(image) => spot_of(&self.images[image], located.seen.place.address, &located.frames),
            None => CodePlace::default(),
        }
    }

    /// Whether the source of a place is a library's.
    pub fn is_library(&self, frames: &[SourceFrame]) -> bool {
        frames.first().and_then(|frame| frame.file.as_deref()).is_some_and(is_library)
    }
}

impl Facts for ProgramFacts {
    fn lacks(&self, needs: Needs) -> Option<String> {
        self.not_traced.clone().filter(|_| needs != Needs::Files)
    }

    fn shares(&self, cost: &TracedCost) -> Shares {
        let Some(executed) = cost.executed else { return Shares::default() };
        let share = |part: f64, whole: f64| (whole > 0.0).then(|| (part / whole).min(1.0));
        Shares {
            per_unit: self.heat.per_unit(executed),
            branches: share(cost.branches as f64, self.whole.branches as f64),
            misses: share(cost.misses, self.whole.misses),
        }
    }
}

fn spot_of(image: &ModuleImage, address: u64, frames: &[SourceFrame]) -> CodePlace {
    let is_own = |frame: &&SourceFrame| {
        frame.file.as_deref().is_some_and(|file| !is_library(file)) && frame.at.line > 0
    };
    let frame = frames.iter().find(is_own).or_else(|| frames.first());
    let by_symbol = || image.function(address).map(|function| function.name());
    CodePlace {
        function: frame.and_then(|frame| frame.function.clone()).or_else(by_symbol),
        file: frame.and_then(|frame| frame.file.clone()),
        line: frame.map(|frame| frame.at.line).filter(|line| *line > 0),
        module: image.path.display().to_string(),
        address: format!("{address:#x}"),
    }
}

/// Whether a file belongs to the system: nobody who measures a program changes that.
fn is_of_system(path: &Path) -> bool {
    ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/bin", "/bin"]
        .iter()
        .any(|folder| path.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hot_is_once_in_twenty_units_or_a_hundredth_of_the_hottest_branch() {
        let with = Heat { units: Some(1000), hottest: 1_000_000 };
        assert_eq!((with.least(), with.is_hot(49), with.is_hot(50)), (50, false, true));
        assert_eq!((with.is_each(499), with.is_each(500)), (false, true));
        assert_eq!(with.per_unit(250), Some(0.25));
        let without = Heat { units: None, hottest: 100_000 };
        assert_eq!((without.is_hot(999), without.is_hot(1000), without.is_each(1000)), (false, true, true));
        assert_eq!(without.per_unit(250), None);
    }

    #[test]
    fn what_happens_a_few_times_is_never_hot() {
        let few = Heat { units: Some(10), hottest: 0 };
        assert_eq!((few.is_hot(15), few.is_hot(16)), (false, true));
        assert!(!Heat { units: None, hottest: 0 }.is_hot(15));
    }
}
