//! Is the surface of a body complete, and does every point of it move as the step's bases say?

use nalgebra::{Isometry3, Point3, Vector3};

use super::begin::{accepts, lasting};
use crate::body::{
    BodyState, BodyStep, DeformableModel, FlatEdge, MaterialPoint, Primitive, StepInput, Surface,
};
use crate::conformance::probe::Probe;
use crate::conformance::{Violation, promise};
use crate::rows::{Interpolation, Rows};

pub(super) fn check_surface(
    model: &dyn DeformableModel,
    state: &BodyState,
) -> Result<Surface, Violation> {
    let mut clean = Surface::default();
    model.surface(state, &mut clean);
    let mut dirty = clean.clone();
    dirty.vertices.push(Point3::new(f64::NAN, 0.0, 0.0));
    dirty.radii.push(-1.0);
    dirty.parts.push(u32::MAX);
    dirty.triangles.push([u32::MAX; 3]);
    model.surface(state, &mut dirty);
    promise(clean == dirty, || {
        "surface does not overwrite what was in it".into()
    })?;
    let n = clean.vertices.len();
    promise(clean.radii.is_empty() || clean.radii.len() == n, || {
        format!(
            "the surface has {} radii for {n} vertices",
            clean.radii.len()
        )
    })?;
    promise(clean.parts.is_empty() || clean.parts.len() == n, || {
        format!(
            "the surface has the parts of {} of {n} vertices",
            clean.parts.len()
        )
    })?;
    let indices = clean.edges.iter().flatten();
    let indices = indices.chain(clean.triangles.iter().flatten());
    let mut indices = indices.chain(clean.tetrahedra.iter().flatten());
    promise(indices.all(|&i| (i as usize) < n), || {
        format!("a primitive of the surface names a vertex beyond its {n}")
    })?;
    Ok(clean)
}

/// The position of `p` on `surface`.
fn position(surface: &Surface, p: &MaterialPoint) -> Point3<f64> {
    let on = |vertices: &[u32]| {
        let weighted = vertices.iter().zip(p.weights);
        let sum: Vector3<f64> = weighted
            .map(|(&i, w)| surface.vertices[i as usize].coords * w)
            .sum();
        Point3::from(sum + p.offset)
    };
    match p.primitive {
        Primitive::Frame(i) => surface.frames[i as usize] * Point3::from(p.offset),
        Primitive::Vertex(i) => on(&[i]),
        Primitive::Edge(i) => on(&surface.edges[i as usize]),
        Primitive::Triangle(i) => on(&surface.triangles[i as usize]),
        Primitive::Tetrahedron(i) => on(&surface.tetrahedra[i as usize]),
    }
}

/// Points of every kind of primitive, spread over the surface.
fn points(surface: &Surface, probe: &mut Probe) -> Vec<MaterialPoint> {
    const EACH: usize = 20;
    let mut points = Vec::new();
    let spread = |n: usize| (0..n).step_by(n.div_ceil(EACH).max(1)).map(|i| i as u32);
    for i in spread(surface.frames.len()) {
        let p_FQ = Vector3::from_fn(|_, _| 0.1 * probe.number());
        points.push(MaterialPoint::on_frame(i, p_FQ));
    }
    points.extend(spread(surface.vertices.len()).map(MaterialPoint::on_vertex));
    type Kind = (usize, fn(u32) -> Primitive, usize);
    let kinds: [Kind; 3] = [
        (surface.edges.len(), Primitive::Edge, 2),
        (surface.triangles.len(), Primitive::Triangle, 3),
        (surface.tetrahedra.len(), Primitive::Tetrahedron, 4),
    ];
    for (n, primitive, corners) in kinds {
        for i in spread(n) {
            let mut weights = [0.0; 4];
            weights[..corners].fill_with(|| 1.5 + probe.number());
            let sum: f64 = weights.iter().sum();
            points.push(MaterialPoint {
                primitive: primitive(i),
                weights: weights.map(|w| w / sum),
                offset: Vector3::zeros(),
            });
        }
    }
    points
}

