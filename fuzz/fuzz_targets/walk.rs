//! Reads a stream to its end or its first error, and checks what every reader promises.

use assay_pure::trace::{Batch, Branch, TraceError, TraceSource};

/// All branches, unless the stream ends with an error.
pub fn walk(source: Result<impl TraceSource, TraceError>) -> Option<Vec<Branch>> {
    let mut source = source.ok()?;
    let (mut batch, mut branches) = (Batch::default(), Vec::new());
    loop {
        let result = source.next(&mut batch);
        let sites = source.sites(batch.stream);
        for branch in &batch.branches {
            let site = &sites[branch.site as usize];
            assert_eq!((site.pc, site.class), (branch.pc, branch.class()));
            assert!(branch.taken() || branch.class().is_conditional());
        }
        branches.extend_from_slice(&batch.branches);
        match result {
            Ok(true) => assert!(!batch.branches.is_empty()),
            Ok(false) => {
                assert!(batch.branches.is_empty());
                return Some(branches);
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                return None;
            }
        }
    }
}
