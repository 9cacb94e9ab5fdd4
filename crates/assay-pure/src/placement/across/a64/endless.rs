//! Which functions never return, so that nothing goes on behind a call of them.
//!
//! Compilers put other code behind such a call, which other values reach, or padding. Method: a function returns if following
//! its jumps leads to a `ret`, to an indirect jump, out of it to code that may return, or past its end; what follows a call
//! counts only if the callee returns, and a call as its last instruction is one of which the compiler knew that it does not. All begin as such that do not, and those that turn out to return make others
//! return, until nothing changes. What is not known returns: code without a symbol, the middle of a function, pointers to
//! functions. Functions of other files are known by their names. Limits: one that jumps through a table, or leaves its
//! frame by an indirect jump (`longjmp` of a static program), counts as one that returns.

#[cfg(test)]
mod tests;

use super::super::listing::{FieldReference, Leads};
use super::super::side::{FileSide, LoaderSlot};
use super::{NOP, branch, called, ends, is_call, is_jump, is_return, words};
use std::collections::{BTreeMap, BTreeSet};

/// All functions together may be this many times as large as the code; damaged symbols that overlap are not.
const OVERLAP: u64 = 8;

/// Functions of other files that never return. C17, 7.13.2.1, 7.22.4 and 7.26.5.5; POSIX.1-2017 (`_exit`, `_longjmp`,
/// `pthread_exit`, `siglongjmp`); Linux Standard Base 5.0, libc; Itanium C++ ABI, 1.3, 2.4.3 and 2.5.4, `std::terminate`.
const IMPORTS: [&str; 17] = [
    "_Exit",
    "_Unwind_Resume",
    "_ZSt9terminatev",
    "__assert_fail",
    "__chk_fail",
    "__cxa_rethrow",
    "__cxa_throw",
    "__stack_chk_fail",
    "_exit",
    "_longjmp",
    "abort",
    "exit",
    "longjmp",
    "pthread_exit",
    "quick_exit",
    "siglongjmp",
    "thrd_exit",
];

/// Entries of functions that never return.
#[derive(Debug, Default)]
pub struct Endless {
    entries: BTreeSet<u64>,
}

impl Endless {
    /// Follows all functions of a file. Cost: linear in their code, times the logarithm of their number.
    pub fn find(side: &FileSide) -> Self {
        let image = &side.image;
        let mut following = Following::default();
        let mut budget = image.code_bytes().saturating_mul(OVERLAP);
        for entry in image.functions().iter().map(|place| place.address).collect::<BTreeSet<u64>>() {
            let Some(place) = image.function_at(entry).filter(|place| place.address == entry) else {
                continue;
            };
            let Some(bytes) = image.bytes(entry, place.size).filter(|_| image.is_code(entry)) else {
                continue;
            };
            match budget.checked_sub(place.size) {
                Some(rest) => budget = rest,
                None => return Self::default(),
            }
            following.add(entry, words(bytes));
        }
        following.all(&mut |address| is_endless_import(side, address))
    }

    /// Of known entries, for tests.
    #[cfg(test)]
    pub fn of(entries: &[u64]) -> Self {
        Self { entries: entries.iter().copied().collect() }
    }

    /// Whether what is called, if it is known, never returns.
    pub fn never_returns(&self, called: Option<u64>) -> bool {
        called.is_some_and(|entry| self.entries.contains(&entry))
    }
}

fn is_endless_import(side: &FileSide, address: u64) -> bool {
    matches!(side.stub(address), Some(LoaderSlot::Symbol { name, .. }) if IMPORTS.contains(&name.as_str()))
}

/// One function.
struct Body {
    entry: u64,
    words: Vec<u32>,
    /// Behind its last instruction that is no padding.
    end: usize,
    seen: Vec<bool>,
    returns: bool,
    /// What goes on once this one is known to return.
    behind: Vec<Behind>,
}

