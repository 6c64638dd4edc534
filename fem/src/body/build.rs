//! The builder of a body, and its checks.

mod quadratic;

use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_hydroelastic::mesh::{
    FilePosition, LoadReport, Location, MeshError, Severity, TetIdx, TetMesh,
};

use super::FemBody;
use crate::domain_links::DomainLinks;
use crate::element::{Element, Integration};
use crate::error::FemError;
use crate::loads::ForceField;
use crate::mass::{MassKind, SparseMass, lumped};
use crate::material::Material;
use crate::part_material::{PartMaterial, PerElement};
use crate::parts::{Anchor, AnchorCompliance, Parts, Preconditioning, Rayleigh, Rotation};
use crate::quadratic::{N_PARTS, quadratic_lumped, quadratic_mass, share_volumes};
use crate::region::{Axis, Elements, Region};
use crate::rest::{Kinematics, RestElement};
use crate::skin::Skin;
use crate::thickness::{cells_across, linear_bending_stiffness};
use quadratic::report_folds;

/// Larger bodies that deform under their weight are probably given in millimetres, m.
const USUAL_EXTENT_MAX: f64 = 20.0;
/// ρgL/E above which a body collapses under its own weight.
const WEIGHT_STRAIN_MAX: f64 = 0.5;
/// Fewer linear cells across are reported.
const CELLS_MIN: f64 = 3.0;
/// A stiffer body in bending is reported, by the ratio to the true stiffness.
const BENDING_STIFFNESS_MAX: f64 = 2.0;
/// ν above which smoothed elements without patches lock.
const UNSPLIT_RATIO_MAX: f64 = 0.4;
/// m/s², for the estimate of that strain.
const STANDARD_GRAVITY: f64 = 9.81;

/// Builder of a [`FemBody`].
///
/// ```
/// use std::sync::Arc;
///
/// use nalgebra::Vector3;
/// use pliant_constitutive::Lame;
/// use pliant_fem::{Axis, Element, FemBuilder, LinearCorotated, Region};
/// use pliant_hydroelastic::mesh::generate::tet_cuboid;
///
/// // A rubber beam of 1 × 0.1 × 0.1 m, clamped at its left end.
/// let mesh = tet_cuboid(Vector3::new(0.5, 0.05, 0.05), [20, 2, 2])?;
/// let rubber = LinearCorotated::new(Lame::from_young_poisson(1e6, 0.4)?);
/// let wall = Region::HalfSpace { point: Vector3::new(-0.5, 0.0, 0.0), normal: Vector3::x() };
/// let builder = FemBuilder::new(mesh, Arc::new(rubber), 1000.0).element(Element::Smoothed);
/// let (beam, report) = builder.fix(wall, &Axis::ALL).build()?;
/// assert!((beam.mass() - 10.0).abs() < 1e-9 && report.entries.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FemBuilder {
    mesh: TetMesh,
    /// The first is that of all elements that no other part has.
    materials: Vec<PartMaterial>,
    parts: Vec<Elements>,
    element: Element,
    damping: Rayleigh,
    rotation: Rotation,
    preconditioning: Preconditioning,
    mass_kind: MassKind,
    kinematics: Kinematics,
    X_WM: Isometry3<f64>,
    contact_radius: f64,
    fixed: Vec<(Region, Vec<Axis>)>,
    anchored: Vec<(Region, AnchorCompliance)>,
    fields: Vec<Arc<dyn ForceField>>,
}

impl FemBuilder {
    /// A body of `mesh` and `material`; `density` in kg per m³ of rest volume.
    #[must_use]
    pub fn new(mesh: TetMesh, material: Arc<dyn Material>, density: f64) -> Self {
        Self {
            mesh,
            materials: vec![PartMaterial::new(material, density)],
            parts: Vec::new(),
            element: Element::default(),
            damping: Rayleigh::default(),
            rotation: Rotation::default(),
            preconditioning: Preconditioning::default(),
            mass_kind: MassKind::default(),
            kinematics: Kinematics::default(),
            X_WM: Isometry3::identity(),
            contact_radius: 0.0, // vertices touch shapes; balls, and with them self contact, are asked for
            fixed: Vec::new(),
            anchored: Vec::new(),
            fields: Vec::new(),
        }
    }

