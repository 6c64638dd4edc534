//! What several files of tests share.

pub(crate) mod all_hold;
pub(crate) mod close;
pub(crate) mod worlds;
