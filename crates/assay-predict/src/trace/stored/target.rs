//! Where does an indirect branch go, given where others went?
//!
//! A return goes behind its call; a jump or call where it went after the same past, else where it went lately, else
//! somewhere new, given as a distance.

use super::coder::{Chance, Coder, NumberCode};

const TABLE_BITS: u32 = 12;
/// Outcomes of conditional branches that the two tables look at.
const PASTS: [u32; 2] = [24, 5];
const RECENT: usize = 64;
const CALLS: usize = 64;

#[derive(Clone, Copy)]
struct TargetSlot {
    target: u64,
    chance: Chance,
}

/// What the model keeps for a site.
#[derive(Default)]
pub struct SiteTargets {
    /// Last targets, the latest first.
    recent: Vec<u64>,
    /// From a call to where its return goes.
    behind: Option<u8>,
}

/// The model of one stream.
pub struct TargetModel {
    tables: Vec<TargetSlot>,
    path: u64,
    /// Calls not yet returned from: address and site, the oldest forgotten.
    calls: Vec<(u64, u32)>,
    returns: Chance,
    place: NumberCode,
    distance: NumberCode,
}

impl TargetModel {
    pub fn new() -> TargetModel {
        TargetModel {
            tables: vec![TargetSlot { target: 0, chance: Chance(1 << 14) }; PASTS.len() << TABLE_BITS],
            path: 0,
            calls: Vec::new(),
            returns: Chance::EVEN,
            place: NumberCode::new(),
            distance: NumberCode::new(),
        }
    }

    /// A call was made.
    pub fn call(&mut self, pc: u64, site: u32) {
        if self.calls.len() == CALLS {
            self.calls.remove(0);
        }
        self.calls.push((pc, site));
    }

    /// Codes where a return goes; `behind` gives the length of the call at a site, or what was learned.
    pub fn code_return<C: Coder>(
        &mut self,
        coder: &mut C,
        owns: &mut [SiteTargets],
        site: u32,
        past: u64,
        target: u64,
        lengths: impl Fn(u32) -> u8,
    ) -> u64 {
        let Some((pc, call)) = self.calls.pop() else {
            return self.code_jump(coder, &mut owns[site as usize], site, past, target);
        };
        let length = match (owns[call as usize].behind, lengths(call)) {
            (Some(behind), _) => behind,
            (None, 0) => 4,
            (None, length) => length,
        };
        let expected = pc.wrapping_add(length.into());
        if self.returns.code(coder, target == expected) {
            return expected;
        }
        let target = self.code_jump(coder, &mut owns[site as usize], site, past, target);
        owns[call as usize].behind =
            u8::try_from(target.wrapping_sub(pc)).ok().or(owns[call as usize].behind);
        target
    }

    /// Codes where an indirect branch goes.
    pub fn code_jump<C: Coder>(
        &mut self,
        coder: &mut C,
        own: &mut SiteTargets,
        site: u32,
        past: u64,
        target: u64,
    ) -> u64 {
        let slots = [0, 1].map(|table| self.slot(table, site, past));
        let mut found = None;
        for slot in slots {
            let TargetSlot { target: expected, chance } = &mut self.tables[slot];
            if chance.code(coder, *expected == target) {
                found = Some(*expected);
                break;
            }
        }
        let target = found.unwrap_or_else(|| self.code_rare(coder, own, target));
        for slot in slots {
            self.tables[slot].target = target;
        }
        self.path = self.path << 7 ^ target.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        target
    }

    fn slot(&self, table: usize, site: u32, past: u64) -> usize {
        let past = past & ((1 << PASTS[table]) - 1);
        let path = if table == 0 { self.path & 0xff_ffff } else { 0 };
        let mixed = (u64::from(site) << 40 ^ past << 24 ^ path).wrapping_add(past >> 3);
        let hash = mixed.wrapping_mul(0xff51_afd7_ed55_8ccd);
        table << TABLE_BITS | (hash >> (64 - TABLE_BITS)) as usize
    }

    /// A target that neither table expected: one of the last, or a new one.
    fn code_rare<C: Coder>(&mut self, coder: &mut C, own: &mut SiteTargets, target: u64) -> u64 {
        let known = own.recent.iter().position(|recent| *recent == target);
        let place = self.place.code(coder, known.map_or(0, |place| place as u64 + 1));
        let known =
            place.checked_sub(1).map(|place| place as usize).filter(|place| *place < own.recent.len());
        let target = match known {
            Some(place) => own.recent.remove(place),
            None => {
                let from = own.recent.first().copied().unwrap_or(0);
                let distance = self.distance.code_signed(coder, target.wrapping_sub(from) as i64);
                own.recent.truncate(RECENT - 1);
                from.wrapping_add(distance as u64)
            }
        };
        own.recent.insert(0, target);
        target
    }
}
