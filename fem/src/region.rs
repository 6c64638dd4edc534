//! Sets of vertices and elements, by index or by position.

use nalgebra::Vector3;
use pliant_hydroelastic::mesh::{TetIdx, TetMesh};

use crate::error::FemError;

/// A set of vertices, in the frame of the mesh as it was given (before [`FemBuilder::pose`](crate::FemBuilder::pose)).
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_fem::Region;
/// use pliant_hydroelastic::mesh::generate::tet_cuboid;
///
/// // A beam of 1 × 0.1 × 0.1 m with 6 × 2 × 2 vertices; the four at its left end.
/// let mesh = tet_cuboid(Vector3::new(0.5, 0.05, 0.05), [5, 1, 1])?;
/// let wall = Region::HalfSpace { point: Vector3::new(-0.5, 0.0, 0.0), normal: Vector3::x() };
/// assert_eq!(wall.vertices(&mesh, "the wall")?.len(), 4);
/// // A region without a vertex is an error that tells where the mesh is.
/// let beside = Region::Ball { center: Vector3::new(0.0, 1.0, 0.0), radius: 0.1 };
/// assert!(beside.vertices(&mesh, "the clamp").unwrap_err().to_string().starts_with("the clamp"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Region {
    /// Every vertex.
    All,
    /// These indices.
    Vertices(Vec<u32>),
    /// Within a box, its faces included.
    Box {
        /// Lower corner, m.
        min: Vector3<f64>,
        /// Upper corner, m.
        max: Vector3<f64>,
    },
    /// Within a ball.
    Ball {
        /// Its centre, m.
        center: Vector3<f64>,
        /// Its radius, m.
        radius: f64,
    },
    /// On and behind a plane: (p − point)·normal ≤ 0.
    HalfSpace {
        /// A point of the plane, m.
        point: Vector3<f64>,
        /// Its normal, of any length.
        normal: Vector3<f64>,
    },
}

impl Region {
    /// The vertices of `mesh` in the region, ascending, with a tolerance of 1e-9 of the mesh's size. `what` is the purpose, for messages.
    ///
    /// # Errors
    /// [`FemError::EmptyRegion`] or [`FemError::NoSuchVertex`].
    pub fn vertices(&self, mesh: &TetMesh, what: &str) -> Result<Vec<u32>, FemError> {
        let count = mesh.vertices().len();
        let bounds = mesh.bounds();
        let slack = 1e-9 * bounds.extent().max();
        let mut found: Vec<u32> = match self {
            Self::Vertices(given) => {
                if let Some(&vertex) = given.iter().find(|v| **v as usize >= count) {
                    return Err(FemError::NoSuchVertex {
                        what: what.into(),
                        vertex,
                        count,
                    });
                }
                given.clone()
            }
            _ => {
                let inside = mesh.vertices().iter().map(|p| self.holds(p, slack));
                (0..)
                    .zip(inside)
                    .filter(|(_, i)| *i)
                    .map(|(v, _)| v)
                    .collect()
            }
        };
        found.sort_unstable();
        found.dedup();
        if found.is_empty() {
            return Err(FemError::EmptyRegion {
                what: format!("{what} {self:?}"),
                min: bounds.min.into(),
                max: bounds.max.into(),
            });
        }
        Ok(found)
    }

    fn holds(&self, p: &Vector3<f64>, slack: f64) -> bool {
        match self {
            Self::All => true,
            Self::Vertices(_) => false,
            Self::Box { min, max } => {
                (0..3).all(|k| (min[k] - slack..=max[k] + slack).contains(&p[k]))
            }
            Self::Ball { center, radius } => (p - center).norm() <= radius + slack,
            Self::HalfSpace { point, normal } => (p - point).dot(normal) <= slack * normal.norm(),
        }
    }
}

/// A set of elements.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_fem::{Elements, Region};
/// use pliant_hydroelastic::mesh::generate::tet_cuboid;
///
/// // Half of a beam, by the centroids of its elements.
/// let mesh = tet_cuboid(Vector3::new(0.5, 0.05, 0.05), [4, 1, 1])?;
/// let left = Region::HalfSpace { point: Vector3::zeros(), normal: Vector3::x() };
/// let elements = Elements::Within(left).of(&mesh, "the soft part")?;
/// assert_eq!(2 * elements.len(), mesh.tets().len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Elements {
    /// These indices.
    Numbered(Vec<u32>),
    /// Those whose centroid is in the region; for [`Region::Vertices`] those whose corners all belong to it.
    Within(Region),
}

