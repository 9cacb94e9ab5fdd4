//! Files kept by the hash of their content, and records of what they were made from.
//!
//! Every file is written beside its place and renamed into it, so two campaigns at once, or a kill at any moment,
//! leave whole files only. Every read is checked against the hash, so what was cut or changed is made again, not used.

use assay_pure::inputs::digest;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Files of a build that was killed are removed after this time.
const ABANDONED: Duration = Duration::from_secs(24 * 3600);

/// Hex digits of a hash in a file's name: 80 bits, and commands that can still be read. The content is compared with the
/// whole hash.
const NAME_DIGITS: usize = 20;

/// What a file of this content is called.
pub fn file_name(hash: &str, extension: &str) -> String {
    format!("{}.{extension}", hash.get(..NAME_DIGITS).unwrap_or(hash))
}

/// The bytes of an artifact in a store, if they are there and whole; the store is not made where it is missing.
pub fn kept_artifact(store: &Path, hash: &str) -> Option<Vec<u8>> {
    let bytes = fs::read(store.join("artifacts").join(file_name(hash, "elf"))).ok()?;
    (digest(&bytes) == hash).then_some(bytes)
}

/// A folder of content-addressed files and records.
#[derive(Debug)]
pub struct ArtifactCache {
    root: PathBuf,
    counter: AtomicU64,
    outside: Mutex<HashMap<PathBuf, Option<String>>>,
}

impl ArtifactCache {
    /// Opens the folder, making it if it is missing.
    pub fn open(root: &Path) -> io::Result<Self> {
        fs::create_dir_all(root)?;
        let root = root.canonicalize()?;
        for folder in ["include", "objects", "artifacts", "orders", "records", "unfinished"] {
            fs::create_dir_all(root.join(folder))?;
        }
        let cache = Self { root, counter: AtomicU64::new(0), outside: Mutex::default() };
        cache.remove_abandoned();
        Ok(cache)
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A failure here costs some disk space only.
    fn remove_abandoned(&self) {
        let Ok(entries) = fs::read_dir(self.root.join("unfinished")) else { return };
        for entry in entries.flatten() {
            let age = entry.metadata().and_then(|data| data.modified()).ok().and_then(|at| at.elapsed().ok());
            if age.is_some_and(|age| age > ABANDONED) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// A fresh path on the same disk, for something being made.
    pub fn unfinished(&self, suffix: &str) -> Unfinished {
        let number = self.counter.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{:p}-{number}{suffix}", std::process::id(), self);
        Unfinished { path: self.root.join("unfinished").join(name) }
    }

    /// Moves a finished file to its place, `folder/HASH.extension`; returns the hash and the bytes.
    pub fn keep(&self, made: &Unfinished, folder: &str, extension: &str) -> io::Result<(String, Vec<u8>)> {
        let bytes = fs::read(&made.path)?;
        let hash = digest(&bytes);
        fs::rename(&made.path, self.place(folder, &hash, extension))?;
        Ok((hash, bytes))
    }

    /// Writes `bytes` to their place, `folder/HASH.extension`, unless they are there.
    pub fn keep_bytes(&self, bytes: &[u8], folder: &str, extension: &str) -> io::Result<PathBuf> {
        let hash = digest(bytes);
        let place = self.place(folder, &hash, extension);
        if self.kept(folder, &hash, extension).is_none() {
            self.write(&place, bytes)?;
        }
        Ok(place)
    }

    /// Where content of this hash lies, if it is kept.
    pub fn place(&self, folder: &str, hash: &str, extension: &str) -> PathBuf {
        self.root.join(folder).join(file_name(hash, extension))
    }

    /// The bytes of this hash, if they are there and whole.
    pub fn kept(&self, folder: &str, hash: &str, extension: &str) -> Option<Vec<u8>> {
        let bytes = fs::read(self.place(folder, hash, extension)).ok()?;
        (digest(&bytes) == hash).then_some(bytes)
    }

    /// Writes a file in one step.
    pub fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let beside = self.unfinished("");
        fs::write(&beside.path, bytes)?;
        fs::rename(&beside.path, path)
    }

    /// What is recorded under `key`; nothing if the record is missing, damaged, or of another version of assay.
    pub fn record<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        let text = fs::read_to_string(self.record_path(key)).ok()?;
        let (hash, body) = text.split_once('\n')?;
        if digest(body.as_bytes()) != hash {
            return None;
        }
        serde_json::from_str(body).ok()
    }

    /// Records `value` under `key`.
    pub fn put_record<T: Serialize>(&self, key: &str, value: &T) -> io::Result<()> {
        let body = serde_json::to_string(value)?;
        let text = format!("{}\n{body}", digest(body.as_bytes()));
        self.write(&self.record_path(key), text.as_bytes())
    }

    fn record_path(&self, key: &str) -> PathBuf {
        self.root.join("records").join(key)
    }

    /// The hash of a file outside the cache (a header, a library), read once; `None` if it cannot be read.
    pub fn outside(&self, path: &Path) -> Option<String> {
        let known = |map: &HashMap<PathBuf, Option<String>>| map.get(path).cloned();
        if let Some(hash) = known(&self.outside.lock().expect("no holder of this lock panics")) {
            return hash;
        }
        let hash = fs::read(path).ok().map(|bytes| digest(&bytes));
        self.outside.lock().expect("no holder of this lock panics").insert(path.to_owned(), hash.clone());
        hash
    }

    /// Forgets the hashes of outside files, before a compilation that must see their present content.
    pub fn forget_outside(&self) {
        self.outside.lock().expect("no holder of this lock panics").clear();
    }
}

/// A file being made; removed when dropped, unless it has been moved to its place.
#[derive(Debug)]
pub struct Unfinished {
    /// Where.
    pub path: PathBuf,
}

impl Unfinished {
    /// The path as a word of a command.
    pub fn word(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> (tempfile::TempDir, ArtifactCache) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let cache = ArtifactCache::open(folder.path()).expect("a new cache");
        (folder, cache)
    }

