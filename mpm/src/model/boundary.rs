//! Walls as boundary conditions of the grid: nodes behind them are held.

use nalgebra::{Point3, Vector3};

use crate::error::{MpmError, within};
use crate::system::GridSystem;

/// Boundary condition of the nodes behind a wall.
///
/// ```
/// # use nalgebra::{DMatrix, Isometry3, Vector3};
/// # use pliant_contact_sap::{BodyState, Control, DeformableModel};
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{CpuSubsteps, LaggedLaws, MpmBuilder, MpmSettings, ObjectSpec, Preset, RigidLinks, Sampling};
/// # use pliant_mpm::{SubstepBackend, SubstepContact, SubstepInput, SubstepReport, SubstepSolver, fill};
/// # use nalgebra::Point3;
/// use pliant_mpm::{Wall, WallKind};
///
/// // A cube of foam slides along the ground at 1 m/s.
/// for (kind, slides) in [(WallKind::Slides, true), (WallKind::Sticks, false)] {
/// #     let cube = Shape::cuboid(Vector3::repeat(0.04))?;
/// #     let points = fill("foam", &cube, &Isometry3::translation(0.0, 0.0, 0.02), 0.02, Sampling::default())?;
/// #     let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// #     let mut foam = ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points);
/// #     foam.velocity_W = Vector3::x();
/// #     builder.object(foam);
///     builder.wall(Wall { p_WQ: Point3::origin(), normal_W: Vector3::z(), kind });
/// #     let (model, control, mut next) = (builder.build()?, Control::default(), BodyState::default());
/// #     let mut links = RigidLinks::new(Vec::new(), DMatrix::zeros(0, 0));
/// #     let solver = SubstepSolver::GaussSeidel;
/// #     let contact = SubstepContact { stiction_speed: 1e-4, near_rigid: 0.1, solver, tolerance: 1e-2, iterations_max: 100 };
/// #     let (gravity, laws) = (Vector3::zeros(), &LaggedLaws);
/// #     let input = SubstepInput { time_step_s: 2e-3, substeps: 4, gravity, control: &control, obstacles: &[], contact, laws };
/// #     let mut backend = CpuSubsteps::<f64>::new(&model);
/// #     backend.begin(&model.default_state())?;
/// #     backend.run(&input, &mut links, &mut Vec::new(), &mut SubstepReport::default())?;
/// #     let _ = backend.end(&mut next)?;
///     let momentum = model.energy(&next, &Vector3::zeros()).linear_momentum_W;
///     assert_eq!((momentum.x - 0.0256).abs() < 1e-12, slides); // of a cube of 25.6 g
///     assert!(momentum.x < 0.0256 + 1e-12);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WallKind {
    /// Velocity zero.
    Sticks,
    /// Normal velocity zero. Only for walls normal to an axis.
    Slides,
}

/// What walls do to the nodes behind them.
///
/// Held nodes resist only particles that come near: the effective position of a wall is about a third of a cell behind its plane, an error of
/// first order in the spacing. A mirror is exact: the node one cell behind the plane moves like the image of the node in front of it, and carries its mass
/// and momentum. What crosses the plane is then zero at the plane itself, and a wall that sticks is where it is said to be.
///
/// ```
/// # use nalgebra::{Isometry3, Point3, Vector3};
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{ObjectSpec, Preset, Sampling, Wall, WallKind, fill};
/// use pliant_mpm::{MpmBuilder, MpmSettings, WallForm};
///
/// // A mirror is a plane of grid nodes.
/// # let points = fill("foam", &Shape::cuboid(Vector3::repeat(0.04))?, &Isometry3::identity(), 0.02, Sampling::default())?;
/// let mut builder = MpmBuilder::new(MpmSettings { walls: WallForm::Mirrored, ..MpmSettings::new(0.02) });
/// # builder.object(ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points));
/// builder.wall(Wall { p_WQ: Point3::new(0.0, 0.0, -0.03), normal_W: Vector3::z(), kind: WallKind::Slides });
/// assert!(builder.build().unwrap_err().to_string().contains("must be a multiple of the spacing"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WallForm {
    /// Mirrors where every object is a liquid and the wall is a plane of grid nodes normal to an axis; held elsewhere.
    #[default]
    Automatic,
    /// The nodes on and behind a wall are held.
    Held,
    /// Walls are mirrors.
    Mirrored,
}