impl Elements {
    /// The elements of `mesh`, ascending; `what` is the purpose, for messages.
    ///
    /// # Errors
    /// [`FemError::NoSuchElement`], [`FemError::NoElements`], or as [`Region::vertices`].
    pub fn of(&self, mesh: &TetMesh, what: &str) -> Result<Vec<u32>, FemError> {
        let count = mesh.tets().len();
        let mut found: Vec<u32> = match self {
            Self::Numbered(given) => {
                if let Some(&element) = given.iter().find(|e| **e as usize >= count) {
                    return Err(FemError::NoSuchElement {
                        what: what.into(),
                        element,
                        count,
                    });
                }
                given.clone()
            }
            Self::Within(region @ Region::Vertices(_)) => {
                let named = region.vertices(mesh, what)?;
                let has = |v: &u32| named.binary_search(v).is_ok();
                let all = |e: &u32| mesh.tets()[*e as usize].iter().all(|v| has(&v.0));
                (0..count as u32).filter(all).collect()
            }
            Self::Within(region) => {
                let slack = 1e-9 * mesh.bounds().extent().max();
                let centroid = |e: u32| mesh.corners(TetIdx(e)).iter().sum::<Vector3<f64>>() / 4.0;
                let inside = |e: &u32| region.holds(&centroid(*e), slack);
                (0..count as u32).filter(inside).collect()
            }
        };
        found.sort_unstable();
        found.dedup();
        if found.is_empty() {
            return Err(FemError::NoElements {
                what: format!("{what} {self:?}"),
            });
        }
        Ok(found)
    }
}

/// A direction of the world.
///
/// ```
/// use std::sync::Arc;
///
/// use nalgebra::Vector3;
/// # use pliant_constitutive::Lame;
/// use pliant_contact_sap::{Control, DeformableModel, StepInput};
/// use pliant_fem::{Axis, FemBuilder, Region};
/// # use pliant_fem::Linear;
/// # use pliant_hydroelastic::mesh::generate::tet_cuboid;
///
/// // A cube on a smooth floor: the nine vertices of its bottom cannot move along z, and slide along x and y.
/// # let mesh = tet_cuboid(Vector3::repeat(0.05), [2, 2, 2])?;
/// # let material = Arc::new(Linear::new(Lame::new(1e5, 1e5)?));
/// let floor = Region::HalfSpace { point: Vector3::new(0.0, 0.0, -0.05), normal: Vector3::z() };
/// let (cube, _) = FemBuilder::new(mesh, material, 1000.0).fix(floor, &[Axis::Z]).build()?;
/// let (mut step, control) = (cube.new_step(), Control::default());
/// step.begin(&cube.default_state(), &StepInput::new(0.01, Vector3::zeros(), &control))?;
/// assert_eq!(step.start_velocity().len(), 3 * 27 - 9);
/// // Vertex 0 is drawn along x at 0.1 m/s.
/// let pull = cube.holding(&[0], &[Axis::X], &Vector3::new(0.1, 0.0, 0.0));
/// assert_eq!(pull.held[..3], [Some(0.1), None, None]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// x.
    X,
    /// y.
    Y,
    /// z.
    Z,
}

impl Axis {
    /// All three.
    pub const ALL: [Self; 3] = [Self::X, Self::Y, Self::Z];

    pub(crate) fn index(self) -> usize {
        self as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_hydroelastic::mesh::generate::tet_cuboid;

    #[test]
    fn regions_select_vertices_by_position_and_empty_ones_report_the_bounds_of_the_mesh() {
        let mesh = tet_cuboid(Vector3::new(0.5, 0.1, 0.1), [5, 1, 1]).unwrap();
        let count = |region: Region| region.vertices(&mesh, "test").unwrap().len();
        assert_eq!(count(Region::All), 24);
        let wall = Region::HalfSpace {
            point: Vector3::new(-0.5, 0.0, 0.0),
            normal: Vector3::x() * 7.0,
        };
        assert_eq!(count(wall), 4);
        let end = Region::Box {
            min: Vector3::new(0.25, -1.0, -1.0),
            max: Vector3::repeat(1.0),
        };
        assert_eq!(count(end), 8);
        let ball = |x: f64| Region::Ball {
            center: Vector3::new(x, 0.1, 0.1),
            radius: 0.05,
        };
        assert_eq!(count(ball(0.5)), 1);
        assert_eq!(count(Region::Vertices(vec![3, 1, 3])), 2);
        let text = ball(2.0)
            .vertices(&mesh, "the clamp")
            .unwrap_err()
            .to_string();
        assert!(text.contains("the clamp") && text.contains("0.5"), "{text}");
        let beyond = Region::Vertices(vec![24]).vertices(&mesh, "the clamp");
        assert!(matches!(
            beyond,
            Err(FemError::NoSuchVertex { vertex: 24, .. })
        ));
    }
}
