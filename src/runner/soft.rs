//! Measurement and drawing of a deformable body, beyond what every
//! [`DeformableModel`](pliant_contact_sap::DeformableModel) offers.

mod cloth;
mod own;
mod points;
mod ribbon;

use nalgebra::{Isometry3, Matrix3, Point3, UnitQuaternion, Vector3};
use pliant_constitutive::deviator;
use pliant_contact_sap::{BodyState, Energy};
use pliant_der::Rod;
use pliant_fem::FemBody;
use pliant_hydroelastic::mesh::TetIdx;
use pliant_multibody::CapsuleChain;

use crate::recording::ParticleStates;
use crate::scene::Shown;

pub(crate) use cloth::ClothObject;
pub(crate) use own::OwnBody;
pub(crate) use points::{Members, PointsObject};
use ribbon::ribbon;
pub(crate) use ribbon::{is_flat, ribbon_triangles};

/// A deformable body for observables and pictures: points with masses.
pub(crate) trait SoftModel: Send + Sync {
    /// Positions of all points, m, world frame; `out` is overwritten.
    fn points(&self, state: &BodyState, out: &mut Vec<Point3<f64>>);
    /// Positions of the drawn points, m, world frame, equally many for each point; `out` is overwritten.
    fn drawn(&self, state: &BodyState, out: &mut Vec<Point3<f64>>) {
        self.points(state, out);
    }
    /// Velocities of all points, m/s, world axes; `out` is overwritten.
    fn velocities(&self, state: &BodyState, out: &mut Vec<Vector3<f64>>);
    /// Pairs of points that are joined by the segments of a filament; empty for other bodies.
    fn segments(&self) -> Vec<[u32; 2]> {
        Vec::new()
    }
    /// Corners of the triangles of a cloth, counted among the points; empty for other bodies.
    fn triangles(&self) -> &[[u32; 3]] {
        &[]
    }
    /// The faces, edges and cells between points over which loads are spread; none for material points.
    fn simplices(&self, _: &BodyState) -> Simplices {
        Simplices {
            triangles: self.triangles().to_vec(),
            edges: match self.triangles() {
                [] => self.segments(),
                triangles => edges_of(triangles),
            },
            tetrahedra: Vec::new(),
        }
    }
    /// Mass of each point, kg.
    fn masses(&self, state: &BodyState) -> Vec<f64>;
    /// Volume, m³.
    fn volume(&self, state: &BodyState) -> f64;
    /// Stress, pressure (Pa) or plastic strain at each point, if defined; `out` is overwritten.
    fn numbers(&self, shown: Shown, state: &BodyState, out: &mut Vec<f64>);
    /// Mean accumulated plastic strain over the volume at rest, if the material keeps it.
    fn plastic_strain(&self, _: &BodyState) -> Option<f64> {
        None
    }
    /// State of particles for other programs, besides positions.
    fn particle_states(&self, _: &BodyState) -> Option<ParticleStates> {
        None
    }
    /// Energies and momenta of this object, if it is only a part of a body of the world.
    fn share_of_energy(&self, _: &BodyState, _gravity: &Vector3<f64>) -> Option<Energy> {
        None
    }
    /// Mass of each connected piece, kg, in descending order.
    fn pieces(&self, state: &BodyState) -> Vec<f64> {
        vec![self.masses(state).iter().sum()]
    }
}

/// Simplices of points.
#[derive(Clone, Debug, Default)]
pub(crate) struct Simplices {
    /// Of the surface.
    pub(crate) triangles: Vec<[u32; 3]>,
    /// Of the surface, or of a filament.
    pub(crate) edges: Vec<[u32; 2]>,
    pub(crate) tetrahedra: Vec<[u32; 4]>,
}

