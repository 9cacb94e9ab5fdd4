//! How processors fetch and cache code, and what that makes of a loop at each offset.
//!
//! Question: does it matter to this loop where it lies? Method: by the host's rule, which lines and windows an
//! iteration touches if all code is 0, 16, 32 or 48 bytes further. Limits: instructions are counted, not the micro-ops
//! that they become, so what is said to fit may not; unknown processors get no rule, and no code that is not x86-64's: the windows
//! and borders here are those of Intel's and AMD's front ends. Checked: by hand, below.

use super::facts::{BranchFlow, DecodedFunction, Loop, touched};
use super::layout::{self, LINE_BYTES, LayoutError};
use object::{Architecture, Object as _};

/// How far all code is moved, bytes.
pub const PHASES: [u64; 4] = [0, 16, 32, 48];

/// A processor's way to fetch and to keep decoded instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrontEnd {
    /// Microarchitecture.
    pub name: &'static str,
    /// Bytes of the aligned stretch that is fetched for decoding at once.
    pub fetch_bytes: u64,
    /// Bytes of the aligned stretch that an entry of its op cache is for.
    pub window_bytes: u64,
    /// Operations that an entry holds.
    pub entry_operations: usize,
    /// Entries that one window may take, if there is such a limit.
    pub window_entries: Option<usize>,
    /// A jump that crosses or ends at a 32-byte border keeps its window out of the op cache.
    pub jump_erratum: bool,
    /// Who says so.
    pub source: &'static str,
}

const SKYLAKE: FrontEnd = FrontEnd {
    name: "Skylake",
    fetch_bytes: 16,
    window_bytes: 32,
    entry_operations: 6,
    window_entries: Some(3),
    jump_erratum: true,
    source: "Intel 248966, 2.6 and 3.4.2.5; Mitigations for Jump Conditional Code Erratum, 2019",
};
const SANDY_BRIDGE: FrontEnd = FrontEnd {
    name: "Sandy Bridge to Broadwell",
    jump_erratum: false,
    source: "Intel 248966, 2.9.2.2 and 3.4.2.5",
    ..SKYLAKE
};
const SUNNY_COVE: FrontEnd = FrontEnd {
    name: "Sunny Cove",
    fetch_bytes: 16,
    window_bytes: 64,
    entry_operations: 6,
    window_entries: Some(6),
    jump_erratum: false,
    source: "Fog, The microarchitecture of Intel, AMD and VIA CPUs, 2023, 12.2",
};
const GOLDEN_COVE: FrontEnd = FrontEnd {
    name: "Golden Cove",
    fetch_bytes: 32,
    window_bytes: 64,
    entry_operations: 8,
    window_entries: Some(6),
    jump_erratum: false,
    source: "Intel 248966, 2.3; Fog, The microarchitecture, 2023, 12.3",
};
const ZEN: FrontEnd = FrontEnd {
    name: "Zen",
    fetch_bytes: 32,
    window_bytes: 64,
    entry_operations: 8,
    window_entries: None,
    jump_erratum: false,
    source: "AMD 55723, 2.8 and 2.9",
};
const ZEN_2: FrontEnd = FrontEnd { name: "Zen 2", source: "AMD 56305, 2.8 and 2.9", ..ZEN };
const ZEN_3: FrontEnd = FrontEnd { name: "Zen 3", source: "AMD 56665, 2.8 and 2.9", ..ZEN };
const ZEN_4: FrontEnd =
    FrontEnd { name: "Zen 4", entry_operations: 9, source: "AMD 57647, 2.8 and 2.9", ..ZEN };
const ZEN_5: FrontEnd =
    FrontEnd { name: "Zen 5", fetch_bytes: 64, entry_operations: 6, source: "AMD 58455, 2.8 and 2.9", ..ZEN };

/// The models of family 6 that Intel's list of the jump erratum names: Skylake, Kaby Lake, Coffee Lake, Whiskey Lake,
/// Amber Lake, Comet Lake, and of 0x55 Skylake and Cascade Lake. Steppings of a model are not told apart here.
const JUMP_ERRATUM: [u32; 7] = [0x4e, 0x55, 0x5e, 0x8e, 0x9e, 0xa6, 0xae];

