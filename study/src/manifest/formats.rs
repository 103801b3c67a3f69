//! The formats of manifests: keys and values of TOML, CSV and JSON Lines.

use toml::de::{DeTable, DeValue};

use super::record::{Given, GivenValue, Record};

/// A mistake: its line, and what is wrong.
type Complaint = (usize, String);

/// The records of a text, one for each row or line; and the mistakes in it.
pub(crate) struct Parsed {
    pub(crate) records: Vec<Record>,
    pub(crate) complaints: Vec<Complaint>,
}

/// Reads a TOML text, as one record.
pub(crate) fn toml(text: &str) -> (Record, Vec<Complaint>) {
    let (table, errors) = DeTable::parse_recoverable(text);
    let line =
        |offset: usize| 1 + text.as_bytes()[..offset.min(text.len())].iter().filter(|b| **b == b'\n').count();
    let complaints = errors.iter().map(|error| {
        let at = error.span().map_or(1, |span| line(span.start));
        (at, format!("{}: mend the TOML", error.message().replace('\n', " ")))
    });
    let complaints = complaints.collect();
    (toml_record(table.get_ref(), 1, &line), complaints)
}

fn toml_record(table: &DeTable<'_>, at: usize, line: &dyn Fn(usize) -> usize) -> Record {
    let mut entries: Vec<(String, Given)> = table
        .iter()
        .map(|(key, value)| {
            let at = line(key.span().start);
            (key.get_ref().to_string(), Given { line: at, value: toml_value(value.get_ref(), at, line) })
        })
        .collect();
    entries.sort_by_key(|(_, given)| given.line);
    Record { line: at, entries }
}

fn toml_value(value: &DeValue<'_>, at: usize, line: &dyn Fn(usize) -> usize) -> GivenValue {
    match value {
        DeValue::String(text) => GivenValue::Text(text.to_string()),
        DeValue::Integer(number) => {
            i64::from_str_radix(number.as_str(), number.radix()).map_or(GivenValue::Other, GivenValue::Number)
        }
        DeValue::Boolean(flag) => GivenValue::Flag(*flag),
        DeValue::Array(list) => {
            let member = |one: &toml::Spanned<DeValue<'_>>| {
                let at = line(one.span().start);
                Given { line: at, value: toml_value(one.get_ref(), at, line) }
            };
            GivenValue::List(list.iter().map(member).collect())
        }
        DeValue::Table(table) => GivenValue::Table(toml_record(table, at, line)),
        DeValue::Float(_) | DeValue::Datetime(_) => GivenValue::Other,
    }
}

/// Reads a CSV text: a record for each row below the row of keys.
pub(crate) fn csv(text: &str) -> Parsed {
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let (mut records, mut complaints) = (Vec::new(), Vec::new());
    let keys: Vec<String> = match reader.headers() {
        Ok(keys) => keys.iter().map(|key| key.trim_start_matches('\u{feff}').to_owned()).collect(),
        Err(error) => return Parsed { records, complaints: vec![(1, format!("{error}: mend the CSV"))] },
    };
    for row in reader.records() {
        let row = match row {
            Ok(row) => row,
            Err(error) => {
                let line = error.position().map_or(1, |position| position.line() as usize);
                complaints.push((line, format!("{error}: mend the CSV")));
                continue;
            }
        };
        let line = row.position().map_or(1, |position| position.line() as usize);
        if row.len() > keys.len() {
            let what = format!(
                "the row has {} cells, and the first row names {} keys: quote cells that hold a comma",
                row.len(),
                keys.len()
            );
            complaints.push((line, what));
            continue;
        }
        let cells = keys.iter().zip(row.iter()).filter(|(_, cell)| !cell.is_empty());
        let entries = cells
            .map(|(key, cell)| (key.clone(), Given { line, value: GivenValue::Cell(cell.to_owned()) }))
            .collect();
        records.push(Record { line, entries });
    }
    Parsed { records, complaints }
}

/// Reads JSON Lines: a record for each line that is not empty.
pub(crate) fn json_lines(text: &str) -> Parsed {
    let (mut records, mut complaints) = (Vec::new(), Vec::new());
    for (number, one) in text.lines().enumerate().filter(|(_, one)| !one.trim().is_empty()) {
        let line = number + 1;
        match serde_json::from_str(one) {
            Ok(serde_json::Value::Object(members)) => records.push(json_record(members, line)),
            Ok(_) => complaints.push((line, "is no object: write {\"name\": ..., ...}".into())),
            Err(error) => complaints.push((line, format!("{error}: mend the JSON"))),
        }
    }
    Parsed { records, complaints }
}

fn json_record(members: serde_json::Map<String, serde_json::Value>, line: usize) -> Record {
    let members = members.into_iter().filter(|(_, value)| !value.is_null());
    let entries = members.map(|(key, value)| (key, Given { line, value: json_value(value, line) }));
    Record { line, entries: entries.collect() }
}

fn json_value(value: serde_json::Value, line: usize) -> GivenValue {
    use serde_json::Value;
    match value {
        Value::String(text) => GivenValue::Text(text),
        Value::Bool(flag) => GivenValue::Flag(flag),
        Value::Number(number) => number.as_i64().map_or(GivenValue::Other, GivenValue::Number),
        Value::Array(list) => GivenValue::List(
            list.into_iter().map(|one| Given { line, value: json_value(one, line) }).collect(),
        ),
        Value::Object(members) => GivenValue::Table(json_record(members, line)),
        Value::Null => GivenValue::Other,
    }
}
