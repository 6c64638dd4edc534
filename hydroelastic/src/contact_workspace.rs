//! Reused memory of contact implementations.

use std::any::Any;

/// Buffers of contact implementations, reused between calls. It holds no results.
///
/// One workspace serves all implementations, but only one thread at a time. An implementation keeps its buffers in a type
/// of its own and gets them by [`ContactWorkspace::get`].
///
/// ```
/// use pliant_hydroelastic::ContactWorkspace;
///
/// #[derive(Default)]
/// struct Buffers { candidates: Vec<u32> }
/// let mut workspace = ContactWorkspace::default();
/// workspace.get::<Buffers>().candidates.reserve(100);
/// assert!(workspace.get::<Buffers>().candidates.capacity() >= 100); // the same memory in the next call
/// ```
#[derive(Default)]
pub struct ContactWorkspace {
    buffers: Vec<Box<dyn Any + Send + Sync>>,
}

impl ContactWorkspace {
    /// The buffers of type `T`, made by `T::default()` on the first call.
    pub fn get<T: Default + Send + Sync + 'static>(&mut self) -> &mut T {
        let found = self.buffers.iter().position(|b| b.is::<T>());
        let index = found.unwrap_or_else(|| {
            self.buffers.push(Box::new(T::default()));
            self.buffers.len() - 1
        });
        self.buffers[index]
            .downcast_mut()
            .expect("the entry at this index is of type T")
    }
}
