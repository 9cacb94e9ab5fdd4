//! The links of a build as a later process finds them again, if all that they need is as it was.
//!
//! What the build left is compared by content. What the links read is known by number, size and time, as while capturing; by
//! size and time alone where another file of the same name has both, as after a folder was restored from an archive.

use super::call::{LinkInput, LinkerCall};
use super::kept::Stamp;
use super::link::CapturedLink;
use assay_pure::inputs::digest;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What of a captured link is written. Another form, or another way to capture, is another version.
pub const HELD_VERSION: u32 = 1;

/// A link as it is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldLink {
    /// What the build left and its digest: the output first, then its copies.
    files: Vec<(PathBuf, String)>,
    call: LinkerCall,
}

impl CapturedLink {
    /// The link to be written.
    ///
    /// # Errors
    /// What the build left cannot be read.
    pub fn held(&self) -> io::Result<HeldLink> {
        let digested = |path: &PathBuf| Ok((path.clone(), digest(&fs::read(path)?)));
        let files = std::iter::once(&self.output).chain(&self.copies).map(digested);
        Ok(HeldLink { files: files.collect::<io::Result<_>>()?, call: self.call().clone() })
    }
}

impl HeldLink {
    /// The link, to be replayed again; `store` is that of its build.
    ///
    /// # Errors
    /// What has changed since, as the end of a sentence.
    pub fn recalled(mut self, store: &Path) -> Result<CapturedLink, String> {
        for (file, wanted) in &self.files {
            match fs::read(file) {
                Ok(bytes) if digest(&bytes) == *wanted => (),
                Ok(_) => return Err(format!("{} has changed", file.display())),
                Err(error) => return Err(format!("{} cannot be read: {error}", file.display())),
            }
        }
        if !self.call.linker.is_file() {
            return Err(format!("the linker {} is gone", self.call.linker.display()));
        }
        self.call.inputs.iter_mut().try_for_each(refresh)?;
        let mut files = self.files.into_iter().map(|(path, _)| path);
        let output = files.next().ok_or("it has no output")?;
        let link = CapturedLink::unplaced(self.call, store).left_at(output);
        let mut link = link.ok_or("its output is gone")?;
        link.copies = files.collect();
        Ok(link)
    }
}

/// What the link read, if it can still be read.
fn refresh(input: &mut LinkInput) -> Result<(), String> {
    let kept = input
        .kept
        .as_ref()
        .is_some_and(|kept| kept.metadata().is_ok_and(|found| found.len() == input.stamp.size()));
    let members = input.members.iter_mut().map(|(file, stamp)| (&*file, stamp));
    for (file, stamp) in std::iter::once((&input.file, &mut input.stamp)).chain(members) {
        match Stamp::of(file) {
            Some(now) if now.same_size_and_time(stamp) => *stamp = now,
            _ if kept => (),
            _ => return Err(format!("{} has changed, which a link of it reads", file.display())),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(folder: &Path) -> HeldLink {
        let [output, copy, object, linker] = ["output", "copy", "a.o", "ld"].map(|name| folder.join(name));
        for file in [&output, &copy, &object, &linker] {
            fs::write(file, "as built").unwrap();
        }
        let call = LinkerCall {
            at: 0,
            linker,
            zig: false,
            words: ["-o", "output", "a.o"].map(Into::into).into(),
            folder: folder.to_owned(),
            environment: Vec::new(),
            inputs: vec![LinkInput {
                word: 2,
                stamp: Stamp::of(&object).unwrap(),
                file: object,
                members: Vec::new(),
                kept: None,
            }],
        };
        let mut link = CapturedLink::unplaced(call, folder).left_at(output).unwrap();
        link.copies = vec![copy];
        link.held().unwrap()
    }

    #[test]
    fn a_link_is_found_again_with_its_copies() {
        let folder = tempfile::tempdir().unwrap();
        let held = held(folder.path());
        let text = serde_json::to_string(&held).unwrap();
        let again: HeldLink = serde_json::from_str(&text).unwrap();
        assert_eq!(again, held);
        let link = again.recalled(folder.path()).unwrap();
        assert_eq!(link.copies, [folder.path().join("copy")]);
        assert!(link.is_in_place());
    }

    #[test]
    fn a_link_of_which_anything_has_changed_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let held = held(folder.path());
        for (name, why) in [
            ("output", "output has changed"),
            ("copy", "copy has changed"),
            ("a.o", "a.o has changed, which a link"),
        ] {
            let file = folder.path().join(name);
            let before = file.metadata().unwrap().modified().unwrap();
            fs::write(&file, "As built, longer").unwrap();
            let refused = held.clone().recalled(folder.path()).unwrap_err();
            assert!(refused.contains(why), "{refused}");
            fs::write(&file, "as built").unwrap();
            fs::File::options().write(true).open(&file).unwrap().set_modified(before).unwrap();
            assert!(held.clone().recalled(folder.path()).is_ok(), "{name}");
        }
        fs::remove_file(folder.path().join("ld")).unwrap();
        assert!(held.recalled(folder.path()).unwrap_err().contains("is gone"));
    }

    #[test]
    fn a_folder_that_was_copied_away_and_back_is_believed() {
        let folder = tempfile::tempdir().unwrap();
        let held = held(folder.path());
        let object = folder.path().join("a.o");
        let dated = object.metadata().unwrap().modified().unwrap();
        fs::copy(&object, folder.path().join("b.o")).unwrap();
        fs::rename(folder.path().join("b.o"), &object).unwrap();
        fs::File::options().write(true).open(&object).unwrap().set_modified(dated).unwrap();
        let link = held.recalled(folder.path()).unwrap();
        assert!(link.call().inputs[0].is_unchanged());
    }
}
