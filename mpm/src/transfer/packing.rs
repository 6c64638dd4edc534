//! How densely particles lie: the volume at rest of the particles around a point, per volume that they fill.

use pliant_constitutive::Real;

/// 1 − F over the arm of the volume around a point at or below a plane surface, 1/cells: F is 1/2 at the surface, where the arm is
/// 0.285 cells; from there to one cell below it, the ratio falls from 1.76 to 1.41.
const FILL_PER_ARM: f64 = 1.75;
/// Smallest part of a kernel that counts as filled: that of a particle on an edge.
const FILL_MIN: f64 = 0.25;

/// The packing around a particle from the volumes V_i of the nodes around it:
///
/// ```text
/// fill = Σ w_i V_i / h³      arm = |Σ w_i V_i (x_i − x)| / (h Σ w_i V_i)      packing = fill / F(arm)
/// ```
///
/// Within a body of particles fill is their packing. At a surface a part 1 − F of the kernel is empty, whatever the packing; the centre
/// of the volume then lies off the particle, at an arm that does not depend on the packing either and tells F. The surface may be free, or a
/// body that holds no particles.
#[inline(always)]
pub(crate) fn packing_of<T: Real>(fill: T, arm: T) -> T {
    let filled = T::one() - T::of(FILL_PER_ARM) * arm;
    fill / filled.max(T::of(FILL_MIN))
}
