//! The statements that do nothing but call functions.

use iced_x86::{InstructionInfoFactory, Mnemonic, OpAccess};

use super::code::{Code, ControlFlow, Insn};

/// For each leader, given by the index of its first instruction, whether its statement calls and stores nothing
/// itself but the arguments that it pushes. What is stored below the frame for a call counts as stored: nothing
/// here tells it from a variable.
pub(super) fn only_call(code: &Code, leaders: &[usize]) -> Vec<bool> {
    let mut info = InstructionInfoFactory::new();
    let mut stores = |insn: &Insn| {
        let is_stack = insn.flow == ControlFlow::Call || insn.iced.mnemonic() == Mnemonic::Push;
        !is_stack && info.info(&insn.iced).used_memory().iter().any(|used| is_write(used.access()))
    };
    let mut ends: Vec<usize> = leaders.to_vec();
    ends.sort_unstable();
    let mut only_calls = |&start: &usize| {
        let end = ends.get(ends.partition_point(|&other| other <= start)).copied();
        let insns = &code.insns()[start..end.unwrap_or(code.insns().len())];
        insns.iter().any(|insn| insn.flow == ControlFlow::Call) && !insns.iter().any(&mut stores)
    };
    leaders.iter().map(&mut only_calls).collect()
}

fn is_write(access: OpAccess) -> bool {
    use OpAccess::{CondWrite, ReadCondWrite, ReadWrite, Write};
    matches!(access, Write | CondWrite | ReadWrite | ReadCondWrite)
}
