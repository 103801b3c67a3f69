//! Parse texts of known languages: their syntax trees, by tree-sitter and the grammars that this program was built with.
//!
//! Which grammars are in is a matter of Cargo features. Errors in a text are no obstacle: they become nodes of their own.

use std::ops::Range;
use std::path::Path;

use tree_sitter::{Node, Parser};

/// A language of which a grammar is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Language {
    Bash,
    C,
    Cpp,
    Css,
    Html,
    JavaScript,
    Json,
    Lua,
    Markdown,
    Python,
    Rust,
    Sql,
    Xml,
}

use Language::{Bash, C, Cpp, Css, Html, JavaScript, Json, Lua, Markdown, Python, Rust, Sql, Xml};

impl Language {
    /// All of them.
    pub const ALL: [Language; 13] =
        [Bash, C, Cpp, Css, Html, JavaScript, Json, Lua, Markdown, Python, Rust, Sql, Xml];

    /// As the user names it.
    pub fn name(self) -> &'static str {
        match self {
            Bash => "Bash",
            C => "C",
            Cpp => "C++",
            Css => "CSS",
            Html => "HTML",
            JavaScript => "JavaScript",
            Json => "JSON",
            Lua => "Lua",
            Markdown => "Markdown",
            Python => "Python",
            Rust => "Rust",
            Sql => "SQL",
            Xml => "XML",
        }
    }

    /// The language of a file of this name, if its ending tells.
    pub fn of_file(name: &Path) -> Option<Language> {
        let ending = name.extension()?.to_str()?.to_ascii_lowercase();
        Some(match &ending[..] {
            "sh" | "bash" => Bash,
            "c" | "h" | "i" => C,
            "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" | "ii" => Cpp,
            "css" => Css,
            "html" | "htm" => Html,
            "js" | "mjs" | "cjs" => JavaScript,
            "json" => Json,
            "lua" => Lua,
            "md" | "markdown" => Markdown,
            "py" => Python,
            "rs" => Rust,
            "sql" => Sql,
            "xml" | "svg" | "xsd" | "xsl" => Xml,
            _ => return None,
        })
    }

    /// The language of a text whose name does not tell, if the grammar of one derives nearly all of it. Those in which
    /// any text is one, as in Markdown, are not looked for.
    pub fn of_text(text: &[u8]) -> Option<Language> {
        /// It takes seconds to find out that a longer text is in none of them.
        const LONGEST: usize = 1 << 18;
        /// The share of a text, one byte of so many, that may be in error.
        const SHARE: usize = 50;
        if text.len() > LONGEST || text.trim_ascii().is_empty() {
            return None;
        }
        let is_markup = text.trim_ascii_start().starts_with(b"<");
        let is_likely = |language: &Language| match language {
            Html | Xml => is_markup,
            Bash | Css | Markdown => false,
            _ => !is_markup,
        };
        let errors = Language::ALL.into_iter().filter(is_likely).filter_map(|language| {
            // What is JSON is JavaScript, too.
            Some((SyntaxTree::of(text, language)?.in_error(), language != Json, language))
        });
        let (errors, _, language) = errors.min()?;
        (errors * SHARE <= text.len()).then_some(language)
    }

    /// Whether this program was built with its grammar.
    pub fn is_built_in(self) -> bool {
        self.grammar().is_some()
    }

    fn grammar(self) -> Option<tree_sitter::Language> {
        match self {
            #[cfg(feature = "bash")]
            Bash => Some(tree_sitter_bash::LANGUAGE.into()),
            #[cfg(feature = "c")]
            C => Some(tree_sitter_c::LANGUAGE.into()),
            #[cfg(feature = "cpp")]
            Cpp => Some(tree_sitter_cpp::LANGUAGE.into()),
            #[cfg(feature = "css")]
            Css => Some(tree_sitter_css::LANGUAGE.into()),
            #[cfg(feature = "html")]
            Html => Some(tree_sitter_html::LANGUAGE.into()),
            #[cfg(feature = "javascript")]
            JavaScript => Some(tree_sitter_javascript::LANGUAGE.into()),
            #[cfg(feature = "json")]
            Json => Some(tree_sitter_json::LANGUAGE.into()),
            #[cfg(feature = "lua")]
            Lua => Some(tree_sitter_lua::LANGUAGE.into()),
            #[cfg(feature = "markdown")]
            Markdown => Some(tree_sitter_md::LANGUAGE.into()),
            #[cfg(feature = "python")]
            Python => Some(tree_sitter_python::LANGUAGE.into()),
            #[cfg(feature = "rust")]
            Rust => Some(tree_sitter_rust::LANGUAGE.into()),
            #[cfg(feature = "sql")]
            Sql => Some(tree_sitter_sequel::LANGUAGE.into()),
            #[cfg(feature = "xml")]
            Xml => Some(tree_sitter_xml::LANGUAGE_XML.into()),
            #[allow(unreachable_patterns, reason = "with all grammars nothing is left")]
            _ => None,
        }
    }
}

