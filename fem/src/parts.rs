//! The immutable data of a finite-element body, and its settings.

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};
use pliant_constitutive::polar_rotation;
use pliant_contact_sap::{BodyError, MaterialPoint, Primitive};
use pliant_hydroelastic::mesh::TetMesh;

use crate::domain_law::DomainLaw;
use crate::domain_links::DomainLinks;
use crate::domains::Domains;
use crate::element::Element;
use crate::loads::ForceField;
use crate::mass::{MassKind, SparseMass};
use crate::material::{Lag, Linearity};
use crate::part_material::{PartMaterial, PerElement};
use crate::rest::{Kinematics, RestElement};
use crate::skin::Skin;

/// Rayleigh damping: the force −(αM + βK)v.
///
/// ```
/// use pliant_fem::Rayleigh;
///
/// // 5 % of critical damping at 10 Hz, ζ = βω/2, and no drag.
/// let omega = std::f64::consts::TAU * 10.0;
/// let damping = Rayleigh { mass: 0.0, stiffness: 2.0 * 0.05 / omega };
/// assert!((damping.stiffness - 1.6e-3).abs() < 1e-5); // s
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rayleigh {
    /// α, 1/s: drag on all motion, including free flight.
    pub mass: f64,
    /// β, s: viscosity of the material. A vibration of angular frequency ω has the damping ratio βω/2.
    pub stiffness: f64,
}

impl Default for Rayleigh {
    fn default() -> Self {
        Self {
            mass: 0.0,       // no drag in free flight
            stiffness: 0.01, // Han et al. (2023), section VII: silicone and rubber vibrate for a few periods
        }
    }
}

/// Treatment of rotation within a step by the linear corotated law. Other laws are invariant under rotation.
///
/// ```
/// use std::sync::Arc;
///
/// use nalgebra::{Isometry3, Vector3};
/// # use pliant_constitutive::Lame;
/// use pliant_contact_sap::{BodyState, Control, DeformableModel, StepInput};
/// use pliant_fem::{FemBuilder, Rotation};
/// # use pliant_fem::LinearCorotated;
/// # use pliant_hydroelastic::mesh::generate::tet_cuboid;
///
/// // A cube that spins freely by θ = 0.2 rad in a step: the growth of its volume.
/// let growth = |rotation| -> Result<f64, Box<dyn std::error::Error>> {
/// #     let mesh = tet_cuboid(Vector3::repeat(0.05), [2, 2, 2])?;
/// #     let material = Arc::new(LinearCorotated::new(Lame::new(1e5, 1e5)?));
///     let (cube, _) = FemBuilder::new(mesh, material, 1000.0).rotation(rotation).build()?;
///     let state = cube.rigid_state(&Isometry3::identity(), &Vector3::new(0.0, 0.0, 20.0), &Vector3::zeros());
///     let (mut step, control, mut v) = (cube.new_step(), Control::default(), Vec::new());
///     step.begin(&state, &StepInput::new(0.01, Vector3::zeros(), &control))?;
///     step.linearise_start(&mut v)?;
///     if let Some(lagged) = step.as_lagged()
///         && let Some(free) = lagged.update_in_free_motion()?
///     {
///         v.copy_from_slice(free);
///     }
///     let mut next = BodyState::default();
///     assert!(step.advance(&v, &mut next)?.warnings.is_empty());
///     Ok(cube.volume(&next) / cube.volume(&state) - 1.0)
/// };
/// assert!((growth(Rotation::Lagged)? - 0.2 * 0.2).abs() < 1e-6);
/// assert!(growth(Rotation::Followed)? < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rotation {
    /// The paper's model: the rest shape has the rotation at the start of the step. A rotation by θ per step increases the volume of an
    /// element by about θ², independent of its stiffness. Nonlinear laws lose (ω δt)² of their angular momentum in a step.
    Lagged,
    /// The rest shape has the rotation of the step. By backward Euler that is the predicted rotation at the end: the error of volume is
    /// below about 0.2 % up to θ = 0.4, and steps in which an element rotates by more than 0.014 rad need further solves with a factor of A at
    /// rest, computed once. By the midpoint rule it is the rotation in the middle, by which the linear corotated law is of second order.
    /// With every law the step keeps the angular momentum of a body ([`VertexStep`](pliant_contact_sap::VertexStep)).
    #[default]
    Followed,
}

