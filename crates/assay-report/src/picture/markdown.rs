//! A picture in Markdown: shown in its place, with the answer for those who do not see it.

use super::{Picture, Theme};
use crate::prose::escape;

/// A picture as a Markdown file refers to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureReference {
    /// What it is.
    pub kind: Picture,
    /// Where it is, relative to the Markdown file, escaped as an address.
    pub address: String,
}

/// What shows the picture, with an empty line behind it; nothing where there is none.
///
/// One is enough of several: an SVG has both themes, two PNG are chosen from by the reader's.
pub fn reference(says: &str, pictures: &[PictureReference]) -> String {
    let of = |kind: Picture| pictures.iter().find(|picture| picture.kind == kind);
    let (light, dark) = (of(Picture::Png(Theme::Light)), of(Picture::Png(Theme::Dark)));
    let alone = |picture: &PictureReference| format!("![{}]({})\n\n", escape(says), picture.address);
    match (of(Picture::Svg), light, dark) {
        (Some(both), ..) => alone(both),
        (None, Some(light), Some(dark)) => format!(
            "<picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"{}\"><img alt=\"{}\" src=\"{}\"></picture>\n\n",
            dark.address,
            attribute(says),
            light.address
        ),
        (None, Some(one), None) | (None, None, Some(one)) => alone(one),
        (None, None, None) => String::new(),
    }
}

/// A text between the quotes of HTML.
fn attribute(text: &str) -> String {
    let text = crate::prose::clean(&crate::prose::on_one_line(text)).into_owned();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_svg_is_enough_and_two_png_are_one_picture() {
        let of =
            |name: &str| PictureReference { kind: Picture::by_name(name).unwrap(), address: name.to_owned() };
        let says = "a[b] is <i>\"faster\"</i>.";
        assert_eq!(reference(says, &[]), "");
        assert_eq!(
            reference(says, &[of("a.png"), of("a.svg")]),
            "![a\\[b\\] is &lt;i&gt;\"faster\"&lt;/i&gt;.](a.svg)\n\n"
        );
        assert_eq!(
            reference(says, &[of("a.dark.png"), of("a.png")]),
            "<picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"a.dark.png\"><img alt=\"a[b] is \
             &lt;i&gt;&quot;faster&quot;&lt;/i&gt;.\" src=\"a.png\"></picture>\n\n"
        );
        assert!(reference(says, &[of("a.dark.png")]).ends_with("](a.dark.png)\n\n"));
    }
}
