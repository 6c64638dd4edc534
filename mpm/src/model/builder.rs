//! The builder of a model, and its checks.

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};
use pliant_contact_sap::BodyState;

use super::records::Records;
use super::{
    MaterialPoints, MatrixForm, Mirror, MpmSettings, Object, ObjectIdx, Parts, Sink, Source, Wall,
    WallForm,
};
use crate::cloth::{ClothObject, ClothSpec, Fabric};
use crate::error::{MpmError, not_negative, positive, within};
use crate::fill::ParticleSet;
use crate::material::{GridPlace, Material, Strain};
use crate::particle::Particle;
use crate::transfer::TransferScheme;

/// One object: a material and its initial state.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use pliant_contact_sap::DeformableModel;
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{MpmBuilder, MpmSettings, Preset, Sampling, fill};
/// use pliant_mpm::ObjectSpec;
///
/// # let points = fill("foam", &Shape::cuboid(Vector3::repeat(0.04))?, &Isometry3::identity(), 0.02, Sampling::default())?;
/// # let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// // A cube of 25.6 g that flies at 2 m/s.
/// let mut foam = ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points);
/// foam.velocity_W = Vector3::new(2.0, 0.0, 0.0);
/// builder.object(foam);
/// let model = builder.build()?;
/// let energy = model.energy(&model.default_state(), &Vector3::zeros());
/// assert!((energy.linear_momentum_W.x - 2.0 * 0.0256).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ObjectSpec {
    /// Name in messages, scenes and output.
    pub name: String,
    /// Constitutive material.
    pub material: Arc<dyn Material>,
    /// kg/m³ at rest.
    pub density: f64,
    /// Its particles, from [`fill`](crate::fill) or user-defined; empty for an object that a source adds later.
    pub particles: ParticleSet,
    /// Start velocity, m/s.
    pub velocity_W: Vector3<f64>,
    /// Start rotation about the centre of mass, rad/s.
    pub angular_velocity_W: Vector3<f64>,
    /// Radius of particles in contact, m. `None`: half the particle spacing, so that a lattice makes contact at the surface of the shape
    /// that it fills. Zong, Jiang, Han (2024) use zero.
    pub contact_radius: Option<f64>,
}

impl ObjectSpec {
    /// An object at rest.
    pub fn new(
        name: impl Into<String>,
        material: Arc<dyn Material>,
        density: f64,
        particles: ParticleSet,
    ) -> Self {
        Self {
            name: name.into(),
            material,
            density,
            particles,
            velocity_W: Vector3::zeros(),
            angular_velocity_W: Vector3::zeros(),
            contact_radius: None,
        }
    }

    fn check(&self) -> Result<(), MpmError> {
        let name = self.name.as_str();
        positive(name, "density", self.density)?;
        positive(name, "particle volume", self.particles.particle_volume)?;
        if let Some(radius) = self.contact_radius {
            not_negative(name, "contact_radius", radius)?;
        }
        let velocities = self.velocity_W.iter().chain(self.angular_velocity_W.iter());
        let positions = self
            .particles
            .points
            .iter()
            .flat_map(|p| p.coords.as_slice());
        let invalid = velocities.chain(positions).find(|x| !x.is_finite());
        within(
            name,
            "coordinate",
            invalid.copied().unwrap_or(0.0),
            invalid.is_none(),
            "must be finite",
        )?;
        Ok(())
    }
}

/// One object of either kind.
#[derive(Clone, Debug)]
enum Spec {
    Solid(ObjectSpec),
    Cloth(Box<ClothSpec>),
}

