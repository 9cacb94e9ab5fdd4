//! Encodings are GNU as's for the texts beside them; what an address leads to is derived by hand.

use super::super::super::listing::Leads;
use super::super::tests::{ADD_X1, ADRP_X1, RET, data, leads};
use crate::placement::identity::data::ReadExtent;

/// `stp x29, x30, [sp, #-32]!`
const ENTER: u32 = 0xa9be_7bfd;
/// `mov x29, sp`
const FRAME_POINTER: u32 = 0x9100_03fd;
/// `str x1, [x29, #24]`
const STORE: u32 = 0xf900_0fa1;
/// `bl` to somewhere
const CALL: u32 = 0x9400_0010;
/// `ldr x2, [sp, #24]`
const LOAD: u32 = 0xf940_0fe2;
/// `ldr w0, [x2, #16]`
const USE: u32 = 0xb940_1040;
/// `ldp x29, x30, [sp], #32`
const LEAVE: u32 = 0xa8c2_7bfd;
/// `mov sp, x29`
const RESTORE: u32 = 0x9100_03bf;
/// `mov x0, sp`
const GIVE: u32 = 0x9100_03e0;

/// Where a page leads that is kept at `[sp, #24]`, and a load through what is there after more instructions.
fn kept(between: &[u32]) -> (Option<Leads>, Option<Leads>) {
    let all = [&[ENTER, FRAME_POINTER, ADRP_X1, STORE], between, &[LOAD, USE, LEAVE, RET]].concat();
    let found = leads(&all);
    (found[2].clone(), found[between.len() + 5].clone())
}

#[test]
fn a_page_kept_in_the_frame_is_followed_to_where_it_is_loaded() {
    let between: [(&str, &[u32]); 9] = [
        ("a call", &[CALL]),
        ("str x0, [x9]", &[0xf900_0120]),
        ("str x0, [sp, #8]", &[0xf900_07e0]),
        ("str q0, [sp]", &[0x3d80_03e0]),
        ("cmp sp, x0", &[0xeb20_63ff]),
        ("add x0, x29, #32 for a callee: what lies above", &[0x9100_83a0, CALL]),
        ("sub sp, sp, x0; mov x0, sp for a callee", &[0xcb20_63ff, GIVE, CALL, RESTORE]),
        ("sub sp, sp, #48; mov x0, sp for a callee", &[0xd100_c3ff, GIVE, CALL, RESTORE]),
        ("addvl sp, sp, #-1", &[0x043f_57ff, RESTORE]),
    ];
    for (how, between) in between {
        assert_eq!(kept(between), (Some(Leads::Nothing), data(0x2010, 4)), "{how}");
    }
    // adrp x1, .; stp x3, x1, [sp, #16]; ldp x4, x2, [x29, #16]
    let pair = leads(&[ENTER, FRAME_POINTER, ADRP_X1, 0xa901_07e3, CALL, 0xa941_0ba4, USE, LEAVE, RET]);
    assert_eq!((&pair[2], &pair[6]), (&Some(Leads::Nothing), &data(0x2010, 4)));
}

#[test]
fn a_page_is_not_followed_through_memory_that_others_may_write() {
    let between: [(&str, &[u32]); 4] = [
        ("mov x0, sp for a callee", &[GIVE, CALL]),
        ("add x0, sp, #16 for a callee", &[0x9100_43e0, CALL]),
        ("str x3, [x9] with x3 from mov x3, sp", &[0x9100_03e3, 0xf900_0123]),
        ("st1 {v0.16b}, [sp]", &[0x4c00_73e0]),
    ];
    for (how, between) in between {
        assert_eq!(kept(between), (Some(Leads::Unfollowed), Some(Leads::Unfollowed)), "{how}");
    }
}

#[test]
fn what_is_overwritten_is_kept_no_more() {
    let between: [(&str, &[u32]); 5] = [
        ("str x0, [sp, #24]", &[0xf900_0fe0]),
        ("str w0, [sp, #28]", &[0xb900_1fe0]),
        ("str q0, [sp, #16]", &[0x3d80_07e0]),
        ("mov x3, sp; str x0, [x3, #24]", &[0x9100_03e3, 0xf900_0c60]),
        ("add x3, sp, #32; str x0, [x3, #-8]!", &[0x9100_83e3, 0xf81f_8c60]),
    ];
    for (how, between) in between {
        assert_eq!(kept(between), (Some(Leads::Nothing), None), "{how}");
    }
}

#[test]
fn another_page_on_one_of_two_ways_makes_it_unclear() {
    // cbz w0, +3; adrp x1, 0x3000; str x1, [x29, #24]
    let either = kept(&[0x3400_0060, 0xd000_0001, STORE]);
    assert_eq!(either.1, Some(Leads::Unfollowed));
    // cbz w0, +2; sub sp, sp, #48; str x0, [sp, #24], which may be any place; mov sp, x29
    let anywhere = kept(&[0x3400_0040, 0xd100_c3ff, 0xf900_0fe0, RESTORE]);
    assert_eq!(anywhere.1, Some(Leads::Unfollowed));
}

#[test]
fn a_load_of_half_a_page_is_a_use_that_is_not_followed() {
    // ldr w3, [sp, #24]
    assert_eq!(kept(&[0xb940_1be3]).0, Some(Leads::Unfollowed));
}

#[test]
fn a_whole_address_is_followed_where_nothing_of_the_frame_is_given_away() {
    // ldr w0, [x2, #4] in place of `USE`
    let found = |between: &[u32]| {
        let ahead = [ENTER, FRAME_POINTER, ADRP_X1, ADD_X1, STORE];
        let found = leads(&[&ahead, between, &[LOAD, 0xb940_0440, LEAVE, RET]].concat());
        (found[3].clone(), found[between.len() + 6].clone())
    };
    let object = Some(Leads::Data(0x2010, ReadExtent::Object));
    assert_eq!(found(&[CALL]), (object.clone(), data(0x2014, 4)));
    // add x0, x29, #32 for a callee
    assert_eq!(found(&[0x9100_83a0, CALL]), (object, None));
}
