//! The terminal's text and the schema, compared with the limits.

use super::{Told, render_limits, sample};
use crate::golden::{assert_golden, assert_no_line_wider};
use crate::schema::assert_published;
use assay_pure::limits::SCHEMA;

fn told() -> Told {
    Told { file: "/state/assay/limits/amd-epyc-0123456789ab.json".to_owned(), ..Told::default() }
}

fn kept() -> Told {
    Told {
        age_seconds: Some(3.4 * 86_400.0),
        changes: vec!["kernel: 6.1 then, 6.12 now".to_owned()],
        ..told()
    }
}

#[test]
fn no_line_is_wider_than_asked() {
    for limits in [sample::limits(), sample::little()] {
        for all in [false, true] {
            assert_no_line_wider(40..200, |width| render_limits(&limits, &kept(), width, false, all));
        }
    }
}

#[test]
fn the_page_is_the_golden_text_at_80_and_160_columns() {
    let limits = sample::limits();
    assert_golden("limits-80.txt", &render_limits(&limits, &told(), 80, false, false));
    assert_golden("limits-160.txt", &render_limits(&limits, &kept(), 160, false, false));
    assert_golden("limits-120-all.txt", &render_limits(&limits, &told(), 120, false, true));
    assert_golden("limits-little-80.txt", &render_limits(&sample::little(), &kept(), 80, false, false));
}

#[test]
fn the_answer_is_first_and_the_age_and_the_changes_are_told() {
    let text = render_limits(&sample::limits(), &kept(), 100, false, false);
    assert!(
        text.starts_with("AMD EPYC, one core: 3.68 GHz, 6.0 instructions per cycle at best; reads"),
        "{text}"
    );
    assert!(text.contains("! The machine has changed since (kernel: 6.1 then, 6.12 now)"), "{text}");
    assert!(text.contains("measured  3 days ago, in 31 s, on core 1"), "{text}");
    assert!(!render_limits(&sample::limits(), &told(), 100, false, false).contains("has changed"));
}

#[test]
fn the_schema_is_that_of_the_page_and_the_rich_samples_show_every_key() {
    assert_published(SCHEMA, &[sample::limits()], &[sample::little()]);
}
