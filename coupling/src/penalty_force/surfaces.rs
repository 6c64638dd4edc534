//! Triangle surfaces as objects: those of deforming bodies, and rigid meshes.
//!
//! The surface of a body with tetrahedra is that of a solid, which has to be closed and is entered from the front; any other, such as that of a cloth,
//! is a sheet with two sides. Particles with a radius, and those near the vertices of a surface with one, are kept at that distance from it.

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::BodyError;
use pliant_hydroelastic::{
    Crossable, GeometryError, MeshPlace, Path, Shape, SurfaceHit, SweptSurface, WalkSurface,
};

use super::BodyFault;
use super::bodies::Bodies;
use super::vertex_place::VertexPlace;
use crate::error::StepError;
use crate::state::State;
use crate::world::{Geometry, GeometryIdx, World};

/// Distances that differ by less than this part of an edge are equal.
const EQUALLY_NEAR: f64 = 1e-9;

/// A surface of triangles in a step.
pub(super) struct MeshSurface {
    pub(super) walk: WalkSurface,
    pub(super) crossable: Crossable,
    swept: SweptSurface,
    vertices: Vertices,
    /// Only vertices of this part of the body.
    part: Option<u32>,
}

/// Where the vertices are.
enum Vertices {
    /// At rest in the geometry's frame.
    InFrame(Vec<Point3<f64>>),
    /// On a deforming body, by its place.
    OfBody(usize),
}

impl MeshSurface {
    /// The surface of a geometry whose vertices, if it deforms, are in `place`; `None` if it has no triangles.
    ///
    /// # Errors
    /// Degenerate triangles, and solids that are not closed.
    pub(super) fn of(
        world: &World,
        state: &State,
        geometry: GeometryIdx,
        place: Option<usize>,
    ) -> Result<Option<Self>, StepError> {
        let Geometry {
            mount, shape, part, ..
        } = &world.geometries()[geometry.0];
        let refuse = |source| StepError::of_pair(world, state, (geometry, geometry), source);
        if let Some(Shape::Mesh(mesh)) = shape {
            let vertices = mesh.vertices().to_vec();
            let walk = WalkSurface::new(&vertices, mesh.triangles()).map_err(refuse)?;
            let mut swept = SweptSurface::default();
            swept.sweep(&walk, &vertices, &vertices);
            return Ok(Some(Self {
                walk,
                crossable: Crossable::FromFront,
                swept,
                vertices: Vertices::InFrame(vertices),
                part: None,
            }));
        }
        let (Some(body), Some(place)) = (mount.deforming(), place) else {
            return Ok(None);
        };
        let mut surface = pliant_contact_sap::Surface::default();
        let model = world.model(body);
        model.surface(&model.default_state(), &mut surface);
        let triangles = of_part(&surface, *part);
        if triangles.is_empty() {
            return Ok(None);
        }
        let walk = WalkSurface::new(&surface.vertices, &triangles).map_err(refuse)?;
        let crossable = match surface.tetrahedra.is_empty() {
            true => Crossable::FromBoth,
            false => Crossable::FromFront,
        };
        if crossable == Crossable::FromFront && !walk.is_closed() {
            return Err(refuse(GeometryError::Meshing {
                reason: "the surface of a solid has to be closed for penalty forces; close the hole, or model a sheet as cloth".into(),
            }));
        }
        Ok(Some(Self {
            walk,
            crossable,
            swept: SweptSurface::default(),
            vertices: Vertices::OfBody(place),
            part: *part,
        }))
    }

    /// Follows the surface of its body where its triangles have changed, such as by particles that were removed.
    pub(super) fn begin(
        &mut self,
        bodies: &Bodies,
        vertices: &[VertexPlace],
    ) -> Result<(), BodyFault> {
        let Vertices::OfBody(place) = self.vertices else {
            return Ok(());
        };
        let body = vertices[place].body;
        let surface = bodies.surface(body);
        let triangles = of_part(surface, self.part);
        // Bodies collapse the triangles of inverted elements to one vertex.
        let differs = |(old, new): (&[u32; 3], &[u32; 3])| old != new && new[0] != new[1];
        let same_number = triangles.len() == self.walk.triangles().len();
        if same_number && !self.walk.triangles().iter().zip(&triangles).any(differs) {
            return Ok(());
        }
        let walk = WalkSurface::new(&surface.vertices, &triangles);
        self.walk = walk.map_err(|e| (body, BodyError::Model(e.to_string())))?;
        Ok(())
    }

    /// Takes the surface through the step to the end that its body was moved to.
    pub(super) fn sweep(&mut self, bodies: &Bodies, vertices: &[VertexPlace]) {
        if let Vertices::OfBody(place) = self.vertices {
            let VertexPlace { body, at_end, .. } = &vertices[place];
            let start = &bodies.surface(*body).vertices;
            self.swept.sweep(&self.walk, start, at_end);
        }
    }

    /// Index among the deforming bodies, for a surface that deforms.
    pub(super) fn place(&self) -> Option<usize> {
        match self.vertices {
            Vertices::OfBody(place) => Some(place),
            Vertices::InFrame(_) => None,
        }
    }

    /// Vertices at the end of the step: of a body in the world, of a rigid mesh in its frame.
    pub(super) fn at_end<'a>(&'a self, vertices: &'a [VertexPlace]) -> &'a [Point3<f64>] {
        match &self.vertices {
            Vertices::OfBody(place) => &vertices[*place].at_end,
            Vertices::InFrame(vertices) => vertices,
        }
    }