/// Collects objects, walls, sources and sinks of a [`MaterialPoints`].
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use pliant_contact_sap::DeformableModel;
/// use pliant_hydroelastic::Shape;
/// use pliant_mpm::{MpmBuilder, MpmSettings, ObjectSpec, Preset, Sampling, fill};
///
/// let h = 0.02;
/// let cube = |x: f64| fill("cube", &Shape::cuboid(Vector3::repeat(0.04)).unwrap(), &Isometry3::translation(x, 0.0, 0.0), h, Sampling::default());
/// let mut builder = MpmBuilder::new(MpmSettings::new(h));
/// builder.object(ObjectSpec::new("dough", Preset::PizzaDough.material(), 1000.0, cube(0.0)?));
/// let sand = builder.object(ObjectSpec::new("sand", Preset::DrySand.material(), 2200.0, cube(0.1)?));
/// let model = builder.build()?;
/// // Particles are numbered object by object, 64 in each cube.
/// assert_eq!(model.object_of(&model.default_state(), 64), Some(sand));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct MpmBuilder {
    settings: MpmSettings,
    objects: Vec<Spec>,
    walls: Vec<Wall>,
    sources: Vec<Source>,
    sinks: Vec<Sink>,
    grips: Vec<(String, Vec<u32>)>,
}

impl MpmBuilder {
    /// An empty model.
    #[must_use]
    pub fn new(settings: MpmSettings) -> Self {
        Self {
            settings,
            objects: Vec::new(),
            walls: Vec::new(),
            sources: Vec::new(),
            sinks: Vec::new(),
            grips: Vec::new(),
        }
    }

    /// Adds an object; its particles follow those of earlier objects.
    pub fn object(&mut self, object: ObjectSpec) -> ObjectIdx {
        self.objects.push(Spec::Solid(object));
        ObjectIdx(self.objects.len() - 1)
    }

    /// Adds a cloth. Its vertices and then the centroids of its triangles are numbered after the particles that are there. Held
    /// vertices move exactly as they are told.
    pub fn cloth(&mut self, cloth: ClothSpec) -> ObjectIdx {
        self.objects.push(Spec::Cloth(Box::new(cloth)));
        ObjectIdx(self.objects.len() - 1)
    }

    /// Adds a wall of held grid nodes.
    pub fn wall(&mut self, wall: Wall) -> &mut Self {
        self.walls.push(wall);
        self
    }

    /// Adds a source.
    pub fn source(&mut self, source: Source) -> &mut Self {
        self.sources.push(source);
        self
    }

    /// Adds a sink.
    pub fn sink(&mut self, sink: Sink) -> &mut Self {
        self.sinks.push(sink);
        self
    }

    /// Adds a named set of particles that can be held and moved. Particle ids count from 0 in the order of objects and their points. While
    /// [`Control::held`](pliant_contact_sap::Control::held) prescribes a velocity of the set (three entries per set, in the order of the
    /// sets), grid nodes with more than half of their mass from the set have this velocity.
    pub fn grip(&mut self, name: impl Into<String>, particles: Vec<u32>) -> &mut Self {
        self.grips.push((name.into(), particles));
        self
    }

