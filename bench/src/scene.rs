//! A scene as plain data: what every engine is given, in SI units and world axes.

use std::path::Path;

use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};
use pliant_hydroelastic::mesh::{SurfaceOptions, SurfaceUse, read_surface};
use pliant_hydroelastic::{AnalyticShape, Compliance, PatchGeometry, Shape};
use serde::{Deserialize, Serialize};

use crate::error::BenchError;

/// What every engine runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Its name.
    pub name: String,
    /// Δt, s.
    pub time_step_s: f64,
    /// Steps taken before the clock starts.
    pub warm_up_steps: usize,
    /// Steps timed, in `n_chunks` pieces of this many steps: the minimum over repetitions is taken piece by piece, since
    /// every engine repeats a run exactly and other programs disturb only some of the pieces.
    pub steps_per_chunk: usize,
    /// Pieces timed.
    pub n_chunks: usize,
    /// m/s², world axes.
    pub gravity: [f64; 3],
    /// The surface of everything.
    pub surface: Surface,
    /// What does not move.
    pub fixed: Vec<Fixed>,
    /// What moves freely.
    pub free: Vec<Free>,
    /// A robot arm, if there is one.
    pub arm: Option<Arm>,
}

/// Contact parameters of a surface; a pair combines two of them as `pliant_hydroelastic::ContactMaterial` says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Surface {
    /// k, N/m.
    pub stiffness: f64,
    /// d of Hunt and Crossley, s/m.
    pub dissipation: f64,
    /// τ, s, for models with linear dissipation.
    pub relaxation_time_s: f64,
    /// μ.
    pub friction: f64,
}

/// What a solid is in patch contact, for engines that are run with it; the others take points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Hydroelastic {
    /// It does not yield.
    Rigid {
        /// Edges of curved sides, m.
        edge_length: f64,
    },
    /// It yields.
    Compliant {
        /// Pressure at its deepest point, Pa.
        modulus: f64,
        /// Edges of curved sides, m.
        edge_length: f64,
    },
}

/// A solid in its own frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Solid {
    /// What a closed surface encloses.
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

/// Something that does not move.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fixed {
    /// Its name.
    pub name: String,
    /// Its shape.
    pub solid: Solid,
    /// What it is in a patch.
    pub hydroelastic: Hydroelastic,
    /// Where it is.
    pub pose: Pose,
}

/// Something that moves freely, at rest at first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Free {
    /// Its name.
    pub name: String,
    /// Its shape; its centre of mass is the origin of its frame.
    pub solid: Solid,
    /// What it is in a patch.
    pub hydroelastic: Hydroelastic,
    /// kg.
    pub mass: f64,
    /// Principal moments about the frame's axes, kg·m².
    pub inertia: [f64; 3],
    /// Where it starts.
    pub pose: Pose,
}

/// A robot arm whose joints follow a path under PD control; its links do not touch each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    /// Model file, relative to the root of the repository.
    pub urdf: String,
    /// What its links are in a patch.
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
    /// Steps in all.
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
    /// The shape of what is called `name`; files are sought under `root`.
    ///
    /// # Errors
    /// [`BenchError::Shape`] for sizes that no shape has, [`BenchError::Mesh`] for a file that cannot be read.
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
    /// What pliant makes of it for a shape.
    ///
    /// # Errors
    /// [`BenchError::Shape`] for a shape that cannot be that.
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
    /// At a place, unturned.
    #[must_use]
    pub fn at(x: f64, y: f64, z: f64) -> Self {
        Self {
            position: [x, y, z],
            quat_wxyz: [1.0, 0.0, 0.0, 0.0],
        }
    }

    /// From nalgebra's type.
    #[must_use]
    pub fn of(X: &Isometry3<f64>) -> Self {
        let r = X.rotation;
        Self {
            position: X.translation.vector.into(),
            quat_wxyz: [r.w, r.i, r.j, r.k],
        }
    }

    /// As nalgebra's type.
    #[must_use]
    pub fn isometry(&self) -> Isometry3<f64> {
        let [w, x, y, z] = self.quat_wxyz;
        let rotation = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
        Isometry3::from_parts(Vector3::from(self.position).into(), rotation)
    }
}

impl Arm {
    /// Positions and velocities (rad, rad/s) asked for at time `t`: between two knots a and b, q = a + (b − a)(3s² − 2s³).
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
