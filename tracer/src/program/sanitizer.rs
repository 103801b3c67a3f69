//! The sanitizers that a program was compiled with (`-fsanitize=`).

use super::elf::Elf;

/// A sanitizer: a checker that a compiler builds into a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sanitizer {
    /// Accesses outside of what was allocated, and memory that is never freed.
    Address,
    /// Memory that is never freed, and nothing else.
    Leak,
    /// Reads of memory that was not initialised.
    Memory,
    /// Accesses of several threads without order.
    Thread,
    /// Operations that the language leaves undefined.
    UndefinedBehaviour,
}

use Sanitizer::{Address, Leak, Memory, Thread, UndefinedBehaviour};

/// The signs of the sanitizers: the end of a name in a table of symbols or of libraries.
const SIGNS: [(Sanitizer, &[u8]); 5] = [
    (Address, b"__asan_init"),
    (Leak, b"__lsan_init"),
    (Memory, b"__msan_init"),
    (Thread, b"__tsan_init"),
    (UndefinedBehaviour, b"__ubsan_handle_add_overflow"),
];
/// The libraries of sanitizers, where gcc leaves nothing of them but that name.
const LIBRARIES: [(Sanitizer, &[u8]); 2] = [(Leak, b"liblsan.so"), (UndefinedBehaviour, b"libubsan.so")];

impl Sanitizer {
    pub(super) fn of(elf: &Elf<'_>) -> Vec<Sanitizer> {
        let mut found = Vec::new();
        let mut has_own_library = false;
        for name in elf.names() {
            let symbols = SIGNS.iter().filter(|(_, symbol)| name.ends_with(symbol));
            let libraries = LIBRARIES.iter().filter(|(_, library)| name.starts_with(library));
            has_own_library |= libraries.clone().any(|&(sanitizer, _)| sanitizer == UndefinedBehaviour);
            found.extend(symbols.chain(libraries).map(|&(sanitizer, _)| sanitizer));
        }
        // clang's other libraries contain that one, asked for or not.
        let is_part = |sanitizer| sanitizer == UndefinedBehaviour && !has_own_library;
        let all = SIGNS.map(|(sanitizer, _)| sanitizer).into_iter();
        let mut all: Vec<_> = all.filter(|sanitizer| found.contains(sanitizer)).collect();
        if all.len() > 1 {
            all.retain(|&sanitizer| !is_part(sanitizer));
        }
        all
    }

    /// The name that its authors use.
    pub fn name(self) -> &'static str {
        match self {
            Address => "AddressSanitizer",
            Leak => "LeakSanitizer",
            Memory => "MemorySanitizer",
            Thread => "ThreadSanitizer",
            UndefinedBehaviour => "UndefinedBehaviorSanitizer",
        }
    }

    /// Whether it looks for memory that was never freed when the program ends: with ptrace(2), which a program cannot
    /// use that is traced itself.
    pub fn looks_for_leaks(self) -> bool {
        matches!(self, Address | Leak)
    }
}
