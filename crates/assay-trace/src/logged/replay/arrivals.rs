//! Where indirect branches and returns arrive, by addresses of the logging program: the last ones, found without a search; and maps by
//! address for what is searched for.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// How many are kept; a power of two.
const KEPT: usize = 1 << 10;

/// A map by addresses or numbers of our own making. Callbacks of other code are looked up again and again, and the usual hash, which
/// withstands chosen keys, costs more than all else of them.
pub(super) type AddressMap<K, T> = HashMap<K, T, BuildHasherDefault<AddressHasher>>;

/// Multiplies by the golden ratio's fraction (Knuth, The Art of Computer Programming, 6.4).
#[derive(Default)]
pub(super) struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // A map takes its place from the lowest bits, which have only the lowest ones of the number.
        self.0 = mixed ^ (mixed >> 32);
    }
}

/// Places by address. Two that want the same room take turns.
pub(super) struct Arrivals(Box<[Option<Arrival>; KEPT]>);

/// A stretch and its address in the measured program; nothing: it is other code.
pub(super) type Place = Option<(u32, u64)>;

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
    (logged ^ (logged >> 10)) as usize % KEPT
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
