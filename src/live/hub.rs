//! What the run and the connections share: frames that have come, and what the page asks for.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Start;
use super::command::{Command, Drag};
use super::pace::Pace;
use crate::runner::ParameterFault;
use crate::scene::remedy;

/// Bytes of frames that are kept for pages that come late: about a minute of forty bodies, and less of many particles.
const KEPT_BYTES: usize = 64 << 20;
/// No more frames a second by the clock than a screen shows.
const FRAME_PAUSE: Duration = Duration::from_millis(12);

/// Whether a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Running,
    Paused,
    /// Goes on to its next frame.
    Stepping,
}

/// What the thread of the run shares with the connections.
pub(super) struct Hub {
    shared: Mutex<Shared>,
    changed: Condvar,
}

struct Shared {
    page: Option<Arc<str>>,
    n_bodies: usize,
    /// Messages, the first of number `first`.
    messages: VecDeque<Arc<str>>,
    first: u64,
    bytes: usize,
    published: Option<Instant>,
    phase: Phase,
    pace: Pace,
    drag: Option<Drag>,
    /// The adjustable parameters and their values.
    parameters: BTreeMap<String, f64>,
    /// Those that shall change, the newest value of each.
    asked: BTreeMap<String, f64>,
    /// Why the last of them was not changed.
    refusal: Option<String>,
    ended: Option<String>,
    /// Grows with every change of what `status` says.
    version: u64,
    streams: usize,
}

/// What one page has not got yet.
pub(super) struct Updates {
    /// Number of the message after these.
    pub(super) next: u64,
    pub(super) messages: Vec<Arc<str>>,
    /// The status and its version, if it has changed.
    pub(super) status: Option<(u64, String)>,
    /// Nothing follows.
    pub(super) last: bool,
}

