//! The terminal's text and the schema, compared with the page.

use super::page::LAYOUT_SCHEMA;
use super::{render_layout, sample};
use crate::golden::assert_no_line_wider;
use crate::schema::assert_published;

#[test]
fn no_line_is_wider_than_asked() {
    for page in [sample::page(), sample::plain(), sample::foreign()] {
        assert_no_line_wider(40..200, |width| render_layout(&page, width, false, 20));
    }
}

/// A text without its line ends.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_host_that_is_not_known_gets_the_facts_of_addresses_alone() {
    let text = unwrapped(&render_layout(&sample::plain(), 80, false, 20));
    assert!(text.contains("some CPU: how it fetches code is unknown"), "{text}");
    assert!(!text.contains("op cache "), "{text}");
    assert!(text.contains("head @64"), "{text}");
}

#[test]
fn code_of_another_instruction_set_gets_no_rule_of_this_host() {
    let text = render_layout(&sample::foreign(), 100, false, 20);
    assert!(text.starts_with("For code of AArch64 no rule of a front end is known"), "{text}");
    for rule in ["window", "border", "@32", "op cache", "some CPU", "loop at +"] {
        assert!(!text.contains(rule), "{rule}: {text}");
    }
    let own = render_layout(&sample::plain(), 100, false, 20);
    assert!(own.contains("windows") && own.contains("borders") && own.contains("@32"), "{own}");
}

#[test]
fn what_a_function_costs_to_pin_and_what_it_brings_stand_together() {
    let text = unwrapped(&render_layout(&sample::page(), 160, false, 20));
    let advice = text.split("aligned(64) adds 48 bytes").nth(1).expect("advice");
    let own = advice.split("aligned(64)").next().unwrap_or_default();
    assert!(own.contains("-8.7 %"), "{own}");
}

#[test]
fn changes_beyond_the_top_are_counted() {
    let text = render_layout(&sample::page(), 80, false, 1);
    assert!(text.contains("and 3 functions; --top N shows more"), "{text}");
    assert!(text.contains("src/cold.c:17 and 2 more"), "{text}");
    assert!(!text.contains("calls_cold"), "what only moved is counted: {text}");
}

#[test]
fn the_schema_is_that_of_the_page_and_the_rich_samples_show_every_key() {
    assert_published(LAYOUT_SCHEMA, &[sample::page(), sample::foreign()], &[sample::plain()]);
}
