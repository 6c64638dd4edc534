//! The material points of a world: objects of different materials on one grid, as one body of the contact problem.

mod boundary;
mod builder;
mod flow;
mod records;

use std::sync::Arc;

use nalgebra::{Matrix3, Point3, Vector3};
use pliant_contact_sap::{
    BodyError, BodyState, BodyStep, Control, DeformableModel, Energy, SelfContact, Surface,
    VelocityLayout,
};

use crate::cloth::{ClothMesh, ClothObject};
use crate::free_motion::FreeMotionSettings;
use crate::loads::check_loads;
use crate::material::{Lagged, Law, Material};
use crate::particle::Particle;
use crate::spline::GradientForm;
use crate::step::MpmStep;
use crate::transfer::TransferScheme;

pub(crate) use boundary::Mirror;
pub use boundary::{Wall, WallForm, WallKind};
pub use builder::{MpmBuilder, ObjectSpec};
pub use flow::{Sink, Source};
pub(crate) use records::{Comparison, Records, check_finite};

/// Index of an object of a [`MaterialPoints`].
///
/// ```
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_contact_sap::DeformableModel;
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{MpmBuilder, MpmSettings, ObjectSpec, Preset, Sampling, fill};
/// // Dough and sand on one grid.
/// # let shape = Shape::cuboid(Vector3::repeat(0.04))?;
/// # let cube = |x| fill("cube", &shape, &Isometry3::translation(x, 0.0, 0.0), 0.02, Sampling::default());
/// # let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// let dough = builder.object(ObjectSpec::new("dough", Preset::PizzaDough.material(), 1000.0, cube(0.0)?));
/// let sand = builder.object(ObjectSpec::new("sand", Preset::DrySand.material(), 2200.0, cube(0.1)?));
/// let model = builder.build()?;
/// assert_eq!((dough.0, sand.0, model.n_objects()), (0, 1, 2));
/// let state = model.default_state();
/// let of_sand = model.particles(&state).filter(|particle| particle.object == sand);
/// assert!((of_sand.map(|particle| particle.mass).sum::<f64>() - 2200.0 * 0.04_f64.powi(3)).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectIdx(pub usize);

/// Rest strain of the linear corotated model for a particle that rotates within a step.
///
/// ```
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_contact_sap::{DeformableModel, SolverKind, StopCriteria};
/// # use pliant_coupling::{State, Stepper, StrongImplicit, WorldBuilder};
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{MpmBuilder, ObjectSpec, Preset, Sampling, fill};
/// use pliant_mpm::{MpmSettings, RotationTarget};
///
/// // A cube of foam turns by θ = 0.2 rad in a step.
/// for (rotation_target, growth) in [(RotationTarget::Start, 0.04), (RotationTarget::End, 0.0)] {
///     let settings = MpmSettings { rotation_target, ..MpmSettings::new(0.02) };
/// #     let points = fill("foam", &Shape::cuboid(Vector3::repeat(0.04))?, &Isometry3::identity(), 0.02, Sampling::default())?;
/// #     let mut foam = ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points);
/// #     foam.angular_velocity_W = Vector3::z() * 2.0;
/// #     let mut model = MpmBuilder::new(settings);
/// #     model.object(foam);
/// #     let model = model.build()?;
/// #     let mut builder = WorldBuilder::default();
/// #     builder.add_body("foam", Box::new(model.clone()));
/// #     builder.gravity(Vector3::zeros());
/// #     let (world, mut next) = (builder.build()?, State::default());
/// #     let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// #     assert!(stepper.step(&world, &world.default_state(), 0.1, &mut next)?.is_trusted());
///     let ratios = model.particles(&next.bodies[0]).map(|particle| particle.volume_ratio);
///     let mean = ratios.sum::<f64>() / 64.0;
///     assert!((mean - 1.0 - growth).abs() < 0.005, "{mean}");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RotationTarget {
    /// The identity, as in Zong, Jiang, Han (2024): the volume of a body that rotates by θ in a step grows by θ².
    Start,
    /// sym(R₀ᵀR₁) with the rotation R₁ at the end of the step: errors of volume and angular momentum are below 1% up to 0.4 rad per
    /// step. R₁ is predicted from the last step; significant errors are corrected by fixed-point iteration.
    #[default]
    End,
}

