//! A kinematic tree: its kinematics and dynamics as arrays, after pinocchio's and Drake's functions of (q, v).

use std::sync::{Arc, Mutex, PoisonError};

use nalgebra::{DMatrix, Point3, Vector3};
use pliant_multibody::{
    Model as Tree, NamedFrame, Workspace, bias_forces, forward_dynamics, inverse_dynamics,
    mass_matrix, point_jacobian,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::ControlError;
use crate::packing::floats;

/// The kinematic tree of a rigid body or robot.
#[pyclass(frozen, module = "pliant._pliant")]
pub(crate) struct Model {
    tree: Arc<Tree>,
    gravity: Vector3<f64>,
    workspace: Mutex<Workspace>,
}

impl Model {
    pub(crate) fn new(tree: Arc<Tree>, world_gravity: &Vector3<f64>) -> Self {
        Self {
            gravity: tree.gravity_from(world_gravity),
            workspace: Mutex::new(Workspace::new(&tree)),
            tree,
        }
    }

    fn frame(&self, name: &str) -> PyResult<NamedFrame> {
        let found = self.tree.frame_named(name);
        found.map_err(|error| ControlError::new_err(error.to_string()))
    }

    fn check(&self, what: &str, values: &[f64], expected: usize) -> PyResult<()> {
        if values.len() != expected {
            return Err(ControlError::new_err(format!(
                "{}: {what} has {} values; it takes {expected}",
                self.tree.name(),
                values.len()
            )));
        }
        match values.iter().find(|value| !value.is_finite()) {
            Some(value) => Err(ControlError::new_err(format!(
                "{}: {what} must be finite; it has {value}",
                self.tree.name()
            ))),
            None => Ok(()),
        }
    }

    fn check_q(&self, q: &[f64]) -> PyResult<()> {
        self.check("q", q, self.tree.n_q())
    }

    fn check_v(&self, what: &str, v: &[f64]) -> PyResult<()> {
        self.check(what, v, self.tree.n_v())
    }

    fn with<T>(&self, compute: impl FnOnce(&Tree, &mut Workspace) -> T) -> T {
        let mut workspace = (self.workspace.lock()).unwrap_or_else(PoisonError::into_inner);
        compute(&self.tree, &mut workspace)
    }

    /// A vector with one entry for each velocity.
    fn of_velocities<'py>(
        &self,
        py: Python<'py>,
        compute: impl FnOnce(&Tree, &mut Workspace, &mut [f64]),
    ) -> Bound<'py, PyBytes> {
        let mut out = vec![0.0; self.tree.n_v()];
        self.with(|tree, workspace| compute(tree, workspace, &mut out));
        floats(py, out)
    }
}

#[pymethods]
impl Model {
    #[getter]
    fn name(&self) -> &str {
        self.tree.name()
    }

    #[getter]
    fn n_q(&self) -> usize {
        self.tree.n_q()
    }

    #[getter]
    fn n_v(&self) -> usize {
        self.tree.n_v()
    }

    #[getter]
    fn mass(&self) -> f64 {
        self.tree.moving_mass()
    }

    #[getter]
    fn gravity(&self) -> [f64; 3] {
        self.gravity.into()
    }

    fn links(&self) -> Vec<String> {
        let links = self.tree.links().iter();
        links.map(|link| link.name.clone()).collect()
    }

    fn frames(&self) -> Vec<String> {
        let frames = self.tree.frames().iter();
        frames.map(|frame| frame.name.clone()).collect()
    }

    /// Of each joint that moves: name, first entry of q and number of them, first entry of v and number of them.
    fn joints(&self) -> Vec<(String, usize, usize, usize, usize)> {
        let moving = (self.tree.joints().iter()).filter(|joint| joint.kind.n_v() > 0);
        let ranges = moving.map(|joint| {
            let (q, v) = (joint.positions(), joint.dofs());
            (joint.name.clone(), q.start, q.len(), v.start, v.len())
        });
        ranges.collect()
    }

    /// Lower, upper, effort and velocity limit of each joint that moves.
    fn limits(&self) -> Vec<[f64; 4]> {
        let moving = (self.tree.joints().iter()).filter(|joint| joint.kind.n_v() > 0);
        let limits = moving.map(|joint| &joint.limits);
        limits
            .map(|limits| [limits.lower, limits.upper, limits.effort, limits.velocity])
            .collect()
    }

