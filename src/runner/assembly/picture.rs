//! The replay of a world.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_contact_sap::Surface;
use pliant_coupling::{
    BodyIdx, ContactForce, GeometryIdx, PatchFinder, State, StepReport, World, Wrench,
};
use pliant_multibody::LinkIdx;

use super::Directory;
use crate::recording::{
    self, Anchor, Between, Color, ContactArrow, Deformed, Frame, PatchForce, PressurePolygons,
    Visual, VisualShape,
};
use crate::runner::ParticleDetail;
use crate::runner::soft::{Motion, shown_values};
use crate::scene::Shown;

/// The drawn links and their visuals.
#[derive(Clone, Debug, Default)]
pub(crate) struct Picture {
    links: Vec<(BodyIdx, LinkIdx)>,
    names: Vec<String>,
    visuals: Vec<Visual>,
    soft: Vec<SoftLook>,
    unscaled: Vec<usize>,
}

/// How a soft body is drawn.
#[derive(Clone, Copy, Debug)]
struct SoftLook {
    /// Index of the soft body in the directory.
    soft: usize,
    shown: Shown,
    /// Maximum number of drawn points, evenly selected.
    drawn_max: usize,
}

/// A row of the recording's bodies.
#[derive(Clone, Copy)]
pub(super) struct Row(usize);

pub(super) fn color([red, green, blue, opacity]: [f64; 4]) -> Color {
    Color {
        red,
        green,
        blue,
        opacity,
    }
}

impl Picture {
    pub(super) fn add_fixed(
        &mut self,
        name: &str,
        X_WG: Isometry3<f64>,
        shape: VisualShape,
        rgba: Option<[f64; 4]>,
    ) {
        self.visuals.push(Visual {
            name: name.into(),
            anchor: Anchor::World,
            X_BG: X_WG,
            shape,
            color: rgba.map_or(Color::GROUND, color),
        });
    }

    pub(super) fn add_link(&mut self, name: &str, body: BodyIdx, link: LinkIdx) -> Row {
        self.links.push((body, link));
        self.names.push(name.into());
        Row(self.links.len() - 1)
    }

    /// The row of a link: that of its visuals, or a new one.
    pub(crate) fn row_of(&mut self, name: &str, body: BodyIdx, link: LinkIdx) -> usize {
        let known = self.links.iter().position(|known| *known == (body, link));
        known.unwrap_or_else(|| self.add_link(name, body, link).0)
    }

    pub(super) fn add_visual(
        &mut self,
        name: &str,
        row: Row,
        X_BG: Isometry3<f64>,
        shape: VisualShape,
        color: Color,
    ) {
        self.visuals.push(Visual {
            name: name.into(),
            anchor: Anchor::Body(recording::BodyIdx(row.0)),
            X_BG,
            shape,
            color,
        });
    }

    /// A soft body; its points are in the world frame.
    #[allow(
        clippy::too_many_arguments,
        reason = "what is drawn, of what, and how, gathered in one place"
    )]
    pub(super) fn add_soft(
        &mut self,
        name: &str,
        soft: usize,
        shown: Shown,
        shape: VisualShape,
        color: Color,
        shown_max: Option<f64>,
        drawn_max: usize,
    ) {
        self.soft.push(SoftLook {
            soft,
            shown,
            drawn_max,
        });
        if shown_max.is_none() {
            self.unscaled.push(self.visuals.len());
        }
        self.visuals.push(Visual {
            name: name.into(),
            anchor: Anchor::World,
            X_BG: Isometry3::identity(),
            shape,
            color,
        });
    }

    /// The visuals whose colour scale ends at their largest value.
    pub(crate) fn unscaled(&self) -> &[usize] {
        &self.unscaled
    }

    /// The link of a row of poses.
    #[cfg(feature = "cli")]
    pub(crate) fn link(&self, row: usize) -> Option<(BodyIdx, LinkIdx)> {
        self.links.get(row).copied()
    }

    /// The soft body, by its index in the directory, of the visual of that number among those that deform.
    #[cfg(feature = "cli")]
    pub(crate) fn soft(&self, number: usize) -> Option<usize> {
        self.soft.get(number).map(|look| look.soft)
    }

    /// Names of the links, in the order of the frames' poses.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// What is drawn.
    pub(crate) fn visuals(&self) -> &[Visual] {
        &self.visuals
    }

    /// The frame of `state`, with the contact forces of the step that led to it.
    pub(crate) fn frame(
        &self,
        world: &World,
        state: &State,
        report: Option<&StepReport>,
        finder: &mut PatchFinder,
        directory: &Directory,
        particles: ParticleDetail,
    ) -> Frame {
        let mut surfaces = vec![Surface::default(); world.n_bodies()];
        for (index, (surface, body)) in surfaces.iter_mut().zip(&state.bodies).enumerate() {
            world.model(BodyIdx(index)).surface(body, surface);
        }
        let pose = |(body, link): &(BodyIdx, LinkIdx)| surfaces[body.0].frames[link.0];
        let (mut contacts, mut patch_forces) = (Vec::new(), Vec::new());
        if let Some(report) = report {
            arrows(world, report, &mut contacts, &mut patch_forces);
        }
        Frame {
            time_s: state.time_s,
            X_WB: self.links.iter().map(pose).collect(),
            n_contacts: report.map(|report| report.contacts.len() as u32),
            contacts,
            patches: patches(world, state, finder),
            patch_forces,
            deformed: self
                .soft
                .iter()
                .map(|look| look.deformed(directory, state, particles))
                .collect(),
        }
    }
}

