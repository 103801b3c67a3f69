//! The format of values: as their language writes them, in one line of bounded length.

use std::cell::Cell;

use super::find::rust_name;
use super::types::{Dimension, Member, Record, Shape, TypeId, Types, Variants};
use super::value::Value;
use super::{Memory, Named, Nowhere, Syntax, Variables};
use crate::program::FunctionId;

/// The bounds of how much of a value is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValueBounds {
    /// The most elements or members of one value.
    elements: usize,
    /// The most characters of a text.
    characters: usize,
    /// The most levels of values in values.
    levels: usize,
    /// The most bytes of a value that are read.
    bytes: u64,
    /// The most values within values in all: references can lead to the same one again and again.
    values: usize,
}

impl ValueBounds {
    /// The bounds for people to read.
    pub(crate) const SHOWN: ValueBounds =
        ValueBounds { elements: 10, characters: 40, levels: 4, bytes: 1 << 16, values: 1 << 16 };

    /// The bounds for comparisons. What lies beyond is not compared.
    pub(crate) const WHOLE: ValueBounds =
        ValueBounds { elements: 1 << 20, characters: 1 << 20, levels: 16, bytes: 1 << 24, values: 1 << 20 };
}

impl Variables {
    /// The value of a named piece of memory now; `None` if it cannot be read.
    pub(crate) fn value(&self, named: &Named, memory: &dyn Memory) -> Option<Value> {
        let (writer, bytes) = self.read(named, memory, ValueBounds::SHOWN)?;
        Some(writer.kept(named.kind, &bytes))
    }

    /// The text of the value of a named piece of memory now, as much of it as these bounds allow.
    pub(crate) fn text_within(
        &self,
        named: &Named,
        memory: &dyn Memory,
        bounds: ValueBounds,
    ) -> Option<String> {
        let (writer, bytes) = self.read(named, memory, bounds)?;
        Some(writer.value(named.kind, &bytes, 0))
    }

    /// The bytes of a named piece of memory, and who writes them as text.
    fn read<'w>(
        &'w self,
        named: &Named,
        memory: &'w dyn Memory,
        bounds: ValueBounds,
    ) -> Option<(Writer<'w>, Vec<u8>)> {
        let image = self.images.get(named.image)?;
        let writer = Writer::new(&image.types, memory, named.syntax, bounds);
        let bytes = memory.read(named.address, named.size.min(bounds.bytes) as usize)?;
        let bytes = match named.bits {
            Some(bits) => writer.extracted(named.kind, &bytes, bits),
            None => bytes,
        };
        Some((writer, bytes))
    }

    /// The value that a function has left in the register for its result; `None` if it returns nothing, or not there.
    pub(crate) fn result(&self, function: FunctionId, rax: u64) -> Option<Value> {
        let &(image, position) = self.functions.get(&function)?;
        let image = &self.images[image];
        let function = &image.functions[position];
        let kind = function.result?;
        let types = &image.types;
        let in_register =
            !matches!(types.get(kind).shape, Shape::Float | Shape::Record(_) | Shape::Array(..));
        let bytes = rax.to_le_bytes();
        let size = types.get(kind).size as usize;
        let writer = Writer::new(types, &Nowhere, function.syntax, ValueBounds::SHOWN);
        (in_register && (1..=8).contains(&size)).then(|| writer.kept(kind, &bytes[..size]))
    }
}

struct Writer<'w> {
    types: &'w Types,
    memory: &'w dyn Memory,
    syntax: Syntax,
    bounds: ValueBounds,
    /// The number of values that have been written.
    written: Cell<usize>,
}

impl<'w> Writer<'w> {
    fn new(types: &'w Types, memory: &'w dyn Memory, syntax: Syntax, bounds: ValueBounds) -> Self {
        Self { types, memory, syntax, bounds, written: Cell::new(0) }
    }