    fn neutral<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        floats(py, self.tree.neutral_positions())
    }

    fn mass_matrix<'py>(&self, py: Python<'py>, q: Vec<f64>) -> PyResult<Bound<'py, PyBytes>> {
        self.check_q(&q)?;
        let n = self.tree.n_v();
        let mut mass = DMatrix::zeros(n, n);
        self.with(|tree, workspace| mass_matrix(tree, &q, workspace, &mut mass));
        // Symmetric: the order of rows and columns does not matter.
        Ok(floats(py, mass.iter().copied()))
    }

    fn bias<'py>(
        &self,
        py: Python<'py>,
        q: Vec<f64>,
        v: Vec<f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.check_q(&q)?;
        self.check_v("v", &v)?;
        Ok(self.of_velocities(py, |tree, workspace, bias| {
            bias_forces(tree, &q, &v, &self.gravity, workspace, bias);
        }))
    }

    fn inverse_dynamics<'py>(
        &self,
        py: Python<'py>,
        q: Vec<f64>,
        v: Vec<f64>,
        vdot: Vec<f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.check_q(&q)?;
        self.check_v("v", &v)?;
        self.check_v("vdot", &vdot)?;
        Ok(self.of_velocities(py, |tree, workspace, tau| {
            inverse_dynamics(tree, &q, &v, &vdot, &self.gravity, workspace, tau);
        }))
    }

    fn forward_dynamics<'py>(
        &self,
        py: Python<'py>,
        q: Vec<f64>,
        v: Vec<f64>,
        tau: Vec<f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.check_q(&q)?;
        self.check_v("v", &v)?;
        self.check_v("tau", &tau)?;
        Ok(self.of_velocities(py, |tree, workspace, vdot| {
            forward_dynamics(tree, &q, &v, &tau, &self.gravity, workspace, vdot);
        }))
    }

    /// Position and unit quaternion w, x, y, z of a link or named frame.
    fn pose<'py>(
        &self,
        py: Python<'py>,
        q: Vec<f64>,
        frame: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.check_q(&q)?;
        let frame = self.frame(frame)?;
        let pose = self.with(|tree, workspace| {
            workspace.update_positions(tree, &q);
            workspace.positions.frame_pose(tree, &frame)
        });
        let (p, r) = (pose.translation.vector, pose.rotation);
        Ok(floats(py, [p.x, p.y, p.z, r.w, r.i, r.j, r.k]))
    }

    /// Rows [ω; v] in world axes, row by row, of the point at `p_fq` of a link or named frame.
    fn jacobian<'py>(
        &self,
        py: Python<'py>,
        q: Vec<f64>,
        frame: &str,
        p_fq: [f64; 3],
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.check_q(&q)?;
        self.check("point", &p_fq, 3)?;
        let frame = self.frame(frame)?;
        let p_LQ = frame.X_LF * Point3::from(p_fq);
        let mut jacobian = DMatrix::zeros(6, self.tree.n_v());
        self.with(|tree, workspace| {
            workspace.update_positions(tree, &q);
            let positions = &workspace.positions;
            let p_WQ = positions.point(tree, frame.link, &p_LQ.coords);
            point_jacobian(tree, positions, frame.link, &p_WQ, &mut jacobian);
        });
        Ok(floats(py, jacobian.transpose().iter().copied()))
    }

    /// The positions after moving with `v` for a time in s.
    fn integrate<'py>(
        &self,
        py: Python<'py>,
        q: Vec<f64>,
        v: Vec<f64>,
        time: f64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.check_q(&q)?;
        self.check_v("v", &v)?;
        self.check("time", &[time], 1)?;
        let mut next = q.clone();
        self.tree.integrate(&q, &v, time, &mut next);
        Ok(floats(py, next))
    }

    /// The velocity that leads from one position to another in 1 s.
    fn difference<'py>(
        &self,
        py: Python<'py>,
        q: Vec<f64>,
        to: Vec<f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.check_q(&q)?;
        self.check_q(&to)?;
        let mut v = vec![0.0; self.tree.n_v()];
        self.tree.difference(&q, &to, &mut v);
        Ok(floats(py, v))
    }
}