    /// Whether it is that of a solid, which is entered from the front.
    pub(super) fn is_solid(&self) -> bool {
        self.crossable == Crossable::FromFront
    }

    /// Distances that differ by less are equal, m.
    pub(super) fn round_off(&self) -> f64 {
        let [a, b, _] = self.walk.corners(self.swept.start(), 0);
        EQUALLY_NEAR * (b - a).norm()
    }

    /// Whether a path may meet it, coming within `reach` (m).
    pub(super) fn may_meet(&self, path: &Path, reach: f64) -> bool {
        self.swept.may_meet(path, reach)
    }

    /// Calls `visit` with every triangle whose box during the step is within `reach` (m) of the box around `path`.
    pub(super) fn triangles_near(&self, path: &Path, reach: f64, visit: impl FnMut(u32)) {
        self.swept.triangles_near(path, reach, visit);
    }

    /// Where a particle on `path` enters it, without triangles that have the particle as a vertex.
    pub(super) fn entry(&self, path: &Path, own: Option<u32>) -> Option<SurfaceHit> {
        self.swept
            .first_entry(&self.walk, self.crossable, path, |corners| {
                own.is_some_and(|own| corners.contains(&own))
            })
    }

    /// The place that a particle within `reach` (m) at the end of the path has below it, and its side.
    pub(super) fn overlap(&self, path: &Path, reach: f64) -> Option<SurfaceHit> {
        let mut nearest: Option<(f64, MeshPlace)> = None;
        let end = [path[1]; 2];
        self.swept.triangles_near(&end, reach, |triangle| {
            let found = self.walk.nearest_on(self.swept.end(), triangle, &path[1]);
            let key = |(distance, place): &(f64, MeshPlace)| (*distance, place.triangle);
            if found.0 < reach && nearest.as_ref().is_none_or(|n| key(&found) < key(n)) {
                nearest = Some(found);
            }
        });
        let (_, place) = nearest?;
        self.in_front(self.swept.end(), &place, &path[1], &path[0])
    }

    /// Vertices at the start of the step: of a body in the world, of a rigid mesh in its frame.
    pub(super) fn at_start<'a>(
        &'a self,
        bodies: &'a Bodies,
        vertices: &[VertexPlace],
    ) -> &'a [Point3<f64>] {
        match &self.vertices {
            Vertices::OfBody(place) => &bodies.surface(vertices[*place].body).vertices,
            Vertices::InFrame(vertices) => vertices,
        }
    }

    /// The place nearest to a particle that is inside a solid at the start of the step. Of places equally near, as for a particle on an edge, the one that
    /// faces the outside of the particle's own surface, whose normal is `outwards`: a corner that lies on a flush rim is on the face below it.
    pub(super) fn inside_at_start(
        &self,
        start: &Point3<f64>,
        outwards: Option<&Vector3<f64>>,
    ) -> Option<SurfaceHit> {
        if self.crossable == Crossable::FromBoth || !self.may_meet(&[*start; 2], 0.0) {
            return None;
        }
        let vertices = self.swept.start();
        let (distance, mut place) = self.swept.nearest_at_start(&self.walk, start)?;
        let above = start - self.walk.point(vertices, &place);
        if above.dot(&self.walk.normal(vertices, &place)) >= 0.0 {
            return None;
        }
        if let Some(outwards) = outwards {
            let reach = distance + self.round_off();
            let facing = |triangle: u32| {
                let (normal, _) = self.walk.plane(vertices, triangle);
                -normal.dot(outwards)
            };
            self.triangles_near(&[*start; 2], reach, |triangle| {
                let (apart, other) = self.walk.nearest_on(vertices, triangle, start);
                let order = |t: u32| (facing(t), std::cmp::Reverse(t));
                if apart <= reach && order(triangle) > order(place.triangle) {
                    place = other;
                }
            });
        }
        Some(SurfaceHit {
            time: 0.0,
            place,
            facing: pliant_hydroelastic::Facing::Front,
        })
    }

    /// The place of the surface nearest to `p` at the start of the step.
    pub(super) fn nearest_at_start(&self, p: &Point3<f64>) -> Option<MeshPlace> {
        let nearest = self.swept.nearest_at_start(&self.walk, p);
        nearest.map(|(_, place)| place)
    }

    /// A place with the side that a particle near it is on: that of `end`, and for a sheet that of the particle's start.
    fn in_front(
        &self,
        vertices: &[Point3<f64>],
        place: &MeshPlace,
        end: &Point3<f64>,
        start: &Point3<f64>,
    ) -> Option<SurfaceHit> {
        use pliant_hydroelastic::Facing;
        let height = |vertices: &[Point3<f64>], p: &Point3<f64>| {
            (p - self.walk.point(vertices, place)).dot(&self.walk.normal(vertices, place))
        };
        let facing = match self.crossable {
            Crossable::FromFront if height(vertices, end) > 0.0 => Facing::Front,
            Crossable::FromFront => return None,
            Crossable::FromBoth if height(self.swept.start(), start) >= 0.0 => Facing::Front,
            Crossable::FromBoth => Facing::Back,
        };
        Some(SurfaceHit {
            time: 1.0,
            place: *place,
            facing,
        })
    }
}

/// The triangles of a part of a surface.
fn of_part(surface: &pliant_contact_sap::Surface, part: Option<u32>) -> Vec<[u32; 3]> {
    let belongs = |triangle: &&[u32; 3]| match part {
        Some(part) => {
            surface
                .parts
                .get(triangle[0] as usize)
                .copied()
                .unwrap_or(0)
                == part
        }
        None => true,
    };
    surface.triangles.iter().filter(belongs).copied().collect()
}
