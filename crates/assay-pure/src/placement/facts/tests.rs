//! Hand-assembled functions: what is expected follows from the bytes in the comments.

use super::decode::operations;
use super::{BorderBranch, DecodedFunction, LINE_BYTES, loops, touched};
use crate::placement::front_end::{FrontEnd, at_phases, front_end};
use crate::placement::layout::FunctionPlace;

fn function(address: u64, bytes: &[u8]) -> DecodedFunction {
    let (operations, undecodable) = operations(bytes, address, false);
    DecodedFunction {
        place: FunctionPlace {
            name: "f".to_owned(),
            address,
            size: bytes.len() as u64,
            offset: address % LINE_BYTES,
            alignment: None,
        },
        aliases: Vec::new(),
        padding_bytes: 0,
        loops: loops::find(&operations, bytes.len() as u64),
        operations,
        undecodable,
    }
}

/// `xor eax,eax` and a loop of 24 bytes: `add rax,[rdi]` seven times (3 bytes each) ... `dec ecx; jnz head`.
fn summing() -> Vec<u8> {
    let mut bytes = vec![0x31, 0xc0];
    for _ in 0..7 {
        bytes.extend([0x48, 0x03, 0x07]);
    }
    // dec ecx; jnz -25; ret
    bytes.extend([0xff, 0xc9, 0x75, 0xe7, 0xc3]);
    bytes
}

#[test]
fn stretches_are_counted_from_border_to_border() {
    assert_eq!(touched(0, 64, 64), 1);
    assert_eq!(touched(0, 65, 64), 2);
    assert_eq!(touched(63, 2, 64), 2);
    assert_eq!(touched(48, 16, 32), 1);
    assert_eq!(touched(31, 34, 32), 3);
    assert_eq!(touched(100, 0, 64), 0);
    assert_eq!(touched(u64::MAX - 1, 64, 64), 1);
}

#[test]
fn a_function_is_told_by_its_lines_windows_and_what_pinning_costs() {
    let found = function(0x1030, &[0x90; 40]);
    assert_eq!((found.lines(), found.windows(), found.window_offset()), (2, 2, 16));
    assert_eq!((found.place.offset, found.pinning_bytes()), (48, 16));
    assert_eq!(function(0x1040, &[0xc3]).pinning_bytes(), 0);
}

#[test]
fn a_loop_is_what_lies_between_a_branch_back_and_where_it_goes() {
    let found = function(0x1000, &summing());
    let [only] = found.loops.as_slice() else { panic!("{:?}", found.loops) };
    assert_eq!((only.head, only.branches.as_slice()), (2, [25].as_slice()));
    assert_eq!((only.bytes, only.instructions, only.calls, only.innermost), (25, 9, 0, true));
}

#[test]
fn an_outer_loop_is_not_innermost_and_shared_heads_are_one_loop() {
    // 0: inc eax; 2: inc ecx; 4: jnz 2; 6: call +0; 11: jnz 0; 13: jmp 0; 15: ret
    let bytes = [0xff, 0xc0, 0xff, 0xc1, 0x75, 0xfc, 0xe8, 0, 0, 0, 0, 0x75, 0xf3, 0xeb, 0xf1, 0xc3];
    let found = function(0x1000, &bytes).loops;
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].head, found[0].branches.as_slice(), found[0].bytes), (0, [11, 13].as_slice(), 15));
    assert_eq!((found[0].innermost, found[0].calls, found[0].instructions), (false, 1, 6));
    assert_eq!((found[1].head, found[1].innermost, found[1].bytes), (2, true, 4));
    // A jump back out of the function, or into the middle of an instruction, is no loop: jmp -16; mov eax,imm; jmp -4
    assert!(function(0x1000, &[0xeb, 0xee, 0xb8, 0, 0, 0, 0, 0xeb, 0xfc]).loops.is_empty());
}

