//! A net and a blob in contact with a floor, with each other and with themselves, using only the public traits. Contacts are
//! spheres about surface vertices, found by brute force.

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::conformance::{BlobSettings, MassSpringNet, NetSettings, ParticleBlob};
use pliant_contact_sap::{
    BasisIdx, BlockFactors, BodyState, BodyStep, ConstraintSet, ContactLaw, ContactParameters,
    ContactProblem, Control, ConvexContactSolver, DeformableModel, Dissipation, Dynamics,
    FrictionLimit, Interpolation, Lagged, MaterialPoint, NEAR_RIGID_CONTACT, Newton,
    NormalPrediction, ParticipantIdx, Rows, Solution, StepInput, Surface,
};

const DT: f64 = 0.005;
const FLOOR: usize = usize::MAX;

/// One end of a contact: body and vertex.
#[derive(Clone, Copy, PartialEq)]
struct End {
    body: usize,
    vertex: u32,
}

struct Contact {
    a: End,
    /// The other end, or the floor.
    b: Option<End>,
    normal_W: Vector3<f64>,
    signed_distance: f64,
}

struct World<'a> {
    models: Vec<&'a dyn DeformableModel>,
    controls: Vec<Control>,
    steps: Vec<Box<dyn BodyStep>>,
    states: Vec<BodyState>,
    solver: Newton,
    /// Number of contacts of each pair of bodies, over all steps; the floor is one of them.
    contact_counts: Vec<((usize, usize), usize)>,
    dofs: Vec<Vec<usize>>,
    floor_impulse: Vector3<f64>,
}

