//! Where indirect branches and returns arrive, by addresses of the logging program: the last ones, found without a search.

/// How many are kept; a power of two.
const KEPT: usize = 1 << 10;

/// Places by address. Two that want the same room take turns.
pub(super) struct Arrivals(Box<[Option<Arrival>; KEPT]>);

/// A stretch and its address in the measured program.
type Place = (u32, u64);

#[derive(Clone, Copy)]
struct Arrival {
    logged: u64,
    place: Place,
}

impl Default for Arrivals {
    fn default() -> Arrivals {
        Arrivals(Box::new([None; KEPT]))
    }
}

/// The room of an address.
fn room(logged: u64) -> usize {
    (logged ^ logged >> 10) as usize % KEPT
}

impl Arrivals {
    #[inline]
    pub(super) fn at(&self, logged: u64) -> Option<Place> {
        self.0[room(logged)].filter(|arrival| arrival.logged == logged).map(|arrival| arrival.place)
    }

    pub(super) fn put(&mut self, logged: u64, place: Place) {
        self.0[room(logged)] = Some(Arrival { logged, place });
    }
}