/// A node of a syntax tree.
#[derive(Clone, Debug)]
pub struct SyntaxNode {
    /// Its byte range in the text.
    pub range: Range<usize>,
    /// The grammar's name for its kind: `if_statement`, or `,` for a sign.
    pub kind: &'static str,
    /// Whether the grammar has a name for it, and does not only spell it.
    pub is_named: bool,
    /// Whether it holds what the grammar does not allow there, or stands for what is missing.
    pub is_error: bool,
    /// The node around it.
    pub parent: Option<usize>,
    /// The nodes in it, in order.
    pub children: Vec<usize>,
    /// The number of nodes around it.
    pub depth: u32,
}

/// The syntax tree of a text: its nodes, each before those in it.
#[derive(Clone, Debug)]
pub struct SyntaxTree {
    /// The nodes; the first one is the whole text.
    pub nodes: Vec<SyntaxNode>,
}

impl SyntaxTree {
    /// Parses; `None` if there is no grammar of that language here, or the text is too long for it.
    pub fn of(text: &[u8], language: Language) -> Option<SyntaxTree> {
        let mut parser = Parser::new();
        parser.set_language(&language.grammar()?).ok()?;
        let tree = parser.parse(text, None)?;
        let mut nodes: Vec<SyntaxNode> = Vec::new();
        let mut to_do: Vec<(Node<'_>, Option<usize>)> = vec![(tree.root_node(), None)];
        let mut cursor = tree.walk();
        while let Some((node, parent)) = to_do.pop() {
            let number = nodes.len();
            let depth = parent.map_or(0, |parent| nodes[parent].depth + 1);
            nodes.push(SyntaxNode {
                range: node.byte_range(),
                kind: node.kind(),
                is_named: node.is_named(),
                is_error: node.is_error() || node.is_missing(),
                parent,
                children: Vec::new(),
                depth,
            });
            if let Some(parent) = parent {
                nodes[parent].children.push(number);
            }
            let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
            to_do.extend(children.into_iter().rev().map(|child| (child, Some(number))));
        }
        Some(SyntaxTree { nodes })
    }

    /// The number of bytes in errors, and one for each that is missing something.
    fn in_error(&self) -> usize {
        let is_outermost = |node: &&SyntaxNode| {
            node.is_error && node.parent.is_none_or(|parent| !self.nodes[parent].is_error)
        };
        self.nodes.iter().filter(is_outermost).map(|node| node.range.len().max(1)).sum()
    }

    /// The numbers of the nodes around one, the nearest first.
    pub fn above(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.nodes[node].parent, |&node| self.nodes[node].parent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_of_names_tell_languages() {
        let of = |name: &str| Language::of_file(Path::new(name));
        assert_eq!(of("a/b.C.js"), Some(JavaScript));
        assert_eq!(of("page.HTM"), Some(Html));
        assert_eq!((of("Makefile"), of(".c"), of("x.txt")), (None, None, None));
    }

    #[test]
    fn texts_tell_languages() {
        let of = |text: &str| Language::of_text(text.as_bytes());
        assert_eq!(of("local t = {}\nfor i = 1, 3 do t[i] = i end\n"), Some(Lua));
        assert_eq!(of("{\"a\": [1, 2, null]}\n"), Some(Json));
        assert_eq!(of("int f(int *a) { return *a + 1; }\n"), Some(C));
        assert_eq!(of("def f(x):\n    return [y for y in x]\n"), Some(Python));
        assert_eq!(of("<p>a <b>bold</b> text</p>\n"), Some(Html));
        for other in ["", " \n", "some [text [with] brackets], and words.\n", "\u{1}(\u{2}", "]]]"] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn each_grammar_that_is_in_parses_its_language_whatever_stands_there() {
        for language in Language::ALL.into_iter().filter(|language| language.is_built_in()) {
            for text in ["", "a", "f(x, [1, 2]) { return \"y\"; }\n", "\u{e9} <b a='1'>(\n", "\0\u{7f}"] {
                let tree = SyntaxTree::of(text.as_bytes(), language).expect("a tree");
                for node in &tree.nodes {
                    assert!(
                        node.range.end <= text.len() && node.range.start <= node.range.end,
                        "{language:?}"
                    );
                    let within = node.children.iter().map(|&child| &tree.nodes[child].range);
                    assert!(
                        within.clone().zip(within.skip(1)).all(|(one, next)| one.end <= next.start),
                        "{text}"
                    );
                }
            }
        }
    }
}
