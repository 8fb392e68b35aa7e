//! Whose turn it is: the search's for candidates, or the fuzzer's.
//!
//! Candidates cost time that the fuzzer could have, and what they reach it may reach as well. So they are looked for in instalments, and
//! both are asked what they earn: how many counters that nobody had hit, for what they spend. The search has its first turn when the
//! fuzzer's curve flattens, or before everything else, as in the paper. After that it has another one whenever the fuzzer, over a whole
//! turn of its own, has earned less than the search in its last; the less a turn of the search has paid, the longer are the fuzzer's.

use std::cmp::Ordering;

/// Who begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Begins {
    /// The fuzzer: what it reaches at once, nobody needs to search for.
    #[default]
    Fuzzer,
    /// The search, as in the paper.
    Search,
}

/// Who works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The search for candidates.
    Search,
    /// The fuzzer.
    Fuzz,
}

/// Who works, and for how long. What is spent is counted in anything that both spend, as long as it is the same.
#[derive(Debug)]
pub(crate) struct Instalments {
    turn: Turn,
    /// What a turn of the search may spend.
    size: u64,
    /// What all its turns together may spend.
    left: u64,
    /// How many times as much a turn of the fuzzer may spend.
    patience: u64,
    /// The turn of the fuzzer that goes on, or was the last.
    fuzz: Account,
    /// Likewise, of the search.
    search: Account,
    /// Whether the fuzzer's turn is the first since the search had one.
    is_news: bool,
    /// The turns of the fuzzer before the search's first one, and what it earned in them; `None` after that.
    before: Option<(u64, u64)>,
}

/// What somebody spends and earns in a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Account {
    spent: u64,
    earned: u64,
}

/// Parts in which the search may spend what it may spend.
const PARTS: u64 = 8;

/// The longest turn of the fuzzer, in turns of the search.
const MOST_PATIENCE: u64 = 64;

/// The fuzzer's curve is flat when a turn earns no more than this part of what its turns have earned on average.
const FLAT: u64 = 8;

impl Instalments {
    /// The search may spend so much in all.
    pub(crate) fn new(begins: Begins, most: u64) -> Self {
        let (turn, before) = match begins {
            Begins::Search => (Turn::Search, None),
            Begins::Fuzzer => (Turn::Fuzz, Some((0, 0))),
        };
        Self {
            turn,
            size: (most / PARTS).max(1),
            left: most,
            patience: 1,
            fuzz: Account::default(),
            search: Account::default(),
            is_news: before.is_none(),
            before,
        }
    }

    /// Where the search has had its first turn.
    pub(crate) fn after_search(most: u64) -> Self {
        let mut instalments = Self::new(Begins::Search, most);
        instalments.search.spent = instalments.size;
        instalments.end_search();
        instalments
    }

    /// Who works now.
    pub(crate) fn turn(&self) -> Turn {
        self.turn
    }

    /// What who works now may spend.
    pub(crate) fn allowance(&self) -> u64 {
        match self.turn {
            Turn::Search => self.size.min(self.left).saturating_sub(self.search.spent),
            Turn::Fuzz => self.size.saturating_mul(self.patience).saturating_sub(self.fuzz.spent),
        }
    }

    /// Notes what somebody has earned, now or by what was proposed before.
    pub(crate) fn earn(&mut self, who: Turn, n_reached: u64) {
        match who {
            Turn::Search => self.search.earned += n_reached,
            Turn::Fuzz => self.fuzz.earned += n_reached,
        }
    }

    /// Notes what who works now has spent. The search's turn ends by [`Self::end_search`] only, when it has told what it has found.
    pub(crate) fn spend(&mut self, spent: u64) {
        match self.turn {
            Turn::Search => self.search.spent += spent,
            Turn::Fuzz => self.fuzz.spent += spent,
        }
    }

    /// Ends the search's turn.
    pub(crate) fn end_search(&mut self) {
        self.left = self.left.saturating_sub(self.search.spent);
        self.turn = Turn::Fuzz;
        self.fuzz = Account::default();
        self.is_news = true;
    }

