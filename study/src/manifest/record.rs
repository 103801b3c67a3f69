//! Records: the keys and values of a manifest with the lines on which they are, whatever its format.

/// A value and its line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Given {
    pub(crate) line: usize,
    pub(crate) value: GivenValue,
}

/// A value, as the formats have them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum GivenValue {
    Text(String),
    /// A cell of a table: whatever the key wants it to be; lists are separated by semicolons.
    Cell(String),
    Number(i64),
    Flag(bool),
    List(Vec<Given>),
    Table(Record),
    /// A value that no key takes, such as a date.
    Other,
}

/// Keys with their values, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Record {
    /// The line on which it begins.
    pub(crate) line: usize,
    pub(crate) entries: Vec<(String, Given)>,
}

impl Record {
    pub(crate) fn get(&self, key: &str) -> Option<&Given> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, given)| given)
    }

    /// Adds those of the defaults whose keys it has not itself.
    pub(crate) fn complete(&mut self, defaults: &Record) {
        for (key, given) in &defaults.entries {
            if self.get(key).is_none() {
                self.entries.push((key.clone(), given.clone()));
            }
        }
    }
}

impl Given {
    pub(crate) fn text(&self) -> Option<String> {
        match &self.value {
            GivenValue::Text(text) | GivenValue::Cell(text) => Some(text.clone()),
            _ => None,
        }
    }

    /// A list of texts; a text alone is a list of one.
    pub(crate) fn texts(&self) -> Option<Vec<String>> {
        match &self.value {
            GivenValue::Text(text) => Some(vec![text.clone()]),
            GivenValue::Cell(text) => Some(text.split(';').map(|part| part.trim().to_owned()).collect()),
            GivenValue::List(list) => list.iter().map(Given::text).collect(),
            _ => None,
        }
    }

    pub(crate) fn flag(&self) -> Option<bool> {
        match &self.value {
            GivenValue::Flag(flag) => Some(*flag),
            GivenValue::Cell(text) => text.parse().ok(),
            _ => None,
        }
    }

    pub(crate) fn number(&self) -> Option<i64> {
        match &self.value {
            GivenValue::Number(number) => Some(*number),
            GivenValue::Cell(text) => text.parse().ok(),
            _ => None,
        }
    }
}
