//! From text to branches. Memory holds the two tables and one line.

use super::super::source::{
    BATCH, Batch, MAX_SITES, Sites, TraceBytes, TraceError, TraceFault, TracePlace, TraceSource,
};
use super::super::{Branch, BranchClass, BranchKind, BranchSite};
use super::{MAGIC, MAX_EDGES};
use std::io::Read;

/// Bytes of the longest line.
const LINE: usize = 4096;

/// A place that branches; `None` for the beginning and the end.
type NodeLine = Option<(u64, BranchClass, u32)>;

#[derive(Clone, Copy)]
struct EdgeLine {
    /// The branch at its source, without the instructions before it; `None` where that is the beginning.
    branch: Option<Branch>,
    /// Instructions between its source and its destination, both not counted.
    between: u32,
}

/// Lines of a text, numbered.
struct NumberedLines<R> {
    input: TraceBytes<R>,
    line: String,
    number: u64,
}

impl<R: Read> NumberedLines<R> {
    /// Reads the next line that is not blank into `self.line`; `false` at the end.
    fn advance(&mut self) -> Result<bool, TraceError> {
        loop {
            self.number += 1;
            let seen = self.input.peek(LINE)?;
            if seen.is_empty() {
                return Ok(false);
            }
            let end = seen.iter().position(|&byte| byte == b'\n');
            let Some(length) = end.or((seen.len() < LINE).then_some(seen.len())) else {
                return Err(
                    self.wrong(TraceFault::TooMany { what: "characters in a line", limit: LINE as u64 })
                );
            };
            self.line.clear();
            self.line.push_str(&String::from_utf8_lossy(&seen[..length]));
            self.input.consume(length + usize::from(end.is_some()));
            if !self.line.trim().is_empty() {
                return Ok(true);
            }
        }
    }

    fn wrong(&self, fault: TraceFault) -> TraceError {
        TraceError::new(TracePlace::Line(self.number), fault)
    }

    fn unexpected(&self, expected: &'static str, found: &str) -> TraceError {
        self.wrong(TraceFault::Word { expected, found: found.chars().take(40).collect() })
    }
}

/// An uncompressed file being read.
pub struct Bt9Reader<R> {
    lines: NumberedLines<R>,
    instructions: u64,
    promised: Option<u64>,
    sites: Sites,
    edges: Vec<(u32, EdgeLine)>,
    /// The ids of the edges are their places in `edges`.
    dense: bool,
    between: u32,
    have: u64,
    ended: bool,
}

impl<R: Read> Bt9Reader<R> {
    /// Reads everything up to the sequence of edges.
    ///
    /// # Errors
    /// An empty file, another format, a line that is not understood, tables that are too large or contradict themselves.
    pub fn new(inner: R) -> Result<Bt9Reader<R>, TraceError> {
        let mut lines = NumberedLines { input: TraceBytes::new(inner), line: String::new(), number: 0 };
        if lines.input.peek(1)?.is_empty() {
            return Err(TraceError::new(TracePlace::Line(1), TraceFault::Empty));
        }
        if lines.input.peek(MAGIC.len())? != MAGIC {
            return Err(TraceError::new(TracePlace::Line(1), TraceFault::Format { expected: "a BT9 trace" }));
        }
        let (instructions, promised) = header(&mut lines)?;
        let mut sites = Sites::default();
        let nodes = nodes(&mut lines, &mut sites)?;
        let edges = edges(&mut lines, &nodes, &mut sites)?;
        let dense = edges.iter().enumerate().all(|(at, (id, _))| at as u32 == *id);
        let promised = promised.and_then(|count| count.checked_sub(1));
        let (between, have, ended) = (0, 0, false);
        Ok(Bt9Reader { lines, instructions, promised, sites, edges, dense, between, have, ended })
    }

    /// Instructions of the whole stream, as the header says; 0 where it does not.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Branches of the whole stream, as the header says.
    pub fn promised(&self) -> Option<u64> {
        self.promised
    }

