//! What repeated measurements say.

/// The middle value; the mean of the two middle ones where there are two.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

/// The chance that a value of `ours` is larger than one of `theirs`, ties counted half: Vargha and Delaney's Â12.
pub fn a12(ours: &[f64], theirs: &[f64]) -> f64 {
    if ours.is_empty() || theirs.is_empty() {
        return f64::NAN;
    }
    wins(ours, theirs) / (ours.len() * theirs.len()) as f64
}

/// Up to this many pairs of values, all ways to deal them out are counted.
const MOST_PAIRS: usize = 400;

/// How likely samples at least this different would be if both came from the same source: the two-sided Mann–Whitney test.
///
/// Exact for up to 400 pairs of values (20 on each side), with ties too: of all ways to deal the values out to both sides, the share
/// whose ranks lie at least as far from the middle. By the normal distribution, corrected for ties, otherwise.
pub fn mann_whitney(ours: &[f64], theirs: &[f64]) -> f64 {
    let (n, m) = (ours.len(), theirs.len());
    if n == 0 || m == 0 {
        return f64::NAN;
    }
    let mut all: Vec<f64> = ours.iter().chain(theirs).copied().collect();
    all.sort_by(f64::total_cmp);
    let ties: Vec<usize> = all.chunk_by(|a, b| a == b).map(<[f64]>::len).collect();
    let u = wins(ours, theirs);
    if n * m <= MOST_PAIRS {
        return exact(u, n, m, &ties);
    }
    normal(u, n as f64, m as f64, &ties)
}

/// How often a value of `ours` is larger than one of `theirs`, ties counted half: the statistic U.
fn wins(ours: &[f64], theirs: &[f64]) -> f64 {
    let win = |a: &f64, b: &f64| match a.total_cmp(b) {
        std::cmp::Ordering::Greater => 1.0,
        std::cmp::Ordering::Equal => 0.5,
        std::cmp::Ordering::Less => 0.0,
    };
    ours.iter().map(|a| theirs.iter().map(|b| win(a, b)).sum::<f64>()).sum()
}

/// By counting all ways to deal the values out; `ties` are the sizes of groups of equal values, the smallest values first.
///
/// Of the smaller side, `ways[i][r]` ways to choose `i` of the values so far have ranks that sum up to half of `r`: equal values
/// share the mean of their ranks, which may end in a half.
fn exact(u: f64, n: usize, m: usize, ties: &[usize]) -> f64 {
    let n_chosen = n.min(m);
    let mut ways = vec![vec![0.0f64; 2 * n_chosen * (n + m) + 1]; n_chosen + 1];
    ways[0][0] = 1.0;
    let mut n_before = 0;
    for size in ties {
        let rank = 2 * n_before + size + 1;
        n_before += size;
        for i in (1..=n_chosen).rev() {
            let mut choices = 1.0;
            for taken in 1..=i.min(*size) {
                choices *= (size + 1 - taken) as f64 / taken as f64;
                let (fewer, more) = ways.split_at_mut(i);
                let from = fewer[i - taken].iter().zip(&mut more[0][taken * rank..]);
                from.for_each(|(n_ways, sum)| *sum += choices * n_ways);
            }
        }
    }
    // The statistic is as far from its middle for one side as for the other, and so is the sum of ranks.
    let middle = (n_chosen * (n + m + 1)) as f64;
    let distance = (2.0 * u - (n * m) as f64).abs();
    let sums = ways[n_chosen].iter().enumerate();
    let far = sums.filter(|(sum, _)| (*sum as f64 - middle).abs() >= distance);
    far.map(|(_, n_ways)| n_ways).sum::<f64>() / ways[n_chosen].iter().sum::<f64>()
}