impl<'a> World<'a> {
    fn new(bodies: Vec<(&'a dyn DeformableModel, BodyState, Control)>) -> Self {
        let steps = bodies
            .iter()
            .map(|(model, _, _)| model.new_step())
            .collect();
        let dofs = vec![Vec::new(); bodies.len()];
        let (mut models, mut states, mut controls) = (vec![], vec![], vec![]);
        for (model, state, control) in bodies {
            models.push(model);
            states.push(state);
            controls.push(control);
        }
        Self {
            models,
            controls,
            steps,
            states,
            solver: Newton::default(),
            contact_counts: Vec::new(),
            dofs,
            floor_impulse: Vector3::zeros(),
        }
    }

    fn surface(&self, body: usize) -> Surface {
        let mut surface = Surface::default();
        self.models[body].surface(&self.states[body], &mut surface);
        surface
    }

    /// Vertices nearer than 2 mm to the floor and to each other, those joined by an edge excepted.
    fn find_contacts(&self) -> Vec<Contact> {
        const MARGIN: f64 = 2e-3;
        let surfaces: Vec<_> = (0..self.models.len())
            .map(|body| self.surface(body))
            .collect();
        let mut spheres = Vec::new();
        for (body, surface) in surfaces.iter().enumerate() {
            for (vertex, (x, radius)) in surface.vertices.iter().zip(&surface.radii).enumerate() {
                spheres.push((
                    End {
                        body,
                        vertex: vertex as u32,
                    },
                    *x,
                    *radius,
                ));
            }
        }
        let mut contacts = Vec::new();
        for (i, &(a, x, radius)) in spheres.iter().enumerate() {
            if x.z - radius < MARGIN {
                contacts.push(Contact {
                    a,
                    b: None,
                    normal_W: Vector3::z(),
                    signed_distance: x.z - radius,
                });
            }
            for &(b, y, other) in &spheres[i + 1..] {
                let (distance, joined) = ((x - y).norm(), radius + other);
                // Particles of one blob are joined by their grid, neighbours in a net by springs.
                let own = a.body == b.body;
                if distance - joined > MARGIN
                    || (own && !folds(&surfaces[a.body], a.vertex, b.vertex))
                {
                    continue;
                }
                let normal_W = (x - y) / distance;
                contacts.push(Contact {
                    a,
                    b: Some(b),
                    normal_W,
                    signed_distance: distance - joined,
                });
            }
        }
        contacts
    }

    fn step(&mut self) {
        let gravity = Vector3::new(0.0, 0.0, -9.81);
        for (body, step) in self.steps.iter_mut().enumerate() {
            let input = StepInput {
                time_step: DT.into(),
                gravity,
                control: &self.controls[body],
            };
            step.begin(&self.states[body], &input).unwrap();
            step.linearise_start(&mut Vec::new()).unwrap();
            self.dofs[body].push(step.start_velocity().len());
        }
        let contacts = self.find_contacts();
        let mut set = ConstraintSet::default();
        let mut factors = BlockFactors::default();
        let dynamics: Vec<&dyn Dynamics> = self.steps.iter().map(|s| s.dynamics()).collect();
        factors.factor(&dynamics).unwrap();
        for contact in &contacts {
            self.add_contact(contact, &mut set, &mut factors);
            let pair = (contact.a.body, contact.b.map_or(FLOOR, |b| b.body));
            match self.contact_counts.iter_mut().find(|(p, _)| *p == pair) {
                Some((_, count)) => *count += 1,
                None => self.contact_counts.push((pair, 1)),
            }
        }
        let problem = ContactProblem {
            dynamics: &dynamics,
            constraints: &set,
        };
        let guess: Vec<f64> = self
            .steps
            .iter()
            .flat_map(|s| s.start_velocity().to_vec())
            .collect();
        let mut solution = Solution::default();
        let report = self.solver.solve(&problem, &guess, &mut solution).unwrap();
        assert!(report.is_trusted(), "{report:?}");
        for (contact, gamma) in contacts
            .iter()
            .zip(solution.contact_impulse.chunks_exact(3))
        {
            if contact.b.is_none() {
                self.floor_impulse += Vector3::from_column_slice(gamma);
            }
        }
        let mut first = 0;
        for (step, state) in self.steps.iter_mut().zip(&mut self.states) {
            let n = step.start_velocity().len();
            let _ = step
                .advance(&solution.velocity[first..first + n], state)
                .unwrap();
            first += n;
        }
    }

    fn add_contact(&self, contact: &Contact, set: &mut ConstraintSet, factors: &mut BlockFactors) {
        let ends: Vec<(End, f64)> = std::iter::once((contact.a, 1.0))
            .chain(contact.b.map(|b| (b, -1.0)))
            .collect();
        let (mut rows, mut weights, mut v_n) = (Vec::new(), Vec::new(), 0.0);
        for (end, sign) in &ends {
            let step = &self.steps[end.body];
            let mut interpolation = Interpolation::Twist;
            let basis: BasisIdx = step
                .interpolation(&MaterialPoint::on_vertex(end.vertex), &mut interpolation)
                .unwrap();
            let mut of_end = Rows::default();
            step.basis(basis, &Point3::origin(), &mut of_end);
            let Interpolation::Weights(of_interpolation) = interpolation else {
                panic!("points have weights")
            };
            let mut u = vec![0.0; of_end.n_rows()];
            of_end.apply(step.start_velocity(), &mut u);
            for (w, u) in of_interpolation.iter().zip(u.chunks_exact(3)) {
                v_n += sign * w * contact.normal_W.dot(&Vector3::from_column_slice(u));
            }
            weights.extend(of_interpolation.iter().map(|w| sign * w));
            rows.push(of_end);
        }
        let n_rows = rows.iter().map(Rows::n_rows).sum();
        let mut basis = set.basis(n_rows);
        let mut first = 0;
        for ((end, _), rows) in ends.iter().zip(&rows) {
            basis.rows(ParticipantIdx(end.body), rows, first, 1.0);
            first += rows.n_rows();
        }
        // w = ‖Φ M Φᵀ‖/3, M the inverse inertia of the basis.
        let mut m = Vec::new();
        basis.delassus(factors, &mut m);
        let mut w = nalgebra::Matrix3::zeros();
        for (i, w_i) in weights.iter().enumerate() {
            for (j, w_j) in weights.iter().enumerate() {
                w += nalgebra::Matrix3::from_fn(|a, b| m[(3 * j + b) * n_rows + 3 * i + a])
                    * (w_i * w_j);
            }
        }
        let p = ContactParameters {
            time_step: DT.into(),
            signed_distance: contact.signed_distance,
            start_velocity: v_n,
            stiffness: 1e3,
            dissipation: Dissipation::HuntCrossley(5.0),
            friction: 0.4,
            stiction_speed: 1e-3,
            inverse_inertia: w.norm() / 3.0,
            near_rigid: NEAR_RIGID_CONTACT,
        };
        let predicted = NormalPrediction {
            free: v_n,
            constrained: None,
            row_sum: p.inverse_inertia,
        };
        let n0 = p.friction_limit(FrictionLimit::LocalImplicit, &predicted);
        let law = ContactLaw::Lagged(Lagged::new(&p, contact.normal_W, n0));
        basis.stencil_contact(weights, None, Vector3::zeros(), law);
    }

    fn contacts(&self, pair: (usize, usize)) -> usize {
        self.contact_counts
            .iter()
            .find(|(p, _)| *p == pair)
            .map_or(0, |(_, count)| *count)
    }

    fn lowest(&self, body: usize) -> f64 {
        let surface = self.surface(body);
        let bottoms = surface
            .vertices
            .iter()
            .zip(&surface.radii)
            .map(|(x, r)| x.z - r);
        bottoms.fold(f64::INFINITY, f64::min)
    }
}

/// Whether two vertices of one body may contact: they belong to a net (which has edges) and are no neighbours in it.
fn folds(surface: &Surface, a: u32, b: u32) -> bool {
    let joined = |[i, j]: &[u32; 2]| [*i, *j] == [a, b] || [*i, *j] == [b, a];
    let near = (surface.vertices[a as usize] - surface.vertices[b as usize]).norm();
    !surface.edges.is_empty() && !surface.edges.iter().any(joined) && near > 1e-6
}

fn net(n: usize, radius: f64, corner_W: Point3<f64>) -> MassSpringNet {
    let settings = NetSettings {
        n,
        radius,
        corner_W,
        ..NetSettings::default()
    };
    MassSpringNet::new(settings).unwrap()
}

fn blob(corner_W: Point3<f64>) -> ParticleBlob {
    ParticleBlob::new(BlobSettings {
        n: 3,
        corner_W,
        ..BlobSettings::default()
    })
    .unwrap()
}

#[test]
fn a_blob_falls_through_changing_grids_and_rests_on_the_floor_with_its_weight() {
    let blob = blob(Point3::new(0.003, 0.004, 0.05));
    let mut state = blob.default_state();
    state.v.chunks_exact_mut(3).for_each(|v| v[0] = 0.2);
    let mut world = World::new(vec![(&blob, state, Control::default())]);
    for _ in 0..150 {
        world.step();
    }
    world.floor_impulse = Vector3::zeros();
    let steps = 50;
    for _ in 0..steps {
        world.step();
    }
    let weight = blob.particle_mass() * blob.n_particles() as f64 * 9.81;
    let carried = world.floor_impulse.z / (DT * f64::from(steps));
    assert!(
        (carried / weight - 1.0).abs() < 1e-2,
        "{carried} N of {weight} N"
    );
    assert!(world.lowest(0) > -1e-3, "{}", world.lowest(0));
    let mut counts = world.dofs[0].clone();
    counts.sort_unstable();
    counts.dedup();
    assert!(counts.len() > 2, "numbers of velocities: {counts:?}");
}

#[test]
fn a_net_catches_a_blob() {
    let net = net(6, 0.015, Point3::new(0.0, 0.0, 0.1));
    let blob = blob(Point3::new(0.065, 0.065, 0.125));
    let corners = net.holding(&[0, 5, 30, 35]);
    let mut world = World::new(vec![
        (&net, net.default_state(), corners),
        (&blob, blob.default_state(), Control::default()),
    ]);
    for _ in 0..150 {
        world.step();
    }
    assert!(world.contacts((0, 1)) > 0, "no contact between the two");
    let bottom = world.lowest(1);
    let sag = world.lowest(0);
    assert!(bottom > sag, "blob at {bottom}, net at {sag}");
}

#[test]
fn a_folding_net_is_in_contact_with_itself() {
    // Released above the floor with one half folded over, it falls upon itself.
    let net = net(7, 0.008, Point3::new(0.0, 0.0, 0.02));
    let mut state = net.default_state();
    for x in state.q.chunks_exact_mut(3) {
        let radius = 0.03;
        let angle = (x[0] - 0.09) / radius;
        if angle > 0.0 {
            // The far half is bent over the near one.
            let bent = angle.min(std::f64::consts::PI);
            let rest = (angle - bent) * radius;
            x[0] = 0.09 + radius * bent.sin() - rest;
            x[2] += radius * (1.0 - bent.cos());
        }
    }
    let mut world = World::new(vec![(&net, state, Control::default())]);
    for _ in 0..200 {
        world.step();
    }
    assert!(world.contacts((0, 0)) > 0, "no self-contact");
    assert!(world.contacts((0, FLOOR)) > 0);
    assert!(world.lowest(0) > -2e-3, "{}", world.lowest(0));
}
