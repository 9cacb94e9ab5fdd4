//! What the user reads: a campaign as plain data ([`page`]), its answer, and its views on a terminal and as JSON.
//!
//! Nothing here measures, builds or opens the ledger, and only [`progress`] has a clock. `{stem}.rs` beside a folder of
//! the same name is that folder's parent.
#![forbid(unsafe_code)]

pub mod answer;
pub mod clean;
pub mod compare;
mod csv;
pub mod doctor;
pub mod export;
pub mod fit;
mod forest;
pub mod gate;
pub mod history;
pub mod html;
pub mod ink;
mod json;
pub mod layout;
pub mod limits;
pub mod link;
pub mod list;
pub mod markdown;
mod modes;
pub mod page;
pub mod picture;
pub mod plan;
mod plot_axis;
pub mod progress;
pub mod prose;
pub mod sheet;
pub mod simulation;
pub mod sites;
pub mod stages;
pub mod stat;
pub mod status;
mod stopped;
pub mod sweep;
pub mod table;
pub mod terminal;
pub mod unmeasured;
mod usage;

#[cfg(test)]
mod golden;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod schema;

pub use answer::answer;
pub use clean::{CleanPage, render_clean};
pub use compare::{ComparePage, render_compare};
pub use doctor::render_examination;
pub use fit::{FitPage, render_fit};
pub use history::{HistoryPage, render_history};
pub use json::escaped as escaped_json;
pub use layout::{LayoutPage, render_layout};
pub use list::{ListPage, render_list};
pub use page::Page;
pub use plan::{PlanPage, render_plan};
pub use progress::{Progress, Show};
pub use simulation::{SimulationPage, render_simulation};
pub use stages::{DiaryPage, render_stages};
pub use stat::{StatPage, render_stat};
pub use status::{StatusPage, render_status};
pub use sweep::{SweepPage, render_sweep};
pub use terminal::{Detail, render};
