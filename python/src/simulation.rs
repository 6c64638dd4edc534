//! A scene under the control of Python, one step at a time.

mod batch;
mod gradients;
mod image;
mod overrides;
mod snapshot;

use std::sync::{Arc, Mutex, PoisonError};

use nalgebra::Vector3;
use pliant::runner;
use pliant::scene::Scene;
use pliant_contact_sap::Load;
use pliant_coupling::{BodyIdx, State as Whole, StepperMemory};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

pub(crate) use self::batch::SimulationBatch;
use self::overrides::{Override, without_fields};
pub(crate) use self::snapshot::State;
use crate::error::{ControlError, PliantError, StateError, of_run};
use crate::model::Model;
use crate::packing::{contacts, floats, numbers};
use crate::parts::Faults;
use crate::points::{MassPoint, of_soft, of_tree};
use crate::process::released;

type Held = runner::Simulation<Arc<Scene>>;

/// A scene that Python steps.
#[pyclass(module = "pliant._pliant")]
pub(crate) struct Simulation {
    /// Only ever reached by `&mut`: the lock makes it shareable between threads, as Python demands.
    held: Option<Mutex<Held>>,
    overrides: Vec<Override>,
    faults: Faults,
}

impl Simulation {
    pub(crate) fn new(held: Held, faults: Faults) -> Self {
        Self {
            held: Some(Mutex::new(held)),
            overrides: Vec::new(),
            faults,
        }
    }

    pub(crate) fn take(&mut self) -> PyResult<Held> {
        let held = self.held.take().ok_or_else(ended)?;
        Ok(held.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn held(&mut self) -> PyResult<&mut Held> {
        inner(&mut self.held)
    }

    /// The simulation, which has such a body.
    fn held_with(&mut self, body: usize) -> PyResult<&mut Held> {
        let held = self.held()?;
        let n = held.world().n_bodies();
        match body < n {
            true => Ok(held),
            false => Err(ControlError::new_err(format!("body {body} of {n}"))),
        }
    }

    /// What Python has set for a body.
    fn entry(&mut self, body: usize) -> &mut Override {
        let found = self.overrides.iter().position(|entry| entry.body == body);
        let index = found.unwrap_or_else(|| {
            self.overrides.push(Override {
                body,
                ..Override::default()
            });
            self.overrides.len() - 1
        });
        &mut self.overrides[index]
    }

    fn state(&mut self) -> PyResult<Whole> {
        let held = inner(&mut self.held)?;
        Ok(without_fields(held.state(), &self.overrides))
    }

    fn go_on_from(&mut self, py: Python<'_>, state: Whole) -> PyResult<()> {
        let held = self.held()?;
        released(py, || held.set_state(state))?
            .map_err(|error| StateError::new_err(error.to_string()))?;
        self.overrides.clear();
        Ok(())
    }

    fn mass_points(&mut self, py: Python<'_>, body: usize) -> PyResult<Vec<MassPoint>> {
        let held = self.held_with(body)?;
        let alone = &mut *held;
        let points = released(py, move || mass_points(alone, BodyIdx(body)))?;
        points.ok_or_else(|| {
            ControlError::new_err(format!(
                "{}: force fields act on rigid bodies, [[fem]], [[cloth]], rods and material points",
                held.world().body_name(BodyIdx(body))
            ))
        })
    }
}

/// Whether a body is a free rigid one.
fn is_free(held: &Held, body: usize) -> bool {
    let state = &held.state().bodies[body];
    state.q.len() == 7 && state.v.len() == 6
}

/// Points with mass of a body; `None` for a kind of body that has no such points.
fn mass_points(held: &Held, body: BodyIdx) -> Option<Vec<MassPoint>> {
    let state = &held.state().bodies[body.0];
    match held.tree(body) {
        Some(tree) => Some(of_tree(tree, state)),
        None => of_soft(held.world(), body, state),
    }
}

fn inner(held: &mut Option<Mutex<Held>>) -> PyResult<&mut Held> {
    let held = held.as_mut().ok_or_else(ended)?;
    Ok(held.get_mut().unwrap_or_else(PoisonError::into_inner))
}

fn ended() -> PyErr {
    PliantError::new_err("the simulation has ended; make another with Scene.simulation()")
}

fn check(what: &str, values: &[f64], expected: usize, of: &str) -> PyResult<()> {
    if values.len() != expected {
        return Err(ControlError::new_err(format!(
            "{what} has {} values; the body has {expected} {of}, and one value goes with each",
            values.len()
        )));
    }
    if values.iter().any(|value| !value.is_finite()) {
        return Err(ControlError::new_err(format!("{what} must be finite")));
    }
    Ok(())
}

#[pymethods]
impl Simulation {
    /// Takes `n` steps, with the interpreter released; Ctrl-C ends them between two steps.
    fn step(&mut self, py: Python<'_>, n: u64) -> PyResult<()> {
        for _ in 0..n {
            let Self {
                held,
                overrides,
                faults,
                ..
            } = self;
            let held = inner(held)?;
            let stepped = released(py, || {
                held.step(|controls| overrides.iter_mut().for_each(|o| o.apply(controls)))
            })?;
            faults.raise()?;
            stepped.map_err(|error| of_run(&error))?;
            py.check_signals()?;
        }
        Ok(())
    }

    #[getter]
    fn time(&mut self) -> PyResult<f64> {
        Ok(self.held()?.state().time_s)
    }

    #[getter]
    fn steps(&mut self) -> PyResult<u64> {
        Ok(self.held()?.state().step)
    }

    #[getter]
    fn trusted(&mut self) -> PyResult<bool> {
        Ok((self.held()?.report()).is_none_or(pliant_coupling::StepReport::is_trusted))
    }

    /// Kinetic and potential energy, J.
    fn energy(&mut self, py: Python<'_>) -> PyResult<(f64, f64)> {
        let held = self.held()?;
        let energy = released(py, move || held.world().energy(held.state()))?;
        Ok((energy.kinetic, energy.potential))
    }

    /// Names of bodies with their indices.
    fn bodies(&mut self) -> PyResult<Vec<(String, usize)>> {
        let bodies = self.held()?.bodies();
        Ok(bodies.map(|(name, body)| (name.into(), body.0)).collect())
    }

    fn geometries(&mut self) -> PyResult<Vec<String>> {
        let geometries = self.held()?.world().geometries().iter();
        Ok(geometries.map(|geometry| geometry.name.clone()).collect())
    }

    /// Names and present values of the scene's observables.
    fn observables(&mut self, py: Python<'_>) -> PyResult<Vec<(String, f64)>> {
        let Self { held, faults, .. } = self;
        let held = inner(held)?;
        let values = released(py, || held.measure())?;
        faults.raise()?;
        let names = held.columns().map(str::to_owned);
        Ok(names.zip(values).collect())
    }

    /// The kinematic tree of a rigid body or robot; none for others.
    fn model(&mut self, body: usize) -> PyResult<Option<Model>> {
        let held = self.held_with(body)?;
        let tree = held.tree(BodyIdx(body));
        Ok(tree.map(|tree| Model::new(Arc::clone(tree), held.world().gravity())))
    }

    fn positions<'py>(&mut self, py: Python<'py>, body: usize) -> PyResult<Bound<'py, PyBytes>> {
        Ok(floats(
            py,
            self.held_with(body)?.state().bodies[body].q.iter().copied(),
        ))
    }

