//! The sums: branches by class, instructions, mispredictions, calls, per component.

use super::super::gather::{CodeStretch, GatheredSites, SiteAddress, SiteCounts, Watch, gather};
use super::super::image::ModuleImage;
use super::super::instruction;
use super::attribute::{Attributor, CodeOwner};
use super::spec::ComponentSpecs;
use crate::Trace;
use assay_pure::trace::BranchClass;
use assay_report::sites::components::RowKind;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// What was executed, exactly; mispredictions simulated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BudgetSums {
    /// Branches of all classes.
    pub branches: u64,
    /// Conditional branches.
    pub conditional: u64,
    /// Direct jumps.
    pub jumps: u64,
    /// Direct calls.
    pub calls: u64,
    /// Indirect jumps.
    pub indirect_jumps: u64,
    /// Indirect calls.
    pub indirect_calls: u64,
    /// Returns.
    pub returns: u64,
    /// Instructions.
    pub instructions: u64,
    /// Mispredictions per member of the zoo, in its order.
    pub missed: Vec<u64>,
}

impl BudgetSums {
    fn of(members: usize) -> BudgetSums {
        BudgetSums { missed: vec![0; members], ..BudgetSums::default() }
    }

    fn add_site(&mut self, seen: &SiteCounts) {
        self.branches += seen.executed;
        *self.class(seen.class) += seen.executed;
        for (sum, missed) in self.missed.iter_mut().zip(&seen.missed) {
            *sum += missed;
        }
    }

    fn class(&mut self, class: BranchClass) -> &mut u64 {
        match class {
            BranchClass::JUMP => &mut self.jumps,
            BranchClass::CALL => &mut self.calls,
            BranchClass::INDIRECT_JUMP => &mut self.indirect_jumps,
            BranchClass::INDIRECT_CALL => &mut self.indirect_calls,
            BranchClass::RETURN => &mut self.returns,
            _ => &mut self.conditional,
        }
    }

    /// Adds another's.
    pub fn add(&mut self, other: &BudgetSums) {
        self.branches += other.branches;
        self.conditional += other.conditional;
        self.jumps += other.jumps;
        self.calls += other.calls;
        self.indirect_jumps += other.indirect_jumps;
        self.indirect_calls += other.indirect_calls;
        self.returns += other.returns;
        self.instructions += other.instructions;
        self.missed.resize(self.missed.len().max(other.missed.len()), 0);
        for (sum, more) in self.missed.iter_mut().zip(&other.missed) {
            *sum += more;
        }
    }
}

/// A function's part of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionPart {
    /// The function whose name decided; of code without a name its file.
    pub name: String,
    /// Branches.
    pub branches: u64,
    /// Instructions.
    pub instructions: u64,
}

/// What one component executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetRow {
    /// The component's name, or `other`, `unattributed`.
    pub name: String,
    /// What it is for.
    pub kind: RowKind,
    /// What was executed.
    pub sums: BudgetSums,
    /// Times that it was called from outside; calls that were inlined are none.
    pub called: u64,
    /// Its functions, those with most branches first.
    pub parts: Vec<FunctionPart>,
}

/// What each component executed; the rows add up to the total.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentBudget {
    /// The components in their order, then `other`, then `unattributed`.
    pub rows: Vec<BudgetRow>,
    /// Over the whole command.
    pub total: BudgetSums,
    /// Globs that fit no function that was executed.
    pub idle: Vec<String>,
}

/// The budget of a traced command.
pub fn of_trace(trace: &Trace<Watch>, spec: &ComponentSpecs) -> ComponentBudget {
    of_gathered(&gather(trace, false), spec)
}

/// The budget of what was gathered of a trace.
pub fn of_gathered(gathered: &GatheredSites, spec: &ComponentSpecs) -> ComponentBudget {
    let members = gathered.seen.first().map_or(0, |seen| seen.missed.len());
    let mut sums = Adding::new(spec, members);
    let mut attributor = Attributor::new(&gathered.images, spec);
    for seen in &gathered.seen {
        let found = attributor.of(seen.place);
        sums.part(found.owner, &found.name).branches += seen.executed;
        sums.row(found.owner).add_site(seen);
    }
    for stretch in &gathered.stretches {
        for place in instructions(&gathered.images, stretch) {
            let found = attributor.of(place);
            sums.part(found.owner, &found.name).instructions += stretch.executed;
            sums.row(found.owner).instructions += stretch.executed;
        }
    }
    let called = called(gathered, &mut attributor, spec.components.len());
    sums.finish(spec, &called, attributor.idle())
}

