//! The spring between the pointer and a body.

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{MaterialPoint, Surface};
use pliant_coupling::{BodyIdx, State};

use super::command::{Drag, Grasped};
use crate::runner::{Assembly, Push, place};

/// Natural frequency of the spring with the mass that it pulls, rad/s; lower for long steps, as the force is explicit.
const FREQUENCY: f64 = 12.0;
/// Radians of that frequency in a step, at most.
const PHASE_MAX: f64 = 0.1;
/// Largest acceleration, m/s²: a pointer that is far away pulls no harder.
const ACCELERATION_MAX: f64 = 100.0;
/// Share of a soft body that a grasp holds.
const SOFT_SHARE: f64 = 0.1;

/// A body in the user's grasp.
pub(super) struct Dragged {
    grasp: u64,
    body: BodyIdx,
    /// The points that share the force, in order; a rigid body has one.
    points: Vec<MaterialPoint>,
    /// The mass that is accelerated, kg.
    mass: f64,
    /// From the mean of the points to the grasped point, m: for points of a soft body.
    offset: Vector3<f64>,
    frequency: f64,
    time_step_s: f64,
    /// The mean of the points a step ago.
    before: Option<(f64, Point3<f64>)>,
    surface: Surface,
}

impl Dragged {
    /// `None` for what cannot be dragged: points that come and go, bodies without mass.
    pub(super) fn begin(
        drag: &Drag,
        assembly: &Assembly,
        state: &State,
        time_step_s: f64,
    ) -> Option<Self> {
        let mut surface = Surface::default();
        let (body, points, mass, offset) = match drag.of {
            Grasped::Body(row) => {
                let (body, link) = assembly.picture.link(row)?;
                let point = MaterialPoint::on_frame(link.0 as u32, drag.point.coords);
                let mass = assembly.directory.tree(body).link(link).inertia.mass;
                (body, vec![point], mass, Vector3::zeros())
            }
            Grasped::Soft(number) => {
                let soft = &assembly.directory.soft[assembly.picture.soft(number)?];
                if !soft.points_stay {
                    return None;
                }
                let body_state = &state.bodies[soft.body.0];
                let mut places = Vec::new();
                soft.model.points(body_state, &mut places);
                let mut order: Vec<usize> = (0..places.len()).collect();
                let distance = |k: usize| (places[k] - drag.point).norm_squared();
                order.sort_by(|a, b| distance(*a).total_cmp(&distance(*b)));
                order.truncate(((places.len() as f64 * SOFT_SHARE) as usize).max(1));
                let masses = soft.model.masses(body_state);
                let mass = order
                    .iter()
                    .map(|k| masses.get(*k).copied().unwrap_or(0.0))
                    .sum();
                let vertex = |k: &usize| MaterialPoint::on_vertex(soft.first_vertex + *k as u32);
                (
                    soft.body,
                    order.iter().map(vertex).collect(),
                    mass,
                    Vector3::zeros(),
                )
            }
        };
        (assembly.world.model(body)).surface(&state.bodies[body.0], &mut surface);
        let mut dragged = Self {
            grasp: drag.grasp,
            body,
            points,
            mass,
            offset,
            frequency: FREQUENCY.min(PHASE_MAX / time_step_s),
            time_step_s,
            before: None,
            surface,
        };
        if mass <= 0.0 {
            return None;
        }
        if let Grasped::Soft(_) = drag.of {
            dragged.offset = drag.point - dragged.mean()?;
        }
        Some(dragged)
    }

    /// Whether this is the grasp that the user has now.
    pub(super) fn is_of(&self, drag: &Drag) -> bool {
        self.grasp == drag.grasp
    }

    /// The force of a critically damped spring to the target.
    pub(super) fn push(&mut self, drag: &Drag, assembly: &Assembly, state: &State) -> Option<Push> {
        let model = assembly.world.model(self.body);
        model.surface(&state.bodies[self.body.0], &mut self.surface);
        let p_WQ = self.mean()?;
        let velocity = match self.before {
            // The step before, and no earlier one: the state may have been replaced.
            Some((time_s, p))
                if (state.time_s - time_s - self.time_step_s).abs() < 1e-3 * self.time_step_s =>
            {
                (p_WQ - p) / self.time_step_s
            }
            _ => Vector3::zeros(),
        };
        self.before = Some((state.time_s, p_WQ));
        let way = drag.target - (p_WQ + self.offset);
        let (w, m) = (self.frequency, self.mass);
        let force_W = (way * w * w - velocity * 2.0 * w) * m;
        Some(Push {
            body: self.body,
            points: self.points.clone(),
            force_W: force_W.cap_magnitude(ACCELERATION_MAX * m),
        })
    }

    fn mean(&self) -> Option<Point3<f64>> {
        let mut sum = Vector3::zeros();
        for point in &self.points {
            sum += place(&self.surface, point)?.coords;
        }
        Some(Point3::from(sum / self.points.len() as f64))
    }
}