    /// Writes the value that these bytes are, at this level of values in values.
    fn value(&self, kind: TypeId, bytes: &[u8], level: usize) -> String {
        if self.written.replace(self.written.get() + 1) >= self.bounds.values {
            return "...".into();
        }
        let kind = self.types.get(kind);
        let number = number(bytes);
        match &kind.shape {
            _ if bytes.is_empty() => "?".into(),
            // The elements of a described array lie elsewhere.
            Shape::Unknown | Shape::Described(..) => hexadecimal(bytes),
            Shape::Boolean => match number {
                0 => "false".into(),
                1 => "true".into(),
                other => other.to_string(),
            },
            Shape::Signed if kind.name == "wchar_t" => {
                format!("{} {}", signed(bytes), quoted_wide(number, "L"))
            }
            Shape::Signed => signed(bytes).to_string(),
            Shape::Unsigned => unsigned(bytes).to_string(),
            Shape::Character if self.syntax == Syntax::Rust => unsigned(bytes).to_string(),
            Shape::Character => character(bytes, &kind.name),
            Shape::Scalar if self.syntax != Syntax::Rust => wide_character(number, &kind.name),
            Shape::Scalar => match char::from_u32(number as u32) {
                Some(scalar) => format!("{scalar:?}"),
                None => format!("{number:#x}"),
            },
            Shape::Float => float(bytes),
            Shape::Pointer(to) => self.pointer(*to, number),
            Shape::Reference(to) => self.reference(*to, number, level),
            Shape::Enumeration(names) => enumeration(names, bytes),
            Shape::Array(of, dimension) => self.array(*of, *dimension, bytes, level),
            Shape::Record(record) => self.record(&kind.name, record, bytes, level),
        }
    }

    /// The value that these bytes are, with all that is kept of it.
    fn kept(&self, kind: TypeId, bytes: &[u8]) -> Value {
        let type_name = self.types.get(kind).name.clone();
        let kept = bytes[..bytes.len().min(Value::MOST_BYTES)].to_vec();
        Value { type_name, bytes: kept, text: self.value(kind, bytes, 0) }
    }

    /// The bytes of an integer that are some bits of these bytes: the first one and their number.
    fn extracted(&self, kind: TypeId, bytes: &[u8], (first, size): (u64, u64)) -> Vec<u8> {
        let mask = if size >= 64 { u64::MAX } else { (1 << size) - 1 };
        let mut value = (wide(bytes) >> first) as u64 & mask;
        let negative =
            matches!(self.types.get(kind).shape, Shape::Signed) && size > 0 && value >> (size - 1) & 1 == 1;
        if negative {
            value |= !mask;
        }
        let length = (self.types.get(kind).size as usize).min(size_of_val(&value));
        value.to_le_bytes()[..length].to_vec()
    }

    fn pointer(&self, to: Option<TypeId>, address: u64) -> String {
        let written = format!("{address:#x}");
        let is_text = to.is_some_and(|to| matches!(self.types.get(to).shape, Shape::Character));
        if address == 0 || !is_text || self.syntax == Syntax::Rust {
            return written;
        }
        match self.text(address) {
            Some(text) => format!("{written} {text}"),
            None => written,
        }
    }

    fn reference(&self, to: Option<TypeId>, address: u64, level: usize) -> String {
        let Some(to) = to.filter(|_| level < self.bounds.levels) else { return format!("{address:#x}") };
        let size = self.types.get(to).size.min(self.bounds.bytes) as usize;
        match self.memory.read(address, size) {
            Some(bytes) => self.value(to, &bytes, level + 1),
            None => format!("{address:#x}"),
        }
    }

    /// Reads the text of C (ending with a zero byte) at an address.
    fn text(&self, address: u64) -> Option<String> {
        let mut bytes = Vec::new();
        while bytes.len() <= self.bounds.characters {
            // Byte by byte, not across the end of what is mapped.
            let byte = self.memory.read(address + bytes.len() as u64, 1)?[0];
            if byte == 0 {
                return Some(quoted(&bytes, self.bounds.characters));
            }
            bytes.push(byte);
        }
        Some(quoted(&bytes, self.bounds.characters))
    }

    fn array(&self, of: TypeId, dimension: Dimension, bytes: &[u8], level: usize) -> String {
        let element = self.types.get(of);
        if matches!(element.shape, Shape::Character) && self.syntax != Syntax::Rust {
            let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
            return quoted(&bytes[..end], self.bounds.characters);
        }
        self.list(of, dimension, bytes, level)
    }

