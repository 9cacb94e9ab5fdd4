//! The published schema of `assay compare`, generated and shown by the samples.

use super::page::COMPARE_SCHEMA;
use super::sample;
use crate::schema::assert_published;

#[test]
fn the_schema_is_that_of_the_page_and_the_rich_samples_show_every_key() {
    assert_published(COMPARE_SCHEMA, &[sample::two(), sample::modes()], &[sample::one(), sample::commands()]);
}
