//! Tell whoever has begun a session how it goes on.

use std::time::Duration;

use super::watcher::Watcher;

/// Somebody who is told how a session goes on.
pub trait Listener {
    /// Something worth a line.
    fn tell(&self, line: &str);

    /// A search begins: a watcher for it, who also ends it when it has no more time.
    fn search<'l>(&'l self, search: Begun<'_>) -> Box<dyn SearchWatcher + 'l>;
}

/// A search that begins.
#[derive(Clone, Copy, Debug)]
pub struct Begun<'b> {
    /// The name of its criterion, if there are several.
    pub criterion: Option<&'b str>,
    /// The time that it may take.
    pub time: Option<Duration>,
    /// The tests of an earlier search with which it goes on; `None` if there was none.
    pub known: Option<u64>,
}

/// Watches a search to its end.
pub trait SearchWatcher: Watcher {
    /// Learns that it has ended.
    fn ends(&mut self) {}
}
