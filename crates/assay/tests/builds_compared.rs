//! A whole campaign whose contrasts run along flags, and along compilers where there are two: the cells that the page
//! compares, the places it tells, the claim it settles, and that a report from the ledger alone says the same.
//!
//! No verdict is compared with a time: only which contrasts there are, of which cells, and that each has one.

use crate::robust::lab::Lab;
use serde_json::Value;

const AXES: &str = r#"
[flags]
O1 = ["-O1"]
aligned = ["-O1", "-falign-functions=64"]
[contrasts]
along = ["variant", "flags"]
[[claims]]
text = "the flags bring nothing"
candidate = "plain"
flags = ["aligned"]
baseline_flags = "O1"
says = "equivalent"
ratio = 1
ratio_tolerance = 1000
"#;

fn lab() -> Option<Lab> {
    let lab = Lab::with_program("#include \"good.c\"\n", &["plain", "backward"])?;
    lab.edit(|text| text.replace("flags = [\"-Og\"]\n", "") + AXES);
    Some(lab)
}

fn texts<'a>(page: &'a Value, list: &str, keys: &[&str]) -> Vec<Vec<&'a str>> {
    let rows = page[list].as_array().unwrap();
    rows.iter().map(|row| keys.iter().map(|key| row[*key].as_str().unwrap_or("-")).collect()).collect()
}

#[test]
fn compares_each_variant_with_itself_along_the_flags_that_are_asked_for() {
    let Some(lab) = lab() else { return };
    lab.run(&[]).assert_code(0);
    let page = lab.page();
    let found = texts(&page, "contrasts", &["axis", "candidate", "baseline", "flags"]);
    let expected = [
        ["variant", "backward", "plain", "O1"],
        ["variant", "backward", "plain", "aligned"],
        ["flags", "plain", "plain", "aligned"],
        ["flags", "backward", "backward", "aligned"],
    ];
    assert_eq!(found, expected);
    for contrast in page["contrasts"].as_array().unwrap() {
        let across = contrast["axis"] == "flags";
        assert_eq!(contrast["against"]["flags"], if across { Value::from("O1") } else { Value::Null });
        // On a busy machine all its samples may be left out.
        assert!(contrast["as_built"].is_null() || contrast["as_built"]["ratio"].is_number(), "{contrast}");
        assert!(contrast["verdict"].is_string() && !contrast["reasons"].as_array().unwrap().is_empty());
    }
    let as_built =
        "SELECT count(*) FROM (SELECT DISTINCT flags, variant FROM process WHERE rotation IS NULL)";
    assert_eq!(lab.count(as_built), 4, "each variant in each build");
    assert!(!page["claims"][0]["found"].as_str().unwrap().contains("no such contrast"));
}

#[test]
fn tells_where_the_entries_lie_in_each_build() {
    let Some(lab) = lab() else { return };
    lab.run(&[]).assert_code(0);
    let page = lab.page();
    let layouts = page["layouts"].as_array().unwrap();
    assert_eq!(texts(&page, "layouts", &["flags"]), [["O1"], ["aligned"]]);
    for layout in layouts {
        let variants: Vec<&str> = layout["functions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|at| at["variant"].as_str().unwrap())
            .collect();
        assert!(variants.contains(&"plain") && variants.contains(&"backward"), "{layout}");
        assert!(layout["text_bytes"].as_u64().unwrap() > 0);
    }
    for landing in layouts[1]["functions"].as_array().unwrap() {
        assert_eq!(landing["offset"], 0, "aligned to 64 bytes: {landing}");
    }
    let placements = "SELECT min(placements) FROM (SELECT count(DISTINCT rotation * 64 + phase_bytes) AS placements \
                      FROM process WHERE rotation IS NOT NULL GROUP BY flags, variant)";
    assert!(lab.count(placements) >= 4);
    // On a busy machine the samples of some placements are left out of the page, or of all.
    let ranges =
        page["cells"].as_array().unwrap().iter().map(|cell| &cell["range"]).filter(|range| !range.is_null());
    assert!(ranges.clone().all(|range| range["placements"].as_u64().unwrap() >= 1));
    assert!(ranges.clone().all(|range| range["fastest_ns"].as_f64() <= range["slowest_ns"].as_f64()));
}

#[test]
fn says_which_compiler_takes_the_place_of_one_that_is_missing() {
    let Some(lab) = lab() else { return };
    lab.edit(|text| {
        text.replace(
            "along = [\"variant\", \"flags\"]",
            "along = [\"variant\", \"compiler\"]\ncompiler = \"gcc-2\"",
        )
    });
    let said = lab.run(&[]);
    said.assert_code(0);
    said.assert_page(&["skipped gcc-2: it is not among the compilers found"]);
    let page = lab.page();
    assert!(texts(&page, "contrasts", &["axis"]).iter().all(|axis| axis == &["variant"]));
}
