//! Compliant cubes at rest, meshed with tetrahedra of several sizes: their contact polygons differ, but the cubes do not move.

use std::sync::Arc;

use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use pliant_coupling::{BodyIdx, Geometry, Mount, PatchFinder};
use pliant_hydroelastic::mesh::{FillSettings, generate, tetrahedralise};
use pliant_hydroelastic::{Compliance, PatchGeometry, PressureField, Shape};

use super::test_world::{Model, Outcome, Run, TestWorld, material};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "patch-rest",
    about: "compliant cubes on a half space, a box and each other move less than 1 µm in a minute, at every resolution",
    kind: CaseKind::Function(run),
    needs: None,
};

const TIME_STEP_S: f64 = 2e-3;
const SIDE: f64 = 0.1;
const MASS: f64 = 1.0;
/// Pa.
const MODULUS: f64 = 1e5;
/// Offsets of the upper cube from its support: x, y (m) and yaw (rad).
const ASIDE: [f64; 3] = [0.012, -0.007, 0.35];
/// m.
const MOVES_AT_MOST: f64 = 1e-6;

/// Mesh of the pressure field of a cube.
#[derive(Clone, Copy, Debug)]
enum Cut {
    /// The mesh of every box: its faces joined to the medial axis.
    Box,
    /// Its surface filled by a lattice of this edge length, m.
    Lattice(f64),
}

/// Support of the upper cube.
#[derive(Clone, Copy, Debug)]
enum Below {
    HalfSpace,
    RigidBox,
    /// A cube of the same kind, on a half space.
    Cube,
}

impl Below {
    fn name(self) -> &'static str {
        match self {
            Self::HalfSpace => "a half space",
            Self::RigidBox => "a rigid box",
            Self::Cube => "another",
        }
    }
}

fn field(cut: Cut) -> Outcome<PatchGeometry> {
    let compliance = |mesh_resolution_hint| Compliance {
        hydroelastic_modulus: MODULUS,
        mesh_resolution_hint,
        ..Compliance::default()
    };
    Ok(match cut {
        Cut::Box => {
            PatchGeometry::compliant(&Shape::cuboid(Vector3::repeat(SIDE))?, &compliance(SIDE))?
        }
        Cut::Lattice(edge) => {
            let surface = generate::cuboid(Vector3::repeat(0.5 * SIDE))?;
            let (mesh, _) = tetrahedralise(&surface, &FillSettings::of_edge_length(edge))?;
            PatchGeometry::Compliant(PressureField::of_tets(&mesh, &compliance(edge))?)
        }
    })
}

/// A world in its initial state, and the bodies that must stay at rest.
fn world(below: Below, cut: Cut) -> Outcome<(Run, Vec<BodyIdx>)> {
    let mut setup = TestWorld::new(Model::Lagged, material(1e6, 0.5));
    let geometry = |name: &str, mount, shape, patch, setup: &TestWorld| Geometry {
        patch: Some(Arc::new(patch)),
        ..Geometry::new(name, mount, shape, setup.material)
    };
    let soft = field(cut)?;
    let on_world = |z: f64| Mount::World(Isometry3::translation(0.0, 0.0, z));
    let rigid = PatchGeometry::RigidHalfSpace;
    let floor = geometry("floor", on_world(0.0), Shape::half_space(), rigid, &setup);
    setup.builder.add_geometry(floor);
    let mut bodies = Vec::new();
    let cube = |name: &str, X_WB: Isometry3<f64>, setup: &mut TestWorld| -> Outcome<BodyIdx> {
        let lengths = Vector3::repeat(SIDE);
        let body = setup.body_alone(name, lengths, MASS, X_WB)?;
        let mount = Mount::Frame {
            body,
            frame: 0,
            X_FG: Isometry3::identity(),
        };
        let of_cube = geometry(name, mount, Shape::cuboid(lengths)?, soft.clone(), setup);
        setup.builder.add_geometry(of_cube);
        Ok(body)
    };
    let level = match below {
        Below::HalfSpace => 0.0,
        Below::RigidBox => {
            let shape = Shape::cuboid(Vector3::new(0.13, 0.17, SIDE))?;
            let patch = PatchGeometry::rigid(&shape, 0.02)?;
            let block = geometry("block", on_world(0.5 * SIDE), shape, patch, &setup);
            setup.builder.add_geometry(block);
            SIDE
        }
        Below::Cube => {
            let X_WB = Isometry3::translation(0.0, 0.0, 0.5 * SIDE);
            bodies.push(cube("lower", X_WB, &mut setup)?);
            SIDE
        }
    };
    let [x, y, yaw] = ASIDE;
    let X_WB = Isometry3::from_parts(
        Vector3::new(x, y, level + 0.5 * SIDE).into(),
        UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw),
    );
    bodies.push(cube("upper", X_WB, &mut setup)?);
    Ok((setup.start(TIME_STEP_S)?, bodies))
}

/// Upper bound of the displacement of a cube's corners, m.
fn moved(now: &[f64], then: &[f64]) -> f64 {
    let apart = |k: usize| (now[k] - then[k]).abs();
    let shift = (0..3).map(apart).fold(0.0, f64::max);
    // A component of a quaternion is half an angle; the corners are 0.87 sides from the centre.
    let turn = (3..7).map(apart).fold(0.0, f64::max);
    shift + 2.0 * SIDE * turn
}

fn run(length: CaseLength) -> Outcome<Vec<Finding>> {
    let (settle_s, watch_s) = match length {
        CaseLength::Quick => (2.0, 1.0),
        CaseLength::Full => (2.0, 60.0),
    };
    let steps = |time_s: f64| (time_s / TIME_STEP_S).round() as usize;
    let cuts = [
        Cut::Box,
        Cut::Lattice(0.05),
        Cut::Lattice(0.035),
        Cut::Lattice(0.025),
    ];
    let mut findings = Vec::new();
    for cut in cuts {
        let name = match cut {
            Cut::Box => "a compliant box".to_owned(),
            Cut::Lattice(edge) => format!("a cube filled by tetrahedra of {edge} m"),
        };
        for below in [Below::HalfSpace, Below::RigidBox, Below::Cube] {
            let (mut run, bodies) = world(below, cut)?;
            run.steps(steps(settle_s))?;
            let begin = run.state.clone();
            let (mut furthest, mut polygons) = (0.0_f64, (usize::MAX, 0));
            let mut finder = PatchFinder::default();
            for step in 0..steps(watch_s) {
                run.steps(1)?;
                for body in &bodies {
                    let (now, then) = (run.body(*body), &begin.bodies[body.0]);
                    furthest = furthest.max(moved(&now.q, &then.q));
                }
                if step % 10 == 0 {
                    let patches = finder.find(&run.world, &run.state)?;
                    let n = patches.iter().map(|p| p.patch.polygons().len()).sum();
                    polygons = (polygons.0.min(n), polygons.1.max(n));
                }
            }
            let (least, most) = polygons;
            findings.push(Finding::at_most(
                format!("patch-rest: {name} on {} moves (m)", below.name()),
                furthest,
                MOVES_AT_MOST,
                format!("it stands, {watch_s} s long, on {least} to {most} polygons"),
            ));
        }
    }
    Ok(findings)
}
