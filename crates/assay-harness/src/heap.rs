//! What passes allocate, where the lab has loaded a library that counts it: the variable ASSAY_HEAP holds the address of its
//! counts.

use std::sync::atomic::{AtomicI64, AtomicPtr, AtomicU64, Ordering};

/// As the library keeps them.
#[repr(C)]
pub(crate) struct Heap {
    allocations: AtomicU64,
    allocated: AtomicU64,
    /// Bytes that are allocated now.
    live: AtomicI64,
    /// The most since this was last set.
    peak: AtomicI64,
}

/// Null: nothing counts.
static HEAP: AtomicPtr<Heap> = AtomicPtr::new(std::ptr::null_mut());
/// What the heap had when the pass began.
static BEGUN: Heap = Heap::none();
/// What passes allocated since [`reset`].
static PASSES: Heap = Heap::none();

const ORDER: Ordering = Ordering::Relaxed;

impl Heap {
    const fn none() -> Self {
        Self {
            allocations: AtomicU64::new(0),
            allocated: AtomicU64::new(0),
            live: AtomicI64::new(0),
            peak: AtomicI64::new(0),
        }
    }
}

fn heap() -> Option<&'static Heap> {
    // SAFETY: null, or an address that the library said, which stays loaded to the end of the program.
    unsafe { HEAP.load(ORDER).as_ref() }
}

/// Whether the library sees what this program allocates: an allocator of its own may not ask the C library.
fn counts_a_block() -> bool {
    let counted = || heap().map_or(0, |heap| heap.allocations.load(ORDER));
    let before = counted();
    drop(std::hint::black_box(Box::new(before)));
    counted() != before
}

/// Finds the library's counts; none where it cannot see this program's allocator.
pub(crate) fn find() {
    let address = std::env::var("ASSAY_HEAP").ok().and_then(|text| usize::from_str_radix(&text, 16).ok());
    HEAP.store(std::ptr::with_exposed_provenance_mut(address.unwrap_or(0)), ORDER);
    if !counts_a_block() {
        HEAP.store(std::ptr::null_mut(), ORDER);
    }
}

/// Forgets the passes so far.
pub(crate) fn reset() {
    PASSES.allocations.store(0, ORDER);
    PASSES.allocated.store(0, ORDER);
    PASSES.peak.store(0, ORDER);
}

/// A pass begins.
#[inline]
pub(crate) fn begin() {
    let Some(heap) = heap() else { return };
    BEGUN.allocations.store(heap.allocations.load(ORDER), ORDER);
    BEGUN.allocated.store(heap.allocated.load(ORDER), ORDER);
    let live = heap.live.load(ORDER);
    BEGUN.live.store(live, ORDER);
    heap.peak.store(live, ORDER);
}

/// The pass is over.
#[inline]
pub(crate) fn end() {
    let Some(heap) = heap() else { return };
    PASSES.allocations.fetch_add(heap.allocations.load(ORDER) - BEGUN.allocations.load(ORDER), ORDER);
    PASSES.allocated.fetch_add(heap.allocated.load(ORDER) - BEGUN.allocated.load(ORDER), ORDER);
    PASSES.peak.fetch_max(heap.peak.load(ORDER) - BEGUN.live.load(ORDER), ORDER);
}

/// The fields of `traced`, with a space before each; none where nothing counts.
pub(crate) fn fields() -> String {
    if heap().is_none() {
        return String::new();
    }
    let (allocations, allocated) = (PASSES.allocations.load(ORDER), PASSES.allocated.load(ORDER));
    format!(" allocations={allocations} allocated={allocated} peak={}", PASSES.peak.load(ORDER))
}