/// Whether a step offers solvers an approximation of A⁻¹ ([`Dynamics::precondition`](pliant_contact_sap::Dynamics::precondition)).
///
/// ```
/// use std::sync::Arc;
///
/// use nalgebra::Vector3;
/// # use pliant_constitutive::Lame;
/// use pliant_contact_sap::{Control, DeformableModel, StepInput};
/// use pliant_fem::{FemBuilder, Preconditioning};
/// # use pliant_fem::LinearCorotated;
/// # use pliant_hydroelastic::mesh::generate::tet_cuboid;
///
/// // A cube that is let go. At rest it is A⁻¹: the free motion v = A⁻¹b = δt g without a solver.
/// let step = |preconditioning| -> Result<_, Box<dyn std::error::Error>> {
/// #     let mesh = tet_cuboid(Vector3::repeat(0.05), [2, 2, 2])?;
/// #     let material = Arc::new(LinearCorotated::new(Lame::new(1e5, 1e5)?));
///     let (cube, _) = FemBuilder::new(mesh, material, 1000.0).preconditioning(preconditioning).build()?;
///     let (mut step, control, mut v0) = (cube.new_step(), Control::default(), Vec::new());
///     step.begin(&cube.default_state(), &StepInput::new(0.01, Vector3::new(0.0, 0.0, -9.81), &control))?;
///     step.linearise_start(&mut v0)?;
///     Ok(step)
/// };
/// let offering = step(Preconditioning::RestShape)?;
/// let mut x = offering.dynamics().right_hand_side().to_vec();
/// assert!(offering.dynamics().precondition(&mut x));
/// assert!(x.chunks(3).all(|v| (v[2] + 0.0981).abs() < 1e-5));
/// assert!(!step(Preconditioning::None)?.dynamics().precondition(&mut x));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preconditioning {
    /// None.
    #[default]
    None,
    /// The inverse of A at rest, rotated with the body, factored once for each step length and set of held components. For
    /// [`NewtonCg`](pliant_contact_sap::NewtonCg) with `Preconditioner::Body`. Effective at moderate strains and with few contacts, which
    /// it does not include.
    RestShape,
}

