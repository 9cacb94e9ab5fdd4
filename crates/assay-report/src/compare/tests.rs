use super::sample;
use crate::golden::{BARS, assert_golden, assert_no_line_wider};
use crate::ink::Palette;
use crate::link::LinkForm;
use crate::picture::{Picture, PictureReference};
use crate::{Detail, render_compare};

#[test]
fn the_views_are_the_golden_texts() {
    for (name, page) in [("two", sample::two()), ("one", sample::one()), ("commands", sample::commands())] {
        for width in [80, 160] {
            let text = render_compare(&page, width, false, Detail::Brief);
            assert_golden(&format!("compare-{name}-{width}.txt"), &text);
        }
    }
    assert_golden("compare-two-120-all.txt", &render_compare(&sample::two(), 120, false, Detail::Full));
    let picture = PictureReference { kind: Picture::Svg, address: "picture-compare.svg".to_owned() };
    assert_golden("compare-two.md", &super::markdown(&sample::two(), &[picture]));
}

#[test]
fn bars_beside_the_benchmarks_are_the_golden_texts() {
    for width in [80, 160] {
        let text = render_compare(&sample::two(), width, BARS, Detail::Brief);
        let (from, to) = (text.find("\nBenchmarks").expect("a table"), text.find("\nWhy").expect("reasons"));
        assert_golden(&format!("compare-bars-{width}.txt"), &text[from..to]);
    }
}

#[test]
fn functions_link_to_their_source_lines_and_take_no_column_for_it() {
    let form = LinkForm::read("default", "box").expect("a good format").expect("a format");
    let links = Palette { links: Some(Box::leak(Box::new(form))), ..Palette::default() };
    for width in [60, 80, 160] {
        let linked = render_compare(&sample::two(), width, links, Detail::Full);
        let link =
            "function \x1b]8;;file://box/src/sort.cc#41\x1b\\sort_small, sort.cc:41\x1b]8;;\x1b\\: machine";
        assert!(linked.contains(link), "{linked}");
        let mut plain = linked;
        while let Some(start) = plain.find("\x1b]8;;") {
            let end = start + plain[start..].find("\x1b\\").expect("it ends") + 2;
            plain.replace_range(start..end, "");
        }
        assert_eq!(plain, render_compare(&sample::two(), width, false, Detail::Full));
    }
}

#[test]
fn no_line_is_wider_than_asked() {
    for page in [sample::two(), sample::one(), sample::commands()] {
        for detail in [Detail::Brief, Detail::Full] {
            assert_no_line_wider(60..170, |width| render_compare(&page, width, false, detail));
            assert_no_line_wider(60..170, |width| render_compare(&page, width, BARS, detail));
        }
    }
}

#[test]
fn a_name_cannot_break_a_markdown_table() {
    let mut page = sample::two();
    page.benchmarks[0].benchmark = "a|b<script>`x`".into();
    page.benchmarks[0].verdict = Some(crate::page::Verdict::Slower);
    let text = super::markdown(&page, &[]);
    assert!(text.contains("| a\\|b&lt;script&gt;\\`x\\` |"), "{text}");
    assert!(!text.contains("<script>"));
}

#[test]
fn the_answer_names_what_differs_then_what_only_looks_so() {
    let answer = sample::two().answer;
    let starts = ["HEAD is slower in 1 of 5 benchmarks (BM_crc32/4096", "and faster in 1 (BM_sort"];
    let places: Vec<usize> = starts.iter().map(|start| answer.find(start).expect(start)).collect();
    assert!(
        places[0] < places[1]
            && places[1] < answer.find("As built, BM_parse differs by +20.6 %").expect(&answer)
    );
    let mut calm = sample::two();
    calm.benchmarks.retain(|found| found.benchmark == "BM_copy");
    assert_eq!(super::answer(&calm), "The benchmark is equivalent within 2 % in HEAD.");
    calm.benchmarks.clear();
    assert!(super::answer(&calm).starts_with("Nothing could be compared"));
}

#[test]
fn what_would_decide_is_a_number_of_seconds_or_that_nothing_affordable_does() {
    let next = |seconds: Option<f64>, upper: f64| {
        let mut page = sample::two();
        let open =
            page.benchmarks.iter_mut().find(|found| found.benchmark == "BM_hash").expect("the sample has it");
        open.seconds_to_decide = seconds;
        open.code = open.code.map(|code| crate::page::RatioInterval { upper, ..code });
        super::answer::next(&page).expect("something is open")
    };
    assert!(next(Some(412.7), 1.02).starts_with("--budget 420 (seconds) should decide BM_hash;"));
    let far = "measuring longer will hardly decide BM_hash, which differs by at most 4.5 %;";
    for seconds in [None, Some(1e6)] {
        assert!(next(seconds, 1.045).starts_with(far), "{}", next(seconds, 1.045));
    }
}

#[test]
fn where_all_is_proven_no_placements_are_told_that_nothing_was_measured_over() {
    let mut page = sample::two();
    for found in &mut page.benchmarks {
        found.proven = true;
    }
    (page.measured.rounds, page.measured.visits) = (0, 2);
    let text = render_compare(&page, 100, false, Detail::Brief);
    assert!(
        text.contains("2 runs of the benchmark command") && text.contains("for the times alone"),
        "{text}"
    );
    assert!(!text.contains("rotations of 4 phases") && !text.contains("twin control"), "{text}");
}

#[test]
fn much_that_is_proven_is_counted_unless_all_is_asked_for() {
    let mut page = sample::two();
    let copy =
        page.benchmarks.iter().find(|found| found.benchmark == "BM_copy").expect("the sample has it").clone();
    for number in 0..20 {
        page.benchmarks.push(super::Compared {
            benchmark: format!("proven{number}"),
            proven: true,
            ..copy.clone()
        });
    }
    let brief = render_compare(&page, 100, false, Detail::Brief);
    assert!(
        brief.contains("And 20 that are equivalent by proof; --all shows them.")
            && !brief.contains("proven7"),
        "{brief}"
    );
    assert!(brief.contains("BM_copy"), "{brief}");
    let full = render_compare(&page, 100, false, Detail::Full);
    assert!(full.contains("proven7") && !full.contains("--all shows them"), "{full}");
}
