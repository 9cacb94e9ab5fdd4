//! Hand-assembled functions: what each comparison must say is derived from the bytes in the comments.

use super::image::{Datum, LinkedImage};
use super::{CodeComparison, Identity};

const TEXT: u64 = 0x1000;
const DATA: u64 = 0x2000;
/// Where each function of `compare` starts, after `TEXT`.
const PLACES: [u64; 4] = [0x00, 0x90, 0x120, 0x1b0];

/// Puts functions at `PLACES`, with breakpoints between them, and compares the first two.
fn compare_with_data(functions: &[&[u8]], data: &[u8], objects: &[Datum]) -> Identity {
    let mut text = vec![0xcc; 0x240];
    let mut symbols = Vec::new();
    for ((bytes, place), name) in functions.iter().zip(PLACES).zip(["a", "b", "c", "d"]) {
        text[place as usize..place as usize + bytes.len()].copy_from_slice(bytes);
        symbols.push((name, TEXT + place, bytes.len() as u64));
    }
    let image = LinkedImage::of((TEXT, &text), (DATA, data), &symbols, objects);
    CodeComparison::new(&image).run(TEXT + PLACES[0], TEXT + PLACES[1])
}

fn compare(functions: &[&[u8]]) -> Identity {
    compare_with_data(functions, &[0; 256], &[])
}

/// An opcode and the relative address from `PLACES[place] + at` to `to`, the last bytes of an instruction.
fn to(opcode: &[u8], place: usize, at: u64, target: u64) -> Vec<u8> {
    let end = TEXT + PLACES[place] + at + opcode.len() as u64 + 4;
    let relative = target.wrapping_sub(end) as u32;
    [opcode, &relative.to_le_bytes()].concat()
}

const CALL: &[u8] = &[0xe8];
const JUMP: &[u8] = &[0xe9];
const RETURN: &[u8] = &[0xc3];
/// `lea rdx,[rip+..]`
const LEA_RDX: &[u8] = &[0x48, 0x8d, 0x15];
/// `mov eax,[rip+..]`
const LOAD_EAX: &[u8] = &[0x8b, 0x05];

fn identical(found: &Identity) -> bool {
    matches!(found, Identity::Identical { .. })
}

fn unknown(found: &Identity) -> bool {
    matches!(found, Identity::Unknown { .. })
}

#[test]
fn takes_equal_bytes_as_identical_and_finds_the_first_that_differ() {
    // xor eax,eax; add eax,1; jnz -5; ret
    let loops: &[u8] = &[0x31, 0xc0, 0x83, 0xc0, 0x01, 0x75, 0xfb, 0xc3];
    assert_eq!(compare(&[loops, loops]), Identity::Identical { note: None });
    let mut other_constant = loops.to_vec();
    other_constant[4] = 2;
    assert_eq!(compare(&[loops, &other_constant]), Identity::Different { at: 2 });
    let mut inverted = loops.to_vec();
    inverted[5] = 0x74;
    assert_eq!(compare(&[loops, &inverted]), Identity::Different { at: 5 });
    let mut elsewhere = loops.to_vec();
    elsewhere[6] = 0xf9;
    assert_eq!(compare(&[loops, &elsewhere]), Identity::Different { at: 5 });
}

#[test]
fn takes_one_more_instruction_as_a_difference() {
    // xor eax,eax; ret | xor eax,eax; inc eax; ret
    assert_eq!(
        compare(&[&[0x31, 0xc0, 0xc3], &[0x31, 0xc0, 0xff, 0xc0, 0xc3]]),
        Identity::Different { at: 2 }
    );
    // The second goes on after what the first ends with.
    assert_eq!(
        compare(&[&[0x31, 0xc0, 0xc3], &[0x31, 0xc0, 0xc3, 0xff, 0xc0, 0xc3]]),
        Identity::Different { at: 3 }
    );
}

#[test]
fn takes_no_padding_for_code() {
    // ret | ret; nop; xchg ax,ax; int3
    assert_eq!(compare(&[RETURN, &[0xc3, 0x90, 0x66, 0x90, 0xcc]]), Identity::Identical { note: None });
    // Without an end before it, a nop is run.
    assert_eq!(compare(&[&[0x31, 0xc0], &[0x31, 0xc0, 0x90]]), Identity::Different { at: 2 });
}

