//! What can keep a model off the device.

/// Why a model cannot take its substeps on the device.
///
/// ```
/// use pliant_gpu::GpuError;
///
/// let error = GpuError::Unsupported { what: "the material \"jelly\"".into() };
/// assert!(error.to_string().ends_with("take the substeps on the processor")); // the remedy
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// There is no Vulkan device.
    #[error("no Vulkan adapter was found; install a driver, or take the substeps on the processor")]
    NoAdapter,
    /// There is no adapter of this name.
    #[error("there is no Vulkan adapter \"{name}\"; those of this machine are {found:?}")]
    NoSuchAdapter {
        /// The name.
        name: String,
        /// Names of those that there are.
        found: Vec<String>,
    },
    /// The device refuses what the stages need.
    #[error(
        "the adapter \"{adapter}\" cannot be used: {reason}; take the substeps on the processor"
    )]
    Adapter {
        /// Its name.
        adapter: String,
        /// Why.
        reason: String,
    },
    /// A buffer of a time step is larger than those of the adapter.
    #[error(
        "the {buffer} of a time step with {particles} particles take {bytes} bytes, the adapter \"{adapter}\" has buffers of up to {limit}, and other worlds have {others} of these; use fewer particles or worlds, or take the substeps on the processor"
    )]
    TooLarge {
        /// Its content.
        buffer: &'static str,
        /// Particles of the model.
        particles: u64,
        /// Bytes that the world needs.
        bytes: u64,
        /// Bytes that other worlds have in the same buffer.
        others: u64,
        /// The name of the adapter.
        adapter: String,
        /// The most bytes of a buffer.
        limit: u64,
    },
    /// Something of the model has no shader.
    #[error("{what} has no device version; take the substeps on the processor")]
    Unsupported {
        /// What.
        what: String,
    },
}

impl GpuError {
    pub(crate) fn unsupported(what: impl Into<String>) -> Self {
        Self::Unsupported { what: what.into() }
    }
}
