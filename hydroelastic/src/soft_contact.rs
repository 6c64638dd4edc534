//! Contact of deforming tetrahedral bodies by their triangles and tetrahedra: with rigid shapes, filaments, each other,
//! balls and themselves.

mod balls;
mod features;
mod on_field;
mod on_filament;
mod on_shape;
mod on_soft;
mod patch_points;
mod paths;
mod polygon_recorder;
mod polygons_in_shape;
mod segments;
mod side;
mod surface_points;
mod vertex_distances;
mod workspace;

use nalgebra::Isometry3;

use crate::GeometryError;
use crate::contact_geometry::{ContactChoice, ContactGeometry, Query};
use crate::contact_point::ContactPoint;
use crate::contact_workspace::ContactWorkspace;
use crate::field::PressureField;
use crate::filament::Filament;
use crate::patch::{ContactPatch, Order};
use crate::patch_geometry::PatchGeometry;
use crate::posed::{DeformingSurface, Posed, RigidShape};
use crate::soft_mesh::SoftMesh;
use on_soft::Touch;
use side::swap;
use workspace::Workspace;

/// Contact of deforming surfaces with a [`SoftMesh`]; where point contact is requested, with round filaments only.
///
/// | a soft body against | contact geometry |
/// |---|---|
/// | a compliant shape, a compliant half space | points of its triangles in the pressure field of the shape; k = A g, φ₀ = −p₀/g |
/// | any other shape, including half spaces and custom shapes | points of its triangles, by signed distance |
/// | a soft body | points of the triangles of both, by the depth below the other's skin |
/// | itself | the same, excluding parts connected by an edge of the mesh |
/// | balls at the vertices of another deforming surface | the triangle nearest to each ball, or the depth at its centre |
/// | a filament [with a field](crate::Filament::with_field) | its triangles cut by that field, as for a compliant shape |
/// | round segments of another filament | as balls along each segment, at most a diameter apart |
///
/// Where point contact is requested, round segments of a filament use those balls even if it has a field. Flat segments
/// without a field, or where point contact is requested, make contact with the soft body's vertices, as balls of zero
/// radius in [`FilamentContact`](crate::FilamentContact).
///
/// **Stiffness.** Where no pressure field determines it, a point of area A at rest has the pair's stiffness times A/A₀ with A₀
/// = [`SoftMesh::vertex_area`]: the surface as a whole is as stiff as with contact by its vertices.
///
/// **Points.** Three points inside each triangle and its corners, fixed in the material: the set of points, their
/// keys and stiffness do not depend on which of them are in contact. Triangles larger than a shape, or over its edges,
/// are divided. In contact with a filament's field, a polygon of a triangle becomes one point, or three with its area,
/// centroid and second moments.
///
/// **Orientation.** A point is weighted with the cosine of the angle at which its triangle faces the partner, and has
/// zero weight if it faces away: triangles of an upper side below the floor are not supported, and lateral
/// sides get no vertical force. In the field of a filament polygons fade out as those of
/// [`PatchContact`](crate::PatchContact).
///
/// **Speculative contacts.** Points within the margin of the [`Query`] are included before they carry load. Beyond the
/// margin, included are vertices and centres of triangles whose predicted paths enter a shape within the step; between
/// two soft surfaces, vertices that reach triangles and edges that reach edges.
///
/// Triangles of inverted elements and inverted tetrahedra are ignored. A pure function of its arguments; does not
/// allocate once the buffers of the workspace have grown.
///
/// ```
/// use nalgebra::{Isometry3, Point3, Vector3};
/// # use pliant_hydroelastic::{
/// #     ContactGeometry, ContactWorkspace, DeformingSurface, Posed, Query, RigidShape, SelfExclusion, Shape, mesh::generate,
/// # };
/// use pliant_hydroelastic::{SoftContact, SoftMesh};
///
/// // A cube of tetrahedra, 10 cm wide, 1 mm deep in the floor: the areas of its contact points sum to that of its lower side.
/// # let cube = generate::tet_cuboid(Vector3::repeat(0.05), [2, 2, 2])?;
/// # let points: Vec<_> = cube.vertices().iter().map(|p| Point3::from(*p) + Vector3::new(0.0, 0.0, 0.049)).collect();
/// # let triangles: Vec<_> = cube.boundary().triangles.iter().map(|t| t.map(u32::from)).collect();
/// # let tets: Vec<_> = cube.tets().iter().map(|t| t.map(u32::from)).collect();
/// # let (velocities, radii, exclusion) = (vec![Vector3::zeros(); points.len()], vec![0.0; points.len()], SelfExclusion::default());
/// let mut mesh = SoftMesh::new(&points, &triangles, &tets)?;
/// mesh.update(&points, &triangles, &velocities, 1e-3)?;
/// # let surface = DeformingSurface {
/// #     id: 0, points: &points, radii: &radii, velocities: &velocities, exclusion: &exclusion, field: None, mesh: Some(&mesh),
/// # };
/// # let floor = Shape::half_space();
/// # let b = Posed::Rigid(RigidShape::at_rest(&floor, Isometry3::identity()));
/// # let (mut found, mut workspace, query) = (Vec::new(), ContactWorkspace::default(), Query::new(1e-3, 9.81)?);
/// SoftContact.collide(Posed::Deforming(surface), b, &query, &mut workspace, &mut found).expect("a known pair")?;
/// let area: f64 = found.iter().filter_map(|point| point.patch_share(1e4)).map(|share| share.area).sum();
/// assert!((area - 0.01).abs() < 1e-4, "{area}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SoftContact;

