//! A small seeded generator: the same texts and the same choices on every machine.

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    /// The next 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// One of `choices`.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// Puts `items` in a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }

    /// A line of words, without its end.
    pub fn line(&mut self, n_words: usize) -> String {
        const WORDS: [&str; 16] = [
            "stone",
            "river",
            "north",
            "seven",
            "1024",
            "-17",
            "3.5",
            "foo",
            "bar",
            "abcabc",
            "Ridge",
            "LAMP",
            "x",
            "under_score",
            "2K",
            "end.",
        ];
        (0..n_words).map(|_| *self.pick(&WORDS)).collect::<Vec<_>>().join(" ")
    }
}

/// Small texts for whole programs: a few lines each.
pub fn texts(seed: u64, n: usize) -> Vec<Vec<u8>> {
    let mut random = Random(seed);
    let text = |random: &mut Random| {
        let n_lines = 1 + random.below(12);
        (0..n_lines)
            .flat_map(|_| {
                let n_words = random.below(6);
                let mut line = random.line(n_words).into_bytes();
                line.push(b'\n');
                line
            })
            .collect()
    };
    (0..n).map(|_| text(&mut random)).collect()
}