/// Compliance of an anchor.
///
/// ```
/// use std::sync::Arc;
///
/// use nalgebra::Vector3;
/// # use pliant_constitutive::Lame;
/// use pliant_contact_sap::*;
/// use pliant_fem::{AnchorCompliance, FemBuilder, Region};
/// # use pliant_fem::LinearCorotated;
/// # use pliant_hydroelastic::mesh::generate::tet_cuboid;
///
/// // A cube of 1 kg whose nine top vertices are anchored: their fall in the first 10 ms, m/s.
/// let fall = |compliance| -> Result<f64, Box<dyn std::error::Error>> {
/// #     let mesh = tet_cuboid(Vector3::repeat(0.05), [2, 2, 2])?;
/// #     let material = Arc::new(LinearCorotated::new(Lame::new(1e5, 1e5)?));
///     let top = Region::HalfSpace { point: Vector3::new(0.0, 0.0, 0.05), normal: -Vector3::z() };
///     let (cube, _) = FemBuilder::new(mesh, material, 1000.0).anchor(top.clone(), compliance).build()?;
/// #     let (mut step, control, mut v0) = (cube.new_step(), Control::default(), Vec::new());
/// #     step.begin(&cube.default_state(), &StepInput::new(0.01, Vector3::new(0.0, 0.0, -9.81), &control))?;
/// #     step.linearise_start(&mut v0)?;
///     let (mut factors, mut constraints) = (BlockFactors::default(), ConstraintSet::default());
///     factors.factor(&[step.dynamics()])?;
///     step.constraints(&mut constraints.internal(ParticipantIdx(0), &factors));
///     assert_eq!(constraints.n_rows(), 27);
///     let problem = ContactProblem { dynamics: &[step.dynamics()], constraints: &constraints };
///     let mut solution = Solution::default();
///     assert!(Newton::default().solve(&problem, &v0, &mut solution)?.is_trusted());
///     let vertices = cube.points_in(&top)?.into_iter().filter_map(|p| match p.primitive {
///         Primitive::Vertex(vertex) => Some(vertex as usize),
///         _ => None,
///     });
///     Ok(vertices.map(|vertex| -solution.velocity[3 * vertex + 2]).fold(0.0, f64::max))
/// };
/// assert!(fall(AnchorCompliance::NearRigid)? < 1e-3);
/// let soft = AnchorCompliance::Spring { stiffness: 1.0, relaxation_time_s: 0.0 };
/// assert!(fall(soft)? > 0.05); // nearly g δt = 0.098 m/s
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum AnchorCompliance {
    /// As stiff as the time step can resolve.
    #[default]
    NearRigid,
    /// A spring at each vertex in each direction.
    Spring {
        /// N/m, positive.
        stiffness: f64,
        /// s, at least zero.
        relaxation_time_s: f64,
    },
}

/// A vertex held at its rest position by three constraints, whose forces are reported.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Anchor {
    pub(crate) vertex: u32,
    pub(crate) compliance: AnchorCompliance,
}

/// The immutable data of a body.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) mesh: TetMesh,
    pub(crate) element: Element,
    /// Of each tetrahedron.
    pub(crate) materials: PerElement<PartMaterial>,
    /// The tetrahedra: of quadratic elements the linear ones between their nodes.
    pub(crate) elements: Vec<RestElement>,
    pub(crate) domains: Domains,
    /// Of each domain.
    pub(crate) laws: PerElement<DomainLaw>,
    pub(crate) links: DomainLinks,
    /// Groups of domains of each tetrahedron.
    pub(crate) groups_of: Vec<Vec<u32>>,
    pub(crate) linearity: Linearity,
    pub(crate) damping: Rayleigh,
    pub(crate) rotation: Rotation,
    pub(crate) preconditioning: Preconditioning,
    pub(crate) mass_kind: MassKind,
    /// Of [`MassKind::Consistent`].
    pub(crate) consistent_mass: Option<SparseMass>,
    pub(crate) kinematics: Kinematics,
    pub(crate) rest: Vec<Vector3<f64>>,
    /// Σ ρV/4, kg.
    pub(crate) vertex_mass: Vec<f64>,
    /// Row sums of the mass matrix, kg: gravity acts on them.
    pub(crate) row_mass: Vec<f64>,
    pub(crate) element_mass: Vec<f64>,
    pub(crate) fixed: Vec<[bool; 3]>,
    pub(crate) anchors: Vec<Anchor>,
    pub(crate) fields: Vec<Arc<dyn ForceField>>,
    pub(crate) skin: Skin,
    /// Longest side, m.
    pub(crate) extent: f64,
}

impl Parts {
    /// Whether any law has a barrier against inversion.
    pub(crate) fn has_barrier(&self) -> bool {
        self.laws.values().iter().any(DomainLaw::has_barrier)
    }

    /// kg.
    pub(crate) fn mass(&self) -> f64 {
        self.element_mass.iter().sum()
    }

    /// F of a domain for vertex positions `q`.
    #[inline]
    pub(crate) fn deformation(&self, domain: usize, q: &[Vector3<f64>]) -> Matrix3<f64> {
        self.domains.at(domain).gradient(q) + self.kinematics.out_of_plane()
    }

