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