#[test]
fn compares_what_is_called_by_address_or_by_code() {
    let calls = |place, target| [to(CALL, place, 0, TEXT + PLACES[target]), RETURN.to_vec()].concat();
    // Both call c: same target.
    assert_eq!(compare(&[&calls(0, 2), &calls(1, 2), RETURN]), Identity::Identical { note: None });
    // c and d are the same code.
    let twins = compare(&[&calls(0, 2), &calls(1, 3), RETURN, RETURN]);
    assert_eq!(
        twins,
        Identity::Identical {
            note: Some("1 function also compared (callees, or parts split off)".to_owned())
        }
    );
    // d has one more instruction.
    assert_eq!(compare(&[&calls(0, 2), &calls(1, 3), RETURN, &[0x90, 0xc3]]), Identity::Different { at: 0 });
    // a calls itself and b calls itself; then each the other; then both a.
    assert!(identical(&compare(&[&calls(0, 0), &calls(1, 1)])));
    assert!(identical(&compare(&[&calls(0, 1), &calls(1, 0)])));
    assert!(!identical(&compare(&[&calls(0, 0), &calls(1, 2), RETURN])));
}

#[test]
fn compares_parts_that_a_jump_reaches() {
    // test edi,edi; jnz part; ret, and the part is: inc eax; jmp back to the ret.
    let hot = |place: usize, part: usize| {
        [vec![0x85, 0xff], to(&[0x0f, 0x85], place, 2, TEXT + PLACES[part]), RETURN.to_vec()].concat()
    };
    let cold = |part: usize, into: usize, at: u64| {
        [vec![0xff, 0xc0], to(JUMP, part, 2, TEXT + PLACES[into] + at)].concat()
    };
    assert!(identical(&compare(&[&hot(0, 2), &hot(1, 3), &cold(2, 0, 8), &cold(3, 1, 8)])));
    // The second part goes back to the start.
    assert_eq!(
        compare(&[&hot(0, 2), &hot(1, 3), &cold(2, 0, 8), &cold(3, 1, 0)]),
        Identity::Different { at: 2 }
    );
    // Both go back into the middle of an instruction.
    assert!(unknown(&compare(&[&hot(0, 2), &hot(1, 3), &cold(2, 0, 4), &cold(3, 1, 4)])));
}

#[test]
fn compares_data_of_known_size() {
    let load = |place, address| [to(LOAD_EAX, place, 0, address), RETURN.to_vec()].concat();
    let mut data = [0; 256];
    data[16..20].copy_from_slice(&[1, 2, 3, 4]);
    data[32..36].copy_from_slice(&[1, 2, 3, 4]);
    data[48..52].copy_from_slice(&[1, 2, 3, 5]);
    let loads = |second| compare_with_data(&[&load(0, DATA + 16), &load(1, DATA + second)], &data, &[]);
    assert_eq!(loads(16), Identity::Identical { note: None });
    let note = "4 bytes of read-only data at other addresses compared equal".to_owned();
    assert_eq!(loads(32), Identity::Identical { note: Some(note) });
    assert_eq!(loads(48), Identity::Different { at: 0 });
}

#[test]
fn compares_whole_objects_whose_address_is_taken() {
    let take = |place, address| [to(LEA_RDX, place, 0, address), RETURN.to_vec()].concat();
    let objects = [Datum { address: DATA, size: 100 }, Datum { address: DATA + 112, size: 100 }];
    let mut data = [7; 256];
    let taken = |data: &[u8]| compare_with_data(&[&take(0, DATA), &take(1, DATA + 112)], data, &objects);
    assert!(identical(&taken(&data)));
    data[112 + 99] = 8;
    assert_eq!(taken(&data), Identity::Different { at: 0 });
}

#[test]
fn compares_data_of_unknown_size_beyond_what_other_code_mentions() {
    let take = |place, address| [to(LEA_RDX, place, 0, address), RETURN.to_vec()].concat();
    // "ab" and "ac", and a third function that uses the "b" of the first.
    let mut data = [0; 256];
    data[..2].copy_from_slice(b"ab");
    data[128..130].copy_from_slice(b"ac");
    let functions = [take(0, DATA), take(1, DATA + 128), take(2, DATA + 1), take(3, DATA + 129)];
    let functions: Vec<&[u8]> = functions.iter().map(Vec::as_slice).collect();
    assert!(unknown(&compare_with_data(&functions, &data, &[])));
    assert_eq!(compare_with_data(&functions[..2], &data, &[]), Identity::Different { at: 0 });
    data[129] = b'b';
    let note = "128 bytes of read-only data at other addresses compared equal; 128 of them up to the next known address, \
                their size being unknown";
    assert_eq!(
        compare_with_data(&functions[..2], &data, &[]),
        Identity::Identical { note: Some(note.to_owned()) }
    );
}