    /// One line of the sequence: a branch, or `None` for the edge from the beginning.
    fn step(&mut self) -> Result<Option<Branch>, TraceError> {
        let text = self.lines.line.trim();
        let known = |id: u32| {
            let at = if self.dense {
                Some(id as usize)
            } else {
                self.edges.binary_search_by_key(&id, |edge| edge.0).ok()
            };
            self.edges.get(at?)
        };
        let edge = text.parse().ok().and_then(known);
        let Some(&(_, edge)) = edge else {
            return Err(self.lines.unexpected("the number of an edge, or EOF", text));
        };
        let Some(branch) = edge.branch else {
            self.between = self.between.saturating_add(edge.between);
            return Ok(None);
        };
        let instructions = std::mem::replace(&mut self.between, edge.between).saturating_add(1);
        let (class, taken) = (branch.class(), branch.taken());
        Ok(Some(Branch::new(branch.pc, branch.target, branch.site, class, taken, instructions)))
    }

    fn end(&mut self) -> Result<(), TraceError> {
        self.ended = true;
        if self.lines.advance()? {
            return Err(self.lines.wrong(TraceFault::Trailing));
        }
        Ok(())
    }
}

impl<R: Read> TraceSource for Bt9Reader<R> {
    fn next(&mut self, batch: &mut Batch) -> Result<bool, TraceError> {
        batch.stream = 0;
        batch.branches.clear();
        while !self.ended && batch.branches.len() < BATCH {
            if !self.lines.advance()? {
                return Err(self.lines.wrong(TraceFault::Cut { have: self.have, promised: self.promised }));
            }
            if self.lines.line.starts_with("EOF") {
                self.end()?;
                break;
            }
            let branch = self.step()?;
            self.have += u64::from(branch.is_some());
            batch.branches.extend(branch);
        }
        Ok(!batch.branches.is_empty())
    }

    fn sites(&self, _: u32) -> &[BranchSite] {
        self.sites.list()
    }
}

/// Lines up to `BT9_NODES`: instructions and branches of the stream.
fn header(lines: &mut NumberedLines<impl Read>) -> Result<(u64, Option<u64>), TraceError> {
    let (mut instructions, mut branches) = (0, None);
    while lines.advance()? {
        let mut words = lines.line.split_whitespace();
        match words.next() {
            Some("BT9_NODES") => return Ok((instructions, branches)),
            Some("total_instruction_count:") => instructions = number(words.next()).unwrap_or(0),
            Some("branch_instruction_count:") => branches = number(words.next()),
            _ => {}
        }
    }
    Err(lines.wrong(TraceFault::Cut { have: 0, promised: branches }))
}

fn nodes(
    lines: &mut NumberedLines<impl Read>,
    sites: &mut Sites,
) -> Result<Vec<(u32, NodeLine)>, TraceError> {
    let mut found = Vec::new();
    loop {
        if !lines.advance()? {
            return Err(lines.wrong(TraceFault::Cut { have: 0, promised: None }));
        }
        let line = lines.line.trim();
        if line == "BT9_EDGES" {
            return sorted(found, lines, "the number of a node that is new");
        }
        if line.starts_with('#') {
            continue;
        }
        let node = node(line, sites).map_err(|(expected, found)| match found {
            Ok(word) => lines.unexpected(expected, &word),
            Err(fault) => lines.wrong(fault),
        })?;
        if found.len() == MAX_SITES {
            return Err(lines.wrong(TraceFault::TooMany { what: "nodes", limit: MAX_SITES as u64 }));
        }
        found.push(node);
    }
}

