//! Draw the calls of the slice in the DOT language of Graphviz: a box for each call with needed events,
//! the needed events in it in order with their source, an arrow from each to the next, a dashed one from each
//! call to what it calls. If values were observed, an arrow with the name of a variable leads from each event
//! that has written it to those that have read it; the order is then drawn in grey.
//!
//! Graphviz ranks clusters one by one unless `newrank` is set, and fails on what goes to and fro between them
//! ("trouble in init_rank"). The order alone says where an event stands, so that values need not.

use std::collections::BTreeMap;
use std::fmt::Write;

use tracer::observation::Observation;
use tracer::trace::{ActivationId, EventId};

use super::pieces;
use super::source::{Sources, printable};
use super::style::Style;
use crate::slice::{CriticalSlice, Necessity, Needed};
use crate::subject::Recorded;

/// The largest number of events that are drawn: Graphviz takes minutes for more.
const MOST_EVENTS: usize = 500;

/// The largest number of value flows that are drawn: it takes as long to route more.
const MOST_FLOWS: usize = 200;

/// The number of characters of a statement that are drawn.
const LONGEST_LINE: usize = 60;

/// Draws the slice.
pub fn slice(recorded: Recorded<'_>, slice: &CriticalSlice) -> String {
    let drawn = &slice.needed[..slice.needed.len().min(MOST_EVENTS)];
    let drawing = Drawing { recorded, calls: calls(recorded, drawn) };
    let mut sources = Sources::new(recorded.program);
    let mut text = String::from(
        "digraph critical_slice {\n  graph [fontname=\"sans-serif\", newrank=true];\n  node [shape=box, \
         fontname=\"monospace\"];\n",
    );
    for &activation in drawing.calls.keys() {
        drawing.call(activation, &mut sources, &mut text);
    }
    drawing.arrows(drawn, slice.values.as_ref(), &mut text);
    let left_out = slice.needed.len() - drawn.len();
    if left_out > 0 {
        let _ = writeln!(text, "  more [shape=note, label=\"{left_out} more needed events are not drawn\"];");
    }
    text + "}\n"
}

/// The needed events of each call, and the calls on the way to them, whether needed or not.
fn calls<'a>(recorded: Recorded<'_>, needed: &'a [Needed]) -> BTreeMap<ActivationId, Vec<Node<'a>>> {
    let mut events: BTreeMap<EventId, Option<&Needed>> = BTreeMap::new();
    for needed in needed {
        for caller in recorded.trace.callers(needed.event) {
            if events.contains_key(&caller) {
                break;
            }
            events.insert(caller, None);
        }
        events.insert(needed.event, Some(needed));
    }
    let mut calls: BTreeMap<ActivationId, Vec<Node<'_>>> = BTreeMap::new();
    for (event, needed) in events {
        calls.entry(recorded.trace.activation(event)).or_default().push(Node { event, needed });
    }
    calls
}

/// A node: an event that is drawn.
struct Node<'a> {
    event: EventId,
    /// The needed event; `None` for one that only leads to needed ones.
    needed: Option<&'a Needed>,
}

struct Drawing<'a> {
    recorded: Recorded<'a>,
    calls: BTreeMap<ActivationId, Vec<Node<'a>>>,
}