    fn velocities<'py>(&mut self, py: Python<'py>, body: usize) -> PyResult<Bound<'py, PyBytes>> {
        Ok(floats(
            py,
            self.held_with(body)?.state().bodies[body].v.iter().copied(),
        ))
    }

    /// Puts a body elsewhere: what contact remembers from the last step is forgotten.
    fn place(
        &mut self,
        py: Python<'_>,
        body: usize,
        q: Option<&[u8]>,
        v: Option<&[u8]>,
    ) -> PyResult<()> {
        let held = self.held_with(body)?;
        let mut state = held.state().clone();
        let own = &mut state.bodies[body];
        if let Some(q) = q {
            let mut q = numbers(q);
            check("q", &q, own.q.len(), "positions")?;
            if let Some(tree) = held.tree(BodyIdx(body)) {
                tree.normalise(&mut q);
            }
            own.q = q;
        }
        if let Some(v) = v {
            let v = numbers(v);
            check("v", &v, own.v.len(), "velocities")?;
            own.v = v;
        }
        state.memory = StepperMemory::default();
        let set = released(py, || held.set_state(state))?;
        set.map_err(|error| StateError::new_err(error.to_string()))
    }

    fn contacts<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let report = self.held()?.report();
        Ok(contacts(py, report.map_or(&[], |report| &report.contacts)))
    }

    #[pyo3(signature = (body, position, velocity, effort))]
    fn control(
        &mut self,
        body: usize,
        position: Option<Vec<f64>>,
        velocity: Option<Vec<f64>>,
        effort: Option<Vec<f64>>,
    ) -> PyResult<()> {
        let expected = self.held_with(body)?.state().bodies[body].v.len();
        let given = [
            ("position", &position),
            ("velocity", &velocity),
            ("effort", &effort),
        ];
        for (what, values) in given {
            let Some(values) = values else { continue };
            check(what, values, expected, "velocities")?;
        }
        let entry = self.entry(body);
        entry.position = position.or(entry.position.take());
        entry.velocity = velocity.or(entry.velocity.take());
        entry.effort = effort.or(entry.effort.take());
        Ok(())
    }

    fn load(&mut self, body: usize, wrench: [f64; 6]) -> PyResult<()> {
        let held = self.held_with(body)?;
        if !is_free(held, body) {
            return Err(ControlError::new_err(
                "only a free rigid body takes a load from Python; put [[loads]] in the scene for others, or use set_field",
            ));
        }
        if wrench.iter().any(|value| !value.is_finite()) {
            return Err(ControlError::new_err("force and torque must be finite"));
        }
        self.entry(body).load = Some(wrench);
        Ok(())
    }

    /// Points with mass of a body: positions and velocities, three numbers each, and masses.
    fn points<'py>(&mut self, py: Python<'py>, body: usize) -> PyResult<[Bound<'py, PyBytes>; 3]> {
        let points = self.mass_points(py, body)?;
        let positions = points.iter().flat_map(|p| p.p_WP.coords.data.0[0]);
        let velocities = points.iter().flat_map(|p| p.v_WP.data.0[0]);
        Ok([
            floats(py, positions),
            floats(py, velocities),
            floats(py, points.iter().map(|p| p.mass)),
        ])
    }

    /// Forces on these points during the next step, world axes.
    fn push(&mut self, py: Python<'_>, body: usize, forces: &[u8]) -> PyResult<()> {
        let points = self.mass_points(py, body)?;
        let forces = numbers(forces);
        if forces.len() != 3 * points.len() {
            return Err(ControlError::new_err(format!(
                "the field gives {} numbers; the body has {} points, and three numbers go with each",
                forces.len(),
                points.len()
            )));
        }
        if let Some(value) = forces.iter().find(|value| !value.is_finite()) {
            return Err(ControlError::new_err(format!(
                "forces of a field must be finite; there is {value}"
            )));
        }
        let loads = points.iter().zip(forces.chunks_exact(3));
        let loads = loads.map(|(point, force)| Load {
            point: point.point,
            force_W: Vector3::from_column_slice(force),
            torque_W: Vector3::zeros(),
        });
        let loads = loads.collect();
        self.entry(body).field.forces = loads;
        Ok(())
    }

    /// For each body: gradients with respect to targets of position and velocity, efforts, the load of a free rigid body, and forces on
    /// its points, three numbers each.
    fn adjoint<'py>(
        &mut self,
        py: Python<'py>,
        slopes: Vec<(usize, Vec<f64>)>,
    ) -> PyResult<Vec<[Bound<'py, PyBytes>; 5]>> {
        let held = self.held()?;
        let n = held.world().n_bodies();
        if let Some((body, _)) = slopes.iter().find(|(body, _)| *body >= n) {
            return Err(ControlError::new_err(format!("body {body} of {n}")));
        }
        let gradients = released(py, || gradients::of_last_step(held, &slopes))?;
        let gradients = gradients.map_err(|error| gradients::raised(&error))?;
        let packed = gradients
            .into_iter()
            .map(|of_body| of_body.map(|values| floats(py, values)));
        Ok(packed.collect())
    }

    /// Colours and depths seen by a camera of the scene, or from `eye` to `target`.
    fn image<'py>(
        &mut self,
        py: Python<'py>,
        size: [usize; 2],
        camera: Option<String>,
        at: Option<([f64; 3], [f64; 3], f64)>,
    ) -> PyResult<[Bound<'py, PyBytes>; 2]> {
        let held = self.held()?;
        let taken = released(py, || image::taken(held, size, camera, at))?;
        let image = taken.map_err(|error| ControlError::new_err(error.to_string()))?;
        let depths: Vec<u8> = image
            .depths
            .iter()
            .flat_map(|depth| depth.to_ne_bytes())
            .collect();
        Ok([image.colors.as_flattened(), &depths].map(|bytes| PyBytes::new(py, bytes)))
    }

    /// The state as text of JSON, which keeps every bit of its numbers.
    fn save<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = serde_json::to_vec(&self.state()?);
        let bytes = bytes.map_err(|error| StateError::new_err(error.to_string()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn load_state(&mut self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        let state: Whole = serde_json::from_slice(state).map_err(|error| {
            StateError::new_err(format!("not a state saved by Simulation.save: {error}"))
        })?;
        self.go_on_from(py, state)
    }

    /// The state, kept in memory.
    fn snapshot(&mut self) -> PyResult<State> {
        let names = self.bodies()?;
        Ok(State::new(self.state()?, names))
    }

    fn restore(&mut self, py: Python<'_>, state: &State) -> PyResult<()> {
        self.go_on_from(py, Whole::clone(&state.whole))
    }
}