impl Hub {
    pub(super) fn new(start: Start, pace: Pace, parameters: BTreeMap<String, f64>) -> Self {
        Self {
            shared: Mutex::new(Shared {
                page: None,
                n_bodies: 0,
                messages: VecDeque::new(),
                first: 0,
                bytes: 0,
                published: None,
                phase: match start {
                    Start::Running => Phase::Running,
                    Start::Paused => Phase::Paused,
                },
                pace,
                drag: None,
                parameters,
                asked: BTreeMap::new(),
                refusal: None,
                ended: None,
                version: 1,
                streams: 0,
            }),
            changed: Condvar::new(),
        }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Shared) -> T) -> T {
        let changed = change(&mut self.shared());
        self.changed.notify_all();
        changed
    }

    /// The page is ready.
    pub(super) fn show(&self, page: String, n_bodies: usize) {
        self.change(|shared| {
            shared.page = Some(page.into());
            shared.n_bodies = n_bodies;
        });
    }

    /// The page, once the run has begun.
    pub(super) fn page(&self, patience: Duration) -> Option<Arc<str>> {
        let (shared, _) = self
            .changed
            .wait_timeout_while(self.shared(), patience, |shared| shared.page.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        shared.page.clone()
    }

    /// The frame that a stepping run has gone on to is recorded.
    pub(super) fn frame_recorded(&self) {
        let mut shared = self.shared();
        if shared.phase == Phase::Stepping {
            shared.phase = Phase::Paused;
            // The frame at which a run stops is shown, however soon it comes.
            shared.published = None;
            shared.version += 1;
            drop(shared);
            self.changed.notify_all();
        }
    }

    /// Whether a frame now would not be too soon after the last one.
    pub(super) fn wants_frame(&self) -> bool {
        let shared = self.shared();
        shared
            .published
            .is_none_or(|at| at.elapsed() >= FRAME_PAUSE)
    }

    /// Adds a frame.
    pub(super) fn publish(&self, json: &str) {
        self.change(|shared| {
            let number = shared.first + shared.messages.len() as u64;
            let message = format!("id: {number}\nevent: frame\ndata: {json}\n\n");
            shared.bytes += message.len();
            shared.messages.push_back(message.into());
            shared.published = Some(Instant::now());
            while shared.bytes > KEPT_BYTES && shared.messages.len() > 1 {
                let gone = shared.messages.pop_front().map_or(0, |gone| gone.len());
                shared.bytes -= gone;
                shared.first += 1;
            }
        });
    }

    /// The pull on a body, if there is one.
    pub(super) fn drag(&self) -> Option<Drag> {
        self.shared().drag.clone()
    }

    /// The parameters that shall change, with their values.
    pub(super) fn take_parameters(&self) -> Vec<(String, f64)> {
        std::mem::take(&mut self.shared().asked)
            .into_iter()
            .collect()
    }

    /// A parameter has been changed, or has not.
    pub(super) fn parameter_changed(
        &self,
        name: &str,
        value: f64,
        result: Result<(), ParameterFault>,
    ) {
        self.change(|shared| {
            match result {
                Ok(()) => {
                    shared.parameters.insert(name.into(), value);
                    shared.refusal = None;
                }
                Err(fault) => shared.refusal = Some(fault.to_string()),
            }
            shared.version += 1;
        });
    }

    /// The pace of the run; `None` while it is paused.
    pub(super) fn going(&self) -> Option<Pace> {
        let shared = self.shared();
        match shared.phase {
            Phase::Running => Some(shared.pace),
            Phase::Stepping => Some(Pace::Free),
            Phase::Paused => None,
        }
    }

    /// Waits for a command, at most so long.
    pub(super) fn wait_for_change(&self, patience: Duration) {
        let shared = self.shared();
        let version = shared.version;
        let _woken = self
            .changed
            .wait_timeout_while(shared, patience, |shared| shared.version == version)
            .unwrap_or_else(PoisonError::into_inner);
    }

    /// Carries out the command of a page, or says why not.
    pub(super) fn apply(&self, body: &[u8]) -> Result<(), String> {
        let n_bodies = self.shared().n_bodies;
        let command = Command::read(body, n_bodies)?;
        if let Command::Parameter { name, .. } = &command {
            self.check_parameter(name)?;
        }
        self.change(|shared| {
            match command {
                Command::Pause => shared.phase = Phase::Paused,
                Command::Resume => shared.phase = Phase::Running,
                Command::Step => shared.phase = Phase::Stepping,
                Command::Pace { rate } => shared.pace = rate.map_or(Pace::Free, Pace::AtMost),
                Command::Drag(drag) => shared.drag = Some(drag),
                Command::Release => shared.drag = None,
                Command::Parameter { name, value } => {
                    shared.asked.insert(name, value);
                }
            }
            shared.version += 1;
        });
        Ok(())
    }

    fn check_parameter(&self, name: &str) -> Result<(), String> {
        let shared = self.shared();
        let known = &shared.parameters;
        match known.contains_key(name) {
            true => Ok(()),
            false => {
                let remedy = remedy(name, known.keys().map(String::as_str));
                Err(format!("no adjustable parameter {name:?}{remedy}"))
            }
        }
    }

    /// The run has ended.
    pub(super) fn end(&self, why: &str) {
        self.change(|shared| {
            shared.ended = Some(why.to_owned());
            shared.version += 1;
        });
    }

    /// Counts a page that listens.
    pub(super) fn stream_begins(&self) {
        self.change(|shared| shared.streams += 1);
    }

    pub(super) fn stream_ends(&self) {
        self.change(|shared| {
            shared.streams -= 1;
            // The page that pulls may be the one that has gone; another that pulls says so with the next move of its pointer.
            if shared.drag.take().is_some() {
                shared.version += 1;
            }
        });
    }

    /// Waits until all pages have what there is.
    pub(super) fn wait_for_pages(&self, patience: Duration) {
        let _woken = self
            .changed
            .wait_timeout_while(self.shared(), patience, |shared| shared.streams > 0)
            .unwrap_or_else(PoisonError::into_inner);
    }

    /// What is new to a page that has the messages before `next` and the status `version`; nothing after `patience`.
    pub(super) fn updates(&self, next: u64, version: u64, patience: Duration) -> Updates {
        /// More in one piece would make a page that comes late wait for its first.
        const MESSAGES_MAX: usize = 64;
        let (shared, _) = self
            .changed
            .wait_timeout_while(self.shared(), patience, |shared| {
                shared.end() <= next && shared.version == version
            })
            .unwrap_or_else(PoisonError::into_inner);
        let from = next.clamp(shared.first, shared.end());
        let messages: Vec<Arc<str>> = shared
            .messages
            .iter()
            .skip((from - shared.first) as usize)
            .take(MESSAGES_MAX)
            .cloned()
            .collect();
        let next = from + messages.len() as u64;
        Updates {
            last: shared.ended.is_some() && next == shared.end(),
            status: (shared.version != version).then(|| (shared.version, shared.status())),
            messages,
            next,
        }
    }
}

impl Shared {
    /// Number of the message after the last.
    fn end(&self) -> u64 {
        self.first + self.messages.len() as u64
    }

    fn status(&self) -> String {
        let rate = match self.pace {
            Pace::AtMost(rate) => Some(rate),
            Pace::Free => None,
        };
        let status = serde_json::json!({
            "running": self.phase == Phase::Running && self.ended.is_none(),
            "rate": rate,
            "ended": self.ended,
            "parameters": self.parameters,
            "asked": self.asked,
            "refusal": self.refusal,
        });
        format!("event: status\ndata: {status}\n\n")
    }
}
