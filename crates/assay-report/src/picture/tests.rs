//! Golden SVG texts of the sample pages, and PNG files compared with kept ones within a tolerance.
//! `ASSAY_UPDATE_GOLDEN=1 cargo test -p assay-report picture` writes them anew: look at each.

use super::*;
use crate::golden::assert_golden;
use crate::page::{AsBuiltSays, Page, Verdict};
use crate::{compare, layout, limits, sample, sites, stages, sweep};
use std::time::Instant;
use tiny_skia::Pixmap;

/// What a name of a stranger must not do.
const SCRIPT: &str = "<script>alert(\"1\")</script>&amp;\u{1b}[2J\u{202e}";

/// A name that would run, long ones, and far more contrasts than there is room for.
fn hostile() -> Page {
    let mut page = sample::page();
    page.question = format!("Is {SCRIPT} faster?");
    for at in 0..240 {
        let name = format!("{SCRIPT} {at}, a variant whose name is longer than any column");
        let input = format!("an input with a long name as well, number {at}");
        let contrast = sample::contrast(&name, &input, "gcc-12", Verdict::Equivalent, 1.001);
        page.contrasts.push(sample::built(contrast, 1.0 + at as f64, AsBuiltSays::Ghost));
    }
    page.answer = format!("{SCRIPT} takes the same time.");
    page
}

fn all() -> Vec<(&'static str, Scene)> {
    vec![
        ("run", of_campaign(&sample::page())),
        ("run-many", of_campaign(&sample::many())),
        ("run-builds", of_campaign(&sample::builds())),
        ("run-nothing", of_campaign(&sample::nothing())),
        ("run-hostile", of_campaign(&hostile())),
        ("compare", of_comparison(&compare::sample::two())),
        ("compare-one", of_comparison(&compare::sample::one())),
        ("compare-commands", of_comparison(&compare::sample::commands())),
        ("sweep-share", of_sweeps(&[sweep::sample::share()])),
        ("sweep-both", of_sweeps(&[sweep::sample::share(), sweep::sample::size()])),
        ("sweep-stopped", of_sweeps(&[sweep::sample::stopped()])),
        ("stages", of_diary(&stages::sample::diary())),
        ("stages-one", of_diary(&stages::sample::one())),
        ("layout", of_layout(&layout::sample::page())),
        ("layout-two", of_layout(&layout::sample::two_places())),
        ("limits", of_limits(&limits::sample::limits())),
        ("limits-little", of_limits(&limits::sample::little())),
        ("sites", of_sites(&sites::sample::page())),
        ("sites-nothing", of_sites(&sites::sample::nothing())),
    ]
}

#[test]
fn every_picture_is_the_golden_text() {
    for (name, scene) in all() {
        assert_golden(&format!("picture-{name}.svg"), &svg(&scene));
    }
}

#[test]
fn no_text_leaves_the_picture_and_nothing_lies_below_it() {
    for (name, scene) in all() {
        for mark in &scene.marks {
            let Some((from, to, _, base, text)) = place(mark) else { continue };
            assert!(from >= 0.0 && to <= scene::WIDTH, "{name}: {from} to {to} {text}");
            assert!(base > 0.0 && base < scene.height, "{name}: {base} {text}");
        }
    }
}

fn texts(scene: &Scene) -> Vec<&str> {
    scene.marks.iter().filter_map(place).map(|(.., text)| text).collect()
}

/// Where a text is: left, right, top, bottom.
fn place(mark: &scene::Mark) -> Option<(f64, f64, f64, f64, &str)> {
    let scene::Mark::Text { at, text, font, anchor, .. } = mark else { return None };
    let width = font.width(text);
    let left = at.0
        - match anchor {
            scene::Anchor::Start => 0.0,
            scene::Anchor::Middle => width / 2.0,
            scene::Anchor::End => width,
        };
    Some((left, left + width, at.1 - 0.7 * font.size, at.1, text))
}

#[test]
fn no_text_is_printed_over_another() {
    for (name, scene) in all() {
        let places: Vec<_> = scene.marks.iter().filter_map(place).collect();
        for (at, one) in places.iter().enumerate() {
            for other in &places[at + 1..] {
                let apart = one.1 <= other.0 || other.1 <= one.0 || one.3 <= other.2 || other.3 <= one.2;
                assert!(apart, "{name}: {} over {}", one.4, other.4);
            }
        }
    }
}

