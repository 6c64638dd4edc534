//! Scenes of finite elements: a cantilever, a link on a hook, a chain, a torus of any refinement.

use std::f64::consts::FRAC_PI_2;
use std::fmt::Write;
use std::path::Path;

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use pliant_hydroelastic::mesh::generate::{tet_cuboid, tet_torus};
use pliant_hydroelastic::mesh::{MeshError, TetMesh};
use serde::{Deserialize, Serialize};

use crate::error::BenchError;
use crate::scene::Pose;

/// Radii of a link: of the ring, and of its tube, m.
const RING: f64 = 0.1;
const TUBE: f64 = 0.025;
/// Initial gap between links, m.
const SLACK: f64 = 5e-4;

/// Equal deformable bodies of one mesh, and their constraints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FemScene {
    /// Name.
    pub name: String,
    /// Time step δt, s.
    pub time_step_s: f64,
    /// Steps before the timed ones.
    pub warm_up_steps: usize,
    /// Number of timed steps.
    pub steps: usize,
    /// The mesh of every body.
    pub mesh: FemMesh,
    /// Young's modulus, Pa.
    pub youngs_modulus: f64,
    /// Poisson's ratio.
    pub poissons_ratio: f64,
    /// Density, kg/m³.
    pub density: f64,
    /// Rayleigh coefficient β, s.
    pub damping_s: f64,
    /// Friction coefficient μ.
    pub friction: f64,
    /// The bodies.
    pub bodies: Vec<SoftBody>,
    /// Rigid torus that carries them, if any.
    pub hook: Option<Hook>,
    /// Plane with fixed vertices, if any.
    pub wall: Option<Wall>,
}

/// A generated mesh; baselines read it as a file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum FemMesh {
    /// Half lengths, m, and cells.
    Cuboid([f64; 3], [u32; 3]),
    /// A link: segments around, sides and rings across.
    Torus(u32, u32, u32),
}

/// One of the bodies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SoftBody {
    /// Where the mesh is placed.
    pub pose: Pose,
}

/// A rigid torus of a link's mesh, fixed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hook {
    /// Where.
    pub pose: Pose,
}

/// Vertices up to this x are fixed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wall {
    /// m.
    pub x: f64,
}

impl FemMesh {
    /// The tetrahedra.
    ///
    /// # Errors
    /// Sizes that make no mesh.
    pub fn build(&self) -> Result<TetMesh, MeshError> {
        match *self {
            Self::Cuboid(half, cells) => tet_cuboid(half.into(), cells),
            Self::Torus(segments, sides, rings) => tet_torus(RING, TUBE, segments, sides, rings),
        }
    }

    /// The mesh of a link of the chain: 300 vertices, 720 tetrahedra.
    #[must_use]
    pub fn link() -> Self {
        Self::Torus(60, 4, 1)
    }
}

/// The scenes that are compared, by name.
#[must_use]
pub fn fem_catalogue() -> Vec<FemScene> {
    let named = |scene: FemScene, name: &str| FemScene {
        name: name.into(),
        ..scene
    };
    vec![
        named(cantilever(), "cantilever"),
        named(chain(1, FemMesh::link(), 40), "link"),
        named(chain(100, FemMesh::link(), 20), "chain-100"),
        named(chain(1, torus_of(4), 10), "torus"),
    ]
}

/// A torus `rings` times as fine as a link in each direction.
#[must_use]
pub fn torus_of(rings: u32) -> FemMesh {
    FemMesh::Torus(60 * rings, 4, rings)
}

/// A rubber beam of 9,963 degrees of freedom, held at one end, that begins to droop.
fn cantilever() -> FemScene {
    FemScene {
        name: String::new(),
        time_step_s: 0.01,
        warm_up_steps: 3,
        steps: 20,
        mesh: FemMesh::Cuboid([0.5, 0.1, 0.1], [40, 8, 8]),
        youngs_modulus: 1e6,
        poissons_ratio: 0.4,
        density: 1000.0,
        damping_s: 0.01,
        friction: 0.5,
        bodies: vec![SoftBody {
            pose: Pose::of(&Isometry3::identity()),
        }],
        hook: None,
        wall: Some(Wall { x: -0.4999 }),
    }
}

/// `n` links that hang one on another and the first on a hook; they begin almost touching.
#[must_use]
pub fn chain(n: usize, mesh: FemMesh, steps: usize) -> FemScene {
    // Upright, every other one rotated by a right angle.
    let upright = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), FRAC_PI_2);
    let across = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), FRAC_PI_2) * upright;
    // The tube is a polygon standing on a corner: its inner corners meet.
    let apart = 2.0 * (RING - TUBE) - SLACK;
    let pose = |k: usize| {
        let rotation = if k.is_multiple_of(2) { upright } else { across };
        let at = Vector3::new(0.0, 0.0, -apart * k as f64);
        Pose::of(&Isometry3::from_parts(Translation3::from(at), rotation))
    };
    FemScene {
        name: format!("chain-{n}"),
        time_step_s: 0.02,
        warm_up_steps: 5,
        steps,
        mesh,
        youngs_modulus: 1e7,
        poissons_ratio: 0.4,
        density: 500.0,
        damping_s: 0.05,
        friction: 0.5,
        bodies: (1..=n).map(|k| SoftBody { pose: pose(k) }).collect(),
        hook: Some(Hook { pose: pose(0) }),
        wall: None,
    }
}

impl FemScene {
    /// Writes `scene.json`, `body.vtk` and, if there is one, `hook.vtk` into a folder.
    ///
    /// # Errors
    /// A folder that cannot be written to.
    pub fn write(&self, folder: &Path) -> Result<(), BenchError> {
        let mut files = vec![("body.vtk", vtk(&self.mesh.build()?))];
        if self.hook.is_some() {
            files.push(("hook.vtk", vtk(&FemMesh::link().build()?)));
        }
        let json = serde_json::to_string(self).map_err(|source| BenchError::Json {
            what: self.name.clone(),
            source,
        })?;
        files.push(("scene.json", json));
        for (name, text) in files {
            let file = folder.join(name);
            std::fs::write(&file, text).map_err(|source| BenchError::Unwritable {
                file: file.display().to_string(),
                source,
            })?;
        }
        Ok(())
    }
}

fn vtk(mesh: &TetMesh) -> String {
    let (vertices, tets) = (mesh.vertices(), mesh.tets());
    let written = "writing to a string succeeds";
    let mut text = format!(
        "# vtk DataFile Version 3.0\ntetrahedra\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {} double\n",
        vertices.len()
    );
    for x in vertices {
        writeln!(text, "{} {} {}", x.x, x.y, x.z).expect(written);
    }
    writeln!(text, "CELLS {} {}", tets.len(), 5 * tets.len()).expect(written);
    for tet in tets {
        let [a, b, c, d] = tet.map(|vertex| vertex.0);
        writeln!(text, "4 {a} {b} {c} {d}").expect(written);
    }
    writeln!(text, "CELL_TYPES {}", tets.len()).expect(written);
    text.push_str(&"10\n".repeat(tets.len()));
    text
}
