//! The ledger: one SQLite file that keeps every fact of every campaign. Nothing is overwritten, nothing derived.

mod campaigns;
mod comparisons;
mod diaries;
mod heads;
mod imports;
mod ledger;
pub mod mark;
mod merge;
mod overview;
mod owner;
mod queries;
mod rows;
#[cfg(test)]
pub(crate) mod sample;
mod samples;
mod sweeps;
mod unusable;

pub use comparisons::{ComparisonRow, FigureRow, MemoryRow, NewComparison, SideRow, VisitRow};
pub use diaries::{DiaryCount, DiaryEntrant, DiaryTask, NewSession, SessionRow, TaskName};

pub use heads::Led;
pub use imports::{ImportedFigure, ImportedRow, NewImport};
pub use ledger::{FORMAT, Ledger};
pub use merge::{Diverged, Merged, MergedKind};
pub use overview::{Advance, Kept, KeptRow};
pub use owner::APPLICATION_ID;
pub use rows::{
    AllocationRow, Answer, ArtifactRow, BranchTimingRow, CampaignInput, CampaignRow, CountRow, ExecutionRow,
    FailureRow, IdentityRow, InputRow, NewCampaign, NewSample, ProcessRow, ProvenAnswer, Round, SampleRow,
};
pub use sweeps::{NewSweep, SweepPoint, SweepRow, SweepStep};
pub use unusable::Unusable;
