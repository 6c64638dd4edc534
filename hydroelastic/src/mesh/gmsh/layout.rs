//! Layouts of the MSH format.

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    Version2,
    Version40,
    Version41,
}
