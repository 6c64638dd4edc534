//! Laws of many particles at once, in explicit substeps: formulas that are written once for one particle and for several side by side.

use nalgebra::Matrix3;
use pliant_constitutive::{Mask, Number, Real, Tensor};

use super::{Lagged, Law, Strain};
use crate::lanes::{InstructionSet, LaneScalar, LaneWork, Lanes};
use crate::particle::Particle;

/// The [`Strain`] of one particle or of several.
///
/// ```
/// use nalgebra::Matrix3;
/// use pliant_constitutive::Tensor;
/// use pliant_mpm::{LaneStrain, Strain};
///
/// // One particle of doubled volume, sheared by 0.5 within a step: (I + G)F.
/// let strain = Strain { f: Matrix3::from_diagonal(&[2.0, 1.0, 1.0].into()), internal: [0.0; 2] };
/// let shear = Tensor::from_fn(|i, j| if (i, j) == (1, 0) { 0.5 } else { 0.0 });
/// let f = LaneStrain::from(&strain).deformed(&shear);
/// assert_eq!((f.at(1, 0), f.determinant()), (1.0, 2.0));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LaneStrain<N> {
    /// Elastic deformation gradient F^E.
    pub f: Tensor<N>,
    /// Two internal variables.
    pub internal: [N; 2],
}

impl<N: Number> LaneStrain<N> {
    /// (I + G)F.
    #[inline(always)]
    #[must_use]
    pub fn deformed(&self, g: &Tensor<N>) -> Tensor<N> {
        self.f + *g * self.f
    }
}

impl<T: Real> From<&Strain<T>> for LaneStrain<T> {
    #[inline(always)]
    fn from(strain: &Strain<T>) -> Self {
        Self {
            f: Tensor::from(&strain.f),
            internal: strain.internal,
        }
    }
}

impl<T: Real> From<LaneStrain<T>> for Strain<T> {
    #[inline(always)]
    fn from(strain: LaneStrain<T>) -> Self {
        Self {
            f: strain.f.into(),
            internal: strain.internal,
        }
    }
}

/// The formulas of a law for an explicit substep, of one particle or of several. They have no branches but those that all particles take, and
/// are `#[inline(always)]`, so that they are compiled for the instructions of the processor.
///
/// ```
/// use nalgebra::Matrix3;
/// use pliant_constitutive::{Number, Tensor};
/// use pliant_mpm::{LaneLaw, LaneStrain, Strain};
///
/// /// A fluid with ψ = κ/2 (J − 1)²: τ = κ J (J − 1) I.
/// struct Fluid { kappa: f64 }
/// impl LaneLaw for Fluid {
///     fn lane_kirchhoff<N: Number>(&self, strain: &LaneStrain<N>, _: &Tensor<N>) -> Tensor<N> {
///         let ratio = strain.f.determinant();
///         Tensor::diagonal(ratio.like(self.kappa) * ratio * (ratio - ratio.like(1.0)))
///     }
///     fn lane_advance<N: Number>(&self, strain: &LaneStrain<N>, g: &Tensor<N>) -> (LaneStrain<N>, N::Mask) {
///         let f = strain.deformed(g);
///         let volume = f.determinant();
///         (LaneStrain { f, ..*strain }, volume.below(volume.like(0.0)))
///     }
/// }
/// let compressed = Strain { f: Matrix3::from_diagonal_element(0.8_f64.cbrt()), internal: [0.0; 2] };
/// let tau = Fluid { kappa: 1e4 }.lane_kirchhoff(&LaneStrain::from(&compressed), &Tensor::diagonal(0.0));
/// assert!((tau.at(0, 0) + 1e4 * 0.8 * 0.2).abs() < 1e-9);
/// ```
pub trait LaneLaw: Sync {
    /// τ, Pa; viscous parts with the velocity gradient `c`, 1/s.
    fn lane_kirchhoff<N: Number>(&self, strain: &LaneStrain<N>, c: &Tensor<N>) -> Tensor<N>;

