//! `--picture`: the answer as one figure, of every verb that has one.

use super::help::OUTPUT;
use super::screen;
use anyhow::{Context, Result};
use assay_lab::lead::Misuse;
use assay_linux::output;
use assay_report::picture::{Picture, PictureReference, Scene};
use std::path::{Path, PathBuf};

/// Which pictures to write.
#[derive(clap::Args, Clone, Debug)]
pub struct PictureArguments {
    /// Draw the answer: FILE.svg, FILE.png or FILE.dark.png; can be repeated
    #[arg(long = "picture", value_name = "FILE", help_heading = OUTPUT)]
    pub pictures: Vec<PathBuf>,
}

impl PictureArguments {
    /// Refuses what could not be written, before minutes of measuring. `others` are files that this command reads or writes, too.
    ///
    /// # Errors
    /// [`Misuse`]: another ending, no such folder, a file that is used for something else.
    pub fn check<'a>(&self, others: impl IntoIterator<Item = &'a Path>) -> Result<(), Misuse> {
        let others: Vec<&Path> = others.into_iter().collect();
        for (at, path) in self.pictures.iter().enumerate() {
            kind(path)?;
            screen::find_place(path, &[])?;
            let twice = |other: &Path| other == path || output::same_file(other, path);
            if others.iter().any(|other| twice(other)) || self.pictures[..at].iter().any(|other| twice(other))
            {
                let path = path.display();
                return Err(Misuse(format!(
                    "--picture {path}: this command uses the file already; name another one"
                )));
            }
        }
        Ok(())
    }

    /// Draws and writes each.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&self, scene: impl FnOnce() -> Scene) -> Result<()> {
        if self.pictures.is_empty() {
            return Ok(());
        }
        let scene = scene();
        for path in &self.pictures {
            let bytes = kind(path)?.draw(&scene);
            output::write(path, &bytes).with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }

    /// The pictures as a Markdown file refers to them.
    pub fn beside(&self, markdown: &Path) -> Vec<PictureReference> {
        let of = |path: &PathBuf| {
            Some(PictureReference { kind: kind(path).ok()?, address: relative(path, markdown) })
        };
        self.pictures.iter().filter_map(of).collect()
    }
}

/// The address of a file from the folder of another one; as it was given where the other one is standard output.
fn relative(path: &Path, from: &Path) -> String {
    let address = |path: &Path| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
        let one =
            |byte: &u8| if plain(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") };
        path.as_os_str().as_encoded_bytes().iter().map(one).collect()
    };
    let absolute = |path: &Path| std::path::absolute(path).ok();
    let (Some(whole), Some(from)) = (absolute(path), absolute(from).filter(|_| !screen::is_stdout(from)))
    else {
        return address(path);
    };
    let folder: Vec<_> = from.parent().unwrap_or(Path::new("/")).components().collect();
    let parts: Vec<_> = whole.components().collect();
    let shared = folder.iter().zip(&parts).take_while(|(one, other)| one == other).count();
    let up = std::iter::repeat_n(std::path::Component::ParentDir, folder.len() - shared);
    address(&up.chain(parts[shared..].iter().copied()).collect::<PathBuf>())
}

/// What a file will hold, by its ending.
fn kind(path: &Path) -> Result<Picture, Misuse> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Picture::by_name(&name).ok_or_else(|| {
        let path = path.display();
        Misuse(format!(
            "--picture {path}: a picture is an SVG or a PNG; end its name in .svg, .png or .dark.png, for example answer.svg"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_markdown_file_refers_to_a_picture_from_its_own_folder() {
        let at = |path: &str, from: &str| relative(Path::new(path), Path::new(from));
        assert_eq!(at("a.svg", "b.md"), "a.svg");
        assert_eq!(at("out/a (1).svg", "out/b.md"), "a%20%281%29.svg");
        assert_eq!(at("a.svg", "out/b.md"), "../a.svg");
        assert_eq!(at("/x/a.svg", "/x/y/z/b.md"), "../../a.svg");
        assert_eq!(at("out/a.svg", "-"), "out/a.svg");
    }

    #[test]
    fn another_ending_is_refused_with_what_would_do() {
        let check = |name: &str| {
            PictureArguments { pictures: vec![name.into()] }.check([]).map_err(|misuse| misuse.0)
        };
        let said = check("answer.pdf").unwrap_err();
        assert!(said.contains("end its name in .svg, .png or .dark.png"), "{said}");
        assert!(check("-").is_err() && check(".png").is_err());
        assert!(check("no/such/folder/a.svg").unwrap_err().contains("there is no folder"));
        let twice = PictureArguments { pictures: vec!["a.svg".into(), "a.svg".into()] };
        assert!(twice.check([]).unwrap_err().0.contains("name another one"));
        let once = PictureArguments { pictures: vec!["a.svg".into()] };
        assert!(once.check([Path::new("a.svg")]).is_err() && once.check([Path::new("b.svg")]).is_ok());
    }
}