/// The places of the instructions of a stretch.
///
/// What can't be decoded here, though the emulator did, counts at the stretch's beginning: none is lost.
fn instructions(images: &[ModuleImage], stretch: &CodeStretch) -> Vec<SiteAddress> {
    let count = stretch.instructions as usize;
    let decoded = stretch.place.image.map(|image| {
        let image = &images[image];
        let bytes = image.bytes(stretch.place.address);
        let bytes = &bytes[..bytes.len().min(stretch.bytes as usize)];
        instruction::decode(image.architecture, bytes, stretch.place.address)
    });
    let mut places: Vec<SiteAddress> = decoded
        .unwrap_or_default()
        .iter()
        .take(count)
        .map(|instruction| SiteAddress { address: instruction.address, ..stretch.place })
        .collect();
    places.resize(count, stretch.place);
    places
}

/// How often each component was called from outside.
fn called(gathered: &GatheredSites, attributor: &mut Attributor<'_>, components: usize) -> Vec<u64> {
    let mut called = vec![0; components];
    let direct = gathered.seen.iter().filter_map(|seen| {
        let target = seen.target.filter(|_| !seen.class.is_indirect())?;
        let arrived = if seen.class.is_conditional() { seen.taken } else { seen.executed };
        Some((seen.place, seen.class, SiteAddress { address: target, ..seen.place }, arrived))
    });
    let classes: HashMap<SiteAddress, BranchClass> =
        gathered.seen.iter().map(|seen| (seen.place, seen.class)).collect();
    let indirect = gathered.arrivals.iter().map(|(from, to, times)| {
        let class = classes.get(from).copied().unwrap_or(BranchClass::INDIRECT_JUMP);
        (*from, class, *to, *times)
    });
    for (from, class, to, times) in direct.chain(indirect) {
        let begins = attributor.of_function_at(to);
        let is_call =
            matches!(class, BranchClass::CALL | BranchClass::INDIRECT_CALL) || attributor.is_stub(from);
        let owner = match begins {
            Some(owner) => owner,
            None if is_call => attributor.of(to).owner,
            None => continue,
        };
        if let CodeOwner::Component(at) = owner
            && attributor.of(from).owner != owner
        {
            called[at] += times;
        }
    }
    called
}

/// Rows under construction.
struct Adding {
    members: usize,
    rows: BTreeMap<CodeOwner, BudgetSums>,
    parts: HashMap<(CodeOwner, Rc<str>), FunctionPart>,
}

impl Adding {
    fn new(spec: &ComponentSpecs, members: usize) -> Adding {
        let owners =
            (0..spec.components.len()).map(CodeOwner::Component).chain([CodeOwner::Other, CodeOwner::Nobody]);
        let rows = owners.map(|owner| (owner, BudgetSums::of(members))).collect();
        Adding { members, rows, parts: HashMap::new() }
    }

    fn row(&mut self, owner: CodeOwner) -> &mut BudgetSums {
        self.rows.entry(owner).or_default()
    }

    fn part(&mut self, owner: CodeOwner, name: &Rc<str>) -> &mut FunctionPart {
        let new = || FunctionPart { name: name.to_string(), branches: 0, instructions: 0 };
        self.parts.entry((owner, Rc::clone(name))).or_insert_with(new)
    }

    fn finish(self, spec: &ComponentSpecs, called: &[u64], idle: Vec<String>) -> ComponentBudget {
        let mut parts: BTreeMap<CodeOwner, Vec<FunctionPart>> = BTreeMap::new();
        for ((owner, _), part) in self.parts {
            parts.entry(owner).or_default().push(part);
        }
        let mut total = BudgetSums::of(self.members);
        let mut rows = Vec::new();
        for (owner, sums) in self.rows {
            total.add(&sums);
            let mut parts = parts.remove(&owner).unwrap_or_default();
            parts.sort_by(|one, other| {
                let order = (other.branches, other.instructions).cmp(&(one.branches, one.instructions));
                order.then_with(|| one.name.cmp(&other.name))
            });
            let (name, kind, called) = match owner {
                CodeOwner::Component(at) => {
                    (spec.components[at].name.as_str(), RowKind::Component, called[at])
                }
                CodeOwner::Other => ("other", RowKind::Other, 0),
                CodeOwner::Nobody => ("unattributed", RowKind::Unattributed, 0),
            };
            rows.push(BudgetRow { name: name.to_owned(), kind, sums, called, parts });
        }
        ComponentBudget { rows, total, idle }
    }
}
