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

/// How likely samples at least this different would be if both came from the same source: the two-sided Mann–Whitney test.
///
/// Exact without ties and with up to 20 values on each side, by the normal distribution, corrected for ties, otherwise.
pub fn mann_whitney(ours: &[f64], theirs: &[f64]) -> f64 {
    let (n, m) = (ours.len(), theirs.len());
    if n == 0 || m == 0 {
        return f64::NAN;
    }
    let mut all: Vec<f64> = ours.iter().chain(theirs).copied().collect();
    all.sort_by(f64::total_cmp);
    let ties: Vec<usize> = all.chunk_by(|a, b| a == b).map(<[f64]>::len).filter(|n| *n > 1).collect();
    let u = wins(ours, theirs);
    if ties.is_empty() && n <= 20 && m <= 20 {
        return exact(u as usize, n, m);
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

/// By counting all orders: `ways[i][j][u]` orders of `i` and `j` values have the statistic `u`.
fn exact(u: usize, n: usize, m: usize) -> f64 {
    let mut ways = vec![vec![Vec::new(); m + 1]; n + 1];
    for i in 0..=n {
        for j in 0..=m {
            let mut row = vec![0.0f64; i * j + 1];
            if i == 0 || j == 0 {
                row[0] = 1.0;
            } else {
                // The largest value is one of ours and beats all of theirs, or one of theirs and beats nothing.
                for (at, n_ways) in ways[i - 1][j].iter().enumerate() {
                    row[at + j] += n_ways;
                }
                let theirs: &Vec<f64> = &ways[i][j - 1];
                for (at, n_ways) in theirs.iter().enumerate() {
                    row[at] += n_ways;
                }
            }
            ways[i][j] = row;
        }
    }
    let row = &ways[n][m];
    let all: f64 = row.iter().sum();
    let least = u.min(n * m - u);
    (2.0 * row[..=least].iter().sum::<f64>() / all).min(1.0)
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

    /// The first two by counting orders by hand, the third by an independent computation.
    #[test]
    fn the_test_agrees_with_tables() {
        close(mann_whitney(&[6.0, 7.0, 8.0, 9.0, 10.0], &[1.0, 2.0, 3.0, 4.0, 5.0]), 0.007937);
        close(mann_whitney(&[1.0, 3.0, 5.0], &[2.0, 4.0, 6.0]), 0.7);
        close(mann_whitney(&[1.0, 2.0, 2.0, 4.0], &[2.0, 3.0, 5.0, 5.0]), 0.1804);
        close(mann_whitney(&[1.0, 1.0], &[1.0, 1.0]), 1.0);
    }

    #[test]
    fn the_tail_of_the_normal_distribution() {
        close(upper_tail(0.0), 0.5);
        close(upper_tail(1.959964), 0.025);
        assert!((upper_tail(5.0) / 2.866516e-7 - 1.0).abs() < 1e-5);
    }
}
