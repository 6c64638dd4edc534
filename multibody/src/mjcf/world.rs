//! `<worldbody>`: the tree of bodies as links and joints.

use std::collections::BTreeMap;

use nalgebra::Isometry3;
use pliant_hydroelastic::AnalyticShape;

use super::File;
use super::body::Contents;
use super::compiler::InertiaFromGeoms;
use super::defaults::Settings;
use super::geom::{ContactRule, Geom, InertiaSource};
use super::inertial;
use super::inertial_gains::SpringDamper;
use super::joints::{WrittenJoint, chain};
use super::link_shapes::add_shapes;
use super::names::{Names, used_attributes};
use super::orientation::pose;
use crate::builder::{JointSpec, LinkSpec};
use crate::error::MultibodyError;
use crate::geometry::GeometryDescription;
use crate::inertia::SpatialInertia;
use crate::joint::JointKind;
use crate::markup::{Element, Place, Remarks};

/// Name of the root link: the file's name for its world.
pub(super) const WORLD: &str = "world";
/// Name of the link with the shapes that are fixed in the world.
pub(super) const WORLD_SHAPES: &str = "worldbody";

/// A link, and where it comes from.
pub(super) struct TreeLink {
    pub(super) spec: LinkSpec,
    place: Place,
    /// Its pose in the world of the file, at the positions that the file shows; of links with a name in the file only.
    pub(super) X_WL: Isometry3<f64>,
    /// Contact rules of its collision shapes.
    pub(super) rules: Vec<ContactRule>,
    /// Index of the first link of the rigid body that it is part of.
    pub(super) rigid: usize,
    /// Index of the link that carries the first link of its rigid body, massless links left out.
    pub(super) carrier: usize,
}

/// A joint, and where it comes from.
pub(super) struct TreeJoint {
    pub(super) spec: JointSpec,
    place: Place,
}

/// A named frame.
pub(super) struct TreeFrame {
    pub(super) name: String,
    pub(super) link: String,
    pub(super) X_LF: Isometry3<f64>,
}

/// The bodies of a file.
pub(super) struct Tree {
    pub(super) links: Vec<TreeLink>,
    pub(super) joints: Vec<TreeJoint>,
    pub(super) frames: Vec<TreeFrame>,
    /// Springs and dampers of joints that depend on the inertia.
    pub(super) spring_dampers: Vec<SpringDamper>,
    link_names: Names,
    joint_names: Names,
}

/// A body that is still to be read.
struct Pending<'a> {
    element: &'a Element,
    /// Index of the parent link.
    parent: usize,
    /// Pose of the `<frame>` that it is in.
    X_PF: Isometry3<f64>,
    childclass: Option<&'a str>,
}

impl Tree {
    pub(super) fn read(file: &File<'_>, remarks: &mut Remarks) -> Result<Self, MultibodyError> {
        let mut tree = Self {
            links: Vec::new(),
            joints: Vec::new(),
            frames: Vec::new(),
            spring_dampers: Vec::new(),
            link_names: Names::default(),
            joint_names: Names::default(),
        };
        let worlds = file.root.children.iter().filter(|e| e.tag == "worldbody");
        let worlds: Vec<&Element> = worlds.collect();
        let first = worlds.first().copied().unwrap_or(file.root);
        tree.link_names.take(WORLD);
        tree.link_names.take(WORLD_SHAPES);
        worlds.iter().for_each(|world| tree.take_names(world));
        let root = LinkSpec::new(WORLD, SpatialInertia::zero());
        tree.add_link(root, &first.place, Vec::new(), 0);

        let mut pending = Vec::new();
        let mut shapes = Vec::new();
        for world in &worlds {
            remarks.only_attributes(world, &[]);
            let contents = Contents::read(file, world, WORLD, None, remarks)?;
            if let Some((place, _)) = contents.joints.first() {
                return Err(place.error("<worldbody>", "the world has no joints"));
            }
            let sites = contents.sites.into_iter();
            tree.frames.extend(sites.map(|(name, X_LF)| TreeFrame {
                name,
                link: WORLD.to_owned(),
                X_LF,
            }));
            shapes.extend(contents.geoms);
            pending.extend(
                contents
                    .bodies
                    .into_iter()
                    .map(|body| Pending::new(body, 0)),
            );
        }
        if !shapes.is_empty() {
            tree.add_world_shapes(shapes, &first.place);
        }
        // Depth first, children in the order of the file.
        pending.reverse();
        while let Some(next) = pending.pop() {
            let inner = tree.body(file, &next, remarks)?;
            pending.extend(inner.into_iter().rev());
        }
        if let Some(total) = file.compiler.total_mass {
            tree.scale_to(total);
        }
        Ok(tree)
    }

