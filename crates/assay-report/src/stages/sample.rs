//! Diaries that show everything a page can say.

use super::page::*;
use crate::page::{
    AsBuiltSays, Cause, CauseEvidence, Claim, ClaimStatus, CountSource, RatioInterval, Stopped, TwinVerdict,
    Verdict,
};

fn entrant(name: &str, kind: EntrantKind, after: Option<&str>, flags: &str, text: u64) -> PageEntrant {
    PageEntrant {
        name: name.into(),
        kind,
        after: after.map(Into::into),
        note: None,
        flags: Some(flags.into()),
        revision: None,
        artifact: Some(format!("{name}0123456789abcdef")),
        text_bytes: Some(text),
        placed: true,
        session: Some(4),
        failed: None,
    }
}

fn component(name: &str, branches: f64, calls: f64) -> ComponentWork {
    ComponentWork {
        name: name.into(),
        branches_per_unit: branches,
        instructions_per_unit: branches * 5.0,
        misses_per_unit: branches / 50.0,
        calls_per_unit: calls,
        branches_per_call: (calls > 0.0).then(|| branches / calls),
    }
}

fn memory(peak_bytes: u64) -> StageMemory {
    StageMemory { peak_bytes, least: peak_bytes - 4096, most: peak_bytes + 8192 }
}

/// Nanoseconds, branches and misses of 100,000 units.
fn cell(name: &str, ns: f64, branches: u64, misses: u64) -> StageCell {
    let per_unit = |count: u64| count as f64 / 1e5;
    StageCell {
        entrant: name.into(),
        command: Some(format!("/out/{name}/bench mixed 100000 256 42")),
        units: Some(1e5),
        time: Some(StageTime {
            ns_per_unit: ns,
            as_built: Some(ns * 1.03),
            best: ns * 0.97,
            worst: ns * 1.04,
            total_ns: ns * 1e5,
        }),
        memory: Some(memory(if name == "debug" { 96 << 20 } else { 64 << 20 })),
        counts: Some(EntrantCounts {
            source: CountSource::Traced,
            instructions: Some(branches * 6),
            branches: Some(branches),
            conditional: Some(branches * 7 / 10),
            misses: vec![
                EntrantMisses { predictor: "zen4".into(), misses },
                EntrantMisses { predictor: "skylake".into(), misses: misses * 6 / 5 },
            ],
            miss_rate: Some(misses as f64 / branches as f64),
            instructions_per_unit: Some(per_unit(branches * 6)),
            branches_per_unit: Some(per_unit(branches)),
            misses_per_unit: Some(per_unit(misses)),
            repeatable: Some(true),
            components: vec![
                component("allocation", per_unit(branches) * 0.6, 1.0),
                component("free", per_unit(branches) * 0.3, 1.0),
                component("other", per_unit(branches) * 0.1, 0.0),
                component("unattributed", 0.0, 0.0),
            ],
            notes: Vec::new(),
        }),
        failed: None,
    }
}

fn effect(ratio: f64, half: f64) -> RatioInterval {
    RatioInterval { ratio, lower: ratio - half, upper: ratio + half }
}

fn counts(own: &StageCell, other: &StageCell) -> Vec<CountStep> {
    let (Some(own), Some(other)) = (&own.counts, &other.counts) else { return Vec::new() };
    let step = |quantity: &str, before: Option<f64>, after: Option<f64>| {
        let (before, after) = (before?, after?);
        Some(CountStep { quantity: quantity.into(), before, after, ratio: Some(after / before) })
    };
    let all = [
        step("branches", other.branches_per_unit, own.branches_per_unit),
        step("misses", other.misses_per_unit, own.misses_per_unit),
        step("miss_rate", other.miss_rate, own.miss_rate),
        step("instructions", other.instructions_per_unit, own.instructions_per_unit),
    ];
    all.into_iter().flatten().collect()
}