pub(super) fn check_points(
    model: &dyn DeformableModel,
    state: &BodyState,
    input: &StepInput<'_>,
    surface: &Surface,
    probe: &mut Probe,
) -> Result<(), Violation> {
    // So short that rotation within the step is negligible, so long that positions keep enough digits.
    let time_step_s = 1e-6;
    let brief = lasting(input, time_step_s);
    let prescribed = input.control.held.iter().flatten();
    let fastest_prescribed = prescribed.fold(0.0, |most: f64, v| most.max(v.abs()));
    let mut step = model.new_step();
    accepts(step.as_mut(), state, &brief)?;
    let n = step.start_velocity().len();
    let mut mean = Vec::new();
    let mut interpolation = Interpolation::Twist;
    let mut rows = Rows::default();
    let (mut next, mut moved) = (BodyState::default(), Surface::default());
    for scale in [0.0, 1.0] {
        let v: Vec<_> = probe.vector(n).iter().map(|v| scale * v).collect();
        let integration = &brief.time_step;
        integration.mean_velocities(step.start_velocity(), &v, &mut mean);
        let advanced = step.advance(&v, &mut next);
        let _ =
            advanced.map_err(|e| Violation(format!("advance fails at velocities up to 1: {e}")))?;
        model.surface(&next, &mut moved);
        for p in points(surface, probe) {
            let at = position(surface, &p);
            let p_WO = at + Vector3::from_fn(|_, _| 0.1 * probe.number());
            let by_basis = velocity(
                &*step,
                &p,
                &mean,
                (&at, &p_WO),
                (&mut interpolation, &mut rows),
            )?;
            let by_advance = (position(&moved, &p) - at) / time_step_s;
            // Round-off of a position over the step, and rotation within it.
            let slack = 16.0 * f64::EPSILON * (1.0 + at.coords.norm()) / time_step_s
                + 1e-4 * (by_basis.norm() + scale + fastest_prescribed);
            let error = (by_basis - by_advance).norm();
            promise(error <= slack, || {
                format!(
                    "{:?}: by interpolation and basis it moves with {:?} m/s, by advance with {:?}",
                    p.primitive,
                    by_basis.as_slice(),
                    by_advance.as_slice()
                )
            })?;
        }
    }
    Ok(())
}

/// The surface and the vertex velocities of [`SurfaceMotion`](crate::SurfaceMotion).
pub(super) fn check_surface_motion(
    step: &dyn BodyStep,
    surface: &Surface,
    probe: &mut Probe,
) -> Result<(), Violation> {
    let Some(motion) = step.as_surface() else {
        return Ok(());
    };
    let mut start = Surface::default();
    start.vertices.push(Point3::new(f64::NAN, 0.0, 0.0));
    motion.start_surface(&mut start);
    promise(is_same(&start, surface), || {
        "start_surface is not the surface of the model".into()
    })?;
    let v = probe.vector(step.start_velocity().len());
    let mut velocities = vec![Vector3::repeat(f64::NAN)];
    motion.vertex_velocities(&v, &mut velocities);
    let (found, n) = (velocities.len(), surface.vertices.len());
    promise(found == n, || {
        format!("vertex_velocities has {found} for {n} vertices")
    })?;
    let (mut interpolation, mut rows) = (Interpolation::Twist, Rows::default());
    for (i, (at, found)) in surface.vertices.iter().zip(&velocities).enumerate() {
        let p = MaterialPoint::on_vertex(i as u32);
        let expected = velocity(step, &p, &v, (at, at), (&mut interpolation, &mut rows))?;
        promise(
            (expected - found).norm() <= 1e-12 * (1.0 + expected.norm()),
            || {
                format!(
                    "vertex {i}: by interpolation and basis it moves with {:?} m/s, vertex_velocities has {:?}",
                    expected.as_slice(),
                    found.as_slice()
                )
            },
        )?;
    }
    Ok(())
}

