//! Which questions are like others.

use cairn_model::map::Branch;
use cairn_search::{Contexts, Question, View};
use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

/// How often questions like one were asked, in all searches that share it.
///
/// Inputs of a fuzzer take thousands of ways to the same branch, and most of what could be asked about them was answered about another. Two
/// questions are alike if they lead to the same branch and the two branches before are the same.
#[derive(Clone, Debug, Default)]
pub struct SolvedBefore {
    n_asked: Arc<Mutex<HashMap<u64, u32>>>,
    /// Questions that had no answer, by where they lead to.
    n_in_vain: Arc<Mutex<HashMap<Branch, u32>>>,
    /// How many times the limits were doubled.
    patience: Arc<AtomicU32>,
}

/// How many branches before a question count.
const CONTEXT: usize = 2;

/// Questions like one that are asked where nobody took the branch it leads to.
const MOST_TOWARDS_NEW: u32 = 24;

/// The same where somebody did.
const MOST: u32 = 3;

/// Questions without an answer that lead to the same branch, on whatever way. Many branches cannot be taken at all.
const MOST_IN_VAIN: u32 = 4;

/// More patience than this is no different.
const MOST_PATIENCE: u32 = 20;

impl SolvedBefore {
    /// From now on twice as many questions are asked that are alike: there are no others.
    pub fn be_patient(&self) {
        self.patience.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether a question is worth asking; it is then asked.
    pub fn is_worth(&self, view: &View<'_>, question: Question) -> bool {
        let aim = view.aim(question);
        let is_new = aim.is_some_and(|aim| view.history.first_taken(aim).is_none());
        let patience = 1 << self.patience.load(Ordering::Relaxed).min(MOST_PATIENCE);
        if aim.is_some_and(|aim| self.in_vain().get(&aim).is_some_and(|n| *n >= MOST_IN_VAIN * patience)) {
            return false;
        }
        let most = patience * if is_new { MOST_TOWARDS_NEW } else { MOST };
        let mut n_asked = self.n_asked.lock().unwrap_or_else(PoisonError::into_inner);
        let n_asked = n_asked.entry(likeness(view, question, aim)).or_default();
        let is_worth = *n_asked < most;
        *n_asked += u32::from(is_worth);
        is_worth
    }

    /// Notes that a question which leads to a branch had no answer.
    pub(super) fn was_in_vain(&self, aim: Option<Branch>) {
        if let Some(aim) = aim {
            *self.in_vain().entry(aim).or_default() += 1;
        }
    }

    fn in_vain(&self) -> MutexGuard<'_, HashMap<Branch, u32>> {
        self.n_in_vain.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn likeness(view: &View<'_>, question: Question, aim: Option<Branch>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (aim, Contexts::of(view, question, CONTEXT)).hash(&mut hasher);
    hasher.finish()
}