    fn list(
        &self,
        of: TypeId,
        Dimension { count, stride, .. }: Dimension,
        bytes: &[u8],
        level: usize,
    ) -> String {
        let (open, close) = if self.syntax == Syntax::C { ("{", "}") } else { ("[", "]") };
        if level >= self.bounds.levels {
            return format!("{open}...{close}");
        }
        let (size, stride) = (self.types.get(of).size.max(1) as usize, stride.max(1) as usize);
        let elements = bytes
            .chunks(stride)
            .filter_map(|chunk| chunk.get(..size))
            .take(count.min(self.bounds.elements as u64) as usize);
        let mut shown: Vec<String> = elements.map(|element| self.value(of, element, level + 1)).collect();
        if count > shown.len() as u64 {
            shown.push("...".into());
        }
        format!("{open}{}{close}", shown.join(", "))
    }

    fn record(&self, name: &str, record: &Record, bytes: &[u8], level: usize) -> String {
        if let Some(written) = self.sequence(name, record, bytes, level) {
            return written;
        }
        if level >= self.bounds.levels {
            return "{...}".into();
        }
        if let Some(variants) = &record.variants {
            return self.variant(name, variants, bytes, level);
        }
        let mut members: Vec<(&str, String)> = Vec::new();
        for member in record.members.iter().take(self.bounds.elements) {
            members.push((&member.name, self.member(member, bytes, level)));
        }
        if record.members.len() > self.bounds.elements {
            members.push(("", "...".into()));
        }
        match self.syntax {
            Syntax::C | Syntax::Fortran => c_record(record, &members),
            Syntax::Rust => rust_record(name, &members),
        }
    }

    fn member(&self, member: &Member, bytes: &[u8], level: usize) -> String {
        let Some(bytes) = bytes.get(member.offset as usize..) else { return "?".into() };
        match member.bits {
            Some(bits) => {
                let bytes = self.extracted(member.kind, &bytes[..bytes.len().min(16)], bits);
                self.value(member.kind, &bytes, 0)
            }
            None => {
                let size = self.types.get(member.kind).size as usize;
                match (size, bytes.get(..size)) {
                    // Types of Rust without any value inside have no bytes.
                    (0, _) if matches!(self.types.get(member.kind).shape, Shape::Record(_)) => {
                        let Shape::Record(record) = &self.types.get(member.kind).shape else {
                            return String::new();
                        };
                        self.record(&self.types.get(member.kind).name, record, &[], level + 1)
                    }
                    (_, Some(bytes)) => self.value(member.kind, bytes, level + 1),
                    (_, None) => "?".into(),
                }
            }
        }
    }

    /// Writes the active variant of an enum of Rust.
    fn variant(&self, name: &str, variants: &Variants, bytes: &[u8], level: usize) -> String {
        let discriminant = variants.discriminant.as_ref().and_then(|member| {
            let start = member.offset as usize;
            let size = self.types.get(member.kind).size as usize;
            Some(unsigned(bytes.get(start..start + size)?) as u64)
        });
        let means = |(value, _): &&(Option<u64>, Member)| {
            let size = variants.discriminant.as_ref().map_or(8, |member| self.types.get(member.kind).size);
            value.is_some() && value.map(|value| cut(value, size)) == discriminant
        };
        let found = variants
            .all
            .iter()
            .find(means)
            .or_else(|| variants.all.iter().find(|(value, _)| value.is_none()));
        match found {
            Some((_, member)) => self.member(member, bytes, level),
            None => format!("{name} {{...}}"),
        }
    }