/// `lea rdx,[table]; movsxd rax,[rdx+rdi*4]; add rax,rdx; jmp rax; inc eax; ret; dec eax; ret`, with what else is to
/// come after the `lea`.
fn switch(place: usize, table: u64, after: &[u8]) -> Vec<u8> {
    let through = [0x48, 0x63, 0x04, 0xba, 0x48, 0x01, 0xd0, 0xff, 0xe0];
    let cases = [0xff, 0xc0, 0xc3, 0xff, 0xc8, 0xc3];
    [&to(LEA_RDX, place, 0, table), after, &through, &cases].concat()
}

/// A table at `at` in the data whose entries lead to the given offsets in the function at `PLACES[place]`.
fn put_table(data: &mut [u8], at: u64, place: usize, offsets: &[u64]) {
    for (entry, offset) in data[at as usize..].chunks_exact_mut(4).zip(offsets) {
        let relative = (TEXT + PLACES[place] + offset).wrapping_sub(DATA + at) as u32;
        entry.copy_from_slice(&relative.to_le_bytes());
    }
}

#[test]
fn follows_jump_tables() {
    let functions = [switch(0, DATA, &[]), switch(1, DATA + 64, &[])];
    let functions: Vec<&[u8]> = functions.iter().map(Vec::as_slice).collect();
    let mut data = [0; 256];
    put_table(&mut data, 0, 0, &[16, 19, 16]);
    put_table(&mut data, 64, 1, &[16, 19, 16]);
    assert_eq!(
        compare_with_data(&functions, &data, &[]),
        Identity::Identical { note: Some("3 jump table entries with the same targets".to_owned()) }
    );
    put_table(&mut data, 64, 1, &[16, 19, 19]);
    assert!(matches!(compare_with_data(&functions, &data, &[]), Identity::Different { .. }));
    // Equal bytes lead elsewhere, since the tables are nearer to each other than the functions.
    data.copy_within(0..12, 64);
    assert!(!identical(&compare_with_data(&functions, &data, &[])));
    // One table for both leads the second function into the first.
    let one = [switch(0, DATA, &[]), switch(1, DATA, &[])];
    assert!(!identical(&compare_with_data(&[&one[0], &one[1]], &data, &[])));
    // An entry more on one side: it cannot be told which belong to the table.
    put_table(&mut data, 0, 0, &[16, 19, 16]);
    put_table(&mut data, 64, 1, &[16, 19, 16, 19]);
    assert!(unknown(&compare_with_data(&functions, &data, &[])));
}

#[test]
fn does_not_trust_a_table_whose_address_is_not_certain_or_used_otherwise() {
    let mut data = [0; 256];
    put_table(&mut data, 0, 0, &[16 + 3, 19 + 3]);
    put_table(&mut data, 64, 1, &[16 + 3, 19 + 3]);
    let both = |after: &[u8]| {
        compare_with_data(&[&switch(0, DATA, after), &switch(1, DATA + 64, after)], &data, &[])
    };
    // nop dword [rax]: harmless, and as long as those below.
    assert!(identical(&both(&[0x0f, 0x1f, 0x00])));
    // add rdx,rcx: the table's address is changed in a way that is not followed.
    assert!(!identical(&both(&[0x48, 0x01, 0xca])));
    // mov rsi,rdx: the table's address is kept for something else.
    assert!(!identical(&both(&[0x48, 0x89, 0xd6])));
    // mov edx,edi with a REX prefix: the register holds something else.
    assert!(!identical(&both(&[0x40, 0x89, 0xfa])));
}

#[test]
fn does_not_guess_where_an_unknown_indirect_jump_leads() {
    // lea rdx,[data]; add rdx,[rdi]; jmp rdx, with data at two places.
    let jump = |place, address| [to(LEA_RDX, place, 0, address), vec![0x48, 0x03, 0x17, 0xff, 0xe2]].concat();
    assert!(unknown(&compare(&[&jump(0, DATA), &jump(1, DATA + 128)])));
    assert!(identical(&compare(&[&jump(0, DATA), &jump(1, DATA)])));
}

