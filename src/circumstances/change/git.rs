//! Read versions from a git repository, and nothing but read: no checkout, no index, no lock, no hook, no worktree.
//!
//! Contents come as git has stored them: what `.gitattributes` says about line ends and filters is not applied.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};

use super::tree::{Content, EntryMode, Tree, TreeEntry};
use super::workshop::BaseVersion;

/// The beginning of a file that git-lfs has replaced by a pointer.
const POINTER: &[u8] = b"version https://git-lfs";

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The object name: 40 or 64 hexadecimal digits.
    pub id: String,
    /// The names of its parents; the first is that of its line of development.
    pub parents: Vec<String>,
    /// The author.
    pub author: String,
    /// The date, as `2026-01-31`.
    pub date: String,
    /// The first line of its message.
    pub subject: String,
}

/// A repository that is only read.
pub struct Repository {
    top: PathBuf,
    /// The folder below the top in which it was found.
    below: PathBuf,
    store: Mutex<Store>,
}

/// A cache of contents, by names of objects.
struct Store {
    reader: Child,
    contents: HashMap<Vec<u8>, Content>,
}

/// The error message of git.
fn refusal(what: &str, output: &Output) -> io::Error {
    let said = String::from_utf8_lossy(&output.stderr);
    io::Error::other(format!("{what}: {}", said.trim().lines().next_back().unwrap_or("git has failed")))
}

