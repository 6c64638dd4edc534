//! Work on several material points side by side, with the widest numbers that the processor has.

use super::Number;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use super::Packed;

/// Work that is generic over the number.
///
/// ```
/// use pliant_constitutive::{Number, SideBySide, side_by_side};
///
/// /// The lengths of vectors, as many at once as the processor's registers hold.
/// struct Lengths<'a> { vectors: &'a [[f64; 3]], out: &'a mut Vec<f64> }
/// impl SideBySide for Lengths<'_> {
///     fn run<N: Number<Scalar = f64>>(self, zero: N) {
///         for vectors in self.vectors.chunks(N::LANES) {
///             // Lanes beyond the last vector repeat it.
///             let last = vectors.len() - 1;
///             let [x, y, z] = [0, 1, 2].map(|k| zero.with_lanes(|lane| vectors[lane.min(last)][k]));
///             let lengths = (x * x + y * y + z * z).root();
///             self.out.extend((0..vectors.len()).map(|lane| lengths.lane(lane)));
///         }
///     }
/// }
/// let (vectors, mut out) = ([[3.0, 4.0, 0.0]; 6], Vec::new());
/// side_by_side(Lengths { vectors: &vectors, out: &mut out });
/// assert_eq!(out, [5.0; 6]);
/// ```
pub trait SideBySide {
    /// Does the work. `zero` makes other numbers: see [`Number::like`].
    fn run<N: Number<Scalar = f64>>(self, zero: N);
}

/// Runs `work` with the widest numbers of the processor.
///
/// AVX2 rounds a·b + c once, the baseline twice: results differ by round-off from one processor to another.
#[inline]
pub fn side_by_side(work: impl SideBySide) {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    if let Some(v3) = pulp::x86::V3::try_new() {
        struct Vectorised<W>(W, pulp::x86::V3);
        impl<W: SideBySide> pulp::NullaryFnOnce for Vectorised<W> {
            type Output = ();
            #[inline(always)]
            fn call(self) {
                self.0.run(Packed::<pulp::f64x4>::from_fn(self.1, |_| 0.0));
            }
        }
        return v3.vectorize(Vectorised(work, v3));
    }
    work.run(0.0_f64);
}