impl ContactGeometry for SoftContact {
    fn collide(
        &self,
        a: Posed<'_>,
        b: Posed<'_>,
        q: &Query,
        workspace: &mut ContactWorkspace,
        out: &mut Vec<ContactPoint>,
    ) -> Option<Result<(), GeometryError>> {
        let mesh = |posed: &Posed<'_>| matches!(posed, Posed::Deforming(s) if s.mesh.is_some());
        let flat = |posed: &Posed<'_>| matches!(posed, Posed::Filament(f) if f.is_box() && f.field().is_none());
        if !mesh(&a) && !mesh(&b) || flat(&a) || flat(&b) {
            return None;
        }
        // Vertices alone would miss a thin filament between them, and material points, which have only points as well.
        let needs_faces = |posed: &Posed<'_>| match posed {
            Posed::Filament(f) => !f.is_box(),
            Posed::Deforming(s) => s.mesh.is_none(),
            Posed::Rigid(_) => false,
        };
        if q.choice == ContactChoice::Point && !needs_faces(&a) && !needs_faces(&b) {
            return None;
        }
        let is_up_to_date = |posed: &Posed<'_>, other: &Posed<'_>| match posed {
            Posed::Deforming(s) => {
                let deforms = !matches!(other, Posed::Rigid(_));
                s.mesh.map_or(Ok(()), |mesh| mesh.check(deforms))
            }
            _ => Ok(()),
        };
        let checks = [
            a.check('a'),
            b.check('b'),
            is_up_to_date(&a, &b),
            is_up_to_date(&b, &a),
        ];
        if let Some(e) = checks.into_iter().find_map(Result::err) {
            return Some(Err(e));
        }
        let from = out.len();
        let w: &mut Workspace = workspace.get();
        match (&a, &b) {
            (Posed::Deforming(s), Posed::Rigid(r)) => on_rigid(s, r, q, w, out),
            (Posed::Rigid(r), Posed::Deforming(s)) => {
                on_rigid(s, r, q, w, out);
                swap(&mut out[from..]);
            }
            (Posed::Deforming(s), Posed::Filament(f)) => on_filament(s, f, q, w, out),
            (Posed::Filament(f), Posed::Deforming(s)) => {
                on_filament(s, f, q, w, out);
                swap(&mut out[from..]);
            }
            (Posed::Deforming(s), Posed::Deforming(t)) => match (s.mesh, t.mesh) {
                (Some(m), Some(_)) if s.id == t.id && !m.allows_self_contact() => {}
                (Some(m), Some(n)) => {
                    let (points, stack) = (&mut w.surface, &mut w.stack);
                    let margin = q.margin;
                    match s.id == t.id {
                        true => on_soft::collide(m, (m, Touch::Own), margin, points, stack, out),
                        false => {
                            on_soft::collide(m, (n, Touch::Other), margin, points, stack, out);
                            let of_t = out.len();
                            on_soft::collide(n, (m, Touch::Other), margin, points, stack, out);
                            swap(&mut out[of_t..]);
                        }
                    }
                    features::collide((s, m), (t, n), margin, stack, out);
                }
                (Some(m), None) => balls::collide(m, t, q, &mut w.stack, out),
                (None, Some(n)) => {
                    balls::collide(n, s, q, &mut w.stack, out);
                    swap(&mut out[from..]);
                }
                (None, None) => {}
            },
            _ => {}
        }
        Some(Ok(()))
    }
}

