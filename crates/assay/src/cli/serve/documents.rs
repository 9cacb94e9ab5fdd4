//! Documents that were made. Each is made once, however many ask for it meanwhile: a browser that reloads a page of a million
//! samples would otherwise start the same second of work again.

use anyhow::Result;
use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The documents, those asked for last behind.
#[derive(Debug)]
pub struct Documents<T> {
    most: usize,
    state: Mutex<DocumentCache<T>>,
    /// Something was made, or could not be.
    done: Condvar,
}

#[derive(Debug)]
struct DocumentCache<T> {
    made: Vec<(String, Arc<T>)>,
    making: BTreeSet<String>,
    waiting: usize,
}

impl<T> DocumentCache<T> {
    fn find(&mut self, key: &str) -> Option<Arc<T>> {
        let at = self.made.iter().position(|(known, _)| known == key)?;
        let found = self.made.remove(at);
        let document = Arc::clone(&found.1);
        self.made.push(found);
        Some(document)
    }
}

impl<T> Documents<T> {
    /// Room for so many.
    pub fn new(most: usize) -> Self {
        let state = DocumentCache { made: Vec::new(), making: BTreeSet::new(), waiting: 0 };
        Self { most, state: Mutex::new(state), done: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, DocumentCache<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The document of this key; made where there is none and nobody makes it, waited for where somebody does.
    ///
    /// # Errors
    /// Those of `make`; who waited then tries it too.
    pub fn get(&self, key: &str, make: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        let mut state = self.lock();
        loop {
            if let Some(document) = state.find(key) {
                return Ok(document);
            }
            if state.making.insert(key.to_owned()) {
                break;
            }
            state.waiting += 1;
            state = self.done.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
        drop(state);
        let _making = Making { documents: self, key };
        let document = Arc::new(make()?);
        let mut state = self.lock();
        if state.made.len() >= self.most {
            state.made.remove(0);
        }
        state.made.push((key.to_owned(), Arc::clone(&document)));
        Ok(document)
    }

    /// The document of this key, if it is there; it counts as asked for last.
    pub fn find(&self, key: &str) -> Option<Arc<T>> {
        self.lock().find(key)
    }
}

/// A key whose document is being made, however that ends.
struct Making<'a, T> {
    documents: &'a Documents<T>,
    key: &'a str,
}

impl<T> Drop for Making<'_, T> {
    fn drop(&mut self) {
        self.documents.lock().making.remove(self.key);
        self.documents.done.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    #[test]
    fn two_that_ask_for_one_document_share_its_making() {
        let documents = Documents::new(2);
        let made = AtomicUsize::new(0);
        let make = || {
            // The first maker goes on only when the other waits for it, or makes it too.
            if made.fetch_add(1, Ordering::SeqCst) == 0 {
                while documents.lock().waiting == 0 && made.load(Ordering::SeqCst) < 2 {
                    thread::yield_now();
                }
            }
            Ok(b"page".to_vec())
        };
        let (one, other) = thread::scope(|scope| {
            let asks = [(); 2].map(|()| scope.spawn(|| documents.get("a", make).unwrap()));
            let [one, other] = asks.map(|ask| ask.join().unwrap());
            (one, other)
        });
        assert_eq!(made.load(Ordering::SeqCst), 1);
        assert!(Arc::ptr_eq(&one, &other));
    }

    #[test]
    fn what_could_not_be_made_is_tried_by_who_waited() {
        let documents = Documents::new(2);
        let tries = AtomicUsize::new(0);
        let make = || {
            if tries.fetch_add(1, Ordering::SeqCst) == 0 {
                while documents.lock().waiting == 0 && tries.load(Ordering::SeqCst) < 2 {
                    thread::yield_now();
                }
                anyhow::bail!("not now");
            }
            Ok(b"page".to_vec())
        };
        let found = thread::scope(|scope| {
            let asks = [(); 2].map(|()| scope.spawn(|| documents.get("a", make).is_ok()));
            asks.map(|ask| ask.join().unwrap())
        });
        assert!(found.contains(&true) && found.contains(&false), "{found:?}");
    }

    #[test]
    fn what_was_not_asked_for_longest_makes_room() {
        let documents = Documents::<Vec<u8>>::new(2);
        let get = |key: &str| {
            let mut made = false;
            let make = || {
                made = true;
                Ok(Vec::new())
            };
            documents.get(key, make).unwrap();
            made
        };
        assert!(get("a") && get("b") && !get("a") && get("c"));
        assert!(!get("a") && get("b"), "b was asked for longest ago");
        documents.find("a");
        assert!(get("d") && !get("a"));
    }
}
