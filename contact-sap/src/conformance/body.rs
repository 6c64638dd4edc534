//! Does a body's step hang together: matrices, bases, points, states?

use nalgebra::{Point3, Vector3};

use super::dynamics::check_dynamics;
use super::probe::{Probe, distance, norm, same_bits};
use super::{Violation, promise};
use crate::body::{
    BodyState, BodyStep, DeformableModel, MaterialPoint, Primitive, StepInput, Surface,
};
use crate::error::BodyError;
use crate::rows::{Lever, Rows};
use crate::time_step::{Integration, TimeStep};

/// Checks a [`DeformableModel`] and its [`BodyStep`], at `state` under `input`, by every [`Integration`] that the body does
/// not refuse as unsupported; it must know that of `input`.
///
/// - `begin` accepts the state and refuses one that is too short or not finite; on a fresh or a used workspace, once or
///   twice, it leads to the same bits.
/// - `linearise` gives a [`Dynamics`](crate::Dynamics) that passes [`check_dynamics`] and has as many velocities as
///   `start_velocity`.
/// - `lever` and `basis`: `point` moves a material point by δt Φ(Bv + b) with the mean velocity v^vq of the integration, as
///   the step tends to zero. Twenty points of every kind of primitive of the surface are tried; points beyond the last of
///   a kind are refused.
/// - `residual`, where offered: A v − b is m(v) up to O(Δt²). `tangent`: is the derivative of m.
/// - Of a body that `relinearises`: `incremental_potential` has m for its gradient, `linearise_about` makes A v − b that of m where it
///   was asked for and A one that passes [`check_dynamics`], and `linearise` then gives its own bits again.
/// - `explicit_velocity`, where offered, is finite.
/// - `advance` overwrites its state whatever was in it; the next `begin` takes it, and its surface is where `point` said.
/// - `surface` overwrites, too. `energy` is finite.
///
/// Choose a state in motion, off every symmetry, and a step that resolves it.
///
/// # Errors
/// The first promise found broken.
pub fn check_body(
    model: &dyn DeformableModel,
    state: &BodyState,
    input: &StepInput<'_>,
) -> Result<(), Violation> {
    let surface = check_surface(model, state)?;
    let asked = input.time_step.integration;
    let energy = model.energy(state, &input.gravity);
    let numbers = [energy.kinetic, energy.potential];
    let momenta = energy
        .linear_momentum_W
        .iter()
        .chain(energy.angular_momentum_W.iter());
    promise(numbers.iter().chain(momenta).all(|x| x.is_finite()), || {
        format!("the energy holds numbers that are not finite: {energy:?}")
    })?;
    promise(energy.kinetic >= 0.0, || {
        format!("the kinetic energy is {}", energy.kinetic)
    })?;

    for integration in Integration::ALL {
        let input = &StepInput {
            time_step: TimeStep {
                integration,
                ..input.time_step
            },
            ..*input
        };
        let begun = model.new_step().begin(state, input);
        let optional = integration != asked;
        if optional && matches!(begun, Err(BodyError::Unsupported { .. })) {
            continue;
        }
        check_step(model, state, input, &surface)
            .map_err(|violation| Violation(format!("{integration:?}: {violation}")))?;
    }
    Ok(())
}

/// Everything of a step by one integration.
fn check_step(
    model: &dyn DeformableModel,
    state: &BodyState,
    input: &StepInput<'_>,
    surface: &Surface,
) -> Result<(), Violation> {
    let mut probe = Probe::new(7);
    let mut step = model.new_step();
    accepts(step.as_mut(), state, input)?;
    check_refusals(model, state, input)?;
    let n = step.start_velocity().len();
    check_dynamics(step.dynamics())
        .map_err(|violation| Violation(format!("in the dynamics: {violation}")))?;
    check_repeats(model, step.as_mut(), state, input)?;
    check_points(model, state, input, surface, &mut probe)?;
    check_strangers(step.as_ref(), surface)?;
    check_residual(model, step.as_mut(), state, input, &mut probe)?;
    check_relinearisation(step.as_mut(), state, input, &mut probe)?;
    check_explicit(step.as_ref(), n)?;
    check_advance(model, step.as_ref(), state, input, surface)
}

