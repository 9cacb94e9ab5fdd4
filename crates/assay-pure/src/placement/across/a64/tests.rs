//! Encodings are GNU as's for the texts beside them; what an address leads to is derived by hand.

use super::super::listing::{FieldReference, Leads};
use super::addresses::{MadeAddresses, made};
use super::endless::Endless;
use super::operands::operands;
use crate::placement::identity::data::ReadExtent;
use crate::placement::identity::image::LinkedImage;

const TEXT: u64 = 0x1000;
const DATA: u64 = 0x2000;

fn bits(registers: &[u32]) -> u32 {
    registers.iter().fold(0, |all, register| all | 1 << register)
}

#[test]
fn registers_that_instructions_read_and_write_are_those_of_the_assemblers_text() {
    let expected: [(u32, &str, &[u32], &[u32]); 43] = [
        (0x9000_0003, "adrp x3, .", &[], &[3]),
        (0x1000_0004, "adr x4, .", &[], &[4]),
        (0x9100_20c5, "add x5, x6, #8", &[6], &[5]),
        (0x5280_0027, "movz w7, #1", &[], &[7]),
        (0xf280_0048, "movk x8, #2", &[8], &[8]),
        (0xb37d_0d49, "bfi x9, x10, #3, #4", &[9, 10], &[9]),
        (0xd343_1949, "ubfx x9, x10, #3, #4", &[10], &[9]),
        (0x93c3_1041, "extr x1, x2, x3, #4", &[2, 3], &[1]),
        (0xb400_000b, "cbz x11, .", &[11], &[]),
        (0x3718_000c, "tbnz w12, #3, .", &[12], &[]),
        (0xd61f_01a0, "br x13", &[13], &[]),
        (0xd63f_01c0, "blr x14", &[14], &[]),
        (0xd53b_d04f, "mrs x15, tpidr_el0", &[], &[15]),
        (0xd51b_d050, "msr tpidr_el0, x16", &[16], &[]),
        (0xd503_201f, "nop", &[], &[]),
        (0xfa42_1023, "ccmp x1, x2, #3, ne", &[1, 2], &[]),
        (0xfa42_1823, "ccmp x1, #2, #3, ne", &[1], &[]),
        (0xdac0_1083, "clz x3, x4", &[4], &[3]),
        (0x9b07_20c5, "madd x5, x6, x7, x8", &[6, 7, 8], &[5]),
        (0x9a8b_0149, "csel x9, x10, x11, eq", &[10, 11], &[9]),
        (0xf900_0441, "str x1, [x2, #8]", &[1, 2], &[]),
        (0xf940_0441, "ldr x1, [x2, #8]", &[2], &[1]),
        (0xfd40_0441, "ldr d1, [x2, #8]", &[2], &[]),
        (0x3ca3_6841, "str q1, [x2, x3]", &[2, 3], &[]),
        (0xb866_58a4, "ldr w4, [x5, w6, uxtw #2]", &[5, 6], &[4]),
        (0xf840_8507, "ldr x7, [x8], #8", &[8], &[7, 8]),
        (0xf81f_8d07, "str x7, [x8, #-8]!", &[7, 8], &[8]),
        (0xa941_2969, "ldp x9, x10, [x11, #16]", &[11], &[9, 10]),
        (0xa9bf_2969, "stp x9, x10, [x11, #-16]!", &[9, 10, 11], &[11]),
        (0x6d00_2969, "stp d9, d10, [x11]", &[11], &[]),
        (0xf980_0580, "prfm pldl1keep, [x12, #8]", &[12], &[]),
        (0xf821_0062, "ldadd x1, x2, [x3]", &[1, 2, 3], &[2]),
        (0x9e66_00c5, "fmov x5, d6", &[], &[5]),
        (0x9e67_00a6, "fmov d6, x5", &[5], &[]),
        (0x9e62_0041, "scvtf d1, x2", &[2], &[]),
        (0x1e78_0083, "fcvtzs w3, d4", &[], &[3]),
        (0x0e03_3cc5, "umov w5, v6.b[1]", &[], &[5]),
        (0x4e0c_1ce6, "ins v6.s[1], w7", &[7], &[]),
        (0x4e04_0d28, "dup v8.4s, w9", &[9], &[]),
        (0x4e0c_0528, "dup v8.4s, v9.s[1]", &[], &[]),
        (0x1e63_2841, "fadd d1, d2, d3", &[], &[]),
        (0x9100_03fd, "mov x29, sp", &[], &[29]),
        (0xaa00_03e1, "mov x1, x0", &[0], &[1]),
    ];
    for (word, text, reads, writes) in expected {
        let found = operands(word);
        assert_eq!((found.reads, found.writes), (bits(reads), bits(writes)), "{text}");
    }
    // One that may write several is never said to read too little.
    let exclusive = operands(0xc803_7ca4); // stxr w3, x4, [x5]
    assert_eq!((exclusive.reads & bits(&[4, 5]), exclusive.writes & bits(&[3])), (bits(&[4, 5]), bits(&[3])));
    let structure = operands(0x4cdf_7080); // ld1 {v0.16b}, [x4], #16
    assert_eq!((structure.reads & bits(&[4]), structure.writes), (bits(&[4]), bits(&[4])));
}

