//! Pairs of functions and of data as nodes, what each refers to as edges, and what follows from both.

use super::listing::{FunctionListing, Leads, equal_but_for_fields};
use super::names::NamePair;
use super::node::Node;
use super::reached::Reached;
use super::side::FileSide;
use super::{a64, x86};
use crate::placement::identity::{Identity, NotSame};
use crate::words::plural;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// All functions together may be this many times as large as the code; damaged symbols that overlap are not.
const OVERLAP: u64 = 8;
const SMALL_BYTES: u64 = 1 << 20;
/// Pointers to pointers that are followed.
const CHAIN: usize = 64;

/// What a pair is by itself. Offsets are in the old function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnCode {
    /// Equal.
    Same,
    /// Not equal.
    Different {
        /// Where.
        at: u64,
    },
    /// It cannot be told.
    Unknown {
        /// Where.
        at: u64,
        /// Why not.
        reason: String,
    },
}

/// How a pair depends on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tie {
    /// It reaches it; it is the same by name.
    Named,
    /// It is the same only if that is.
    Part,
    /// It is the same if that is; if not, the number that leads there may not be an address at all.
    Perhaps,
}

/// One pair depends on another.
#[derive(Clone, Copy, Debug)]
struct PairEdge {
    to: usize,
    tie: Tie,
    at: u64,
}

/// The comparison of two files under way.
pub struct Graph<'s, 'e> {
    /// The old file.
    pub a: &'s FileSide<'e>,
    /// The new file.
    pub b: &'s FileSide<'e>,
    partners: BTreeSet<(u64, u64)>,
    numbers: BTreeMap<Node, usize>,
    nodes: Vec<Node>,
    own: Vec<OwnCode>,
    respaced: Vec<bool>,
    edges: Vec<Vec<PairEdge>>,
    waiting: VecDeque<usize>,
    budget: u64,
    /// Names that are the same because another file has what they mean.
    imported: BTreeSet<String>,
    /// Pointers that are being followed: each to the next.
    following: Vec<(u64, u64)>,
}

impl<'s, 'e> Graph<'s, 'e> {
    /// Without any pair yet.
    pub fn new(a: &'s FileSide<'e>, b: &'s FileSide<'e>, pairs: &[NamePair]) -> Self {
        let both = pairs.iter().filter_map(|pair| match *pair {
            NamePair::Both(old, new) => Some((a.named[old].address, b.named[new].address)),
            _ => None,
        });
        let code = a.image.code_bytes().max(b.image.code_bytes());
        Self {
            a,
            b,
            partners: both.collect(),
            numbers: BTreeMap::new(),
            nodes: Vec::new(),
            own: Vec::new(),
            respaced: Vec::new(),
            edges: Vec::new(),
            waiting: VecDeque::new(),
            budget: code.saturating_mul(OVERLAP).saturating_add(SMALL_BYTES),
            imported: BTreeSet::new(),
            following: Vec::new(),
        }
    }

    /// The number of a pair, which is to be compared if it is new.
    pub fn node(&mut self, node: Node) -> usize {
        let next = self.nodes.len();
        let number = *self.numbers.entry(node).or_insert(next);
        if number == next {
            self.nodes.push(node);
            self.own.push(OwnCode::Same);
            self.respaced.push(false);
            self.edges.push(Vec::new());
            self.waiting.push_back(number);
        }
        number
    }

    /// Says of a pair of pointers what `rest` says of what they point to. A circle (`__dso_handle` points to itself) holds
    /// nothing that could differ.
    ///
    /// # Errors
    /// Those of `rest`; the chain is too long to follow.
    pub fn follow(
        &mut self,
        pair: (u64, u64),
        rest: impl FnOnce(&mut Self) -> Result<(), NotSame>,
    ) -> Result<(), NotSame> {
        if self.following.contains(&pair) {
            return Ok(());
        }
        if self.following.len() == CHAIN {
            return NotSame::unknown(format!("a chain of more than {CHAIN} pointers at {:#x}", pair.0));
        }
        self.following.push(pair);
        let said = rest(self);
        self.following.pop();
        said
    }

    /// Whether two functions are one by name.
    pub fn are_partners(&self, a: u64, b: u64) -> bool {
        self.partners.contains(&(a, b))
    }

    /// What a pair is by itself.
    pub fn own(&self, number: usize) -> &OwnCode {
        &self.own[number]
    }

    /// Whether the same instructions of a pair of functions lie at other distances from each other.
    pub fn is_respaced(&self, number: usize) -> bool {
        self.respaced[number]
    }

    /// Whether two offsets in a pair of functions are those of the same instruction.
    pub fn same_instruction(&mut self, (a, b): (u64, u64), (into_a, into_b): (u64, u64)) -> bool {
        into_a == into_b
            || match (self.listing(true, a), self.listing(false, b)) {
                (Ok(first), Ok(second)) => {
                    let (index_a, index_b) = (first.index_at(into_a), second.index_at(into_b));
                    index_a.is_ok() && index_a == index_b
                }
                _ => false,
            }
    }