/// The same step, but of another length.
fn lasting<'a>(input: &StepInput<'a>, length_s: f64) -> StepInput<'a> {
    StepInput {
        time_step: TimeStep {
            length_s,
            ..input.time_step
        },
        ..*input
    }
}

/// Opens a step and linearises it.
fn accepts(
    step: &mut dyn BodyStep,
    state: &BodyState,
    input: &StepInput<'_>,
) -> Result<(), Violation> {
    let refused = |what: &str, e: BodyError| Violation(format!("{what} refuses the state: {e}"));
    step.begin(state, input).map_err(|e| refused("begin", e))?;
    step.linearise().map_err(|e| refused("linearise", e))?;
    let n = step.start_velocity().len();
    let finite = step.start_velocity().iter().all(|v| v.is_finite());
    promise(finite, || "the start velocity is not finite".into())?;
    let found = step.dynamics().n_dofs();
    promise(found == n, || {
        format!("the dynamics have {found} velocities, the start velocity has {n}")
    })
}

fn check_refusals(
    model: &dyn DeformableModel,
    state: &BodyState,
    input: &StepInput<'_>,
) -> Result<(), Violation> {
    let mut spoilt = state.clone();
    if spoilt.q.pop().is_some() {
        let refused = model.new_step().begin(&spoilt, input).is_err();
        promise(refused, || {
            "begin takes a state with one position too few".into()
        })?;
    }
    let mut spoilt = state.clone();
    if let Some(q) = spoilt.q.first_mut() {
        *q = f64::NAN;
        let refused = model.new_step().begin(&spoilt, input).is_err();
        promise(refused, || "begin takes a state with NaN in q".into())?;
    }
    Ok(())
}

/// What a step shows of itself.
fn fingerprint(step: &dyn BodyStep) -> Vec<f64> {
    let dynamics = step.dynamics();
    let mut shown = step.start_velocity().to_vec();
    shown.extend_from_slice(dynamics.right_hand_side());
    let x = Probe::new(3).vector(dynamics.n_dofs());
    let mut y = vec![0.0; x.len()];
    dynamics.apply(&x, &mut y);
    shown.extend(y);
    shown
}

fn check_repeats(
    model: &dyn DeformableModel,
    step: &mut dyn BodyStep,
    state: &BodyState,
    input: &StepInput<'_>,
) -> Result<(), Violation> {
    let first = fingerprint(step);
    accepts(step, state, input)?;
    promise(same_bits(&first, &fingerprint(step)), || {
        "begin and linearise, repeated at the same state, give other bits".into()
    })?;
    // A workspace that was elsewhere in between.
    let halved = lasting(input, 0.5 * input.time_step.length_s);
    accepts(step, state, &halved)?;
    accepts(step, state, input)?;
    promise(same_bits(&first, &fingerprint(step)), || {
        "a workspace remembers the step before: begin gives other bits after another step".into()
    })?;
    let mut fresh = model.new_step();
    accepts(fresh.as_mut(), state, input)?;
    promise(same_bits(&first, &fingerprint(fresh.as_ref())), || {
        "a fresh workspace gives other bits than a used one".into()
    })
}

