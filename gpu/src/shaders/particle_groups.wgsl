// Particles by workgroup.

const LANES = 128u;

fn n_groups() -> u32 { return (P.n_particles + LANES - 1u) / LANES; }
#include "prefix_sum.wgsl"
