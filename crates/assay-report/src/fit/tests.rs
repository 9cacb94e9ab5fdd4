//! The terminal's text and the schema, compared with the page.

use super::page::FIT_SCHEMA;
use super::{render_fit, sample};
use crate::golden::{assert_golden, assert_no_line_wider};
use crate::schema::assert_published;

#[test]
fn no_line_is_wider_than_asked() {
    for page in [sample::page(), sample::refused(), sample::close(), sample::numbers()] {
        assert_no_line_wider(40..200, |width| render_fit(&page, width, false));
    }
}

#[test]
fn the_page_is_the_golden_text_at_80_and_160_columns() {
    assert_golden("fit-80.txt", &render_fit(&sample::page(), 80, false));
    assert_golden("fit-160.txt", &render_fit(&sample::page(), 160, false));
    assert_golden("fit-refused-80.txt", &render_fit(&sample::refused(), 80, false));
    assert_golden("fit-close-80.txt", &render_fit(&sample::close(), 80, false));
}

#[test]
fn the_answer_is_first_reasons_have_remedies_and_the_table_is_last() {
    let text = render_fit(&sample::page(), 100, false);
    assert!(text.starts_with("Refused: the time of table (gcc-12, O2) differs"), "{text}");
    assert!(text.contains("refused  the time of table") && text.contains("      -> the order"), "{text}");
    assert!(text.ends_with("to paste into an experiment file, is in postings.toml.\n"), "{text}");
    let text = render_fit(&sample::close(), 100, false);
    assert!(text.ends_with("experiment file:\n\n[inputs.postings]\ngenerator = \"markov\"\n"), "{text}");
}

#[test]
fn the_schema_is_that_of_the_page_and_the_rich_samples_show_every_key() {
    assert_published(FIT_SCHEMA, &[sample::page(), sample::numbers()], &[sample::refused(), sample::close()]);
}

#[test]
fn numbers_have_their_statistics_and_branches_side_by_side() {
    let text = render_fit(&sample::numbers(), 100, false);
    for part in [
        "u32, guessed from the ending .u32; --format changes it",
        "the generator runs",
        "mean ascending run",
        "A branch on whether a number is below the one before it, simulated, per unit",
        "misses skylake",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let row = text.lines().find(|line| line.trim_start().starts_with("mean ascending run")).expect("a row");
    assert!(row.contains("31.4") && row.contains("25.0") && row.trim_end().ends_with("different"), "{row}");
}