fn told(words: &[u32], data: &[u8]) -> MadeAddresses {
    told_beside(words, data, &Endless::default())
}

fn told_beside(words: &[u32], data: &[u8], endless: &Endless) -> MadeAddresses {
    let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let image = LinkedImage::of((TEXT, &code), (DATA, data), &[("f", TEXT, code.len() as u64)], &[]);
    made(&image, words, TEXT, &[], endless)
}

pub fn leads(words: &[u32]) -> Vec<Option<Leads>> {
    leads_beside(words, &Endless::default())
}

/// Where the instructions lead, where these functions never return.
pub fn leads_beside(words: &[u32], endless: &Endless) -> Vec<Option<Leads>> {
    let found = told_beside(words, &[0; 64], endless).references;
    found.into_iter().map(|found: Option<FieldReference>| Some(found?.leads)).collect()
}

pub fn data(to: u64, bytes: u64) -> Option<Leads> {
    Some(Leads::Data(to, ReadExtent::Bytes(bytes)))
}

/// `adrp x1, 0x2000` anywhere in the page of `TEXT`.
pub const ADRP_X1: u32 = 0xb000_0001;
/// `add x1, x1, #0x10`
pub const ADD_X1: u32 = 0x9100_4021;
pub const RET: u32 = 0xd65f_03c0;

#[test]
fn what_is_reached_through_an_address_is_told_by_each_use_and_not_by_the_address() {
    // ldr w0, [x1, #4]; str w0, [x1, #8]; ldp x2, x3, [x1, #16]; mov x1, xzr, as it may be a result
    let found = leads(&[ADRP_X1, ADD_X1, 0xb940_0420, 0xb900_0820, 0xa941_0c22, 0xaa1f_03e1, RET]);
    let nothing = || Some(Leads::Nothing);
    assert_eq!(found, [nothing(), nothing(), data(0x2014, 4), data(0x2018, 4), data(0x2020, 16), None, None]);
}

#[test]
fn an_address_that_goes_elsewhere_leads_to_an_object() {
    let object = Some(Leads::Data(0x2010, ReadExtent::Object));
    // mov x0, x1, an argument of `bl`; str x1, [sp]; str x1, [x1]: itself into where it leads.
    for passes in [&[0xaa01_03e0, 0x9400_0010][..], &[0xf900_03e1], &[0xf900_0021]] {
        let found = leads(&[&[ADRP_X1, ADD_X1], passes, &[RET]].concat());
        assert_eq!(found[1], object, "{passes:x?}");
    }
    // A page that is stored outside of the frame is not followed: str x1, [x9].
    assert_eq!(leads(&[ADRP_X1, 0xf900_0121, RET])[0], Some(Leads::Unfollowed));
}

