//! State of particles besides position, for other programs; pictures do not use it.

use nalgebra::{Matrix3, Vector3};

/// The state of the particles of one visual in one frame; every list has an entry for each of its points, in their order.
///
/// ```
/// use pliant::runner::{ParticleDetail, Simulation};
/// use pliant::scene::{Scene, SceneOptions};
///
/// # let text = r#"
/// #     schema = 1
/// #     title = "a moving jelly"
/// #     simulation = { smoke_s = 1, time_step_s = 0.01 }
/// #     grid = { spacing = 0.05 }
/// #     [[material_points]]
/// #     name = "jelly"
/// #     shape = { box = { size = [0.1, 0.1, 0.1] } }
/// #     constitutive_material = { youngs_modulus = 1e5, poissons_ratio = 0.3 }
/// #     velocity = [0.5, 0, 0]
/// # "#;
/// # let scene = Scene::parse("jelly.toml", text, &SceneOptions::default())?;
/// // A jelly that moves by 0.5 m/s along x.
/// let recording = Simulation::recorded(&scene, ParticleDetail::States)?.finish()?.recording;
/// let frame = recording.frames().last().ok_or("no frame")?;
/// let states = frame.deformed[0].states.as_ref().ok_or("no states")?;
/// assert_eq!(states.ids.len(), frame.deformed[0].points.len());
/// assert!(states.velocities.iter().all(|velocity| (velocity.x - 0.5).abs() < 1e-12));
/// // It is not deformed, and its law has no plastic strain.
/// assert!(states.deformation_gradients.iter().all(|f| (f.determinant() - 1.0).abs() < 1e-12));
/// assert!(states.plastic_strains.iter().all(|strain| strain.is_nan()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParticleStates {
    /// Identifier of a particle, constant while sources and sinks add and remove others.
    pub ids: Vec<u32>,
    /// The body it belongs to, an index into the scene's bodies of particles.
    pub bodies: Vec<u32>,
    /// Velocity, world axes, m/s.
    pub velocities: Vec<Vector3<f64>>,
    /// Mass, kg.
    pub masses: Vec<f64>,
    /// Current volume, m³.
    pub volumes: Vec<f64>,
    /// Elastic deformation gradient F^E.
    pub deformation_gradients: Vec<Matrix3<f64>>,
    /// Accumulated plastic strain; NaN for laws without one.
    pub plastic_strains: Vec<f64>,
}

impl ParticleStates {
    /// Each list's name and length.
    pub(super) fn lengths(&self) -> [(&'static str, usize); 7] {
        [
            ("ids", self.ids.len()),
            ("bodies", self.bodies.len()),
            ("velocities", self.velocities.len()),
            ("masses", self.masses.len()),
            ("volumes", self.volumes.len()),
            ("deformation gradients", self.deformation_gradients.len()),
            ("plastic strains", self.plastic_strains.len()),
        ]
    }

    /// The first particle whose state is not finite; a plastic strain may be NaN.
    pub(super) fn not_finite(&self) -> Option<usize> {
        (0..self.ids.len()).find(|&i| {
            let numbers = self.velocities[i]
                .iter()
                .chain(self.deformation_gradients[i].iter())
                .chain([&self.masses[i], &self.volumes[i]]);
            numbers.into_iter().any(|x| !x.is_finite()) || self.plastic_strains[i].is_infinite()
        })
    }

    /// Every `stride`-th particle.
    pub(crate) fn thinned(&self, stride: usize) -> Self {
        fn pick<T: Copy>(of: &[T], stride: usize) -> Vec<T> {
            of.iter().copied().step_by(stride).collect()
        }
        Self {
            ids: pick(&self.ids, stride),
            bodies: pick(&self.bodies, stride),
            velocities: pick(&self.velocities, stride),
            masses: pick(&self.masses, stride),
            volumes: pick(&self.volumes, stride),
            deformation_gradients: pick(&self.deformation_gradients, stride),
            plastic_strains: pick(&self.plastic_strains, stride),
        }
    }

    pub(super) fn extend(&mut self, more: &Self) {
        self.ids.extend(&more.ids);
        self.bodies.extend(&more.bodies);
        self.velocities.extend(&more.velocities);
        self.masses.extend(&more.masses);
        self.volumes.extend(&more.volumes);
        self.deformation_gradients
            .extend(&more.deformation_gradients);
        self.plastic_strains.extend(&more.plastic_strains);
    }
}