#[test]
fn takes_words_that_lead_to_code_for_offsets() {
    // lea rdx,[data]; call c: the callee may add what it reads to the address.
    let call = |place, address| {
        [to(LEA_RDX, place, 0, address), to(CALL, place, 7, TEXT + PLACES[2]), RETURN.to_vec()].concat()
    };
    let mut data = [0; 256];
    let functions = [call(0, DATA), call(1, DATA + 128)];
    let functions: [&[u8]; 3] = [&functions[0], &functions[1], RETURN];
    assert!(identical(&compare_with_data(&functions, &data, &[])));
    for at in [0, 128] {
        data[at..at + 4].copy_from_slice(&(-0xf00_i32).to_le_bytes());
    }
    assert!(unknown(&compare_with_data(&functions, &data, &[])));
}

#[test]
fn does_not_compare_offsets_as_if_they_were_values() {
    // lea rdx,[data]; movsxd rax,[rdx+rdi*4]; add rax,rdx; ret: a pointer to one of several texts.
    let texts = |place, address| {
        let read = [0x48, 0x63, 0x04, 0xba, 0x48, 0x01, 0xd0, 0xc3];
        [to(LEA_RDX, place, 0, address), read.to_vec()].concat()
    };
    let functions = [texts(0, DATA), texts(1, DATA + 128)];
    let mut data = [0; 256];
    for (at, offset) in [(0, 64_i32), (128, -64)] {
        data[at..at + 4].copy_from_slice(&offset.to_le_bytes());
    }
    // Both lead to DATA + 64.
    assert!(unknown(&compare_with_data(&[&functions[0], &functions[1]], &data, &[])));
    // Equal offsets lead to DATA + 64 and DATA + 192.
    data[128..132].copy_from_slice(&64_i32.to_le_bytes());
    assert!(unknown(&compare_with_data(&[&functions[0], &functions[1]], &data, &[])));
    // Numbers that lead nowhere are compared as numbers.
    for at in [0, 128] {
        data[at..at + 4].copy_from_slice(&0x0012_3456_i32.to_le_bytes());
    }
    assert!(identical(&compare_with_data(&[&functions[0], &functions[1]], &data, &[])));
    data[128..132].copy_from_slice(&0x0012_3457_i32.to_le_bytes());
    assert_eq!(compare_with_data(&[&functions[0], &functions[1]], &data, &[]), Identity::Different { at: 0 });
}

#[test]
fn says_unknown_where_control_runs_out_or_bytes_are_no_code() {
    // xor eax,eax without an end
    assert!(unknown(&compare(&[&[0x31, 0xc0], &[0x31, 0xc0]])));
    // 06 is no instruction in 64-bit mode
    assert!(unknown(&compare(&[&[0x31, 0xc0, 0x06], &[0x31, 0xc0, 0x06]])));
    // jmp to the middle of mov eax,imm32
    let middle = [0xeb, 0x01, 0xb8, 0xc3, 0xc3, 0xc3, 0xc3, 0xc3];
    assert!(unknown(&compare(&[&middle, &middle])));
}

#[test]
fn follows_callees_to_a_depth_of_four() {
    // a and b head two chains of callees, each at its own address, that all are the same code.
    let chain = |length: usize| {
        let mut text = vec![0xcc; 0x200];
        let mut symbols = Vec::new();
        for side in 0..2 {
            for link in 0..length {
                let (at, next) = (side * 0x100 + link * 0x10, side * 0x100 + (link + 1) * 0x10);
                let relative = (next - (at + 5)) as u32;
                let bytes = [&[0xe8], &relative.to_le_bytes()[..], &[0xc3]].concat();
                let bytes = if link + 1 == length { vec![0xc3] } else { bytes };
                text[at..at + bytes.len()].copy_from_slice(&bytes);
                symbols.push(("f", TEXT + at as u64, bytes.len() as u64));
            }
        }
        let image = LinkedImage::of((TEXT, &text), (DATA, &[]), &symbols, &[]);
        CodeComparison::new(&image).run(TEXT, TEXT + 0x100)
    };
    assert!(identical(&chain(5)));
    assert!(unknown(&chain(6)));
}