fn normal(u: f64, n: f64, m: f64, ties: &[usize]) -> f64 {
    let all = n + m;
    let tied: f64 = ties.iter().map(|t| (*t as f64).powi(3) - *t as f64).sum();
    let variance = n * m / 12.0 * (all + 1.0 - tied / (all * (all - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    // Half a step towards the middle, because U goes in steps.
    let distance = ((u - n * m / 2.0).abs() - 0.5).max(0.0);
    (2.0 * upper_tail(distance / variance.sqrt())).min(1.0)
}

/// The chance that a standard normal value exceeds `z`, by the continued fraction of Mills' ratio where that is
/// accurate and a series otherwise.
fn upper_tail(z: f64) -> f64 {
    let density = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if z > 3.0 {
        let fraction = (1..=60).rev().fold(z, |below, k| z + f64::from(k) / below);
        return density / fraction;
    }
    let mut term = z;
    let mut sum = z;
    for k in 1..200 {
        term *= z * z / (2.0 * f64::from(k) + 1.0);
        sum += term;
    }
    0.5 - density * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-4, "{a} is not {b}");
    }

    #[test]
    fn medians_of_odd_and_even_numbers() {
        close(median(&[3.0, 1.0, 2.0]), 2.0);
        close(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    #[test]
    fn effect_sizes_lie_between_nothing_and_everything() {
        close(a12(&[4.0, 5.0], &[1.0, 2.0]), 1.0);
        close(a12(&[1.0, 2.0], &[1.0, 2.0]), 0.5);
        close(a12(&[1.0], &[2.0, 3.0]), 0.0);
    }

    #[test]
    fn without_ties_the_test_agrees_with_tables() {
        close(mann_whitney(&[6.0, 7.0, 8.0, 9.0, 10.0], &[1.0, 2.0, 3.0, 4.0, 5.0]), 0.007937);
        close(mann_whitney(&[1.0, 3.0, 5.0], &[2.0, 4.0, 6.0]), 0.7);
        close(mann_whitney(&[1.0], &[2.0, 3.0, 4.0]), 0.5);
    }

    /// Counted by hand: ranks of the first are 1, 3, 3, 3, 5, 6, 7.5, 7.5, of which 70 sums of four can be made; 7 are at most
    /// 13, as ours is, and as many at least 23. Of the second they are 2, 2, 2, 4, 5, whose pairs sum up to 4 (three), 6 (three),
    /// 7 (three) and 9 (one); ours is 4, and the middle is 6.
    #[test]
    fn with_ties_all_ways_to_deal_values_out_are_counted() {
        close(mann_whitney(&[1.0, 2.0, 2.0, 4.0], &[2.0, 3.0, 5.0, 5.0]), 14.0 / 70.0);
        close(mann_whitney(&[1.0, 1.0], &[1.0, 2.0, 3.0]), 4.0 / 10.0);
        close(mann_whitney(&[1.0, 2.0, 3.0], &[1.0, 1.0]), 4.0 / 10.0);
        close(mann_whitney(&[1.0, 1.0], &[1.0, 1.0]), 1.0);
    }

    #[test]
    fn counting_and_the_normal_distribution_agree_where_there_are_many_values() {
        for shift in [0, 4, 9, 15] {
            let values = |step: u32, shift: u32| (0..20).map(|i| f64::from(i * step % 37 + shift)).collect();
            let (ours, theirs): (Vec<f64>, Vec<f64>) = (values(3, shift), values(7, 0));
            let mut all: Vec<f64> = ours.iter().chain(&theirs).copied().collect();
            all.sort_by(f64::total_cmp);
            let ties: Vec<usize> = all.chunk_by(|a, b| a == b).map(<[f64]>::len).collect();
            let (exact, normal) =
                (mann_whitney(&ours, &theirs), normal(wins(&ours, &theirs), 20.0, 20.0, &ties));
            assert!((exact - normal).abs() < 0.01, "{exact} by counting, {normal} otherwise");
        }
    }

    #[test]
    fn the_tail_of_the_normal_distribution() {
        close(upper_tail(0.0), 0.5);
        close(upper_tail(1.959964), 0.025);
        assert!((upper_tail(5.0) / 2.866516e-7 - 1.0).abs() < 1e-5);
    }
}
