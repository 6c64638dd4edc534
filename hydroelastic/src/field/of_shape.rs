//! Pressure fields of shapes.

use nalgebra::{Point3, Vector3};

use super::round::{ellipsoid, star};
use super::{Compliance, FieldMesh, PressureField, layered};
use crate::mesh::{FillSettings, SurfaceOptions, SurfaceUse, TriMesh, tetrahedralise};
use crate::shape::{Cone, ConvexHull, MeshShape};
use crate::{GeometryError, Shape};

impl PressureField {
    /// The field of a compliant shape, as in the table of [`PressureField`]. A half space has none (it is a
    /// [`Slab`](crate::Slab)), neither has an elliptic cylinder or a custom shape.
    ///
    /// A non-convex mesh is filled by [`tetrahedralise`] with tetrahedra of the size of the resolution hint, then of a
    /// half, a quarter and an eighth of it, until the volume is correct within 5 %.
    ///
    /// # Errors
    /// [`GeometryError::Material`] for parameters out of range, [`GeometryError::NoField`] for a shape without a field,
    /// [`GeometryError::Meshing`] for a mesh that cannot be filled.
    ///
    /// ```
    /// use pliant_hydroelastic::{Compliance, PressureField, Shape};
    /// let cube = Shape::cuboid([0.1, 0.1, 0.1].into())?;
    /// let field = PressureField::of_shape(&cube, &Compliance { hydroelastic_modulus: 1.0e6, ..Compliance::default() })?;
    /// assert!((field.pressure_at(&[0.0, 0.0, -0.04].into()).unwrap() - 0.2e6).abs() < 1e-6);
    /// # Ok::<(), pliant_hydroelastic::GeometryError>(())
    /// ```
    pub fn of_shape(shape: &Shape, compliance: &Compliance) -> Result<Self, GeometryError> {
        compliance.validate()?;
        let c = compliance;
        let parts = match shape {
            Shape::Sphere(s) => ellipsoid(&Vector3::repeat(s.radius()), c),
            Shape::Ellipsoid(s) => ellipsoid(&s.semi_axes(), c),
            Shape::Box(s) => layered::cuboid(&s.half_extents(), c),
            Shape::Cylinder(s) => layered::cylinder(s.radius(), s.half_length(), c),
            Shape::Capsule(s) => layered::capsule(s.radius(), s.half_length(), c),
            Shape::Cone(s) => cone(s, c),
            Shape::ConvexHull(hull) => convex_hull(hull, c),
            Shape::Mesh(mesh) => return of_mesh(mesh, c),
            Shape::HalfSpace | Shape::EllipticCylinder(_) | Shape::Custom(_) => {
                return Err(GeometryError::NoField {
                    shape: shape.name(),
                });
            }
        };
        Self::assemble(parts)
    }
}

/// All facets of a cone touch the sphere inscribed about its incentre: the field is the distance to the nearest facet.
fn cone(cone: &Cone, c: &Compliance) -> FieldMesh {
    let (vertices, triangles) = cone_surface(cone, c.mesh_resolution_hint);
    // The inscribed sphere of the faceted cone touches the base and the centre of each facet.
    let n = (vertices.len() - 2) as f64;
    let height = 2.0 * cone.half_height();
    let apothem = vertices[2].xy().norm() * (std::f64::consts::PI / n).cos();
    let inradius = apothem * height / (apothem + apothem.hypot(height));
    let center = Vector3::new(0.0, 0.0, inradius - cone.half_height());
    star(vertices, &triangles, center, inradius, c)
}

/// Apex, centre of the base, ring; the volume is exact.
pub(crate) fn cone_surface(cone: &Cone, edge: f64) -> (Vec<Vector3<f64>>, Vec<[u32; 3]>) {
    let n = (std::f64::consts::TAU * cone.radius() / edge)
        .ceil()
        .clamp(8.0, 4096.0) as u32;
    let rim = cone.radius() * super::matched_ring_radius(n);
    let h = cone.half_height();
    let mut vertices = vec![Vector3::new(0.0, 0.0, h), Vector3::new(0.0, 0.0, -h)];
    let mut triangles = Vec::new();
    for i in 0..n {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(i) / f64::from(n)).sin_cos();
        vertices.push(Vector3::new(rim * cos, rim * sin, -h));
        let (this, next) = (2 + i, 2 + (i + 1) % n);
        triangles.extend([[0, this, next], [1, next, this]]);
    }
    (vertices, triangles)
}

