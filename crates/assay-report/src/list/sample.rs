//! A list with everything that one can show.

use super::brief::{Brief, Tone};
use super::page::{LIST_SCHEMA, ListPage, ListRow, ListState};
use crate::sample;
use assay_pure::ledger::{Kept, Stopped};

fn row(number: usize, kind: Kept, path: &str, name: &str, asked: &str, answer: Option<Brief>) -> ListRow {
    ListRow {
        path: path.into(),
        kind,
        name: name.into(),
        question: "Is it faster?".into(),
        asked: asked.into(),
        began: format!("2026-11-{:02}T08:00:00Z", 21 - number),
        age_seconds: 40.0 * 13.0_f64.powi(number as i32),
        seconds: Some(11.5 * (number + 1) as f64),
        state: ListState::Ended(Stopped::Decided),
        answer,
    }
}

pub fn list() -> ListPage {
    let brief = |text: &str, tone| Some(Brief { text: text.into(), tone, whole: format!("{text}.") });
    let of = |page: &crate::Page| Some(Brief::of_campaign(page));
    let mut killed = row(
        1,
        Kept::Campaign,
        "campaign/128",
        "varint",
        "2 variants against branch; 3 inputs, 2 compilers",
        None,
    );
    (killed.seconds, killed.state) = (None, ListState::UnderWayOrKilled);
    let mut interrupted = row(
        2,
        Kept::Campaign,
        "campaign/127",
        "a-name-that-is-longer-than-anybody-would-like",
        "b against a; 1 input",
        brief("b undecided, -1.3 % ± 2.1", Tone::Undecided),
    );
    interrupted.state = ListState::Ended(Stopped::Interrupted);
    let rows = vec![
        row(
            0,
            Kept::Campaign,
            "campaign/129",
            "sums",
            "b against a; 1 input",
            brief("b faster, -12.3 % ± 0.4", Tone::Faster),
        ),
        killed,
        interrupted,
        row(
            3,
            Kept::Sweep,
            "sweep/2",
            "working_set",
            "b against a; units, 64 to 1,048,576",
            brief("b wins above 4,096 units, a below", Tone::Mixed),
        ),
        row(
            4,
            Kept::Comparison,
            "comparison/7",
            "main / HEAD",
            "4 benchmarks",
            brief("HEAD slower in all 4, +5.1 to +9.0 %", Tone::Slower),
        ),
        row(
            5,
            Kept::Diary,
            "diary/1",
            "queue",
            "4 stages",
            brief("of 3 steps: 2 faster, 1 undecided", Tone::Faster),
        ),
        row(
            6,
            Kept::Campaign,
            "campaign/12",
            "varint",
            "3 variants against branch; 3 inputs, 2 compilers",
            of(&sample::page()),
        ),
        row(
            7,
            Kept::Campaign,
            "campaign/11",
            "varint",
            "3 variants against branch; 3 inputs, 2 compilers",
            of(&sample::misleading()),
        ),
        row(8, Kept::Campaign, "campaign/10", "varint", "b against a; 1 input", of(&sample::nothing())),
    ];
    ListPage {
        schema: LIST_SCHEMA.into(),
        ledger: ".assay/ledger.db".into(),
        made: "2026-11-21T08:00:40Z".into(),
        total: 42,
        rows,
    }
}