    /// Takes the names of all bodies and joints, so that names made for others differ from them.
    fn take_names(&mut self, element: &Element) {
        for child in &element.children {
            if let Some(name) = child.attribute("name").map(str::trim) {
                match &*child.tag {
                    "body" => self.link_names.take(name),
                    "joint" | "freejoint" => self.joint_names.take(name),
                    _ => {}
                }
            }
            self.take_names(child);
        }
    }

    fn add_link(
        &mut self,
        spec: LinkSpec,
        place: &Place,
        rules: Vec<ContactRule>,
        carrier: usize,
    ) -> usize {
        let index = self.links.len();
        self.links.push(TreeLink {
            spec,
            place: place.clone(),
            X_WL: Isometry3::identity(),
            rules,
            rigid: index,
            carrier,
        });
        index
    }

    /// The shapes fixed in the world have a link of their own: links that move on the world touch them.
    fn add_world_shapes(&mut self, shapes: Vec<Geom>, place: &Place) {
        let mut link = LinkSpec::new(WORLD_SHAPES, SpatialInertia::zero());
        let rules = add_shapes(&mut link, shapes);
        let index = self.add_link(link, place, rules, 0);
        self.links[index].rigid = 0;
        let name = self.joint_names.free("worldbody_weld");
        self.joints.push(TreeJoint {
            spec: JointSpec::new(name, JointKind::Fixed, WORLD, WORLD_SHAPES),
            place: place.clone(),
        });
    }

    /// Adds a body, and returns the bodies in it.
    fn body<'a>(
        &mut self,
        file: &File<'a>,
        next: &Pending<'a>,
        remarks: &mut Remarks,
    ) -> Result<Vec<Pending<'a>>, MultibodyError> {
        let element = next.element;
        let name = match element.attribute("name").map(str::trim) {
            Some(name) if !name.is_empty() => name.to_owned(),
            _ => self.link_names.free("body"),
        };
        let subject = format!("body \"{name}\"");
        let childclass = element.attribute("childclass").or(next.childclass);
        if let Some(class) = childclass {
            file.defaults.check(class, element)?;
        }
        report_body(element, &subject, remarks);
        let compensation = element.numbers("gravcomp", 1, &subject)?;
        let X_FB = pose(&Settings::alone(element), file.compiler, &subject)?;
        let X_PB = next.X_PF * X_FB;
        let contents = Contents::read(file, element, &name, childclass, remarks)?;
        let inertia = inertia(file, &contents);

        let named = self.name_joints(contents.joints, &name);
        let is_free = named.iter().any(|(_, j, _)| j.kind == JointKind::Floating);
        if is_free && (named.len() > 1 || next.parent != 0) {
            let text =
                "a free joint must be the only joint of a body that is directly in the world";
            return Err(element.error(&subject, text));
        }
        let moves = !named.is_empty();
        let X_WL = self.links[next.parent].X_WL * X_PB;
        let index = self.add_chain(named, &X_PB, next.parent, &name, element);
        self.links[index].X_WL = X_WL;
        let mut link = LinkSpec::new(&*name, inertia);
        link.gravity_compensation = compensation.and_then(|n| n.first().copied()).unwrap_or(0.0);
        let is_fixed = self.links[next.parent].rigid == 0 && !moves;
        let mut geoms = contents.geoms.iter();
        if !is_fixed && geoms.any(Geom::is_ground) {
            let text = "has a plane or a height field, but moves; these are for the world and for bodies fixed in it";
            return Err(element.error(&subject, text));
        }
        let rules = add_shapes(&mut link, contents.geoms);
        self.links[index].spec = link;
        self.links[index].rules = rules;
        if !moves {
            self.links[index].rigid = self.links[next.parent].rigid;
        }
        for (site, X_LF) in contents.sites {
            self.frames.push(TreeFrame {
                name: site,
                link: name.clone(),
                X_LF,
            });
        }
        let inner = contents.bodies.into_iter();
        Ok(inner.map(|body| Pending::new(body, index)).collect())
    }

    /// Gives the joints of a body names.
    fn name_joints(
        &mut self,
        joints: Vec<(Place, WrittenJoint)>,
        body: &str,
    ) -> Vec<(String, WrittenJoint, Place)> {
        let named = |(place, joint): (Place, WrittenJoint)| {
            let name = match &joint.name {
                Some(name) => name.clone(),
                None => self.joint_names.free(&format!("{body}_joint")),
            };
            (name, joint, place)
        };
        joints.into_iter().map(named).collect()
    }

    /// Adds the joints between `parent` and a new body, the massless links between them, and an empty link for the body.
    fn add_chain(
        &mut self,
        joints: Vec<(String, WrittenJoint, Place)>,
        X_PB: &Isometry3<f64>,
        parent: usize,
        body: &str,
        element: &Element,
    ) -> usize {
        let dampers = joints.iter().filter_map(|(name, joint, _)| {
            let [time_constant_s, damping_ratio] = joint.spring_damper?;
            Some(SpringDamper {
                joint: name.clone(),
                time_constant_s,
                damping_ratio,
            })
        });
        self.spring_dampers.extend(dampers);
        let places: Vec<Place> = joints.iter().map(|(_, _, place)| place.clone()).collect();
        let joints: Vec<(String, WrittenJoint)> =
            joints.into_iter().map(|(n, j, _)| (n, j)).collect();
        let parent_name = self.links[parent].spec.name.clone();
        let (link_names, joint_names) = (&mut self.link_names, &mut self.joint_names);
        let chain = chain(
            &joints,
            X_PB,
            &parent_name,
            body,
            |wanted| link_names.free(wanted),
            &mut || joint_names.free(&format!("{body}_weld")),
        );
        for name in &chain.links {
            let link = LinkSpec::new(&**name, SpatialInertia::zero());
            self.add_link(link, &element.place, Vec::new(), parent);
        }
        for (k, spec) in chain.joints.into_iter().enumerate() {
            let place = places.get(k).unwrap_or(&element.place).clone();
            self.joints.push(TreeJoint { spec, place });
        }
        let link = LinkSpec::new(body, SpatialInertia::zero());
        self.add_link(link, &element.place, Vec::new(), parent)
    }

    /// A name that no joint has, taken afterwards.
    pub(super) fn free_joint_name(&mut self, wanted: &str) -> String {
        self.joint_names.free(wanted)
    }

    /// The first free joint, and its place.
    pub(super) fn free_joint(&self) -> Option<(&str, &Place)> {
        let mut joints = self.joints.iter();
        let free = joints.find(|joint| joint.spec.kind == JointKind::Floating)?;
        Some((&free.spec.name, &free.place))
    }

    /// Scales all masses and inertias so that the sum of the masses is `total`.
    fn scale_to(&mut self, total: f64) {
        let sum: f64 = self.links.iter().map(|link| link.spec.inertia.mass).sum();
        if sum > 0.0 {
            for link in &mut self.links {
                link.spec.inertia.mass *= total / sum;
                link.spec.inertia.rotational *= total / sum;
            }
        }
    }

    /// Adds the line of the link or joint that an error of the builder refers to.
    pub(super) fn located(&self, error: MultibodyError, root: &Element) -> MultibodyError {
        let links = self.links.iter().map(|link| (&link.spec.name, &link.place));
        let joints = self.joints.iter().map(|j| (&j.spec.name, &j.place));
        let links: BTreeMap<&String, &Place> = links.collect();
        let joints: BTreeMap<&String, &Place> = joints.collect();
        error.located_by(
            |link| links.get(link).map(|place| (*place).clone()),
            |joint| joints.get(joint).map(|place| (*place).clone()),
            &root.place,
        )
    }

    /// Reports unphysical inertias, which are used as written.
    pub(super) fn check_inertias(&self, remarks: &mut Remarks) {
        for link in &self.links {
            for flaw in link.spec.inertia.flaws(None) {
                let text = format!("body \"{}\": {flaw}; used as written", link.spec.name);
                remarks.suspicious(&link.place, text);
            }
        }
    }
}

