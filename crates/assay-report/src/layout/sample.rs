//! A page that shows every key, and one that shows little, for tests.

use super::page::*;

fn phase(phase_bytes: u64, offset: u64, crossing: bool) -> IterationAtPhase {
    let more = u64::from(crossing);
    IterationAtPhase {
        phase_bytes,
        offset,
        head_offset: (offset + 2) % 64,
        lines: 1 + more,
        windows: 2 - more,
        border_branches: more,
        fetches: Some(2 + more),
        op_cache_windows: Some(1 + more),
        op_cache_entries: Some(2 + more),
        left_out: Some(more),
    }
}

fn decode() -> FunctionLayout {
    let hot = LoopLayout {
        head: 0x12,
        branches: vec![0x2c, 0x31],
        bytes: 33,
        instructions: 9,
        calls: 1,
        innermost: true,
        depends_on_place: true,
        at: vec![phase(0, 16, false), phase(16, 32, false), phase(32, 48, true), phase(48, 0, false)],
    };
    let times = [(0, 0.713), (16, 0.876), (32, 0.815), (48, 0.721)];
    FunctionLayout {
        name: "demo::decode(unsigned char const*, unsigned long)".to_owned(),
        symbol: "_ZN4demo6decodeEPKhm".to_owned(),
        address: 0x1190,
        size: 93,
        line_offset: 16,
        window_offset: 16,
        lines: 2,
        windows: 4,
        padding_bytes: 7,
        pinning_bytes: 48,
        border_branches: vec![Border { at: 0x2c, bytes: 4, fused: true, crosses: true }],
        loops: vec![hot],
        undecodable: Some(91),
        measured: vec![MeasuredVariant {
            variant: "loop".to_owned(),
            input: "log-uniform".to_owned(),
            compiler: "clang".to_owned(),
            flags: "O2".to_owned(),
            by_offset: times.map(|(offset, ns_per_unit)| TimeAtOffset { offset, ns_per_unit }).to_vec(),
        }],
    }
}

fn change(name: &str, own: CodeChange, reason: Option<&str>) -> FunctionAcross {
    let place = |address| Some(FunctionExtent { address, size: 93, line_offset: address % 64 });
    FunctionAcross {
        name: name.to_owned(),
        symbol: name.to_owned(),
        own,
        through: (own == CodeChange::Moved).then(|| "cold".to_owned()),
        reason: reason.map(str::to_owned),
        old: place(0x1190).filter(|_| own != CodeChange::OnlyNew),
        new: place(0x11c0).filter(|_| own != CodeChange::OnlyOld),
        old_lines: Vec::new(),
        new_lines: Vec::new(),
    }
}

/// One that shows every key.
pub fn page() -> LayoutPage {
    let mut cold = change("cold", CodeChange::Changed, None);
    cold.old_lines = vec!["src/cold.c:12".to_owned()];
    cold.new_lines = (12..20).map(|line| format!("src/cold.c:{line}")).collect();
    LayoutPage {
        schema: LAYOUT_SCHEMA.to_owned(),
        answer: "1 function changed, 7 did not (4 of them moved), 1 unknown; 1 new, 1 gone.".to_owned(),
        warnings: vec![
            "./new: 1 function could not be decoded to the end, for example `demo::decode`".to_owned(),
        ],
        host: Host {
            cpu: "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz".to_owned(),
            rule: Some(Rule {
                name: "Skylake".to_owned(),
                fetch_bytes: 16,
                window_bytes: 32,
                entry_operations: 6,
                jump_erratum: true,
                source: "Intel 248966, 3.4.2.5".to_owned(),
            }),
        },
        binaries: vec![Binary {
            path: "./new".to_owned(),
            text_bytes: 4312,
            padding_bytes: 96,
            functions_in_file: 11,
            without_rule: None,
            functions: vec![decode()],
            advice: vec![AlignmentAdvice {
                function: decode().name,
                pin_bytes: 48,
                reason: "an iteration of its 33-byte loop takes 1 to 2 lines over the offsets".to_owned(),
                pinned_ratio: Some(0.913),
            }],
        }],
        against: Some(FileChanges {
            old: "./old".to_owned(),
            new: "./new".to_owned(),
            old_text_bytes: 4200,
            new_text_bytes: 4312,
            old_padding_bytes: 100,
            new_padding_bytes: 96,
            counts: ChangeCounts {
                identical: 3,
                moved: 3,
                respaced: 1,
                changed: 1,
                only_old: 1,
                only_new: 1,
                unknown: 1,
                reaches_a_change: 2,
            },
            functions: vec![
                cold,
                change("calls_cold", CodeChange::Moved, None),
                change("other", CodeChange::Unknown, Some("at byte 3: no function symbol covers it")),
                change("fresh", CodeChange::OnlyNew, None),
                change("left", CodeChange::OnlyOld, None),
            ],
            without_lines: Some("./old has no line information; build with -g".to_owned()),
        }),
    }
}

/// One of a host that is not known, with nothing to compare it with.
pub fn plain() -> LayoutPage {
    let mut page = page();
    page.answer = "1 of 1 function has an innermost loop whose speed can depend on where it lies.".to_owned();
    page.host = Host { cpu: "some CPU".to_owned(), rule: None };
    page.against = None;
    page.warnings.clear();
    let binary = &mut page.binaries[0];
    binary.advice[0].pinned_ratio = None;
    let function = &mut binary.functions[0];
    function.undecodable = None;
    function.measured.clear();
    for at in &mut function.loops[0].at {
        (at.fetches, at.op_cache_windows, at.op_cache_entries, at.left_out) = (None, None, None, None);
    }
    page
}

/// One of a program for another instruction set.
pub fn foreign() -> LayoutPage {
    let mut page = plain();
    page.answer =
        "For code of AArch64 no rule of a front end is known, so nothing is said of where its loops lie."
            .to_owned();
    let binary = &mut page.binaries[0];
    binary.without_rule = Some("AArch64".to_owned());
    binary.advice.clear();
    let function = &mut binary.functions[0];
    function.border_branches.clear();
    function.loops[0].depends_on_place = false;
    function.loops[0].at.clear();
    page
}

/// The same function in two files: in the second its loop reaches into another line.
pub fn two_places() -> LayoutPage {
    let mut page = plain();
    let mut moved = page.binaries[0].clone();
    moved.path = "./moved".to_owned();
    let function = &mut moved.functions[0];
    (function.address, function.line_offset, function.window_offset) = (0x11b0, 48, 16);
    function.loops[0].at = vec![phase(0, 48, true), phase(16, 0, false)];
    page.binaries.push(moved);
    page.answer =
        "2 of 2 functions have an innermost loop whose speed can depend on where it lies.".to_owned();
    page
}