impl SoftContact {
    /// The patch itself, for visualisation and observables, as [`PatchContact::patch`](crate::PatchContact::patch) for
    /// rigid bodies: of soft bodies with rigid shapes, with filaments that have a field, with each other and with
    /// themselves. `stiffness` is that of the pair, N/m for an area of [`SoftMesh::vertex_area`]. `None` if the pair
    /// has no polygons.
    ///
    /// # Errors
    /// As [`ContactGeometry::collide`].
    pub fn patch(
        &self,
        a: Posed<'_>,
        b: Posed<'_>,
        stiffness: f64,
        workspace: &mut ContactWorkspace,
        out: &mut ContactPatch,
    ) -> Option<Result<(), GeometryError>> {
        out.clear();
        let (order, on) = match (&a, &b) {
            (Posed::Deforming(s), Posed::Rigid(r)) => (Order::AsGiven, Partner::Rigid(s.mesh?, r)),
            (Posed::Rigid(r), Posed::Deforming(s)) => (Order::Swapped, Partner::Rigid(s.mesh?, r)),
            (Posed::Deforming(s), Posed::Filament(f)) => {
                (Order::AsGiven, Partner::Field(s.mesh?, f.field()?))
            }
            (Posed::Filament(f), Posed::Deforming(s)) => {
                (Order::Swapped, Partner::Field(s.mesh?, f.field()?))
            }
            (Posed::Deforming(s), Posed::Deforming(t)) => {
                (Order::AsGiven, Partner::Soft(s.mesh?, t.mesh?))
            }
            _ => return None,
        };
        let fitted = match on {
            Partner::Rigid(mesh, _) => mesh.check(false),
            Partner::Field(mesh, _) => mesh.check(true),
            Partner::Soft(m, n) => m.check(true).and_then(|()| n.check(true)),
        };
        let checked = a.check('a').and_then(|()| b.check('b')).and(fitted);
        Some(checked.map(|()| {
            let w: &mut Workspace = workspace.get();
            match on {
                Partner::Rigid(mesh, r) => {
                    record_polygons(mesh, r, stiffness / mesh.vertex_area(), w);
                    w.recorder.fill(&r.X_WG, order, out);
                }
                Partner::Field(mesh, field) => {
                    w.recorder.keep();
                    on_filament::find(mesh, field, w);
                    w.recorder.fill(&Isometry3::identity(), order, out);
                }
                Partner::Soft(m, n) => {
                    let own = matches!((&a, &b), (Posed::Deforming(s), Posed::Deforming(t)) if s.id == t.id);
                    if !own || m.allows_self_contact() {
                        w.overlap.patch((&a, m), (&b, n), stiffness, out);
                    }
                }
            }
        }))
    }
}

/// The partner of a soft body.
#[derive(Clone, Copy)]
enum Partner<'a> {
    Rigid(&'a SoftMesh, &'a RigidShape<'a>),
    /// The field of a filament, in the world frame.
    Field(&'a SoftMesh, &'a PressureField),
    Soft(&'a SoftMesh, &'a SoftMesh),
}

/// The surface is A.
fn on_rigid(
    s: &DeformingSurface<'_>,
    r: &RigidShape<'_>,
    q: &Query,
    w: &mut Workspace,
    out: &mut Vec<ContactPoint>,
) {
    let Some(mesh) = s.mesh else {
        return;
    };
    let margin = q.margin.max(1e-5 * r.shape.size());
    w.distances.begin(mesh);
    w.in_contact.clear();
    w.in_contact.resize(mesh.n_triangles(), false);
    let memory = on_shape::Memory {
        stack: &mut w.stack,
        tets: &mut w.pairs,
        distances: &mut w.distances,
        points: &mut w.surface,
        in_contact: &mut w.in_contact,
    };
    on_shape::collide(mesh, r, margin, memory, out);
    let memory = (&mut w.stack, &w.in_contact[..], &mut w.distances);
    paths::speculative_points(mesh, r, q, margin, memory, out);
}

/// The surface is A.
fn on_filament(
    s: &DeformingSurface<'_>,
    f: &Filament,
    q: &Query,
    w: &mut Workspace,
    out: &mut Vec<ContactPoint>,
) {
    match (s.mesh, f.field()) {
        (Some(mesh), Some(field)) if q.choice != ContactChoice::Point => {
            on_filament::collide(mesh, (f, field), q, w, out)
        }
        (Some(mesh), _) => segments::collide(mesh, (f, None), q, &mut w.stack, out),
        (None, _) => {}
    }
}

/// Records the polygons of all triangles inside a shape; their pressure has the gradient `slope` (Pa/m) where the shape has none.
fn record_polygons(mesh: &SoftMesh, r: &RigidShape<'_>, slope: f64, w: &mut Workspace) {
    w.recorder.keep();
    w.distances.begin(mesh);
    let slope = match r.patch {
        Some(PatchGeometry::Compliant(field)) => {
            w.pieces.clear();
            let memory = (&mut w.stack, &mut w.pairs, &mut w.recorder);
            on_field::find(mesh, field, &r.X_WG, memory, &mut w.pieces);
            return;
        }
        Some(PatchGeometry::CompliantHalfSpace(slab)) => slab.stiffness(),
        Some(PatchGeometry::Rigid(_) | PatchGeometry::RigidHalfSpace) | None => slope,
    };
    let memory = (&mut w.stack, &mut w.distances, &mut w.recorder);
    polygons_in_shape::record(mesh, r, slope, memory);
}

#[cfg(test)]
mod tests;
