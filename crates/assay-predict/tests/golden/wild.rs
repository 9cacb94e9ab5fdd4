//! Streams of random programs, for what the golden streams do not reach: any class of branch, addresses of any size,
//! few sites and many, loops too long for a loop predictor, patterns, noise, and one phase after another.
//!
//! A program is a list of sites, and of what each does; it is walked in runs that repeat, so that there is something to
//! learn. All of it follows from the seed.

use super::synthetic::Random;
use assay_predict::trace::{Branch, BranchClass};

/// What a conditional branch does.
#[derive(Clone, Copy)]
enum Habit {
    /// Goes one way so often, then once the other.
    Loop { trips: u64, usually: bool },
    /// Repeats these bits.
    Pattern { bits: u64, length: u64 },
    /// Taken with so many chances in 256.
    Biased(u64),
    /// The exclusive or of some of the latest outcomes of all branches.
    Correlated(u64),
    /// As often as last time, or with a small chance any other number of times.
    Changing,
}

#[derive(Clone, Copy)]
struct Site {
    pc: u64,
    class: BranchClass,
    targets: [u64; 8],
    habit: Habit,
    executed: u64,
    trips: u64,
}

/// Where programs lie, so that addresses of 31, 32 and 48 bits and those of a kernel occur.
const BASES: [u64; 6] =
    [0x1000, 0x40_0000, 0x7fff_f000, 0xffff_f000, 0x7f12_3456_7000, 0xffff_8000_0008_0000];

/// Direct and indirect jumps, calls and returns, of both kinds: A32 has conditional ones of all.
fn class(random: &mut Random) -> BranchClass {
    const OTHERS: [u8; 10] = [0b0000, 0b1000, 0b0010, 0b1010, 0b0110, 0b0011, 0b1001, 0b1011, 0b0111, 0b0110];
    let others = random.next() >> 32 & 3 == 0;
    let bits = if others { OTHERS[(random.next() >> 32) as usize % 10] } else { 0b0001 };
    BranchClass::from_bits(bits).expect("a kind that exists")
}

fn habit(random: &mut Random, noise: u64) -> Habit {
    let bits = random.next();
    if bits & 255 < noise {
        return Habit::Biased(128);
    }
    let few = bits >> 8 & 31;
    match bits >> 16 & 7 {
        0 => Habit::Loop { trips: 2 + few, usually: bits >> 20 & 3 != 0 },
        1 => {
            Habit::Loop { trips: [3, 20, 130, 700, 1023, 1024, 1025, 2000][few as usize & 7], usually: true }
        }
        2 => Habit::Pattern { bits: bits >> 24, length: 1 + few },
        3 => Habit::Biased([0, 1, 4, 16, 200, 250, 255, 256][few as usize & 7]),
        4 | 5 => Habit::Correlated(1 << (few * 2) | 1 << (bits >> 40 & 7) | (few & 1) << 60),
        6 => Habit::Changing,
        _ => Habit::Biased(256 * (few & 1)),
    }
}

fn program(random: &mut Random) -> Vec<Site> {
    let sites = [3, 12, 40, 200, 1000, 6000][(random.next() >> 32) as usize % 6];
    let base = BASES[(random.next() >> 32) as usize % BASES.len()];
    let step = [1, 2, 4, 4, 16, 64, 1024][(random.next() >> 32) as usize % 7];
    let noise = [0, 8, 32, 128][(random.next() >> 32) as usize % 4];
    let mut pc = base;
    let mut site = |_| {
        pc = pc.wrapping_add(step * (1 + (random.next() >> 32) % 7));
        let target =
            |_| pc.wrapping_add(((random.next() >> 32) % 4096).wrapping_sub(2048).wrapping_mul(step));
        let targets = std::array::from_fn(target);
        let class = class(random);
        Site { pc, class, targets, habit: habit(random, noise), executed: 0, trips: 5 }
    };
    (0..sites).map(&mut site).collect()
}

impl Site {
    fn outcome(&mut self, random: &mut Random, outcomes: u64) -> bool {
        let nth = self.executed;
        self.executed += 1;
        match self.habit {
            Habit::Loop { trips, usually } => (nth % trips == trips - 1) != usually,
            Habit::Pattern { bits, length } => bits >> (nth % length) & 1 != 0,
            Habit::Biased(chances) => random.next() >> 32 & 255 < chances,
            Habit::Correlated(mask) => (outcomes & mask).count_ones() & 1 != 0,
            Habit::Changing => {
                let ends = self.executed >= self.trips;
                if ends {
                    self.executed = 0;
                    let bits = random.next() >> 32;
                    self.trips = if bits & 15 == 0 { 2 + (bits >> 8) % 60 } else { self.trips };
                }
                !ends
            }
        }
    }
}

/// A stream of so many branches.
pub fn wild(seed: u64, branches: usize) -> Vec<Branch> {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    (0..8).for_each(|_| _ = random.next());
    let mut stream = Vec::with_capacity(branches);
    let mut outcomes = 0;
    while stream.len() < branches {
        let mut sites = program(&mut random);
        let phase = branches / (1 + (random.next() >> 32) as usize % 3);
        let end = branches.min(stream.len() + phase.max(1));
        let (mut at, mut runs) = (0, [(0, 1); 8]);
        for run in &mut runs {
            let length = 1 + (random.next() >> 32) as usize % sites.len().min(64);
            *run = ((random.next() >> 32) as usize % sites.len(), length);
        }
        let (mut run, mut left) = (runs[0], 0);
        while stream.len() < end {
            if left == 0 {
                // Seven of eight stretches are ones that come again.
                let bits = random.next() >> 32;
                run = runs[bits as usize & 7];
                if bits >> 8 & 7 == 0 {
                    run.0 = (bits >> 11) as usize % sites.len();
                }
                (at, left) = (run.0, run.1 * (1 + (bits >> 3) as usize % 3));
            }
            left -= 1;
            let nth = at % sites.len();
            at = if at + 1 >= run.0 + run.1 { run.0 } else { at + 1 };
            let site = &mut sites[nth];
            let conditional = site.class.is_conditional();
            let taken = !conditional || site.outcome(&mut random, outcomes);
            if conditional {
                outcomes = outcomes << 1 | u64::from(taken);
            }
            let which = if site.class.is_indirect() { (outcomes ^ outcomes >> 5) as usize % 8 } else { 0 };
            stream.push(Branch::new(site.pc, site.targets[which], nth as u32, site.class, taken, 5));
        }
    }
    stream
}
