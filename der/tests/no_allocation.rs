//! A step like the last one allocates nothing: every request of this thread is counted.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{BodyState, BodyStep, DeformableModel, StepInput};
use pliant_der::{
    Centreline, End, EndCondition, Material, Rayleigh, Rod, RodBuilder, RodStep, Section,
};

/// The system's allocator, counting what this thread asks for.
struct Counting;

thread_local! {
    static REQUESTS: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    // A thread that is being torn down has no counter any more, and nothing to count.
    let _ = REQUESTS.try_with(|n| n.set(n.get() + 1));
}

// SAFETY: every call goes to the system's allocator as it came; the counter is a plain thread-local number.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is the one `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Requests of ten steps after five, which lay out the memory.
fn requests_of_ten_steps(rod: &Rod) -> usize {
    let control = rod.default_control();
    let input = StepInput {
        time_step: 1e-3.into(),
        gravity: Vector3::new(0.0, 0.0, -9.81),
        control: &control,
    };
    let (mut step, mut velocity) = (RodStep::new(rod), Vec::new());
    let (mut state, mut next) = (rod.default_state(), BodyState::default());
    let mut before = 0;
    for k in 0..15 {
        if k == 5 {
            before = REQUESTS.get();
        }
        step.begin(&state, &input).unwrap();
        step.linearise().unwrap();
        assert!(step.dynamics().assembled().is_some());
        step.free_velocity(&mut velocity);
        let report = step.advance(&velocity, &mut next).unwrap();
        assert!(report.warnings.is_empty());
        std::mem::swap(&mut state, &mut next);
    }
    REQUESTS.get() - before
}

#[test]
fn a_step_of_a_rod_or_a_ring_allocates_nothing() {
    let rubber = Material::isotropic(1e6, 0.5, 1000.0).unwrap();
    let straight = Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), 50);
    for (line, stiffness) in [
        (straight.clone(), 0.0),
        (straight, 1e-3),
        (Centreline::circle(0.2, 40), 0.0),
    ] {
        let ring = line.nodes.len() == 40;
        let damping = Rayleigh {
            mass: 0.1,
            stiffness,
        };
        let builder = RodBuilder::new(line)
            .section(Section::Circle { radius: 5e-3 }, rubber)
            .damping(damping);
        let builder = match ring {
            true => builder.pin(0),
            false => builder.end(End::Start, EndCondition::Clamped { tangent: None }),
        };
        let requests = requests_of_ten_steps(&builder.build().unwrap());
        assert_eq!(requests, 0, "ring: {ring}, damping: {stiffness} s");
    }
}