#[test]
fn branches_at_borders_are_found_with_what_is_fused_to_them() {
    // At 26: `dec ecx; jnz` of four bytes after 23 bytes of the function: 0x1003 + 23 = 0x101a, up to 0x101e.
    let bytes = summing();
    assert!(function(0x1003, &bytes[..27]).border_branches(0).is_empty());
    // Two bytes further it ends at the border, three further it crosses it.
    let ends = BorderBranch { at: 23, bytes: 4, fused: true, crosses: false };
    assert_eq!(function(0x1005, &bytes[..27]).border_branches(0), std::slice::from_ref(&ends));
    let crosses = BorderBranch { crosses: true, ..ends };
    assert_eq!(function(0x1006, &bytes[..27]).border_branches(0), std::slice::from_ref(&crosses));
    assert_eq!(function(0x1003, &bytes[..27]).border_branches(3), std::slice::from_ref(&crosses));
    // The comparison alone before the border: the pair crosses it.
    assert_eq!(function(0x1007, &bytes[..27]).border_branches(0), [crosses]);
    // With the pair behind it, nothing does.
    assert!(function(0x1009, &bytes[..27]).border_branches(0).is_empty());
}

#[test]
fn only_what_fuses_is_a_pair() {
    let fused = |bytes: &[u8]| {
        let (found, _) = operations(bytes, 0, false);
        found[0].fuses_with(&found[1])
    };
    // test eax,eax; js | cmp eax,ecx; js | cmp eax,ecx; jb | dec eax; jb | dec eax; jg | mov eax,ecx; je
    for (bytes, expected) in [
        ([0x85, 0xc0, 0x78, 0], true),
        ([0x39, 0xc8, 0x78, 0], false),
        ([0x39, 0xc8, 0x72, 0], true),
        ([0xff, 0xc8, 0x72, 0], false),
        ([0xff, 0xc8, 0x7f, 0], true),
        ([0x89, 0xc8, 0x74, 0], false),
        // cmp eax,ecx; jmp
        ([0x39, 0xc8, 0xeb, 0], false),
    ] {
        assert_eq!(fused(&bytes), expected, "{bytes:x?}");
    }
    // cmp dword [rdi],5; je | cmp [rdi],eax; je
    assert!(!fused(&[0x83, 0x3f, 0x05, 0x74, 0]));
    assert!(fused(&[0x39, 0x07, 0x74, 0]));
}

fn rule(cpu: &str) -> FrontEnd {
    front_end(cpu).expect("a known processor")
}

#[test]
fn what_an_iteration_touches_depends_on_where_it_lies() {
    // The loop: 25 bytes from 2 on, seven additions of 3 bytes and the fused pair: eight operations.
    let found = function(0x1000, &summing());
    let body = &found.loops[0];
    let skylake = at_phases(&found, body, Some(rule("GenuineIntel 6 85")));
    let told: Vec<_> = skylake.iter().map(|at| (at.offset, at.head_offset, at.lines, at.windows)).collect();
    assert_eq!(told, [(0, 2, 1, 1), (16, 18, 1, 2), (32, 34, 1, 1), (48, 50, 2, 2)]);
    let ruled: Vec<_> = skylake
        .iter()
        .filter_map(|at| at.ruled)
        .map(|ruled| (ruled.fetches, ruled.windows, ruled.entries, ruled.left_out))
        .collect();
    // Bytes 2..27 and 34..59: two fetches of 16 bytes, eight operations of one window in two entries. Bytes 18..43:
    // the operations at 18, 21, 24, 27, 30 are five of the first window; three are left for the second.
    assert_eq!(ruled, [(2, 1, 2, 0), (2, 2, 2, 0), (2, 1, 2, 0), (2, 2, 2, 0)]);
    let zen4 = at_phases(&found, body, Some(rule("AuthenticAMD 25 17")));
    let ruled: Vec<_> = zen4
        .iter()
        .filter_map(|at| at.ruled)
        .map(|ruled| (ruled.fetches, ruled.windows, ruled.entries))
        .collect();
    assert_eq!(ruled, [(1, 1, 1), (2, 1, 1), (1, 1, 1), (2, 2, 2)]);
    assert!(at_phases(&found, body, None).iter().all(|at| at.ruled.is_none()));
}