    /// The strain after a substep with G, plastic flow included, and whether the substep crushes the particle
    /// ([`Law::is_crushed`](super::Law::is_crushed)).
    fn lane_advance<N: Number>(
        &self,
        strain: &LaneStrain<N>,
        g: &Tensor<N>,
    ) -> (LaneStrain<N>, N::Mask);
}

/// Whether det F ≤ 0.
#[inline(always)]
pub(super) fn is_flat<N: Number>(f: &Tensor<N>) -> N::Mask {
    let volume = f.determinant();
    volume.like(0.0).below(volume).not()
}

/// False for every particle.
#[inline(always)]
pub(super) fn never<N: Number>(f: &Tensor<N>) -> N::Mask {
    let x = f.at(0, 0);
    x.below(x)
}

/// A law of many particles.
///
/// ```
/// use nalgebra::Matrix3;
/// use pliant_mpm::{InstructionSet, Material, Particle, ParticleLaw, Preset};
/// use std::cell::RefCell;
///
/// // Three particles of foam in a substep of 0.1 s; the second is compressed at 20/s, to less than nothing.
/// let foam = Preset::FoamCube.material();
/// let law: &dyn ParticleLaw<f64> = foam.in_lanes().expect("the materials of this crate have formulas for several particles");
/// let mut particles = [0, 1, 2].map(|index| Particle { index, ..Particle::default() });
/// let gradients = [0.0, -20.0, 1.0].map(|rate| Matrix3::from_diagonal(&[rate, 0.0, 0.0].into()));
/// let crushed = RefCell::new(Vec::new());
/// law.advance_all(InstructionSet::widest(), 0.1, &gradients, &mut particles, &|index| crushed.borrow_mut().push(index));
/// assert_eq!(*crushed.borrow(), [1]);
/// assert!((particles[2].strain.f[(0, 0)] - 1.1).abs() < 1e-15);
/// let mut stresses = [Matrix3::zeros(); 3];
/// law.stresses(InstructionSet::widest(), &particles, &mut stresses);
/// assert!(stresses[0].norm() == 0.0 && stresses[2][(0, 0)] > 0.0);
/// ```
pub trait ParticleLaw<T: Real> {
    /// The Kirchhoff stress of each particle, Pa.
    fn stresses(
        &self,
        instructions: InstructionSet,
        particles: &[Particle<T>],
        out: &mut [Matrix3<T>],
    );

    /// Takes the strains of particles over a substep of `time`, s, with these velocity gradients, 1/s. Calls `crushed` with the index of
    /// every particle that the substep crushes.
    fn advance_all(
        &self,
        instructions: InstructionSet,
        time: T,
        gradients: &[Matrix3<T>],
        particles: &mut [Particle<T>],
        crushed: &dyn Fn(u32),
    );
}

/// A [`LaneLaw`] in both precisions, as [`Material::in_lanes`](super::Material::in_lanes) returns it.
///
/// ```
/// use nalgebra::Matrix3;
/// use pliant_constitutive::{Number, Tensor};
/// use pliant_mpm::{InstructionSet, LaneLaw, LaneMaterial, LaneStrain, Particle, ParticleLaw};
///
/// /// A gas of pressure κ (1 − J), whose τ is κ J (J − 1) I; it is never crushed.
/// struct Gas;
/// impl LaneLaw for Gas {
///     fn lane_kirchhoff<N: Number>(&self, strain: &LaneStrain<N>, _: &Tensor<N>) -> Tensor<N> {
///         let ratio = strain.f.determinant();
///         Tensor::diagonal(ratio.like(1e4) * ratio * (ratio - ratio.like(1.0)))
///     }
///     fn lane_advance<N: Number>(&self, strain: &LaneStrain<N>, g: &Tensor<N>) -> (LaneStrain<N>, N::Mask) {
///         let f = strain.deformed(g);
///         (LaneStrain { f, ..*strain }, f.at(0, 0).below(f.at(0, 0)))
///     }
/// }
/// // Written once, it is there in both precisions.
/// let gas: &dyn LaneMaterial = &Gas;
/// let (mut wide, mut narrow) = ([Matrix3::zeros()], [Matrix3::zeros()]);
/// let mut particle = Particle::<f64>::default();
/// particle.strain.f *= 0.8_f64.cbrt();
/// ParticleLaw::<f64>::stresses(gas, InstructionSet::widest(), &[particle], &mut wide);
/// let mut particle = Particle::<f32>::default();
/// particle.strain.f *= 0.8_f32.cbrt();
/// ParticleLaw::<f32>::stresses(gas, InstructionSet::widest(), &[particle], &mut narrow);
/// assert!((wide[0][(0, 0)] + 1e4 * 0.8 * 0.2).abs() < 1e-9);
/// assert!((f64::from(narrow[0][(0, 0)]) - wide[0][(0, 0)]).abs() < 0.01);
/// ```
pub trait LaneMaterial: ParticleLaw<f32> + ParticleLaw<f64> {}