#[test]
fn variants_and_inputs_of_long_names_are_told_apart() {
    let mut page = sample::page();
    let inputs = ["log_uniform_of_ten_thousand_values at 16", "log_uniform_of_ten_thousand_values at 64"];
    page.contrasts.clear();
    for variant in 1..4 {
        for input in inputs {
            let name = format!("decode_branchless_with_a_long_name_v{variant}");
            page.contrasts.push(sample::contrast(&name, input, "gcc-12", Verdict::Faster, 0.8));
        }
    }
    let scene = of_campaign(&page);
    let of = |end: &str| texts(&scene).iter().filter(|text| text.ends_with(end)).count();
    assert_eq!((of("v1"), of("v2"), of("v3")), (1, 1, 1), "{:?}", texts(&scene));
    assert_eq!((of("at 16"), of("at 64")), (3, 3), "{:?}", texts(&scene));
}

#[test]
fn a_loop_over_two_lines_is_drawn_in_both_and_said_to_be() {
    use super::colour::Colour;
    let loops = |scene: &Scene, colour: Colour| -> Vec<(f64, f64)> {
        let solid = scene.marks.iter().filter_map(|mark| match mark {
            scene::Mark::Area(corners, of, scene::Fill::Solid) if *of == colour => {
                Some((corners[0].0, corners[1].0))
            }
            _ => None,
        });
        // Ahead of them is the legend's sign.
        solid.skip(1).collect()
    };
    let scene = of_layout(&layout::sample::two_places());
    let (good, bad) = (loops(&scene, Colour::Faster), loops(&scene, Colour::Slower));
    assert_eq!((good.len(), bad.len()), (1, 1));
    // Both are the same bytes: as wide here as there.
    assert!((good[0].1 - good[0].0 - (bad[0].1 - bad[0].0)).abs() < 1e-9, "{good:?} {bad:?}");
    let said = texts(&scene).join("\n");
    assert!(said.contains("loop of 33 bytes in 1 line\n"), "{said}");
    assert!(said.contains("loop of 33 bytes in 2 lines, 1 at its best"), "{said}");
}

#[test]
fn nobody_wins_a_strip_within_the_interval_of_a_crossover() {
    let mut page = sweep::sample::share();
    let pair = page.series[0].pairs.iter_mut().find(|pair| pair.baseline == page.baseline).unwrap();
    pair.crossovers.truncate(1);
    // The zone goes on over points of which nothing is known, far into the interval.
    (pair.crossovers[0].lower, pair.crossovers[0].upper) = (0.1, 0.9);
    pair.zones.truncate(1);
    (pair.zones[0].from, pair.zones[0].to) = (0.0, 0.5);
    let crossovers = pair.crossovers.clone();
    let zone = pair.zones[0];
    assert_eq!(super::sweep::clear(&zone, &crossovers), [(0.0, 0.1)]);
    let text = texts(&of_sweeps(&[page])).join(" ");
    assert!(text.contains("They cross between 10 and 90 %."), "{text}");
}

#[test]
fn the_same_code_is_shown_as_equivalent_by_proof_and_its_footer_claims_no_placements() {
    let mut page = compare::sample::two();
    for found in &mut page.benchmarks {
        (found.proven, found.verdict) = (true, Some(Verdict::Equivalent));
        (found.code, found.as_built, found.as_built_says) = (None, None, None);
    }
    (page.measured.rounds, page.measured.visits) = (0, 2);
    let scene = of_comparison(&page);
    let text = texts(&scene).join("\n");
    let diamonds = scene
        .marks
        .iter()
        .filter(|mark| matches!(mark, scene::Mark::Dot { shape: scene::Shape::Diamond, .. }));
    assert_eq!(diamonds.count(), page.benchmarks.len() + 1, "one for each and one in the legend");
    assert_eq!(text.matches("by proof\n").count(), page.benchmarks.len() + 1, "{text}");
    assert!(!text.contains("as built") && !text.contains("mean over"), "{text}");
    assert!(text.contains("2 runs of the benchmark command for the times alone"), "{text}");
    assert!(!text.contains("of 4 placements"), "{text}");
}

#[test]
fn a_bandwidth_that_is_twice_as_high_has_a_bar_of_twice_the_length() {
    let limits = limits::sample::limits();
    let scene = of_limits(&limits);
    let read = |at: usize| limits.levels[at].read.as_ref().unwrap().bytes_per_ns.median;
    let bars: Vec<f64> = scene
        .marks
        .iter()
        .filter_map(|mark| match mark {
            scene::Mark::Area(corners, super::colour::Colour::Series(0), scene::Fill::Solid) => {
                Some(corners[1].0 - corners[0].0)
            }
            _ => None,
        })
        // Behind the sign of the legend.
        .skip(1)
        .collect();
    assert!((bars[0] / bars[1] - read(0) / read(1)).abs() < 1e-6, "{bars:?}");
}

