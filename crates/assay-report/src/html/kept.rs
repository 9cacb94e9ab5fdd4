//! The data of the pages whose pictures are kept: `scripts/page/kept`, a file for each kind of page, which `scripts/page/test.cjs`
//! draws and compares with the PNG files beside them. Invented, so that nothing but a change of ours changes the pictures.
//! `ASSAY_UPDATE_GOLDEN=1 cargo test -p assay-report` writes the data anew, `scripts/page/test.sh --renew` the pictures.

use super::{AllStrips, Shown, StripsOf};
use crate::golden::assert_golden_file;
use crate::page::Page;
use crate::sweep::page::CacheSize;
use crate::{answer, compare, history, limits, sample, sites, stages, sweep};
use serde::Serialize;
use std::path::Path;

fn alone(page: &impl Serialize) -> Shown {
    Shown::alone(serde_json::to_value(page).expect("a page has only string keys"))
}

/// A cloud of samples around each cell's median: the golden ratio's multiples are spread evenly, and give every machine the same.
fn strips(page: &Page) -> AllStrips {
    const EACH: u32 = 24;
    let names = |at: usize| {
        let cell = &page.cells[at];
        vec![cell.variant.clone(), cell.input.clone(), cell.compiler.clone(), cell.flags.clone()]
    };
    let mut all = Vec::new();
    for (cell, found) in page.cells.iter().enumerate() {
        let Some(median) = found.ns_per_unit.as_ref() else { continue };
        for rotation in 0..3_u32 {
            let sample = |at: u32| {
                let share = (f64::from(at + 7 * rotation) * 0.618_033_988_749_895).fract();
                (median.median * (0.97 + 0.02 * f64::from(rotation) + 0.03 * share * share), at / 8, at == 5)
            };
            let samples = (0..EACH).map(sample).collect();
            all.push(StripsOf { cell, rotation: Some(rotation), offset: u64::from(rotation) * 16, samples });
        }
    }
    let cells = (0..page.cells.len()).map(names).collect();
    AllStrips::new(&["variant", "input", "compiler", "flags"], cells, "ns", Some(&page.unit), all)
}

fn campaign() -> Shown {
    let page = sample::page();
    let cache = |name: &str, bytes| CacheSize { name: name.to_owned(), bytes };
    Shown {
        next: answer::next(&page),
        samples: Some(strips(&page).thinned()),
        command: Some("assay run casebook/varint/experiment.toml".to_owned()),
        caches: vec![cache("L1d", 32_768), cache("L2", 524_288)],
        version: Some("0.1.0".to_owned()),
        ..alone(&page)
    }
}

fn pages() -> [(&'static str, Shown); 8] {
    let (two, diary, size) = (compare::sample::two(), stages::sample::diary(), sweep::sample::size());
    let (past, kinds) = (history::sample::history(), history::sample::many_machines());
    [
        ("campaign", campaign()),
        ("comparison", Shown { next: compare::next(&two), ..alone(&two) }),
        ("sweep", Shown { next: sweep::next(&size), caches: size.machine.caches.clone(), ..alone(&size) }),
        ("diary", Shown { next: stages::next(&diary), ..alone(&diary) }),
        ("history", Shown { next: past.next.clone(), ..alone(&past) }),
        ("machines", Shown { next: kinds.next.clone(), ..alone(&kinds) }),
        ("limits", alone(&limits::sample::limits())),
        ("sites", alone(&sites::sample::page())),
    ]
}

#[test]
fn the_pages_whose_pictures_are_kept_have_today_s_data() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/page/kept");
    for (name, shown) in pages() {
        let text = serde_json::to_string_pretty(&shown).expect("a page has only string keys") + "\n";
        assert_golden_file(&folder.join(format!("{name}.json")), &text);
    }
}