#[test]
fn a_page_is_followed_along_jumps_and_not_where_two_pages_meet() {
    // cbz w0, +2; nop; ldr w0, [x1, #0x10]
    let both = leads(&[ADRP_X1, 0x3400_0040, 0xd503_201f, 0xb940_1020, RET]);
    assert_eq!(both[3], data(0x2010, 4));
    // cbz w0, +2; adrp x1, 0x3000; ldr w0, [x1, #0x10]
    let either = leads(&[ADRP_X1, 0x3400_0040, 0xd000_0001, 0xb940_1020, RET]);
    assert_eq!(either[3], Some(Leads::Unfollowed));
    // A register that is written before it is read may hold anything: cbz w0, +2; adrp x1, 0x3000; mov x1, x0; ldr w0, [x1, #0x10]
    let written = leads(&[ADRP_X1, 0x3400_0040, 0xd000_0001, 0xaa00_03e1, 0xb940_1020, RET]);
    assert_eq!((written[0].clone(), written[4].clone()), (Some(Leads::Nothing), None));
}

#[test]
fn what_is_made_of_a_page_and_something_else_may_still_be_half_an_address() {
    // add x1, x1, x0; ldr w0, [x1, #0x10]
    let found = leads(&[ADRP_X1, 0x8b00_0021, 0xb940_1020, RET]);
    assert_eq!((&found[0], &found[2]), (&Some(Leads::Unfollowed), &Some(Leads::Unfollowed)));
}

/// `cmp w0, #2; b.hi; adrp x4; add x4; ldrb w2, [x4, w0, uxtw]; adr x3; add x3, x3, w2, sxtb #2; br x3`, then two cases.
const SWITCH: [u32; 13] = [
    0x7100_081f,
    0x5400_0168,
    0xb000_0004,
    0x9100_4084,
    0x3860_4882,
    0x1000_0063,
    0x8b22_8863,
    0xd61f_0060,
    0x5280_0020,
    RET,
    0x5280_0040,
    RET,
    RET,
];

#[test]
fn a_jump_through_a_table_leads_to_as_many_places_as_the_comparison_lets_through() {
    let mut table = [0x7f; 64];
    // Words ahead of 0x1020: the first case, the second, the last `ret`.
    table[0x10..0x13].copy_from_slice(&[0, 2, 4]);
    let found = told(&SWITCH, &table);
    assert_eq!(found.unexplained, None);
    let leads = found.references[3].as_ref().map(|found| found.leads.clone());
    assert_eq!(leads, Some(Leads::Table(vec![0x1020, 0x1028, 0x1030])));
    // An entry ahead of the base: 0xff is one word back where the sign counts.
    table[0x10] = 0xff;
    let back = told(&SWITCH, &table).references[3].as_ref().map(|found| found.leads.clone());
    assert_eq!(back, Some(Leads::Table(vec![0x101c, 0x1028, 0x1030])));
}

#[test]
fn a_jump_through_a_table_of_unknown_size_is_not_explained() {
    let mut without = SWITCH;
    without[0] = 0xd503_201f;
    let found = told(&without, &[0; 64]);
    assert_eq!(found.unexplained, Some(7));
    // Then its table is data, and the place that its entries are added to counts.
    let leads = |index: usize| found.references[index].as_ref().map(|found| found.leads.clone());
    assert_eq!(leads(3), Some(Leads::Data(0x2010, ReadExtent::Object)));
    assert_eq!(leads(5), Some(Leads::Data(0x1020, ReadExtent::Object)));
}

#[test]
fn the_distance_of_a_threads_variable_is_put_together_from_its_halves() {
    // mrs x0, tpidr_el0; add x0, x0, #0x1, lsl #12; add x0, x0, #0x10
    let found = leads(&[0xd53b_d040, 0x9140_0400, 0x9100_4000, RET]);
    assert_eq!(found, [None, Some(Leads::Nothing), Some(Leads::Thread(0x1010)), None]);
    // mrs x0, tpidr_el0; add x0, x0, #0x1, lsl #12; ldr w0, [x0, #0x10]
    let loaded = leads(&[0xd53b_d040, 0x9140_0400, 0xb940_1000, RET]);
    assert_eq!(loaded[2], Some(Leads::Thread(0x1010)));
}
