//! A world under the asynchronous stepper, and bodies for it.

use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_contact_sap::{ConvexContactSolver, PdGains, SolverKind, StopCriteria};
use pliant_coupling::{
    Asynchronous, AsynchronousSettings, BodyIdx, Geometry, Mount, Precision, State, StepReport,
    Stepper, StrongImplicit, World, WorldBuilder,
};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_multibody::{
    JointKind, JointSpec, LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia,
};

/// A simulation in explicit substeps.
pub(crate) struct Substepped {
    pub(crate) world: World,
    pub(crate) state: State,
    next: State,
    stepper: Asynchronous<Box<dyn ConvexContactSolver>>,
}

impl Substepped {
    pub(crate) fn new(world: World, settings: AsynchronousSettings) -> Self {
        let rigid = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
        Self {
            state: world.default_state(),
            next: State::default(),
            stepper: Asynchronous::new(rigid, settings).unwrap(),
            world,
        }
    }

    /// A step that must be trusted.
    pub(crate) fn step(&mut self, time_step_s: f64) -> StepReport {
        let report = self
            .stepper
            .step(&self.world, &self.state, time_step_s, &mut self.next)
            .unwrap();
        assert!(report.is_trusted(), "{:?}", report.untrusted());
        std::mem::swap(&mut self.state, &mut self.next);
        report
    }

    /// Position of vertex `k` of a body, m.
    pub(crate) fn position(&self, body: BodyIdx, k: usize) -> Vector3<f64> {
        Vector3::from_column_slice(&self.state.bodies[body.0].q[3 * k..][..3])
    }

    /// Velocity of vertex `k` of a body, m/s.
    pub(crate) fn velocity(&self, body: BodyIdx, k: usize) -> Vector3<f64> {
        Vector3::from_column_slice(&self.state.bodies[body.0].v[3 * k..][..3])
    }

    /// Mean position of the vertices of a body, m.
    pub(crate) fn centre(&self, body: BodyIdx) -> Vector3<f64> {
        let q = &self.state.bodies[body.0].q;
        let sum = q
            .chunks_exact(3)
            .map(Vector3::from_column_slice)
            .sum::<Vector3<f64>>();
        sum / (q.len() / 3) as f64
    }

    pub(crate) fn momentum(&self) -> Vector3<f64> {
        self.world.energy(&self.state).linear_momentum_W
    }
}

/// Settings with particles and grid in f64.
pub(crate) fn double() -> AsynchronousSettings {
    AsynchronousSettings {
        precision: Precision::Double,
        ..AsynchronousSettings::default()
    }
}

/// Both precisions with the relative round-off allowed to sums over many substeps.
pub(crate) const PRECISIONS: [(Precision, f64); 2] =
    [(Precision::Single, 1e-5), (Precision::Double, 1e-11)];

/// A box with its own surface.
pub(crate) struct BoxSpec {
    pub(crate) lengths: Vector3<f64>,
    pub(crate) mass: f64,
    /// Its centre at the start.
    pub(crate) p_WB: Vector3<f64>,
    pub(crate) contact: ContactMaterial,
}

impl BoxSpec {
    fn link(&self) -> LinkSpec {
        LinkSpec::new("box", SpatialInertia::solid_box(self.mass, self.lengths))
    }

    /// Free, with the velocity `v`.
    pub(crate) fn free(&self, builder: &mut WorldBuilder, v: Vector3<f64>) -> BodyIdx {
        let mut model = ModelBuilder::new("box");
        model.root(Root::Floating);
        model.link(self.link());
        let [x, y, z] = self.p_WB.into();
        let tree = RigidTree::new(Arc::new(model.build().unwrap())).starting_at(
            &[x, y, z, 1.0, 0.0, 0.0, 0.0],
            &[0.0, 0.0, 0.0, v.x, v.y, v.z],
        );
        self.add(builder, tree, 0)
    }

    /// On a rail along `axis`, with an actuator if it has gains.
    pub(crate) fn on_rail(
        &self,
        builder: &mut WorldBuilder,
        axis: Vector3<f64>,
        gains: Option<PdGains>,
    ) -> BodyIdx {
        let mut model = ModelBuilder::new("cart");
        model.link(LinkSpec::new("rail", SpatialInertia::zero()));
        model.link(self.link());
        let mut slide = JointSpec::new("slide", JointKind::Prismatic, "rail", "box");
        slide.X_PJ = Isometry3::from(self.p_WB);
        slide.axis = axis;
        model.joint(slide);
        let model = model.build().unwrap();
        let joint = model.joint_named("slide").unwrap();
        let mut tree = RigidTree::new(Arc::new(model));
        if let Some(gains) = gains {
            tree = tree.with_actuator(joint, gains).unwrap();
        }
        self.add(builder, tree, 1)
    }

    fn add(&self, builder: &mut WorldBuilder, tree: RigidTree, frame: u32) -> BodyIdx {
        let body = builder.add_body("box", Box::new(tree));
        let mount = Mount::Frame {
            body,
            frame,
            X_FG: Isometry3::identity(),
        };
        let shape = Shape::cuboid(self.lengths).unwrap();
        builder.add_geometry(Geometry::new("box", mount, shape, self.contact));
        body
    }
}
