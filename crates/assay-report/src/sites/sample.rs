//! Pages that show every key, for tests of the schema and of the terminal.

use super::components::*;
use super::page::*;

fn missed(counts: [u64; 2]) -> Vec<SiteMisses> {
    ["gshare", "tage"]
        .iter()
        .zip(counts)
        .map(|(name, count)| SiteMisses { predictor: (*name).to_owned(), count })
        .collect()
}

fn site(rank: u64, function: &str, line: u32, counts: [u64; 4]) -> Site {
    let [executed, taken, low, high] = counts;
    let cost = (low + high) as f64 / 2.0;
    Site {
        rank,
        function: Some(function.to_owned()),
        file: Some("/src/branchy.c".to_owned()),
        line: Some(line),
        column: Some(13),
        inlined_into: Vec::new(),
        module: Some("/src/branchy".to_owned()),
        address: format!("{:#x}", 0x1200 + 16 * rank),
        process: None,
        class: "conditional jump".to_owned(),
        instruction: Some("jne 0x11a0 <decode_all+0x20>".to_owned()),
        executed,
        taken,
        mispredictions: missed([high, low]),
        cost,
        rate: cost / executed as f64,
        share: Some(cost / 20_000_000.0),
        running: None,
        floor: Some(FloorMisses {
            constant: taken,
            history_8: Some(taken / 2),
            best: Some(taken as f64 * 0.75),
        }),
        source: Vec::new(),
        code: Vec::new(),
    }
}

fn hint(verdict: HintVerdict, origin: HintOrigin, text: &str, counts: [u64; 3]) -> JudgedHint {
    let [likely, unlikely, unknown] = counts;
    let is_wrong = verdict == HintVerdict::Wrong;
    JudgedHint {
        verdict,
        reason: (verdict == HintVerdict::Unclear)
            .then(|| "the condition holds more than the hint".to_owned()),
        origin,
        text: text.to_owned(),
        file: Some("/src/branchy.c".to_owned()),
        line: Some(12),
        function: Some("decode_all".to_owned()),
        likely,
        unlikely,
        unknown,
        taken: unlikely,
        mispredictions: missed([unlikely / 10, unlikely / 20]),
        cycles: is_wrong.then_some(Cycles { low: unlikely as f64, high: 4.0 * unlikely as f64 }),
        remedy: is_wrong
            .then(|| "the side marked unlikely runs 98 % of the time: invert the hint".to_owned()),
        branches: vec!["0x1210".to_owned()],
    }
}

/// The worst branches, with something under every key of one.
fn sites() -> Vec<Site> {
    let mut sites = vec![
        site(1, "decode_all", 9, [51_200_000, 11_400_000, 11_000_000, 12_100_000]),
        site(2, "msort_with_tmp.part.0", 88, [22_000_000, 10_900_000, 5_000_000, 6_200_000]),
        site(
            3,
            "std::vector<int, std::allocator<int> >::push_back(int&&)",
            1204,
            [9_000_000, 20_000, 11_000, 12_000],
        ),
        site(4, "main", 20, [1_000, 20, 1, 2]),
    ];
    sites[0].running = Some(0.58);
    sites[0].source = vec![
        SourceLine { line: 8, text: "  while (p < n) {".to_owned(), here: false },
        SourceLine { line: 9, text: "    if (!(b & 0x80)) break;".to_owned(), here: true },
    ];
    sites[0].code = vec![
        CodeLine { address: "0x120e".to_owned(), text: "test al, al".to_owned(), here: false, target: false },
        CodeLine {
            address: "0x1210".to_owned(),
            text: "jne 0x11a0 <decode_all+0x20>".to_owned(),
            here: true,
            target: false,
        },
        CodeLine { address: "0x1212".to_owned(), text: "ret".to_owned(), here: false, target: true },
    ];
    sites[0].inlined_into = vec![Frame {
        function: Some("main".to_owned()),
        file: Some("/src/branchy.c".to_owned()),
        line: Some(20),
        column: Some(5),
    }];
    sites[1].running = Some(0.86);
    sites[1].floor = Some(FloorMisses { constant: 5_000_000, history_8: None, best: None });
    sites[2].process = Some(4711);
    sites[3].mispredictions = Vec::new();
    sites[3].floor = None;
    sites[3].class = "call".to_owned();
    sites
}

/// Every verdict and every origin of a hint.
fn hints() -> Hints {
    Hints {
        right: 1,
        wrong: 2,
        unclear: 1,
        not_executed: 1,
        fewest: 100,
        list: vec![
            hint(
                HintVerdict::Wrong,
                HintOrigin::Source,
                "__builtin_expect(x < 8, 1)",
                [2_000_000, 98_000_000, 0],
            ),
            hint(
                HintVerdict::Wrong,
                HintOrigin::ColdCall,
                "calls complain, which is marked cold",
                [20, 980, 0],
            ),
            hint(HintVerdict::Unclear, HintOrigin::Source, "likely(x) && y", [0, 0, 1000]),
            hint(
                HintVerdict::Right,
                HintOrigin::ColdPart,
                "the compiler put it out of line, into f.cold",
                [1000, 2, 0],
            ),
            hint(HintVerdict::NotExecuted, HintOrigin::Source, "[[unlikely]] return;", [0, 0, 0]),
        ],
    }
}

