//! A scene as SVG: text that can be read aloud, both themes in it, nothing that runs and nothing from elsewhere.

use super::colour::{Colour, Theme};
use super::scene::{Anchor, Fill, LIGHT, Mark, OUTLINE, Pen, Point, Scene, WIDTH};
use std::fmt::Write as _;

/// Verdana has the same widths where DejaVu Sans is not installed.
const FAMILY: &str = "'DejaVu Sans',Verdana,sans-serif";

/// The picture as SVG, with a newline at its end.
pub fn svg(scene: &Scene) -> String {
    let (width, height) = (number(WIDTH), number(scene.height));
    let says = escape(&scene.says);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" aria-labelledby=\"says\" font-family=\"{FAMILY}\">\n<title id=\"says\">{says}</title>\n<style>\n{}</style>\n\
         <rect class=\"f-paper\" width=\"{width}\" height=\"{height}\"/>\n",
        style(scene)
    );
    for mark in &scene.marks {
        draw(&mut text, mark);
        text.push('\n');
    }
    text + "</svg>\n"
}

/// Rules of the colours that occur, then those of dark paper.
fn style(scene: &Scene) -> String {
    let used =
        |colour: &Colour| *colour == Colour::Paper || scene.marks.iter().any(|mark| uses(mark, *colour));
    let rules = |theme: Theme| {
        Colour::all().filter(used).fold(String::new(), |mut text, colour| {
            let ([r, g, b], name) = (colour.rgb(theme), colour.name());
            let _ = writeln!(
                text,
                ".f-{name}{{fill:#{r:02x}{g:02x}{b:02x}}}.s-{name}{{stroke:#{r:02x}{g:02x}{b:02x}}}"
            );
            text
        })
    };
    format!(
        ":root{{color-scheme:light dark}}.l{{fill:none;stroke-linejoin:round}}.o{{fill-opacity:{LIGHT}}}.b{{font-weight:700}}\n\
         {}@media(prefers-color-scheme:dark){{\n{}}}\n",
        rules(Theme::Light),
        rules(Theme::Dark)
    )
}

fn uses(mark: &Mark, wanted: Colour) -> bool {
    let colour = match mark {
        Mark::Line(_, pen) => pen.colour,
        Mark::Area(_, colour, _) => *colour,
        Mark::Dot { colour, .. } | Mark::Text { colour, .. } => *colour,
    };
    colour.name() == wanted.name()
}

fn draw(out: &mut String, mark: &Mark) {
    // Writing to a text cannot fail.
    let _ = match mark {
        Mark::Line(points, Pen { colour, width, dashed }) => {
            let dash = if *dashed { " stroke-dasharray=\"3 3\"" } else { "" };
            write!(
                out,
                "<path class=\"l s-{}\" stroke-width=\"{}\"{dash} d=\"{}\"/>",
                colour.name(),
                number(*width),
                way(points)
            )
        }
        Mark::Area(points, colour, fill) => {
            write!(out, "<path {} d=\"{}z\"/>", filled(*colour, *fill), way(points))
        }
        Mark::Dot { at, radius, shape, colour, hollow } => {
            let look = filled(*colour, if *hollow { Fill::Hollow } else { Fill::Solid });
            match shape.corners(*at, *radius) {
                Some(corners) => write!(out, "<path {look} d=\"{}z\"/>", way(&corners)),
                None => {
                    write!(
                        out,
                        "<circle {look} cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
                        number(at.0),
                        number(at.1),
                        number(*radius)
                    )
                }
            }
        }
        Mark::Text { at, text, font, colour, anchor } => {
            let anchor = match anchor {
                Anchor::Start => "",
                Anchor::Middle => " text-anchor=\"middle\"",
                Anchor::End => " text-anchor=\"end\"",
            };
            let bold = if font.bold { " b" } else { "" };
            write!(
                out,
                "<text class=\"f-{}{bold}\" x=\"{}\" y=\"{}\" font-size=\"{}\"{anchor}>{}</text>",
                colour.name(),
                number(at.0),
                number(at.1),
                number(font.size),
                escape(text)
            )
        }
    };
}

fn filled(colour: Colour, fill: Fill) -> String {
    let name = colour.name();
    match fill {
        Fill::Solid => format!("class=\"f-{name}\""),
        Fill::Light => format!("class=\"f-{name} o\""),
        Fill::Hollow => format!("class=\"f-paper s-{name}\" stroke-width=\"{}\"", number(OUTLINE)),
    }
}

fn way(points: &[Point]) -> String {
    let point = |(x, y): &Point| format!("{} {}", number(*x), number(*y));
    format!("M{}", points.iter().map(point).collect::<Vec<_>>().join("L"))
}

/// A length to a tenth of a pixel.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A text of whomever as XML's own. Control characters are gone: XML has no way to say them.
fn escape(text: &str) -> String {
    let text = crate::prose::clean(text);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