    /// Notes what is the same by its name alone.
    pub fn import(&mut self, name: &str) {
        self.imported.insert(name.to_owned());
    }

    /// Compares all pairs and what they lead to.
    pub fn run(&mut self) {
        while let Some(number) = self.waiting.pop_front() {
            let mut found = PairFindings { at: 0, edges: Vec::new(), respaced: false };
            let own = match self.nodes[number] {
                Node::Code(a, b) => self.functions(a, b, &mut found),
                Node::Data(pair) => match self.data(pair, &mut found) {
                    Ok(()) => OwnCode::Same,
                    Err(NotSame::Different) => OwnCode::Different { at: 0 },
                    Err(NotSame::Unknown(reason)) => OwnCode::Unknown { at: 0, reason },
                },
            };
            self.own[number] = own;
            self.respaced[number] = found.respaced;
            self.edges[number] = found.edges;
        }
        self.settle();
    }

    fn listing(&mut self, old: bool, entry: u64) -> Result<FunctionListing, String> {
        let side = if old { self.a } else { self.b };
        let size = side.image.function_at(entry).map_or(0, |place| place.size);
        match self.budget.checked_sub(size) {
            Some(rest) => self.budget = rest,
            None => return Err("the symbols of functions overlap too much to be right".to_owned()),
        }
        if side.aarch64 { a64::listing(side, entry) } else { x86::listing(&side.image, entry) }
    }

    /// The first difference of two functions, or the first doubt if there is none.
    fn functions(&mut self, a: u64, b: u64, found: &mut PairFindings) -> OwnCode {
        let (first, second) = match (self.listing(true, a), self.listing(false, b)) {
            (Ok(first), Ok(second)) => (first, second),
            (Err(reason), _) | (_, Err(reason)) => return OwnCode::Unknown { at: 0, reason },
        };
        let mut lines = first.lines.iter().zip(&second.lines);
        if let Some((line, _)) = lines.find(|&(a, b)| !equal_but_for_fields((&first, a), (&second, b))) {
            return OwnCode::Different { at: line.at };
        }
        if let Some(at) = first.undecodable.into_iter().chain(second.undecodable).min() {
            return OwnCode::Unknown { at, reason: "bytes that are not a known instruction".to_owned() };
        }
        let bytes_a = first.bytes.len() as u64;
        let common = first.lines.len().min(second.lines.len());
        if common < first.lines.len() || common < second.lines.len() {
            return OwnCode::Different { at: first.lines.get(common).map_or(bytes_a, |line| line.at) };
        }
        found.respaced = first.lines.iter().zip(&second.lines).any(|(a, b)| a.at != b.at);
        let mut doubt = None;
        for (line, other) in first.lines.iter().zip(&second.lines) {
            found.at = line.at;
            for (reference, against) in line.references.iter().zip(&other.references) {
                match self.reference((&first, &reference.leads), (&second, &against.leads), found) {
                    Ok(()) => {}
                    Err(NotSame::Different) => return OwnCode::Different { at: line.at },
                    Err(NotSame::Unknown(reason)) => {
                        doubt.get_or_insert(OwnCode::Unknown { at: line.at, reason });
                    }
                }
            }
        }
        if first.runs_out || second.runs_out {
            found.at = bytes_a;
            let behind = (Leads::Code(first.behind), Leads::Code(second.behind));
            if self.reference((&first, &behind.0), (&second, &behind.1), found).is_err() {
                let reason = "control runs on past the end of the function".to_owned();
                doubt.get_or_insert(OwnCode::Unknown { at: bytes_a, reason });
            }
        }
        doubt.unwrap_or(OwnCode::Same)
    }

    /// What pairs are whose parts are not the same.
    fn settle(&mut self) {
        let tied = self.backwards(|tie| tie != Tie::Named);
        // A certain difference outweighs any doubt, so differences go first; doubts then spread over what is left.
        let mut waiting: VecDeque<usize> = self.those(|own| matches!(own, OwnCode::Different { .. }));
        while let Some(number) = waiting.pop_front() {
            for &(from, edge) in &tied[number] {
                let (at, known) = (edge.at, &self.own[from]);
                if edge.tie == Tie::Part && !matches!(known, OwnCode::Different { .. }) {
                    self.own[from] = OwnCode::Different { at };
                    waiting.push_back(from);
                } else if edge.tie == Tie::Perhaps && *known == OwnCode::Same {
                    let reason = "a number that may be an address, and what is there differs".to_owned();
                    self.own[from] = OwnCode::Unknown { at, reason };
                }
            }
        }
        let mut waiting = self.those(|own| matches!(own, OwnCode::Unknown { .. }));
        while let Some(number) = waiting.pop_front() {
            let OwnCode::Unknown { reason, .. } = &self.own[number] else { continue };
            let reason = reason.clone();
            for &(from, edge) in &tied[number] {
                if self.own[from] == OwnCode::Same {
                    self.own[from] = OwnCode::Unknown { at: edge.at, reason: reason.clone() };
                    waiting.push_back(from);
                }
            }
        }
    }