fn step(
    role: &PageRole,
    stage: &str,
    baseline: &str,
    against: Against,
    brought: Brought,
    code: RatioInterval,
    as_built: f64,
) -> StageStep {
    let (verdict, says) = match brought {
        Brought::Faster => (Verdict::Faster, AsBuiltSays::Confirmed),
        Brought::Slower => (Verdict::Slower, AsBuiltSays::Confirmed),
        Brought::Open => (Verdict::Undecided, AsBuiltSays::Confirmed),
        Brought::Ghost => (Verdict::Equivalent, AsBuiltSays::Ghost),
        Brought::OnlyCounts | Brought::Nothing => (Verdict::Equivalent, AsBuiltSays::Confirmed),
    };
    let cell = |name: &str| role.cell(name).expect("it is in the sample");
    StageStep {
        stage: stage.into(),
        baseline: baseline.into(),
        against,
        role: role.name.clone(),
        brought,
        time: Some(TimeStep {
            as_built: Some(effect(as_built, 0.01)),
            code: Some(code),
            verdict,
            as_built_says: (brought != Brought::Open).then_some(says),
            causes: match brought {
                Brought::Ghost => vec![CauseEvidence {
                    cause: Cause::Placement,
                    share: Some(0.97),
                    evidence: "97 % of the difference as built is placement.".into(),
                }],
                _ => Vec::new(),
            },
            modes: None,
            reasons: vec![format!("The interval at 99.4 % is {:.3} to {:.3}.", code.lower, code.upper)],
            rotations: 8,
            minimum_detectable_effect: Some(0.012),
            session: 4,
        }),
        counts: counts(cell(stage), cell(baseline)),
        traps: Vec::new(),
    }
}

/// A role with every kind of cell, and one with two.
fn roles() -> (PageRole, PageRole) {
    let mut alloc = PageRole {
        name: "alloc".into(),
        note: Some("sizes of 16 to 1024 bytes".into()),
        cells: vec![
            cell("debug", 92.4, 8_100_000, 160_000),
            cell("release", 18.9, 1_900_000, 90_000),
            cell("hints", 18.87, 1_900_000, 90_000),
            cell("batch", 12.06, 900_000, 70_000),
            cell("glibc", 11.7, 1_010_000, 60_000),
        ],
        ranking: vec![
            Part { stage: "release".into(), time: Some(0.915), branches: Some(0.861), misses: Some(0.778) },
            Part { stage: "batch".into(), time: Some(0.085), branches: Some(0.139), misses: Some(0.222) },
            Part { stage: "hints".into(), time: Some(-0.0004), branches: Some(0.0), misses: Some(0.0) },
        ],
    };
    alloc.cells.push(StageCell {
        entrant: "broken".into(),
        command: None,
        units: None,
        time: None,
        memory: None,
        counts: None,
        failed: Some("the build ended with exit status 2".into()),
    });
    let mut free = PageRole { name: "free".into(), note: None, ..alloc.clone() };
    free.cells.truncate(2);
    free.ranking.truncate(1);
    (alloc, free)
}

/// Every word for what a step brought, against each kind of baseline.
fn steps(alloc: &PageRole, free: &PageRole) -> Vec<StageStep> {
    let mut steps = vec![
        step(alloc, "release", "debug", Against::Before, Brought::Faster, effect(0.2045, 0.003), 0.211),
        step(alloc, "hints", "release", Against::Before, Brought::Ghost, effect(0.998, 0.006), 0.942),
        step(alloc, "hints", "debug", Against::First, Brought::Faster, effect(0.2042, 0.003), 0.199),
        step(alloc, "batch", "hints", Against::Before, Brought::Faster, effect(0.639, 0.008), 0.66),
        step(alloc, "batch", "debug", Against::First, Brought::Faster, effect(0.1305, 0.002), 0.131),
        step(alloc, "debug", "glibc", Against::Reference, Brought::Slower, effect(7.9, 0.06), 8.01),
        step(alloc, "batch", "glibc", Against::Reference, Brought::Slower, effect(1.031, 0.007), 1.06),
        step(free, "release", "debug", Against::Before, Brought::Open, effect(0.985, 0.04), 0.97),
    ];
    steps[3].traps.push(
        "The miss rate rises, from 4.74 % to 7.78 %, though mispredictions fall, from 0.900 to 0.700 per operation: the \
         branches that went away were the well-predicted ones."
            .into(),
    );
    steps
}