/// When A is assembled.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use pliant_contact_sap::{BodyStep, Control, DeformableModel, StepInput};
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{MpmBuilder, ObjectSpec, Preset, Sampling, fill};
/// use pliant_mpm::{MatrixForm, MpmSettings};
///
/// // A cube of foam of 2 × 2 × 2 cells has 64 nodes or more: too many, if 50 are allowed.
/// for (nodes_max, is_assembled) in [(50, false), (1000, true)] {
///     let settings = MpmSettings { matrix: MatrixForm::Automatic { nodes_max }, ..MpmSettings::new(0.02) };
/// #     let cube = Shape::cuboid(Vector3::repeat(0.04))?;
/// #     let points = fill("foam", &cube, &Isometry3::identity(), 0.02, Sampling::default())?;
/// #     let mut builder = MpmBuilder::new(settings);
/// #     builder.object(ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points));
/// #     let model = builder.build()?;
/// #     let (mut step, control, mut v) = (model.new_step(), Control::default(), Vec::new());
///     step.begin(&model.default_state(), &StepInput::new(0.01, Vector3::zeros(), &control))?;
///     step.linearise_start(&mut v)?;
///     assert_eq!(step.dynamics().assembled().is_some(), is_assembled);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixForm {
    /// Always; direct solvers need it.
    Assembled,
    /// Never: products with A are sums over particles.
    MatrixFree,
    /// Up to a number of nodes.
    Automatic {
        /// Larger matrices are too expensive to factor and take 5 kB of memory per node.
        nodes_max: usize,
    },
}

impl Default for MatrixForm {
    fn default() -> Self {
        Self::Automatic { nodes_max: 30_000 }
    }
}

/// Settings of the grid and of a step on it.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use pliant_contact_sap::{BodyStep, Control, DeformableModel, StepInput};
/// # use pliant_hydroelastic::Shape;
/// use pliant_mpm::{MatrixForm, MpmBuilder, MpmSettings};
/// # use pliant_mpm::{ObjectSpec, Preset, Sampling, fill};
///
/// # let points = fill("foam", &Shape::cuboid(Vector3::repeat(0.04))?, &Isometry3::identity(), 0.02, Sampling::default())?;
/// // A step that multiplies by A and never assembles it.
/// let settings = MpmSettings { matrix: MatrixForm::MatrixFree, ..MpmSettings::new(0.02) };
/// let mut builder = MpmBuilder::new(settings);
/// # builder.object(ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points));
/// let model = builder.build()?;
/// let (mut step, control, mut v) = (model.new_step(), Control::default(), Vec::new());
/// step.begin(&model.default_state(), &StepInput::new(0.01, Vector3::zeros(), &control))?;
/// step.linearise_start(&mut v)?;
/// assert!(step.dynamics().assembled().is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MpmSettings {
    /// h, distance of grid nodes, m.
    pub spacing: f64,
    /// Discretisation of the velocity gradient.
    pub gradient: GradientForm,
    /// What particles keep of a velocity that the grid does not represent.
    pub transfer: TransferScheme,
    /// What walls do to the nodes behind them.
    pub walls: WallForm,
    /// Treatment of rotation within a step by the linear corotated model.
    pub rotation_target: RotationTarget,
    /// When A is assembled.
    pub matrix: MatrixForm,
    /// Settings of the search for the free motion.
    pub free_motion: FreeMotionSettings,
    /// Lowest and highest corner of the box that particles may not leave, if any.
    pub bounds: Option<[Point3<f64>; 2]>,
}

