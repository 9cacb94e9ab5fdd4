//! Which functions return is derived by hand; encodings are GNU as's for the texts beside them.

use super::super::tests::{ADRP_X1, RET, data, leads_beside};
use super::{Endless, Following};
use crate::placement::across::listing::Leads;

const F: u64 = 0x1000;
const G: u64 = 0x1100;
/// Leads to a function of another file that never returns.
const STUB: u64 = 0x900;
/// `b .`
const LOOP: u32 = 0x1400_0000;
const NOP: u32 = 0xd503_201f;
/// `cbz w0, +2`
const SKIP: u32 = 0x3400_0040;

fn to(opcode: u32, at: u64, to: u64) -> u32 {
    opcode | (to.wrapping_sub(at) / 4) as u32 & 0x03ff_ffff
}

fn call(at: u64, callee: u64) -> u32 {
    to(0x9400_0000, at, callee)
}

fn jump(at: u64, callee: u64) -> u32 {
    to(0x1400_0000, at, callee)
}

/// Which of the functions at `F` and `G` never return.
fn endless(f: &[u32], g: &[u32]) -> (bool, bool) {
    let mut following = Following::default();
    following.add(F, f.to_vec());
    following.add(G, g.to_vec());
    let found = following.all(&mut |address| address == STUB);
    (found.never_returns(Some(F)), found.never_returns(Some(G)))
}

#[test]
fn a_function_without_a_way_to_its_return_never_returns() {
    assert_eq!(endless(&[LOOP], &[RET]), (true, false));
    // brk #1; ret
    assert_eq!(endless(&[0xd420_0020, RET], &[SKIP, LOOP, RET]), (true, false));
    // br x16, blr x16
    assert_eq!(endless(&[0xd61f_0200], &[0xd63f_0200, RET]), (false, false));
    // Past its end.
    assert_eq!(endless(&[NOP], &[NOP, SKIP]), (false, false));
}

#[test]
fn what_follows_a_call_counts_only_if_the_callee_returns() {
    assert_eq!(endless(&[LOOP], &[call(G, F), RET]), (true, true));
    assert_eq!(endless(&[RET], &[call(G, F), RET]), (false, false));
    assert_eq!(endless(&[LOOP], &[SKIP, call(G + 4, F), RET]), (true, false));
    // The compiler knew that its last call does not come back.
    assert_eq!(endless(&[RET], &[call(G, F), NOP]), (false, true));
    // It calls itself, and returns; both call each other for ever.
    assert_eq!(endless(&[SKIP, call(F + 4, F), RET], &[RET]), (false, false));
    assert_eq!(endless(&[call(F, G), RET], &[call(G, F), RET]), (true, true));
}

#[test]
fn a_function_that_ends_in_a_tail_call_returns_if_that_returns() {
    assert_eq!(endless(&[RET], &[jump(G, F)]), (false, false));
    assert_eq!(endless(&[LOOP], &[jump(G, F)]), (true, true));
    assert_eq!(endless(&[jump(F, G)], &[jump(G, F)]), (true, true));
    // Into the middle of a function, and where none is known.
    assert_eq!(endless(&[LOOP, LOOP], &[jump(G, F + 4)]), (true, false));
    assert_eq!(endless(&[jump(F, 0x5000)], &[call(G, 0x5000), RET]), (false, false));
}

#[test]
fn functions_of_other_files_are_known_by_their_names() {
    assert_eq!(endless(&[jump(F, STUB)], &[call(G, STUB), RET]), (true, true));
    assert_eq!(endless(&[SKIP, call(F + 4, STUB), RET], &[SKIP, jump(G + 4, STUB), RET]), (false, false));
}

#[test]
fn nothing_reaches_what_stands_behind_a_call_that_never_returns() {
    // cbz w0, over the call; adrp x1, 0x3000; bl; ldr w0, [x1, #16]
    let words = |padding: &[u32]| {
        let skip = 0x3400_0060 + (padding.len() as u32) * 0x20;
        [&[ADRP_X1, skip, 0xd000_0001, call(12, 0x40)], padding, &[0xb940_1020, RET]].concat()
    };
    let callee = Endless::of(&[0x1040]);
    for padding in [&[][..], &[NOP], &[NOP, NOP]] {
        let last = padding.len() + 4;
        assert_eq!(leads_beside(&words(padding), &callee)[last], data(0x2010, 4), "{padding:?}");
        let returns = leads_beside(&words(padding), &Endless::default());
        assert_eq!(returns[last], Some(Leads::Unfollowed), "{padding:?}");
    }
}
