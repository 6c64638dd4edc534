//! Calls during a run, for a window or a program that watches it, pushes bodies and changes parameters.

use std::ops::ControlFlow;

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{MaterialPoint, Primitive, Surface};
use pliant_coupling::{BodyIdx, State};

use super::{Assembly, ParameterFault, Progress, RunInputs};
use crate::recording::{Frame, Recording};

/// A force on some points of a body during one step, besides those of the scene.
///
/// ```
/// use std::ops::ControlFlow;
/// use nalgebra::Vector3;
/// use pliant::runner::{Assembly, Progress, Push, RunHooks, RunInputs, RunOptions, run_with_hooks};
/// use pliant::scene::{Scene, SceneOptions};
/// use pliant_contact_sap::MaterialPoint;
/// use pliant_coupling::{BodyIdx, State};
///
/// # let text = r#"
/// #     schema = 1
/// #     title = "a ball"
/// #     [simulation]
/// #     smoke_s = 0.1
/// #     time_step_s = 0.01
/// #     gravity = [0, 0, 0]
/// #     [[bodies]]
/// #     name = "ball"
/// #     shape = { sphere = { radius = 0.1 } }
/// #     mass = 2
/// # "#;
/// # let scene = Scene::parse("ball.toml", text, &SceneOptions::default())?;
/// /// Pushes the first body along x by 4 N.
/// struct Pushes;
/// impl RunHooks for Pushes {
///     fn pushes(&mut self, _: &Assembly, _: &State) -> Vec<Push> {
///         let points = vec![MaterialPoint::on_frame(0, [0.0; 3].into())];
///         vec![Push { body: BodyIdx(0), points, force_W: Vector3::new(4.0, 0.0, 0.0) }]
///     }
///
///     fn step(&mut self, _: &Progress, _: &State, _: &RunInputs) -> ControlFlow<()> {
///         ControlFlow::Continue(())
///     }
/// }
/// // 2 m/s² for 0.1 s.
/// let outcome = run_with_hooks(&scene, None, &RunOptions::default(), &mut Pushes)?;
/// assert!((outcome.state.bodies[0].v[3] - 0.2).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Push {
    /// The body.
    pub body: BodyIdx,
    /// Points that share the force equally: of a frame, or vertices.
    pub points: Vec<MaterialPoint>,
    /// Their force, N, world axes.
    pub force_W: Vector3<f64>,
}

/// Calls during a run. Without pushes and changes the run has the same bits as one without hooks.
///
/// ```
/// use std::ops::ControlFlow;
/// use pliant::runner::{Progress, RunEnd, RunHooks, RunInputs, RunOptions, run_with_hooks};
/// use pliant::scene::{Scene, SceneOptions};
/// use pliant_coupling::State;
///
/// # let text = r#"
/// #     schema = 1
/// #     title = "a ball falls"
/// #     [simulation]
/// #     smoke_s = 0.1
/// #     time_step_s = 0.01
/// #     [[bodies]]
/// #     name = "ball"
/// #     shape = { sphere = { radius = 0.1 } }
/// #     pose = { position = [0, 0, 1] }
/// # "#;
/// # let scene = Scene::parse("ball.toml", text, &SceneOptions::default())?;
/// /// Ends a run when the ball is lower than 0.99 m.
/// struct Watch;
/// impl RunHooks for Watch {
///     fn step(&mut self, _: &Progress, state: &State, _: &RunInputs) -> ControlFlow<()> {
///         if state.bodies[0].q[2] < 0.99 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
///     }
/// }
/// let outcome = run_with_hooks(&scene, None, &RunOptions::default(), &mut Watch)?;
/// assert_eq!(outcome.end, RunEnd::Early);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait RunHooks {
    /// Before the first step, with the first row and frame.
    fn begin(&mut self, recording: &Recording, assembly: &Assembly) {
        let _ = (recording, assembly);
    }

    /// Parameters that shall change before the next step, with their values.
    fn parameters(&mut self) -> Vec<(String, f64)> {
        Vec::new()
    }

    /// A parameter has been changed, or has not.
    fn changed(&mut self, name: &str, value: f64, result: Result<(), ParameterFault>) {
        let _ = (name, value, result);
    }

    /// Forces during the step that begins at `state`. They end with it, and the frame after it shows them as arrows.
    fn pushes(&mut self, assembly: &Assembly, state: &State) -> Vec<Push> {
        let _ = (assembly, state);
        Vec::new()
    }

    /// A row of the table has been recorded.
    fn row(&mut self, time_s: f64, values: &[f64]) {
        let _ = (time_s, values);
    }

    /// A frame has been recorded.
    fn frame(&mut self, frame: &Frame) {
        let _ = frame;
    }

    /// A step has been taken, and recorded where that was due. `inputs` came from outside so far. `Break` ends the run here.
    fn step(&mut self, progress: &Progress, state: &State, inputs: &RunInputs) -> ControlFlow<()>;
}

/// Calls a function after each step.
pub(super) struct Watched<'a>(pub(super) &'a mut dyn FnMut(&Progress, &State) -> ControlFlow<()>);

impl RunHooks for Watched<'_> {
    fn step(&mut self, progress: &Progress, state: &State, _: &RunInputs) -> ControlFlow<()> {
        (self.0)(progress, state)
    }
}

/// Does nothing.
pub(super) struct NoHooks;

impl RunHooks for NoHooks {
    fn step(&mut self, _: &Progress, _: &State, _: &RunInputs) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Where a point of a frame or a vertex is, world frame, m; `None` for a point that the surface does not have.
pub(crate) fn place(surface: &Surface, point: &MaterialPoint) -> Option<Point3<f64>> {
    match point.primitive {
        Primitive::Frame(frame) => {
            let X_WF = surface.frames.get(frame as usize)?;
            Some(X_WF * Point3::from(point.offset))
        }
        Primitive::Vertex(vertex) => surface.vertices.get(vertex as usize).copied(),
        _ => None,
    }
}