fn git(folder: &Path) -> Command {
    let mut command = Command::new("git");
    // A file system monitor is a hook, and the cache of untracked files would be written.
    command.args(["-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "--no-optional-locks"]);
    command.args(["--no-pager", "-C"]).arg(folder).stdin(Stdio::null());
    for (name, value) in [("GIT_OPTIONAL_LOCKS", "0"), ("GIT_NO_LAZY_FETCH", "1"), ("LC_ALL", "C")] {
        command.env(name, value);
    }
    command.env("GIT_TERMINAL_PROMPT", "0");
    command
}

fn trimmed(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes.strip_suffix(b"\n").unwrap_or(bytes))
}

impl Repository {
    /// Finds the repository that a folder is in; `None` if it is in none.
    ///
    /// # Errors
    /// If git cannot be started.
    pub fn around(folder: &Path) -> io::Result<Option<Repository>> {
        let ask = |question: &str| git(folder).args(["rev-parse", question]).output();
        let top = match ask("--show-toplevel") {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            top => top?,
        };
        let (top, below) = match top.status.success() {
            true => (PathBuf::from(trimmed(&top.stdout)), trimmed(&ask("--show-prefix")?.stdout).into()),
            // A bare repository has versions as well.
            false => {
                let bare = ask("--absolute-git-dir")?;
                if !bare.status.success() {
                    return Ok(None);
                }
                (PathBuf::from(trimmed(&bare.stdout)), PathBuf::new())
            }
        };
        let mut reader = git(&top);
        reader.args(["cat-file", "--batch"]).stdin(Stdio::piped());
        let reader = reader.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let store = Mutex::new(Store { reader, contents: HashMap::new() });
        Ok(Some(Repository { top, below, store }))
    }

    /// The top folder of its files.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// The folder below the top in which it was found.
    pub fn below(&self) -> &Path {
        &self.below
    }

    fn ask<I: AsRef<OsStr>>(&self, what: &str, words: impl IntoIterator<Item = I>) -> io::Result<Vec<u8>> {
        let output = git(&self.top).args(words).output()?;
        if output.status.success() { Ok(output.stdout) } else { Err(refusal(what, &output)) }
    }

    /// The commit that a revision names; `None` if it names none.
    ///
    /// # Errors
    /// If git cannot be started.
    pub fn commit_of(&self, revision: &OsStr) -> io::Result<Option<String>> {
        let mut name = OsString::from(revision);
        name.push("^{commit}");
        let words = ["rev-parse", "--verify", "--quiet", "--end-of-options"].map(OsString::from);
        let output = git(&self.top).args(words).arg(name).output()?;
        let found = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok(Some(found).filter(|name| output.status.success() && !name.is_empty()))
    }

    /// The tree of a commit.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn tree(&self, commit: &str) -> io::Result<Tree> {
        let listed = self.ask(commit, ["ls-tree", "-r", "-z", "--full-tree", commit])?;
        let mut tree = Tree::default();
        for line in listed.split(|&byte| byte == 0).filter(|line| !line.is_empty()) {
            let broken = || io::Error::other(format!("git ls-tree {commit}: a line cannot be read"));
            let tab = line.iter().position(|&byte| byte == b'\t').ok_or_else(broken)?;
            let words: Vec<&[u8]> = line[..tab].split(|&byte| byte == b' ').collect();
            let [mode, _, object] = words[..] else { return Err(broken()) };
            let path = PathBuf::from(OsStr::from_bytes(&line[tab + 1..]));
            let mode = match mode {
                b"160000" => {
                    let what = format!(
                        "submodule {}, left out: its files are not in the repository",
                        path.display()
                    );
                    tree.remarks.push(what);
                    continue;
                }
                b"120000" => EntryMode::Link,
                b"100755" => EntryMode::Executable,
                _ => EntryMode::Plain,
            };
            let content = self.content(object)?;
            tree.entries.insert(path, TreeEntry { mode, content });
        }
        Ok(tree)
    }

    fn content(&self, object: &[u8]) -> io::Result<Content> {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = store.contents.get(object) {
            return Ok(known.clone());
        }
        let content = Content::new(store.read(object)?);
        store.contents.insert(object.to_owned(), content.clone());
        Ok(content)
    }

    /// Reads contents from the files of a version on the disk from now on, where they are there.
    pub fn read_from(&self, version: &BaseVersion) {
        let kept = version.files();
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        for content in store.contents.values_mut() {
            if let Some(file) = kept.get(&content.key()) {
                *content = content.kept_in(file.clone());
            }
        }
    }

    /// The working tree as it is: the files that git knows, and those that it does not ignore.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn working_tree(&self) -> io::Result<Tree> {
        let words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let listed = self.ask("the working tree", words)?;
        let paths = listed.split(|&byte| byte == 0).filter(|path| !path.is_empty());
        Tree::of_files(&self.top, paths.map(|path| PathBuf::from(OsStr::from_bytes(path))))
    }

    /// True if a commit is another one, or an ancestor of it.
    ///
    /// # Errors
    /// If git cannot tell.
    pub fn is_ancestor(&self, ancestor: &str, commit: &str) -> io::Result<bool> {
        let status = git(&self.top).args(["merge-base", "--is-ancestor", ancestor, commit]).status()?;
        match status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(io::Error::other(format!("git merge-base {ancestor} {commit} has failed"))),
        }
    }

    /// The commits that lead to `to`, each by its first parent, as far as they are not `from` or before it;
    /// the oldest first.
    ///
    /// # Errors
    /// If git cannot tell.
    pub fn line(&self, from: &str, to: &str) -> io::Result<Vec<Commit>> {
        let range = format!("{from}..{to}");
        let words = ["log", "--first-parent", "--topo-order", "--reverse", "-z", "--no-show-signature"];
        let format = "--format=%H%n%P%n%an <%ae>%n%as%n%s";
        let listed = self.ask(&range, words.into_iter().chain([format, &range, "--"]))?;
        let commits = listed.split(|&byte| byte == 0).filter(|text| !text.is_empty());
        Ok(commits.map(|text| Commit::read(&String::from_utf8_lossy(text))).collect())
    }

    /// The commits that have written some lines of a file as it is in `commit`, leaving out those of `from`
    /// and before.
    ///
    /// # Errors
    /// If git cannot tell.
    pub fn blame(
        &self,
        from: &str,
        commit: &str,
        lines: (usize, usize),
        file: &Path,
    ) -> io::Result<Vec<String>> {
        let range = format!("{},{}", lines.0, lines.1);
        let between = format!("{from}..{commit}");
        let words = ["blame", "--porcelain", "-L", &range, &between, "--"].map(OsString::from);
        let told = self.ask("blame", words.into_iter().chain([file.into()]))?;
        let text = String::from_utf8_lossy(&told);
        // Lines from before the range are marked as those of its boundary.
        let is_name = |word: &str| word.len() >= 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let (mut names, mut latest): (Vec<String>, Option<String>) = (Vec::new(), None);
        for line in text.lines() {
            let word = line.split(' ').next().unwrap_or_default();
            if is_name(word) {
                latest = Some(word.to_owned());
                names.push(word.to_owned());
            } else if line == "boundary" {
                names.retain(|name| Some(name) != latest.as_ref());
            }
        }
        names.dedup();
        Ok(names)
    }

    /// The latest commit that has changed a file, of those that lead to `to` and not to `from`.
    ///
    /// # Errors
    /// If git cannot tell.
    pub fn latest(&self, from: &str, to: &str, file: &Path) -> io::Result<Option<String>> {
        let range = format!("{from}..{to}");
        let words = ["rev-list", "-1", &range, "--"].map(OsString::from);
        let told = self.ask(&range, words.into_iter().chain([file.into()]))?;
        Ok(Some(String::from_utf8_lossy(&told).trim().to_owned()).filter(|name| !name.is_empty()))
    }

    /// The description of a commit.
    ///
    /// # Errors
    /// If git cannot tell.
    pub fn described(&self, commit: &str) -> io::Result<Commit> {
        let words = ["log", "-1", "--no-show-signature", "--format=%H%n%P%n%an <%ae>%n%as%n%s", commit, "--"];
        Ok(Commit::read(&String::from_utf8_lossy(&self.ask(commit, words)?)))
    }
}