impl MpmSettings {
    /// Default settings for a grid of spacing h, m.
    #[must_use]
    pub fn new(spacing: f64) -> Self {
        Self {
            spacing,
            gradient: GradientForm::default(),
            transfer: TransferScheme::default(),
            walls: WallForm::default(),
            rotation_target: RotationTarget::default(),
            matrix: MatrixForm::default(),
            free_motion: FreeMotionSettings::default(),
            bounds: None,
        }
    }
}

/// One object of a model.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) name: String,
    pub(crate) material: Arc<dyn Material>,
    /// kg.
    pub(crate) particle_mass: f64,
    /// m³.
    pub(crate) particle_volume: f64,
    /// Time that sound takes through a cell, s.
    pub(crate) crossing_s: f64,
    /// Radius in contact, m.
    pub(crate) radius: f64,
    /// The mesh that carries its forces, of a cloth. Mass and volume of its particles differ.
    pub(crate) cloth: Option<Arc<ClothObject>>,
}

/// The data that a model shares with its steps.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) settings: MpmSettings,
    pub(crate) objects: Vec<Object>,
    /// Walls whose nodes are held.
    pub(crate) walls: Vec<Wall>,
    /// Walls that reflect the motion in front of them.
    pub(crate) mirrors: Vec<Mirror>,
    pub(crate) sources: Vec<Source>,
    pub(crate) sinks: Vec<Sink>,
    /// Names and particle ids of the sets that can be held.
    pub(crate) grips: Vec<(String, Vec<u32>)>,
    pub(crate) start: BodyState,
    /// The triangles of all cloths, with the indices of particles in a state: those of a cloth are never removed.
    pub(crate) triangles: Vec<[u32; 3]>,
}

impl Parts {
    /// Whether a material needs to know the packing of particles.
    pub(crate) fn follows_packing(&self) -> bool {
        self.objects.iter().any(|o| o.material.follows_packing())
    }

    /// Whether a step needs the fields before its forces act.
    pub(crate) fn looks_back(&self) -> bool {
        self.settings.transfer != TransferScheme::Apic || self.follows_packing()
    }

    /// Description of a particle in messages, such as `particle 12 of "dough"`: index in the state and object.
    pub(crate) fn name_of(&self, particle: usize, object: u32) -> String {
        format!(
            "particle {particle} of \"{}\"",
            self.objects[object as usize].name
        )
    }
}

/// Material points: a [`DeformableModel`] whose velocities are those of the grid nodes around its particles. Their number changes from
/// step to step. Built by [`MpmBuilder`].
///
/// All objects of a world belong to one model: they collide on their common grid. Objects of separate models would pass through each
/// other.
///
/// Every particle is a vertex of the surface, with half the particle spacing as radius. Its basis is the 27 nodes of its cell; that of a triangle of a
/// cloth is those of its three vertices. Its part is the index of its object, so that every object can have its own surface material. In the state, q and v are those of the particles;
/// `history` holds the other quantities of [`MaterialPoints::particles`].
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use pliant_contact_sap::DeformableModel;
/// # use pliant_hydroelastic::Shape;
/// use pliant_mpm::{MpmBuilder, MpmSettings, ObjectIdx, ObjectSpec, Preset};
/// # use pliant_mpm::{Sampling, fill};
///
/// # let cube = Shape::cuboid(Vector3::repeat(0.04))?;
/// # let points = fill("foam", &cube, &Isometry3::translation(0.0, 0.0, 0.5), 0.02, Sampling::default())?;
/// // A cube of foam of 4 cm at 0.5 m height.
/// let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// builder.object(ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points));
/// let model = builder.build()?;
/// let state = model.default_state();
/// let mass: f64 = model.particles(&state).map(|p| p.mass).sum();
/// assert!((mass - 400.0 * 0.04_f64.powi(3)).abs() < 1e-15);
/// let energy = model.energy_of(&state, &Vector3::new(0.0, 0.0, -9.81), ObjectIdx(0));
/// assert!((energy.potential - mass * 9.81 * 0.5).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct MaterialPoints {
    pub(crate) parts: Arc<Parts>,
}

