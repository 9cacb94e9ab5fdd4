//! From branches to text, in two passes: the tables stand before the sequence.

use super::super::source::MAX_SITES;
use super::super::{Branch, BranchClass, BranchKind, BranchSite};
use super::MAX_EDGES;
use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

/// A place that branches.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct NodeCount {
    pc: u64,
    length: u8,
    class: BranchClass,
}

/// A way from one branch to the next.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct EdgeCount {
    source: u32,
    destination: u32,
    taken: bool,
    target: u64,
    between: u32,
}

/// The first pass: which nodes and edges there are, and how often each edge was taken.
#[derive(Default)]
pub struct Bt9Tables {
    numbers: HashMap<NodeCount, u32>,
    nodes: Vec<NodeCount>,
    ids: HashMap<EdgeCount, u32>,
    edges: Vec<(EdgeCount, u64)>,
    last: Option<(u32, bool, u64)>,
    instructions: u64,
    branches: u64,
}

/// The node ahead of the first branch.
const BEGINNING: u32 = 0;

impl Bt9Tables {
    /// Takes the next branches of the stream.
    ///
    /// # Errors
    /// More places or ways than are kept in memory.
    pub fn add(&mut self, sites: &[BranchSite], branches: &[Branch]) -> io::Result<()> {
        for branch in branches {
            let node = node(sites, branch);
            let number = match self.numbers.get(&node) {
                Some(&number) => number,
                None => self.add_node(node)?,
            };
            self.add_edge(edge(self.last, number, branch.instructions().saturating_sub(1)))?;
            self.last = Some((number, branch.taken(), branch.target));
            self.instructions += u64::from(branch.instructions());
            self.branches += 1;
        }
        Ok(())
    }

    fn add_node(&mut self, node: NodeCount) -> io::Result<u32> {
        if self.nodes.len() == MAX_SITES {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "too many places that branch for BT9's tables",
            ));
        }
        self.nodes.push(node);
        let number = self.nodes.len() as u32;
        self.numbers.insert(node, number);
        Ok(number)
    }

    fn add_edge(&mut self, edge: EdgeCount) -> io::Result<()> {
        let id = match self.ids.get(&edge) {
            Some(&id) => id,
            None if self.edges.len() == MAX_EDGES => {
                let message = "too many ways from branch to branch for BT9's tables";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            }
            None => {
                self.edges.push((edge, 0));
                let id = self.edges.len() as u32 - 1;
                self.ids.insert(edge, id);
                id
            }
        };
        self.edges[id as usize].1 += 1;
        Ok(())
    }

    /// Ends the first pass: the last branch leads to the end.
    ///
    /// # Errors
    /// More ways than are kept in memory.
    pub fn close(&mut self) -> io::Result<()> {
        let end = self.nodes.len() as u32 + 1;
        self.add_edge(edge(self.last, end, 0))
    }
}

fn node(sites: &[BranchSite], branch: &Branch) -> NodeCount {
    let length = sites.get(branch.site as usize).map_or(0, |site| site.length);
    NodeCount { pc: branch.pc, length, class: branch.class() }
}

fn edge(last: Option<(u32, bool, u64)>, destination: u32, between: u32) -> EdgeCount {
    let (source, taken, target) = last.unwrap_or((BEGINNING, false, 0));
    EdgeCount { source, destination, taken, target, between }
}

/// The second pass: the same stream again, as a sequence.
pub struct Bt9Writer<'a, W> {
    out: W,
    tables: &'a Bt9Tables,
    last: Option<(u32, bool, u64)>,
}

impl<'a, W: Write> Bt9Writer<'a, W> {
    /// Writes everything up to the sequence.
    ///
    /// # Errors
    /// The writer's own.
    pub fn new(mut out: W, tables: &'a Bt9Tables) -> io::Result<Bt9Writer<'a, W>> {
        header(&mut out, tables)?;
        nodes(&mut out, tables)?;
        edges(&mut out, tables)?;
        writeln!(out, "BT9_EDGE_SEQUENCE")?;
        Ok(Bt9Writer { out, tables, last: None })
    }

    /// Writes the next branches of the stream, the same as in the first pass.
    ///
    /// # Errors
    /// Branches that the first pass has not seen, or the writer's own.
    pub fn write(&mut self, sites: &[BranchSite], branches: &[Branch]) -> io::Result<()> {
        for branch in branches {
            let number = self.tables.numbers.get(&node(sites, branch)).copied().ok_or_else(changed)?;
            self.emit(edge(self.last, number, branch.instructions().saturating_sub(1)))?;
            self.last = Some((number, branch.taken(), branch.target));
        }
        Ok(())
    }

    fn emit(&mut self, edge: EdgeCount) -> io::Result<()> {
        let id = self.tables.ids.get(&edge).ok_or_else(changed)?;
        writeln!(self.out, "{id}")
    }

    /// Writes the end, and gives the writer back.
    ///
    /// # Errors
    /// The writer's own.
    pub fn finish(mut self) -> io::Result<W> {
        let end = self.tables.nodes.len() as u32 + 1;
        self.emit(edge(self.last, end, 0))?;
        writeln!(self.out, "EOF")?;
        Ok(self.out)
    }
}

fn changed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "the stream is not the one of the first pass")
}

