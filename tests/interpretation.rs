//! Following a run by the tracer's own interpretation of instructions finds what the processor's execution finds; and each
//! instruction that is interpreted does what the processor does.

mod support;

use support::engine::{conditions, in_two_threads, invocation, load, record};
use support::tiny::tiny;
use support::{Fixture, GCC, Program, how_many};
use tracer::dependence::{Dependences, Interpretation};
use tracer::program::Granularity;
use tracer::trace::{EventId, Trace};
use tracer::{DependenceRequest, Preference, Tracer};

/// The dependences of the program's run, found in each of these ways.
fn followed(program: &Program, ways: &[Interpretation]) -> (Trace, Vec<Dependences>) {
    let loaded = load(&program.path, Granularity::Statement);
    let input = std::fs::read(&program.stdin).expect("an input");
    let start = invocation(&program.path, &program.directory, &[], input);
    let mut tracer = Tracer::new(&loaded, &start, Preference::Auto).expect("a tracer");
    let trace = record(&mut tracer, &program.path.display().to_string()).trace;
    let found = ways.iter().map(|&interpretation| {
        let (instructions, memory) = (u64::MAX, u64::MAX);
        let wanted = DependenceRequest {
            questions: &[],
            instructions,
            memory,
            asks_for_potential: true,
            interpretation,
        };
        tracer.dependences(&trace, &wanted, &conditions()).expect("followed").0
    });
    let found = found.collect();
    (trace, found)
}

fn assert_equal(trace: &Trace, one: &Dependences, other: &Dependences, name: &str) {
    for event in (0..trace.len() as u32).map(EventId) {
        assert_eq!(one.of(event), other.of(event), "{name}, {event:?}");
        assert!(one.potential(event).eq(other.potential(event)), "{name}, {event:?}");
    }
    assert_eq!((&one.stdout, &one.stderr), (&other.stdout, &other.stderr), "{name}");
    assert_eq!((one.last, one.incomplete), (other.last, other.incomplete), "{name}");
    assert_eq!(one.remarks, other.remarks, "{name}");
}

/// Both ways find the same, and the shorter one is in use.
fn assert_follows(program: &Program, name: &str) {
    let (trace, found) = followed(program, &[Interpretation::None, Interpretation::Trusted]);
    let [processor, interpreted] = &found[..] else { unreachable!() };
    assert_equal(&trace, processor, interpreted, name);
    assert_eq!(interpreted.disagreements, [""; 0], "{name}");
    assert_eq!((processor.instructions, processor.interpreted), (interpreted.instructions, 0), "{name}");
    assert!(interpreted.interpreted > 0, "{name}");
}

#[test]
fn dependences_are_the_same_whoever_executes_the_instructions() {
    let all = ["bubble_sort", "factorial", "short_circuit", "qsort_callback", "longjmp"];
    let fixtures = Fixture::all();
    let some: Vec<_> =
        fixtures.iter().filter(|one| how_many(0, 1) > 0 || all.contains(&&*one.name)).collect();
    in_two_threads(&some, |fixture| assert_follows(&fixture.build(GCC), &fixture.name));
}

/// Each of these ends by something that only the processor can find out, or goes on by it.
const ENDS: [(&str, &str); 5] = [
    (
        "read_only",
        "int main(void) {\n    char *text = \"abc\";\n    int n = 0;\n    for (int i = 0; i < 50; i++) n += i;\n    text[n & 1] = 'x';\n    return 0;\n}\n",
    ),
    (
        "stack_overflow",
        "static int deep(int n) {\n    char pad[4096];\n    pad[n & 4095] = n;\n    return deep(n + 1) + pad[0];\n}\nint main(void) {\n    return deep(0);\n}\n",
    ),
    (
        "into_data",
        "static long data[4];\nint main(void) {\n    void (*go)(void) = (void (*)(void))data;\n    for (int i = 0; i < 50; i++) data[i & 3] += i;\n    go();\n    return 0;\n}\n",
    ),
    (
        "handler",
        "#include <signal.h>\n#include <stdio.h>\nstatic volatile int got;\nstatic void on(int s) {\n    got = s;\n}\nint main(void) {\n    signal(SIGUSR1, on);\n    for (int i = 0; i < 20; i++)\n        if (i % 7 == 3) raise(SIGUSR1);\n    printf(\"%d\\n\", got);\n    return 0;\n}\n",
    ),
    (
        "page_border",
        "#include <stdio.h>\n#include <string.h>\nstatic char pages[3 * 4096];\nint main(void) {\n    char *at = (char *)(((unsigned long)pages + 4095) & ~4095ul) + 4093;\n    long sum = 0;\n    for (int i = 0; i < 20; i++) {\n        *(long *)at = sum + i;\n        sum += *(long *)(at + i % 3);\n    }\n    printf(\"%ld\\n\", sum);\n    return 0;\n}\n",
    ),
];

