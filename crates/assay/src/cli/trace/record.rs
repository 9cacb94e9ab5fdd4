//! `assay trace record`: the branches of a command, into a file.

use super::coding_of;
use crate::cli::{DONE, FAILED, cannot_trace, reads, screen};
use anyhow::{Context, Result};
use assay_lab::lead::Misuse;
use assay_linux::output::Output;
use assay_pure::trace::source::TraceFault;
use assay_pure::trace::stored::{
    BlockCoding, CodedBlock, Directory, StoredModule, StoredWriter, StreamTotals, StreamWriter, TracedProcess,
};
use assay_pure::trace::{Branch, BranchSite};
use assay_pure::words;
use assay_trace::{Observer, ProcessTrace, Trace, TraceOptions, TraceRefusal, check, command};
use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget};
use std::ffi::OsString;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Record the branches of a command, of all its threads, into a file
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("../help/record.txt"))]
pub struct TraceRecordArguments {
    /// File to write, usually *.assaytrace
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Include programs that the command starts
    #[arg(long)]
    follow: bool,
    /// Write the smallest file; it is read many times slower
    #[arg(long)]
    compact: bool,
    /// Stop the command after this time
    #[arg(long, value_name = "SECONDS")]
    time_limit: Option<f64>,
    /// The command and its arguments
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

/// Runs the verb.
///
/// # Errors
/// A command that cannot be traced, a machine without an emulator, a file that cannot be written.
pub fn run(arguments: &TraceRecordArguments) -> Result<u8> {
    let time_limit = match arguments.time_limit {
        None => None,
        Some(seconds) => Some(
            Duration::try_from_secs_f64(seconds)
                .ok()
                .filter(|limit| !limit.is_zero())
                .ok_or_else(|| Misuse(format!("--time-limit cannot be {seconds} seconds")))?,
        ),
    };
    screen::find_place(&arguments.output, &reads::of_command(&arguments.command))?;
    let refused = |refusal: TraceRefusal| cannot_trace(&refusal, refusal.to_string());
    // Before a recording of that name is written over.
    check(&arguments.command).map_err(refused)?;
    let cannot = || format!("cannot write {}", arguments.output.display());
    let file = Output::growing(&arguments.output).with_context(cannot)?;
    let coding = coding_of(arguments.compact);
    let recording = Recording::begin(BufWriter::new(file), coding).with_context(cannot)?;
    let options = TraceOptions { follow: arguments.follow, time_limit, ..TraceOptions::default() };
    let observer = recording.clone();
    assay_linux::interrupt::catch();
    let traced = command(&arguments.command, &options, move || observer.thread());
    let mut trace = traced.map_err(refused)?;
    if let Some(first) = trace.processes.first_mut().filter(|process| process.program.as_os_str().is_empty())
    {
        first.program = PathBuf::from(&arguments.command[0]);
    }
    let (directory, out) = recording.finish(trace).with_context(cannot)?;
    let out = out.into_inner().map_err(std::io::IntoInnerError::into_error).with_context(cannot)?;
    out.finish().with_context(cannot)?;
    let bytes = std::fs::metadata(&arguments.output).with_context(cannot)?.len();
    screen::print(&said(&arguments.output, &directory, bytes));
    if assay_linux::interrupt::asked() {
        screen::tell("assay: interrupted. The trace holds what was executed until then.");
        return Ok(FAILED);
    }
    Ok(DONE)
}

fn said(output: &Path, directory: &Directory, bytes: u64) -> String {
    let sum = |of: fn(&StreamTotals) -> u64| directory.streams.iter().map(of).sum::<u64>();
    let (branches, instructions) = (sum(|stream| stream.branches), sum(|stream| stream.instructions));
    let mut text = format!(
        "{}: {} branches of {}, {} instructions, {}, {} bits per branch\n",
        output.display(),
        words::count(branches),
        words::plural(directory.streams.len() as u64, "thread"),
        words::count(instructions),
        words::bytes(bytes),
        words::short(bytes as f64 * 8.0 / branches.max(1) as f64)
    );
    for process in &directory.processes {
        text.push_str(&format!("process {}: {}, {}\n", process.pid, process.program, process.ended));
        process.notes.iter().for_each(|note| text.push_str(&format!("  {note}\n")));
    }
    text
}

/// A file that the threads of a command are written to.
pub struct Recording<W: Write> {
    shared: Arc<Mutex<Shared<W>>>,
    coding: BlockCoding,
}

impl<W: Write> Clone for Recording<W> {
    fn clone(&self) -> Self {
        Recording { shared: Arc::clone(&self.shared), coding: self.coding }
    }
}

struct Shared<W> {
    writer: Option<StoredWriter<W>>,
    threads: u32,
    branches: u64,
    bar: ProgressBar,
    /// The first thing that went wrong; nothing is written after it.
    failed: Option<std::io::Error>,
}

impl<W: Write> Shared<W> {
    fn write(&mut self, stream: u32, block: &CodedBlock) {
        if let Some(writer) = self.writer.as_mut().filter(|_| self.failed.is_none()) {
            self.failed = writer.write(stream, block).err();
            self.branches += u64::from(block.branches());
            let (branches, bytes) = (words::count(self.branches), words::count(writer.bytes()));
            let threads = words::plural(u64::from(self.threads), "thread");
            self.bar.set_message(format!("{branches} branches of {threads}, {bytes} bytes"));
        }
    }
}

impl<W: Write + Send + 'static> Recording<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// The writer's own.
    pub fn begin(out: W, coding: BlockCoding) -> std::io::Result<Recording<W>> {
        let target = if Term::stderr().is_term() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        let writer = Some(StoredWriter::new(out)?);
        let shared = Shared { writer, threads: 0, branches: 0, bar, failed: None };
        Ok(Recording { shared: Arc::new(Mutex::new(shared)), coding })
    }

