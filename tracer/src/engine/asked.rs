//! Ask what a variable holds where a program has stopped.

use super::Execution;
use super::crash::registers;
use super::crash_state::ProgramMemory;
use crate::program::variables::{ValueBounds, Variables, View};
use crate::program::{Leader, LeaderId};
use crate::run::AskedValue;
use crate::termination::Termination;

impl Execution<'_> {
    /// The value of a variable where the program has stopped at a leader, `None` if it has no place in memory there;
    /// and the end of the run. To read a large value takes time, and a program that is ended meanwhile has lost the
    /// rest of its memory: that is no value.
    pub(crate) fn ask(
        &mut self,
        variables: &Variables,
        leader: LeaderId,
        name: &str,
    ) -> (Option<AskedValue>, Termination) {
        let value = self.value(variables, leader, name);
        match self.alarm.raised().is_some() || self.tracee.location().is_none() {
            true => (None, self.ended_early()),
            false => (value, Termination::Reached),
        }
    }

    fn value(&self, variables: &Variables, leader: LeaderId, name: &str) -> Option<AskedValue> {
        let registers = registers(self.tracee)?;
        let Leader { function, image, .. } = *self.program.leader(leader);
        let memory = ProgramMemory(self.tracee);
        let bias = self.placement.bias(image);
        let view = View { function, registers: &registers, bias, memory: &memory, followed: &[] };
        let named = variables.called(view, name)?;
        let told = variables.value(&named, &memory)?.text;
        let whole = variables.text_within(&named, &memory, ValueBounds::WHOLE)?;
        Some(AskedValue { told, whole })
    }
}
