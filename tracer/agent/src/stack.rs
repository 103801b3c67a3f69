//! A stack, in memory that grows or in memory that is given.

/// A stack of things; the last one is the topmost.
pub trait Stack {
    /// The type of the things.
    type Thing;
    /// The number of things.
    fn len(&self) -> usize;
    /// The thing with this number of others below it.
    fn get(&self, depth: usize) -> Option<&Self::Thing>;
    /// The same as [`Stack::get`], to be changed.
    fn get_mut(&mut self, depth: usize) -> Option<&mut Self::Thing>;
    /// Pushes a thing.
    fn push(&mut self, thing: Self::Thing);
    /// Removes all but the lowest `depth`, which are not more than there are.
    fn truncate(&mut self, depth: usize);

    /// Whether the stack is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The topmost thing.
    #[inline(always)]
    fn last(&self) -> Option<&Self::Thing> {
        self.get(self.len().wrapping_sub(1))
    }

    /// The topmost thing, to be changed.
    #[inline(always)]
    fn last_mut(&mut self) -> Option<&mut Self::Thing> {
        self.get_mut(self.len().wrapping_sub(1))
    }
}

#[cfg(feature = "std")]
impl<T> Stack for std::vec::Vec<T> {
    type Thing = T;

    #[inline(always)]
    fn len(&self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn get(&self, depth: usize) -> Option<&T> {
        self.as_slice().get(depth)
    }

    #[inline(always)]
    fn get_mut(&mut self, depth: usize) -> Option<&mut T> {
        self.as_mut_slice().get_mut(depth)
    }

    #[inline(always)]
    fn push(&mut self, thing: T) {
        self.push(thing);
    }

    #[inline(always)]
    fn truncate(&mut self, depth: usize) {
        self.truncate(depth);
    }
}

/// A stack in memory of fixed size that outlives it. What does not fit is lost: then the depth, which the owner of the
/// memory keeps, is greater than there are places.
#[derive(Debug)]
pub struct Bounded<'m, T> {
    memory: &'m mut [T],
    depth: &'m mut u32,
}

impl<'m, T> Bounded<'m, T> {
    /// A stack that takes the lowest `depth` places of the memory.
    pub fn new(memory: &'m mut [T], depth: &'m mut u32) -> Bounded<'m, T> {
        Bounded { memory, depth }
    }
}

impl<T> Stack for Bounded<'_, T> {
    type Thing = T;

    #[inline(always)]
    fn len(&self) -> usize {
        *self.depth as usize
    }

    #[inline(always)]
    fn get(&self, depth: usize) -> Option<&T> {
        self.memory.get(depth)
    }

    #[inline(always)]
    fn get_mut(&mut self, depth: usize) -> Option<&mut T> {
        self.memory.get_mut(depth)
    }

    #[inline(always)]
    fn push(&mut self, thing: T) {
        if let Some(place) = self.memory.get_mut(*self.depth as usize) {
            *place = thing;
        }
        *self.depth += 1;
    }

    #[inline(always)]
    fn truncate(&mut self, depth: usize) {
        *self.depth = depth as u32;
    }
}