    /// Checks everything, places the particles, and adds the batches of sources that are due at time zero.
    ///
    /// # Errors
    /// The first invalid parameter, by name.
    pub fn build(self) -> Result<MaterialPoints, MpmError> {
        self.check()?;
        let all_liquid = (self.objects.iter())
            .all(|spec| matches!(spec, Spec::Solid(s) if !s.material.bears_shear()));
        let (walls, mirrors) = divide_walls(&self.walls, &self.settings, all_liquid);
        let mut records = Records::default();
        let mut objects = Vec::new();
        for (number, spec) in self.objects.iter().enumerate() {
            let spec = match spec {
                Spec::Solid(spec) => spec,
                Spec::Cloth(spec) => {
                    let made = add_cloth(
                        spec,
                        (number, self.settings.spacing),
                        &self.grips,
                        &mut records,
                    );
                    objects.push(made);
                    continue;
                }
            };
            let set = &spec.particles;
            let place = GridPlace {
                density: spec.density,
                spacing: self.settings.spacing,
                has_held_walls: !walls.is_empty(),
            };
            objects.push(Object {
                name: spec.name.clone(),
                material: (spec.material.on_grid(&place))
                    .unwrap_or_else(|| Arc::clone(&spec.material)),
                particle_mass: spec.density * set.particle_volume,
                particle_volume: set.particle_volume,
                crossing_s: self.settings.spacing
                    / (spec.material.wave_modulus() / spec.density).sqrt(),
                radius: spec.contact_radius.unwrap_or(0.5 * set.spacing()),
                cloth: None,
            });
            let count = set.points.len().max(1) as f64;
            let centre = set.points.iter().map(|p| p.coords).sum::<Vector3<f64>>() / count;
            let c = spec.angular_velocity_W.cross_matrix();
            for point in &set.points {
                records.ids.push(records.particles.len() as u32);
                records.particles.push(Particle {
                    x: point.coords,
                    v: spec.velocity_W + c * (point.coords - centre),
                    c,
                    strain: Strain {
                        internal: spec.material.fresh(),
                        ..Particle::default().strain
                    },
                    object: number as u32,
                    ..Particle::default()
                });
            }
        }
        records.header = vec![0.0; 2 + self.sources.len()];
        records.header[1] = records.particles.len() as f64;
        let n = records.particles.len() as u32;
        for (name, members) in &self.grips {
            let invalid = members.iter().find(|p| **p >= n).copied();
            let value = f64::from(invalid.unwrap_or(0));
            within(
                name,
                "particle",
                value,
                invalid.is_none(),
                "is not a particle of the model at its start",
            )?;
        }
        let cloths = objects.iter().filter_map(|o: &Object| o.cloth.as_deref());
        let triangles = cloths.flat_map(|cloth| {
            let triangles = cloth.cloth.triangles().iter();
            triangles.map(|triangle| triangle.vertices.map(|v| cloth.first + v))
        });
        let transfer = match (self.settings.transfer, all_liquid) {
            (TransferScheme::Automatic, true) => TransferScheme::AffineFlip {
                memory_s: TransferScheme::MEMORY_S,
            },
            (TransferScheme::Automatic, false) => TransferScheme::Apic,
            (chosen, _) => chosen,
        };
        let mut parts = Parts {
            settings: MpmSettings {
                transfer,
                ..self.settings
            },
            triangles: triangles.collect(),
            objects,
            walls,
            mirrors,
            sources: self.sources,
            sinks: self.sinks,
            grips: self.grips,
            start: BodyState::default(),
        };
        // Batches that are due at time 0 are part of the initial state.
        crate::step::emit(&parts, &mut records);
        records.write(&mut parts.start);
        Ok(MaterialPoints {
            parts: Arc::new(parts),
        })
    }

    fn check(&self) -> Result<(), MpmError> {
        let settings = &self.settings;
        positive("grid", "spacing", settings.spacing)?;
        let free_motion = &settings.free_motion;
        positive("free motion", "rel_tolerance", free_motion.rel_tolerance)?;
        settings.transfer.check()?;
        let has_cloth = self.objects.iter().any(|o| matches!(o, Spec::Cloth(_)));
        let keeps = matches!(settings.transfer, TransferScheme::AffineFlip { .. });
        within(
            "grid",
            "memory_s of affine FLIP",
            settings.transfer.memory_s(),
            !(keeps && has_cloth),
            "is for models without cloth, whose particles follow the grid; leave the transfer to APIC",
        )?;
        if let Some([low, high]) = settings.bounds {
            let least = (high - low).min();
            within(
                "bounds",
                "smallest extent",
                least,
                least > 0.0,
                "must be positive",
            )?;
        }
        let nothing = self.objects.iter().all(|o| match o {
            Spec::Solid(solid) => solid.particles.points.is_empty(),
            Spec::Cloth(_) => false,
        });
        if nothing && self.sources.is_empty() {
            return Err(MpmError::Empty(
                "a model of material points needs particles or a source".into(),
            ));
        }
        let solid = |o: &Spec| matches!(o, Spec::Solid(_));
        let cloths_first = self.objects.is_sorted_by_key(solid);
        within(
            "sinks",
            "number",
            self.sinks.len() as f64,
            self.sinks.is_empty() || cloths_first,
            "must be zero where a cloth is added after other objects, whose particles may be taken out",
        )?;
        for (name, members) in &self.grips {
            let sorted = members.is_sorted_by(|a, b| a < b);
            within(
                name,
                "order of particles",
                0.0,
                sorted,
                "must ascend without repetition",
            )?;
        }
        self.objects.iter().try_for_each(|o| match o {
            Spec::Solid(solid) => solid.check(),
            Spec::Cloth(cloth) => cloth.check(settings.spacing),
        })?;
        self.walls.iter().try_for_each(Wall::check)?;
        if settings.walls == WallForm::Mirrored {
            self.check_mirrors()?;
            within(
                "mirrored walls",
                "number",
                self.walls.len() as f64,
                self.walls.is_empty() || settings.matrix != MatrixForm::Assembled,
                "must be zero where the matrix of a step is assembled; apply it matrix-free, or let the walls hold nodes",
            )?;
        }
        self.sources
            .iter()
            .try_for_each(|e| e.check(self.objects.len()))
    }

