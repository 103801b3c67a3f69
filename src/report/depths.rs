//! Compute the call depths of the events of a trace, one after the other.

use tracer::trace::{EventId, Trace};

/// The depths of the activations seen so far.
pub(super) struct Depths<'a> {
    trace: &'a Trace,
    of_activation: Vec<u32>,
}

impl<'a> Depths<'a> {
    pub(super) fn new(trace: &'a Trace) -> Depths<'a> {
        Depths { trace, of_activation: Vec::new() }
    }

    /// The call depth of the event, 0 in `main`. To be asked of all events in order:
    /// activations are numbered by their first events, and so a caller's depth is known before.
    pub(super) fn next(&mut self, event: EventId) -> u32 {
        let activation = self.trace.activation(event);
        if activation.0 as usize == self.of_activation.len() {
            let caller = self.trace.caller(activation).map(|caller| self.trace.activation(caller));
            self.of_activation.push(caller.map_or(0, |caller| self.of_activation[caller.0 as usize] + 1));
        }
        self.of_activation[activation.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Folder, Sample};
    use super::*;

    #[test]
    fn each_call_is_one_deeper_than_its_caller() {
        let source = [
            "int sum(int n) { int rest = n ? sum(n - 1) : 0;",
            "    return n + rest;",
            "}",
            "int main(void) { return sum(60) + sum(2); }",
        ];
        let sample = Sample::of(&Folder::new(), &source.join("\n"));
        let trace = sample.recorded().trace;
        let mut depths = Depths::new(trace);
        let told: Vec<usize> = trace.events().map(|event| depths.next(event) as usize).collect();
        assert_eq!(told, trace.events().map(|event| trace.depth(event)).collect::<Vec<_>>());
        assert_eq!(told.iter().max(), Some(&61));
    }
}
