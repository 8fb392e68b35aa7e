//! Times as people write them.

use std::time::Duration;

/// `60s`, `5m`, `2h`, or seconds.
pub fn parse(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" => 60.0,
        "h" => 3600.0,
        unit => return Err(format!("`{unit}` is no unit of time: use `ms`, `s`, `m` or `h`")),
    };
    let number: f64 = digits.parse().map_err(|_| format!("`{text}` is no time: write `60s` or `5m`"))?;
    Duration::try_from_secs_f64(number * unit).map_err(|error| format!("`{text}`: {error}"))
}

/// Likewise, of a time in which something can be done.
pub fn parse_some(text: &str) -> Result<Duration, String> {
    match parse(text)? {
        Duration::ZERO => Err("that is no time at all".into()),
        time => Ok(time),
    }
}

/// `4.2 s`, `3 min 5 s`, `2 h 10 min`.
pub fn show(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{:.1} s", time.as_secs_f64()),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(parse("90"), Ok(Duration::from_secs(90)));
        assert_eq!(parse("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(parse("250ms"), Ok(Duration::from_millis(250)));
        assert!(parse("5 parsecs").is_err());
        assert!(parse("s").is_err());
        assert!(parse("-1s").is_err());
        assert!(parse_some("0s").is_err());
    }

    #[test]
    fn times_are_shown_as_people_say_them() {
        let shown = [4_200, 185_000, 7_800_000].map(|ms| show(Duration::from_millis(ms)));
        assert_eq!(shown, ["4.2 s", "3 min 5 s", "2 h 10 min"]);
    }
}
