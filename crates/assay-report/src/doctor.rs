//! What the doctor says of a machine, an experiment or a program: the page as plain data, on a terminal and as JSON.
//!
//! The JSON is an interface (schema "assay.doctor/3", `schema/doctor-3.schema.json`, generated from the page).

pub mod page;
#[cfg(test)]
mod sample;
mod terminal;

pub use page::{
    CheckResult, CheckState, CodePlace, DoctorFigure, DoctorFinding, Examination, ExaminedSubject,
    ExecutedProgram,
};
pub use terminal::render_examination;

#[cfg(test)]
mod tests {
    use super::page::DOCTOR_SCHEMA;
    use super::{Examination, render_examination, sample};
    use crate::golden::{assert_golden, assert_no_line_wider};
    use crate::schema::assert_published;

    fn pages() -> [Examination; 4] {
        [sample::experiment(), sample::machine(), sample::program(), sample::nothing()]
    }

    #[test]
    fn no_line_is_wider_than_asked() {
        for page in pages() {
            assert_no_line_wider(40..200, |width| render_examination(&page, width, false));
        }
    }

    #[test]
    fn the_page_is_the_golden_text_at_80_and_160_columns() {
        let hold = |name: &str, page: &Examination, width| {
            assert_golden(&format!("{name}-{width}.txt"), &render_examination(page, width, false));
        };
        let [experiment, machine, program, nothing] = pages();
        for width in [80, 160] {
            hold("doctor", &program, width);
            hold("doctor-experiment", &experiment, width);
        }
        hold("doctor-machine", &machine, 80);
        hold("doctor-nothing", &nothing, 80);
    }

    #[test]
    fn the_answer_is_first_and_what_to_do_second() {
        for page in pages() {
            let text = render_examination(&page, 500, false);
            let first: Vec<&str> = text.lines().take(2).collect();
            assert_eq!(first, [page.answer, format!("-> {}", page.next)]);
        }
    }

    #[test]
    fn what_passed_what_is_intended_and_what_did_not_run_is_said() {
        let text = render_examination(&sample::experiment(), 120, false);
        for said in [
            "intended  setup-inside: libc on mixed and 1 more; reason in the file: the C library's",
            "not run  memorised: there is no emulator",
            "not run  smaller-than-production: no input sets",
            "passed  too-few-units: the shortest",
            "passed  hoisted-work",
            "All inputs fit the L1 cache (note)",
        ] {
            assert!(text.contains(said), "{said}\n{text}");
        }
    }

    #[test]
    fn a_finding_in_code_has_its_line_and_its_figures() {
        let text = render_examination(&sample::program(), 100, false);
        assert!(
            text.contains("tiny.c:104 tiny_alloc") && text.contains("300,000 times, 3.00 per unit"),
            "{text}"
        );
        assert!(
            text.contains("not run  hints: --static") && text.contains("passed  unoptimised, dispatch"),
            "{text}"
        );
    }

    #[test]
    fn the_schema_is_that_of_the_page_and_the_rich_samples_show_every_key() {
        let [experiment, machine, program, nothing] = pages();
        assert_published(DOCTOR_SCHEMA, &[experiment, program], &[machine, nothing]);
    }
}