    /// Sets the material of some elements; of overlapping parts the later one takes precedence. Materials of one body are all corotated,
    /// all linear, or all nonlinear. Elements and vertices are numbered as in the mesh of [`FemBuilder::new`].
    #[must_use]
    pub fn part(mut self, elements: Elements, material: Arc<dyn Material>, density: f64) -> Self {
        self.parts.push(elements);
        self.materials.push(PartMaterial::new(material, density));
        self
    }

    /// The element.
    #[must_use]
    pub fn element(mut self, element: Element) -> Self {
        self.element = element;
        self
    }

    /// Damping; the default is [`Rayleigh::default`].
    #[must_use]
    pub fn damping(mut self, damping: Rayleigh) -> Self {
        self.damping = damping;
        self
    }

    /// Treatment of rotation within a step.
    #[must_use]
    pub fn rotation(mut self, rotation: Rotation) -> Self {
        self.rotation = rotation;
        self
    }

    /// Whether steps offer a preconditioner.
    #[must_use]
    pub fn preconditioning(mut self, preconditioning: Preconditioning) -> Self {
        self.preconditioning = preconditioning;
        self
    }

    /// Kind of mass matrix.
    #[must_use]
    pub fn mass(mut self, mass: MassKind) -> Self {
        self.mass_kind = mass;
        self
    }

    /// Kinematic assumption.
    #[must_use]
    pub fn kinematics(mut self, kinematics: Kinematics) -> Self {
        self.kinematics = kinematics;
        self
    }

    /// Pose of the mesh's frame in the world, at rest and at the start.
    #[must_use]
    pub fn pose(mut self, X_WM: Isometry3<f64>) -> Self {
        self.X_WM = X_WM;
        self
    }

    /// Radius (m) of balls around the vertices of the boundary, which make contact with other such balls and each other.
    #[must_use]
    pub fn contact_radius(mut self, radius: f64) -> Self {
        self.contact_radius = radius;
        self
    }

    /// Fixes vertices along `axes`: these components are not part of the solve.
    #[must_use]
    pub fn fix(mut self, region: Region, axes: &[Axis]) -> Self {
        self.fixed.push((region, axes.to_vec()));
        self
    }

    /// Holds vertices at their rest positions by constraints, whose forces a step reports.
    #[must_use]
    pub fn anchor(mut self, region: Region, compliance: AnchorCompliance) -> Self {
        self.anchored.push((region, compliance));
        self
    }

    /// Adds an external force field.
    #[must_use]
    pub fn force_field(mut self, field: Arc<dyn ForceField>) -> Self {
        self.fields.push(field);
        self
    }

    /// Builds the body; the report lists suspicious input.
    ///
    /// # Errors
    /// [`FemError`] for the first invalid input.
    pub fn build(mut self) -> Result<(FemBody, LoadReport), FemError> {
        self.check_parameters()?;
        let mut report = self.suspicious_input();
        let materials = self.materials_of_elements()?;
        let quadratic = self.raise()?;
        let fixed = self.fixed_components()?;
        let anchors = self.anchors(&fixed)?;
        let rest: Vec<Vector3<f64>> = self
            .mesh
            .vertices()
            .iter()
            .map(|p| self.to_world(p))
            .collect();
        let mut elements: Vec<RestElement> = self
            .mesh
            .tets()
            .iter()
            .map(|tet| {
                let vertices = tet.map(|v| v.0);
                let corners = vertices.map(|v| rest[v as usize]);
                RestElement::new(vertices, corners, self.kinematics)
            })
            .collect();
        let mut skin = Skin::of(&self.mesh);
        skin.set_radius(self.contact_radius, &rest)?;
        self.report_locking(&elements, &rest, &mut report);
        let quadratic = match quadratic {
            Some(nodes) => Some(self.rest_quadratic(&nodes, &rest)?),
            None => None,
        };
        let integration = match (&quadratic, self.element) {
            (Some(quadratic), _) => Integration::quadratic(quadratic, &materials),
            (None, Element::Smoothed) => Integration::smoothed(&self.mesh, &elements, &materials),
            (None, _) => Integration::linear(&elements, &materials),
        };
        let mut sparse_mass = None;
        let mut materials = materials;
        if let Some(quadratic) = &quadratic {
            report_folds(quadratic, &rest, &mut report);
            share_volumes(quadratic, &mut elements);
            if self.mass_kind == MassKind::Consistent {
                sparse_mass = Some(quadratic_mass(quadratic, &materials, &rest));
            }
            materials = materials.repeated(N_PARTS);
        }
        let masses = elements.iter().enumerate();
        let element_mass: Vec<f64> = masses
            .map(|(e, element)| materials.at(e).density * element.volume)
            .collect();
        if self.mass_kind == MassKind::Consistent && sparse_mass.is_none() {
            sparse_mass = Some(SparseMass::of(rest.len(), &elements, &element_mass));
        }
        let vertex_mass = match &quadratic {
            Some(quadratic) => quadratic_lumped(quadratic, rest.len(), &element_mass),
            None => lumped(rest.len(), &elements, &element_mass),
        };
        let Integration { domains, laws } = integration;
        let mut groups_of = vec![Vec::new(); elements.len()];
        for group in 0..domains.n_groups() {
            for tet in domains.members(group) {
                groups_of[*tet as usize].push(group as u32);
            }
        }
        let parts = Parts {
            links: DomainLinks::new(rest.len(), &domains),
            domains,
            laws,
            groups_of,
            linearity: materials.at(0).material.linearity(),
            row_mass: match &sparse_mass {
                Some(mass) => mass.row_sums(),
                None => vertex_mass.clone(),
            },
            vertex_mass,
            consistent_mass: sparse_mass,
            element_mass,
            materials,
            extent: self.mesh.bounds().extent().max(),
            mesh: self.mesh,
            element: self.element,
            damping: self.damping,
            rotation: self.rotation,
            preconditioning: self.preconditioning,
            mass_kind: self.mass_kind,
            kinematics: self.kinematics,
            rest,
            elements,
            fixed,
            anchors,
            fields: self.fields,
            skin,
        };
        let parts = Arc::new(parts);
        Ok((FemBody { parts }, report))
    }

