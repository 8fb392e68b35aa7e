//! A map that forgets.

use std::{
    borrow::Borrow,
    collections::{HashMap, VecDeque},
    hash::Hash,
};

/// Keeps what was inserted last, as much as there is room for.
#[derive(Debug)]
pub(super) struct Recent<K, V> {
    kept: HashMap<K, V>,
    /// Oldest first.
    order: VecDeque<K>,
    capacity: usize,
}

impl<K: Hash + Eq + Clone, V> Recent<K, V> {
    /// At most so many; the oldest are forgotten first.
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self { kept: HashMap::new(), order: VecDeque::new(), capacity }
    }

    pub(super) fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.kept.get(key)
    }

    /// Inserts a value, also in the place of another.
    pub(super) fn insert(&mut self, key: K, value: V) {
        if self.kept.insert(key.clone(), value).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > self.capacity
            && let Some(oldest) = self.order.pop_front()
        {
            self.kept.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Recent;

    #[test]
    fn the_oldest_are_forgotten() {
        let mut recent = Recent::with_capacity(3);
        for key in 0..10 {
            recent.insert(key, key);
            recent.insert(9, 9);
        }
        let kept: Vec<i32> = (0..10).filter(|key| recent.get(key).is_some()).collect();
        assert_eq!(kept.len(), 3, "{kept:?}");
        assert!(kept.contains(&8), "{kept:?}");
    }
}
