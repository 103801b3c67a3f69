//! The conditional jumps of a statement, and where control goes on if the statement is left out.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic};

use super::{ImageId, LeaderId, LeaderKind, Program};
use crate::address::FileAddress;

/// The largest number of instructions that are looked at between a jump and the next statement.
const MOST_INSTRUCTIONS: usize = 64;

impl Program {
    /// The leader at which control goes on if a statement is left out, and what it governs if it is a decision; `None`
    /// if it cannot be left out: because it serves the frame, or because no place follows on every way.
    pub fn behind(&self, leader: LeaderId) -> Option<LeaderId> {
        let it = self.leader(leader);
        it.post_dominator.filter(|_| !it.kind.is_structural())
    }

    /// The conditional jumps in the code of a statement, in the order of addresses. Those of loops over strings and
    /// the like, which no source has written, are not among them. In the code that sets up a frame there are only those
    /// of lines without events, which come right after it.
    pub fn decisions(&self, leader: LeaderId) -> Vec<FileAddress> {
        let it = self.leader(leader);
        if it.kind == LeaderKind::Epilogue {
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
        let is_of_source = |jump: &Instruction| {
            it.kind != LeaderKind::Entry || self.passed_statement(it.image, FileAddress(jump.ip())).is_some()
        };
        jumps.filter(is_of_source).map(|jump| FileAddress(jump.ip())).collect()
    }

    /// The statement at which control goes on after a conditional jump of an image, if it jumps or if it does not;
    /// `None` if none begins there before the next branch or call.
    pub fn destination(&self, image: ImageId, jump: FileAddress, jumps: bool) -> Option<LeaderId> {
        let text = self.text_at(image, jump)?;
        let instruction = Decoder::with_ip(64, text, jump.0, DecoderOptions::NONE).decode();
        let mut at = if jumps { instruction.near_branch_target() } else { instruction.next_ip() };
        for _ in 0..MOST_INSTRUCTIONS {
            if let Some(leader) = self.leader_at(image, FileAddress(at)) {
                return Some(leader);
            }
            let text = self.text_at(image, FileAddress(at))?;
            let instruction = Decoder::with_ip(64, text, at, DecoderOptions::NONE).decode();
            at = match instruction.flow_control() {
                FlowControl::Next => instruction.next_ip(),
                FlowControl::UnconditionalBranch => instruction.near_branch_target(),
                _ => return None,
            };
        }
        None
    }

    /// The code of an image from an address to the end of the part that holds it.
    pub(super) fn text_at(&self, image: ImageId, address: FileAddress) -> Option<&[u8]> {
        let texts = &self.images()[usize::from(image.0)].text;
        let (start, text) = &texts[texts.partition_point(|(start, _)| *start <= address).checked_sub(1)?];
        text.get((address.0 - start.0) as usize..).filter(|text| !text.is_empty())
    }

    /// The code from a leader to the next one of its function, or to the function's end.
    pub(super) fn block(&self, leader: LeaderId) -> &[u8] {
        let it = self.leader(leader);
        let Some(text) = self.text_at(it.image, it.address) else { return &[] };
        let next = self.leaders().get(leader.0 as usize + 1).filter(|next| next.function == it.function);
        let end = next.map_or(text.len(), |next| (next.address.0.saturating_sub(it.address.0)) as usize);
        &text[..end.min(text.len())]
    }
}
