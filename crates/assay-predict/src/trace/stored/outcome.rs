//! How likely is a conditional branch to be taken, given all that came before?
//!
//! Method: context mixing (Mahoney's lpaq, as described in his papers): seven contexts, from the site alone to the site
//! with 55 outcomes of the past, each with a chance that learns fast at first and slowly later; their log odds are
//! weighted, by weights that learn too, chosen by the longest context seen before. All arithmetic is on integers, the
//! tables are made by IEEE multiplication and division alone: every machine reads what another wrote.

use super::coder::Coder;

/// Outcomes of the past in each hashed context; the last is the site's own past.
const HISTORIES: [u32; 6] = [6, 11, 18, 30, 55, LOCAL];
const LOCAL: u32 = 12;
const INPUTS: usize = HISTORIES.len() + 1;
const SLOT_BITS: u32 = 17;
/// Log odds are in units of 1 / 256.
const ODDS: i32 = 3071;

/// A chance of 16 bits, a check of 10, and how often it has learned, 6 bits.
#[derive(Clone, Copy)]
pub struct OutcomeSlot(u32);

impl OutcomeSlot {
    pub const NEW: OutcomeSlot = OutcomeSlot(1 << 31);

    fn p(self) -> u32 {
        self.0 >> 16
    }

    fn count(self) -> u32 {
        self.0 & 63
    }

    /// The slot as it is if it belongs to this check, a new one otherwise.
    fn claim(self, check: u32) -> OutcomeSlot {
        if self.0 >> 6 & 0x3ff == check { self } else { OutcomeSlot(OutcomeSlot::NEW.0 | check << 6) }
    }

    fn learn(self, bit: bool, rates: &[u32; 64]) -> OutcomeSlot {
        let (p, count) = (self.p() as i64, self.count());
        let goal = if bit { 65_535 } else { 0 };
        let p = p + (((goal - p) * i64::from(rates[count as usize])) >> 16);
        OutcomeSlot((p as u32) << 16 | self.0 & 0xffc0 | (count + 1).min(LIMIT))
    }
}

/// After so many outcomes a chance learns no slower any more.
const LIMIT: u32 = 60;

/// What the model keeps for a site.
#[derive(Clone, Copy)]
pub struct SiteModel {
    slot: OutcomeSlot,
    past: u16,
}

impl SiteModel {
    pub const NEW: SiteModel = SiteModel { slot: OutcomeSlot::NEW, past: 0 };
}

/// The model of one stream; 3 MB.
pub struct Outcomes {
    tables: Vec<OutcomeSlot>,
    weights: Vec<[i32; INPUTS]>,
    past: u64,
    squash: Vec<u16>,
    stretch: Vec<i16>,
    rates: [u32; 64],
}

impl Outcomes {
    pub fn new() -> Outcomes {
        let squash = squash_table();
        let stretch = stretch_table(&squash);
        Outcomes {
            tables: vec![OutcomeSlot::NEW; HISTORIES.len() << SLOT_BITS],
            weights: vec![[1 << 14; INPUTS]; INPUTS],
            past: 0,
            squash,
            stretch,
            rates: std::array::from_fn(|count| (65_536 * 2 / (2 * count + 3)) as u32),
        }
    }

    /// The outcomes of all conditional branches before, the last in bit 0.
    pub fn past(&self) -> u64 {
        self.past
    }

    /// Codes an outcome and learns it.
    pub fn code<C: Coder>(&mut self, coder: &mut C, site: u32, own: &mut SiteModel, taken: bool) -> bool {
        let mut slots = [0; HISTORIES.len()];
        let mut inputs = [0; INPUTS];
        inputs[0] = self.stretched(own.slot);
        let mut longest = 0;
        for (table, &length) in HISTORIES.iter().enumerate() {
            let past = if table + 1 == HISTORIES.len() { u64::from(own.past) } else { self.past };
            let (slot, check) = place(table, site, past & ((1 << length) - 1));
            self.tables[slot] = self.tables[slot].claim(check);
            if self.tables[slot].count() > 0 {
                longest = table + 1;
            }
            slots[table] = slot;
            inputs[table + 1] = self.stretched(self.tables[slot]);
        }
        let weights = self.weights[longest];
        let sum: i64 =
            weights.iter().zip(&inputs).map(|(weight, odds)| i64::from(*weight) * i64::from(*odds)).sum();
        let odds = ((sum >> 16) as i32).clamp(-ODDS, ODDS);
        let p = self.squash[(odds + ODDS) as usize];
        let taken = coder.bit(p, taken);
        self.learn(longest, &inputs, p, taken);
        for slot in slots {
            self.tables[slot] = self.tables[slot].learn(taken, &self.rates);
        }
        own.slot = own.slot.learn(taken, &self.rates);
        own.past = own.past << 1 | u16::from(taken);
        self.past = self.past << 1 | u64::from(taken);
        taken
    }

    fn stretched(&self, slot: OutcomeSlot) -> i32 {
        self.stretch[(slot.p() >> 4) as usize].into()
    }

    fn learn(&mut self, set: usize, inputs: &[i32; INPUTS], p: u16, taken: bool) {
        let error = (if taken { 65_535 } else { 0 }) - i32::from(p);
        for (weight, odds) in self.weights[set].iter_mut().zip(inputs) {
            let step = (i64::from(*odds) * i64::from(error) + (1 << 17)) >> 18;
            *weight = (i64::from(*weight) + step).clamp(-(1 << 20), 1 << 20) as i32;
        }
    }
}

/// The slot and its check for a context.
fn place(table: usize, site: u32, past: u64) -> (usize, u32) {
    let seed = (u64::from(site) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash = (seed ^ past.wrapping_mul(0xd6e8_feb8_6659_fd93)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = hash ^ hash >> 29;
    (table << SLOT_BITS | (hash >> (64 - SLOT_BITS)) as usize, (hash >> 8) as u32 & 0x3ff)
}

/// The chance, of 65536, for each log odds from -ODDS to ODDS.
fn squash_table() -> Vec<u16> {
    // e^(1/256); powers by multiplication, so that the table is the same everywhere.
    const STEP: f64 = 1.003_913_889_338_347_6;
    let mut power = 1.0_f64;
    let mut upper = Vec::new();
    for _ in 0..=ODDS {
        upper.push((65_536.0 * power / (1.0 + power)).min(65_535.0) as u16);
        power *= STEP;
    }
    let lower = upper.iter().skip(1).rev().map(|p| (65_536 - u32::from(*p)) as u16);
    lower.chain(upper.iter().copied()).collect()
}

/// The log odds for each chance of 4096: the inverse.
fn stretch_table(squash: &[u16]) -> Vec<i16> {
    (0..4096u32)
        .map(|p| {
            let at = squash.partition_point(|squashed| u32::from(*squashed) < p << 4 | 8);
            (at as i32 - ODDS).clamp(-2047, 2047) as i16
        })
        .collect()
}
