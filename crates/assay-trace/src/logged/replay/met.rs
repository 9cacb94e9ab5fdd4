//! How often numbered things were met: what each counts for is added when somebody asks.

use crate::ClassCounts;

/// How often each of some numbered things was met since it was last asked.
#[derive(Default)]
pub(super) struct Met {
    times: Vec<u64>,
    met: Vec<u32>,
}

/// The same for who meets many in a row.
pub(super) struct Meeting<'a> {
    times: &'a mut [u64],
    met: &'a mut Vec<u32>,
}

impl Meeting<'_> {
    #[inline(always)]
    pub(super) fn meet(&mut self, number: u32) {
        let times = &mut self.times[number as usize];
        if *times == 0 {
            self.met.push(number);
        }
        *times += 1;
    }
}

impl Met {
    /// One more thing.
    pub(super) fn grow(&mut self) {
        self.times.push(0);
    }

    #[inline]
    pub(super) fn meet(&mut self, number: u32) {
        self.meeting().meet(number);
    }

    /// One that was met before is met so often more.
    pub(super) fn meet_often(&mut self, number: u32, times: u64) {
        self.meet(number);
        self.times[number as usize] += times - 1;
    }

    #[inline(always)]
    pub(super) fn meeting(&mut self) -> Meeting<'_> {
        Meeting { times: &mut self.times, met: &mut self.met }
    }

    /// Adds what each counts for, as often as it was met.
    pub(super) fn count<'a>(&mut self, into: &mut ClassCounts, of: impl Fn(u32) -> &'a ClassCounts) {
        for number in self.met.drain(..) {
            into.add(of(number), std::mem::take(&mut self.times[number as usize]));
        }
    }
}