fn claims() -> Vec<Claim> {
    vec![
        Claim {
            text: "47 % fewer branches by release mode".into(),
            status: ClaimStatus::Refuted,
            found: "branches 0.2346 times as many (release against debug, alloc), not 0.53".into(),
            source: Some("the first document".into()),
        },
        Claim {
            text: "hints bring 2 to 5 %".into(),
            status: ClaimStatus::Undecided,
            found:
                "the ratio of times is 0.998 (0.992 to 1.004), claimed 0.97 (hints against release, alloc)"
                    .into(),
            source: None,
        },
    ]
}

fn session() -> DiarySession {
    DiarySession {
        session: 4,
        started: "2026-11-21T07:34:05Z".into(),
        cpu: "AMD EPYC 9B14".into(),
        kernel: "6.2".into(),
        entrants: ["debug", "release", "hints", "batch", "glibc"].map(String::from).to_vec(),
        rounds: 6,
        rotations: 8,
        visits: 990,
        seconds: 214.0,
        spoilt: vec![SpoiltRuns {
            entrant: "debug".into(),
            reason: "alloc: ended with exit code 1".into(),
            visits: 1,
        }],
        twin_control: TwinVerdict::Equivalent,
        stopped_because: Stopped::Decided,
    }
}

/// Guards off, a ghost, larger packets as a trap, a stage that cannot be built; two roles and a reference.
pub fn diary() -> DiaryPage {
    let (alloc, free) = roles();
    let steps = steps(&alloc, &free);
    let mut page = DiaryPage {
        schema: STAGES_SCHEMA.into(),
        diary: "allocator".into(),
        question: "what did each step bring, and how far is the system's malloc?".into(),
        answer: String::new(),
        unit: "operation".into(),
        minimum_effect: 0.02,
        confidence: 0.95,
        predictor: Some("zen4".into()),
        entrants: vec![
            entrant("debug", EntrantKind::Stage, None, "-O0 -DGUARDS", 41_216),
            entrant("release", EntrantKind::Stage, Some("debug"), "-O2", 9_344),
            entrant("hints", EntrantKind::Stage, Some("release"), "-O2 -DHINTS", 9_344),
            entrant("batch", EntrantKind::Stage, Some("hints"), "-O2 -DBATCH", 9_872),
            entrant("broken", EntrantKind::Stage, Some("batch"), "-O2 -DBROKEN", 0),
            entrant("glibc", EntrantKind::Reference, None, "-O2 -DREFERENCE", 5_120),
        ],
        roles: vec![alloc, free],
        steps,
        claims: claims(),
        warnings: vec!["Changed since session 2: kernel 6.1 before, 6.2 now".into()],
        limits: vec![
            "how much of glibc's time comes from where it was linked: placement was not varied (nothing was linked for it \
             here), only the surroundings of its processes"
                .into(),
        ],
        sessions: vec![session()],
        ledger: Some(".assay/ledger.db".into()),
    };
    let earlier = DiarySession {
        session: 2,
        started: "2026-08-02T10:00:00Z".into(),
        kernel: "6.1".into(),
        spoilt: vec![],
        ..page.sessions[0].clone()
    };
    page.sessions.insert(0, earlier);
    page.entrants[0].note = Some("as the document found it".into());
    page.entrants[1].revision = Some("0123456789abcdef0123456789abcdef01234567".into());
    let broken = &mut page.entrants[4];
    (broken.failed, broken.session, broken.text_bytes) =
        (Some("the build ended with exit status 2\n  | batch.c:7: error: expected ';'".into()), None, None);
    page.answer = super::answer(&page);
    page
}

/// One stage so far.
pub fn one() -> DiaryPage {
    let mut page = diary();
    page.entrants.truncate(1);
    page.roles.truncate(1);
    page.roles[0].cells.truncate(1);
    page.roles[0].ranking.clear();
    page.steps.clear();
    page.claims.clear();
    (page.warnings, page.limits) = (vec![], vec![]);
    page.answer = super::answer(&page);
    page
}

/// One of whose steps runs at two speeds.
pub fn modes() -> DiaryPage {
    let mut page = diary();
    let timed = page.steps.iter_mut().find_map(|step| step.time.as_mut()).expect("a timed step");
    timed.modes = crate::sample::two_speeds().modes;
    page
}
