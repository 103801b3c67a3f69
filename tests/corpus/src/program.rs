//! List the well-known programs and build them.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::cache::{self, Draft};
use crate::compile::Compilation;
use crate::recipe::{Folder, Recipe};
use crate::sources::Source;
use crate::toolchain::Toolchain;

/// A program that is ready to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// The executable, as an absolute path.
    pub executable: PathBuf,
    /// The folder of its sources, as an absolute path. It is the compilation directory in the debugging
    /// information, which names the source files relative to it.
    pub sources: PathBuf,
}

impl Built {
    /// The parts of a build folder.
    pub(crate) fn new(folder: &Path, name: &str) -> Self {
        Built { executable: folder.join(name), sources: folder.join("sources") }
    }
}

/// A well-known program or library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Program {
    /// bzip2, a compressor by block sorting.
    Bzip2,
    /// expat, an XML parser: a state machine with callbacks.
    Expat,
    /// The interpreter of Lua 5.4.
    Lua,
    /// Oniguruma, a regular expression engine with backtracking and computed gotos.
    Oniguruma,
    /// QuickJS, a JavaScript engine.
    QuickJs,
    /// SQLite, a database; its only large file has a quarter of a million lines.
    Sqlite,
    /// tree-sitter, a parser with error recovery, and its grammar of JSON.
    TreeSitter,
    /// zlib, a compressor.
    Zlib,
}

impl Program {
    /// All of them.
    pub const ALL: [Program; 8] = [
        Program::Bzip2,
        Program::Expat,
        Program::Lua,
        Program::Oniguruma,
        Program::QuickJs,
        Program::Sqlite,
        Program::TreeSitter,
        Program::Zlib,
    ];

    /// The name of the program, which is also the file name of its executable.
    pub fn name(self) -> &'static str {
        self.recipe().name
    }

    /// Builds the program, unless it is there already.
    ///
    /// # Errors
    /// If cargo cannot download its sources, the compiler refuses them, or the target folder cannot be
    /// written.
    pub fn build(self, toolchain: &Toolchain) -> Result<Built> {
        let recipe = self.recipe();
        let sources = recipe.sources()?;
        let key = cache::key((recipe, &sources, toolchain, toolchain.version()?));
        let folder = cache::folder(recipe.name, key, |draft| make(recipe, &sources, toolchain, draft))?;
        Ok(Built::new(&folder, recipe.name))
    }

    /// The number of lines of its C files and headers.
    ///
    /// # Errors
    /// If cargo cannot download them.
    pub fn lines(self) -> Result<usize> {
        Ok(self.recipe().sources()?.iter().map(Source::lines).sum())
    }

    fn recipe(self) -> &'static Recipe {
        match self {
            Program::Bzip2 => &BZIP2,
            Program::Expat => &EXPAT,
            Program::Lua => &LUA,
            Program::Oniguruma => &ONIGURUMA,
            Program::QuickJs => &QUICKJS,
            Program::Sqlite => &SQLITE,
            Program::TreeSitter => &TREE_SITTER,
            Program::Zlib => &ZLIB,
        }
    }
}

fn make(recipe: &Recipe, sources: &[Source], toolchain: &Toolchain, draft: &Draft) -> Result<()> {
    let built = Built::new(draft.folder, recipe.name);
    for source in sources {
        source.copy_below(&built.sources)?;
    }
    let compilation = Compilation {
        toolchain,
        preprocessor: recipe.preprocessor,
        built,
        destination: Built::new(draft.destination, recipe.name),
    };
    compilation.run(&recipe.units(sources))
}

const BZIP2: Recipe = Recipe {
    name: "bzip2",
    folders: &[Folder { package: "bzip2-sys", path: "bzip2-1.0.8", copy: "bzip2/" }],
    units: &[
        "bzip2/blocksort.c",
        "bzip2/bzlib.c",
        "bzip2/compress.c",
        "bzip2/crctable.c",
        "bzip2/decompress.c",
        "bzip2/huffman.c",
        "bzip2/randtable.c",
    ],
    preprocessor: &["-Ibzip2", "-DBZ_NO_STDIO"],
};