/// The edges of triangles, each once.
fn edges_of(triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let sides = |[a, b, c]: &[u32; 3]| [[*a, *b], [*b, *c], [*c, *a]];
    let sides = triangles.iter().flat_map(sides);
    let mut edges: Vec<_> = sides.map(|[a, b]| [a.min(b), a.max(b)]).collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

impl SoftModel for FemBody {
    fn points(&self, state: &BodyState, out: &mut Vec<Point3<f64>>) {
        out.clear();
        out.extend(state.q.chunks_exact(3).map(Point3::from_slice));
    }

    fn velocities(&self, state: &BodyState, out: &mut Vec<Vector3<f64>>) {
        out.clear();
        out.extend(state.v.chunks_exact(3).map(Vector3::from_column_slice));
    }

    fn simplices(&self, _: &BodyState) -> Simplices {
        let boundary = self.mesh().boundary();
        let triangles: Vec<_> = boundary.triangles.iter().map(|t| t.map(|v| v.0)).collect();
        Simplices {
            edges: edges_of(&triangles),
            triangles,
            tetrahedra: self.mesh().tets().iter().map(|t| t.map(|v| v.0)).collect(),
        }
    }

    fn masses(&self, _: &BodyState) -> Vec<f64> {
        self.vertex_masses().to_vec()
    }

    fn volume(&self, state: &BodyState) -> f64 {
        FemBody::volume(self, state)
    }

    /// Means over the tetrahedra around each vertex, by their volumes at rest.
    fn numbers(&self, _: Shown, state: &BodyState, out: &mut Vec<f64>) {
        let n = self.mesh().vertices().len();
        out.clear();
        out.resize(n, 0.0);
        let mut weights = vec![0.0; n];
        for (tet, index) in self.mesh().tets().iter().zip(0..) {
            let index = TetIdx(index);
            let stress = von_mises(&self.cauchy_stress(state, index));
            let volume = self.mesh().tet_volume(index);
            for vertex in tet {
                out[vertex.0 as usize] += volume * stress;
                weights[vertex.0 as usize] += volume;
            }
        }
        for (stress, weight) in out.iter_mut().zip(&weights) {
            *stress /= weight;
        }
    }
}

impl SoftModel for Rod {
    fn points(&self, state: &BodyState, out: &mut Vec<Point3<f64>>) {
        out.clear();
        out.extend((0..self.n_nodes()).map(|node| self.position(state, node)));
    }

    fn drawn(&self, state: &BodyState, out: &mut Vec<Point3<f64>>) {
        match self.section() {
            Some(section) if is_flat(&section) => ribbon(self, state, &section, out),
            _ => self.points(state, out),
        }
    }

    fn velocities(&self, state: &BodyState, out: &mut Vec<Vector3<f64>>) {
        out.clear();
        out.extend((0..self.n_nodes()).map(|node| self.velocity(state, node)));
    }

    fn masses(&self, _: &BodyState) -> Vec<f64> {
        (0..self.n_nodes())
            .map(|node| self.node_mass(node))
            .collect()
    }

    fn segments(&self) -> Vec<[u32; 2]> {
        let n = self.n_nodes() as u32;
        (0..self.n_edges() as u32)
            .map(|i| [i, (i + 1) % n])
            .collect()
    }

    /// The section is that at rest, the edges are current.
    fn volume(&self, state: &BodyState) -> f64 {
        let area = self.section().map_or(0.0, |section| section.area());
        let n = self.n_nodes();
        let edges = (0..self.n_edges()).map(|i| {
            let (a, b) = (self.position(state, i), self.position(state, (i + 1) % n));
            (b - a).norm()
        });
        area * edges.sum::<f64>()
    }

    /// Rods have no such quantity: stress varies over the section.
    fn numbers(&self, _: Shown, _: &BodyState, out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.n_nodes(), 0.0);
    }
}

impl SoftModel for CapsuleChain {
    fn points(&self, state: &BodyState, out: &mut Vec<Point3<f64>>) {
        self.positions(state, out);
    }

    fn velocities(&self, state: &BodyState, out: &mut Vec<Vector3<f64>>) {
        CapsuleChain::velocities(self, state, out);
    }

    fn masses(&self, _: &BodyState) -> Vec<f64> {
        (0..self.n_nodes())
            .map(|node| self.node_mass(node))
            .collect()
    }

    fn segments(&self) -> Vec<[u32; 2]> {
        let last = self.n_nodes() as u32 - 1;
        (0..last).map(|i| [i, i + 1]).collect()
    }

    fn volume(&self, _: &BodyState) -> f64 {
        CapsuleChain::volume(self)
    }

    /// Rigid bodies have none of these quantities.
    fn numbers(&self, _: Shown, _: &BodyState, out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.n_nodes(), 0.0);
    }
}

/// √(3/2 s:s) of the deviator s of a symmetric stress, Pa.
///
/// Source: von Mises (1913).
fn von_mises(stress: &Matrix3<f64>) -> f64 {
    (1.5 * deviator(stress).norm_squared()).sqrt()
}

/// The quantity at the points of a body that the replay colours, with name and unit; `None` for the plain colour.
pub(crate) fn shown(shown: Shown) -> Option<(&'static str, &'static str)> {
    match shown {
        Shown::Color => None,
        Shown::Displacement => Some(("displacement from rigid motion", "m")),
        Shown::Speed => Some(("speed", "m/s")),
        Shown::Stress => Some(("von Mises stress", "Pa")),
        Shown::Pressure => Some(("pressure", "Pa")),
        Shown::PlasticStrain => Some(("plastic strain", "")),
    }
}

/// Whether a body moves as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Motion {
    /// Some of its points are held in place.
    Held,
    /// None is.
    Free,
}

