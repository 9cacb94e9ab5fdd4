use super::page::{Brought, DiaryPage};
use super::{answer, markdown, render_stages, sample};
use crate::Detail;
use crate::golden::{assert_golden, assert_no_line_wider};

#[test]
fn the_views_are_the_golden_texts() {
    for (name, page) in [("diary", sample::diary()), ("one", sample::one())] {
        for width in [80, 160] {
            assert_golden(
                &format!("stages-{name}-{width}.txt"),
                &render_stages(&page, width, false, Detail::Brief),
            );
        }
    }
    assert_golden("stages-diary-120-all.txt", &render_stages(&sample::diary(), 120, false, Detail::Full));
    assert_golden("stages-diary.md", &markdown(&sample::diary(), &[]));
}

#[test]
fn a_step_at_two_speeds_is_shown_mode_by_mode() {
    assert!(!render_stages(&sample::diary(), 100, false, Detail::Full).contains("\nModes\n"));
    let page = sample::modes();
    let step = page.steps.iter().find(|step| step.time.is_some()).expect("a timed step");
    let (stage, baseline) = (step.stage.clone(), step.baseline.clone());
    let text = render_stages(&page, 100, false, Detail::Full);
    let (_, modes) = text.split_once("\nModes\n").expect("a section of its own");
    let rows: Vec<&str> =
        modes.lines().filter(|line| line.contains(&stage) || line.contains(&baseline)).collect();
    assert!(rows.len() >= 2 && rows[0].contains(&stage) && rows[1].contains(&baseline), "{text}");
}

#[test]
fn no_line_is_wider_than_asked() {
    for page in [sample::diary(), sample::one()] {
        for detail in [Detail::Brief, Detail::Full] {
            assert_no_line_wider(60..170, |width| render_stages(&page, width, false, detail));
        }
    }
}

#[test]
fn the_answer_comes_first_and_names_what_brought_most_and_the_ghost() {
    let page = sample::diary();
    let text = render_stages(&page, 2000, false, Detail::Brief);
    assert_eq!(text.lines().next(), Some(page.answer.as_str()));
    assert!(
        page.answer.starts_with(
            "release saved most: in alloc, time -79.5 % ± 0.3 (92 % of what all steps saved) and branches -76.5 % (86 %)."
        ),
        "{}",
        page.answer
    );
    for part in [
        "hints (as built -5.8 % in alloc) is a ghost",
        "The last stage, batch, takes 3.1 % more time and executes 11 % fewer branches than glibc in alloc.",
        "Undecided: release in free (an effect of 1.2 % would have been found).",
        "Not measured: broken.",
    ] {
        assert!(page.answer.contains(part), "{part}: {}", page.answer);
    }
}

#[test]
fn what_fails_29_stages_is_told_once_with_its_log() {
    let mut page = sample::diary();
    let mut broken = page.entrants[4].clone();
    page.roles.iter_mut().for_each(|role| role.cells.clear());
    page.sessions.iter_mut().for_each(|session| session.spoilt.clear());
    let why = "the build failed: exit status 3: no zig 0.15.2 here\n    line of the log";
    page.entrants = (1..=29)
        .map(|number| {
            (broken.name, broken.failed) = (format!("stage{number}"), Some(why.to_owned()));
            broken.clone()
        })
        .collect();
    let what = "stage1, stage2, stage3 and 26 more: the build failed: exit status 3: no zig 0.15.2 here\n";
    for (text, told) in [
        (render_stages(&page, 200, false, Detail::Brief), format!("  {what}")),
        (markdown(&page, &[]), format!("- not measured: {what}")),
    ] {
        assert!(text.contains(&told), "{text}");
        assert_eq!(text.matches("no zig 0.15.2 here").count(), 1, "{text}");
    }
    let text = render_stages(&page, 200, false, Detail::Brief);
    assert_eq!(text.matches("line of the log").count(), 1, "{text}");
}

fn with(change: impl Fn(&mut DiaryPage)) -> String {
    let mut page = sample::diary();
    change(&mut page);
    answer(&page)
}

#[test]
fn what_brought_nothing_is_told_by_what_it_is() {
    let nothing = with(|page| page.steps[1].brought = Brought::Nothing);
    assert!(nothing.contains("hints changed neither time nor counts."), "{nothing}");
    let counts = with(|page| page.steps[1].brought = Brought::OnlyCounts);
    assert!(counts.contains("hints changed counts but not the time."), "{counts}");
    let slower = with(|page| page.steps[1].brought = Brought::Slower);
    assert!(
        slower.contains("Slower than before: hints in alloc (-0.2 % ± 0.6).") && !slower.contains("ghost"),
        "{slower}"
    );
    let waiting = with(|page| page.entrants[4].failed = None);
    assert!(waiting.contains("Not measured yet: broken.") && !waiting.contains("Not measured:"), "{waiting}");
    let open = with(|page| page.steps[1].brought = Brought::Open);
    assert!(open.contains("Undecided: hints in alloc"), "{open}");
}

#[test]
fn without_times_the_branches_say_what_brought_most() {
    let told = with(|page| {
        page.roles[0].ranking.iter_mut().for_each(|part| part.time = None);
        page.steps.iter_mut().for_each(|step| step.time = None);
    });
    assert!(
        told.starts_with("release saved most: in alloc, branches -76.5 % (86 % of what all steps saved)."),
        "{told}"
    );
}

#[test]
fn a_first_stage_waits_for_the_next() {
    assert_eq!(sample::one().answer, "Only one stage is measured: there is no step to judge yet.");
}

#[test]
fn a_name_cannot_break_a_markdown_table() {
    let mut page = sample::diary();
    page.entrants[0].name = "a|b<i>".into();
    page.roles[0].cells[0].entrant = "a|b<i>".into();
    let text = markdown(&page, &[]);
    assert!(text.contains("| a\\|b&lt;i&gt; |") && !text.contains("<i>"), "{text}");
}