    fn lock(&self) -> MutexGuard<'_, Shared<W>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The observer of another thread.
    pub fn thread(&self) -> ThreadRecorder<W> {
        let mut shared = self.lock();
        shared.threads += 1;
        ThreadRecorder {
            number: shared.threads - 1,
            stream: Box::new(StreamWriter::new(self.coding)),
            recording: self.clone(),
            fault: None,
        }
    }

    /// Writes what threads still hold, and the directory.
    ///
    /// # Errors
    /// The writer's own, at any time since the beginning.
    pub fn finish(&self, trace: Trace<ThreadRecorder<W>>) -> std::io::Result<(Directory, W)> {
        let mut directory = Directory { source: format!("qemu {}", trace.emulator), ..Directory::default() };
        let threads = self.lock().threads as usize;
        directory.streams.resize(threads, StreamTotals::default());
        for (number, process) in (0..).zip(trace.processes) {
            let kept = self.process(number, process, &mut directory.streams);
            directory.processes.push(kept);
        }
        let mut shared = self.lock();
        shared.bar.finish_and_clear();
        if let Some(error) = shared.failed.take() {
            return Err(error);
        }
        let writer =
            shared.writer.take().ok_or_else(|| std::io::Error::other("the file is finished already"))?;
        let mut out = writer.finish(&directory)?;
        out.flush()?;
        Ok((directory, out))
    }

    fn process(
        &self,
        number: u32,
        process: ProcessTrace<ThreadRecorder<W>>,
        streams: &mut [StreamTotals],
    ) -> TracedProcess {
        let mut notes = process.notes;
        for traced in process.threads {
            let mut thread = traced.observer;
            if let Some(block) = thread.stream.finish() {
                self.lock().write(thread.number, &block);
            }
            notes.extend(
                thread.fault.map(|fault| format!("Thread {} could not be written: {fault}.", traced.thread)),
            );
            let (branches, instructions) = (thread.stream.branches(), thread.stream.instructions());
            streams[thread.number as usize] =
                StreamTotals { process: number, thread: traced.thread, branches, instructions };
        }
        let modules = process.modules.into_iter().map(|module| StoredModule {
            start: module.start,
            end: module.end,
            file_offset: module.file_offset,
            path: module.path.to_string_lossy().into_owned(),
        });
        TracedProcess {
            pid: process.pid,
            parent: process.parent,
            program: process.program.to_string_lossy().into_owned(),
            ended: process.ended.to_string(),
            modules: modules.collect(),
            notes,
        }
    }
}

/// Codes the branches of one thread.
pub struct ThreadRecorder<W: Write> {
    number: u32,
    stream: Box<StreamWriter>,
    recording: Recording<W>,
    /// Why no more of this thread is written.
    fault: Option<TraceFault>,
}

