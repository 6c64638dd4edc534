//! Attaching one model to another: a gripper on an arm becomes part of one tree, without a constraint.

use nalgebra::Isometry3;

use super::{CouplerSpec, JointSpec, LinkSpec, LoopSpec, ModelBuilder, TendonSpec};
use crate::geometry::CollisionFilterGroup;
use crate::joint::JointKind;
use crate::model::{JointIdx, LinkFrame, Model, ShapeIdx};

impl Model {
    /// A builder with the links, joints, couplings, frames and filter groups of this model, to extend it. Its root attachment and
    /// gravity setting are those of the model.
    ///
    /// ```
    /// use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia};
    ///
    /// let cart = ModelBuilder::new("cart").link(LinkSpec::new("cart", SpatialInertia::solid_sphere(1.0, 0.1))).build()?;
    /// let mut extended = cart.to_builder();
    /// extended.link(LinkSpec::new("wheel", SpatialInertia::solid_cylinder(0.1, 0.05, 0.01)));
    /// extended.joint(JointSpec::new("axle", JointKind::Continuous, "cart", "wheel"));
    /// assert_eq!((cart.n_v(), extended.build()?.n_v()), (0, 1));
    /// # Ok::<(), pliant_multibody::MultibodyError>(())
    /// ```
    pub fn to_builder(&self) -> ModelBuilder {
        let mut builder = ModelBuilder::new(&*self.name);
        builder.root(self.root).gravity(self.gravity);
        self.add_to(&mut builder, "");
        builder
    }

    fn add_to(&self, builder: &mut ModelBuilder, prefix: &str) {
        let named = |name: &str| format!("{prefix}{name}");
        for link in &self.links {
            let mut spec = LinkSpec::new(named(&link.name), link.inertia);
            spec.collisions.clone_from(&link.collisions);
            spec.visuals.clone_from(&link.visuals);
            spec.rgba = link.rgba;
            spec.gravity_compensation = link.gravity_compensation;
            builder.link(spec);
        }
        // The floating joint of the root is added by the builder.
        for joint in &self.joints {
            let Some(parent) = joint.parent else { continue };
            let (parent, child) = (&self.links[parent.0].name, &self.links[joint.child.0].name);
            let mut spec =
                JointSpec::new(named(&joint.name), joint.kind, named(parent), named(child));
            spec.X_PJ = joint.X_PJ;
            spec.axis = joint.axis;
            spec.limits = joint.limits;
            spec.passive = joint.passive;
            spec.drive = joint.drive;
            spec.initial.clone_from(&joint.initial);
            builder.joint(spec);
        }
        for coupler in &self.couplers {
            let name = |joint: JointIdx| named(&self.joints[joint.0].name);
            builder.couplers.push(CouplerSpec {
                joint: name(coupler.joint),
                source: coupler.source.map(name),
                law: coupler.law,
                backlash: coupler.backlash,
            });
        }
        for constraint in &self.loops {
            let end = |end: &LinkFrame| (named(&self.link(end.link).name), end.X_LF);
            builder.loop_constraint(LoopSpec {
                name: named(&constraint.name),
                kind: constraint.kind,
                ends: [end(&constraint.a), end(&constraint.b)],
            });
        }
        for tendon in &self.tendons {
            let term = |(joint, c): &(JointIdx, f64)| (named(&self.joint(*joint).name), *c);
            builder.tendon(TendonSpec {
                name: named(&tendon.name),
                terms: tendon.terms.iter().map(term).collect(),
                limits: tendon.limits,
                spring: tendon.spring,
                drive: tendon.drive,
            });
        }
        let shape = |shape: ShapeIdx| (named(&self.link(shape.link).name), shape.shape);
        for pair in &self.shape_pairs {
            builder.shape_pair(pair.shapes.map(shape), pair.contact);
        }
        for only in &self.shapes_of_pairs_only {
            builder.shapes_of_pairs_only.push(shape(*only));
        }
        for frame in &self.frames {
            builder.frame(
                named(&frame.name),
                named(&self.links[frame.link.0].name),
                frame.X_LF,
            );
        }
        for group in &self.filter_groups {
            let all = |names: &[String]| names.iter().map(|n| named(n)).collect();
            builder.collision_filter_group(CollisionFilterGroup {
                name: named(&group.name),
                members: all(&group.members),
                ignored_groups: all(&group.ignored_groups),
            });
        }
    }
}

impl ModelBuilder {
    /// Welds `model` to the link `parent`, with its root at `X_PR`. All its names get the prefix `prefix`. Its root attachment
    /// and gravity setting are not used.
    ///
    /// ```
    /// use nalgebra::Isometry3;
    /// use pliant_multibody::{LinkSpec, ModelBuilder, SpatialInertia};
    ///
    /// let hand = ModelBuilder::new("hand").link(LinkSpec::new("palm", SpatialInertia::solid_sphere(0.5, 0.04))).build()?;
    /// let mut arm = ModelBuilder::new("arm");
    /// arm.link(LinkSpec::new("flange", SpatialInertia::zero()));
    /// arm.attach(&hand, "hand/", "flange", Isometry3::translation(0.0, 0.0, 0.05));
    /// assert!(arm.build()?.link_named("hand/palm").is_ok());
    /// # Ok::<(), pliant_multibody::MultibodyError>(())
    /// ```
    pub fn attach(
        &mut self,
        model: &Model,
        prefix: &str,
        parent: &str,
        X_PR: Isometry3<f64>,
    ) -> &mut Self {
        model.add_to(self, prefix);
        let root = format!("{prefix}{}", model.links[0].name);
        let mount = JointSpec::new(format!("{prefix}mount"), JointKind::Fixed, parent, root);
        self.joint(mount.at(X_PR))
    }
}
