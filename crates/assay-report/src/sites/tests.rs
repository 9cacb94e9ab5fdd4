//! The terminal's text and the schema, compared with the page.

use super::page::{SITES_SCHEMA, SiteOrder};
use super::{render_sites, sample};
use crate::golden::{assert_golden, assert_no_line_wider};
use crate::ink::Palette;
use crate::link::LinkForm;
use crate::schema::assert_published;

#[test]
fn no_line_is_wider_than_asked() {
    for page in [sample::page(), sample::nothing()] {
        assert_no_line_wider(40..200, |width| render_sites(&page, width, false));
    }
}

#[test]
fn links_lead_to_source_lines_and_take_no_column() {
    let form = LinkForm::read("default", "box").expect("a good format").expect("a format");
    let links = Palette { links: Some(Box::leak(Box::new(form))), ..Palette::default() };
    let linked = render_sites(&sample::page(), 80, links);
    assert!(
        linked.contains("\x1b]8;;file://box/src/branchy.c#9\x1b\\branchy.c:9\x1b]8;;\x1b\\  "),
        "{linked}"
    );
    assert!(linked.contains("\x1b]8;;file://box/src/branchy.c#9\x1b\\1 decode_all, /src/branchy.c:9\x1b]8"));
    let mut plain = linked;
    while let Some(start) = plain.find("\x1b]8;;") {
        let end = start + plain[start..].find("\x1b\\").expect("it ends") + 2;
        plain.replace_range(start..end, "");
    }
    assert_eq!(plain, render_sites(&sample::page(), 80, false));
}

#[test]
fn the_page_at_80_columns_is_the_golden_text() {
    assert_golden("sites-80.txt", &render_sites(&sample::page(), 80, false));
}

#[test]
fn the_page_at_160_columns_is_the_golden_text() {
    assert_golden("sites-160.txt", &render_sites(&sample::page(), 160, false));
}

#[test]
fn a_page_without_a_branch_is_the_golden_text() {
    assert_golden("sites-nothing-80.txt", &render_sites(&sample::nothing(), 80, false));
}

#[test]
fn the_answer_is_the_first_line_and_each_site_takes_one() {
    for width in [80, 160] {
        let text = render_sites(&sample::page(), width, false);
        assert!(text.starts_with("The worst of 1,204 sites causes 58 %"), "{text}");
        let of_table = |name: &str| text.lines().filter(|line| line.contains(name)).count();
        assert_eq!(of_table("branchy.c:88 "), 1, "{text}");
    }
}

#[test]
fn wide_terminals_show_the_instruction_and_each_predictor() {
    let narrow = render_sites(&sample::page(), 80, false);
    let wide = render_sites(&sample::page(), 160, false);
    assert!(
        !narrow.contains("jne 0x11a0 <decode_all+0x…") && wide.contains("jne 0x11a0 <decode_all"),
        "{wide}"
    );
    let heads = |text: &str| {
        text.lines().find(|line| line.contains("executed") && line.contains('#')).map(str::to_owned)
    };
    assert!(!heads(&narrow).expect("a head").contains("tage"));
    assert!(heads(&wide).expect("a head").contains("tage"));
}

#[test]
fn colour_changes_no_text() {
    let plain = render_sites(&sample::page(), 100, false);
    let mut coloured = render_sites(&sample::page(), 100, true);
    while let Some(start) = coloured.find("\x1b[") {
        let end = coloured[start..].find('m').expect("an end") + start;
        coloured.replace_range(start..=end, "");
    }
    let trimmed = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(trimmed(&plain), trimmed(&coloured));
}

#[test]
fn the_schema_is_that_of_the_page_and_the_rich_samples_show_every_key() {
    assert_published(SITES_SCHEMA, &[sample::page()], &[sample::nothing()]);
}

#[test]
fn an_order_is_named_as_in_the_json() {
    assert!(SiteOrder::ALL.iter().all(|order| serde_json::json!(order) == order.name()));
}