impl<W: Write + Send + 'static> Observer for ThreadRecorder<W> {
    fn branches(&mut self, sites: &[BranchSite], branches: &[Branch]) {
        if self.fault.is_some() {
            return;
        }
        let (recording, number) = (&self.recording, self.number);
        let pushed = self.stream.push::<TraceFault>(sites, branches, |block| {
            recording.lock().write(number, &block);
            Ok(())
        });
        self.fault = pushed.err();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_pure::trace::stored::StoredReader;
    use assay_pure::trace::{Batch, BranchClass, TraceSource as _};
    use assay_trace::{ClassCounts, ThreadTrace};

    const SITE: BranchSite =
        BranchSite { pc: 0x1000, length: 2, class: BranchClass::CONDITIONAL, target: Some(0x1000) };

    fn feed(thread: &mut ThreadRecorder<Vec<u8>>, count: u32) {
        let branches: Vec<Branch> = (0..count)
            .map(|at| Branch::new(0x1000, 0x1000, 0, BranchClass::CONDITIONAL, at % 3 > 0, 3))
            .collect();
        branches.chunks(1000).for_each(|piece| thread.branches(&[SITE], piece));
    }

    fn process(pid: u32, observers: Vec<ThreadRecorder<Vec<u8>>>) -> ProcessTrace<ThreadRecorder<Vec<u8>>> {
        let threads = (0..).zip(observers);
        ProcessTrace {
            pid,
            parent: None,
            program: PathBuf::from("/bin/true"),
            threads: threads
                .map(|(thread, observer)| ThreadTrace { thread, counts: ClassCounts::default(), observer })
                .collect(),
            sites: Vec::new(),
            blocks: Vec::new(),
            modules: Vec::new(),
            regions: Vec::new(),
            ended: assay_trace::TracedExit::Signalled(11),
            notes: vec!["A note.".to_owned()],
        }
    }

    #[test]
    fn threads_of_several_processes_share_a_file() {
        let recording = Recording::begin(Vec::new(), BlockCoding::default()).unwrap();
        let mut threads: Vec<_> = (0..4).map(|_| recording.thread()).collect();
        for (thread, count) in threads.iter_mut().zip([70_000, 0, 5, 100]) {
            feed(thread, count);
        }
        let last = threads.pop().unwrap();
        let processes = vec![process(7, vec![last]), process(9, threads)];
        let trace = Trace { processes, emulator: "7.2".to_owned() };
        let (directory, bytes) = recording.finish(trace).unwrap();
        let owners: Vec<_> = directory.streams.iter().map(|s| (s.process, s.thread, s.branches)).collect();
        assert_eq!(owners, [(1, 0, 70_000), (1, 1, 0), (1, 2, 5), (0, 0, 100)]);
        assert_eq!(directory.streams[2].instructions, 15);
        assert_eq!(
            (directory.processes[1].pid, directory.processes[1].ended.as_str()),
            (9, "ended by signal 11")
        );
        let mut reader = StoredReader::new(&bytes[..]).unwrap();
        let (mut batch, mut counts) = (Batch::default(), [0; 4]);
        while reader.next(&mut batch).unwrap() {
            counts[batch.stream as usize] += batch.branches.len();
        }
        assert_eq!(counts, [70_000, 0, 5, 100]);
        assert_eq!(reader.directory(), Some(&directory));
    }

    #[test]
    fn a_thread_that_cannot_be_written_is_noted_and_the_rest_kept() {
        let recording = Recording::begin(Vec::new(), BlockCoding::default()).unwrap();
        let mut thread = recording.thread();
        feed(&mut thread, 10);
        let never = Branch::new(0x1000, 0, 1, BranchClass::JUMP, false, 1);
        thread.branches(&[SITE, BranchSite { class: BranchClass::JUMP, ..SITE }], &[never]);
        feed(&mut thread, 10);
        let trace = Trace { processes: vec![process(7, vec![thread])], emulator: "7.2".to_owned() };
        let (directory, bytes) = recording.finish(trace).unwrap();
        assert_eq!(directory.streams[0].branches, 10);
        assert!(directory.processes[0].notes[1].starts_with("Thread 0 could not be written"));
        let mut batch = Batch::default();
        assert_eq!(StoredReader::new(&bytes[..]).unwrap().next(&mut batch), Ok(true));
        assert_eq!(batch.branches.len(), 10);
    }

    #[test]
    fn a_disk_that_is_full_is_an_error_at_the_end() {
        /// Takes the name and nothing more.
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
                Ok(bytes.len())
            }

            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let recording = Recording::begin(Full(8), BlockCoding::Compact).unwrap();
        let mut thread = recording.thread();
        let branch = Branch::new(0x1000, 0x1000, 0, BranchClass::CONDITIONAL, true, 3);
        (0..70).for_each(|_| thread.branches(&[SITE], &[branch; 1000]));
        let error = recording.finish(Trace { processes: Vec::new(), emulator: String::new() });
        assert_eq!(error.err().map(|error| error.kind()), Some(std::io::ErrorKind::StorageFull));
    }
}
