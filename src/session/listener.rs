//! Report the progress of a session to its caller.

use std::time::Duration;

use super::watcher::Watcher;

/// A listener for the progress of a session.
pub trait Listener {
    /// Tells something worth a line.
    fn tell(&self, line: &str);

    /// Begins a search: returns a watcher for it, which also ends it when it has no more time.
    fn search<'l>(&'l self, search: Begun<'_>) -> Box<dyn SearchWatcher + 'l>;
}

/// A search that begins.
#[derive(Clone, Copy, Debug)]
pub struct Begun<'b> {
    /// The name of its criterion, if there are several.
    pub criterion: Option<&'b str>,
    /// The time that it may take.
    pub time: Option<Duration>,
    /// The number of tests of an earlier search that it continues; `None` if there was none.
    pub known: Option<u64>,
}

/// A watcher of one search, to its end.
pub trait SearchWatcher: Watcher {
    /// Learns that the search has ended.
    fn ends(&mut self) {}
}