/// What was expected, and the word found instead or another fault.
type Bt9Wrong = (&'static str, Result<String, TraceFault>);

fn node(line: &str, sites: &mut Sites) -> Result<(u32, NodeLine), Bt9Wrong> {
    let words: Vec<&str> = line.split_whitespace().take(9).collect();
    let word = |at: usize| words.get(at).copied().unwrap_or("the end of the line");
    let wrong = |expected, at: usize| (expected, Ok(word(at).to_owned()));
    if word(0) != "NODE" {
        return Err(wrong("NODE or BT9_EDGES", 0));
    }
    let id = word(1).parse().map_err(|_| wrong("the number of a node", 1))?;
    if words.get(6).is_none_or(|word| *word != "class:") {
        return Ok((id, None));
    }
    let pc = number(Some(word(2))).ok_or_else(|| wrong("an address", 2))?;
    let length = word(5).parse().map_err(|_| wrong("the length of an instruction", 5))?;
    let class = class(word(7)).ok_or_else(|| wrong("a class like JMP+DIR+CND", 7))?;
    let site = sites.number(pc, length, class, false, 0).map_err(|fault| ("", Err(fault)))?;
    Ok((id, Some((pc, class, site))))
}

fn class(text: &str) -> Option<BranchClass> {
    let mut parts = text.split('+');
    let kind = match parts.next()? {
        "JMP" => BranchKind::Jump,
        "CALL" => BranchKind::Call,
        "RET" => BranchKind::Return,
        _ => return None,
    };
    let is_indirect = match parts.next()? {
        "DIR" => kind == BranchKind::Return,
        "IND" => true,
        _ => return None,
    };
    let is_conditional = match parts.next()? {
        "CND" => true,
        "UCD" => false,
        _ => return None,
    };
    parts.next().is_none().then(|| BranchClass::new(kind, is_conditional, is_indirect))
}

fn edges(
    lines: &mut NumberedLines<impl Read>,
    nodes: &[(u32, NodeLine)],
    sites: &mut Sites,
) -> Result<Vec<(u32, EdgeLine)>, TraceError> {
    let mut found: Vec<(u32, EdgeLine)> = Vec::new();
    loop {
        if !lines.advance()? {
            return Err(lines.wrong(TraceFault::Cut { have: 0, promised: None }));
        }
        let line = lines.line.trim();
        if line == "BT9_EDGE_SEQUENCE" {
            break;
        }
        if line.starts_with('#') {
            continue;
        }
        let edge = edge(line, nodes).map_err(|(expected, found)| match found {
            Ok(word) => lines.unexpected(expected, &word),
            Err(fault) => lines.wrong(fault),
        })?;
        if found.len() == MAX_EDGES {
            return Err(lines.wrong(TraceFault::TooMany { what: "edges", limit: MAX_EDGES as u64 }));
        }
        found.push(edge);
    }
    // A taken edge knows the static target for certain; one that is not taken says it too, in the traces of the kit.
    for taken in [true, false] {
        for branch in found.iter().filter_map(|edge| edge.1.branch).filter(|branch| branch.taken() == taken) {
            let numbered = sites.number(branch.pc, 0, branch.class(), true, branch.target);
            debug_assert_eq!(numbered, Ok(branch.site));
        }
    }
    sorted(found, lines, "the number of an edge that is new")
}

fn edge(line: &str, nodes: &[(u32, NodeLine)]) -> Result<(u32, EdgeLine), Bt9Wrong> {
    let words: Vec<&str> = line.split_whitespace().take(8).collect();
    let word = |at: usize| words.get(at).copied().unwrap_or("the end of the line");
    let wrong = |expected, at: usize| (expected, Ok(word(at).to_owned()));
    if word(0) != "EDGE" {
        return Err(wrong("EDGE or BT9_EDGE_SEQUENCE", 0));
    }
    let id = word(1).parse().map_err(|_| wrong("the number of an edge", 1))?;
    let source = word(2).parse().ok().and_then(|id: u32| nodes.binary_search_by_key(&id, |node| node.0).ok());
    let source = nodes[source.ok_or_else(|| wrong("the number of a node", 2))?].1;
    let taken = match word(4) {
        "T" => true,
        "N" => false,
        _ if source.is_none() => false,
        _ => return Err(wrong("T or N", 4)),
    };
    let target = number(Some(word(5))).ok_or_else(|| wrong("an address", 5))?;
    let between = word(7).parse().map_err(|_| wrong("a number of instructions", 7))?;
    let branch = source.map(|(pc, class, site)| Branch::new(pc, target, site, class, taken, 0));
    if branch.is_some_and(|branch| !branch.taken() && !branch.class().is_conditional()) {
        return Err(wrong("T, as its source is unconditional", 4));
    }
    Ok((id, EdgeLine { branch, between }))
}

fn sorted<T>(
    mut list: Vec<(u32, T)>,
    lines: &NumberedLines<impl Read>,
    expected: &'static str,
) -> Result<Vec<(u32, T)>, TraceError> {
    list.sort_by_key(|entry| entry.0);
    match list.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(lines.unexpected(expected, &pair[0].0.to_string())),
        None => Ok(list),
    }
}

/// A number in decimal, or in hexadecimal after `0x`.
fn number(word: Option<&str>) -> Option<u64> {
    let word = word?;
    match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}
