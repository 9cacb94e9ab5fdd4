//! Whether two addresses, one of each file, are the same place.

use super::data;
use super::data::Referral;
use super::graph::{Graph, PairFindings, Tie};
use super::inside::OF_THREADS;
use super::listing::{FunctionListing, Leads};
use super::names::unnumbered;
use super::node::{DataPair, DataSize, Node};
use super::side::{FileSide, LoaderSlot, Variable};
use crate::placement::identity::NotSame;
use crate::placement::identity::data::ReadExtent;

impl Graph<'_, '_> {
    /// Fields of two instructions.
    pub fn reference(
        &mut self,
        (a, to_a): (&FunctionListing, &Leads),
        (b, to_b): (&FunctionListing, &Leads),
        found: &mut PairFindings,
    ) -> Result<(), NotSame> {
        let whole = a.unexplained.is_some() || self.is_inside();
        let referral = |extent, tie| Referral { extent, tie, offsets: a.reads_offsets, whole };
        match (to_a, to_b) {
            (&Leads::Code(to_a), &Leads::Code(to_b)) => self.target((a, to_a), (b, to_b), found),
            (&Leads::Data(to_a, extent), &Leads::Data(to_b, other)) if extent == other => {
                match (a.inside(to_a), b.inside(to_b)) {
                    (None, None) => self.place(to_a, to_b, referral(extent, Tie::Part), found),
                    // Its own bytes, which are compared anyway.
                    (in_a, in_b) if in_a == in_b => Ok(()),
                    _ => Err(NotSame::Different),
                }
            }
            (&Leads::Perhaps(first), &Leads::Perhaps(second)) => {
                let mapped = (is_mapped(self.a, first), is_mapped(self.b, second));
                if mapped != (true, true) {
                    return if first == second { Ok(()) } else { Err(NotSame::Different) };
                }
                if first == second && in_midst_of_code(self.a, first) && in_midst_of_code(self.b, second) {
                    return Ok(());
                }
                let certain = first != second || (begins(self.a, first) && begins(self.b, second));
                let tie = if certain { Tie::Part } else { Tie::Perhaps };
                match self.place(first, second, referral(ReadExtent::Object, tie), found) {
                    Err(NotSame::Different) if !certain => {
                        NotSame::unknown(format!("{first:#x} may be an address or a number"))
                    }
                    result => result,
                }
            }
            (&Leads::Thread(first), &Leads::Thread(second)) if self.is_inside() => match first == second {
                true => Ok(()),
                false => NotSame::unknown(OF_THREADS),
            },
            (&Leads::Thread(first), &Leads::Thread(second)) => {
                thread(self.a.thread_variable(first), self.b.thread_variable(second), first == second)
            }
            (Leads::Table(first), Leads::Table(second)) => self.tables((a, first), (b, second), found),
            (Leads::Nothing, Leads::Nothing) => Ok(()),
            (Leads::Unfollowed, Leads::Unfollowed) => {
                NotSame::unknown("an address of two halves that could not be followed")
            }
            (Leads::Table(_), _) | (_, Leads::Table(_)) => {
                NotSame::unknown("a jump table that is certain in one of the files only")
            }
            _ => Err(NotSame::Different),
        }
    }

    /// Two places in code: the same one in the two functions, or outside of both.
    fn target(
        &mut self,
        (a, to_a): (&FunctionListing, u64),
        (b, to_b): (&FunctionListing, u64),
        found: &mut PairFindings,
    ) -> Result<(), NotSame> {
        match (a.inside(to_a), b.inside(to_b)) {
            (Some(in_a), Some(in_b)) => match (a.index_at(in_a), b.index_at(in_b)) {
                (Ok(first), Ok(second)) if first == second => Ok(()),
                // Past a prefix, as in `lock` that is only needed with several threads.
                (Err(first), Err(second)) if first == second => {
                    let (line, other) = (&a.lines[first], &b.lines[second]);
                    let into = in_a - line.at;
                    let prefix = line.references.iter().all(|reference| reference.offset as u64 >= into);
                    match prefix && into == in_b - other.at {
                        true => Ok(()),
                        false => NotSame::unknown("a jump into the middle of an instruction"),
                    }
                }
                _ => Err(NotSame::Different),
            },
            (None, None) => self.code(to_a, to_b, Tie::Part, found),
            _ => Err(NotSame::Different),
        }
    }

    fn tables(
        &mut self,
        (a, first): (&FunctionListing, &[u64]),
        (b, second): (&FunctionListing, &[u64]),
        found: &mut PairFindings,
    ) -> Result<(), NotSame> {
        if first.is_empty() || first.len() != second.len() {
            return NotSame::unknown("the ends of the jump tables are not certain");
        }
        for (number, (&to_a, &to_b)) in first.iter().zip(second).enumerate() {
            let own = a.inside(to_a).is_some() && b.inside(to_b).is_some();
            match self.target((a, to_a), (b, to_b), found) {
                // What lies behind a table can look like entries, though hardly like those of this function.
                Err(NotSame::Different) if number > 0 && !own => {
                    return NotSame::unknown(format!(
                        "entry {number} of a jump table leads out of the function"
                    ));
                }
                result => result?,
            }
        }
        Ok(())
    }

