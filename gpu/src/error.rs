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
