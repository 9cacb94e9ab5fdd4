//! The published schema of `assay stages`, generated and shown by the samples.

use super::page::STAGES_SCHEMA;
use super::sample;
use crate::schema::assert_published;

#[test]
fn the_schema_is_that_of_the_page_and_the_rich_samples_show_every_key() {
    assert_published(STAGES_SCHEMA, &[sample::diary(), sample::modes()], &[sample::one()]);
}
