//! Where functions lie and what became of them: the page of `assay layout` as plain data, on a terminal and as JSON.
//!
//! The JSON is an interface (schema "assay.layout/1", `schema/layout-1.schema.json`, generated from the page).

pub mod page;
#[cfg(test)]
pub(crate) mod sample;
mod terminal;
#[cfg(test)]
mod tests;

pub use page::LayoutPage;
pub(crate) use terminal::chosen;
pub use terminal::render_layout;
