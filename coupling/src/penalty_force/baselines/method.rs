//! The baselines by name.

/// A way of finding contact forces that the implicit step is compared with. Each creeps or collapses somewhere where friction carries a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PenaltyBaseline {
    /// Normal force and friction at the start of the step: `prmd_dd_lag` of Ding and Schroeder (2020).
    Lagged,
    /// Normal force at the end of the step, friction of the attachments at its start: `prmd_dd_lagfr`.
    LaggedFriction,
    /// Normal force at the end of the step, friction by impulses that stop slip as far as the friction cone lets them; no attachments.
    VelocityProjection,
    /// Anchors on springs with dampers, at the start of the step: Yamane and Nakamura (2006). The damper is k τ, with the materials' relaxation time τ.
    YamaneNakamura,
}

impl PenaltyBaseline {
    /// Names in scenes; `implicit` is none of them.
    pub const NAMES: [(&'static str, Option<Self>); 5] = [
        ("implicit", None),
        ("lag", Some(Self::Lagged)),
        ("lagfr", Some(Self::LaggedFriction)),
        ("projv", Some(Self::VelocityProjection)),
        ("yamane-nakamura", Some(Self::YamaneNakamura)),
    ];
}