/// One particle of a state, for output.
///
/// ```
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_contact_sap::DeformableModel;
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{MpmBuilder, MpmSettings, ObjectSpec, Preset, Sampling, fill};
/// // Foam at rest, in 64 particles of 1 cm³.
/// # let points = fill("foam", &Shape::cuboid(Vector3::repeat(0.04))?, &Isometry3::translation(0.0, 0.0, 0.5), 0.02, Sampling::default())?;
/// # let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// # builder.object(ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points));
/// # let model = builder.build()?;
/// let state = model.default_state();
/// let particle = model.particles(&state).nth(7).expect("it has 64");
/// assert_eq!((particle.id, particle.volume_ratio, particle.pressure), (7, 1.0, 0.0));
/// assert!((particle.mass - 400e-6).abs() < 1e-15 && (particle.p_WP.z - 0.5).abs() < 0.02);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParticleView {
    /// Identifier, constant while other particles are added and removed.
    pub id: u32,
    /// The object it belongs to.
    pub object: ObjectIdx,
    /// Position, m.
    pub p_WP: Point3<f64>,
    /// Velocity, m/s.
    pub v_WP: Vector3<f64>,
    /// kg.
    pub mass: f64,
    /// Elastic deformation gradient F^E.
    pub f: Matrix3<f64>,
    /// Current volume over volume at rest, including plastic volume change and separation.
    pub volume_ratio: f64,
    /// Pressure, Pa, positive in compression.
    pub pressure: f64,
    /// Accumulated plastic strain, if the material has one.
    pub plastic_strain: Option<f64>,
}

impl MaterialPoints {
    /// Settings.
    #[must_use]
    pub fn settings(&self) -> &MpmSettings {
        &self.parts.settings
    }

    /// Number of objects.
    #[must_use]
    pub fn n_objects(&self) -> usize {
        self.parts.objects.len()
    }

    /// The objects that are cloths.
    fn cloths(&self) -> impl Iterator<Item = (ObjectIdx, &ClothObject)> {
        let objects = self.parts.objects.iter().enumerate();
        objects.filter_map(|(k, o)| Some((ObjectIdx(k), o.cloth.as_deref()?)))
    }

    /// The mesh at rest of an object that is a cloth. Its particles are the vertices, in their order, and then the centroids of the
    /// triangles.
    #[must_use]
    pub fn cloth_mesh(&self, object: ObjectIdx) -> Option<&ClothMesh> {
        let cloth = self.parts.objects[object.0].cloth.as_deref()?;
        Some(&cloth.mesh)
    }

    /// The object of particle `particle` of a state, which is the vertex of this index; `None` if there is no such particle.
    #[must_use]
    pub fn object_of(&self, state: &BodyState, particle: usize) -> Option<ObjectIdx> {
        records::object_of(&self.parts, state, particle).map(ObjectIdx)
    }

    /// The particles of a state, in the order of the surface's vertices; empty if the state does not belong to this model.
    pub fn particles(&self, state: &BodyState) -> impl Iterator<Item = ParticleView> {
        let records = Records::read(&self.parts, state).unwrap_or_default();
        let parts = Arc::clone(&self.parts);
        records
            .particles
            .into_iter()
            .zip(records.ids)
            .map(move |(p, id)| {
                let object = &parts.objects[p.object as usize];
                let material = &object.material;
                ParticleView {
                    id,
                    object: ObjectIdx(p.object as usize),
                    p_WP: p.x.into(),
                    v_WP: p.v,
                    mass: p.mass,
                    f: p.strain.f,
                    volume_ratio: material.volume_ratio(&p.strain),
                    pressure: material.pressure(&p.strain),
                    plastic_strain: material.plastic_strain(&p.strain),
                }
            })
    }