    fn those(&self, wanted: impl Fn(&OwnCode) -> bool) -> VecDeque<usize> {
        (0..self.own.len()).filter(|&number| wanted(&self.own[number])).collect()
    }

    fn backwards(&self, wanted: impl Fn(Tie) -> bool) -> Vec<Vec<(usize, PairEdge)>> {
        let mut found = vec![Vec::new(); self.nodes.len()];
        for (from, edges) in self.edges.iter().enumerate() {
            for &edge in edges.iter().filter(|edge| wanted(edge.tie)) {
                found[edge.to].push((from, edge));
            }
        }
        found
    }

    /// For each pair the nearest one that it reaches and that is not the same; differences go before doubts.
    fn nearest(&self) -> Vec<Option<(usize, u64)>> {
        let mut found: Vec<Option<(usize, u64)>> = vec![None; self.nodes.len()];
        for different in [true, false] {
            let backwards = self.backwards(|tie| !(different && tie == Tie::Perhaps));
            let mut waiting = VecDeque::new();
            for (number, own) in self.own.iter().enumerate() {
                let (own_at, wanted) = match own {
                    OwnCode::Same => continue,
                    OwnCode::Different { at } => (*at, different),
                    OwnCode::Unknown { at, .. } => (*at, !different),
                };
                if wanted && found[number].is_none() {
                    found[number] = Some((number, own_at));
                    waiting.push_back(number);
                }
            }
            while let Some(number) = waiting.pop_front() {
                let Some((origin, _)) = found[number] else { continue };
                for &(from, edge) in &backwards[number] {
                    if found[from].is_none() {
                        found[from] = Some((origin, edge.at));
                        waiting.push_back(from);
                    }
                }
            }
        }
        found
    }

    /// What each pair is together with all that it reaches.
    pub fn reached(&self) -> Vec<Reached> {
        let judge = |nearest: &Option<(usize, u64)>| match *nearest {
            None => Reached::Same,
            Some((origin, _)) => match &self.own[origin] {
                OwnCode::Unknown { reason, .. } => {
                    Reached::Unknown { reason: format!("`{}`: {reason}", self.name(origin)) }
                }
                _ => Reached::Changed { through: self.name(origin) },
            },
        };
        self.nearest().iter().map(judge).collect()
    }

    /// Which pairs refer to data that is not the same, directly or through other data.
    pub fn reads_other_data(&self) -> Vec<bool> {
        let is_data = |number: &usize| matches!(self.nodes[*number], Node::Data(_));
        let backwards = self.backwards(|_| true);
        let mut found = vec![false; self.nodes.len()];
        let mut waiting = self.those(|own| *own != OwnCode::Same);
        waiting.retain(is_data);
        for &number in &waiting {
            found[number] = true;
        }
        while let Some(number) = waiting.pop_front() {
            for &(from, _) in &backwards[number] {
                if !std::mem::replace(&mut found[from], true) && is_data(&from) {
                    waiting.push_back(from);
                }
            }
        }
        found
    }

    /// One pair, as the comparison inside one file would tell it.
    pub fn identity(&self, number: usize) -> Identity {
        let Some((origin, at)) = self.nearest()[number] else {
            return Identity::Identical { note: self.note() };
        };
        match &self.own[origin] {
            OwnCode::Unknown { reason, .. } if origin == number => {
                Identity::Unknown { reason: format!("at byte {at}: {reason}") }
            }
            OwnCode::Unknown { reason, .. } => {
                Identity::Unknown { reason: format!("at byte {at}, in `{}`: {reason}", self.name(origin)) }
            }
            _ => Identity::Different { at },
        }
    }

    fn note(&self) -> Option<String> {
        let functions = self.nodes.iter().filter(|node| matches!(node, Node::Code(..))).count();
        let objects = self.nodes.len() - functions;
        let mut parts = Vec::new();
        if functions > 1 {
            parts
                .push(format!("{} that it reaches compared equal", plural(functions as u64 - 1, "function")));
        }
        if objects > 0 {
            parts.push(format!("{} compared equal (constants included)", plural(objects as u64, "object")));
        }
        if self.respaced.contains(&true) {
            parts.push("jumps or padding differ in length".to_owned());
        }
        if !self.imported.is_empty() {
            parts.push(format!("{} imported by name were not looked into", self.imported.len()));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    fn name(&self, number: usize) -> String {
        match self.nodes[number] {
            Node::Code(a, _) => {
                self.a.image.function_at(a).map_or(format!("{a:#x}"), |place| place.name.clone())
            }
            Node::Data(pair) => match self.a.variable_at(pair.a) {
                Some(variable) => variable.name.clone(),
                None => format!("the data at {:#x}", pair.a),
            },
        }
    }
}

/// What the comparison of one pair brings up.
pub struct PairFindings {
    /// Offset of the instruction at work.
    pub at: u64,
    edges: Vec<PairEdge>,
    /// The same instructions lie at other distances from each other.
    respaced: bool,
}

impl PairFindings {
    /// This pair depends on another.
    pub fn tie(&mut self, to: usize, tie: Tie) {
        self.edges.push(PairEdge { to, tie, at: self.at });
    }
}
