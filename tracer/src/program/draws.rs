//! Find the instructions by which a file of code gets random numbers from the processor.

use std::path::Path;

use gimli::{BaseAddresses, EhFrame, LittleEndian, UnwindSection};
use iced_x86::{Code, Decoder, DecoderOptions, Instruction, Mnemonic};
use object::{Object, ObjectSection, SectionKind};

/// The instruction `rdrand` or `rdseed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Draw {
    /// Where it begins in the file.
    pub(crate) offset: u64,
    /// Its length in bytes.
    pub(crate) length: u64,
    /// The number of the register that it fills.
    pub(crate) register: usize,
    /// How many bytes of that.
    pub(crate) size: usize,
}

/// Those of the file at `path`; none if it cannot be read.
pub(crate) fn draws(path: &Path) -> Vec<Draw> {
    let Ok(data) = std::fs::read(path) else { return Vec::new() };
    let Ok(file) = object::File::parse(&*data) else { return Vec::new() };
    let mut draws = Vec::new();
    for section in file.sections().filter(|section| section.kind() == SectionKind::Text) {
        let (Ok(code), Some((offset, _))) = (section.data(), section.file_range()) else { continue };
        let places: Vec<u64> = candidates(code).map(|place| section.address() + place as u64).collect();
        // Few files have any.
        if places.is_empty() {
            continue;
        }
        for (start, length) in functions(&file) {
            let function = start.checked_sub(section.address()).and_then(|from| {
                let from = usize::try_from(from).ok()?;
                code.get(from..from.checked_add(usize::try_from(length).ok()?)?)
            });
            let is_near = places.iter().any(|&place| (start..start.saturating_add(length)).contains(&place));
            if let Some(function) = function.filter(|_| is_near) {
                let there = |draw: Draw| Draw { offset: draw.offset - section.address() + offset, ..draw };
                draws.extend(decode(function, start).map(there));
            }
        }
    }
    draws
}

/// Where such an instruction may be, by its last three bytes. Others may have these by chance.
fn candidates(code: &[u8]) -> impl Iterator<Item = usize> {
    let is_one = |bytes: &[u8]| bytes[..2] == [0x0f, 0xc7] && bytes[2] >= 0xf0;
    code.windows(3).enumerate().filter(move |(_, bytes)| is_one(bytes)).map(|(place, _)| place)
}

/// Where the functions of a file begin and how long they are, as far as its unwind table knows.
fn functions(file: &object::File<'_>) -> Vec<(u64, u64)> {
    let Some(section) = file.section_by_name(".eh_frame") else { return Vec::new() };
    let Ok(data) = section.data() else { return Vec::new() };
    let table = EhFrame::new(data, LittleEndian);
    let bases = BaseAddresses::default().set_eh_frame(section.address());
    let mut functions = Vec::new();
    let mut entries = table.entries(&bases);
    while let Ok(Some(entry)) = entries.next() {
        if let gimli::CieOrFde::Fde(partial) = entry
            && let Ok(entry) = partial.parse(EhFrame::cie_from_offset)
        {
            functions.push((entry.initial_address(), entry.len()));
        }
    }
    functions
}

/// The instructions of a function, with their addresses in place of offsets.
fn decode(code: &[u8], start: u64) -> impl Iterator<Item = Draw> {
    let decoder = Decoder::with_ip(64, code, start, DecoderOptions::NONE);
    decoder.into_iter().take_while(|instruction| instruction.code() != Code::INVALID).filter_map(draw)
}

fn draw(instruction: Instruction) -> Option<Draw> {
    matches!(instruction.mnemonic(), Mnemonic::Rdrand | Mnemonic::Rdseed).then(|| Draw {
        offset: instruction.ip(),
        length: instruction.len() as u64,
        register: instruction.op0_register().number(),
        size: instruction.op0_register().size(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_known_by_length_register_and_size() {
        // nop; rdrand eax; rdseed r10; rdrand dx
        let code = [0x90, 0x0f, 0xc7, 0xf0, 0x49, 0x0f, 0xc7, 0xfa, 0x66, 0x0f, 0xc7, 0xf2];
        let found: Vec<Draw> = decode(&code, 16).collect();
        let draw = |offset, length, register, size| Draw { offset, length, register, size };
        assert_eq!(found, [draw(17, 3, 0, 4), draw(20, 4, 10, 8), draw(24, 4, 2, 2)]);
        assert_eq!(candidates(&code).collect::<Vec<_>>(), [1, 5, 9]);
    }

    #[test]
    fn bytes_within_another_instruction_are_none() {
        // mov eax, 0xf0c70f90
        let code = [0xb8, 0x90, 0x0f, 0xc7, 0xf0];
        assert_eq!((candidates(&code).count(), decode(&code, 0).count()), (1, 0));
    }

    #[test]
    fn a_file_that_is_none_has_none() {
        assert_eq!(draws(Path::new("/does/not/exist")), []);
        assert_eq!(draws(Path::new("/dev/null")), []);
    }
}
