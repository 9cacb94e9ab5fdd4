//! Why nothing can be traced.

/// Whose fault it is that nothing can be traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// What the user named: no machine could trace it.
    Asked,
    /// What is here: the emulator, the plugin, what these two can do.
    Machine,
}

/// Why nothing can be traced, with the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceRefusal {
    /// Whose fault it is.
    pub blame: Blame,
    /// A whole sentence for the user: what was found, what is needed.
    pub reason: String,
    /// What the user can do, if anything.
    pub remedy: Option<String>,
}

impl std::fmt::Display for TraceRefusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.reason)?;
        if let Some(remedy) = &self.remedy {
            write!(f, "; {remedy}")?;
        }
        Ok(())
    }
}

impl std::error::Error for TraceRefusal {}
