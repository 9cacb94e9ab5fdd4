//! Are the links of other people's builds seen, repeated to the same code, and moved as asked?

#[path = "capture/project.rs"]
mod project;

use project::{Project, assert_placed};

#[test]
fn a_make_project_is_captured_repeated_and_placed() {
    let project = Project::of("make");
    let built = project.build("make CFLAGS='-O2 -ffunction-sections'");
    assert_eq!(built.links.len(), 1, "{:?}", built.links);
    let warnings = assert_placed(&project, &built.links[0], &["fill", "sum_even", "sum_odd", "mix", "main"]);
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn objects_with_one_section_for_all_functions_move_whole_and_that_is_said() {
    let project = Project::of("make");
    let built = project.build("make");
    let warnings = assert_placed(&project, &built.links[0], &["sum_even", "sum_odd", "mix", "main"]);
    assert!(
        warnings[0].contains("2 of 3 objects were compiled without -ffunction-sections (sums.o, mixes.o)"),
        "{warnings:?}"
    );
}
