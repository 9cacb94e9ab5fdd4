use super::brief::{Brief, Tone};
use super::page::LIST_SCHEMA;
use super::sample::list;
use super::terminal::render;
use crate::golden::{assert_golden, assert_no_line_wider};
use crate::page::Verdict;
use crate::sample;
use crate::schema::assert_published;

#[test]
fn the_list_at_80_columns_is_the_golden_text() {
    assert_golden("list-80.txt", &render(&list(), 80, false));
}

#[test]
fn the_list_at_160_columns_is_the_golden_text() {
    assert_golden("list-160.txt", &render(&list(), 160, false));
}

#[test]
fn no_line_of_the_list_is_too_wide_however_long_the_names_are() {
    assert_no_line_wider([40, 57, 80, 100, 120, 160, 200], |width| render(&list(), width, false));
}

#[test]
fn an_empty_list_says_so() {
    let mut page = list();
    page.rows.clear();
    assert_eq!(render(&page, 80, false), "Nothing in .assay/ledger.db matches.\n");
}

#[test]
fn the_list_s_schema_is_that_of_its_page() {
    assert_published(LIST_SCHEMA, &[list()], &[]);
}

#[test]
fn a_few_words_tell_one_contrast_with_its_interval_and_several_by_their_number() {
    let mut page = sample::page();
    page.findings.clear();
    page.contrasts.truncate(1);
    page.contrasts[0].verdict = Verdict::Slower;
    let one = Brief::of_campaign(&page);
    assert_eq!((one.text.as_str(), one.tone), ("table slower, +21.2 % ± 0.5", Tone::Slower));
    let page = sample::in_uses(&[
        sample::contrast("bmi2", "p80", "gcc-12", Verdict::Faster, 0.68),
        sample::contrast("bmi2", "p80@latency", "gcc-12", Verdict::Slower, 1.3),
    ]);
    let mixed = Brief::of_campaign(&page);
    assert_eq!(mixed.tone, Tone::Mixed);
    assert!(mixed.text.starts_with("bmi2: 1 faster, 1 slower; most: on p80, -32.0 %"), "{}", mixed.text);
    let page = sample::in_uses(&[
        sample::contrast("bmi2", "p80", "gcc-12", Verdict::Faster, 0.68),
        sample::contrast("bmi2", "p90", "gcc-12", Verdict::Faster, 0.5),
    ]);
    assert_eq!(Brief::of_campaign(&page).text, "bmi2 faster in all 2, -50.0 to -32.0 %");
}

#[test]
fn what_cannot_be_believed_is_told_ahead_of_any_size() {
    let misleading = Brief::of_campaign(&sample::misleading());
    assert_eq!(misleading.tone, Tone::Misleading);
    assert!(misleading.text.starts_with("misleading: dead-code in table"), "{}", misleading.text);
}

#[test]
fn comparisons_sweeps_and_diaries_have_few_words_too() {
    let compared = Brief::of_comparison(&crate::compare::sample::two());
    assert!(compared.text.contains("faster") && compared.text.contains("most: "), "{}", compared.text);
    let swept = Brief::of_sweep(&crate::sweep::sample::share());
    assert_ne!(swept.tone, Tone::Nothing, "{}", swept.text);
    let diary = Brief::of_diary(&crate::stages::sample::diary());
    assert!(diary.text.starts_with("of "), "{}", diary.text);
}
