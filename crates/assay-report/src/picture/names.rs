//! Names that are shown together, shortened to their room so that they stay apart.
//!
//! Method: a name that is too wide loses its middle, since names of one family differ at either end (`decode_branchless_v1`,
//! `at 16`). Which part is lost is chosen for all of them together: the first way in [`WAYS`] that leaves them distinct, then
//! without the beginning that they share, and where nothing does, with a number behind. A trap taught it: three variants were
//! all `decode_bra…`, and no row could be told from another.

use super::font::Font;
use std::collections::{BTreeMap, BTreeSet};

/// The part of the room that a name's beginning gets, the preferred one first.
const WAYS: [f64; 5] = [0.5, 0.25, 0.75, 0.0, 1.0];

/// What is shown of each name.
pub struct ShortNames(BTreeMap<String, String>);

impl ShortNames {
    /// Of all that are shown together, each no wider than `room`.
    pub fn of<'a>(font: Font, names: impl IntoIterator<Item = &'a str>, room: f64) -> ShortNames {
        let names: BTreeSet<&str> = names.into_iter().collect();
        let wide: Vec<&str> = names.iter().copied().filter(|name| font.width(name) > room).collect();
        let shortened = |short: &dyn Fn(&str) -> String| -> Vec<String> {
            let of = |name: &&str| if wide.contains(name) { short(name) } else { (*name).to_owned() };
            names.iter().map(of).collect()
        };
        let shared = shared_beginning(&wide);
        let without = |name: &str| format!("…{}", &name[shared..]);
        let whole = WAYS.into_iter().map(|way| shortened(&|name| font.cut_within(name, room, way)));
        let rest = WAYS.into_iter().map(|way| shortened(&|name| font.cut_within(&without(name), room, way)));
        let found = whole.chain(rest).find(|found| is_distinct(found));
        let found = found.unwrap_or_else(|| {
            let of = |(at, name): (usize, &&str)| {
                let number = format!(" ({})", at + 1);
                font.cut_within(name, room - font.width(&number), 1.0) + &number
            };
            names.iter().enumerate().map(of).collect()
        });
        ShortNames(names.into_iter().map(str::to_owned).zip(found).collect())
    }

    /// One of them as it is shown.
    pub fn get<'a>(&'a self, name: &'a str) -> &'a str {
        self.0.get(name).map_or(name, String::as_str)
    }
}

fn is_distinct(names: &[String]) -> bool {
    names.iter().collect::<BTreeSet<_>>().len() == names.len()
}

/// Bytes that all begin with, whole characters; of one name none.
fn shared_beginning(names: &[&str]) -> usize {
    let [first, others @ ..] = names else { return 0 };
    if others.is_empty() {
        return 0;
    }
    let is_shared = |(at, c): &(usize, char)| {
        others.iter().all(|other| other.get(*at..).is_some_and(|rest| rest.starts_with(*c)))
    };
    first.char_indices().take_while(is_shared).map(|(at, c)| at + c.len_utf8()).last().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FONT: Font = Font::plain(12.5);

    fn shown(names: &[&str], room: f64) -> Vec<String> {
        let short = ShortNames::of(FONT, names.iter().copied(), room);
        names.iter().map(|name| short.get(name).to_owned()).collect()
    }

    #[test]
    fn names_that_differ_at_their_end_stay_apart() {
        let names = ["decode_branchless_v1", "decode_branchless_v2", "decode_branchless_v3", "twin"];
        assert_eq!(shown(&names, 84.0), ["deco…ss_v1", "deco…ss_v2", "deco…ss_v3", "twin"]);
        assert_eq!(shown(&names, 400.0), names);
        let uses = ["log_uniform_10k at 16", "log_uniform_10k at 64", "log_uniform_512 at 16"];
        assert!(shown(&uses, 110.0).iter().all(|name| name.ends_with("at 16") || name.ends_with("at 64")));
    }

    #[test]
    fn whatever_they_differ_in_each_has_its_own_and_none_is_wider_than_its_room() {
        let long = |middle: &str| format!("the_very_same_long_beginning_{middle}_and_the_same_long_end");
        let middle: Vec<String> = ["one", "two", "three"].map(long).to_vec();
        let many: Vec<String> =
            (0..40).map(|at| format!("{}{at}{}", "a".repeat(60), "z".repeat(60))).collect();
        let wide: Vec<String> =
            ["中文字中文字中文字中文一", "中文字中文字中文字中文二"].map(str::to_owned).to_vec();
        for names in [middle, many, wide] {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            for room in [60.0, 90.0, 150.0] {
                let found = shown(&names, room);
                assert!(is_distinct(&found), "{found:?}");
                assert!(found.iter().all(|name| FONT.width(name) <= room), "{room}: {found:?}");
            }
        }
    }

    #[test]
    fn one_name_twice_is_one_name() {
        assert_eq!(shown(&["decode_branchless_v1", "decode_branchless_v1"], 84.0), ["deco…ss_v1"; 2]);
    }
}
