//! Which functions the program's own code called, from where, and how often.
//!
//! A call is a branch that arrives where a function begins: a call, or a jump in tail position; by way of a stub of the
//! dynamic link too.

use super::call::ProgramCall;
use super::facts::ProgramFacts;
use crate::examine::names::is_library;
use assay_pure::trace::BranchKind;
use assay_report::doctor::CodePlace;
use assay_trace::sites::gather::SiteAddress;
use std::collections::HashMap;

/// Calls that are followed back to the program's own source.
const MOST_CALLERS: usize = 16;

impl ProgramFacts {
    /// The calls that the program's own code made.
    pub fn calls(&self) -> &[ProgramCall] {
        self.calls.get_or_init(|| calls(self))
    }

    /// Where the program's own source leads to a place: the place itself, or, of library code, the most executed call on the
    /// way there from the program's own source.
    pub fn own_spot(&self, image: usize, address: u64) -> CodePlace {
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
}

/// The function that begins at a place, through a stub.
fn callee(facts: &ProgramFacts, place: SiteAddress) -> Option<(String, bool)> {
    let image = &facts.images[place.image?];
    if let Some(stub) = image.stub(place.address) {
        return Some((stub.function.clone(), true));
    }
    let function = image.function(place.address).filter(|function| function.start == place.address)?;
    Some((function.name(), !facts.is_own(place)))
}

/// The calls of a program's own code.
fn calls(facts: &ProgramFacts) -> Vec<ProgramCall> {
    let by_function = Functions::of(facts);
    let number: HashMap<SiteAddress, usize> =
        facts.sites.iter().enumerate().map(|(number, site)| (site.seen.place, number)).collect();
    let mut found = Vec::new();
    for (number, site) in facts.sites.iter().enumerate().filter(|(_, site)| facts.is_own(site.seen.place)) {
        let seen = &site.seen;
        let direct =
            seen.target.filter(|_| !seen.class.is_indirect() && seen.class.kind() != BranchKind::Return);
        let times = if seen.class.is_conditional() { seen.taken } else { seen.executed };
        if let (Some(target), true) = (direct, times > 0) {
            let to = SiteAddress { address: target, ..seen.place };
            found.extend(by_function.call(facts, number, to, times));
        }
    }
    let is_stub = |place: SiteAddress| {
        place.image.is_some_and(|image| facts.images[image].stub(place.address).is_some())
    };
    for (from, to, times) in facts.arrivals.iter().filter(|(from, ..)| facts.is_own(*from) && !is_stub(*from))
    {
        let Some(&number) = number.get(from) else { continue };
        found.extend(by_function.call(facts, number, *to, *times));
    }
    share_misses(&mut found);
    found
}

/// A function's mispredictions are those of all its callers: each has its part by how often it called.
fn share_misses(calls: &mut [ProgramCall]) {
    let mut called: HashMap<SiteAddress, u64> = HashMap::new();
    for call in calls.iter() {
        *called.entry(call.at.unwrap_or_default()).or_default() += call.executed;
    }
    for call in calls {
        let all = called[&call.at.unwrap_or_default()];
        call.misses *= call.executed as f64 / all.max(1) as f64;
    }
}

/// What functions did themselves.
struct Functions {
    /// Branches and mispredictions, by where the function begins.
    own: HashMap<SiteAddress, (u64, f64)>,
    /// Where the stubs of a file lead.
    stubs: HashMap<(usize, u64), SiteAddress>,
}

impl Functions {
    fn of(facts: &ProgramFacts) -> Functions {
        let mut own: HashMap<SiteAddress, (u64, f64)> = HashMap::new();
        for (site, cost) in facts.sites.iter().zip(&facts.costs) {
            let place = site.seen.place;
            let function = place.image.and_then(|image| facts.images[image].function(place.address));
            if let Some(function) = function {
                let sums = own.entry(SiteAddress { address: function.start, ..place }).or_default();
                sums.0 += site.seen.executed;
                sums.1 += cost;
            }
        }
        let stubs = facts.arrivals.iter().filter_map(|(from, to, _)| {
            let image = from.image?;
            let stub = facts.images[image].stub(from.address)?;
            // The first time the way leads through the resolver of the dynamic linker.
            callee(facts, *to).map(|_| ((image, stub.start), *to))
        });
        Functions { own, stubs: stubs.collect() }
    }

    fn call(&self, facts: &ProgramFacts, site: usize, to: SiteAddress, times: u64) -> Option<ProgramCall> {
        let (callee, is_foreign) = callee(facts, to)?;
        let seen = &facts.sites[site].seen;
        let own_function = |place: SiteAddress| {
            let image = &facts.images[place.image?];
            image.function(place.address).map(|function| function.start)
        };
        // A jump to the beginning of its own function is a loop.
        if seen.class.kind() == BranchKind::Jump && own_function(seen.place) == Some(to.address) {
            return None;
        }
        let stub = to.image.and_then(|image| Some((image, facts.images[image].stub(to.address)?.start)));
        let at = match stub {
            Some(stub) => self.stubs.get(&stub).copied(),
            None => Some(to),
        };
        let (branches, misses) = at.and_then(|at| self.own.get(&at).copied()).unwrap_or_default();
        let branches = if seen.class.kind() == BranchKind::Call { seen.inclusive } else { branches };
        Some(ProgramCall { site, callee, at, is_foreign, executed: times, branches, misses })
    }
}
