//! One figure that says the answer without its page: what people paste into a pull request.
//!
//! Method: each page becomes a [`Scene`], a list of marks 800 pixels wide whose places follow from the widths of its letters
//! (`font`). A scene is drawn twice, as text (`svg`) and as pixels (`png`), so both show the same. Colours are names of what they
//! mean (`colour`); an SVG carries both themes, a PNG has one. Beside its colour everything has a word or a shape, so nothing
//! rests on colours alone. What there is no room for is counted and said.
//! Names and sentences in it are code of strangers: they pass [`scene::Scene::text`], which cleans them, and the writers escape them.
//! Checked: golden SVG texts of the sample pages, a PNG compared with a kept one within a tolerance.

mod colour;
mod compare;
mod font;
mod forest;
mod frame;
mod layout;
mod limits;
mod markdown;
mod names;
mod offsets;
mod png;
mod run;
mod scene;
mod sites;
mod stages;
mod svg;
mod sweep;

#[cfg(test)]
mod tests;

pub use self::colour::Theme;
pub use self::compare::of_comparison;
pub use self::layout::of_layout;
pub use self::limits::of_limits;
pub use self::markdown::{PictureReference, reference};
pub use self::png::png;
pub use self::run::of_campaign;
pub use self::scene::Scene;
pub use self::sites::of_sites;
pub use self::stages::of_diary;
pub use self::svg::svg;
pub use self::sweep::of_sweeps;

/// The picture of any page, from its JSON.
///
/// # Errors
/// It is a page that has no picture, or not what its schema says.
pub fn of_page(page: &serde_json::Value) -> Result<Scene, String> {
    fn read<T: serde::de::DeserializeOwned>(page: &serde_json::Value) -> Result<T, String> {
        T::deserialize(page).map_err(|error| error.to_string())
    }
    let schema = page["schema"].as_str().unwrap_or_default();
    match schema {
        crate::page::SCHEMA => Ok(of_campaign(&read(page)?)),
        crate::compare::COMPARE_SCHEMA => Ok(of_comparison(&read(page)?)),
        crate::sweep::SWEEP_SCHEMA => Ok(of_sweeps(&[read(page)?])),
        crate::stages::STAGES_SCHEMA => Ok(of_diary(&read(page)?)),
        crate::sites::page::SITES_SCHEMA => Ok(of_sites(&read(page)?)),
        crate::layout::page::LAYOUT_SCHEMA => Ok(of_layout(&read(page)?)),
        assay_pure::limits::SCHEMA => Ok(of_limits(&read(page)?)),
        other => Err(format!("there is no picture of a page with schema \"{other}\"")),
    }
}

/// A kind of file that a picture can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picture {
    /// As text; the viewer chooses the theme.
    Svg,
    /// As pixels, in one theme.
    Png(Theme),
}

impl Picture {
    /// By the ending of a file's name: `.svg`, `.png`, and `.dark.png` for dark paper.
    pub fn by_name(name: &str) -> Option<Picture> {
        let name = name.to_lowercase();
        let is = |ending: &str| name.len() > ending.len() && name.ends_with(ending);
        match () {
            () if is(".svg") => Some(Picture::Svg),
            () if is(".dark.png") => Some(Picture::Png(Theme::Dark)),
            () if is(".png") => Some(Picture::Png(Theme::Light)),
            () => None,
        }
    }

    /// The content of such a file.
    pub fn draw(self, scene: &Scene) -> Vec<u8> {
        match self {
            Picture::Svg => svg(scene).into_bytes(),
            Picture::Png(theme) => png(scene, theme),
        }
    }
}
