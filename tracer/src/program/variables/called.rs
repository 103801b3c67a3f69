//! Names of the source: the variable, the member or element of one, or the target of a pointer that a name means.

use super::find::{LocatedVariable, Search, rust_name};
use super::types::{Shape, TypeId};
use super::{ImageVariables, MemoryPiece, Named, Variables, View};

/// A step from a value to a part of it, or to what it leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step<'n> {
    /// `.name`, or `->name`.
    Member(&'n str),
    /// `[number]`.
    Element(u64),
    /// A subscript of Fortran: `(number)`; of `(i,j)` that of the last dimension is the first step.
    Subscript(i64),
    /// The target of the pointer: `*` before all.
    Target,
}

impl Variables {
    /// The value that a name means in a function where it is stopped: `sum`, `p->next`, `list[2].x`, `*p`.
    pub(crate) fn called(&self, view: View<'_>, name: &str) -> Option<Named> {
        let (stars, rest) = name.trim().split_at(name.trim().find(|c| c != '*').unwrap_or(0));
        let (variable, mut steps) = parse(rest)?;
        steps.extend(stars.chars().map(|_| Step::Target));
        let search = self.search(view)?;
        let globals = &self.images[search.image].globals;
        let own = search.visible();
        let global = || globals.iter().find(|global| global.name == variable).cloned();
        let there = |global: LocatedVariable| LocatedVariable {
            address: global.address.wrapping_add(view.bias),
            ..global
        };
        let found = own.into_iter().find(|own| own.name == variable).or_else(|| global().map(there))?;
        let found = steps.iter().try_fold(found, |whole, step| search.step(whole, step))?;
        search.named(LocatedVariable { name: name.to_owned(), ..search.settled(found)? }, None)
    }

    /// Whether a piece of memory is that of a global variable.
    pub(crate) fn is_global(&self, view: View<'_>, piece: MemoryPiece) -> bool {
        let Some(&(image, _)) = self.functions.get(&view.function) else { return false };
        let ImageVariables { types, globals, .. } = &self.images[image];
        let address = piece.address.wrapping_sub(view.bias);
        let behind = globals.partition_point(|global| global.address <= address);
        let piece = MemoryPiece { address, length: 1.min(piece.length) };
        behind.checked_sub(1).is_some_and(|at| globals[at].holds(piece, types))
    }
}

/// The variable that a name begins with, and the steps from there.
fn parse(name: &str) -> Option<(&str, Vec<Step<'_>>)> {
    let end = |text: &str| text.find(['.', '[', '-', '(', '%']).unwrap_or(text.len());
    let (variable, mut rest) = name.split_at(end(name));
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (number, behind) = inside.split_once(']')?;
            steps.push(Step::Element(number.trim().parse().ok()?));
            rest = behind;
        } else if let Some(inside) = rest.strip_prefix('(') {
            let (numbers, behind) = inside.split_once(')')?;
            let numbers: Option<Vec<i64>> =
                numbers.split(',').map(|number| number.trim().parse().ok()).collect();
            steps.extend(numbers?.into_iter().rev().map(Step::Subscript));
            rest = behind;
        } else {
            let behind = rest.strip_prefix(['.', '%']).or_else(|| rest.strip_prefix("->"))?;
            let (member, left) = behind.split_at(end(behind));
            steps.push(Step::Member(member));
            rest = left;
        }
    }
    (!variable.is_empty()).then_some((variable, steps))
}

impl Search<'_> {
    fn step(&self, whole: LocatedVariable, step: &Step<'_>) -> Option<LocatedVariable> {
        let whole = self.settled(whole)?;
        match *step {
            Step::Target => self.target(&whole),
            Step::Element(number) => match self.types.get(whole.kind).shape {
                Shape::Array(of, dimension) => Some(element(&whole, of, number, dimension.stride)),
                _ => {
                    let target = self.target(&whole)?;
                    let kind = target.kind;
                    Some(element(&target, kind, number, self.types.get(kind).size))
                }
            },
            Step::Subscript(subscript) => {
                let Shape::Array(of, dimension) = self.types.get(whole.kind).shape else { return None };
                let number = u64::try_from(subscript.checked_sub(dimension.first)?).ok()?;
                (number < dimension.count).then(|| element(&whole, of, number, dimension.stride))
            }
            Step::Member(name) => {
                let whole = match self.types.get(whole.kind).shape {
                    Shape::Pointer(_) | Shape::Reference(_) => self.target(&whole)?,
                    _ => whole,
                };
                let Shape::Record(record) = &self.types.get(whole.kind).shape else { return None };
                let is_meant = |member: &&super::types::Member| rust_name(&member.name) == name;
                record.members.iter().find(is_meant).map(|member| self.member(&whole, member))
            }
        }
    }

    fn target(&self, pointer: &LocatedVariable) -> Option<LocatedVariable> {
        let to = match self.types.get(pointer.kind).shape {
            Shape::Pointer(Some(to)) | Shape::Reference(Some(to)) => to,
            _ => return None,
        };
        let bytes = self.stop.memory.read(pointer.address, 8)?;
        let address = u64::from_le_bytes(bytes.try_into().ok()?);
        self.settled(LocatedVariable { address, kind: to, ..pointer.clone() })
    }
}

fn element(whole: &LocatedVariable, kind: TypeId, number: u64, stride: u64) -> LocatedVariable {
    LocatedVariable {
        address: whole.address.wrapping_add(number.wrapping_mul(stride)),
        kind,
        ..whole.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_variable_and_steps() {
        let member = Step::Member("next");
        assert_eq!(parse("sum"), Some(("sum", vec![])));
        assert_eq!(parse("p->next.next"), Some(("p", vec![member.clone(), member])));
        assert_eq!(parse("list[2].x"), Some(("list", vec![Step::Element(2), Step::Member("x")])));
        let cell = vec![Step::Subscript(-2), Step::Subscript(1), Step::Member("x")];
        assert_eq!(parse("m(1, -2)%x"), Some(("m", cell)));
        for wrong in ["", "[2]", "a[x]", "a[2", "a-b", "a(:)", "a(1"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
