//! Put a page together: what all pages have, around what one of them shows.

use serde::Serialize;
use serde_json::Value;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
/// The scripts of all pages, which stand before those of one kind.
const SCRIPTS: [&str; 2] = [include_str!("dom.js"), include_str!("theme.js")];

/// A kind of page: its parts, all markup but the data.
pub(super) struct Frame<'a> {
    /// The kind, as the style sheet knows it.
    pub(super) kind: &'a str,
    /// The words after the subject in the title of the window.
    pub(super) about: &'a str,
    /// The heading.
    pub(super) heading: &'a str,
    /// The section that keyboards can jump to, and what it is called.
    pub(super) skip: (&'a str, &'a str),
    /// The content of the page, with places for the data.
    pub(super) main: &'a str,
    /// The style of this kind; empty if it has none of its own.
    pub(super) style: &'a str,
    /// The scripts that put the data into their places.
    pub(super) scripts: &'a [&'a str],
}

impl Frame<'_> {
    /// Writes the page about a subject, with its data.
    pub(super) fn page(&self, subject: &str, data: &impl Serialize) -> String {
        let data = serde_json::to_value(data).expect("a document has text keys only");
        let (section, words) = self.skip;
        fill(
            PAGE,
            &[
                ("title", &format!("{}: {}", escaped(subject), self.about)),
                ("style", &[STYLE, self.style].concat()),
                ("kind", self.kind),
                ("skip", &format!("<a class=\"skip\" href=\"#{section}\">Skip to {words}</a>")),
                ("heading", self.heading),
                ("main", self.main.trim_end()),
                ("data", &embedded(&data)),
                ("scripts", &[&SCRIPTS.concat()[..], &self.scripts.concat()].concat()),
            ],
        )
    }
}

/// Replaces marks by texts. Each text is looked at once, so that nothing in it can be taken for a mark.
fn fill(template: &str, texts: &[(&str, &str)]) -> String {
    let mut page = String::new();
    let mut rest = template;
    for (name, text) in texts {
        let (before, behind) = rest.split_once(&format!("{{{{{name}}}}}")).expect("the page has its marks");
        page.push_str(before);
        page.push_str(text);
        rest = behind;
    }
    page + rest
}

/// Escapes JSON so that it cannot end the element around it, nor begin a comment in it.
fn embedded(data: &Value) -> String {
    data.to_string().replace('<', "\\u003c")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Frame = Frame {
        kind: "plain",
        about: "test",
        heading: "",
        skip: ("a", "b"),
        main: "",
        style: "",
        scripts: &[],
    };

    #[test]
    fn nothing_in_the_data_can_end_its_element() {
        let page = FRAME.page("a < b", &"</script><!--");
        assert_eq!(page.matches("</script>").count(), PAGE.matches("</script>").count());
        assert!(page.contains("<title>a &lt; b: test<"), "{page}");
    }

    #[test]
    fn a_mark_within_a_text_stays_as_it_is() {
        assert_eq!(fill("{{a}}-{{b}}", &[("a", "{{b}}"), ("b", "x")]), "{{b}}-x");
    }
}
