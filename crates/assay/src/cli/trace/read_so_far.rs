//! How far traces are read, of all that there is: the files' bytes as they lie there. What is left of the time follows from it.

use crate::cli::screen;
use assay_pure::words;
use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How often it is told where nobody sees a bar.
const TOLD: Duration = Duration::from_secs(30);

/// How far one of the files is read. What of it was not read when this goes counts as read.
#[derive(Clone, Debug)]
pub struct ReadSoFar(Arc<FileProgress>);

#[derive(Debug)]
struct FileProgress {
    whole: Option<ProgressBar>,
    /// Bytes of the file that were not counted yet: it may be read more than once.
    left: AtomicU64,
}

impl ReadSoFar {
    /// Of a file of which nobody wants to know.
    pub fn untold() -> ReadSoFar {
        ReadSoFar(Arc::new(FileProgress { whole: None, left: AtomicU64::new(0) }))
    }

    /// The file, which counts what is read of it.
    pub fn counted(&self, file: File) -> CountedFile {
        CountedFile { file, so_far: self.clone() }
    }
}

impl FileProgress {
    fn add(&self, bytes: u64) {
        let Some(whole) = &self.whole else { return };
        let take = |left: u64| Some(left.saturating_sub(bytes));
        let before = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).unwrap_or(0);
        whole.inc(before.min(bytes));
    }
}

impl Drop for FileProgress {
    fn drop(&mut self) {
        self.add(u64::MAX);
    }
}

/// A file that tells how far it is read.
pub struct CountedFile {
    file: File,
    so_far: ReadSoFar,
}

impl Read for CountedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.so_far.0.add(count as u64);
        Ok(count)
    }
}

/// How far all files are read: a bar on a terminal, else a line now and then.
pub struct ReadingProgress {
    whole: ProgressBar,
    files: u64,
    done: u64,
    told: Instant,
    quiet: bool,
}

impl ReadingProgress {
    /// Of so many files with so many bytes together; `quiet` tells nothing.
    pub fn new(files: u64, bytes: u64, quiet: bool) -> ReadingProgress {
        let is_seen = !quiet && Term::stderr().is_term();
        let target = if is_seen { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let style = ProgressStyle::with_template("{wide_bar} {percent} %, {msg}, {eta} left");
        let whole = ProgressBar::with_draw_target(Some(bytes), target)
            .with_style(style.expect("a template of known keys"));
        let progress =
            ReadingProgress { whole, files, done: 0, told: Instant::now(), quiet: quiet || is_seen };
        progress.whole.set_message(progress.text());
        progress
    }

    /// One of the files, before it is read.
    pub fn of_file(&self, bytes: u64) -> ReadSoFar {
        ReadSoFar(Arc::new(FileProgress { whole: Some(self.whole.clone()), left: AtomicU64::new(bytes) }))
    }

    /// One file is done.
    pub fn finish_one(&mut self) {
        self.done += 1;
        self.whole.set_message(self.text());
        if !self.quiet && self.done < self.files && self.told.elapsed() >= TOLD {
            let left = words::duration(self.whole.eta().as_secs_f64());
            screen::tell(&format!("assay: {}, about {left} left", self.text()));
            self.told = Instant::now();
        }
    }

    fn text(&self) -> String {
        format!("{} of {} simulated", words::count(self.done), words::count(self.files))
    }
}

impl Drop for ReadingProgress {
    fn drop(&mut self) {
        self.whole.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_counts_once_however_often_and_however_far_it_is_read() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        io::Write::write_all(&mut file, &[7; 1000]).unwrap();
        let mut progress = ReadingProgress::new(3, 3000, true);
        let read = |so_far: &ReadSoFar, bytes: usize| {
            let file = File::open(file.path()).unwrap();
            so_far.counted(file).read_exact(&mut vec![0; bytes]).unwrap();
        };
        let so_far = progress.of_file(1000);
        read(&so_far, 400);
        assert_eq!(progress.whole.position(), 400);
        read(&so_far, 1000);
        assert_eq!(progress.whole.position(), 1000);
        drop(so_far);
        // One that breaks after some bytes.
        read(&progress.of_file(1000), 10);
        assert_eq!(progress.whole.position(), 2000);
        progress.finish_one();
        assert_eq!(progress.text(), "1 of 3 simulated");
    }
}
