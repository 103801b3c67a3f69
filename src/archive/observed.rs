//! Convert the values that executions read and wrote into a document and back.

use serde::{Deserialize, Serialize};
use tracer::observation::{Flow, Limit, Observation, Reading, Seen, Value, Writing};
use tracer::trace::EventId;

/// The values that events read and wrote. Events are counted from 0.
#[derive(Serialize, Deserialize)]
pub(super) struct ValuesDocument {
    events: Vec<EventValues>,
    /// The flows of values: the event that has written, the one that has read it, and the name.
    flows: Vec<(u32, u32, String)>,
    limit: Option<LimitDocument>,
}

#[derive(Serialize, Deserialize)]
struct EventValues {
    event: u32,
    reads: Vec<ReadingDocument>,
    writes: Vec<WritingDocument>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum ReadingDocument {
    Read {
        name: String,
        returned: bool,
        value: KeptValue,
    },
    /// Name and text, as earlier versions have written them.
    Texts(String, String),
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum WritingDocument {
    Written {
        name: String,
        before: Option<KeptValue>,
        after: Option<KeptValue>,
    },
    /// Name, text before and text after, as earlier versions have written them.
    Texts(String, String, String),
}

#[derive(Serialize, Deserialize)]
struct KeptValue {
    #[serde(rename = "type")]
    type_name: String,
    bytes: Vec<u8>,
    text: String,
}

/// The reason why not everything was observed.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LimitDocument {
    Event(u32),
    Instructions(u32),
    LeftPath(Option<u32>),
    Time,
}

impl ValuesDocument {
    pub(super) fn of(observation: &Observation) -> ValuesDocument {
        let event = |(event, seen): (&EventId, &Seen)| EventValues {
            event: event.0,
            reads: seen.reads.iter().cloned().map(ReadingDocument::of).collect(),
            writes: seen.writes.iter().cloned().map(WritingDocument::of).collect(),
        };
        ValuesDocument {
            events: observation.seen.iter().map(event).collect(),
            flows: observation.flows.iter().map(|flow| (flow.from.0, flow.to.0, flow.name.clone())).collect(),
            limit: observation.limit.map(|limit| match limit {
                Limit::Event(event) => LimitDocument::Event(event.0),
                Limit::Instructions(event) => LimitDocument::Instructions(event.0),
                Limit::LeftPath(latest) => LimitDocument::LeftPath(latest.map(|event| event.0)),
                Limit::Time => LimitDocument::Time,
            }),
        }
    }

    pub(super) fn observation(self) -> Observation {
        let seen = |EventValues { event, reads, writes }| {
            let reads = reads.into_iter().map(ReadingDocument::reading).collect();
            (
                EventId(event),
                Seen { reads, writes: writes.into_iter().map(WritingDocument::writing).collect() },
            )
        };
        let flow = |(from, to, name)| Flow { to: EventId(to), from: EventId(from), name };
        Observation {
            seen: self.events.into_iter().map(seen).collect(),
            flows: self.flows.into_iter().map(flow).collect(),
            limit: self.limit.map(|limit| match limit {
                LimitDocument::Event(event) => Limit::Event(EventId(event)),
                LimitDocument::Instructions(event) => Limit::Instructions(EventId(event)),
                LimitDocument::LeftPath(latest) => Limit::LeftPath(latest.map(EventId)),
                LimitDocument::Time => Limit::Time,
            }),
        }
    }
}

impl ReadingDocument {
    fn of(Reading { name, is_returned, value }: Reading) -> ReadingDocument {
        ReadingDocument::Read { name, returned: is_returned, value: KeptValue::of(value) }
    }

    fn reading(self) -> Reading {
        match self {
            ReadingDocument::Read { name, returned, value } => {
                Reading { name, is_returned: returned, value: value.value() }
            }
            ReadingDocument::Texts(name, text) => {
                Reading { is_returned: name.ends_with("()"), name, value: text_only(text) }
            }
        }
    }
}

impl WritingDocument {
    fn of(Writing { name, before, after }: Writing) -> WritingDocument {
        let [before, after] = [before, after].map(|value| value.map(KeptValue::of));
        WritingDocument::Written { name, before, after }
    }

    fn writing(self) -> Writing {
        match self {
            WritingDocument::Written { name, before, after } => {
                let [before, after] = [before, after].map(|value| value.map(KeptValue::value));
                Writing { name, before, after }
            }
            WritingDocument::Texts(name, before, after) => {
                let known = |text: String| (!text.is_empty()).then(|| text_only(text));
                Writing { name, before: known(before), after: known(after) }
            }
        }
    }
}

impl KeptValue {
    fn of(Value { type_name, bytes, text }: Value) -> KeptValue {
        KeptValue { type_name, bytes, text }
    }

    fn value(self) -> Value {
        let KeptValue { type_name, bytes, text } = self;
        Value { type_name, bytes, text }
    }
}

/// A value of which no more was kept.
fn text_only(text: String) -> Value {
    Value { text, ..Value::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    use serde_json::json;

    #[test]
    fn values_come_back_as_they_were() {
        let value = |type_name: &str, bytes: &[u8], text: &str| Value {
            type_name: type_name.into(),
            bytes: bytes.into(),
            text: text.into(),
        };
        let reading = |name: &str, is_returned, value| Reading { name: name.into(), is_returned, value };
        let seen = Seen {
            reads: vec![
                reading("sum", false, value("int", &[6, 0, 0, 0], "6")),
                reading("f()", true, value("char", &[65], "65 'A'")),
            ],
            writes: vec![Writing { name: "p".into(), before: None, after: Some(value("", &[0; 8], "0x0")) }],
        };
        let observation = Observation {
            seen: [(EventId(3), seen)].into(),
            flows: vec![Flow { to: EventId(3), from: EventId(1), name: "sum".into() }],
            limit: Some(Limit::LeftPath(Some(EventId(3)))),
        };
        let text = serde_json::to_string(&ValuesDocument::of(&observation)).expect("a document is JSON");
        let document: ValuesDocument = serde_json::from_str(&text).expect("it is read back");
        assert_eq!(document.observation(), observation);
    }

    #[test]
    fn texts_of_earlier_versions_are_read() {
        let earlier = json!({
            "events": [{ "event": 3, "reads": [["sum", "6"], ["f()", "1"]], "writes": [["p", "", "0x0"]] }],
            "flows": [], "limit": null,
        });
        let document: ValuesDocument = serde_json::from_value(earlier).expect("it is read");
        let seen = &document.observation().seen[&EventId(3)];
        let reads: Vec<_> = seen.reads.iter().map(|read| (read.is_returned, &read.value.text[..])).collect();
        assert_eq!(reads, [(false, "6"), (true, "1")]);
        let after = seen.writes[0].after.as_ref().map(|value| &value.text[..]);
        assert_eq!((&seen.writes[0].before, after), (&None, Some("0x0")));
    }
}
