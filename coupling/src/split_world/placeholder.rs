//! A body without velocities, in place of one that is stepped explicitly.

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{
    Assembled, BasisIdx, BlockDiagonal, BodyError, BodyReport, BodyState, BodyStep,
    DeformableModel, Dynamics, Energy, Interpolation, MaterialPoint, Rows, StepInput, Surface,
};

/// No velocities, no surface, no mass.
pub(crate) struct Placeholder;

impl DeformableModel for Placeholder {
    fn default_state(&self) -> BodyState {
        BodyState::default()
    }

    fn new_step(&self) -> Box<dyn BodyStep> {
        Box::new(Placeholder)
    }

    fn surface(&self, _: &BodyState, out: &mut Surface) {
        out.clear();
    }

    fn energy(&self, _: &BodyState, _: &Vector3<f64>) -> Energy {
        Energy::default()
    }
}

impl BodyStep for Placeholder {
    fn begin(&mut self, _: &BodyState, _: &StepInput<'_>) -> Result<(), BodyError> {
        Ok(())
    }

    fn start_velocity(&self) -> &[f64] {
        &[]
    }

    fn linearise(&mut self, _: &[f64]) -> Result<(), BodyError> {
        Ok(())
    }

    fn dynamics(&self) -> &dyn Dynamics {
        self
    }

    fn interpolation(
        &self,
        p: &MaterialPoint,
        _: &mut Interpolation,
    ) -> Result<BasisIdx, BodyError> {
        Err(BodyError::NoSuchPoint {
            point: p.primitive,
            available: "none".into(),
        })
    }

    fn basis(&self, _: BasisIdx, _: &Point3<f64>, out: &mut Rows) {
        out.reset(0);
    }

    fn advance(&mut self, _: &[f64], next: &mut BodyState) -> Result<BodyReport, BodyError> {
        *next = BodyState::default();
        Ok(BodyReport::default())
    }
}

impl Dynamics for Placeholder {
    fn right_hand_side(&self) -> &[f64] {
        &[]
    }

    fn apply(&self, _: &[f64], _: &mut [f64]) {}

    fn diagonal_blocks(&self) -> BlockDiagonal<'_> {
        BlockDiagonal::Whole(&[])
    }

    fn assembled(&self) -> Option<Assembled<'_>> {
        Some(Assembled::Dense(&[]))
    }
}