/// The rigid motion that takes `from` nearest to `to`, in the mean of squares.
///
/// Source: Kabsch (1976); Arun, Huang and Blostein (1987) for the sign.
fn rigid_motion(from: &[Point3<f64>], to: &[Point3<f64>]) -> Isometry3<f64> {
    // Of particles that come and go there is no motion as a whole.
    if from.is_empty() || from.len() != to.len() {
        return Isometry3::identity();
    }
    let mean = |points: &[Point3<f64>]| {
        let sum: Vector3<f64> = points.iter().map(|p| p.coords).sum();
        sum / points.len() as f64
    };
    let (mean_from, mean_to) = (mean(from), mean(to));
    let pairs = from.iter().zip(to);
    let moment: Matrix3<f64> = pairs
        .map(|(p, q)| (q.coords - mean_to) * (p.coords - mean_from).transpose())
        .sum();
    let svd = moment.svd(true, true);
    let (Some(u), Some(v_t)) = (svd.u, svd.v_t) else {
        return Isometry3::identity();
    };
    let handedness = (u * v_t).determinant().signum();
    let rotation = u * Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, handedness)) * v_t;
    let rotation = UnitQuaternion::from_matrix(&rotation);
    Isometry3::from_parts((mean_to - rotation * mean_from).into(), rotation)
}

/// The values of the quantity of [`shown`]; `start` are the initial points.
pub(crate) fn shown_values(
    model: &dyn SoftModel,
    motion: Motion,
    shown: Shown,
    state: &BodyState,
    points: &[Point3<f64>],
    start: &[Point3<f64>],
) -> Vec<f64> {
    match shown {
        Shown::Color => Vec::new(),
        Shown::Displacement => {
            let motion = match motion {
                Motion::Held => Isometry3::identity(),
                Motion::Free => rigid_motion(start, points),
            };
            let displacement = |(p, q): (&Point3<f64>, &Point3<f64>)| (p - motion * q).norm();
            points.iter().zip(start).map(displacement).collect()
        }
        Shown::Speed => {
            let mut velocities = Vec::new();
            model.velocities(state, &mut velocities);
            velocities.iter().map(Vector3::norm).collect()
        }
        Shown::Stress | Shown::Pressure | Shown::PlasticStrain => {
            let mut numbers = Vec::new();
            model.numbers(shown, state, &mut numbers);
            numbers
        }
    }
}

/// Mean of vectors, weighted by `masses`.
pub(crate) fn weighted_mean(
    vectors: impl Iterator<Item = Vector3<f64>>,
    masses: impl Iterator<Item = f64>,
) -> Vector3<f64> {
    let (mut sum, mut mass) = (Vector3::zeros(), 0.0);
    for (v, m) in vectors.zip(masses) {
        sum += v * m;
        mass += m;
    }
    sum / mass
}

#[cfg(test)]
mod tests {
    use nalgebra::Matrix4;

    use super::*;

    #[test]
    fn the_rigid_motion_of_a_body_is_recovered_and_a_stretch_has_none() {
        let cube: Vec<Point3<f64>> = (0..27)
            .map(|i| Point3::new(f64::from(i % 3), f64::from(i / 3 % 3), f64::from(i / 9)))
            .collect();
        let motion = Isometry3::new(Vector3::new(5.0, -2.0, 1.0), Vector3::new(1.0, 2.0, -0.5));
        let moved: Vec<_> = cube.iter().map(|p| motion * p).collect();
        let found = rigid_motion(&cube, &moved);
        assert!((found.to_homogeneous() - motion.to_homogeneous()).amax() < 1e-12);
        // About its centre, (1, 1, 1).
        let stretched: Vec<_> = cube
            .iter()
            .map(|p| Point3::new(1.0 + 1.5 * (p.x - 1.0), p.y, p.z))
            .collect();
        let found = rigid_motion(&cube, &stretched);
        assert!((found.to_homogeneous() - Matrix4::identity()).amax() < 1e-12);
        assert_eq!(rigid_motion(&cube, &cube[1..]), Isometry3::identity());
    }

    #[test]
    fn von_mises_of_tension_is_its_stress_and_of_shear_root_three_times_it() {
        let tension = Matrix3::from_diagonal(&Vector3::new(7.0, 0.0, 0.0));
        assert!((von_mises(&tension) - 7.0).abs() < 1e-14);
        let pressed = tension - Matrix3::identity() * 1e3;
        assert!((von_mises(&pressed) - 7.0).abs() < 1e-12);
        let mut shear = Matrix3::zeros();
        (shear[(0, 1)], shear[(1, 0)]) = (2.0, 2.0);
        assert!((von_mises(&shear) - 2.0 * 3.0_f64.sqrt()).abs() < 1e-14);
    }
}
