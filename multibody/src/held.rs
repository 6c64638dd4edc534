//! Held degrees of freedom: locked, or moved at a prescribed velocity, and not solved for.
//!
//! The set may change from step to step. The mass matrix of the free degrees of freedom is a block of the full one; the
//! prescribed accelerations enter the bias forces.

use crate::model::{DofIdx, JointIdx, Model};

/// A partition of the degrees of freedom into free and held.
///
/// ```
/// # use nalgebra::Vector3;
/// # use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia};
/// use pliant_multibody::{HeldDofs, Root};
///
/// # let mut builder = ModelBuilder::new("flying pendulum");
/// # builder.root(Root::Floating);
/// # builder.link(LinkSpec::new("base", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # builder.link(LinkSpec::new("rod", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # builder.joint(JointSpec::new("hinge", JointKind::Continuous, "base", "rod").about(Vector3::y()));
/// # let model = builder.build()?;
/// // A floating base with one hinge: seven degrees of freedom, the hinge is the last.
/// let mut held = HeldDofs::none(&model);
/// held.hold(&model, model.joint_named("hinge")?);
/// assert_eq!((held.free().len(), held.held()), (6, &[6][..]));
/// let mut free = [0.0; 6];
/// held.gather(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &mut free);
/// assert_eq!(free[5], 5.0);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldDofs {
    pub(crate) is_held: Vec<bool>,
    free: Vec<usize>,
    held: Vec<usize>,
}

impl HeldDofs {
    /// No degree of freedom held.
    pub fn none(model: &Model) -> Self {
        Self {
            is_held: vec![false; model.n_v()],
            free: (0..model.n_v()).collect(),
            held: Vec::new(),
        }
    }

    /// The given degrees of freedom held, the others free.
    pub fn of(model: &Model, dofs: impl IntoIterator<Item = DofIdx>) -> Self {
        let mut set = Self::none(model);
        for DofIdx(k) in dofs {
            set.is_held[k] = true;
        }
        set.update_indices();
        set
    }

    /// Holds all degrees of freedom of a joint.
    pub fn hold(&mut self, model: &Model, joint: JointIdx) {
        self.is_held[model.joint(joint).dofs()].fill(true);
        self.update_indices();
    }

    /// Frees all degrees of freedom of a joint.
    pub fn release(&mut self, model: &Model, joint: JointIdx) {
        self.is_held[model.joint(joint).dofs()].fill(false);
        self.update_indices();
    }

    fn update_indices(&mut self) {
        self.free.clear();
        self.held.clear();
        for (k, &held) in self.is_held.iter().enumerate() {
            if held {
                self.held.push(k);
            } else {
                self.free.push(k);
            }
        }
    }

    /// Whether `dof` is held.
    ///
    /// # Panics
    /// If the model has no such degree of freedom.
    pub fn contains(&self, dof: DofIdx) -> bool {
        self.is_held[dof.0]
    }

    /// Indices in v of the free degrees of freedom, ascending.
    pub fn free(&self) -> &[usize] {
        &self.free
    }

    /// Indices in v of the held degrees of freedom, ascending.
    pub fn held(&self) -> &[usize] {
        &self.held
    }

    /// Copies the free entries of a full vector, in order.
    ///
    /// # Panics
    /// If the lengths do not match.
    pub fn gather(&self, full: &[f64], free: &mut [f64]) {
        assert!(full.len() == self.is_held.len() && free.len() == self.free.len());
        for (to, &k) in free.iter_mut().zip(&self.free) {
            *to = full[k];
        }
    }

    /// Writes free entries into a full vector; held ones keep their values.
    ///
    /// # Panics
    /// If the lengths do not match.
    pub fn scatter(&self, free: &[f64], full: &mut [f64]) {
        assert!(full.len() == self.is_held.len() && free.len() == self.free.len());
        for (from, &k) in free.iter().zip(&self.free) {
            full[k] = *from;
        }
    }
}
