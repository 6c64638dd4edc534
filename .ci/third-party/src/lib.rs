//! Nothing. A crate that is checked beside this one has its dependencies as the whole workspace has them, so that CI compiles them once.