#[test]
fn the_erratum_leaves_windows_out_where_it_is_known_and_there_alone() {
    // Five bytes further the fused pair at 23 ends at a border: 0x1005 + 27 = 0x1020.
    let found = function(0x1005, &summing());
    let left_out = |cpu: &str| {
        let at = at_phases(&found, &found.loops[0], Some(rule(cpu)));
        at.map(|at| (at.border_branches, at.ruled.map_or(0, |ruled| ruled.left_out)))
    };
    assert_eq!(left_out("GenuineIntel 6 85"), [(1, 1), (0, 0), (1, 1), (0, 0)]);
    for other in ["GenuineIntel 6 106", "GenuineIntel 6 61", "AuthenticAMD 25 17"] {
        assert_eq!(left_out(other), [(1, 0), (0, 0), (1, 0), (0, 0)], "{other}");
    }
}

#[test]
fn too_many_operations_for_a_window_are_left_out() {
    // Ten times `push rax; pop rax`, a byte each, and `jmp` to the head: 22 bytes.
    let mut bytes = [[0x50], [0x58]].concat().repeat(10);
    bytes.extend([0xeb, 0xea]);
    let found = function(0x1000, &bytes);
    let at = at_phases(&found, &found.loops[0], Some(rule("GenuineIntel 6 94")));
    // 21 operations need four entries; a window may take three.
    let ruled = at[0].ruled.expect("a rule");
    assert_eq!((ruled.windows, ruled.entries, ruled.left_out), (1, 4, 1));
    // From 16 bytes on they are spread over two windows: 16 operations in three entries, five in one.
    let ruled = at[1].ruled.expect("a rule");
    assert_eq!((ruled.windows, ruled.entries, ruled.left_out), (2, 4, 0));
}

#[test]
fn processors_are_known_by_family_and_model() {
    for (cpu, name) in [
        ("GenuineIntel 6 85", "Skylake"),
        ("GenuineIntel 6 158", "Skylake"),
        ("GenuineIntel 6 165", ""),
        ("GenuineIntel 6 166", "Skylake"),
        ("GenuineIntel 6 60", "Sandy Bridge to Broadwell"),
        ("GenuineIntel 6 106", "Sunny Cove"),
        ("GenuineIntel 6 143", "Golden Cove"),
        ("AuthenticAMD 23 1", "Zen"),
        ("AuthenticAMD 23 49", "Zen 2"),
        ("AuthenticAMD 25 1", "Zen 3"),
        ("AuthenticAMD 25 33", "Zen 3"),
        ("AuthenticAMD 25 17", "Zen 4"),
        ("AuthenticAMD 25 97", "Zen 4"),
        ("AuthenticAMD 26 2", "Zen 5"),
        ("AuthenticAMD 21 2", ""),
        ("", ""),
        ("CentaurHauls 6 15", ""),
    ] {
        assert_eq!(front_end(cpu).map_or("", |found| found.name), name, "{cpu}");
    }
}

#[test]
fn branches_of_aarch64_are_read() {
    // 0: subs x0,x0,#1; 4: b.ne 0; 8: cbz w1, 0; 12: tbnz w1,#3, 8; 16: bl; 20: b 16; 24: ret
    let words: [u32; 7] =
        [0xf100_0400, 0x54ff_ffe1, 0x34ff_ffc1, 0x371f_ffe1, 0x9400_0010, 0x17ff_ffff, 0xd65f_03c0];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let (found, _) = operations(&bytes, 0x400, true);
    let loops = loops::find(&found, bytes.len() as u64);
    let told: Vec<_> = loops.iter().map(|body| (body.head, body.branches.clone(), body.calls)).collect();
    assert_eq!(told, [(0, vec![4, 8], 0), (8, vec![12], 0), (16, vec![20], 1)]);
}
