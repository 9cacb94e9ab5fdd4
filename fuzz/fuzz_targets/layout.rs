#![no_main]
//! Linked files: where their functions lie, and whether they are the same as those of a file that hardly differs.

use assay_pure::placement::across::{self, CodeChange};
use assay_pure::placement::facts;
use assay_pure::placement::front_end::{at_phases, front_end};
use assay_pure::placement::identity::same_code_at;
use assay_pure::placement::layout::functions;
use assay_pure::placement::same_loops::same_loops;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // Where the other file differs: eight bytes of place, one of value, ahead of the file.
    let Some((patch, elf)) = bytes.split_at_checked(9) else { return };
    if let Ok(functions) = facts::functions(elf.into(), |_| true) {
        for function in &functions {
            for body in &function.loops {
                assert!(body.head + body.bytes <= function.place.size, "{function:?}");
                at_phases(function, body, front_end("GenuineIntel 6 85"));
            }
        }
    }
    // A file is never changed from itself.
    if let Ok(changes) = across::compare(elf, elf) {
        for change in &changes {
            let same = matches!(change.own, CodeChange::Identical | CodeChange::Unknown { .. });
            assert!(same, "{change:?}");
        }
    }
    // Two functions of one file: no pair is refused, and none ends the program.
    for two in functions(elf).unwrap_or_default().windows(2).take(8) {
        let _ = same_code_at(elf, two[0].address, two[1].address);
        let _ = same_loops(elf, two[0].address, two[1].address);
    }
    let mut other = elf.to_vec();
    let place = patch[..8].try_into().map_or(0, u64::from_le_bytes);
    if let Some(byte) =
        (!other.is_empty()).then(|| place as usize % other.len()).and_then(|at| other.get_mut(at))
    {
        *byte ^= patch[8] | 1;
    }
    if let Ok(changes) = across::compare(elf, &other) {
        let changed = changes.iter().filter(|change| matches!(change.own, CodeChange::Changed { .. }));
        let pairs: Vec<(u64, u64)> = changed
            .filter_map(|change| Some((change.old.as_ref()?.address, change.new.as_ref()?.address)))
            .collect();
        let _ = across::differing(elf.into(), other.as_slice().into(), &pairs[..pairs.len().min(4)]);
    }
});