const EXPAT: Recipe = Recipe {
    name: "expat",
    folders: &[Folder { package: "expat-sys", path: "expat/lib", copy: "expat/" }],
    units: &["expat/xmlparse.c", "expat/xmlrole.c", "expat/xmltok.c"],
    preprocessor: &["-I.", "-Iexpat", "-DHAVE_EXPAT_CONFIG_H"],
};

/// The seed of the hash function is fixed: by default it comes from addresses and the time.
const LUA: Recipe = Recipe {
    name: "lua",
    folders: &[Folder { package: "lua-src", path: "lua-5.4.9", copy: "lua/" }],
    units: &["lua/*.c"],
    preprocessor: &["-Ilua", "-DLUA_USE_POSIX", "-Dluai_makeseed(L)=0x5eed"],
};

/// Besides the engine only the encodings that the driver names.
const ONIGURUMA: Recipe = Recipe {
    name: "oniguruma",
    folders: &[Folder { package: "onig_sys", path: "oniguruma/src", copy: "oniguruma/" }],
    units: &[
        "oniguruma/ascii.c",
        "oniguruma/onig_init.c",
        "oniguruma/regcomp.c",
        "oniguruma/regenc.c",
        "oniguruma/regerror.c",
        "oniguruma/regexec.c",
        "oniguruma/regext.c",
        "oniguruma/regparse.c",
        "oniguruma/regsyntax.c",
        "oniguruma/regtrav.c",
        "oniguruma/regversion.c",
        "oniguruma/st.c",
        "oniguruma/unicode.c",
        "oniguruma/unicode_fold1_key.c",
        "oniguruma/unicode_fold2_key.c",
        "oniguruma/unicode_fold3_key.c",
        "oniguruma/unicode_unfold_key.c",
        "oniguruma/utf8.c",
    ],
    preprocessor: &["-I.", "-Ioniguruma"],
};

const QUICKJS: Recipe = Recipe {
    name: "quickjs",
    folders: &[Folder { package: "rquickjs-sys", path: "quickjs", copy: "quickjs/" }],
    units: &["quickjs/quickjs.c", "quickjs/libregexp.c", "quickjs/libunicode.c", "quickjs/dtoa.c"],
    preprocessor: &["-Iquickjs", "-D_GNU_SOURCE"],
};

/// Without threads, loadable extensions and temporary files.
const SQLITE: Recipe = Recipe {
    name: "sqlite",
    folders: &[Folder { package: "libsqlite3-sys", path: "sqlite3", copy: "sqlite/" }],
    units: &["sqlite/sqlite3.c"],
    preprocessor: &[
        "-Isqlite",
        "-DSQLITE_THREADSAFE=0",
        "-DSQLITE_OMIT_LOAD_EXTENSION",
        "-DSQLITE_TEMP_STORE=3",
        "-DSQLITE_DEFAULT_MEMSTATUS=0",
    ],
};

const TREE_SITTER: Recipe = Recipe {
    name: "tree-sitter",
    folders: &[
        Folder { package: "tree-sitter", path: "src", copy: "tree-sitter/" },
        Folder { package: "tree-sitter", path: "src/portable", copy: "tree-sitter/portable/" },
        Folder { package: "tree-sitter", path: "src/unicode", copy: "tree-sitter/unicode/" },
        Folder { package: "tree-sitter", path: "include/tree_sitter", copy: "include/tree_sitter/" },
        Folder { package: "tree-sitter-json", path: "src", copy: "json/" },
        Folder { package: "tree-sitter-json", path: "src/tree_sitter", copy: "json/tree_sitter/" },
    ],
    units: &["tree-sitter/lib.c", "json/parser.c"],
    preprocessor: &["-Iinclude", "-Ijson", "-D_DEFAULT_SOURCE"],
};

const ZLIB: Recipe = Recipe {
    name: "zlib",
    folders: &[Folder { package: "libz-sys", path: "src/zlib", copy: "zlib/" }],
    units: &[
        "zlib/adler32.c",
        "zlib/crc32.c",
        "zlib/deflate.c",
        "zlib/inffast.c",
        "zlib/inflate.c",
        "zlib/inftrees.c",
        "zlib/trees.c",
        "zlib/zutil.c",
    ],
    preprocessor: &["-Izlib"],
};