    fn to_world(&self, p: &Vector3<f64>) -> Vector3<f64> {
        (self.X_WM * nalgebra::Point3::from(*p)).coords
    }

    fn check_parameters(&self) -> Result<(), FemError> {
        let linearity = self.materials[0].material.linearity();
        for part in &self.materials {
            if !(part.density > 0.0 && part.density.is_finite()) {
                return Err(FemError::Density(part.density));
            }
            if part.material.linearity() != linearity {
                return Err(FemError::MixedLaws {
                    first: format!("{:?}", self.materials[0].material),
                    other: format!("{:?}", part.material),
                });
            }
        }
        FemError::require_at_least_zero("mass damping alpha (1/s)", self.damping.mass)?;
        FemError::require_at_least_zero("stiffness damping beta (s)", self.damping.stiffness)?;
        let pose = self.X_WM.to_matrix().sum();
        if !pose.is_finite() {
            return Err(FemError::Parameter {
                what: "pose".into(),
                value: pose,
                allowed: "must be finite",
            });
        }
        for (_, compliance) in &self.anchored {
            if let AnchorCompliance::Spring {
                stiffness,
                relaxation_time_s,
            } = compliance
            {
                FemError::require_positive("anchor stiffness (N/m)", *stiffness)?;
                FemError::require_at_least_zero("anchor relaxation time (s)", *relaxation_time_s)?;
            }
        }
        Ok(())
    }

    fn materials_of_elements(&self) -> Result<PerElement<PartMaterial>, FemError> {
        let mut of = vec![0; self.mesh.tets().len()];
        for (part, k) in self.parts.iter().zip(1_u16..) {
            for element in part.of(&self.mesh, "the part of another material")? {
                of[element as usize] = k;
            }
        }
        Ok(PerElement::new(self.materials.clone(), of))
    }

    fn fixed_components(&self) -> Result<Vec<[bool; 3]>, FemError> {
        let n = self.mesh.vertices().len();
        let in_plane = self.kinematics == Kinematics::PlaneStrain;
        let mut fixed = vec![[false, false, in_plane]; n];
        for (region, axes) in &self.fixed {
            for vertex in region.vertices(&self.mesh, "the fixed region")? {
                for axis in axes {
                    fixed[vertex as usize][axis.index()] = true;
                }
            }
        }
        if fixed.iter().all(|fixed| *fixed == [true; 3]) {
            return Err(FemError::NothingMoves(n));
        }
        Ok(fixed)
    }

