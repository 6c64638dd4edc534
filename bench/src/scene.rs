//! A scene as plain data, in SI units and world axes.

use std::path::Path;

use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};
use pliant_hydroelastic::mesh::{SurfaceOptions, SurfaceUse, read_surface};
use pliant_hydroelastic::{AnalyticShape, Compliance, PatchGeometry, Shape};
use serde::{Deserialize, Serialize};

use crate::error::BenchError;

/// A scene that every engine can run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Name.
    pub name: String,
    /// Time step, s.
    pub time_step_s: f64,
    /// Steps before the timed ones.
    pub warm_up_steps: usize,
    /// Steps per chunk. The minimum over repetitions is taken chunk by chunk: every engine repeats a run exactly, and other
    /// programs disturb only some of the chunks.
    pub steps_per_chunk: usize,
    /// Number of timed chunks.
    pub n_chunks: usize,
    /// m/s², world axes.
    pub gravity: [f64; 3],
    /// Surface material of all bodies.
    pub surface: Surface,
    /// Fixed bodies.
    pub fixed: Vec<Fixed>,
    /// Free bodies.
    pub free: Vec<Free>,
    /// Robot arm, if any.
    pub arm: Option<Arm>,
}

/// Contact parameters of a surface; pairs are combined as in `pliant_hydroelastic::ContactMaterial`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Surface {
    /// Stiffness k, N/m.
    pub stiffness: f64,
    /// Hunt-Crossley dissipation d, s/m.
    pub dissipation: f64,
    /// Relaxation time τ of linear dissipation, s.
    pub relaxation_time_s: f64,
    /// Friction coefficient μ.
    pub friction: f64,
}

/// Role of a solid in patch contact; engines with point contact ignore it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Hydroelastic {
    /// Rigid surface.
    Rigid {
        /// Edge length of curved surfaces, m.
        edge_length: f64,
    },
    /// Body with a pressure field.
    Compliant {
        /// Pressure at the deepest point, Pa.
        modulus: f64,
        /// Edge length of curved surfaces, m.
        edge_length: f64,
    },
}

/// A solid in its own frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Solid {
    /// The solid inside a closed surface.
    Mesh {
        /// OBJ file, relative to the root of the repository.
        file: String,
    },
    /// A shape given by its sizes.
    #[serde(untagged)]
    Analytic(AnalyticShape),
}

/// Position and orientation in the world.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pose {
    /// m.
    pub position: [f64; 3],
    /// Unit quaternion, scalar first.
    pub quat_wxyz: [f64; 4],
}

/// A fixed body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fixed {
    /// Name.
    pub name: String,
    /// Shape.
    pub solid: Solid,
    /// Role in patch contact.
    pub hydroelastic: Hydroelastic,
    /// Pose.
    pub pose: Pose,
}

/// A free body, initially at rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Free {
    /// Name.
    pub name: String,
    /// Shape; the centre of mass is the origin of its frame.
    pub solid: Solid,
    /// Role in patch contact.
    pub hydroelastic: Hydroelastic,
    /// Mass, kg.
    pub mass: f64,
    /// Principal moments about the frame's axes, kg·m².
    pub inertia: [f64; 3],
    /// Initial pose.
    pub pose: Pose,
}

/// A robot arm whose joints follow a path under PD control, without self-contact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    /// Model file, relative to the root of the repository.
    pub urdf: String,
    /// Role of its links in patch contact.
    pub hydroelastic: Hydroelastic,
    /// Kp of each joint, N·m/rad.
    pub proportional: Vec<f64>,
    /// Kd of each joint, N·m·s/rad.
    pub derivative: Vec<f64>,
    /// Time between knots, s; the path is at rest at each knot and stays at the last.
    pub knot_interval_s: f64,
    /// Joint positions at the knots, rad.
    pub knots: Vec<Vec<f64>>,
}

impl Scene {
    /// Total number of steps.
    #[must_use]
    pub fn n_steps(&self) -> usize {
        self.warm_up_steps + self.steps_per_chunk * self.n_chunks
    }
}

impl From<AnalyticShape> for Solid {
    fn from(shape: AnalyticShape) -> Self {
        Self::Analytic(shape)
    }
}

impl Solid {
    /// The shape of body `name`; paths are relative to `root`.
    ///
    /// # Errors
    /// [`BenchError::Shape`] for invalid sizes, [`BenchError::Mesh`] for a file that cannot be read.
    pub fn shape(&self, name: &str, root: &Path) -> Result<Shape, BenchError> {
        match self {
            Self::Analytic(shape) => Shape::try_from(shape),
            Self::Mesh { file } => {
                let options = SurfaceOptions::default();
                let (surface, _) = read_surface(root.join(file), SurfaceUse::Solid, &options)?;
                Shape::from_surface(&surface)
            }
        }
        .map_err(|source| BenchError::Shape {
            name: name.into(),
            source,
        })
    }
}

impl Hydroelastic {
    /// Patch geometry of a shape in pliant.
    ///
    /// # Errors
    /// [`BenchError::Shape`] for a shape without patch geometry.
    pub fn patch(&self, name: &str, shape: &Shape) -> Result<PatchGeometry, BenchError> {
        match *self {
            Self::Rigid { edge_length } => PatchGeometry::rigid(shape, edge_length),
            Self::Compliant {
                modulus,
                edge_length,
            } => {
                let compliance = Compliance {
                    hydroelastic_modulus: modulus,
                    mesh_resolution_hint: edge_length,
                    ..Compliance::default()
                };
                PatchGeometry::compliant(shape, &compliance)
            }
        }
        .map_err(|source| BenchError::Shape {
            name: name.into(),
            source,
        })
    }
}

impl Pose {
    /// At a position, without rotation.
    #[must_use]
    pub fn at(x: f64, y: f64, z: f64) -> Self {
        Self {
            position: [x, y, z],
            quat_wxyz: [1.0, 0.0, 0.0, 0.0],
        }
    }

    /// From an isometry.
    #[must_use]
    pub fn of(X: &Isometry3<f64>) -> Self {
        let r = X.rotation;
        Self {
            position: X.translation.vector.into(),
            quat_wxyz: [r.w, r.i, r.j, r.k],
        }
    }

    /// As an isometry.
    #[must_use]
    pub fn isometry(&self) -> Isometry3<f64> {
        let [w, x, y, z] = self.quat_wxyz;
        let rotation = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
        Isometry3::from_parts(Vector3::from(self.position).into(), rotation)
    }
}

impl Arm {
    /// Target positions and velocities (rad, rad/s) at time `t`: between two knots a and b, q = a + (b − a)(3s² − 2s³).
    pub fn path(&self, t: f64, q: &mut [f64], v: &mut [f64]) {
        let last = self.knots.len() - 1;
        let at = (t / self.knot_interval_s).clamp(0.0, last as f64);
        let k = (at.floor() as usize).min(last.saturating_sub(1));
        let s = at - k as f64;
        let (a, b) = (&self.knots[k], &self.knots[(k + 1).min(last)]);
        let (weight, rate) = (s * s * (3.0 - 2.0 * s), 6.0 * s * (1.0 - s));
        for j in 0..a.len() {
            q[j] = a[j] + (b[j] - a[j]) * weight;
            v[j] = (b[j] - a[j]) * rate / self.knot_interval_s;
        }
    }
}