    /// F of a tetrahedron for vertex positions `q`.
    #[inline]
    pub(crate) fn tet_deformation(&self, tet: usize, q: &[Vector3<f64>]) -> Matrix3<f64> {
        self.elements[tet].gradient(q) + self.kinematics.out_of_plane()
    }

    /// The lagged state of a domain at F that is not expected to rotate.
    pub(crate) fn lag_of(&self, F: &Matrix3<f64>) -> Lag {
        match self.linearity {
            Linearity::Corotated => Lag {
                rotation: polar_rotation(F),
                ..Lag::default()
            },
            Linearity::Linear | Linearity::Nonlinear => Lag::default(),
        }
    }

    /// Minus the elastic force on a vertex, Σ V P ∇N over the domains around it, by V P of all of them.
    pub(crate) fn internal_force(&self, vertex: u32, stresses: &[Matrix3<f64>]) -> Vector3<f64> {
        let mut force = Vector3::zeros();
        for incidence in self.links.of(vertex) {
            for domain in self.domains.group(incidence.group as usize) {
                let gradient = self.domains.gradients(domain)[incidence.local as usize];
                force += stresses[domain] * gradient;
            }
        }
        force
    }

    /// y = M x, all vertices.
    pub(crate) fn mass_product(&self, x: &[Vector3<f64>], y: &mut [Vector3<f64>]) {
        if let Some(mass) = &self.consistent_mass {
            return mass.product(x, y);
        }
        for ((y, x), mass) in y.iter_mut().zip(x).zip(&self.vertex_mass) {
            *y = x * *mass;
        }
    }

    /// Vertices of a material point with their weights.
    ///
    /// # Errors
    /// [`BodyError::NoSuchPoint`].
    pub(crate) fn stencil(&self, p: &MaterialPoint) -> Result<Stencil, BodyError> {
        let vertex = match p.primitive {
            Primitive::Vertex(i) => [i],
            _ => [0],
        };
        let vertices: Option<&[u32]> = match p.primitive {
            Primitive::Frame(_) => None,
            Primitive::Vertex(i) => ((i as usize) < self.rest.len()).then_some(&vertex),
            Primitive::Edge(i) => self.skin.edges.get(i as usize).map(|v| &v[..]),
            Primitive::Triangle(i) => self.skin.triangles.get(i as usize).map(|v| &v[..]),
            Primitive::Tetrahedron(i) => self.elements.get(i as usize).map(|e| &e.vertices[..]),
        };
        let vertices = vertices.ok_or_else(|| BodyError::NoSuchPoint {
            point: p.primitive,
            available: format!(
                "no frames, {} vertices, {} edges, {} triangles, {} tetrahedra",
                self.rest.len(),
                self.skin.edges.len(),
                self.skin.triangles.len(),
                self.elements.len()
            ),
        })?;
        let mut stencil = Stencil {
            vertices: [0; 4],
            weights: p.weights,
            n: vertices.len(),
        };
        stencil.vertices[..vertices.len()].copy_from_slice(vertices);
        if vertices.len() == 1 {
            stencil.weights[0] = 1.0;
        }
        Ok(stencil)
    }
}

/// A few vertices and their weights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stencil {
    vertices: [u32; 4],
    weights: [f64; 4],
    n: usize,
}

impl Stencil {
    pub(crate) fn vertices(&self) -> &[u32] {
        &self.vertices[..self.n]
    }

    pub(crate) fn weights(&self) -> &[f64] {
        &self.weights[..self.n]
    }

    pub(crate) fn terms(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let vertices = self.vertices().iter().map(|v| *v as usize);
        vertices.zip(self.weights().iter().copied())
    }
}

/// Reads three numbers per vertex as vectors.
pub(crate) fn vectors(values: &[f64]) -> Vec<Vector3<f64>> {
    values
        .chunks_exact(3)
        .map(Vector3::from_column_slice)
        .collect()
}