    #[test]
    fn a_record_comes_back_and_a_damaged_one_does_not() {
        let (_folder, cache) = cache();
        cache.put_record("key", &vec![1u32, 2]).expect("written");
        assert_eq!(cache.record::<Vec<u32>>("key"), Some(vec![1, 2]));
        assert_eq!(cache.record::<String>("key"), None, "of another type");
        let path = cache.record_path("key");
        let text = fs::read_to_string(&path).expect("there");
        fs::write(&path, text.replace("[1,", "[3,")).expect("written");
        assert_eq!(cache.record::<Vec<u32>>("key"), None, "changed");
        fs::write(&path, &text[..text.len() - 1]).expect("written");
        assert_eq!(cache.record::<Vec<u32>>("key"), None, "cut");
        assert_eq!(cache.record::<Vec<u32>>("other"), None, "missing");
    }

    #[test]
    fn content_that_was_changed_is_not_returned_and_is_written_again() {
        let (_folder, cache) = cache();
        let place = cache.keep_bytes(b"content", "orders", "txt").expect("written");
        let hash = digest(b"content");
        assert_eq!(cache.kept("orders", &hash, "txt").as_deref(), Some(&b"content"[..]));
        fs::write(&place, b"conten").expect("written");
        assert_eq!(cache.kept("orders", &hash, "txt"), None);
        cache.keep_bytes(b"content", "orders", "txt").expect("written");
        assert!(cache.kept("orders", &hash, "txt").is_some());
    }

    #[test]
    fn nothing_unfinished_is_left_behind() {
        let (_folder, cache) = cache();
        let made = cache.unfinished(".o");
        fs::write(&made.path, b"x").expect("written");
        let dropped = cache.unfinished(".o");
        fs::write(&dropped.path, b"y").expect("written");
        cache.keep(&made, "objects", "o").expect("moved");
        drop((made, dropped));
        assert_eq!(fs::read_dir(cache.root().join("unfinished")).expect("there").count(), 0);
        assert_eq!(fs::read_dir(cache.root().join("objects")).expect("there").count(), 1);
    }
}
