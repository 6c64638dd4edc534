//! Robots: their files, joints and actuators.

use std::sync::Arc;

use nalgebra::Isometry3;
use pliant_contact_sap::PdGains;
use pliant_coupling::{BodyIdx, Exclusion, Geometry, Mount};
use pliant_multibody::joint::write_floating_position;
use pliant_multibody::{
    DriveGains, Joint, JointIdx, JointKind, LinkIdx, Model, PackageMap, RigidTree, RobotOptions,
    Root, parse_robot,
};

use super::Draft;
use super::bodies::gravity_action;
use super::directory::{Owner, joint_in, link_in, movable_joint_in};
use super::patch::refined;
use super::{files, solids};
use crate::recording::Color;
use crate::runner::drive_conflicts::as_degrees;
use crate::scene::{ModelEntry, NamedReference, RootEntry, SceneError, SceneFault};

impl Draft<'_> {
    pub(super) fn add_robot(&mut self, entry: &ModelEntry) -> Result<(), SceneError> {
        let tree = Arc::new(self.tree(entry)?);
        let (q, v) = self.start(entry, &tree)?;
        let mut model = RigidTree::new(Arc::clone(&tree)).starting_at(&q, &v);
        self.starts.push(q);
        let actuators = self.actuators(entry, &tree)?;
        self.note_cut_efforts(entry, &tree, &actuators);
        for &(joint, gains, at) in &actuators {
            let fault = |error: pliant_multibody::MultibodyError| {
                self.scene
                    .text
                    .error(at, SceneFault::File(error.to_string()))
            };
            model = model.with_actuator(joint, gains).map_err(fault)?;
        }
        let name = &entry.name.name;
        let body = self.builder.add_body(name, Box::new(model));
        for (a, b) in tree
            .adjacent_links()
            .into_iter()
            .chain(tree.filtered_links())
        {
            self.builder
                .exclude(Exclusion::Frames((body, a.0 as u32), (body, b.0 as u32)));
        }
        self.directory.add_body(name, body, Arc::clone(&tree));
        for (joint, ..) in actuators {
            self.directory.add_actuator(body, joint);
        }
        for (reference, _) in &entry.colors {
            link_in(self.scene, &tree, reference)?;
        }
        for link in 0..tree.links().len() {
            self.add_link_shapes(entry, &tree, body, LinkIdx(link))?;
        }
        Ok(())
    }

    /// The robot with everything that is welded to it.
    fn tree(&mut self, entry: &ModelEntry) -> Result<Model, SceneError> {
        let root = match entry.root {
            RootEntry::Fixed => Root::Fixed(entry.pose),
            RootEntry::Floating => Root::Floating,
        };
        let mut tree = self.read(entry, &entry.urdf, root)?;
        for attached in &entry.attached {
            let other = self.read(entry, &attached.urdf, Root::Fixed(Isometry3::identity()))?;
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
        Ok(tree)
    }

    fn read(
        &mut self,
        entry: &ModelEntry,
        file: &NamedReference,
        root: Root,
    ) -> Result<Model, SceneError> {
        let (bytes, path) = files::open(self.scene, file)?;
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
        Ok(loaded.model)
    }

    /// Initial positions and velocities.
    fn start(
        &mut self,
        entry: &ModelEntry,
        tree: &Model,
    ) -> Result<(Vec<f64>, Vec<f64>), SceneError> {
        let mut q = tree.initial_positions();
        let mut v = vec![0.0; tree.n_v()];
        if entry.root == RootEntry::Floating {
            write_floating_position(&entry.pose, &mut q[..7]);
            v[..3].copy_from_slice(entry.angular_velocity.as_slice());
            v[3..6].copy_from_slice(entry.velocity.as_slice());
        }
        let follows = |joint: &Joint| {
            let mut couplers = tree.couplers().iter();
            couplers.any(|coupler| tree.joint(coupler.joint).name == joint.name)
        };
        let single = |joint: &&Joint| joint.kind.n_v() == 1 && !follows(joint);
        for joint in tree.joints().iter().filter(single) {
            let shown = q[joint.positions().start];
            let within = shown.clamp(joint.limits.lower, joint.limits.upper);
            if within != shown && !entry.positions.iter().any(|(m, _)| m.name == joint.name) {
                q[joint.positions().start] = within;
                self.notes.push(format!(
                    "robot {:?}: joint {:?} starts at {within}, the limit nearest to {shown}",
                    entry.name.name, joint.name
                ));
            }
        }
        for (reference, values) in &entry.positions {
            let joint = movable_joint_in(self.scene, tree, reference)?;
            let place = (entry, "positions", reference);
            self.check_count(place, joint, values, joint.kind.n_q())?;
            self.check_limits(place, joint, values)?;
            q[joint.positions()].copy_from_slice(values);
            let quat_wxyz = match joint.kind {
                JointKind::Ball => &mut q[joint.positions()],
                JointKind::Floating => &mut q[joint.positions()][3..],
                _ => continue,
            };
            let norm = quat_wxyz.iter().map(|x| x * x).sum::<f64>().sqrt();
            if (norm - 1.0).abs() > 1e-2 {
                let allowed = format!("must have a quaternion of length 1, it has {norm:.4}");
                return Err(self.out_of_range(place, values, allowed));
            }
            quat_wxyz.iter_mut().for_each(|x| *x /= norm);
        }
        for (reference, values) in &entry.velocities {
            let joint = movable_joint_in(self.scene, tree, reference)?;
            self.check_count(
                (entry, "velocities", reference),
                joint,
                values,
                joint.kind.n_v(),
            )?;
            v[joint.dofs()].copy_from_slice(values);
        }
        let is_given = |list: &[(NamedReference, Vec<f64>)], joint: &Joint| {
            list.iter()
                .any(|(reference, _)| reference.name == joint.name)
        };
        // Mimic joints start at the positions that their joint gives them.
        for coupler in tree.couplers() {
            let (joint, source) = (tree.joint(coupler.joint), tree.joint(coupler.source));
            let (to, from) = (joint.positions().start, source.positions().start);
            if !is_given(&entry.positions, joint) {
                q[to] = coupler.multiplier * q[from] + coupler.offset;
            }
            let (to, from) = (joint.dofs().start, source.dofs().start);
            if !is_given(&entry.velocities, joint) {
                v[to] = coupler.multiplier * v[from];
            }
        }
        Ok((q, v))
    }

    fn check_count(
        &self,
        place: (&ModelEntry, &str, &NamedReference),
        joint: &Joint,
        values: &[f64],
        expected: usize,
    ) -> Result<(), SceneError> {
        if values.len() == expected {
            return Ok(());
        }
        let allowed = format!("must be {expected} numbers for a {:?} joint", joint.kind);
        Err(self.out_of_range(place, values, allowed))
    }

    fn check_limits(
        &self,
        place: (&ModelEntry, &str, &NamedReference),
        joint: &Joint,
        values: &[f64],
    ) -> Result<(), SceneError> {
        // The tolerance is for limits and positions that were rounded to four digits.
        const SLACK: f64 = 1e-4;
        let limits = joint.limits;
        let is_within = |x: &f64| (limits.lower - SLACK..=limits.upper + SLACK).contains(x);
        if joint.kind.n_v() == 1 && !values.iter().all(is_within) {
            let (lower, upper) = (limits.lower, limits.upper);
            let degrees = values.iter().find_map(|x| as_degrees(joint, *x));
            let hint = degrees.map_or(String::new(), |hint| format!("; {hint}"));
            let allowed = format!("lies outside the joint's limits [{lower}, {upper}]{hint}");
            return Err(self.out_of_range(place, values, allowed));
        }
        Ok(())
    }

    fn out_of_range(
        &self,
        (entry, key, reference): (&ModelEntry, &str, &NamedReference),
        values: &[f64],
        allowed: String,
    ) -> SceneError {
        let value = match values {
            [value] => value.to_string(),
            _ => format!("{values:?}"),
        };
        let fault = SceneFault::OutOfRange {
            table: format!("[[models]] {:?}", entry.name.name),
            key: format!("{key}.{}", reference.name),
            value,
            allowed,
        };
        self.scene.text.error(reference.at, fault)
    }

    /// Joints with actuators; `*` stands for every movable joint without an entry that is not locked and no mimic joint.
    fn actuators(
        &self,
        entry: &ModelEntry,
        tree: &Model,
    ) -> Result<Vec<(JointIdx, PdGains, crate::scene::SourceLocation)>, SceneError> {
        let named = |index: JointIdx| {
            let name = &tree.joint(index).name;
            let held = entry.held.iter().any(|m| m.name == *name);
            let follows = tree.couplers().iter().any(|c| c.joint == index);
            held || follows || entry.actuators.iter().any(|(m, _)| m.name == *name)
        };
        let mut actuators = Vec::new();
        for (reference, actuator) in &entry.actuators {
            let joints: Vec<JointIdx> = if reference.name == "*" {
                let movable = |index: &JointIdx| tree.joint(*index).kind.n_v() == 1;
                let all = (0..tree.joints().len()).map(JointIdx).filter(movable);
                all.filter(|index| !named(*index)).collect()
            } else {
                vec![joint_in(self.scene, tree, reference)?.joint]
            };
            for joint in joints {
                let written = tree.joint(joint).drive.gains;
                let gain = |given: Option<f64>, key: &str, of_file: fn(&DriveGains) -> f64| {
                    given.or(written.as_ref().map(of_file)).ok_or_else(|| {
                        let fault = SceneFault::Clash {
                            what: format!("joint {:?}", tree.joint(joint).name),
                            reason: format!("has no gains in its file; give `{key}`"),
                        };
                        self.scene.text.error(reference.at, fault)
                    })
                };
                let gains = PdGains {
                    proportional: gain(actuator.proportional, "proportional", |g| g.proportional)?,
                    derivative: gain(actuator.derivative, "derivative", |g| g.derivative)?,
                    effort_limit: actuator
                        .effort_limit
                        .unwrap_or(tree.joint(joint).limits.effort),
                };
                actuators.push((joint, gains, reference.at));
            }
        }
        Ok(actuators)
    }

    /// A drive never exceeds the limit of its file.
    fn note_cut_efforts(
        &mut self,
        entry: &ModelEntry,
        tree: &Model,
        actuators: &[(JointIdx, PdGains, crate::scene::SourceLocation)],
    ) {
        for (joint, gains, _) in actuators {
            let joint = tree.joint(*joint);
            let (asked, most) = (gains.effort_limit, joint.limits.effort);
            if asked.is_finite() && asked > most {
                self.notes.push(format!(
                    "robot {:?}: joint {:?}: effort_limit = {asked} is more than the {most} of its file, which holds",
                    entry.name.name, joint.name
                ));
            }
        }
    }

    fn add_link_shapes(
        &mut self,
        entry: &ModelEntry,
        tree: &Model,
        body: BodyIdx,
        index: LinkIdx,
    ) -> Result<(), SceneError> {
        let link = tree.link(index);
        let fault = |text: String| self.scene.text.error(entry.urdf.at, SceneFault::File(text));
        let mut looks = Vec::new();
        let mut geometries = Vec::new();
        for (k, collision) in link.collisions.iter().enumerate() {
            let shape = solids::described(collision).map_err(fault)?;
            let geometry_name = format!("{}/{}#{k}", entry.name.name, link.name);
            let surface = refined(entry.surface, &collision.proximity);
            let patch = self.patch_geometry(&shape, surface, entry.urdf.at, &geometry_name)?;
            let idle = super::patch::idle(&collision.proximity, self.filled(surface));
            let notes = idle.iter().map(|text| format!("{geometry_name}: {text}"));
            self.notes.extend(notes);
            looks.push((collision.X_LG, solids::look(&shape), link.rgba));
            geometries.push(Geometry {
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
            });
        }
        let mut seen = Vec::new();
        for visual in &link.visuals {
            for (shape, rgba) in solids::drawn(&visual.geometry, &mut self.notes) {
                seen.push((visual.X_LG, shape, rgba.or(visual.rgba)));
            }
        }
        // Where no visual can be shown, the collision shapes are.
        if !seen.is_empty() {
            looks = seen;
        }
        for geometry in geometries {
            self.add_geometry(Owner::Link(body, index), geometry);
        }
        if looks.is_empty() {
            return Ok(());
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
        Ok(())
    }
}