    /// Two places in code, outside of the functions that refer to them.
    fn code(&mut self, a: u64, b: u64, tie: Tie, found: &mut PairFindings) -> Result<(), NotSame> {
        if self.is_inside() && a == b {
            return Ok(());
        }
        let starts = |side: &FileSide, address| side.image.function_at(address).map(|place| place.address);
        match (starts(self.a, a), starts(self.b, b)) {
            (Some(start_a), Some(start_b)) => {
                if !self.same_instruction((start_a, start_b), (a - start_a, b - start_b)) {
                    return Err(NotSame::Different);
                }
                let named = self.are_partners(start_a, start_b);
                let node = self.node(Node::Code(start_a, start_b));
                found.tie(node, if named { Tie::Named } else { tie });
                Ok(())
            }
            (None, None) => self.uncovered(a, b, found),
            // The one has a size and the other has not, or the one is called through a stub.
            _ if self.is_inside() && self.a.stub(a).or(self.b.stub(b)).is_none() => {
                NotSame::unknown(format!("no function symbol covers both {a:#x} and {b:#x}"))
            }
            _ if common_name(self.a, a, self.b, b) => {
                NotSame::unknown(format!("`{}` has a size in one of the files only", self.a.names_at(a)[0]))
            }
            _ => Err(NotSame::Different),
        }
    }

    /// Code that no function symbol covers: stubs, and what is named without a size.
    fn uncovered(&mut self, a: u64, b: u64, found: &mut PairFindings) -> Result<(), NotSame> {
        let (old, new) = (self.a, self.b);
        match (old.stub(a), new.stub(b)) {
            (Some(first), Some(second)) => self.slots(first, second, Tie::Part, found),
            (None, None) if common_name(old, a, new, b) && !self.is_inside() => {
                self.import(&old.names_at(a)[0]);
                Ok(())
            }
            // Address 0 in a static program: a weak function that nobody defined, which is tested for and never called.
            (None, None) if a == b && !is_mapped(old, a) && !is_mapped(new, b) => Ok(()),
            (None, None) => NotSame::unknown(format!(
                "no function symbol covers {a:#x} of the old file and {b:#x} of the new"
            )),
            _ => Err(NotSame::Different),
        }
    }

    /// What the loader writes at two places.
    pub fn slots(
        &mut self,
        a: &LoaderSlot,
        b: &LoaderSlot,
        tie: Tie,
        found: &mut PairFindings,
    ) -> Result<(), NotSame> {
        let referral = Referral { extent: ReadExtent::Object, tie, offsets: false, whole: false };
        match (a, b) {
            _ if self.is_inside() && a == b => Ok(()),
            (LoaderSlot::Symbol { name, .. }, LoaderSlot::Symbol { name: other, .. }) if a == b => {
                self.import(name);
                self.own_definition(name, other, found);
                Ok(())
            }
            (&LoaderSlot::Inside(a), &LoaderSlot::Inside(b))
            | (&LoaderSlot::Resolver(a), &LoaderSlot::Resolver(b)) => self.place(a, b, referral, found),
            (&LoaderSlot::Thread(_), &LoaderSlot::Thread(_)) if self.is_inside() => {
                NotSame::unknown(OF_THREADS)
            }
            (&LoaderSlot::Thread(first), &LoaderSlot::Thread(second)) => thread(
                self.a.thread_variable_in_file(first),
                self.b.thread_variable_in_file(second),
                first == second,
            ),
            _ => Err(NotSame::Different),
        }
    }

    /// A library may import what it also defines; then its own definition is what will most likely be reached.
    fn own_definition(&mut self, name_a: &str, name_b: &str, found: &mut PairFindings) {
        let address = |side: &FileSide, name: &str| {
            side.named
                .iter()
                .find(|named| named.name == name && named.file.is_none())
                .map(|named| named.address)
        };
        if let (Some(a), Some(b)) = (address(self.a, name_a), address(self.b, name_b)) {
            let node = self.node(Node::Code(a, b));
            found.tie(node, Tie::Named);
        }
    }

    /// Two addresses of code or data.
    pub fn place(
        &mut self,
        a: u64,
        b: u64,
        referral: Referral,
        found: &mut PairFindings,
    ) -> Result<(), NotSame> {
        match self.is_inside() {
            true => self.place_inside(a, b, referral, found),
            false => self.other_place(a, b, referral, found),
        }
    }