/// Equal but for the round-off of positions and directions.
fn is_same(a: &Surface, b: &Surface) -> bool {
    let near = |x: &Vector3<f64>, y: &Vector3<f64>| (x - y).norm() <= 1e-12 * (1.0 + y.norm());
    let mut vertices = a.vertices.iter().zip(&b.vertices);
    let mut sections = a.sections.iter().zip(&b.sections);
    let mut directors = a.directors.iter().zip(&b.directors);
    let frames = a.frames.iter().zip(&b.frames);
    let corners = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()].map(Point3::from);
    let mut points = frames.flat_map(|(a, b)| corners.map(|p| (a * p, b * p)));
    let exact = |s: &Surface| Surface {
        frames: vec![Isometry3::identity(); s.frames.len()],
        vertices: vec![Point3::origin(); s.vertices.len()],
        directors: vec![Vector3::zeros(); s.directors.len()],
        sections: s
            .sections
            .iter()
            .map(|s| FlatEdge {
                m_1: Vector3::zeros(),
                ..*s
            })
            .collect(),
        ..s.clone()
    };
    exact(a) == exact(b)
        && points.all(|(a, b)| near(&a.coords, &b.coords))
        && vertices.all(|(a, b)| near(&a.coords, &b.coords))
        && sections.all(|(a, b)| near(&a.m_1, &b.m_1))
        && directors.all(|(a, b)| near(a, b))
}

/// Velocity of material point `p`, which is at `at`, while the body has velocities `v`: Φ(Bv + b) with the basis taken at `p_WO`.
fn velocity(
    step: &dyn BodyStep,
    p: &MaterialPoint,
    v: &[f64],
    (at, p_WO): (&Point3<f64>, &Point3<f64>),
    (interpolation, rows): (&mut Interpolation, &mut Rows),
) -> Result<Vector3<f64>, Violation> {
    let primitive = p.primitive;
    let basis = step.interpolation(p, interpolation).map_err(|e| {
        Violation(format!(
            "interpolation refuses {primitive:?}, which is on the surface: {e}"
        ))
    })?;
    step.basis(basis, p_WO, rows);
    let expected = match &*interpolation {
        Interpolation::Twist => 6,
        Interpolation::Weights(weights) => 3 * weights.len(),
        Interpolation::Dense(phi) => phi.len() / 3,
    };
    promise(rows.n_rows() == expected, || {
        format!(
            "{primitive:?}: the basis has {} rows, its interpolation takes {expected}",
            rows.n_rows()
        )
    })?;
    let mut u = vec![0.0; rows.n_rows()];
    rows.apply(v, &mut u);
    Ok(interpolated(interpolation, &u, &(at - p_WO)))
}

/// Points beyond the last primitive of each kind are refused.
pub(super) fn check_refused_points(
    step: &dyn BodyStep,
    surface: &Surface,
) -> Result<(), Violation> {
    let counts = [
        Primitive::Frame(surface.frames.len() as u32),
        Primitive::Vertex(surface.vertices.len() as u32),
        Primitive::Edge(surface.edges.len() as u32),
        Primitive::Triangle(surface.triangles.len() as u32),
        Primitive::Tetrahedron(surface.tetrahedra.len() as u32),
    ];
    for primitive in counts {
        let p = MaterialPoint {
            primitive,
            ..MaterialPoint::on_frame(0, Vector3::zeros())
        };
        let refused = step.interpolation(&p, &mut Interpolation::Twist).is_err();
        promise(refused, || {
            format!("{primitive:?} is not on the surface, but interpolation accepts it")
        })?;
    }
    Ok(())
}

/// Φu.
fn interpolated(interpolation: &Interpolation, u: &[f64], p_OQ: &Vector3<f64>) -> Vector3<f64> {
    match interpolation {
        Interpolation::Twist => {
            Vector3::from_column_slice(&u[3..6]) + Vector3::from_column_slice(&u[..3]).cross(p_OQ)
        }
        Interpolation::Weights(weights) => {
            let points = u.chunks_exact(3).map(Vector3::from_column_slice);
            weights.iter().zip(points).map(|(w, u)| u * *w).sum()
        }
        Interpolation::Dense(phi) => {
            let columns = phi.chunks_exact(3).map(Vector3::from_column_slice);
            columns.zip(u).map(|(phi, u)| phi * *u).sum()
        }
    }
}