    /// Writes a record that is known to hold a text or a list somewhere else: `&str`, `String`, `Vec`, slices, and the
    /// string of C++.
    fn sequence(&self, name: &str, record: &Record, bytes: &[u8], level: usize) -> Option<String> {
        let short = name.split('<').next().unwrap_or_default();
        let is_text =
            matches!(name, "&str" | "&mut str" | "String") || short == "basic_string" || name == "string";
        let is_list = name.starts_with("&[") || name.starts_with("&mut [") || short == "Vec";
        if !is_text && !is_list || level >= self.bounds.levels {
            return None;
        }
        let (pointer, length) = (self.first_pointer(record, 0)?, self.length(record, 0)?);
        let word = |at: u64| Some(unsigned(bytes.get(at as usize..at as usize + 8)?) as u64);
        let (address, length) = (word(pointer.0)?, word(length)?);
        if is_text {
            let shown = length.min(self.bounds.characters as u64 + 1) as usize;
            return self.memory.read(address, shown).map(|text| quoted(&text, self.bounds.characters));
        }
        let of = record.parameter.or(pointer.1)?;
        let stride = self.types.get(of).size;
        let size = stride.saturating_mul(length.min(self.bounds.elements as u64));
        let bytes = self.memory.read(address, size.min(self.bounds.bytes) as usize)?;
        Some(self.list(of, Dimension { first: 0, count: length, stride }, &bytes, level))
    }

    /// The offset of the first pointer in a record, and the type of its target.
    fn first_pointer(&self, record: &Record, level: usize) -> Option<(u64, Option<TypeId>)> {
        record.members.iter().find_map(|member| match &self.types.get(member.kind).shape {
            Shape::Pointer(to) => Some((member.offset, *to)),
            Shape::Record(inner) if level < 6 => {
                self.first_pointer(inner, level + 1).map(|(offset, to)| (member.offset + offset, to))
            }
            _ => None,
        })
    }

    /// The offset of the number of elements in a record.
    fn length(&self, record: &Record, level: usize) -> Option<u64> {
        record.members.iter().find_map(|member| {
            match (&member.name[..], &self.types.get(member.kind).shape) {
                ("len" | "length" | "_M_string_length", Shape::Unsigned) => Some(member.offset),
                (_, Shape::Record(inner)) if level < 6 => {
                    self.length(inner, level + 1).map(|offset| member.offset + offset)
                }
                _ => None,
            }
        })
    }
}

fn c_record(record: &Record, members: &[(&str, String)]) -> String {
    let shown = members.iter().zip(record.members.iter().map(Some).chain(std::iter::once(None)));
    let shown = shown.map(|((name, value), member)| match member {
        Some(member) if member.is_base => value.clone(),
        _ if name.is_empty() => value.clone(),
        _ => format!("{name} = {value}"),
    });
    format!("{{{}}}", shown.collect::<Vec<_>>().join(", "))
}

fn rust_record(name: &str, members: &[(&str, String)]) -> String {
    let short = if name.starts_with('(') { "" } else { name.split('<').next().unwrap_or_default() };
    let is_tuple = members.iter().all(|(name, _)| rust_name(name) != *name || name.is_empty());
    match (members.is_empty(), is_tuple) {
        (true, _) if short.is_empty() => "()".into(),
        (true, _) => short.to_owned(),
        (_, true) => {
            let values: Vec<&str> = members.iter().map(|(_, value)| value.as_str()).collect();
            format!("{short}({})", values.join(", "))
        }
        (_, false) => {
            let shown: Vec<String> = members
                .iter()
                .map(|(name, value)| if name.is_empty() { value.clone() } else { format!("{name}: {value}") })
                .collect();
            format!("{short} {{{}}}", shown.join(", "))
        }
    }
}

fn enumeration(names: &[(u64, String)], bytes: &[u8]) -> String {
    let size = bytes.len() as u64;
    let value = number(bytes);
    let named = names.iter().find(|(number, _)| cut(*number, size) == value);
    named.map_or_else(|| value.to_string(), |(_, name)| name.clone())
}

/// The lowest `size` bytes of a number.
fn cut(value: u64, size: u64) -> u64 {
    if size >= 8 { value } else { value & ((1 << (8 * size)) - 1) }
}

fn wide(bytes: &[u8]) -> u128 {
    bytes.iter().take(16).rev().fold(0, |value, &byte| value << 8 | u128::from(byte))
}

fn number(bytes: &[u8]) -> u64 {
    wide(&bytes[..bytes.len().min(8)]) as u64
}