impl Commit {
    fn read(text: &str) -> Commit {
        let mut lines = text.lines();
        let mut next = || lines.next().unwrap_or_default().to_owned();
        let (id, parents) = (next(), next());
        let parents = parents.split_whitespace().map(str::to_owned).collect();
        Commit { id, parents, author: next(), date: next(), subject: next() }
    }

    /// The first digits of its name.
    pub fn short(&self) -> &str {
        self.id.get(..12).unwrap_or(&self.id)
    }
}

impl Store {
    fn read(&mut self, object: &[u8]) -> io::Result<Vec<u8>> {
        let name = String::from_utf8_lossy(object).into_owned();
        let failed = |why: &str| io::Error::other(format!("object {name} of the repository: {why}"));
        let (Some(input), Some(output)) = (&mut self.reader.stdin, &mut self.reader.stdout) else {
            return Err(failed("git has ended"));
        };
        input.write_all(&[object, b"\n"].concat())?;
        // No more is read than the object: nothing is lost with the reader.
        let mut output = BufReader::with_capacity(1, output);
        let mut heading = String::new();
        output.read_line(&mut heading)?;
        let words: Vec<&str> = heading.split_whitespace().collect();
        let size = match words[..] {
            [_, "blob", size] => size.parse::<usize>().ok(),
            _ => None,
        };
        let size = size.ok_or_else(|| failed("it is missing; fetch it, a partial clone may lack it"))?;
        let mut bytes = vec![0; size + 1];
        output.read_exact(&mut bytes)?;
        bytes.pop();
        Ok(bytes)
    }
}

impl Drop for Store {
    /// Ends git by closing its input.
    fn drop(&mut self) {
        self.reader.stdin.take();
        let _ = self.reader.wait();
    }
}

/// True if a content is only a pointer of git-lfs.
pub fn is_pointer(content: &[u8]) -> bool {
    content.starts_with(POINTER)
}
