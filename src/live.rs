//! A window on a run while it goes on: the replay player in a browser, fed by a server on the loopback address.
//!
//! The page gets each frame as it is recorded and sends back what its user does: pause, go on, one frame, a pace, drags of bodies, and values
//! of parameters. The run never waits for a browser, except while it is paused. A run that is only watched has the bits of one without a window.

mod command;
mod drag;
mod http;
mod hub;
mod pace;
mod server;

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use pliant_coupling::State;

use crate::recording::{Frame, LivePage, Recording};
use crate::runner::{Assembly, ParameterFault, Push};
use crate::scene::Scene;
use drag::Dragged;
use hub::Hub;
use pace::Clock;
pub(crate) use pace::Pace;
use server::Server;

/// How a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// It goes on at once.
    Running,
    /// It waits for the page to go on.
    Paused,
}

/// A window that is open.
pub(crate) struct Window {
    hub: Arc<Hub>,
    server: Server,
    page: Option<LivePage>,
    clock: Clock,
    dragged: Option<Dragged>,
    time_step_s: f64,
    row_times_s: Vec<f64>,
    rows: Vec<f64>,
}

impl Window {
    /// Opens the server on a free port.
    ///
    /// # Errors
    /// Those of the operating system.
    pub(crate) fn open(start: Start, pace: Pace, scene: &Scene) -> io::Result<Self> {
        let parameters = scene.adjustable_parameters();
        let parameters =
            parameters.filter_map(|name| Some((name.to_owned(), *scene.parameters.get(name)?)));
        let hub = Arc::new(Hub::new(start, pace, parameters.collect()));
        let server = Server::start(Arc::clone(&hub))?;
        Ok(Self {
            hub,
            server,
            page: None,
            clock: Clock::default(),
            dragged: None,
            time_step_s: scene.simulation.time_step_s,
            row_times_s: Vec::new(),
            rows: Vec::new(),
        })
    }

    /// The address of the page.
    pub(crate) fn address(&self) -> &str {
        self.server.address()
    }

    /// The run begins with what `recording` has.
    pub(crate) fn begin(&mut self, recording: &Recording, assembly: &Assembly) {
        match LivePage::html(recording) {
            Ok(html) => self.hub.show(html, recording.bodies().len()),
            Err(error) => self.hub.end(&error.to_string()),
        }
        self.page = Some(LivePage::new(recording, assembly.picture.unscaled()));
    }

    /// What the pointer does to a body in the step that begins at `state`.
    pub(crate) fn pushes(&mut self, assembly: &Assembly, state: &State) -> Vec<Push> {
        let Some(drag) = self.hub.drag() else {
            self.dragged = None;
            return Vec::new();
        };
        if self.dragged.as_ref().is_none_or(|d| !d.is_of(&drag)) {
            self.dragged = Dragged::begin(&drag, assembly, state, self.time_step_s);
        }
        match &mut self.dragged {
            Some(dragged) => Vec::from_iter(dragged.push(&drag, assembly, state)),
            None => Vec::new(),
        }
    }

    /// The parameters that the page asks to change, with their values.
    pub(crate) fn parameters(&self) -> Vec<(String, f64)> {
        self.hub.take_parameters()
    }

    /// A parameter has been changed, or has not.
    pub(crate) fn changed(&self, name: &str, value: f64, result: Result<(), ParameterFault>) {
        self.hub.parameter_changed(name, value, result);
    }

    pub(crate) fn row(&mut self, time_s: f64, values: &[f64]) {
        self.row_times_s.push(time_s);
        self.rows.extend_from_slice(values);
    }

    pub(crate) fn frame(&mut self, frame: &Frame) {
        self.hub.frame_recorded();
        let Some(page) = &self.page else { return };
        if !self.hub.wants_frame() {
            return;
        }
        let message = page.frame(frame, &self.row_times_s, &self.rows);
        self.hub.publish(&message);
        self.row_times_s.clear();
        self.rows.clear();
    }

    /// Waits as the pace demands, and while the run is paused. `ended` is asked from time to time.
    pub(crate) fn wait(&mut self, state: &State, ended: &dyn Fn() -> bool) -> ControlFlow<()> {
        self.clock.wait(&self.hub, state.time_s, ended)
    }

    /// The run has ended; gives pages a moment to take the last frames.
    pub(crate) fn close(&self, why: &str) {
        self.hub.end(why);
        self.hub.wait_for_pages(Duration::from_secs(2));
    }
}