    fn anchors(&self, fixed: &[[bool; 3]]) -> Result<Vec<Anchor>, FemError> {
        let mut anchors = Vec::new();
        for (region, compliance) in &self.anchored {
            for vertex in region.vertices(&self.mesh, "the anchored region")? {
                if fixed[vertex as usize] == [true; 3] {
                    return Err(FemError::FixedAndAnchored {
                        vertex,
                        position: self.mesh.vertices()[vertex as usize].into(),
                    });
                }
                anchors.push(Anchor {
                    vertex,
                    compliance: *compliance,
                });
            }
        }
        // A vertex in two regions is anchored once, with the compliance of the first.
        anchors.sort_by_key(|anchor| anchor.vertex);
        anchors.dedup_by_key(|anchor| anchor.vertex);
        Ok(anchors)
    }

    /// Reports input that is allowed but probably a mistake.
    fn suspicious_input(&self) -> LoadReport {
        let mut report = LoadReport::default();
        let mut suspicious = |text: String| {
            let location = Location::new("finite-element body", FilePosition::Whole);
            report.add(Severity::Suspicious, location, text);
        };
        let extent = self.mesh.bounds().extent().max();
        let moduli = self.materials.iter().map(|s| s.lame.youngs_modulus());
        let modulus = moduli.fold(f64::INFINITY, f64::min);
        let strain = self.materials[0].density * STANDARD_GRAVITY * extent / modulus;
        if extent > USUAL_EXTENT_MAX && strain > 1e-3 || strain > WEIGHT_STRAIN_MAX {
            suspicious(format!(
                "the body is {extent:.3} m large and E is {modulus:.1e} Pa: its own weight would compress its base by {:.0} %; if the mesh is in millimetres, load it with scale 0.001",
                100.0 * strain
            ));
        }
        if let Err(MeshError::Topology(flaw)) = self.mesh.boundary_surface() {
            suspicious(format!("the boundary is no manifold: {flaw}"));
        }
        if self.element != Element::Quadratic && !self.mesh.edge_nodes().is_empty() {
            suspicious(format!(
                "the mesh has {} nodes on edges, of ten-node tetrahedra, which only element = \"quadratic\" uses: here edges are straight",
                self.mesh.edge_nodes().len()
            ));
        }
        let pieces = self.mesh.component_count();
        if pieces > 1 {
            let sizes = (0..pieces).map(|piece| {
                let tets = 0..self.mesh.tets().len() as u32;
                let of_piece = tets.filter(|t| self.mesh.component_of(TetIdx(*t)) == piece);
                of_piece.count()
            });
            let sizes: Vec<String> = sizes.take(8).map(|n| n.to_string()).collect();
            suspicious(format!(
                "the mesh is in {pieces} separate pieces, of {} tetrahedra{}; they interact only by self-contact",
                sizes.join(", "),
                if pieces > 8 { " and so on" } else { "" }
            ));
        }
        report
    }

    /// Reports elements that will be far too stiff.
    fn report_locking(
        &self,
        elements: &[RestElement],
        rest: &[Vector3<f64>],
        report: &mut LoadReport,
    ) {
        let by_ratio = |a: &&PartMaterial, b: &&PartMaterial| {
            (a.lame.poissons_ratio()).total_cmp(&b.lame.poissons_ratio())
        };
        let Some(part) = self.materials.iter().max_by(by_ratio) else {
            return;
        };
        let nu = part.lame.poissons_ratio();
        let unsplit = self.materials.iter().find(|part| {
            part.lame.poissons_ratio() > UNSPLIT_RATIO_MAX
                && part.material.with_zero_lambda().is_none()
        });
        let text = match self.element {
            Element::Linear => {
                let cells = cells_across(&self.mesh, elements, rest);
                let stiffness = linear_bending_stiffness(&part.lame, cells);
                (cells < CELLS_MIN || stiffness > BENDING_STIFFNESS_MAX).then(|| format!(
                    "{cells:.1} cells across the thinnest part, poissons_ratio = {nu:.4}: linear tetrahedra bend about {stiffness:.1} times too stiffly here; element = \"smoothed\" bends right with two cells at any poissons_ratio"
                ))
            }
            Element::Smoothed => unsplit.map(|part| format!(
                "{:?} has no volumetric part that smoothed elements could average over patches: with poissons_ratio = {:.4} they lock",
                part.material,
                part.lame.poissons_ratio()
            )),
            Element::Quadratic => unsplit.map(|part| format!(
                "{:?} has no volumetric part that quadratic elements could average: with poissons_ratio = {:.4} they are somewhat too stiff",
                part.material,
                part.lame.poissons_ratio()
            )),
        };
        if let Some(text) = text {
            let location = Location::new("finite-element body", FilePosition::Whole);
            report.add(Severity::Suspicious, location, text);
        }
    }
}