fn header(out: &mut impl Write, tables: &Bt9Tables) -> io::Result<()> {
    writeln!(out, "BT9_SPA_TRACE_FORMAT\nbt9_minor_version: 0\nhas_physical_address: 0\nmd5_checksum: ")?;
    writeln!(out, "conversion_date: \noriginal_stf_input_file: ")?;
    // Readers expect one branch too many: the edge from the beginning counts as one.
    for (key, value, words) in [
        ("total_instruction_count", tables.instructions, "Instruction count"),
        ("branch_instruction_count", tables.branches + 1, "Branch count"),
        ("invalid_physical_branch_target_count", 0, "Invalid Physical Target Count"),
        ("A32_instruction_count", 0, "A32 instructions"),
        ("A64_instruction_count", 0, "A64 instructions"),
        ("T32_instruction_count", 0, "T32 instructions"),
        ("unidentified_instruction_count", tables.instructions, "Unidentified instructions"),
    ] {
        writeln!(out, "{key}: {value:>16}    # {words} ")?;
    }
    Ok(())
}

/// What the edges say of a node.
#[derive(Default)]
struct Behaviour {
    taken: u64,
    not_taken: u64,
    targets: HashSet<u64>,
}

fn nodes(out: &mut impl Write, tables: &Bt9Tables) -> io::Result<()> {
    let mut behaviours: Vec<Behaviour> = Vec::new();
    behaviours.resize_with(tables.nodes.len() + 1, Behaviour::default);
    for (edge, count) in &tables.edges {
        let behaviour = &mut behaviours[edge.source as usize];
        if edge.taken {
            behaviour.taken += count;
            behaviour.targets.insert(edge.target);
        } else {
            behaviour.not_taken += count;
        }
    }
    writeln!(out, "BT9_NODES\n#NODE   id      virtual_address    physical_address          opcode  size ")?;
    writeln!(out, "NODE    0                    0                    -                0    0      ")?;
    for (number, (node, behaviour)) in (1..).zip(tables.nodes.iter().zip(&behaviours[1..])) {
        let Behaviour { taken, not_taken, targets } = behaviour;
        let direction = match (taken, not_taken) {
            (_, 0) => "AT",
            (0, _) => "ANT",
            _ => "DYN",
        };
        let spread = if targets.len() > 1 { "IND" } else { "DIR" };
        writeln!(
            out,
            "NODE {number:>4} {:>#20x}                    -                0 {:>4}    class: {:>12}  behavior: \
             {direction:>4}+{spread}  taken_cnt: {taken:>8}  not_taken_cnt: {not_taken:>8}  tgt_cnt: {:>3}",
            node.pc,
            node.length,
            name(node.class),
            targets.len()
        )?;
    }
    let end = tables.nodes.len() + 1;
    writeln!(out, "NODE {end:>4}   0xffffffffffffffff                    -                0    0      ")
}

fn name(class: BranchClass) -> String {
    let kind = match class.kind() {
        BranchKind::Jump => "JMP",
        BranchKind::Call => "CALL",
        BranchKind::Return => "RET",
    };
    let target = if class.is_indirect() { "IND" } else { "DIR" };
    let condition = if class.is_conditional() { "CND" } else { "UCD" };
    format!("{kind}+{target}+{condition}")
}

fn edges(out: &mut impl Write, tables: &Bt9Tables) -> io::Result<()> {
    let columns = "br_virt_target       br_phy_target   inst_cnt ";
    writeln!(out, "BT9_EDGES\n#EDGE    id  src_id   dest_id  taken      {columns}")?;
    for (id, (edge, count)) in tables.edges.iter().enumerate() {
        writeln!(
            out,
            "EDGE {id:>6} {:>6} {:>6}        {} {:>#20x}                    - {:>8}     traverse_cnt: {count:>8}  ",
            edge.source,
            edge.destination,
            if edge.taken { "T" } else { "N" },
            edge.target,
            edge.between,
        )?;
    }
    Ok(())
}