    /// Decides who is next if the fuzzer's turn is over, when everybody has been told what they have earned.
    pub(crate) fn decide(&mut self) {
        if self.turn == Turn::Search || self.allowance() > 0 {
            return;
        }
        let pays = match &mut self.before {
            Some((n_turns, earned)) => {
                *n_turns += 1;
                *earned += self.fuzz.earned;
                FLAT * self.fuzz.earned * *n_turns <= *earned
            }
            None => self.search.compare(&self.fuzz) != Ordering::Less,
        };
        if std::mem::take(&mut self.is_news) {
            self.patience = if pays { 1 } else { (2 * self.patience).min(MOST_PATIENCE) };
        }
        self.fuzz = Account::default();
        if pays && self.left > 0 {
            self.turn = Turn::Search;
            self.search = Account::default();
            self.before = None;
        }
    }
}

impl Account {
    /// Who earns more for what they spend. Who has earned nothing might have earned half of something.
    fn compare(&self, other: &Self) -> Ordering {
        let earned = |account: &Self| u128::from((2 * account.earned).max(1));
        (earned(self) * u128::from(other.spent.max(1))).cmp(&(earned(other) * u128::from(self.spent.max(1))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whose turns there are if the fuzzer earns `fuzz` for each thing it spends, by when, and the search so much in each of its turns.
    fn turns(fuzz: impl Fn(u64) -> u64, search: &[u64]) -> String {
        turns_after(Begins::Search, fuzz, search)
    }

    fn turns_after(begins: Begins, fuzz: impl Fn(u64) -> u64, search: &[u64]) -> String {
        let mut instalments = Instalments::new(begins, 800);
        let (mut spent, mut text, mut n_searches) = (0, String::new(), 0);
        while spent < 3200 {
            let turn = instalments.turn();
            let step = instalments.allowance().min(50);
            spent += step;
            instalments.spend(step);
            match turn {
                Turn::Search => {
                    text.push('S');
                    if instalments.allowance() == 0 {
                        instalments.end_search();
                        instalments.earn(Turn::Search, search.get(n_searches).copied().unwrap_or(0));
                        n_searches += 1;
                    }
                }
                Turn::Fuzz => {
                    text.push('f');
                    instalments.earn(Turn::Fuzz, fuzz(spent) * step);
                }
            }
            instalments.decide();
        }
        text
    }

    #[test]
    fn the_search_has_one_turn_where_the_fuzzer_earns_more_to_the_end() {
        assert_eq!(turns(|_| 2, &[100]), format!("SS{}", "f".repeat(62)));
    }

    #[test]
    fn a_fuzzer_that_begins_goes_on_until_its_curve_is_flat() {
        let flattens = |spent| if spent <= 1000 { 50 } else { 1 };
        let turns = turns_after(Begins::Fuzzer, flattens, &[1000, 10]);
        assert_eq!(turns, format!("{}SSffSS{}", "f".repeat(22), "f".repeat(36)));
        assert_eq!(turns_after(Begins::Fuzzer, |_| 1, &[]), "f".repeat(64));
        assert!(turns_after(Begins::Fuzzer, |_| 0, &[]).starts_with("ffSS"), "it has nothing to do");
    }

    #[test]
    fn the_search_goes_on_as_long_as_it_pays_and_there_is_something_left() {
        let turns = turns(|_| 1, &[200; 8]);
        assert_eq!(turns, format!("{}{}", "SSff".repeat(8), "f".repeat(32)));
    }

    #[test]
    fn the_search_comes_back_when_the_fuzzer_dries_up() {
        let dries_up = |spent| if spent < 1000 { 2 } else { 0 };
        let turns = turns(dries_up, &[100, 100, 0, 0, 0]);
        // Where both earn nothing, each has half.
        let later = format!("SSffff{}{}", "SSff".repeat(6), "f".repeat(10));
        assert_eq!(turns, format!("SS{}{later}", "f".repeat(22)));
    }

    #[test]
    fn what_has_earned_nothing_is_tried_less_and_less() {
        let n_searches = turns(|_| 0, &[]).matches("SS").count();
        assert_eq!(n_searches, 8, "the fuzzer earns nothing either");
        assert_eq!(turns(|spent| u64::from(spent % 400 == 0), &[]).matches("SS").count(), 3);
    }
}
