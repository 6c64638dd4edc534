//! A finite-element body: mesh, material and supports, checked once and then immutable.

mod build;
mod surface;

use std::sync::Arc;

use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use pliant_constitutive::{Lame, polar_rotation};
use pliant_contact_sap::{
    BodyError, BodyState, BodyStep, Control, DeformableModel, Energy, MaterialPoint, Primitive,
    Surface,
};
use pliant_hydroelastic::mesh::{TetIdx, TetMesh};

use crate::loads::ForceField;
use crate::mass::{MassKind, add_consistent_product};
use crate::material::{Lag, Linearity, Material};
use crate::mesh_links::MeshLinks;
use crate::part_material::{PartMaterial, PerElement};
use crate::region::Region;
use crate::rest::{Kinematics, RestElement};
use crate::step::FemStep;

pub use build::FemBuilder;
pub(crate) use surface::Skin;

/// Rayleigh damping: the force −(αM + βK)v.
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rotation {
    /// The paper's model: the rest shape has the rotation at the start of the step. A rotation by θ per step increases the volume of an
    /// element by about θ², independent of its stiffness.
    Lagged,
    /// The rest shape has the predicted rotation at the end of the step: the error of volume is below about 0.2 % up to θ = 0.4, that of
    /// angular momentum as with [`Rotation::Lagged`]. Steps in which an element rotates by more than 0.014 rad need further solves with
    /// a factor of A at rest, computed once. For backward Euler only.
    #[default]
    Followed,
}

/// Whether a step offers solvers an approximation of A⁻¹ ([`Dynamics::precondition`](pliant_contact_sap::Dynamics::precondition)).
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

/// A body of linear tetrahedra.
///
/// Positions q and velocities v are those of the vertices of the mesh, in its order, three numbers each, world axes; the history is
/// empty. The velocities of a step's solve are the components that are neither fixed by the model nor prescribed by
/// [`Control::held`].
///
/// Its [`Surface`] has all vertices, the edges between vertices of the boundary (interior ones included), the triangles of the boundary,
/// and all tetrahedra, in the mesh's numbering. A boundary triangle of an inverted tetrahedron has three equal corners and no area.
///
/// Cloning is cheap: clones share everything.
#[derive(Clone, Debug)]
pub struct FemBody {
    pub(crate) parts: Arc<Parts>,
}

/// The immutable data of a body.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) mesh: TetMesh,
    pub(crate) materials: PerElement<PartMaterial>,
    pub(crate) lames: PerElement<Lame>,
    pub(crate) linearity: Linearity,
    pub(crate) damping: Rayleigh,
    pub(crate) rotation: Rotation,
    pub(crate) preconditioning: Preconditioning,
    pub(crate) mass_kind: MassKind,
    pub(crate) kinematics: Kinematics,
    pub(crate) rest: Vec<Vector3<f64>>,
    pub(crate) elements: Vec<RestElement>,
    pub(crate) links: MeshLinks,
    /// Σ ρV/4, kg.
    pub(crate) vertex_mass: Vec<f64>,
    /// Σ V/4, m³.
    pub(crate) vertex_volume: Vec<f64>,
    pub(crate) element_mass: Vec<f64>,
    pub(crate) fixed: Vec<[bool; 3]>,
    pub(crate) anchors: Vec<Anchor>,
    pub(crate) fields: Vec<Arc<dyn ForceField>>,
    pub(crate) skin: Skin,
    /// Longest side, m.
    pub(crate) extent: f64,
}

impl FemBody {
    /// The mesh, in its own frame.
    #[must_use]
    pub fn mesh(&self) -> &TetMesh {
        &self.parts.mesh
    }

    /// The material of a tetrahedron.
    #[must_use]
    pub fn material_of(&self, tet: TetIdx) -> &dyn Material {
        &*self.parts.materials.at(tet.index()).material
    }

    /// kg.
    #[must_use]
    pub fn mass(&self) -> f64 {
        self.parts.mass()
    }

    /// Lumped mass of each vertex, kg.
    #[must_use]
    pub fn vertex_masses(&self) -> &[f64] {
        &self.parts.vertex_mass
    }

    /// Whether the model fixes the vertex in all three directions.
    #[must_use]
    pub fn is_fixed(&self, vertex: u32) -> bool {
        self.parts.fixed.get(vertex as usize) == Some(&[true; 3])
    }

    /// The vertices of a region as material points, for constraints and loads.
    ///
    /// # Errors
    /// As [`Region::vertices`].
    pub fn points_in(&self, region: &Region) -> Result<Vec<MaterialPoint>, crate::FemError> {
        let vertices = region.vertices(&self.parts.mesh, "the region")?;
        Ok(vertices.into_iter().map(MaterialPoint::on_vertex).collect())
    }

    /// The undeformed state at pose `X_WM`, relative to that of the builder, in rigid motion with angular velocity `omega_W` (rad/s) and
    /// velocity `v_W` (m/s) of the centre of mass.
    #[must_use]
    pub fn rigid_state(
        &self,
        X_WM: &Isometry3<f64>,
        omega_W: &Vector3<f64>,
        v_W: &Vector3<f64>,
    ) -> BodyState {
        let parts = &*self.parts;
        let positions = parts.rest.iter().map(|p| X_WM * Point3::from(*p));
        let positions: Vec<Vector3<f64>> = positions.map(|p| p.coords).collect();
        let weighted = positions.iter().zip(&parts.vertex_mass);
        let center = weighted.map(|(p, m)| p * *m).sum::<Vector3<f64>>() / self.mass();
        let velocities = positions.iter().map(|p| v_W + omega_W.cross(&(p - center)));
        BodyState {
            v: velocities.flat_map(|v| [v.x, v.y, v.z]).collect(),
            q: positions.iter().flat_map(|p| [p.x, p.y, p.z]).collect(),
            history: Vec::new(),
        }
    }