impl Drawing<'_> {
    /// The box of a call, its events in it.
    fn call(&self, activation: ActivationId, sources: &mut Sources<'_>, text: &mut String) {
        let leader = self.recorded.trace.leader(self.recorded.trace.entry(activation));
        let name = &self.recorded.program.function_of(leader).name;
        let _ = writeln!(text, "  subgraph cluster_{} {{ label={};", activation.0, quoted(name));
        for node in &self.calls[&activation] {
            let _ = writeln!(text, "    {}", self.node(node, sources));
        }
        text.push_str("  }\n");
    }

    fn node(&self, node: &Node<'_>, sources: &mut Sources<'_>) -> String {
        let statement = self.recorded.program.leader(self.recorded.trace.leader(node.event)).statement;
        let (line, time) = (statement.line, node.event.time());
        let source = pieces::at(sources.line(statement.file, line).unwrap_or_default(), statement.column);
        let source = Style::default().cut(source, LONGEST_LINE);
        let label = match source.is_empty() {
            true => format!("\"{line}_{time}\""),
            false => format!("\"{line}_{time}\\n{}\"", escaped(&source)),
        };
        let style = match node.needed.map(|needed| needed.necessity) {
            Some(Necessity::Effect) => "style=filled, fillcolor=black, fontcolor=white",
            Some(Necessity::Decision) => "shape=hexagon",
            None => "color=grey, fontcolor=grey",
        };
        format!("e{time} [label={label}, {style}];")
    }

    fn arrows(&self, needed: &[Needed], values: Option<&Observation>, text: &mut String) {
        let order = if values.is_some() { " [color=lightgrey]" } else { "" };
        for pair in needed.windows(2) {
            let _ = writeln!(text, "  e{} -> e{}{order};", pair[0].event.time(), pair[1].event.time());
        }
        let is_drawn = |event| needed.binary_search_by_key(&event, |needed| needed.event).is_ok();
        let flows = values.map_or(&[][..], |values| &values.flows);
        let flows: Vec<_> = flows.iter().filter(|flow| is_drawn(flow.from) && is_drawn(flow.to)).collect();
        for flow in flows.iter().take(MOST_FLOWS) {
            let (from, to) = (flow.from.time(), flow.to.time());
            let name = quoted(&flow.name);
            let look = "color=blue, fontcolor=blue, constraint=false";
            let _ = writeln!(text, "  e{from} -> e{to} [label={name}, {look}];");
        }
        if let Some(more @ 1..) = flows.len().checked_sub(MOST_FLOWS) {
            let _ = writeln!(
                text,
                "  values [shape=note, label=\"{more} more arrows of values are not drawn\"];"
            );
        }
        for (&activation, nodes) in &self.calls {
            if let (Some(caller), Some(first)) = (self.recorded.trace.caller(activation), nodes.first()) {
                let (caller, first) = (caller.time(), first.event.time());
                let _ = writeln!(text, "  e{caller} -> e{first} [style=dashed, label=\"calls\"];");
            }
        }
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

fn escaped(text: &str) -> String {
    printable(text).replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Folder, Sample};
    use super::*;

    #[test]
    fn calls_are_boxes_and_needed_events_follow_each_other() {
        let source = "int f(int x) { x = 1;\nreturn x; }\nint main(void) { int y = f(0);\nreturn\ny; }\n";
        let folder = Folder::new();
        let sample = Sample::of(&folder, source);
        let text = slice(sample.recorded(), &sample.slice(&sample.omittable(1), &sample.omittable(3)));
        let expected = "  subgraph cluster_0 { label=\"main\";
    e2 [label=\"3_2\\nint y = f(0)\", shape=hexagon];
  }
  subgraph cluster_1 { label=\"f\";
    e4 [label=\"1_4\\nx = 1\", style=filled, fillcolor=black, fontcolor=white];
  }
  e2 -> e4;
  e2 -> e4 [style=dashed, label=\"calls\"];
}
";
        assert!(text.ends_with(expected), "{text}");
    }

    #[test]
    fn a_call_that_only_leads_to_needed_events_is_drawn_in_grey() {
        let source = "int f(int x) { x = 1;\nreturn x; }\nint main(void) { int y = f(0);\nreturn\ny; }\n";
        let sample = Sample::of(&Folder::new(), source);
        let text = slice(sample.recorded(), &sample.slice(&sample.omittable(1), &[]));
        assert!(text.contains("e2 [label=\"3_2\", color=grey, fontcolor=grey];"), "{text}");
    }

    #[test]
    fn names_cannot_end_their_text() {
        assert_eq!(quoted("operator\"\"_x\\"), "\"operator\\\"\\\"_x\\\\\"");
    }
}