fn unsigned(bytes: &[u8]) -> u128 {
    wide(bytes)
}

fn signed(bytes: &[u8]) -> i128 {
    let bits = 128 - 8 * bytes.len().min(16) as u32;
    (wide(bytes) as i128) << bits >> bits
}

fn hexadecimal(bytes: &[u8]) -> String {
    let shown: String = bytes.iter().take(16).rev().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{shown}")
}

/// Writes a character as debuggers do: the number, and what it stands for.
fn character(bytes: &[u8], name: &str) -> String {
    let is_signed = !name.contains("unsigned");
    let value = if is_signed { signed(bytes) } else { unsigned(bytes) as i128 };
    match bytes {
        [byte] => format!("{value} '{}'", escaped(*byte, b'\'')),
        _ => value.to_string(),
    }
}

/// Writes a wide character as debuggers do: the number, and what it stands for.
fn wide_character(number: u64, name: &str) -> String {
    let prefix = match name {
        "char8_t" => "u8",
        "char16_t" => "u",
        _ => "U",
    };
    format!("{number} {}", quoted_wide(number, prefix))
}

fn quoted_wide(number: u64, prefix: &str) -> String {
    match char::from_u32(number as u32).filter(|scalar| !scalar.is_control()) {
        Some(scalar) => format!("{prefix}'{scalar}'"),
        None => format!("{prefix}'\\x{number:x}'"),
    }
}

/// Writes a text between quotes; what is no character is escaped. A longer one is cut.
fn quoted(bytes: &[u8], characters: usize) -> String {
    let shown = &bytes[..bytes.len().min(characters)];
    let rest = if bytes.len() > shown.len() { "..." } else { "" };
    let mut text = String::new();
    for chunk in shown.utf8_chunks() {
        for scalar in chunk.valid().chars() {
            match u8::try_from(u32::from(scalar)) {
                Ok(byte) if byte.is_ascii() => text.push_str(&escaped(byte, b'"')),
                _ if scalar.is_control() => text.extend(scalar.escape_unicode()),
                _ => text.push(scalar),
            }
        }
        text.extend(chunk.invalid().iter().map(|byte| format!("\\{byte:03o}")));
    }
    format!("\"{text}\"{rest}")
}

fn escaped(byte: u8, quote: u8) -> String {
    match byte {
        b'\n' => "\\n".into(),
        b'\t' => "\\t".into(),
        b'\r' => "\\r".into(),
        7 => "\\a".into(),
        8 => "\\b".into(),
        11 => "\\v".into(),
        12 => "\\f".into(),
        27 => "\\033".into(),
        b'\\' => "\\\\".into(),
        _ if byte == quote => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).into(),
        _ => format!("\\{byte:03o}"),
    }
}

/// Writes a floating-point number in the shortest form that tells it from its neighbours.
fn float(bytes: &[u8]) -> String {
    match bytes.len() {
        4 => shortest(f32::from_le_bytes(bytes.try_into().unwrap_or_default())),
        8 => shortest(f64::from_le_bytes(bytes.try_into().unwrap_or_default())),
        16 | 10 | 12 => shortest(extended(bytes)),
        _ => hexadecimal(bytes),
    }
}

fn shortest(value: impl std::fmt::Debug) -> String {
    let written = format!("{value:?}");
    written.strip_suffix(".0").map_or(written.to_lowercase(), str::to_owned)
}

/// The double nearest to a number of the x87, whose mantissa has 64 bits.
fn extended(bytes: &[u8]) -> f64 {
    let mantissa = number(bytes) as f64;
    let top = u32::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let (sign, exponent) = (if top >> 15 == 1 { -1.0 } else { 1.0 }, (top & 0x7fff) as i32);
    match (exponent, number(bytes) << 1) {
        (0, 0) => sign * 0.0,
        (0x7fff, 0) => sign * f64::INFINITY,
        (0x7fff, _) => f64::NAN,
        // In two steps: the power alone may be too large or too small.
        _ => {
            let power = exponent - 16383 - 63;
            sign * mantissa * 2f64.powi(power / 2) * 2f64.powi(power - power / 2)
        }
    }
}
