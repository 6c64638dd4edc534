//! Robots: their files, joints and actuators.

mod actuators;
mod loops;
mod shape_pairs;
mod start;
mod turning;

use std::sync::Arc;

use nalgebra::Isometry3;
use pliant_coupling::{BodyIdx, Geometry, GeometryIdx, Mount};
use pliant_multibody::{
    GeometryDescription, JointIdx, Keyframe, LinkIdx, LoadedModel, Model, PackageMap, RigidTree,
    RobotOptions, Root, parse_robot,
};

use super::Draft;
use super::bodies::gravity_action;
use super::directory::{Owner, joint_in, link_in};
use super::patch::refined;
use super::solids;
use crate::recording::Color;
use crate::scene::{
    CompensationEntry, ModelEntry, NamedReference, RootEntry, SceneError, SceneFault,
};
use actuators::Target;

/// Whether a joint mimics another, or is held by its file.
fn follows(tree: &Model, joint: JointIdx) -> bool {
    tree.couplers().iter().any(|c| c.joint == joint)
}

impl Draft<'_> {
    /// Adds the tree of a robot with its actuators, filters of contact, contact geometry and looks.
    pub(super) fn add_robot(&mut self, entry: &ModelEntry) -> Result<(), SceneError> {
        let (tree, keyframes) = self.tree(entry)?;
        let tree = Arc::new(tree);
        self.note_idle_turning(&entry.name.name, &tree);
        let (q, v) = self.start(entry, &tree, &keyframes)?;
        let mut model = RigidTree::new(Arc::clone(&tree)).starting_at(&q, &v);
        self.starts.push(q);
        let actuators = self.actuators(entry, &tree)?;
        self.note_cut_efforts(entry, &tree, &actuators);
        for actuator in &actuators {
            let fault = |error: pliant_multibody::MultibodyError| {
                let fault = SceneFault::File(error.to_string());
                self.scene.text.error(actuator.at, fault)
            };
            let added = match actuator.target {
                Target::Joint(joint) => model.with_actuator(joint, actuator.gains),
                Target::Tendon(tendon) => model.with_tendon_actuator(tendon, actuator.gains),
            };
            model = added.map_err(fault)?;
        }
        let driven = |joint| (actuators.iter()).any(|actuator| actuator.target.is_joint(joint));
        for (reference, width) in &entry.backlash {
            let joint = joint_in(self.scene, &tree, reference)?.joint;
            if driven(joint) && !follows(&tree, joint) {
                let play = model.with_backlash(joint, *width);
                model = play.map_err(|error| {
                    let fault = SceneFault::File(error.to_string());
                    self.scene.text.error(reference.at, fault)
                })?;
            } else if !follows(&tree, joint) {
                let fault = SceneFault::Clash {
                    what: format!("backlash of joint {:?}", reference.name),
                    reason: "does nothing: the joint mimics no other and has no actuator; give the model `actuators`, or drop it".into(),
                };
                return Err(self.scene.text.error(reference.at, fault));
            }
        }
        let name = &entry.name.name;
        let body = self.builder.add_body(name, Box::new(model));
        self.directory.add_body(name, body, Arc::clone(&tree));
        for actuator in actuators {
            match actuator.target {
                Target::Joint(joint) => self.directory.add_actuator(body, joint),
                Target::Tendon(tendon) => self.directory.add_tendon_actuator(body, tendon),
            }
        }
        self.add_loops(name, &tree, body);
        for (reference, _) in &entry.colors {
            link_in(self.scene, &tree, reference)?;
        }
        let mut shapes = Vec::with_capacity(tree.links().len());
        for link in 0..tree.links().len() {
            shapes.push(self.add_link_shapes(entry, &tree, body, LinkIdx(link))?);
        }
        self.add_shape_pairs(&tree, body, &shapes);
        Ok(())
    }

    /// The robot with everything that is welded to it, and the keyframes of its file.
    fn tree(&mut self, entry: &ModelEntry) -> Result<(Model, Vec<Keyframe>), SceneError> {
        let root = match entry.root {
            RootEntry::Fixed => Root::Fixed(entry.pose),
            RootEntry::Floating => Root::Floating,
        };
        let LoadedModel {
            model: mut tree,
            keyframes,
            ..
        } = self.read(entry, &entry.file, root)?;
        for attached in &entry.attached {
            let own = Root::Fixed(Isometry3::identity());
            let other = self.read(entry, &attached.file, own)?.model;
            let fault = |text: String| {
                self.scene
                    .text
                    .error(attached.on.at, SceneFault::File(text))
            };
            let carrier = tree
                .frame_named(&attached.on.name)
                .map_err(|error| fault(error.to_string()))?;
            let link = tree.link(carrier.link).name.clone();
            let mut builder = tree.to_builder();
            let prefix = format!("{}/", attached.name.name);
            builder.attach(&other, &prefix, &link, carrier.X_LF * attached.pose);
            tree = builder.build().map_err(|error| fault(error.to_string()))?;
        }
        let named: Vec<(LinkIdx, f64, crate::scene::SourceLocation)> =
            match &entry.gravity_compensation {
                CompensationEntry::FromFile => Vec::new(),
                CompensationEntry::Whole(share) => (0..tree.links().len())
                    .map(|link| (LinkIdx(link), *share, entry.file.at))
                    .collect(),
                CompensationEntry::Links(shares) => (shares.iter())
                    .map(|(link, share)| Ok((link_in(self.scene, &tree, link)?, *share, link.at)))
                    .collect::<Result<_, SceneError>>()?,
            };
        for (link, share, at) in named {
            let set = tree.set_gravity_compensation(link, share);
            set.map_err(|error| {
                let fault = SceneFault::File(error.to_string());
                self.scene.text.error(at, fault)
            })?;
        }
        for (reference, width) in &entry.backlash {
            let joint = joint_in(self.scene, &tree, reference)?.joint;
            if follows(&tree, joint) {
                let set = tree.set_backlash(joint, *width);
                set.map_err(|error| {
                    let fault = SceneFault::File(error.to_string());
                    self.scene.text.error(reference.at, fault)
                })?;
            }
        }
        Ok((tree, keyframes))
    }

    /// Reads one robot file. Folders of packages are relative to the scene file, or else to the working directory.
    fn read(
        &mut self,
        entry: &ModelEntry,
        file: &NamedReference,
        root: Root,
    ) -> Result<LoadedModel, SceneError> {
        let (bytes, path) = self.scene.open(file)?;
        let mut packages = PackageMap::default();
        for (package, folder) in &entry.packages {
            let beside = self
                .scene
                .folder
                .as_deref()
                .map(|scene| scene.join(&folder.name));
            let root = beside
                .filter(|path| path.is_dir())
                .unwrap_or_else(|| folder.name.clone().into());
            if !root.is_dir() {
                let text = format!(
                    "package {:?}: there is no folder {:?}",
                    package.name, folder.name
                );
                return Err(self.scene.text.error(folder.at, SceneFault::File(text)));
            }
            packages.add_package(&*package.name, root);
        }
        let options = RobotOptions {
            root,
            gravity: gravity_action(entry.gravity),
            packages,
        };
        let loaded = parse_robot(&bytes, &path, &options).map_err(|error| {
            self.scene
                .text
                .error(file.at, SceneFault::File(error.to_string()))
        })?;
        let remarks = loaded.report.entries.iter();
        self.notes.extend(remarks.map(|remark| remark.to_string()));
        Ok(loaded)
    }

    /// Adds the collision shapes of a link as contact geometry, and its visual shapes as looks. Returns the geometries in the order of
    /// the collision shapes.
    fn add_link_shapes(
        &mut self,
        entry: &ModelEntry,
        tree: &Model,
        body: BodyIdx,
        index: LinkIdx,
    ) -> Result<Vec<GeometryIdx>, SceneError> {
        let link = tree.link(index);
        let fault = |text: String| self.scene.text.error(entry.file.at, SceneFault::File(text));
        let mut looks = Vec::new();
        let mut geometries = Vec::new();
        for (k, collision) in link.collisions.iter().enumerate() {
            let shape = solids::described(collision).map_err(fault)?;
            let geometry_name = format!("{}/{}#{k}", entry.name.name, link.name);
            let surface = refined(entry.surface, &collision.proximity);
            let patch = self.patch_geometry(&shape, surface, entry.file.at, &geometry_name)?;
            let surface = self.with_turning(
                surface,
                &collision.proximity,
                patch.is_some(),
                &geometry_name,
            );
            let idle = super::patch::idle(&collision.proximity, self.filled(surface));
            let notes = idle.iter().map(|text| format!("{geometry_name}: {text}"));
            self.notes.extend(notes);
            looks.push((collision.X_LG, solids::look(&shape), link.rgba));
            let geometry = Geometry {
                name: geometry_name,
                mount: Mount::Frame {
                    body,
                    frame: index.0 as u32,
                    X_FG: collision.X_LG,
                },
                shape: Some(shape),
                part: None,
                compliance: None,
                patch,
                material: self.material(surface),
                surface_velocity: nalgebra::Vector3::zeros(),
                rigid_surface: self.rigid_surface(surface),
            };
            geometries.push((surface, geometry));
        }
        let mut seen = Vec::new();
        for visual in &link.visuals {
            for (shape, rgba) in solids::drawn(&visual.geometry, &mut self.notes) {
                seen.push((visual.X_LG, shape, rgba.or(visual.rgba)));
            }
        }
        let fields = link.collisions.iter().zip(&looks).filter(|(collision, _)| {
            matches!(collision.geometry, GeometryDescription::HeightField { .. })
        });
        let fields: Vec<_> = fields.map(|(_, look)| look.clone()).collect();
        if !seen.is_empty() {
            seen.extend(fields);
        }
        // Where no visual can be shown, the collision shapes are.
        if !seen.is_empty() {
            looks = seen;
        }
        let add =
            |(surface, geometry)| self.add_geometry(Owner::Link(body, index), surface, geometry);
        let geometries = geometries.into_iter().map(add).collect();
        if looks.is_empty() {
            return Ok(geometries);
        }
        let name = format!("{}/{}", entry.name.name, link.name);
        let row = self.picture.add_link(&name, body, index);
        for (X_LG, shape, rgba) in looks {
            let mut colors = entry.colors.iter();
            let of_link = colors.find(|(of, _)| of.name == link.name);
            let color = of_link
                .map(|(_, color)| *color)
                .or(entry.color)
                .or(rgba)
                .map_or(Color::palette(1), super::picture::color);
            self.picture.add_visual(&name, row, X_LG, shape, color);
        }
        Ok(geometries)
    }
}
