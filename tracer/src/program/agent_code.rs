//! The agent, the code that runs inside of a traced program, unpacked from this one.

use iced_x86::{Decoder, DecoderOptions, InstructionInfoFactory};
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection, ObjectSegment, SectionKind};

use super::LoadError;

/// The agent as the build script has compiled it from `agent/inside.rs`.
const COMPILED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/agent"));

/// The agent's code, relocated.
pub(super) struct AgentCode {
    pub(super) bytes: Vec<u8>,
    /// The address of the function that handles arrivals.
    pub(super) entry: u64,
    /// Whether it changes vector registers. The compiler is asked not to, but may do as it likes.
    pub(super) uses_vectors: bool,
}

impl AgentCode {
    /// Relocates the agent for this address.
    pub(super) fn new(address: u64) -> Result<AgentCode, LoadError> {
        let damaged = |source| LoadError::Damaged { path: "stripe's own agent".into(), source };
        let file: ElfFile64<'_, Endianness> = ElfFile64::parse(COMPILED).map_err(damaged)?;
        let mut bytes = Vec::new();
        for segment in file.segments() {
            let end = (segment.address() + segment.size()) as usize;
            bytes.resize(end.max(bytes.len()), 0);
            let data = segment.data().map_err(damaged)?;
            bytes[segment.address() as usize..][..data.len()].copy_from_slice(data);
        }
        for (place, relocation) in file.dynamic_relocations().into_iter().flatten() {
            // All relocations are relative: nothing is imported.
            let value = address.wrapping_add(relocation.addend() as u64);
            bytes[place as usize..][..8].copy_from_slice(&value.to_le_bytes());
        }
        let text = file.sections().filter(|section| section.kind() == SectionKind::Text);
        let uses_vectors = text.into_iter().any(|section| uses_vectors(section.data().unwrap_or_default()));
        Ok(AgentCode { bytes, entry: address + file.entry(), uses_vectors })
    }
}

fn uses_vectors(text: &[u8]) -> bool {
    let mut info = InstructionInfoFactory::new();
    Decoder::with_ip(64, text, 0, DecoderOptions::NONE).into_iter().any(|instruction| {
        let used = info.info(&instruction).used_registers();
        used.iter().any(|used| used.register().is_vector_register())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_lies_where_it_is_told_and_leaves_the_vector_registers_alone() {
        let [low, high] = [0x10_0000, 0x7000_0000].map(|address| AgentCode::new(address).expect("an agent"));
        assert_eq!(high.entry - low.entry, 0x7000_0000 - 0x10_0000);
        assert!(low.bytes.len() < 32 << 10, "{} bytes", low.bytes.len());
        // Else it costs 32 more instructions at each arrival.
        assert!(!low.uses_vectors);
    }
}