impl SoftLook {
    fn deformed(
        &self,
        directory: &Directory,
        state: &State,
        particles: ParticleDetail,
    ) -> Deformed {
        let soft = &directory.soft[self.soft];
        let state = &state.bodies[soft.body.0];
        let mut points = Vec::new();
        soft.model.points(state, &mut points);
        let motion = match soft.held.is_empty() && soft.welds.is_empty() {
            true => Motion::Free,
            false => Motion::Held,
        };
        let values = shown_values(
            &*soft.model,
            motion,
            self.shown,
            state,
            &points,
            &soft.start,
        );
        let mut drawn = Vec::new();
        soft.model.drawn(state, &mut drawn);
        // A belt has several corners at each of its nodes.
        let corners = drawn.len() / points.len().max(1);
        let values = values
            .into_iter()
            .flat_map(|value| std::iter::repeat_n(value, corners));
        let stride = points.len().div_ceil(self.drawn_max).max(1);
        let states = match particles {
            ParticleDetail::Shown => None,
            ParticleDetail::States => soft.model.particle_states(state),
        };
        Deformed {
            points: drawn.into_iter().step_by(stride).collect(),
            values: values.step_by(stride).collect(),
            states: states.map(|states| states.thinned(stride)),
        }
    }
}

fn patches(world: &World, state: &State, finder: &mut PatchFinder) -> PressurePolygons {
    let mut polygons = PressurePolygons::default();
    // Poses that are not finite have no patches; the recording rejects the frame.
    for pair in finder.find(world, state).unwrap_or(&[]) {
        for polygon in pair.patch.polygons() {
            polygons.push(
                between(pair.a, pair.b),
                pair.patch.vertices_W(polygon),
                pair.patch.pressures(polygon),
            );
        }
    }
    polygons
}

fn between(a: GeometryIdx, b: GeometryIdx) -> Between {
    Between {
        a: a.0 as u32,
        b: b.0 as u32,
    }
}

/// Forces on moving bodies, since an arrow into the floor would be hidden. A patch has one arrow: its net force at its centre
/// of pressure.
fn arrows(
    world: &World,
    report: &StepReport,
    arrows: &mut Vec<ContactArrow>,
    patches: &mut Vec<PatchForce>,
) {
    for pair in report.pairs() {
        let (a, b) = match world.geometries()[pair.a.0].mount.body() {
            Some(_) => (pair.a, pair.b),
            None => (pair.b, pair.a),
        };
        let on_what_moves = |contact: &ContactForce| match a == pair.a {
            true => (contact.p_WCa, contact.force_W),
            false => (contact.p_WCb, -contact.force_W),
        };
        let (mut total, mut weighted) = (0.0, Vector3::zeros());
        for contact in pair.contacts {
            let (p_WC, f_W) = on_what_moves(contact);
            if contact.patch.is_none() {
                if f_W.norm() > 0.0 {
                    arrows.push(ContactArrow { p_WC, f_W });
                }
                continue;
            }
            let load = contact.normal_W.dot(&contact.force_W).max(0.0);
            total += load;
            weighted += p_WC.coords * load;
        }
        if total <= 0.0 {
            continue;
        }
        let p_WC: Point3<f64> = (weighted / total).into();
        let mut net = Wrench::default();
        let of_patch = pair.contacts.iter().filter(|c| c.patch.is_some());
        for (p_WQ, f_W) in of_patch.map(on_what_moves) {
            net.add_force(f_W, &p_WQ, &p_WC);
        }
        arrows.push(ContactArrow {
            p_WC,
            f_W: net.force,
        });
        patches.push(PatchForce {
            between: between(a, b),
            area: pair.patch_area(),
            pressure_max: pair.pressure_max(),
            p_WC,
            f_W: net.force,
            m_W: net.torque,
        });
    }
}
