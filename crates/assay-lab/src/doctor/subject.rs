//! A program as the checks see it: its files, its sites with their places, each instruction's executions, its calls.

use super::calls::{self, Call};
use super::heat::Heat;
use super::listing::Listing;
use super::names::is_library;
use super::stores::Stores;
use assay_report::doctor::page::Place as Spot;
use assay_trace::sites::audit::Located;
use assay_trace::sites::gather::{GatheredSites, SiteAddress};
use assay_trace::sites::image::{ModuleImage, SourceFrame};
use assay_trace::sites::instruction;
use assay_trace::sites::source::Sources;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::rc::Rc;

/// Calls that are followed back to the program's own source.
const MOST_CALLERS: usize = 16;

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

/// A program, looked at and perhaps traced.
pub struct Subject {
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
    /// Whether it was traced.
    pub is_traced: bool,
    /// Source files.
    pub sources: Sources,
    listings: RefCell<Listings>,
    calls: OnceCell<Vec<Call>>,
    stores: OnceCell<Stores>,
}

impl Subject {
    /// A program that was only looked at.
    pub fn still(image: ModuleImage, units: Option<u64>) -> Subject {
        let gathered = GatheredSites {
            images: vec![image],
            seen: Vec::new(),
            arrivals: Vec::new(),
            stretches: Vec::new(),
            instructions: 0,
            notes: Vec::new(),
        };
        let mut subject = Subject::traced(gathered, Path::new(""), Vec::new(), 0, units);
        subject.own = vec![true];
        subject.is_traced = false;
        subject
    }

    /// A traced program, with the cost of each site; `program` is the file that was started.
    pub fn traced(
        gathered: GatheredSites,
        program: &Path,
        costs: Vec<f64>,
        system_calls: u64,
        units: Option<u64>,
    ) -> Subject {
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
        Subject {
            sites: sites.collect(),
            images,
            own,
            costs,
            executed,
            arrivals,
            whole,
            heat,
            is_traced: true,
            sources: Sources::default(),
            listings: RefCell::default(),
            calls: OnceCell::new(),
            stores: OnceCell::new(),
        }
    }

    /// Whether a place is in one of the program's own files.
    pub fn is_own(&self, place: SiteAddress) -> bool {
        place.image.is_some_and(|image| self.own[image])
    }

    /// The calls that the program's own code made.
    pub fn calls(&self) -> &[Call] {
        self.calls.get_or_init(|| calls::calls(self))
    }

    /// What its own code wrote to memory at constant places.
    pub fn stores(&self) -> &Stores {
        self.stores.get_or_init(|| Stores::of(self))
    }

    /// The function that holds an address, decoded.
    pub fn listing(&self, image: usize, address: u64) -> Option<Rc<Listing>> {
        let start = self.images[image].function(address)?.start;
        let mut known = self.listings.borrow_mut();
        let found = known.entry((image, start));
        found.or_insert_with(|| Listing::of(&self.images[image], start).map(Rc::new)).clone()
    }

    /// Whether an address of a file is in a table that the dynamic linker fills.
    pub fn is_table(&self, image: usize, address: u64) -> bool {
        self.images[image].section(address).starts_with(".got")
    }

    /// Where a reader should look: the innermost frame that is the program's own source, else the innermost.
    pub fn spot(&self, image: usize, address: u64) -> Spot {
        spot_of(&self.images[image], address, &self.images[image].frames(address))
    }

    /// As [`Subject::spot`], of a site.
    pub fn spot_of_site(&self, site: usize) -> Spot {
        let located = &self.sites[site];
        match located.seen.place.image {
            Some(image) => spot_of(&self.images[image], located.seen.place.address, &located.frames),
            None => Spot::default(),
        }
    }

    /// Where the program's own source leads to a place: the place itself, or, of library code, the most executed call on the
    /// way there from the program's own source.
    pub fn own_spot(&self, image: usize, address: u64) -> Spot {
        let mut at = (image, address);
        for _ in 0..MOST_CALLERS {
            let spot = self.spot(at.0, at.1);
            if spot.file.as_deref().is_some_and(|file| !is_library(file)) {
                return spot;
            }
            let Some(function) = self.images[at.0].function(at.1) else { break };
            let start = SiteAddress { image: Some(at.0), address: function.start, process: None };
            let callers = self.calls().iter().filter(|call| call.at == Some(start));
            let Some(caller) = callers.max_by_key(|call| call.executed) else { break };
            let place = self.sites[caller.site].seen.place;
            let Some(image) = place.image.filter(|image| (*image, place.address) != at) else { break };
            at = (image, place.address);
        }
        self.spot(image, address)
    }

    /// Whether the source of a place is a library's.
    pub fn is_library(&self, frames: &[SourceFrame]) -> bool {
        frames.first().and_then(|frame| frame.file.as_deref()).is_some_and(is_library)
    }

    /// A part of all branches.
    pub fn share_of_branches(&self, branches: u64) -> Option<f64> {
        (self.whole.branches > 0).then(|| (branches as f64 / self.whole.branches as f64).min(1.0))
    }

    /// A part of all mispredictions.
    pub fn share_of_misses(&self, misses: f64) -> Option<f64> {
        (self.whole.misses > 0.0).then(|| (misses / self.whole.misses).min(1.0))
    }
}

fn spot_of(image: &ModuleImage, address: u64, frames: &[SourceFrame]) -> Spot {
    let is_own = |frame: &&SourceFrame| {
        frame.file.as_deref().is_some_and(|file| !is_library(file)) && frame.at.line > 0
    };
    let frame = frames.iter().find(is_own).or_else(|| frames.first());
    let by_symbol = || image.function(address).map(|function| function.name());
    Spot {
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