#[test]
fn a_stranger_s_name_runs_nowhere_and_hundreds_of_rows_are_counted() {
    let text = svg(&of_campaign(&hostile()));
    assert!(!text.contains("<script") && text.contains("&lt;script&gt;alert(&quot;1&quot;)"), "{text}");
    assert!(text.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'));
    assert!(text.contains("Left out: 215 contrasts"), "{text}");
    // What opens in it is closed, and nothing else is in it.
    for element in
        text.split('<').skip(1).map(|rest| rest.split([' ', '>', '/']).find(|part| !part.is_empty()))
    {
        let known = ["svg", "title", "style", "rect", "path", "circle", "text"];
        assert!(element.is_some_and(|name| known.contains(&name)), "{element:?}");
    }
}

fn decoded(file: &[u8]) -> (u32, u32, Vec<u8>) {
    let number = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().expect("four bytes"));
    let (width, height) = (number(16), number(20));
    let mut at = 8;
    let mut packed = Vec::new();
    while at < file.len() {
        let length = number(at) as usize;
        assert_eq!(crc32fast::hash(&file[at + 4..at + 8 + length]), number(at + 8 + length), "a chunk's sum");
        if &file[at + 4..at + 8] == b"IDAT" {
            packed.extend(&file[at + 8..at + 8 + length]);
        }
        at += 12 + length;
    }
    let raw = miniz_oxide::inflate::decompress_to_vec_zlib(&packed).expect("deflated");
    let mut pixels = Vec::new();
    for line in raw.chunks_exact(1 + 3 * width as usize) {
        assert_eq!(line[0], 1, "each line is less the pixel to its left");
        let mut left = [0_u8; 3];
        for pixel in line[1..].chunks_exact(3) {
            left = std::array::from_fn(|at| left[at].wrapping_add(pixel[at]));
            pixels.extend(left);
        }
    }
    (width, height, pixels)
}

#[test]
fn a_png_looks_like_the_kept_one() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for (name, theme) in [("picture-run.png", Theme::Light), ("picture-run.dark.png", Theme::Dark)] {
        let drawn = png(&of_campaign(&sample::page()), theme);
        let path = folder.join(name);
        if std::env::var_os("ASSAY_UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, &drawn).expect("the golden file can be written");
        }
        let (width, height, kept) = decoded(&std::fs::read(&path).expect("the golden file is there"));
        let (own_width, own_height, own) = decoded(&drawn);
        assert_eq!((own_width, own_height), (width, height), "{name}");
        // Another processor may round an edge's pixel otherwise; a mark that moved changes thousands.
        let other = own.iter().zip(&kept).filter(|(one, other)| one.abs_diff(**other) > 8).count();
        assert!(other < own.len() / 10_000, "{name}: {other} of {} values differ", own.len());
    }
}

#[test]
fn a_png_shows_the_pixels_that_were_drawn() {
    let scene = of_sites(&sites::sample::page());
    let pixels: Pixmap = super::png::pixels(&scene, Theme::Dark);
    let (width, height, found) = decoded(&png(&scene, Theme::Dark));
    assert_eq!((width, height), (pixels.width(), pixels.height()));
    let drawn = pixels.data().chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]);
    assert!(drawn.eq(found));
}

/// `cargo test --release -p assay-report picture::tests::cost -- --ignored --nocapture`; with PICTURES=FOLDER it writes all of
/// them there, to be looked at.
#[test]
#[ignore = "prints what pictures cost"]
fn cost() {
    for (name, scene) in all() {
        let began = Instant::now();
        let text = svg(&scene);
        let after_svg = began.elapsed();
        let file = png(&scene, Theme::Light);
        let after_png = began.elapsed() - after_svg;
        println!(
            "{name}: SVG {after_svg:.1?}, {} bytes; PNG {after_png:.1?}, {} bytes",
            text.len(),
            file.len()
        );
        if let Some(folder) = std::env::var_os("PICTURES").map(std::path::PathBuf::from) {
            let write = |end: &str, bytes: &[u8]| std::fs::write(folder.join(format!("{name}{end}")), bytes);
            let written = write(".svg", text.as_bytes()).and(write(".png", &file));
            written.and(write(".dark.png", &png(&scene, Theme::Dark))).expect("the folder takes files");
        }
    }
}