/// The rule of a processor by its vendor, family and model, as "AuthenticAMD 25 17".
pub fn front_end(cpu_id: &str) -> Option<FrontEnd> {
    let mut words = cpu_id.split_whitespace();
    let vendor = words.next()?;
    let (family, model): (u32, u32) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    match (vendor, family, model) {
        ("GenuineIntel", 6, model) if JUMP_ERRATUM.contains(&model) => Some(SKYLAKE),
        (
            "GenuineIntel",
            6,
            0x2a | 0x2d | 0x3a | 0x3e | 0x3c | 0x3f | 0x45 | 0x46 | 0x3d | 0x47 | 0x4f | 0x56,
        ) => Some(SANDY_BRIDGE),
        ("GenuineIntel", 6, 0x6a | 0x6c | 0x7d | 0x7e | 0x8c | 0x8d | 0xa7) => Some(SUNNY_COVE),
        ("GenuineIntel", 6, 0x8f | 0x97 | 0x9a | 0xb7 | 0xba | 0xbf | 0xcf) => Some(GOLDEN_COVE),
        // Models of each family by AMD's processor programming references.
        ("AuthenticAMD", 23, 0x00..=0x2f) => Some(ZEN),
        ("AuthenticAMD", 23, _) => Some(ZEN_2),
        ("AuthenticAMD", 25, 0x10..=0x1f | 0x60..=0x7f | 0xa0..=0xaf) => Some(ZEN_4),
        ("AuthenticAMD", 25, _) => Some(ZEN_3),
        ("AuthenticAMD", 26, _) => Some(ZEN_5),
        _ => None,
    }
}

/// The instruction set of a file, where no rule is known for it; none for x86-64.
///
/// # Errors
/// It is no ELF file.
pub fn without_rule(elf: &[u8]) -> Result<Option<String>, LayoutError> {
    Ok(match layout::parse(elf)?.architecture() {
        Architecture::X86_64 => None,
        Architecture::Aarch64 => Some("AArch64".to_owned()),
        other => Some(format!("{other:?}")),
    })
}

/// What an iteration of a loop touches if all code is some bytes further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtPhase {
    /// How far all code is moved, bytes.
    pub phase_bytes: u64,
    /// Where the function's entry then lies in its 64-byte line.
    pub offset: u64,
    /// Where the loop's head does.
    pub head_offset: u64,
    /// 64-byte lines that it touches.
    pub lines: u64,
    /// 32-byte windows that it touches.
    pub windows: u64,
    /// Its branches that cross or end at a 32-byte border.
    pub border_branches: usize,
    /// By the host's rule, if that is known.
    pub ruled: Option<Ruled>,
}

/// What the host's rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ruled {
    /// Stretches that are fetched for decoding.
    pub fetches: u64,
    /// Windows of the op cache.
    pub windows: u64,
    /// Entries of the op cache that it takes at least.
    pub entries: usize,
    /// Windows that cannot be in the op cache: too many operations, or a jump at a border on a CPU with the erratum.
    pub left_out: usize,
}

/// What an iteration touches at each phase.
pub fn at_phases(function: &DecodedFunction, body: &Loop, rule: Option<FrontEnd>) -> [AtPhase; 4] {
    PHASES.map(|phase_bytes| at_phase(function, body, phase_bytes, rule))
}

fn at_phase(function: &DecodedFunction, body: &Loop, phase_bytes: u64, rule: Option<FrontEnd>) -> AtPhase {
    let start = function.place.address.wrapping_add(phase_bytes);
    let head = start.wrapping_add(body.head);
    let inside = body.head..body.head + body.bytes;
    let borders: Vec<u64> = function
        .border_branches(phase_bytes)
        .into_iter()
        .filter(|branch| inside.contains(&branch.at))
        .map(|branch| branch.at)
        .collect();
    AtPhase {
        phase_bytes,
        offset: start % LINE_BYTES,
        head_offset: head % LINE_BYTES,
        lines: touched(head, body.bytes, LINE_BYTES),
        windows: touched(head, body.bytes, 32),
        border_branches: borders.len(),
        ruled: rule.map(|rule| ruled(function, body, start, &borders, rule)),
    }
}