impl<L: LaneLaw> LaneMaterial for L {}

impl<T: LaneScalar, L: LaneLaw> ParticleLaw<T> for L {
    fn stresses(
        &self,
        instructions: InstructionSet,
        particles: &[Particle<T>],
        out: &mut [Matrix3<T>],
    ) {
        let law = self;
        T::dispatch(
            instructions,
            Stresses {
                law,
                particles,
                out,
            },
        );
    }

    fn advance_all(
        &self,
        instructions: InstructionSet,
        time: T,
        gradients: &[Matrix3<T>],
        particles: &mut [Particle<T>],
        crushed: &dyn Fn(u32),
    ) {
        let work = Advance {
            law: self,
            time,
            gradients,
            particles,
            crushed,
        };
        T::dispatch(instructions, work);
    }
}

/// The law of a material for many particles.
///
/// ```
/// use nalgebra::Matrix3;
/// use pliant_constitutive::{Lame, NeoHookean};
/// use pliant_mpm::{InstructionSet, MaterialLaw, Particle, ParticleLaw};
///
/// // Rubber stretched along x: several particles at a time, or one after the other, it has the same stress.
/// let rubber = NeoHookean::new(Lame::new(1e4, 1e4)?)?;
/// let mut particles = [Particle::<f64>::default(); 5];
/// for (k, particle) in particles.iter_mut().enumerate() {
///     particle.strain.f[(0, 0)] = 1.0 + 0.1 * k as f64;
/// }
/// let mut stresses = [[Matrix3::zeros(); 5]; 2];
/// for (law, out) in [MaterialLaw::InLanes(&rubber), MaterialLaw::OneByOne(&rubber)].iter().zip(&mut stresses) {
///     law.stresses(InstructionSet::widest(), &particles, out);
/// }
/// let [in_lanes, one_by_one] = stresses;
/// assert!(in_lanes.iter().zip(&one_by_one).all(|(a, b)| (a - b).norm() < 1e-8));
/// assert!(in_lanes[4][(0, 0)] > in_lanes[3][(0, 0)] && in_lanes[0].norm() < 1e-8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub enum MaterialLaw<'a, T: Real> {
    /// Several particles side by side.
    InLanes(&'a dyn ParticleLaw<T>),
    /// One particle after the other.
    OneByOne(&'a dyn Law<T>),
}

impl<T: Real> ParticleLaw<T> for MaterialLaw<'_, T> {
    fn stresses(
        &self,
        instructions: InstructionSet,
        particles: &[Particle<T>],
        out: &mut [Matrix3<T>],
    ) {
        let law = match self {
            Self::InLanes(law) => return law.stresses(instructions, particles, out),
            Self::OneByOne(law) => law,
        };
        for (p, out) in particles.iter().zip(out) {
            let lagged = Lagged {
                velocity_gradient: p.c,
                ..Lagged::default()
            };
            *out = law.kirchhoff(&p.strain, &lagged);
        }
    }

    fn advance_all(
        &self,
        instructions: InstructionSet,
        time: T,
        gradients: &[Matrix3<T>],
        particles: &mut [Particle<T>],
        crushed: &dyn Fn(u32),
    ) {
        let law = match self {
            Self::InLanes(law) => {
                return law.advance_all(instructions, time, gradients, particles, crushed);
            }
            Self::OneByOne(law) => law,
        };
        for (p, gradient) in particles.iter_mut().zip(gradients) {
            let g = gradient * time;
            let mut lagged = Lagged {
                time_s: time,
                ..Lagged::default()
            };
            law.lag(&p.strain, None, &mut lagged);
            if law.is_crushed(&p.strain, &g) {
                crushed(p.index);
            }
            p.strain = law.advance(&p.strain, &lagged, &g);
        }
    }
}

