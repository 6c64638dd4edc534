//! A state kept in memory, whose numbers Python reads where they are.

use std::ffi::c_int;
use std::sync::Arc;

use pliant_coupling::State as Whole;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::error::ControlError;

/// A state of a simulation, to return to.
#[pyclass(frozen, module = "pliant._pliant")]
pub(crate) struct State {
    pub(super) whole: Arc<Whole>,
    /// Names of bodies with their indices.
    names: Vec<(String, usize)>,
}

/// Numbers of a body in a state that nothing changes any more.
#[pyclass(frozen, weakref, module = "pliant._pliant")]
struct View {
    whole: Arc<Whole>,
    body: usize,
    part: Part,
}

#[derive(Clone, Copy)]
enum Part {
    Positions,
    Velocities,
}

impl View {
    fn numbers(&self) -> &[f64] {
        let body = &self.whole.bodies[self.body];
        match self.part {
            Part::Positions => &body.q,
            Part::Velocities => &body.v,
        }
    }
}

#[pymethods]
impl View {
    /// Hands out the numbers as read-only bytes. Whoever reads them holds a reference to this object, and so to the state.
    ///
    /// # Safety
    /// `view` is a buffer of the interpreter to be filled.
    unsafe fn __getbuffer__(
        slf: &Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let numbers = slf.get().numbers();
        let (start, length) = (numbers.as_ptr(), size_of_val(numbers));
        // SAFETY: the buffer is valid by the contract of this slot. It is filled as read-only and takes a reference to this object, which
        // owns the numbers and never changes them.
        let filled = unsafe {
            ffi::PyBuffer_FillInfo(
                view,
                slf.as_ptr(),
                start.cast_mut().cast(),
                length as isize,
                1,
                flags,
            )
        };
        match filled {
            0 => Ok(()),
            _ => Err(PyErr::fetch(slf.py())),
        }
    }
}

impl State {
    pub(super) fn new(whole: Whole, names: Vec<(String, usize)>) -> Self {
        Self {
            whole: Arc::new(whole),
            names,
        }
    }

    fn view<'py>(&self, py: Python<'py>, body: &str, part: Part) -> PyResult<Bound<'py, PyAny>> {
        let found = self.names.iter().find(|(name, _)| name == body);
        let Some((_, index)) = found else {
            let names: Vec<_> = self.names.iter().map(|(name, _)| &**name).collect();
            return Err(ControlError::new_err(format!(
                "no body '{body}'; there are: {}",
                names.join(", ")
            )));
        };
        let view = View {
            whole: Arc::clone(&self.whole),
            body: *index,
            part,
        };
        let numpy = py.import("numpy")?;
        numpy.call_method1("frombuffer", (Bound::new(py, view)?, "float64"))
    }
}

#[pymethods]
impl State {
    #[getter]
    fn time(&self) -> f64 {
        self.whole.time_s
    }

    fn positions<'py>(&self, py: Python<'py>, body: &str) -> PyResult<Bound<'py, PyAny>> {
        self.view(py, body, Part::Positions)
    }

    fn velocities<'py>(&self, py: Python<'py>, body: &str) -> PyResult<Bound<'py, PyAny>> {
        self.view(py, body, Part::Velocities)
    }
}
