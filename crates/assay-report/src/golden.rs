//! The views as golden texts in `tests/golden`; `ASSAY_UPDATE_GOLDEN=1 cargo test -p assay-report` writes them anew.

use unicode_width::UnicodeWidthStr;

use super::ink::Palette;
use super::page::{AsBuiltSays, Page, PageTwinControl, TwinVerdict, Verdict};
use super::{Detail, PlanPage, answer, compare, render, render_plan, sample};

fn folder() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

#[track_caller]
pub(super) fn assert_golden(name: &str, text: &str) {
    assert_golden_file(&folder().join(name), text);
}

/// A file that is written anew where it is asked for, and else compared.
#[track_caller]
pub(super) fn assert_golden_file(path: &std::path::Path, text: &str) {
    if std::env::var_os("ASSAY_UPDATE_GOLDEN").is_some() {
        std::fs::write(path, text).expect("the golden file can be written");
    }
    let golden = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(golden == text, "{} differs; now it is:\n{text}", path.display());
}

/// No line of a view is wider than asked, at any of these widths.
#[track_caller]
pub(super) fn assert_no_line_wider(widths: impl IntoIterator<Item = usize>, view: impl Fn(usize) -> String) {
    for width in widths {
        for line in view(width).lines() {
            assert!(line.width() <= width, "{width}: {line:?}");
        }
    }
}

/// As on a terminal, where bars stand beside figures.
pub(super) const BARS: Palette = Palette { colour: false, bars: true, links: None };

fn failing_twin() -> Page {
    let mut page = sample::page();
    let note = Some("The twin control failed: with both names swapped in half of the rotations a difference is left, +2.2 to +4.0 % of branch on log-uniform (gcc-12, O2), beyond the minimum effect of 1 %.".to_owned());
    page.twin_control = PageTwinControl {
        verdict: TwinVerdict::Different,
        ratio: Some(1.031),
        lower: Some(1.022),
        upper: Some(1.040),
        note,
    };
    page.answer = answer(&page);
    page
}

fn in_uses() -> Page {
    sample::in_uses(&[
        sample::contrast("bmi2", "p80", "gcc-12", Verdict::Faster, 0.68),
        sample::contrast("bmi2", "p80@latency", "gcc-12", Verdict::Slower, 1.3),
    ])
}

#[test]
fn the_page_at_80_columns_is_the_golden_text() {
    assert_golden("page-80.txt", &render(&sample::page(), 80, false, Detail::Brief));
}

#[test]
fn the_page_at_160_columns_is_the_golden_text() {
    assert_golden("page-160.txt", &render(&sample::page(), 160, false, Detail::Brief));
}

#[test]
fn the_full_page_at_120_columns_is_the_golden_text() {
    assert_golden("page-120-all.txt", &render(&sample::page(), 120, false, Detail::Full));
}

#[test]
fn what_runs_at_two_speeds_is_told_by_mode_where_all_is_asked_for() {
    let full = |width| render(&sample::modes(), width, false, Detail::Full);
    let of_modes = |text: &str| {
        let section = text.lines().skip_while(|line| *line != "Modes");
        let is_of_it = |(at, line): &(usize, &str)| *at == 0 || line.is_empty() || line.starts_with(' ');
        section.enumerate().take_while(is_of_it).map(|(_, line)| format!("{line}\n")).collect::<String>()
    };
    assert_golden("modes-120-all.txt", &of_modes(&full(120)));
    assert!(!render(&sample::modes(), 120, false, Detail::Brief).contains("\nModes"));
    let compared = compare::render_compare(&compare::sample::modes(), 120, false, Detail::Full);
    assert_golden("compare-modes-120-all.txt", &of_modes(&compared));
    assert_no_line_wider([60, 80, 120], full);
}

#[test]
fn bars_beside_the_verdicts_at_80_100_and_160_columns_are_the_golden_texts() {
    for width in [80, 100, 160] {
        let text = render(&sample::page(), width, BARS, Detail::Brief);
        // What stands below is the same as without them.
        let end = text.find("\nEvents per").expect("the page has counts");
        assert_golden(&format!("bars-{width}.txt"), &text[text.find("\nVerdicts").expect("verdicts")..end]);
    }
}

#[test]
fn bars_stand_where_somebody_looks_and_nowhere_else() {
    let page = sample::page();
    assert!(!render(&page, 160, true, Detail::Brief).contains('●'));
    assert!(render(&page, 160, BARS, Detail::Brief).contains('●'));
    assert!(!render(&page, 60, BARS, Detail::Brief).contains('●'), "no room");
}

#[test]
fn many_contrasts_at_80_columns_are_the_golden_text() {
    assert_golden("many-80.txt", &render(&sample::many(), 80, false, Detail::Brief));
}

#[test]
fn builds_side_by_side_at_80_columns_are_the_golden_text() {
    assert_golden("builds-80.txt", &render(&sample::builds(), 80, false, Detail::Brief));
}

#[test]
fn every_contrast_of_builds_at_120_columns_is_the_golden_text() {
    assert_golden("builds-120-all.txt", &render(&sample::builds(), 120, false, Detail::Full));
}

