//! Find the conditional jumps of a statement, and where control goes on if the statement is left out.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Mnemonic};

use super::{LeaderId, Program};
use crate::address::FileAddress;
use crate::intervention::Change;
use crate::termination::ImagePlace;

impl Program {
    /// What leaves out a statement, and what it governs if it is a decision; `None` if it cannot be left out:
    /// because it serves the frame, or because no place follows on every way.
    pub fn omission(&self, leader: LeaderId) -> Option<Change> {
        let it = self.leader(leader);
        let next = self.leader(it.post_dominator.filter(|_| !it.kind.is_structural())?);
        Some(Change::Skip(ImagePlace { image: next.image, address: next.address }))
    }

    /// The conditional jumps in the code of a statement, in the order of addresses. Those of loops over strings and
    /// the like, which no source has written, are not among them.
    pub fn decisions(&self, leader: LeaderId) -> Vec<ImagePlace> {
        let it = self.leader(leader);
        if it.kind.is_structural() {
            return Vec::new();
        }
        let code = self.block(leader);
        let decoder = Decoder::with_ip(64, code, it.address.0, DecoderOptions::NONE);
        let is_counted = |mnemonic| {
            matches!(
                mnemonic,
                Mnemonic::Jcxz
                    | Mnemonic::Jecxz
                    | Mnemonic::Jrcxz
                    | Mnemonic::Loop
                    | Mnemonic::Loope
                    | Mnemonic::Loopne
            )
        };
        let jumps = decoder.into_iter().filter(|instruction| {
            instruction.flow_control() == FlowControl::ConditionalBranch
                && !is_counted(instruction.mnemonic())
        });
        jumps.map(|jump| ImagePlace { image: it.image, address: FileAddress(jump.ip()) }).collect()
    }

    /// The code from a leader to the next one of its function, or to the function's end.
    fn block(&self, leader: LeaderId) -> &[u8] {
        let it = self.leader(leader);
        let image = &self.images()[usize::from(it.image.0)];
        let at = image.text.partition_point(|(start, _)| *start <= it.address);
        let Some((start, text)) = at.checked_sub(1).map(|at| &image.text[at]) else { return &[] };
        let begin = (it.address.0 - start.0) as usize;
        let next = self.leaders().get(leader.0 as usize + 1).filter(|next| next.function == it.function);
        let end =
            next.map_or(text.len(), |next| (next.address.0.saturating_sub(start.0) as usize).min(text.len()));
        text.get(begin..end).unwrap_or_default()
    }
}