    /// Energies and momenta of one object: sums over its particles.
    #[must_use]
    pub fn energy_of(
        &self,
        state: &BodyState,
        gravity: &Vector3<f64>,
        object: ObjectIdx,
    ) -> Energy {
        self.energy_where(state, gravity, |of| of == object)
    }

    fn energy_where(
        &self,
        state: &BodyState,
        gravity: &Vector3<f64>,
        counts: impl Fn(ObjectIdx) -> bool,
    ) -> Energy {
        let mut energy = Energy::default();
        let Ok(mut records) = Records::read(&self.parts, state) else {
            return energy;
        };
        let h = self.parts.settings.spacing;
        let spread = 0.25 * h * h;
        (records.particles).retain(|p| counts(ObjectIdx(p.object as usize)));
        for p in &records.particles {
            energy.kinetic += 0.5 * p.mass * (p.v.norm_squared() + spread * p.c.norm_squared());
            let material = self.parts.objects[p.object as usize].material.as_ref();
            let mut lagged = Lagged::default();
            Law::<f64>::lag(material, &p.strain, None, &mut lagged);
            let density = Law::<f64>::energy(material, &p.strain, &lagged, &Matrix3::zeros());
            energy.potential += p.volume * density - p.mass * gravity.dot(&p.x);
        }
        for (object, cloth) in self.cloths().filter(|(object, _)| counts(*object)) {
            energy.potential += cloth_energy(&records, object, cloth);
        }
        let (linear, angular) = crate::transfer::momenta(&records.particles, h);
        energy.linear_momentum_W = linear;
        energy.angular_momentum_W = angular;
        energy
    }
}

/// Elastic energy of a cloth in a state, J.
fn cloth_energy(records: &Records, object: ObjectIdx, cloth: &ClothObject) -> f64 {
    let own = |p: &&Particle<f64>| p.object as usize == object.0;
    let own: Vec<&Particle<f64>> = records.particles.iter().filter(own).collect();
    if own.len() != cloth.n_particles() {
        return 0.0;
    }
    let (vertices, centroids) = own.split_at(cloth.n_vertices());
    let positions: Vec<_> = vertices.iter().map(|p| p.x).collect();
    let normals: Vec<Vector3<f64>> = centroids
        .iter()
        .map(|p| p.strain.f.column(2).into_owned())
        .collect();
    cloth.cloth.energy(&positions, &normals)
}

impl DeformableModel for MaterialPoints {
    /// Objects collide on the grid.
    fn self_contact(&self) -> SelfContact {
        SelfContact::Inherent
    }

    fn velocity_layout(&self) -> VelocityLayout {
        VelocityLayout::RebuiltEachStep
    }

    fn default_state(&self) -> BodyState {
        self.parts.start.clone()
    }

    fn default_control(&self) -> Control {
        Control {
            held: vec![None; 3 * self.parts.grips.len()],
            ..Control::default()
        }
    }

    fn new_step(&self) -> Box<dyn BodyStep> {
        Box::new(MpmStep::new(Arc::clone(&self.parts)))
    }

    /// Deformations must be within the range of their material: a positive volume, unless it resists inversion.
    fn check_state(&self, state: &BodyState, control: &Control) -> Result<(), BodyError> {
        let targets = [&control.position, &control.velocity, &control.effort];
        if targets.iter().any(|x| !x.is_empty()) {
            return Err(BodyError::Unsupported { what: "actuators" });
        }
        self.parts.check_held(&control.held)?;
        let records = Records::read(&self.parts, state)?;
        check_loads(&control.loads, records.particles.len())?;
        records.check_cloths(&self.parts)?;
        records.check_strains(&self.parts)?;
        records.check_counters()?;
        self.parts.check_bounds(&records.particles)
    }

    fn surface(&self, state: &BodyState, out: &mut Surface) {
        records::write_surface(&self.parts, state, out);
    }

    fn energy(&self, state: &BodyState, gravity: &Vector3<f64>) -> Energy {
        self.energy_where(state, gravity, |_| true)
    }
}