fn check_surface(model: &dyn DeformableModel, state: &BodyState) -> Result<Surface, Violation> {
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
            "the surface tells the part of {} of {n} vertices",
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

/// Where `p` is on `surface`.
fn place(surface: &Surface, p: &MaterialPoint) -> Point3<f64> {
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

fn check_points(
    model: &dyn DeformableModel,
    state: &BodyState,
    input: &StepInput<'_>,
    surface: &Surface,
    probe: &mut Probe,
) -> Result<(), Violation> {
    // So short that turning within the step is out of sight, so long that positions keep enough digits.
    let time_step_s = 1e-6;
    let brief = lasting(input, time_step_s);
    let prescribed = input.control.held.iter().flatten();
    let fastest_prescribed = prescribed.fold(0.0, |most: f64, v| most.max(v.abs()));
    let mut step = model.new_step();
    accepts(step.as_mut(), state, &brief)?;
    let n = step.start_velocity().len();
    let mut mean = Vec::new();
    let mut lever = Lever::Twist;
    let mut rows = Rows::default();
    for p in points(surface, probe) {
        let at = place(surface, &p);
        let p_WO = at + Vector3::from_fn(|_, _| 0.1 * probe.number());
        let basis = step
            .lever(&p, &mut lever)
            .map_err(|e| unknown("lever", &p, e))?;
        step.basis(basis, &p_WO, &mut rows);
        let expected = match &lever {
            Lever::Twist => 6,
            Lever::Weights(weights) => 3 * weights.len(),
            Lever::Dense(phi) => phi.len() / 3,
        };
        promise(rows.n_rows() == expected, || {
            format!(
                "{:?}: the basis has {} rows, its lever takes {expected}",
                p.primitive,
                rows.n_rows()
            )
        })?;
        for scale in [0.0, 1.0] {
            let v: Vec<_> = probe.vector(n).iter().map(|v| scale * v).collect();
            let mut u = vec![0.0; rows.n_rows()];
            let integration = &brief.time_step;
            integration.mean_velocities(step.start_velocity(), &v, &mut mean);
            rows.apply(&mean, &mut u);
            let by_basis = velocity(&lever, &u, &(at - p_WO));
            let there = step.point(&v, &p).map_err(|e| unknown("point", &p, e))?;
            let by_point = (there - at) / time_step_s;
            // Round-off of a position over the step, and turning within it.
            let slack = 16.0 * f64::EPSILON * (1.0 + at.coords.norm()) / time_step_s
                + 1e-4 * (by_basis.norm() + scale + fastest_prescribed);
            let error = (by_basis - by_point).norm();
            promise(error <= slack, || {
                format!(
                    "{:?}: lever and basis say it moves with {:?} m/s, point says {:?}",
                    p.primitive,
                    by_basis.as_slice(),
                    by_point.as_slice()
                )
            })?;
        }
    }
    Ok(())
}

fn unknown(method: &str, p: &MaterialPoint, error: BodyError) -> Violation {
    let point = p.primitive;
    Violation(format!(
        "{method} refuses {point:?}, which is on the surface: {error}"
    ))
}

/// What is not on the surface is refused, not looked up.
fn check_strangers(step: &dyn BodyStep, surface: &Surface) -> Result<(), Violation> {
    let v = step.start_velocity();
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
        let refused = step.lever(&p, &mut Lever::Twist).is_err() && step.point(v, &p).is_err();
        promise(refused, || {
            format!("{primitive:?} is not on the surface, but lever or point takes it")
        })?;
    }
    Ok(())
}

/// Φu.
fn velocity(lever: &Lever, u: &[f64], p_OQ: &Vector3<f64>) -> Vector3<f64> {
    match lever {
        Lever::Twist => {
            Vector3::from_column_slice(&u[3..6]) + Vector3::from_column_slice(&u[..3]).cross(p_OQ)
        }
        Lever::Weights(weights) => {
            let points = u.chunks_exact(3).map(Vector3::from_column_slice);
            weights.iter().zip(points).map(|(w, u)| u * *w).sum()
        }
        Lever::Dense(phi) => {
            let columns = phi.chunks_exact(3).map(Vector3::from_column_slice);
            columns.zip(u).map(|(phi, u)| phi * *u).sum()
        }
    }
}

fn check_residual(
    model: &dyn DeformableModel,
    step: &mut dyn BodyStep,
    state: &BodyState,
    input: &StepInput<'_>,
    probe: &mut Probe,
) -> Result<(), Violation> {
    accepts(step, state, input)?;
    let n = step.start_velocity().len();
    let mut m = vec![f64::NAN; n];
    match step.residual(&vec![0.0; n], &mut m) {
        Err(BodyError::Unsupported { .. }) => return Ok(()),
        Err(e) => return Err(Violation(format!("residual fails: {e}"))),
        Ok(()) => {}
    }
    let away: Vec<_> = step
        .start_velocity()
        .iter()
        .map(|v| v + 0.3 * probe.number())
        .collect();
    check_tangent(step, &away, probe)?;

    // m(v) − (A v − b) at ever shorter steps: what is left out is of second order.
    let mut defects = Vec::new();
    for halvings in [4, 5, 6] {
        let brief = lasting(input, input.time_step.length_s / f64::from(1 << halvings));
        let mut step = model.new_step();
        accepts(step.as_mut(), state, &brief)?;
        if step.start_velocity().len() != n {
            return Ok(()); // the velocities themselves depend on the step: nothing to compare
        }
        let mut linear = vec![0.0; n];
        step.dynamics().apply(&away, &mut linear);
        let b = step.dynamics().right_hand_side();
        let size = norm(&linear) + norm(b);
        linear.iter_mut().zip(b).for_each(|(y, b)| *y -= b);
        residual(step.as_ref(), &away, &mut m)?;
        defects.push((distance(&m, &linear), 1e-12 * size));
    }
    for pair in defects.windows(2) {
        let ((longer, _), (shorter, noise)) = (pair[0], pair[1]);
        // A quarter each time; 0.35 leaves room for the third order.
        promise(shorter <= 0.35 * longer + noise, || {
            format!(
                "A v − b is not the linearised residual: they differ by {longer:e}, and by {shorter:e} for half the step, where O(Δt²) makes a quarter of it"
            )
        })?;
    }
    Ok(())
}

fn check_relinearisation(
    step: &mut dyn BodyStep,
    state: &BodyState,
    input: &StepInput<'_>,
    probe: &mut Probe,
) -> Result<(), Violation> {
    accepts(step, state, input)?;
    if !step.relinearises() {
        return Ok(());
    }
    let first = fingerprint(step);
    let mut away = step.start_velocity().to_vec();
    away.iter_mut().for_each(|v| *v += 0.3 * probe.number());
    let mut m = vec![f64::NAN; away.len()];
    residual(step, &away, &mut m)?;
    let fails = |what: &str, e: BodyError| Violation(format!("{what} fails: {e}"));

    let x = probe.vector(away.len());
    let slope: f64 = m.iter().zip(&x).map(|(m, x)| m * x).sum();
    let at = |h: f64| -> Result<f64, Violation> {
        let v: Vec<_> = away.iter().zip(&x).map(|(v, x)| v + h * x).collect();
        let potential = step.incremental_potential(&v);
        potential.map_err(|e| fails("incremental_potential", e))
    };
    let mut best = f64::INFINITY;
    for h in [1e-2, 1e-3, 1e-4, 1e-5] {
        let difference = (at(h)? - at(-h)?) / (2.0 * h);
        best = best.min((difference - slope).abs() / (norm(&m) * norm(&x)));
    }
    promise(best <= 1e-6, || {
        format!(
            "the residual is not the gradient of the incremental potential: off by {best:e} of itself"
        )
    })?;

    step.linearise_about(&away)
        .map_err(|e| fails("linearise_about", e))?;
    check_dynamics(step.dynamics()).map_err(|violation| {
        Violation(format!(
            "in the dynamics about velocities found: {violation}"
        ))
    })?;
    let mut linear = vec![0.0; away.len()];
    step.dynamics().apply(&away, &mut linear);
    let b = step.dynamics().right_hand_side();
    let size = norm(&linear) + norm(b);
    linear.iter_mut().zip(b).for_each(|(y, b)| *y -= b);
    let off = distance(&m, &linear);
    promise(off <= 1e-12 * size, || {
        format!("linearised about v, A v − b is not the residual there: off by {off:e}")
    })?;
    step.linearise().map_err(|e| fails("linearise", e))?;
    promise(same_bits(&first, &fingerprint(step)), || {
        "linearise gives other bits after linearise_about".into()
    })
}

fn residual(step: &dyn BodyStep, v: &[f64], m: &mut [f64]) -> Result<(), Violation> {
    m.fill(f64::NAN);
    step.residual(v, m)
        .map_err(|e| Violation(format!("residual fails: {e}")))?;
    promise(m.iter().all(|m| m.is_finite()), || {
        "the residual is not finite".into()
    })
}

fn check_tangent(step: &dyn BodyStep, v: &[f64], probe: &mut Probe) -> Result<(), Violation> {
    let n = v.len();
    let (mut up, mut down, mut y) = (vec![0.0; n], vec![0.0; n], vec![f64::NAN; n]);
    let x = probe.vector(n);
    match step.tangent(v, &x, &mut y) {
        Err(BodyError::Unsupported { .. }) => return Ok(()),
        Err(e) => return Err(Violation(format!("tangent fails: {e}"))),
        Ok(()) => {}
    }
    // Central differences: error h²·m''' and eps·m/h; the smallest over h is what counts.
    let mut best = f64::INFINITY;
    for h in [1e-2, 1e-3, 1e-4, 1e-5, 1e-6] {
        let shifted = |h: f64| v.iter().zip(&x).map(|(v, x)| v + h * x).collect::<Vec<_>>();
        residual(step, &shifted(h), &mut up)?;
        residual(step, &shifted(-h), &mut down)?;
        let difference: Vec<_> = up
            .iter()
            .zip(&down)
            .map(|(u, d)| (u - d) / (2.0 * h))
            .collect();
        best = best.min(distance(&difference, &y) / norm(&y).max(f64::MIN_POSITIVE));
    }
    promise(n == 0 || best <= 1e-6, || {
        format!("the tangent is not the derivative of the residual: off by {best:e} of itself")
    })
}

fn check_explicit(step: &dyn BodyStep, n: usize) -> Result<(), Violation> {
    let mut v = vec![f64::NAN; n];
    match step.explicit_velocity(&mut v) {
        Err(BodyError::Unsupported { .. }) => Ok(()),
        Err(e) => Err(Violation(format!("explicit_velocity fails: {e}"))),
        Ok(()) => promise(v.iter().all(|v| v.is_finite()), || {
            "the explicit velocity is not finite, or not all written".into()
        }),
    }
}

fn check_advance(
    model: &dyn DeformableModel,
    step: &dyn BodyStep,
    state: &BodyState,
    input: &StepInput<'_>,
    surface: &Surface,
) -> Result<(), Violation> {
    let v = step.start_velocity().to_vec();
    let advance = |next: &mut BodyState| match step.advance(&v, next) {
        Ok(_) => Ok(()),
        Err(e) => Err(Violation(format!(
            "advance fails at the start velocity: {e}"
        ))),
    };
    let mut next = BodyState::default();
    advance(&mut next)?;
    let mut dirty = state.clone();
    for values in [&mut dirty.q, &mut dirty.v, &mut dirty.history] {
        values.push(f64::NAN);
        values.fill(f64::NAN);
    }
    advance(&mut dirty)?;
    let same = same_bits(&next.q, &dirty.q)
        && same_bits(&next.v, &dirty.v)
        && same_bits(&next.history, &dirty.history);
    promise(same, || {
        "advance does not overwrite what was in the next state".into()
    })?;
    accepts(model.new_step().as_mut(), &next, input)
        .map_err(|violation| Violation(format!("after advance, {violation}")))?;

    let moved = check_surface(model, &next)?;
    for p in points(surface, &mut Probe::new(11)) {
        let foretold = step.point(&v, &p).map_err(|e| unknown("point", &p, e))?;
        let found = place(&moved, &p);
        let error = (foretold - found).norm();
        promise(error <= 1e-12 * (1.0 + found.coords.norm()), || {
            format!(
                "{:?}: point foretold {:?}, after advance it is at {:?}",
                p.primitive,
                foretold.coords.as_slice(),
                found.coords.as_slice()
            )
        })?;
    }
    Ok(())
}