#[test]
fn one_input_in_every_use_at_80_columns_is_the_golden_text() {
    assert_golden("uses-80.txt", &render(&in_uses(), 80, false, Detail::Brief));
}

#[test]
fn a_failed_twin_control_at_80_columns_is_the_golden_text() {
    assert_golden("twin-80.txt", &render(&failing_twin(), 80, false, Detail::Brief));
}

#[test]
fn the_plan_is_the_golden_text() {
    assert_golden("plan-80.txt", &render_plan(&sample::plan(), 80, false));
}

#[test]
fn no_line_exceeds_the_width_in_any_view() {
    const WIDTHS: [usize; 7] = [40, 57, 80, 100, 121, 160, 220];
    for page in [sample::page(), sample::many(), failing_twin(), sample::nothing(), in_uses()] {
        for detail in [Detail::Brief, Detail::Full] {
            assert_no_line_wider(WIDTHS, |width| render(&page, width, false, detail));
            assert_no_line_wider(WIDTHS, |width| render(&page, width, BARS, detail));
        }
    }
    assert_no_line_wider(WIDTHS, |width| render_plan(&sample::plan(), width, false));
}

#[test]
fn colour_adds_escapes_only_where_asked() {
    let page = sample::page();
    assert!(!render(&page, 80, false, Detail::Full).contains('\x1b'));
    let coloured = render(&page, 80, true, Detail::Full);
    assert!(coloured.contains("\x1b[31mslower\x1b[0m") && coloured.contains("\x1b[32mfaster\x1b[0m"));
}

#[test]
fn the_answer_is_the_first_thing() {
    let page = sample::page();
    let text = render(&page, 1000, false, Detail::Brief);
    assert_eq!(text.lines().next(), Some(page.answer.as_str()));
}

#[test]
fn a_failed_twin_control_is_said_before_any_verdict() {
    let text = render(&failing_twin(), 80, false, Detail::Brief);
    assert!(text.starts_with("Not to be trusted: where there is no difference"), "{text}");
    let (warning, verdicts) = (text.find("The twin control failed"), text.find("\nVerdicts\n"));
    assert!(warning.is_some() && warning < verdicts, "{text}");
}

#[test]
fn the_twin_control_is_told_once_where_the_warnings_have_it_already() {
    let mut page = failing_twin();
    let told =
        |page: &Page| render(page, 300, false, Detail::Brief).matches("\n! The twin control failed").count();
    assert_eq!(told(&page), 1);
    page.warnings.insert(0, page.twin_control.note.clone().expect("the failing twin has a note"));
    assert_eq!(told(&page), 1);
    page.warnings.clear();
    page.twin_control.note = None;
    assert!(render(&page, 300, false, Detail::Brief).contains(
        "! The twin control failed: with both names swapped in half of the rotations +3.1 % ± 0.9 is left."
    ));
}

#[test]
fn a_page_survives_its_json() {
    for page in [sample::page(), sample::many(), sample::nothing()] {
        assert_eq!(Page::from_json(&page.to_json()).expect("its own JSON is read"), page);
    }
    let plan = sample::plan();
    let text = serde_json::to_string(&plan).expect("a plan has only string keys");
    assert_eq!(serde_json::from_str::<PlanPage>(&text).expect("its own JSON is read"), plan);
}

#[test]
fn a_page_of_another_schema_is_refused_by_name() {
    let text = sample::page().to_json().replace("assay.campaign/1", "assay.campaign/7");
    let error = Page::from_json(&text).expect_err("a newer page is not read").to_string();
    assert_eq!(error, "the page has schema \"assay.campaign/7\"; this assay reads \"assay.campaign/1\"");
    assert!(Page::from_json("{}").expect_err("no page").to_string().contains("schema"));
}

/// As `make demo` gives it: two variants on three inputs by two compilers, and no link that misleads.
fn demo() -> Page {
    let mut page = sample::page();
    page.contrasts.retain(|contrast| contrast.candidate == "bmi2");
    page.contrasts.iter_mut().for_each(|contrast| contrast.as_built_says = Some(AsBuiltSays::Confirmed));
    page.cells.retain(|cell| ["branch", "bmi2"].contains(&cell.variant.as_str()));
    page.cells.iter_mut().for_each(|cell| cell.limits.clear());
    (page.claims, page.failures) = (Vec::new(), Vec::new());
    page.gate = None;
    page
}

#[test]
fn the_demo_s_page_fits_two_screens() {
    let lines = |detail| render(&demo(), 120, false, detail).lines().count();
    assert!(lines(Detail::Brief) <= 60, "{}", render(&demo(), 120, false, Detail::Brief));
    assert!(lines(Detail::Full) > 90, "what is left out is in the full page");
}

#[test]
fn placements_are_listed_where_an_ordinary_link_misleads_and_summed_up_elsewhere() {
    assert!(render(&sample::page(), 120, false, Detail::Brief).contains("spread: slowest start"));
    let page = demo();
    let brief = render(&page, 120, false, Detail::Brief);
    let summed = brief.replace("\n  ", " ");
    assert!(!brief.contains("spread: slowest start"), "{brief}");
    assert!(summed.contains("cells by more than 1 %, most of all"), "{brief}");
    assert!(render(&page, 120, false, Detail::Full).contains("spread: slowest start"));
}