/// A wall that reflects: a plane of grid nodes normal to an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mirror {
    /// Its axis, 0 to 2.
    pub(crate) axis: usize,
    /// Coordinate of its nodes, in units of the spacing.
    pub(crate) plane: i32,
    /// 1 where the particles lie at larger coordinates, −1 at smaller ones.
    pub(crate) side: i32,
    pub(crate) kind: WallKind,
}

impl Mirror {
    /// The wall that it is.
    pub(crate) fn wall(&self, spacing: f64) -> Wall {
        Wall {
            p_WQ: Vector3::ith(self.axis, f64::from(self.plane) * spacing).into(),
            normal_W: Vector3::ith(self.axis, f64::from(self.side)),
            kind: self.kind,
        }
    }

    /// The factor of each component of a velocity in its image.
    pub(crate) fn signs(&self) -> [f64; 3] {
        match self.kind {
            WallKind::Sticks => [-1.0; 3],
            WallKind::Slides => [0, 1, 2].map(|k| if k == self.axis { -1.0 } else { 1.0 }),
        }
    }

    /// Whether a node is the image of one in front of the wall.
    pub(crate) fn is_image(&self, node: [i32; 3]) -> bool {
        node[self.axis] == self.plane - self.side
    }

    /// The node whose image `node` is.
    pub(crate) fn original(&self, node: [i32; 3]) -> [i32; 3] {
        let mut original = node;
        original[self.axis] = 2 * self.plane - node[self.axis];
        original
    }
}

/// A half space that particles stay out of, at the cost of a condition on its grid nodes. It is cheaper than contact, but has neither a friction
/// coefficient nor a reported force. Choose planes through grid nodes; [`WallForm`] says why.
///
/// ```
/// use nalgebra::{Isometry3, Point3, Vector3};
/// # use pliant_hydroelastic::Shape;
/// use pliant_mpm::{MpmBuilder, MpmSettings, Wall, WallKind};
/// # use pliant_mpm::{ObjectSpec, Preset, Sampling, fill};
///
/// # let points = fill("foam", &Shape::cuboid(Vector3::repeat(0.04))?, &Isometry3::identity(), 0.02, Sampling::default())?;
/// # let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// # builder.object(ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points));
/// // Nodes can slide along an axis of the grid only.
/// let slope = Wall { p_WQ: Point3::origin(), normal_W: Vector3::new(0.6, 0.0, 0.8), kind: WallKind::Slides };
/// builder.wall(slope);
/// assert!(builder.build().unwrap_err().to_string().contains("for a wall to slide along"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wall {
    /// A point on the wall.
    pub p_WQ: Point3<f64>,
    /// Unit normal, pointing away from the wall.
    pub normal_W: Vector3<f64>,
    /// Boundary condition.
    pub kind: WallKind,
}

impl Wall {
    pub(crate) fn check(&self) -> Result<(), MpmError> {
        let length = self.normal_W.norm();
        let unit = (length - 1.0).abs() < 1e-9 && self.p_WQ.iter().all(|x| x.is_finite());
        within("wall", "length of its normal", length, unit, "must be 1")?;
        let along_axis = self.normal_W.iter().filter(|n| n.abs() > 1e-12).count() == 1;
        within(
            "wall",
            "largest part of its normal",
            self.normal_W.amax(),
            self.kind == WallKind::Sticks || along_axis,
            "must be 1, along x, y or z, for a wall to slide along",
        )?;
        Ok(())
    }

    /// The mirror that this wall is, if it is a plane of grid nodes normal to an axis.
    pub(crate) fn mirror(&self, spacing: f64) -> Option<Mirror> {
        let axis = (0..3).find(|k| (self.normal_W[*k].abs() - 1.0).abs() < 1e-9)?;
        let plane = self.p_WQ[axis] / spacing;
        let on_nodes = (plane - plane.round()).abs() < 1e-6 && plane.abs() < 1e9;
        on_nodes.then(|| Mirror {
            axis,
            plane: plane.round() as i32,
            side: if self.normal_W[axis] > 0.0 { 1 } else { -1 },
            kind: self.kind,
        })
    }

    /// Holds the nodes behind the wall.
    pub(crate) fn hold(&self, system: &mut GridSystem) {
        // Nodes on the wall to round-off count as behind it.
        let slack = 1e-9 * system.spacing;
        for node in 0..system.mass.len() {
            let height = (system.node_position(node) - self.p_WQ.coords).dot(&self.normal_W);
            if height > slack {
                continue;
            }
            for k in 0..3 {
                if self.kind == WallKind::Sticks || self.normal_W[k].abs() > 0.5 {
                    system.prescribed[3 * node + k] = 0.0;
                    system.any_prescribed = true;
                }
            }
        }
    }
}