struct Stresses<'a, T, L> {
    law: &'a L,
    particles: &'a [Particle<T>],
    out: &'a mut [Matrix3<T>],
}

struct Advance<'a, T, L> {
    law: &'a L,
    time: T,
    gradients: &'a [Matrix3<T>],
    particles: &'a mut [Particle<T>],
    crushed: &'a dyn Fn(u32),
}

/// A matrix of each particle; the last one fills the lanes beyond the end.
#[inline(always)]
fn tensor<'a, T: LaneScalar, L: Lanes<T>>(
    lanes: L,
    count: usize,
    of: impl Fn(usize) -> &'a Matrix3<T>,
) -> Tensor<L::Points> {
    Tensor::from_fn(
        #[inline(always)]
        |i, j| {
            lanes.points(
                #[inline(always)]
                |k| of(k.min(count - 1))[(i, j)],
            )
        },
    )
}

#[inline(always)]
fn strains<T: LaneScalar, L: Lanes<T>>(
    lanes: L,
    particles: &[Particle<T>],
) -> LaneStrain<L::Points> {
    let last = particles.len() - 1;
    LaneStrain {
        f: tensor(
            lanes,
            particles.len(),
            #[inline(always)]
            |k| &particles[k].strain.f,
        ),
        internal: [
            lanes.points(
                #[inline(always)]
                |k| particles[k.min(last)].strain.internal[0],
            ),
            lanes.points(
                #[inline(always)]
                |k| particles[k.min(last)].strain.internal[1],
            ),
        ],
    }
}

impl<T: LaneScalar, L: LaneLaw> LaneWork<T> for Stresses<'_, T, L> {
    #[inline(always)]
    fn run<S: Lanes<T>>(self, lanes: S) {
        let width = <S::Points as Number>::LANES;
        let each = self.particles.chunks(width).zip(self.out.chunks_mut(width));
        for (particles, out) in each {
            let c = tensor(
                lanes,
                particles.len(),
                #[inline(always)]
                |k| &particles[k].c,
            );
            let stress = self.law.lane_kirchhoff(&strains(lanes, particles), &c);
            for (lane, out) in out.iter_mut().enumerate() {
                *out = stress.lane(lane);
            }
        }
    }
}

impl<T: LaneScalar, L: LaneLaw> LaneWork<T> for Advance<'_, T, L> {
    #[inline(always)]
    fn run<S: Lanes<T>>(self, lanes: S) {
        let width = <S::Points as Number>::LANES;
        let time = lanes.points(
            #[inline(always)]
            |_| self.time,
        );
        let each = self
            .particles
            .chunks_mut(width)
            .zip(self.gradients.chunks(width));
        for (particles, gradients) in each {
            let gradient = tensor(
                lanes,
                gradients.len(),
                #[inline(always)]
                |k| &gradients[k],
            );
            let strain = strains(lanes, particles);
            let (next, crushed) = self.law.lane_advance(&strain, &(gradient * time));
            for (lane, p) in particles.iter_mut().enumerate() {
                p.strain.f = next.f.lane(lane);
                p.strain.internal = [next.internal[0].lane(lane), next.internal[1].lane(lane)];
            }
            if crushed.any() {
                let crushed_ones = particles.iter().enumerate();
                crushed_ones
                    .filter(|(lane, _)| crushed.lane(*lane))
                    .for_each(|(_, p)| (self.crushed)(p.index));
            }
        }
    }
}