#[test]
fn what_the_processor_would_refuse_is_not_done_in_its_place() {
    in_two_threads(&ENDS, |(name, source)| assert_follows(&tiny(name, source), name));
}

/// All that interpreted instructions compute, at the borders of each size.
const ARITHMETIC: &str = r#"
#include <stdint.h>
#include <stdio.h>
static const int64_t edges[] = {0, 1, -1, 2, 7, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2147483647,
    2147483648, 4294967295, 4294967296, INT64_MAX, INT64_MIN, 0x0123456789abcdef};
#define COUNT (int)(sizeof edges / sizeof *edges)
static uint64_t hash;
static void note(uint64_t value) { hash = (hash ^ value) * 1099511628211u; }
#define ALL(type, utype, a, b) do { \
    volatile type x = (type)(a), y = (type)(b); volatile utype u = (utype)(a), v = (utype)(b); \
    note((type)(x + y)); note((type)(x - y)); note((utype)(u * v)); note((type)(x * 13)); \
    note(x & y); note(x | y); note(x ^ y); note(~x); note(-(utype)x); \
    note(x < y); note(x <= y); note(x > y); note(x >= y); note(u < v); note(u <= v); note(u > v); note(x == y); note(x != y); \
    note(x < 0 ? y : x); note(u > v ? u : v); note(!x); note(x && y); note(x || y); \
    note((utype)(u << (v & 7))); note(u >> (v & 7)); note(x >> (v & 7)); note((utype)(u << 1)); note(u >> 1); note(x >> 1); \
    u += v; x -= y; note(u); note(x); u++; x--; note(u); note(x); note((utype)(u << 3 | u >> (8 * sizeof u - 3))); \
} while (0)
int main(void) {
    for (int i = 0; i < COUNT; i++)
        for (int j = i % 5; j < COUNT; j += 5) {
            int64_t a = edges[i], b = edges[j];
            ALL(int8_t, uint8_t, a, b);
            ALL(int16_t, uint16_t, a, b);
            ALL(int32_t, uint32_t, a, b);
            ALL(int64_t, uint64_t, a, b);
            volatile unsigned __int128 w = (unsigned __int128)(uint64_t)a << 64 | (uint64_t)b;
            w += (uint64_t)b; w -= (unsigned __int128)a << 3; w = -w;
            note((uint64_t)w); note((uint64_t)(w >> 64)); note(w < (uint64_t)a);
        }
    printf("%llx\n", (unsigned long long)hash);
    return 0;
}
"#;

#[test]
fn each_interpreted_instruction_does_what_the_processor_does() {
    in_two_threads(&["O0", "O1", "O2"], |option| {
        let source = format!("#pragma GCC optimize (\"{option}\")\n{ARITHMETIC}");
        let program = tiny(&format!("arithmetic-{option}"), &source);
        let (_, found) = followed(&program, &[Interpretation::Checked]);
        assert_eq!(found[0].disagreements, [""; 0], "{option}");
        assert!(found[0].compared > 20_000, "{option}: {}", found[0].compared);
        assert_eq!(found[0].incomplete, None, "{option}");
    });
}