    /// Two places, perhaps of one file, but not one.
    pub fn other_place(
        &mut self,
        a: u64,
        b: u64,
        referral: Referral,
        found: &mut PairFindings,
    ) -> Result<(), NotSame> {
        let (old, new) = (self.a, self.b);
        match (old.image.is_code(a), new.image.is_code(b)) {
            (true, true) => return self.code(a, b, referral.tie, found),
            (false, false) => {}
            _ => return Err(NotSame::Different),
        }
        match (old.variable_at(a), new.variable_at(b)) {
            (Some(first), Some(second)) => {
                let into = (a - first.address, b - second.address);
                if self.is_inside() {
                    return self.constants((first, into.0), (second, into.1), referral, found);
                }
                return self.variables((first, into.0), (second, into.1), referral, found);
            }
            (None, None) => {}
            // Only one of the files still has the name.
            _ => return self.nameless(a, b, referral, found),
        }
        if let (Some(first), Some(second)) = (old.slot(a), new.slot(b)) {
            return self.follow((a, b), |graph| graph.slots(first, second, referral.tie, found));
        }
        if common_name(old, a, new, b) && !self.is_inside() {
            return Ok(());
        }
        self.nameless(a, b, referral, found)
    }

    fn variables(
        &mut self,
        (a, into_a): (&Variable, u64),
        (b, into_b): (&Variable, u64),
        referral: Referral,
        found: &mut PairFindings,
    ) -> Result<(), NotSame> {
        let named = a.name == b.name
            || common_name(self.a, a.address, self.b, b.address)
            || unnumbered(&a.name) == unnumbered(&b.name);
        if named && into_a == into_b {
            let shape = DataSize::Sized(a.size, b.size);
            let node = self.node(Node::Data(DataPair {
                a: a.address,
                b: b.address,
                shape,
                offsets: referral.offsets,
                whole: referral.whole,
                read: false,
            }));
            found.tie(node, if referral.tie == Tie::Part { Tie::Named } else { referral.tie });
            return Ok(());
        }
        if named {
            return Err(NotSame::Different);
        }
        if self.a.is_constant(a.address) && self.b.is_constant(b.address) {
            return self.nameless(a.address + into_a, b.address + into_b, referral, found);
        }
        if self.a.has_variable(&b.name) || self.b.has_variable(&a.name) {
            return Err(NotSame::Different);
        }
        NotSame::unknown(format!("`{}` may be what was `{}`", b.name, a.name))
    }

    /// Data that no name tells.
    pub fn nameless(
        &mut self,
        a: u64,
        b: u64,
        referral: Referral,
        found: &mut PairFindings,
    ) -> Result<(), NotSame> {
        match (is_mapped(self.a, a), is_mapped(self.b, b)) {
            (true, true) => {}
            (false, false) if a == b => return Ok(()),
            (false, false) => return NotSame::unknown(format!("{a:#x} and {b:#x} are outside of the files")),
            _ => return Err(NotSame::Different),
        }
        match (self.a.is_constant(a), self.b.is_constant(b)) {
            (true, true) => {}
            (false, false) => {
                return NotSame::unknown(format!("variables without a name, at {a:#x} and {b:#x}"));
            }
            _ => return Err(NotSame::Different),
        }
        let shape = match referral.extent {
            ReadExtent::Bytes(0) => return NotSame::unknown("an operand of unknown size"),
            ReadExtent::Bytes(size) => DataSize::Sized(size, size),
            ReadExtent::Object => DataSize::Open,
        };
        let read = matches!(referral.extent, ReadExtent::Bytes(_));
        let pair = DataPair { a, b, shape, offsets: referral.offsets, whole: referral.whole, read };
        let node = self.node(Node::Data(pair));
        found.tie(node, referral.tie);
        Ok(())
    }
}

fn is_mapped(side: &FileSide, address: u64) -> bool {
    side.image.section_at(address).is_some()
}

/// Whether a number is the address of something with a name or of a text, and so hardly anything else.
fn begins(side: &FileSide, number: u64) -> bool {
    !side.names_at(number).is_empty() || (!side.image.is_code(number) && data::is_text_start(side, number))
}

/// Whether a number is no address that a constant would hold: inside code, where nothing has a name.
fn in_midst_of_code(side: &FileSide, number: u64) -> bool {
    side.image.is_code(number) && side.names_at(number).is_empty()
}

/// Whether two addresses have a name in common.
fn common_name(old: &FileSide, a: u64, new: &FileSide, b: u64) -> bool {
    let others = new.names_at(b);
    old.names_at(a).iter().any(|name| others.contains(name))
}

/// Variables of the thread, with how far into them.
fn thread(a: Option<(&str, u64)>, b: Option<(&str, u64)>, equal: bool) -> Result<(), NotSame> {
    match (a, b) {
        (Some((name, into)), Some((other, into_other))) => {
            match into == into_other && unnumbered(name) == unnumbered(other) {
                true => Ok(()),
                false => Err(NotSame::Different),
            }
        }
        _ if equal => Ok(()),
        _ => NotSame::unknown("an unnamed thread-local variable"),
    }
}