    /// The control that prescribes velocity `v_W` (m/s) along `axes` of `vertices`.
    #[must_use]
    pub fn holding(&self, vertices: &[u32], axes: &[crate::Axis], v_W: &Vector3<f64>) -> Control {
        let mut held = vec![None; 3 * self.parts.rest.len()];
        for vertex in vertices {
            for axis in axes {
                let k = axis.index();
                held[3 * *vertex as usize + k] = Some(v_W[k]);
            }
        }
        Control {
            held,
            ..Control::default()
        }
    }

    /// Volume of the deformed mesh, m³; inverted tetrahedra count negative.
    #[must_use]
    pub fn volume(&self, state: &BodyState) -> f64 {
        let q = vectors(&state.q);
        let parts = &*self.parts;
        let volumes = parts
            .elements
            .iter()
            .map(|e| e.volume * parts.deformation(e, &q).determinant());
        volumes.sum()
    }

    /// F of a tetrahedron.
    #[must_use]
    pub fn deformation_gradient(&self, state: &BodyState, tet: TetIdx) -> Matrix3<f64> {
        let element = &self.parts.elements[tet.index()];
        let position =
            |vertex: u32| Vector3::from_column_slice(&state.q[3 * vertex as usize..][..3]);
        element.gradient_of(&element.vertices.map(position)) + self.parts.kinematics.out_of_plane()
    }

    /// Cauchy stress σ = P Fᵀ/det F of a tetrahedron, Pa, world axes, without damping.
    #[must_use]
    pub fn cauchy_stress(&self, state: &BodyState, tet: TetIdx) -> Matrix3<f64> {
        let F = self.deformation_gradient(state, tet);
        let material = self.material_of(tet);
        let stress = material.first_piola(&F, &self.parts.lag_of(&F));
        stress * F.transpose() / F.determinant()
    }
}

impl Parts {
    /// Whether any element has a barrier against inversion.
    pub(crate) fn has_barrier(&self) -> bool {
        self.materials
            .values()
            .iter()
            .any(PartMaterial::has_barrier)
    }

    /// kg.
    pub(crate) fn mass(&self) -> f64 {
        self.element_mass.iter().sum()
    }

    /// F of an element for vertex positions `q`.
    #[inline]
    pub(crate) fn deformation(&self, element: &RestElement, q: &[Vector3<f64>]) -> Matrix3<f64> {
        element.gradient(q) + self.kinematics.out_of_plane()
    }

    /// The lagged state of an element at F that is not expected to rotate.
    pub(crate) fn lag_of(&self, F: &Matrix3<f64>) -> Lag {
        match self.linearity {
            Linearity::Corotated => Lag {
                rotation: polar_rotation(F),
                ..Lag::default()
            },
            Linearity::Linear | Linearity::Nonlinear => Lag::default(),
        }
    }

    /// y = M x, all vertices.
    pub(crate) fn mass_product(&self, x: &[Vector3<f64>], y: &mut [Vector3<f64>]) {
        match self.mass_kind {
            MassKind::Lumped => {
                for ((y, x), mass) in y.iter_mut().zip(x).zip(&self.vertex_mass) {
                    *y = x * *mass;
                }
            }
            MassKind::Consistent => {
                y.fill(Vector3::zeros());
                add_consistent_product(&self.elements, &self.element_mass, x, y);
            }
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
            places: format!(
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

impl DeformableModel for FemBody {
    fn default_state(&self) -> BodyState {
        self.rigid_state(&Isometry3::identity(), &Vector3::zeros(), &Vector3::zeros())
    }

    fn new_step(&self) -> Box<dyn BodyStep> {
        Box::new(FemStep::new(Arc::clone(&self.parts)))
    }

    fn surface(&self, state: &BodyState, out: &mut Surface) {
        let q = state.q.chunks_exact(3).map(Point3::from_slice);
        self.parts.write_surface(q, out);
    }

    fn energy(&self, state: &BodyState, gravity: &Vector3<f64>) -> Energy {
        let parts = &*self.parts;
        let (q, v) = (vectors(&state.q), vectors(&state.v));
        let mut momentum = vec![Vector3::zeros(); v.len()];
        parts.mass_product(&v, &mut momentum);
        let mut energy = Energy::default();
        for (((x, v), p), mass) in q.iter().zip(&v).zip(&momentum).zip(&parts.vertex_mass) {
            energy.kinetic += 0.5 * v.dot(p);
            energy.potential -= mass * gravity.dot(x);
            energy.linear_momentum_W += p;
            energy.angular_momentum_W += x.cross(p);
        }
        for (e, element) in parts.elements.iter().enumerate() {
            let F = parts.deformation(element, &q);
            let material = &parts.materials.at(e).material;
            let density = material.energy_density(&F, &parts.lag_of(&F));
            energy.potential += element.volume * density;
        }
        energy
    }
}
