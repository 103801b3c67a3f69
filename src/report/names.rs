//! Shorten the names of functions with type parameters: those of C++ and Rust may be pages long.

/// The length in characters from which names are shortened.
const LONG: usize = 50;

/// Shortens a long name for a heading: the type parameters, between `<` and `>`, are left out. The type and the
/// trait of a method of Rust, `<T as Trait>::f`, are its name.
pub(super) fn short(name: &str) -> String {
    if name.chars().count() <= LONG {
        return name.to_owned();
    }
    let (mut told, mut depth, mut before) = (String::new(), 0_u32, ' ');
    for (at, character) in name.char_indices() {
        match character {
            '<' if depth > 0 => depth += 1,
            '>' if depth > 0 && before == '-' => {}
            '>' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    told.push('>');
                }
            }
            '<' if is_behind_name(&told) && !name[at..].starts_with("<impl ") => {
                told += "<...";
                depth = 1;
            }
            _ if depth > 0 => {}
            _ => told.push(character),
        }
        before = character;
    }
    // The angle brackets were not those of type parameters.
    if depth == 0 { told } else { name.to_owned() }
}

/// True if a `<` here would begin the type parameters of a name; not in `operator<`.
fn is_behind_name(told: &str) -> bool {
    let is_operator = told.trim_end_matches(['<', '>', '=', '-']).ends_with("operator");
    let is_of_name = |last: char| last.is_alphanumeric() || "_:}".contains(last);
    !is_operator && told.chars().next_back().is_some_and(is_of_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_lose_what_they_are_made_for() {
        for (name, expected) in [
            (
                "tr::fold::<tr::Sum<i64>, core::iter::adapters::filter::Filter<core::ops::Range<i64>, fn(i64) -> i64>>",
                "tr::fold::<...>",
            ),
            (
                "<tr::Sum<alloc::vec::Vec<core::option::Option<i64>>> as tr::Acc<alloc::string::String>>::add",
                "<tr::Sum<...> as tr::Acc<...>>::add",
            ),
            (
                "int find<std::__cxx11::basic_string<char, std::char_traits<char>>, int>(std::map<int, int> const&)",
                "int find<...>(std::map<...> const&)",
            ),
            (
                "bool geometry::operator< <geometry::plane::Point<double>, double>(int)",
                "bool geometry::operator< <geometry::plane::Point<...>, double>(int)",
            ),
            (
                "std::ostream& geometry::plane::drawing::operator<<(int)",
                "std::ostream& geometry::plane::drawing::operator<<(int)",
            ),
            (
                "alloc::collections::<impl tr::Very::Long::Name::Acc for i64>::add",
                "alloc::collections::<impl tr::Very::Long::Name::Acc for i64>::add",
            ),
            ("gen::Stack<T,U>::total", "gen::Stack<T,U>::total"),
        ] {
            assert_eq!(short(name), expected);
        }
    }
}
