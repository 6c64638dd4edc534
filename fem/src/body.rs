//! A finite-element body: mesh, material and supports, checked once and then immutable.

mod build;

use std::sync::Arc;

use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use pliant_contact_sap::{
    BodyState, BodyStep, Control, DeformableModel, Energy, MaterialPoint, Surface,
};
use pliant_hydroelastic::mesh::{TetIdx, TetMesh};

use crate::element::Element;
use crate::material::Material;
use crate::parts::{Parts, vectors};
use crate::quadratic::{self, weights_of_points};
use crate::region::Region;
use crate::step::FemStep;

pub use build::FemBuilder;

/// A body of tetrahedra.
///
/// Positions q and velocities v are those of the vertices of [`FemBody::mesh`], in its order, three numbers each, world axes; the history is
/// empty. The velocities of a step's solve are the components that are neither fixed by the model nor prescribed by
/// [`Control::held`].
///
/// Its [`Surface`] has all vertices, the edges between vertices of the boundary (interior ones included), the triangles of the boundary,
/// and all tetrahedra, in the mesh's numbering. A boundary triangle of an inverted tetrahedron has three equal corners and no area.
///
/// Cloning is cheap: clones share everything.
///
/// ```
/// use std::sync::Arc;
/// # use nalgebra::Vector3;
/// # use pliant_constitutive::Lame;
/// use pliant_contact_sap::DeformableModel;
/// # use pliant_fem::{FemBuilder, Linear};
/// use pliant_hydroelastic::mesh::TetIdx;
/// # use pliant_hydroelastic::mesh::generate::tet_cuboid;
///
/// // A cube of 10 cm and 1 kg, μ = λ = 10 kPa, stretched by 1 % along x.
/// # let mesh = tet_cuboid(Vector3::repeat(0.05), [2, 2, 2])?;
/// # let material = Arc::new(Linear::new(Lame::new(1e4, 1e4)?));
/// let (cube, _) = FemBuilder::new(mesh, material, 1000.0).build()?;
/// let mut state = cube.default_state();
/// state.q.iter_mut().step_by(3).for_each(|x| *x *= 1.01);
/// assert!((cube.mass() - 1.0).abs() < 1e-12);
/// assert!((cube.volume(&state) - 1.01e-3).abs() < 1e-15);
/// let stress = cube.cauchy_stress(&state, TetIdx(0));
/// assert!((stress[(0, 0)] - (2e4 + 1e4) * 0.01).abs() < 1e-9); // (2μ + λ) ε, Pa
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FemBody {
    pub(crate) parts: Arc<Parts>,
}

impl FemBody {
    /// The mesh, in its own frame; of quadratic elements the linear tetrahedra between their nodes ([`Element::mesh_of_nodes`](crate::Element::mesh_of_nodes)).
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

    /// Volume of the deformed mesh, m³, of quadratic elements between their curved faces; inverted tetrahedra count negative.
    #[must_use]
    pub fn volume(&self, state: &BodyState) -> f64 {
        let q = vectors(&state.q);
        let parts = &*self.parts;
        if parts.element == Element::Quadratic {
            let groups = 0..parts.domains.n_groups();
            let volumes = groups.map(|group| {
                let nodes = parts.domains.vertices(group);
                quadratic::volume(&std::array::from_fn(|a| q[nodes[a] as usize]))
            });
            return volumes.sum();
        }
        let elements = parts.elements.iter().enumerate();
        elements
            .map(|(e, element)| element.volume * parts.tet_deformation(e, &q).determinant())
            .sum()
    }

    /// F of a tetrahedron.
    #[must_use]
    pub fn deformation_gradient(&self, state: &BodyState, tet: TetIdx) -> Matrix3<f64> {
        let element = &self.parts.elements[tet.index()];
        let position =
            |vertex: u32| Vector3::from_column_slice(&state.q[3 * vertex as usize..][..3]);
        element.gradient_of(&element.vertices.map(position)) + self.parts.kinematics.out_of_plane()
    }

    /// Cauchy stress σ = P Fᵀ/det F of a tetrahedron, Pa, world axes, without damping; of smoothed elements the mean over the domains of its
    /// edges, and that of its patch; of quadratic elements that in its middle, linear between
    /// the four points of the element, and that of the mean.
    #[must_use]
    pub fn cauchy_stress(&self, state: &BodyState, tet: TetIdx) -> Matrix3<f64> {
        let parts = &*self.parts;
        let q = |vertex: u32| Vector3::from_column_slice(&state.q[3 * vertex as usize..][..3]);
        let mut cauchy = Matrix3::zeros();
        for group in &parts.groups_of[tet.index()] {
            let domains = parts.domains.group(*group as usize);
            let mut shares: Vec<f64> = domains.clone().map(|d| parts.domains.share(d)).collect();
            if parts.element == Element::Quadratic {
                let nodes = parts.domains.vertices(*group as usize);
                let weights = weights_of_points(nodes, &parts.elements[tet.index()].vertices);
                shares[..weights.len()].copy_from_slice(&weights);
            }
            for (d, share) in domains.zip(shares) {
                let F = parts.domains.at(d).gradient_by(q) + parts.kinematics.out_of_plane();
                let stress = parts.laws.at(d).first_piola(&F, &parts.lag_of(&F));
                cauchy += stress * F.transpose() * (share / F.determinant());
            }
        }
        cauchy
    }
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
        self.parts.skin.write(q, out);
    }

    fn energy(&self, state: &BodyState, gravity: &Vector3<f64>) -> Energy {
        let parts = &*self.parts;
        let (q, v) = (vectors(&state.q), vectors(&state.v));
        let mut momentum = vec![Vector3::zeros(); v.len()];
        parts.mass_product(&v, &mut momentum);
        let mut energy = Energy::default();
        for (((x, v), p), mass) in q.iter().zip(&v).zip(&momentum).zip(&parts.row_mass) {
            energy.kinetic += 0.5 * v.dot(p);
            energy.potential -= mass * gravity.dot(x);
            energy.linear_momentum_W += p;
            energy.angular_momentum_W += x.cross(p);
        }
        for d in 0..parts.domains.len() {
            let F = parts.deformation(d, &q);
            let density = parts.laws.at(d).energy_density(&F, &parts.lag_of(&F));
            energy.potential += parts.domains.at(d).volume * density;
        }
        energy
    }
}
