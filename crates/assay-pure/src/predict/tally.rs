//! How often did each site branch, which way, and how often was each predictor wrong?
//!
//! Indexed by the site's dense number: an array look-up per branch, no hash.

/// What happened at one site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteTally {
    /// Times it was executed.
    pub executed: u64,
    /// Times it was taken.
    pub taken: u64,
    /// Mispredictions by each member of the zoo, in its order.
    pub missed: Vec<u64>,
}

/// What happened at all sites, over the stretch of stream that was counted into it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    members: usize,
    executed: Vec<u64>,
    taken: Vec<u64>,
    missed: Vec<u64>,
    /// Instructions over the stretch.
    pub instructions: u64,
}

impl Tally {
    /// An empty one for a zoo with so many members.
    pub fn new(members: usize) -> Tally {
        Tally { members, ..Tally::default() }
    }

    /// Members of the zoo that count into it.
    pub fn members(&self) -> usize {
        self.members
    }

    /// Sites it has room for: one more than the largest number seen.
    pub fn sites(&self) -> usize {
        self.executed.len()
    }

    /// What happened at a site; nothing at one never seen.
    pub fn site(&self, site: u32) -> SiteTally {
        let at = site as usize;
        if at >= self.executed.len() {
            return SiteTally { missed: vec![0; self.members], ..SiteTally::default() };
        }
        SiteTally {
            executed: self.executed[at],
            taken: self.taken[at],
            missed: self.missed[at * self.members..(at + 1) * self.members].to_vec(),
        }
    }

    /// Branches over the stretch.
    pub fn branches(&self) -> u64 {
        self.executed.iter().sum()
    }

    /// Mispredictions of each member over the stretch.
    pub fn missed(&self) -> Vec<u64> {
        let mut sums = vec![0; self.members];
        for row in self.missed.chunks_exact(self.members.max(1)) {
            for (sum, missed) in sums.iter_mut().zip(row) {
                *sum += missed;
            }
        }
        sums
    }
}
