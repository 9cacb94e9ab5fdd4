//! `assay serve`: the ledger in a browser, on this machine only.

mod documents;
mod http;
mod routes;

use super::run::StoragePaths;
use super::{DONE, FAILED, screen};
use anyhow::{Context, Result};
use assay_lab::lead::Misuse;
use assay_lab::store::Ledger;
use routes::LedgerPages;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// How often it is looked whether somebody came, or wants it to end.
const LOOK: Duration = Duration::from_millis(10);
/// Requests that are answered at once; others wait.
const MOST_AT_ONCE: usize = 8;
/// How often it is looked whether something ended whose page can be made ahead.
const LOOK_AHEAD: Duration = Duration::from_secs(5);

/// Show the ledger in a browser: on this machine only, read-only
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/serve.txt"))]
pub struct ServeArguments {
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 7180)]
    pub port: u16,
    #[command(flatten)]
    pub places: StoragePaths,
}

/// Runs the verb, until somebody ends it.
///
/// # Errors
/// No ledger, or the port is taken.
pub fn run(arguments: &ServeArguments) -> Result<u8> {
    assay_linux::interrupt::catch();
    let path = arguments.places.find_ledger("assay run")?;
    // What is wrong with it is said now, not to the browser.
    Ledger::open_to_read(path)?;
    let (listener, address) = listen(arguments.port)?;
    screen::print(&format!(
        "http://{address}/  shows {}, to this machine only; Ctrl-C ends it\n",
        path.display()
    ));
    if screen::lost().is_some() {
        // The address reached nobody, so nobody would open it.
        return Ok(FAILED);
    }
    let pages = Arc::new(LedgerPages::new(&arguments.places));
    let busy = Arc::new(AtomicUsize::new(0));
    make_ahead(Arc::clone(&pages), Arc::clone(&busy));
    while !assay_linux::interrupt::asked() {
        if busy.load(Ordering::Acquire) >= MOST_AT_ONCE {
            thread::sleep(LOOK);
            continue;
        }
        match listener.accept() {
            Ok((stream, _)) => {
                let (pages, busy) = (Arc::clone(&pages), Arc::clone(&busy));
                busy.fetch_add(1, Ordering::AcqRel);
                thread::spawn(move || {
                    let _leave = RequestGuard(busy);
                    http::serve(stream, address.port(), |path| pages.answer(path));
                });
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(LOOK),
            // Whoever came has gone again.
            Err(_) => thread::sleep(LOOK),
        }
    }
    Ok(DONE)
}

/// Makes pages ahead as long as the server lives; its end needs no word to this thread.
fn make_ahead(pages: Arc<LedgerPages>, busy: Arc<AtomicUsize>) {
    thread::spawn(move || {
        let is_idle = || busy.load(Ordering::Acquire) == 0 && !assay_linux::interrupt::asked();
        let mut seen = Vec::new();
        loop {
            // What is wrong with the ledger is told to who asks for a page.
            let _ = pages.make_ahead(&mut seen, &is_idle);
            thread::sleep(LOOK_AHEAD);
        }
    });
}

/// Counts a request as done, however it ends.
struct RequestGuard(Arc<AtomicUsize>);

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn listen(port: u16) -> Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => Misuse(format!(
            "port {port} is in use; choose another with --port N, or a free one with --port 0"
        ))
        .into(),
        ErrorKind::PermissionDenied => {
            Misuse(format!("port {port} needs privileges; choose one above 1023 with --port N")).into()
        }
        _ => anyhow::Error::from(error).context(format!("cannot listen on 127.0.0.1:{port}")),
    })?;
    listener.set_nonblocking(true).context("cannot listen without waiting")?;
    let address = listener.local_addr().context("cannot read the port")?;
    Ok((listener, address))
}