/// What goes on where a function returns.
#[derive(Clone, Copy)]
enum Behind {
    /// Its caller, at an instruction.
    Call { caller: usize, index: usize },
    /// The caller of one that ended by jumping to it.
    TailCall { jumper: usize },
}

/// The functions of a file under way.
#[derive(Default)]
struct Following {
    bodies: Vec<Body>,
    numbers: BTreeMap<u64, usize>,
    /// Functions and instructions that control reaches.
    waiting: Vec<(usize, usize)>,
    /// Stubs that were asked for, and whether what they lead to never returns.
    stubs: BTreeMap<u64, bool>,
}

impl Following {
    fn add(&mut self, entry: u64, words: Vec<u32>) {
        self.numbers.insert(entry, self.bodies.len());
        let seen = vec![false; words.len()];
        let end = words.iter().rposition(|&word| word != NOP).map_or(0, |last| last + 1);
        self.bodies.push(Body { entry, words, end, seen, returns: false, behind: Vec::new() });
    }

    fn all(mut self, is_endless_import: &mut dyn FnMut(u64) -> bool) -> Endless {
        self.waiting = (0..self.bodies.len()).map(|number| (number, 0)).collect();
        while let Some((number, index)) = self.waiting.pop() {
            self.step(number, index, is_endless_import);
        }
        let endless = self.bodies.iter().filter(|body| !body.returns).map(|body| body.entry);
        let stubs = self.stubs.iter().filter(|(_, endless)| **endless).map(|(&stub, _)| stub);
        Endless { entries: endless.chain(stubs).collect() }
    }

    fn step(&mut self, number: usize, index: usize, is_endless_import: &mut dyn FnMut(u64) -> bool) {
        let body = &mut self.bodies[number];
        // Control that runs past the end goes somewhere.
        let Some(&word) = body.words.get(index) else { return self.returned(number) };
        if body.returns || std::mem::replace(&mut body.seen[index], true) {
            return;
        }
        let at = body.entry.wrapping_add(4 * index as u64);
        let end = body.entry.wrapping_add(4 * body.words.len() as u64);
        let next = Behind::Call { caller: number, index: index + 1 };
        if is_return(word) || is_jump(word) {
            return self.returned(number);
        }
        if is_call(word) && index + 1 == body.end {
            return;
        }
        if let Some(callee) = called(word, at) {
            return self.enter(callee, next, is_endless_import);
        }
        if let Some(FieldReference { leads: Leads::Code(to), .. }) = branch(word, at) {
            match to.checked_sub(self.bodies[number].entry).filter(|_| to < end) {
                Some(inside) => self.waiting.push((number, (inside / 4) as usize)),
                None => self.enter(to, Behind::TailCall { jumper: number }, is_endless_import),
            }
        }
        if !ends(word) {
            self.go_on(next);
        }
    }

    /// Control leads to another function, and on where that returns.
    fn enter(&mut self, to: u64, behind: Behind, is_endless_import: &mut dyn FnMut(u64) -> bool) {
        match self.numbers.get(&to) {
            Some(&number) if !self.bodies[number].returns => self.bodies[number].behind.push(behind),
            Some(_) => self.go_on(behind),
            None if *self.stubs.entry(to).or_insert_with(|| is_endless_import(to)) => {}
            None => self.go_on(behind),
        }
    }

    fn go_on(&mut self, behind: Behind) {
        match behind {
            Behind::Call { caller, index } => self.waiting.push((caller, index)),
            Behind::TailCall { jumper } => self.returned(jumper),
        }
    }

    /// A function returns, and so do those that end by jumping to it.
    fn returned(&mut self, number: usize) {
        let mut returning = vec![number];
        while let Some(number) = returning.pop() {
            self.bodies[number].returns = true;
            for behind in std::mem::take(&mut self.bodies[number].behind) {
                match behind {
                    Behind::Call { caller, index } => self.waiting.push((caller, index)),
                    Behind::TailCall { jumper } => returning.push(jumper),
                }
            }
        }
    }
}