impl<'a> Pending<'a> {
    fn new(
        (element, X_PF, childclass): (&'a Element, Isometry3<f64>, Option<&'a str>),
        parent: usize,
    ) -> Self {
        Self {
            element,
            parent,
            X_PF,
            childclass,
        }
    }
}

/// Attributes of a body that have no effect here but change its motion in MuJoCo.
fn report_body(element: &Element, subject: &str, remarks: &mut Remarks) {
    debug_assert!(used_attributes("body").is_some());
    if element.attribute("mocap") == Some("true") {
        let text = format!("{subject}: mocap bodies stay where the file shows them");
        remarks.suspicious(&element.place, text);
    }
}

fn inertia(file: &File<'_>, contents: &Contents<'_>) -> SpatialInertia {
    let written = contents
        .inertial
        .filter(|_| file.compiler.inertia_from_geoms != InertiaFromGeoms::Always);
    let found = written.unwrap_or_else(|| match contents.source {
        InertiaSource::Geoms => {
            inertial::sum(contents.geoms.iter().map(|geom| (geom.inertia, geom.X_BG)))
        }
        InertiaSource::Element => SpatialInertia::zero(),
    });
    inertial::corrected(found, file.compiler)
}

impl Geom {
    /// Whether it is for bodies that do not move.
    fn is_ground(&self) -> bool {
        matches!(
            self.shape,
            Some(
                GeometryDescription::Analytic(AnalyticShape::HalfSpace {})
                    | GeometryDescription::HeightField { .. }
            )
        )
    }
}
