//! Where a command's branches were mispredicted: the page of `assay sites` as plain data, on a terminal and as JSON.
//!
//! The JSON is an interface (schema "assay.sites/1", `schema/sites-1.schema.json`, generated from the page).

pub mod components;
pub mod misses;
pub mod names;
pub mod page;
#[cfg(test)]
pub(crate) mod sample;
mod terminal;
#[cfg(test)]
mod tests;

pub use page::SitesPage;
pub use terminal::render_sites;