fn convex_hull(hull: &ConvexHull, c: &Compliance) -> FieldMesh {
    let center = hull.mass_properties(1.0).center.coords;
    let depth = hull
        .faces()
        .iter()
        .map(|f| f.offset - f.normal.dot(&center))
        .fold(f64::INFINITY, f64::min);
    let vertices = hull.vertices().iter().map(|p| p.coords).collect();
    let triangles: Vec<_> = hull.triangles().collect();
    star(vertices, &triangles, center, depth, c)
}

fn of_mesh(mesh: &MeshShape, c: &Compliance) -> Result<PressureField, GeometryError> {
    let vertices: Vec<Vector3<f64>> = mesh.vertices().iter().map(|p| p.coords).collect();
    if let Some(depth) = depth_of_convex(mesh) {
        let center = mesh.mass_properties(1.0).center.coords;
        return PressureField::assemble(star(vertices, mesh.triangles(), center, depth, c));
    }
    let meshing = |e: crate::mesh::MeshError| GeometryError::Meshing {
        reason: e.to_string(),
    };
    let (surface, _) = TriMesh::build(
        vertices,
        mesh.triangles().to_vec(),
        SurfaceUse::Solid,
        &SurfaceOptions::default(),
    )
    .map_err(meshing)?;
    let target = mesh.mass_properties(1.0).volume;
    let mut edge = c.mesh_resolution_hint;
    let mut last = tetrahedralise(&surface, &FillSettings::of_edge_length(edge));
    for _ in 0..3 {
        let found = last
            .as_ref()
            .map_or(0.0, |(solid, _)| solid.solid_moments().volume);
        if (found / target - 1.0).abs() <= 0.05 {
            break;
        }
        edge *= 0.5;
        match tetrahedralise(&surface, &FillSettings::of_edge_length(edge)) {
            // The lattice would be too fine: keep the last one.
            Err(_) if last.is_ok() => break,
            finer => last = finer,
        }
    }
    PressureField::of_tets(&last.map_err(meshing)?.0, c)
}

/// The distance of the nearest face from the centroid, if the surface is convex and connected.
fn depth_of_convex(mesh: &MeshShape) -> Option<f64> {
    let center = mesh.mass_properties(1.0).center;
    let size = mesh.local_aabb().half_extents().norm();
    let mut depth = f64::INFINITY;
    for (t, corners) in mesh.triangles().iter().enumerate() {
        let normal = mesh.normal(t as u32);
        if *normal == Vector3::zeros() {
            continue;
        }
        let above = |p: &Point3<f64>| normal.dot(&(p - mesh.vertices()[corners[0] as usize]));
        // Locally convex at every edge and no vertex in front of a face, which excludes a second component.
        let hollow = mesh.triangle_edges(t as u32).iter().any(|&e| {
            mesh.edges()[e as usize]
                .triangles
                .iter()
                .any(|&n| mesh.corners(n).iter().any(|p| above(p) > 1e-9 * size))
        });
        if hollow {
            return None;
        }
        depth = depth.min(-above(&center));
    }
    let behind_all = |p: &Point3<f64>| {
        let first = mesh.normal(0);
        first.dot(&(p - mesh.corners(0)[0])) <= 1e-9 * size
    };
    (depth > 1e-6 * size && mesh.vertices().iter().all(behind_all) && is_one_piece(mesh))
        .then_some(depth)
}

fn is_one_piece(mesh: &MeshShape) -> bool {
    let mut visited = vec![false; mesh.triangles().len()];
    let mut open = vec![0_u32];
    let mut count = 0;
    while let Some(t) = open.pop() {
        if std::mem::replace(&mut visited[t as usize], true) {
            continue;
        }
        count += 1;
        for e in mesh.triangle_edges(t) {
            open.extend(mesh.edges()[e as usize].triangles);
        }
    }
    count == visited.len()
}
