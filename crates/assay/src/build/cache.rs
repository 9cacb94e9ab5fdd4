//! Files by content hash, written whole or not at all, and checked when they are read.

use assay_pure::inputs::digest::digest;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A folder of kept files.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
}

static DRAFTS: AtomicU64 = AtomicU64::new(0);

impl Cache {
    /// Opens or makes it.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn open(folder: PathBuf) -> io::Result<Self> {
        std::fs::create_dir_all(&folder)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", folder.display())))?;
        // Compilers are run in other folders, so the paths given to them must not depend on ours.
        Ok(Self { folder: folder.canonicalize()? })
    }

    /// Where a kept file lies.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A kept file's bytes, if it is there and is still what was written.
    pub fn get(&self, name: &str) -> Option<Vec<u8>> {
        let bytes = std::fs::read(self.path(name)).ok()?;
        let expected = std::fs::read_to_string(self.path(&format!("{name}.sha256"))).ok()?;
        (digest(&bytes) == expected).then_some(bytes)
    }

    /// Keeps bytes under a name; two writers of one name write the same content, and the last one wins whole.
    ///
    /// # Errors
    /// The disk is full or the folder is gone.
    pub fn put(&self, name: &str, bytes: &[u8], executable: bool) -> io::Result<()> {
        self.write(name, bytes, executable)?;
        self.write(&format!("{name}.sha256"), digest(bytes).as_bytes(), false)
    }

    fn write(&self, name: &str, bytes: &[u8], executable: bool) -> io::Result<()> {
        let draft = self.draft(name);
        let result = (|| {
            let mut file = std::fs::File::create(&draft)?;
            file.write_all(bytes)?;
            if executable {
                file.set_permissions(std::fs::Permissions::from_mode(0o755))?;
            }
            drop(file);
            std::fs::rename(&draft, self.path(name))
        })();
        if result.is_err() {
            let _ = std::fs::remove_file(&draft);
        }
        result
    }

    /// A path of its own for something not yet whole.
    pub fn draft(&self, name: &str) -> PathBuf {
        let number = DRAFTS.fetch_add(1, Ordering::Relaxed);
        self.folder.join(format!("{name}.{}.{number}.draft", std::process::id()))
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}