    /// Mirrors must be planes of grid nodes.
    fn check_mirrors(&self) -> Result<(), MpmError> {
        let spacing = self.settings.spacing;
        let Some(wall) = self.walls.iter().find(|w| w.mirror(spacing).is_none()) else {
            return Ok(());
        };
        within(
            "mirrored wall",
            "distance from the origin",
            wall.p_WQ.coords.dot(&wall.normal_W),
            false,
            "must be a multiple of the spacing along x, y or z; let the walls hold nodes, or move it",
        )
        .map(|_| ())
    }
}

/// Walls that hold nodes, and walls that are mirrors.
fn divide_walls(
    walls: &[Wall],
    settings: &MpmSettings,
    all_liquid: bool,
) -> (Vec<Wall>, Vec<Mirror>) {
    let reflects = match settings.walls {
        WallForm::Automatic => all_liquid && settings.matrix != MatrixForm::Assembled,
        WallForm::Held => false,
        WallForm::Mirrored => true,
    };
    let mirror = |wall: &Wall| wall.mirror(settings.spacing).filter(|_| reflects);
    let held = walls.iter().filter(|w| mirror(w).is_none());
    (
        held.copied().collect(),
        walls.iter().filter_map(mirror).collect(),
    )
}

/// Adds the particles of a cloth: vertices, then centroids with unit normals.
fn add_cloth(
    spec: &ClothSpec,
    (number, spacing): (usize, f64),
    grips: &[(String, Vec<u32>)],
    records: &mut Records,
) -> Object {
    let first = records.particles.len() as u32;
    let object = ClothObject::new(spec, first, grips);
    let cloth = &object.cloth;
    let n = cloth.triangles().len();
    let (mut centroids, mut normals) = (vec![Vector3::zeros(); n], vec![Vector3::z(); n]);
    cloth.centroids(&spec.positions, &mut centroids);
    cloth.unit_normals(&spec.positions, &mut normals);
    let vertices = spec.positions.iter().map(|x| (*x, Matrix3::identity()));
    let centroids = centroids.iter().zip(&normals).map(|(x, normal)| {
        let mut f = Matrix3::identity();
        f.set_column(2, normal);
        (*x, f)
    });
    for (x, f) in vertices.chain(centroids) {
        records.ids.push(records.particles.len() as u32);
        records.particles.push(Particle {
            x,
            v: spec.velocity_W,
            strain: Strain {
                f,
                internal: [0.0; 2],
            },
            object: number as u32,
            ..Particle::default()
        });
    }
    let masses = cloth.vertex_masses().iter().chain(cloth.centroid_masses());
    let volumes = cloth.triangles().iter().map(|t| t.volume);
    Object {
        name: spec.name.clone(),
        material: Arc::new(Fabric),
        particle_mass: masses.copied().fold(f64::INFINITY, f64::min),
        particle_volume: volumes.fold(f64::INFINITY, f64::min),
        crossing_s: f64::INFINITY,
        radius: spec.contact_radius.unwrap_or(0.25 * spacing),
        cloth: Some(object),
    }
}
