//! Reads a stream to its end or its first error, and checks what every reader promises.

use assay_pure::trace::{Batch, Source, TraceError};

pub fn walk(source: Result<impl Source, TraceError>) {
    let Ok(mut source) = source else { return };
    let mut batch = Batch::default();
    loop {
        let result = source.next(&mut batch);
        let sites = source.sites(batch.stream);
        for branch in &batch.branches {
            let site = &sites[branch.site as usize];
            assert_eq!((site.pc, site.class), (branch.pc, branch.class()));
            assert!(branch.taken() || branch.class().is_conditional());
        }
        match result {
            Ok(true) => assert!(!batch.branches.is_empty()),
            Ok(false) => return assert!(batch.branches.is_empty()),
            Err(error) => return assert!(!error.to_string().is_empty()),
        }
    }
}