fn ruled(function: &DecodedFunction, body: &Loop, start: u64, borders: &[u64], rule: FrontEnd) -> Ruled {
    let head = start.wrapping_add(body.head);
    let end = body.head + body.bytes;
    let inside: Vec<_> =
        function.operations.iter().filter(|found| found.at >= body.head && found.at < end).collect();
    let mut counts: Vec<(u64, usize, usize)> = Vec::new();
    let mut fused = false;
    for (index, operation) in inside.iter().enumerate() {
        let window = start.wrapping_add(operation.at) / rule.window_bytes;
        // A fused pair is one operation, where its first half is.
        let skipped = fused;
        fused = inside.get(index + 1).is_some_and(|next| operation.fuses_with(next));
        if skipped {
            continue;
        }
        let closes = matches!(operation.flow, BranchFlow::Jump(_) | BranchFlow::Call | BranchFlow::Away);
        match counts.last_mut().filter(|last| last.0 == window) {
            Some(last) => {
                if last.2 == rule.entry_operations {
                    last.1 += 1;
                    last.2 = 0;
                }
                last.2 += 1;
            }
            None => counts.push((window, 1, 1)),
        }
        // Behind an unconditional jump a new entry starts.
        if let Some(last) = counts.last_mut().filter(|_| closes) {
            last.2 = rule.entry_operations;
        }
    }
    let erratum = |window: u64| {
        rule.jump_erratum
            && borders.iter().any(|&at| {
                let found =
                    inside.iter().find(|operation| operation.at >= at && operation.flow != BranchFlow::Next);
                let end = found.map_or(at, |operation| operation.at + operation.bytes - 1);
                (start.wrapping_add(at) / rule.window_bytes..=start.wrapping_add(end) / rule.window_bytes)
                    .contains(&window)
            })
    };
    let too_many = |entries: usize| rule.window_entries.is_some_and(|most| entries > most);
    Ruled {
        fetches: touched(head, body.bytes, rule.fetch_bytes),
        windows: touched(head, body.bytes, rule.window_bytes),
        entries: counts.iter().map(|count| count.1).sum(),
        left_out: counts.iter().filter(|count| too_many(count.1) || erratum(count.0)).count(),
    }
}

/// Whether a loop's place can matter: at some phase an iteration touches more lines, or more of what the host's rule
/// counts, than at another.
pub fn depends_on_place(at: &[AtPhase]) -> bool {
    let differs = |of: &dyn Fn(&AtPhase) -> u64| at.iter().map(of).min() != at.iter().map(of).max();
    differs(&|at| at.lines)
        || differs(&|at| at.ruled.map_or(at.windows, |ruled| ruled.windows))
        || differs(&|at| at.ruled.map_or(0, |ruled| ruled.fetches))
        || differs(&|at| at.ruled.map_or(0, |ruled| ruled.entries as u64))
        || differs(&|at| at.ruled.map_or(0, |ruled| ruled.left_out as u64))
}

/// A measured time beside what a loop touches at that offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopTime {
    /// What it touches.
    pub at: AtPhase,
    /// Nanoseconds per unit that were measured with the function at this offset.
    pub ns_per_unit: Option<f64>,
}

/// Joins what a loop touches with an experiment's table of times by the offset of the function's entry.
///
/// Input: the phases of one of its loops; (offset in the 64-byte line, nanoseconds per unit).
pub fn beside(at: &[AtPhase], by_offset: &[(u64, f64)]) -> Vec<LoopTime> {
    let time = |offset: u64| by_offset.iter().find(|(found, _)| *found == offset).map(|(_, ns)| *ns);
    at.iter().map(|&at| LoopTime { at, ns_per_unit: time(at.offset) }).collect()
}
