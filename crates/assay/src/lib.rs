//! The lab: builds, measures, keeps and reports.
