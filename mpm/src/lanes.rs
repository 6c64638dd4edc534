//! SIMD: rows of sixteen numbers, three nodes of a grid row and one of padding, four values each; and numbers of several particles side by
//! side.
//!
//! Kernels are compiled for every [`InstructionSet`]; the widest one of the processor is selected at run time. The baseline must not use
//! scalar `mul_add`: without the instruction it is a library call, thirty times as slow.

use pliant_constitutive::{Number, Real};

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod avx2;

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use avx2::Wide;

/// Values of a row of nodes.
pub(crate) const LANES: usize = 16;

/// Arithmetic on rows and on several particles in one instruction set.
pub trait Lanes<T: Real>: Copy {
    /// A row in registers.
    type Row: Copy;
    /// A number of each of several particles.
    type Points: Number<Scalar = T>;
    /// `x` of every particle.
    fn points(self, x: impl FnMut(usize) -> T) -> Self::Points;
    fn splat(self, x: T) -> Self::Row;
    fn load(self, x: &[T; LANES]) -> Self::Row;
    fn store(self, x: Self::Row, to: &mut [T; LANES]);
    fn add(self, a: Self::Row, b: Self::Row) -> Self::Row;
    fn mul(self, a: Self::Row, b: Self::Row) -> Self::Row;
    /// a·b + c.
    fn mul_add(self, a: Self::Row, b: Self::Row, c: Self::Row) -> Self::Row;
    /// a·b + c of scalars, for loops that the compiler vectorises.
    fn one_mul_add(self, a: T, b: T, c: T) -> T;
}

/// Plain arrays, vectorised by the compiler.
#[derive(Clone, Copy)]
pub(crate) struct Baseline;

impl<T: Real> Lanes<T> for Baseline {
    type Row = [T; LANES];
    type Points = T;
    #[inline(always)]
    fn points(self, mut x: impl FnMut(usize) -> T) -> T {
        x(0)
    }
    #[inline(always)]
    fn splat(self, x: T) -> Self::Row {
        [x; LANES]
    }
    #[inline(always)]
    fn load(self, x: &[T; LANES]) -> Self::Row {
        *x
    }
    #[inline(always)]
    fn store(self, x: Self::Row, to: &mut [T; LANES]) {
        *to = x;
    }
    #[inline(always)]
    fn add(self, a: Self::Row, b: Self::Row) -> Self::Row {
        std::array::from_fn(|k| a[k] + b[k])
    }
    #[inline(always)]
    fn mul(self, a: Self::Row, b: Self::Row) -> Self::Row {
        std::array::from_fn(|k| a[k] * b[k])
    }
    #[inline(always)]
    fn mul_add(self, a: Self::Row, b: Self::Row, c: Self::Row) -> Self::Row {
        std::array::from_fn(|k| a[k] * b[k] + c[k])
    }
    #[inline(always)]
    fn one_mul_add(self, a: T, b: T, c: T) -> T {
        a * b + c
    }
}

/// Instruction set of the kernels.
///
/// AVX2 rounds a·b + c once, the baseline twice: results differ by round-off, and only those of the baseline are identical on every
/// processor.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use pliant_mpm::{GradientForm, InstructionSet, NodeField, Particle, SparseGrid, Transfer};
///
/// // The instruction sets of this processor give the same momentum to a node, to round-off.
/// let particle = Particle { x: Vector3::repeat(0.013), v: Vector3::new(3.0, 0.0, 0.0), mass: 2e-3, ..Particle::<f64>::default() };
/// # let (mut grid, mut nodes) = (SparseGrid::default(), NodeField::default());
/// # grid.build(0.02, [particle.x].into_iter())?;
/// # let free = |_: &[Particle<f64>], impulses: &mut [Matrix3<f64>]| impulses.fill(Matrix3::zeros());
/// let momenta = InstructionSet::available().map(|instructions| {
///     let transfer = Transfer { instructions, ..Transfer::new(0.02, GradientForm::True) };
///     transfer.particles_to_grid(&grid, &[particle], free, &mut nodes);
///     nodes.nodes().map(|node| node[0]).fold(0.0, f64::max)
/// });
/// let momenta: Vec<f64> = momenta.collect();
/// assert!(momenta.iter().all(|p| (p - momenta[0]).abs() < 1e-15 && *p > 0.0));
/// assert_eq!(InstructionSet::available().last(), Some(InstructionSet::widest()));
/// # Ok::<(), pliant_mpm::MpmError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InstructionSet {
    /// The instructions of every processor of the target.
    Baseline,
    /// Registers of 256 bits and fused multiply-add: x86-64-v3.
    Avx2,
}