/// A page with something under every key.
pub fn page() -> SitesPage {
    SitesPage {
        schema: SITES_SCHEMA.to_owned(),
        answer: "The worst of 1,204 sites causes 58 % of the mispredictions: decode_all at branchy.c:9; 76 % of them cannot be predicted from its own history."
            .to_owned(),
        command: vec!["./branchy".to_owned(), "2000".to_owned()],
        emulator: "7.2.22".to_owned(),
        warnings: vec!["/lib/libc.so.6 (28 % of mispredictions) has no debug information.".to_owned()],
        predictors: ["gshare", "tage"]
            .iter()
            .map(|name| Predictor {
                name: (*name).to_owned(),
                what: "tables of counters".to_owned(),
                definition: "0123456789abcdef".to_owned(),
            })
            .collect(),
        sorted_by: SiteOrder::Mispredictions,
        function: Some("*".to_owned()),
        totals: Totals {
            instructions: 1_200_000_000,
            branches: 256_000_000,
            conditional: 230_000_000,
            taken: 120_000_000,
            sites: 1204,
            mispredictions: missed([21_000_000, 19_000_000]),
            cost: 20_000_000.0,
            without_floor: 1,
        },
        processes: vec![SitesProcess {
            pid: 4711,
            parent: Some(4710),
            program: "/src/branchy".to_owned(),
            threads: 1,
            ended: "exit 0".to_owned(),
        }],
        modules: vec![Module {
            path: "/src/branchy".to_owned(),
            build_id: Some("ab01".to_owned()),
            lines: LineSourceKind::Separate,
            lines_note: Some("/usr/lib/debug/branchy.debug".to_owned()),
            executed: 200_000_000,
            share: Some(0.72),
        }],
        sites: sites(),
        left_out: LeftOut { sites: 1200, executed: 170_000_000, share: Some(0.14) },
        hints: Some(hints()),
        components: Some(components()),
    }
}

fn figures(branches: u64, called: Option<u64>, function: &str) -> Figures {
    let per = |count: u64, of: u64| count as f64 / of as f64;
    Figures {
        branches,
        conditional: branches / 2,
        jumps: branches / 8,
        calls: branches / 8,
        indirect_jumps: 0,
        indirect_calls: branches / 8,
        returns: branches / 8,
        instructions: branches * 5,
        mispredictions: missed([branches / 100, branches / 200]),
        share: per(branches, 256_000_000),
        called,
        branches_per_unit: Some(per(branches, 10_000_000)),
        branches_per_call: called.map(|called| per(branches, called)),
        instructions_per_unit: Some(per(branches * 5, 10_000_000)),
        functions: vec![FunctionShare {
            name: function.to_owned(),
            branches: branches / 4 * 3,
            instructions: branches * 4,
        }],
    }
}

/// A budget with something under every key.
fn components() -> ComponentBreakdown {
    let row = |name: &str, kind, own: Option<Figures>, reference: Option<Figures>| ComponentRow {
        name: name.to_owned(),
        kind,
        ratio: own
            .as_ref()
            .zip(reference.as_ref())
            .map(|(own, reference)| own.branches as f64 / reference.branches as f64),
        own,
        reference,
    };
    let own = |branches, called, function: &str| Some(figures(branches, called, function));
    ComponentBreakdown {
        units: Some(10_000_000),
        reference: Some(ReferenceProgram {
            command: vec!["./system".to_owned(), "2000".to_owned()],
            units: Some(10_000_000),
        }),
        rows: vec![
            row(
                "allocation",
                RowKind::Component,
                own(160_000_000, Some(10_000_000), "tiny_alloc"),
                own(20_000_000, Some(10_000_000), "malloc"),
            ),
            row("refill", RowKind::Component, own(8_000_000, None, "tiny_refill"), None),
            row("other", RowKind::Other, own(80_000_000, None, "main"), own(60_000_000, None, "main")),
            row(
                "unattributed",
                RowKind::Unattributed,
                own(8_000_000, None, "libc.so.6 (no symbol)"),
                own(4_000_000, None, "libc.so.6 (no symbol)"),
            ),
        ],
        total: row("total", RowKind::Total, own(256_000_000, None, "all"), own(84_000_000, None, "all")),
        idle: vec!["refill=tiny_refil".to_owned()],
    }
}

/// A page of a command in which nothing branched.
pub fn nothing() -> SitesPage {
    SitesPage {
        answer: "No branch was executed.".to_owned(),
        warnings: Vec::new(),
        predictors: Vec::new(),
        function: None,
        totals: Totals {
            instructions: 0,
            branches: 0,
            conditional: 0,
            taken: 0,
            sites: 0,
            mispredictions: Vec::new(),
            cost: 0.0,
            without_floor: 0,
        },
        modules: Vec::new(),
        sites: Vec::new(),
        left_out: LeftOut::default(),
        hints: None,
        components: None,
        ..page()
    }
}
