//! Lines over two descriptors.

use crate::fields::digits;
use crate::system;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::FromRawFd;

/// Bytes of the longest request line, newline included.
pub(crate) const LINE_MAX: usize = 16_384;

/// What was read.
pub(crate) enum ChannelLine {
    Text(String),
    TooLong,
    /// The lab is gone.
    End,
}

/// The lab's requests and our replies.
pub(crate) struct Channel {
    requests: File,
    replies: File,
    /// Bytes read and not yet taken.
    waiting: Vec<u8>,
    /// Bytes said and not yet written.
    said: String,
}

impl Channel {
    /// Takes over the descriptors named as `R,W`. `None` where the text is anything else or they are not open.
    pub(crate) fn open(text: &str) -> Option<Self> {
        let (requests, replies) = text.split_once(',')?;
        let [requests, replies] =
            [requests, replies].map(|text| digits(text).and_then(|n| i32::try_from(n).ok()));
        let (requests, replies) = (requests?, replies?);
        if !system::close_on_exec(requests) || !system::close_on_exec(replies) {
            return None;
        }
        // SAFETY: both are open, and by the protocol they are this program's own for this purpose.
        let [requests, replies] =
            [requests, replies].map(|descriptor| unsafe { File::from_raw_fd(descriptor) });
        Some(Self { requests, replies, waiting: Vec::new(), said: String::new() })
    }

    /// The next line without its newline. What is not UTF-8 becomes U+FFFD, so it cannot be any request's text.
    pub(crate) fn read_line(&mut self) -> ChannelLine {
        let mut too_long = false;
        loop {
            if let Some(newline) = self.waiting.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.waiting.drain(..=newline).collect();
                let text = String::from_utf8_lossy(&line[..newline]).into_owned();
                return if too_long { ChannelLine::TooLong } else { ChannelLine::Text(text) };
            }
            if self.waiting.len() >= LINE_MAX {
                too_long = true;
                self.waiting.clear();
            }
            let mut bytes = [0; 4096];
            let room = bytes.len().min(LINE_MAX - self.waiting.len());
            match self.requests.read(&mut bytes[..room]) {
                Ok(0) => return ChannelLine::End,
                Ok(count) => self.waiting.extend_from_slice(&bytes[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return ChannelLine::End,
            }
        }
    }

    /// Says one line; control characters in it become `?`, since they could only come from a user's text.
    pub(crate) fn say(&mut self, line: &str) {
        let plain = line.chars().map(|c| if c.is_control() { '?' } else { c });
        self.said.extend(plain.take(1000));
        self.said.push('\n');
        if self.said.len() > 1 << 16 {
            self.flush();
        }
    }

    /// Writes all pending replies. If the lab is gone, the program ends quietly.
    pub(crate) fn flush(&mut self) {
        if self.replies.write_all(self.said.as_bytes()).is_err() {
            std::process::exit(0);
        }
        self.said.clear();
    }
}
