//! A fitted input beside the recorded one: the page of `assay inputs fit` as plain data, on a terminal and as JSON.
//!
//! The JSON is an interface (schema "assay.fit/2", `schema/fit-2.schema.json`, generated from the page).

pub mod page;
#[cfg(test)]
pub(crate) mod sample;
mod terminal;
#[cfg(test)]
mod tests;

pub use page::FitPage;
pub use terminal::render_fit;
