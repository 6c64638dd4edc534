//! A scene under the control of Python, one step at a time.

use std::sync::{Arc, Mutex, PoisonError};

use nalgebra::Vector3;
use pliant::runner;
use pliant::scene::Scene;
use pliant_contact_sap::{Control, Load, MaterialPoint};
use pliant_coupling::State;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{ControlError, PliantError, StateError, of_run};
use crate::packing::{contacts, floats};

type Held = runner::Simulation<Arc<Scene>>;

/// What Python sets for a body, after the scene's own drives.
#[derive(Clone, Default)]
struct Override {
    body: usize,
    position: Option<Vec<f64>>,
    velocity: Option<Vec<f64>>,
    effort: Option<Vec<f64>>,
    load: Option<[f64; 6]>,
}

impl Override {
    fn apply(&self, controls: &mut [Control]) {
        let control = &mut controls[self.body];
        let pairs = [
            (&self.position, &mut control.position),
            (&self.velocity, &mut control.velocity),
            (&self.effort, &mut control.effort),
        ];
        for (value, place) in pairs {
            if let Some(value) = value {
                place.clone_from(value);
            }
        }
        if let Some([fx, fy, fz, tx, ty, tz]) = self.load {
            control.loads.clear();
            control.loads.push(Load {
                point: MaterialPoint::on_frame(0, Vector3::zeros()),
                force_W: Vector3::new(fx, fy, fz),
                torque_W: Vector3::new(tx, ty, tz),
            });
        }
    }
}

/// A scene that Python steps.
#[pyclass(module = "pliant._pliant")]
pub(crate) struct Simulation {
    /// Only ever reached by `&mut`: the lock makes it shareable between threads, as Python demands.
    held: Option<Mutex<Held>>,
    overrides: Vec<Override>,
}

impl Simulation {
    pub(crate) fn new(held: Held) -> Self {
        Self {
            held: Some(Mutex::new(held)),
            overrides: Vec::new(),
        }
    }

    pub(crate) fn take(&mut self) -> PyResult<Held> {
        let held = self.held.take().ok_or_else(ended)?;
        Ok(held.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn held(&mut self) -> PyResult<&mut Held> {
        inner(&mut self.held)
    }
}

fn inner(held: &mut Option<Mutex<Held>>) -> PyResult<&mut Held> {
    let held = held.as_mut().ok_or_else(ended)?;
    Ok(held.get_mut().unwrap_or_else(PoisonError::into_inner))
}

fn ended() -> PyErr {
    PliantError::new_err("the simulation has ended; make another with Scene.simulation()")
}

#[pymethods]
impl Simulation {
    /// Takes one step, with the interpreter released.
    fn step(&mut self, py: Python<'_>) -> PyResult<()> {
        let Self { held, overrides } = self;
        let held = inner(held)?;
        py.detach(|| held.step(|controls| overrides.iter().for_each(|o| o.apply(controls))))
            .map_err(|error| of_run(&error))
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

    /// Names of bodies with their indices.
    fn bodies(&mut self) -> PyResult<Vec<(String, usize)>> {
        let bodies = self.held()?.bodies();
        Ok(bodies.map(|(name, body)| (name.into(), body.0)).collect())
    }

    fn geometries(&mut self) -> PyResult<Vec<String>> {
        let geometries = self.held()?.world().geometries().iter();
        Ok(geometries.map(|geometry| geometry.name.clone()).collect())
    }

    fn positions<'py>(&mut self, py: Python<'py>, body: usize) -> PyResult<Bound<'py, PyBytes>> {
        Ok(floats(
            py,
            self.held()?.state().bodies[body].q.iter().copied(),
        ))
    }

    fn velocities<'py>(&mut self, py: Python<'py>, body: usize) -> PyResult<Bound<'py, PyBytes>> {
        Ok(floats(
            py,
            self.held()?.state().bodies[body].v.iter().copied(),
        ))
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
        let expected = self.held()?.state().bodies[body].v.len();
        let given = [
            ("position", &position),
            ("velocity", &velocity),
            ("effort", &effort),
        ];
        for (what, values) in given {
            let Some(values) = values else { continue };
            if values.len() != expected {
                return Err(ControlError::new_err(format!(
                    "{what} has {} values; the body has {expected} velocities, and one value goes with each",
                    values.len()
                )));
            }
            if values.iter().any(|value| !value.is_finite()) {
                return Err(ControlError::new_err(format!("{what} must be finite")));
            }
        }
        let entry = self.entry(body);
        entry.position = position.or(entry.position.take());
        entry.velocity = velocity.or(entry.velocity.take());
        entry.effort = effort.or(entry.effort.take());
        Ok(())
    }

    fn load(&mut self, body: usize, wrench: [f64; 6]) -> PyResult<()> {
        let held = self.held()?;
        if held.state().bodies[body].q.len() != 7 || held.state().bodies[body].v.len() != 6 {
            return Err(ControlError::new_err(
                "only a free rigid body takes a load from Python; put [[loads]] in the scene for others",
            ));
        }
        if wrench.iter().any(|value| !value.is_finite()) {
            return Err(ControlError::new_err("force and torque must be finite"));
        }
        self.entry(body).load = Some(wrench);
        Ok(())
    }

    /// The state as text of JSON, which keeps every bit of its numbers.
    fn save<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = serde_json::to_vec(self.held()?.state());
        let bytes = bytes.map_err(|error| StateError::new_err(error.to_string()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn load_state(&mut self, state: &[u8]) -> PyResult<()> {
        let state: State = serde_json::from_slice(state).map_err(|error| {
            StateError::new_err(format!("not a state saved by Simulation.save: {error}"))
        })?;
        let held = self.held()?;
        (held.set_state(state)).map_err(|error| StateError::new_err(error.to_string()))?;
        self.overrides.clear();
        Ok(())
    }
}

impl Simulation {
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
}