impl InstructionSet {
    /// The instruction sets of this processor, the widest last.
    pub fn available() -> impl Iterator<Item = Self> {
        let all = [Self::Baseline, Self::Avx2];
        all.into_iter().filter(|set| *set <= Self::widest())
    }

    /// The widest instruction set of this processor.
    #[must_use]
    pub fn widest() -> Self {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        if pulp::x86::V3::try_new().is_some() {
            return Self::Avx2;
        }
        Self::Baseline
    }
}

/// A kernel that is generic over the instruction set.
pub trait LaneWork<T: Real> {
    fn run<L: Lanes<T>>(self, lanes: L);
}

/// Scalars with rows in every instruction set.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use pliant_mpm::{GradientForm, LaneScalar, NodeField, Particle, SparseGrid, Transfer};
///
/// /// The mass on all nodes around a particle of 2 g, kg.
/// fn mass_on_grid<T: LaneScalar>() -> Result<f64, pliant_mpm::MpmError> {
///     let particle = Particle { x: Vector3::repeat(T::of(0.013)), mass: T::of(2e-3), ..Particle::<T>::default() };
///     let (mut grid, mut nodes) = (SparseGrid::default(), NodeField::default());
///     grid.build(T::of(0.02), [particle.x].into_iter())?;
///     let free = |_: &[Particle<T>], impulses: &mut [Matrix3<T>]| impulses.fill(Matrix3::zeros());
///     Transfer::new(T::of(0.02), GradientForm::True).particles_to_grid(&grid, &[particle], free, &mut nodes);
///     Ok(nodes.nodes().map(|node| node[3].wide()).sum())
/// }
/// # use pliant_constitutive::Real;
/// assert!((mass_on_grid::<f64>()? - 2e-3).abs() < 1e-17);
/// assert!((mass_on_grid::<f32>()? - 2e-3).abs() < 1e-9);
/// # Ok::<(), pliant_mpm::MpmError>(())
/// ```
pub trait LaneScalar: Real {
    /// Runs `work` with the widest registers of the processor and of `set`.
    #[doc(hidden)]
    fn dispatch(set: InstructionSet, work: impl LaneWork<Self>);
}

macro_rules! dispatch {
    ($scalar:ty) => {
        impl LaneScalar for $scalar {
            #[inline]
            fn dispatch(set: InstructionSet, work: impl LaneWork<Self>) {
                #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
                if set >= InstructionSet::Avx2
                    && let Some(v3) = pulp::x86::V3::try_new()
                {
                    struct Vectorised<W>(W, pulp::x86::V3);
                    impl<W: LaneWork<$scalar>> pulp::NullaryFnOnce for Vectorised<W> {
                        type Output = ();
                        #[inline(always)]
                        fn call(self) {
                            self.0.run(Wide(self.1));
                        }
                    }
                    return v3.vectorize(Vectorised(work, v3));
                }
                work.run(Baseline);
            }
        }
    };
}
dispatch!(f32);
dispatch!(f64);

#[cfg(test)]
mod tests {
    use super::*;

    /// a·b + c, a + b, a·b and a splat, one after the other.
    struct All<'a, T> {
        inputs: [[T; LANES]; 3],
        out: &'a mut [[T; LANES]; 4],
    }

    impl<T: Real> LaneWork<T> for All<'_, T> {
        #[inline(always)]
        fn run<L: Lanes<T>>(self, lanes: L) {
            let [a, b, c] = [0, 1, 2].map(|k| lanes.load(&self.inputs[k]));
            lanes.store(lanes.mul_add(a, b, c), &mut self.out[0]);
            lanes.store(lanes.add(a, b), &mut self.out[1]);
            lanes.store(lanes.mul(a, b), &mut self.out[2]);
            lanes.store(lanes.splat(self.inputs[0][3]), &mut self.out[3]);
        }
    }

    fn all<T: LaneScalar>(set: InstructionSet) -> [[T; LANES]; 4] {
        let inputs = [1.3, -0.7, 2.9].map(|s| std::array::from_fn(|k| T::of(s * (k as f64 + 0.1))));
        let mut out = [[T::zero(); LANES]; 4];
        T::dispatch(
            set,
            All {
                inputs,
                out: &mut out,
            },
        );
        out
    }

    fn check<T: LaneScalar>() {
        let plain = all::<T>(InstructionSet::Baseline);
        for wide in InstructionSet::available().map(all::<T>) {
            // Fused products round once.
            for (plain, wide) in plain.iter().flatten().zip(wide.iter().flatten()) {
                let bound = T::of(4.0) * T::default_epsilon() * plain.abs().max(T::of(50.0));
                assert!((*plain - *wide).abs() <= bound);
            }
        }
    }

    #[test]
    fn every_instruction_set_does_the_same_arithmetic() {
        check::<f32>();
        check::<f64>();
    }
}
