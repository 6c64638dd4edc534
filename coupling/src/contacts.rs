//! From contact points to constraints: kinematics of each, then its parameters and law.

mod adhesion;
mod kinematics;
mod record;
mod turning;

use nalgebra::Isometry3;
use pliant_contact_sap::{BlockFactors, ConstraintSet, TimeStep};

use crate::collision::PairContact;
use crate::error::StepError;
use crate::pair_basis::Bodies;
use crate::state::State;
use crate::world::World;
use adhesion::Adhesion;
use kinematics::ContactGroups;
pub(crate) use record::ContactRecord;

/// Workspace for turning contact points into constraints.
#[derive(Debug, Default)]
pub(crate) struct ContactAssembly {
    groups: ContactGroups,
    adhesion: Adhesion,
    pub(crate) records: Vec<ContactRecord>,
}

/// What the assembly reads.
pub(crate) struct Setting<'a> {
    pub(crate) world: &'a World,
    pub(crate) state: &'a State,
    pub(crate) bodies: Bodies<'a>,
    pub(crate) poses: &'a [Isometry3<f64>],
    pub(crate) time_step: TimeStep,
}

impl ContactAssembly {
    /// Forgets the contacts of the last step.
    pub(crate) fn clear(&mut self) {
        self.records.clear();
    }

    /// Adds `contacts` to `set`.
    pub(crate) fn add(
        &mut self,
        contacts: &[PairContact],
        setting: &Setting<'_>,
        set: &mut ConstraintSet,
        factors: &mut BlockFactors,
    ) -> Result<(), StepError> {
        let model = &*setting.world.parts.contact.model;
        let groups = &mut self.groups;
        groups.sort(contacts, setting)?;
        self.adhesion.share(contacts, setting);
        let mut first = 0;
        while let Some(group) = groups.group_at(first) {
            first = group.end;
            groups.open(&group, contacts, setting, set, factors);
            for position in group.clone() {
                let contact = &contacts[groups.contact(position)];
                let Some(kinematics) = groups.kinematics(&group, position, contact, setting) else {
                    continue;
                };
                let mut record = ContactRecord::new(contact, &kinematics, setting)?;
                let bias = kinematics.surface_velocity
                    + record.remembered_bristle_rate(setting)
                    + record.approach_of_slip(&kinematics, model);
                record.contact = groups.add(set, position, bias, model.law(&record.inputs));
                let pull = (self.adhesion).law(groups.contact(position), &record.inputs.normal_W);
                record.adhesion =
                    pull.map(|law| groups.add(set, position, nalgebra::Vector3::zeros(), law));
                record.turning = groups.add_turning(set, &record, setting);
                self.records.push(record);
            }
        }
        Ok(())
    }
}
