//! Inadmissible configurations, in which the elastic energy is not defined.

/// Why a configuration is inadmissible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Impossible {
    /// The edge has turned too far from its reference frame.
    Turned { edge: usize },
    /// The edge has almost no length.
    Collapsed { edge: usize },
    /// The edges of the joint point in opposite directions.
    Folded { joint: usize },
}
