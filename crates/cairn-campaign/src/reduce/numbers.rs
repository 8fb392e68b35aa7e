//! Numbers, towards zero.

use super::interview::Interview;
use cairn_model::{Input, input::VariableValue};

/// Makes every number among the typed variables as small as can be.
pub(super) fn towards_zero<E>(interview: &mut Interview<'_, E>, current: &mut Input) -> Result<(), E> {
    for index in 0..current.variables.len() {
        loop {
            let candidates = simpler(&current.variables[index].value).into_iter().map(|value| {
                let mut input = current.clone();
                input.variables[index].value = value;
                ((), input)
            });
            let Some((_, input)) = interview.first(candidates)? else { break };
            *current = input;
        }
    }
    Ok(())
}

/// Simpler values, the simplest first.
fn simpler(value: &VariableValue) -> Vec<VariableValue> {
    match value {
        VariableValue::Int(value) => {
            let sizes = smaller(value.unsigned_abs()).into_iter();
            // A positive number is simpler than its opposite.
            let opposite = (*value < 0).then(|| value.checked_neg()).flatten();
            let with_sign = |size: u64| if *value < 0 { (size as i64).wrapping_neg() } else { size as i64 };
            sizes.map(with_sign).chain(opposite).map(VariableValue::Int).collect()
        }
        VariableValue::Uint(value) => smaller(*value).into_iter().map(VariableValue::Uint).collect(),
        VariableValue::Float(bits) => smaller_float(f32::from_bits(*bits).into())
            .into_iter()
            .map(|value| VariableValue::Float((value as f32).to_bits()))
            .collect(),
        VariableValue::Double(bits) => smaller_float(f64::from_bits(*bits))
            .into_iter()
            .map(|value| VariableValue::Double(value.to_bits()))
            .collect(),
        VariableValue::Bytes(_) => Vec::new(),
    }
}

/// 0, then halfway, three quarters … of the way to `size`, and one less.
fn smaller(size: u64) -> Vec<u64> {
    let mut sizes = Vec::new();
    let mut step = size;
    while step > 0 {
        sizes.push(size - step);
        step /= 2;
    }
    sizes
}

/// 0, then whole numbers towards `value`; whole numbers are simpler than others.
fn smaller_float(value: f64) -> Vec<f64> {
    if !value.is_finite() {
        return vec![0.0, 1.0, -1.0];
    }
    let whole = value.abs().trunc();
    // Beyond this all are whole, and halves are near enough.
    let sizes = if whole < 9e15 {
        smaller(whole as u64).into_iter().map(|size| size as f64).collect()
    } else {
        vec![0.0, 1.0, whole.sqrt().trunc(), (whole / 2.0).trunc()]
    };
    let mut values: Vec<f64> = sizes.into_iter().map(|size| size.copysign(value)).collect();
    if whole != value.abs() {
        values.push(whole.copysign(value));
    }
    if value.is_sign_negative() {
        values.push(-value);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_come_closer_to_the_value() {
        assert!(smaller(0).is_empty());
        assert_eq!(smaller(1), [0]);
        assert_eq!(smaller(10), [0, 5, 8, 9]);
        assert_eq!(smaller_float(-3.5), [-0.0, -2.0, -3.0, 3.5]);
        assert_eq!(simpler(&VariableValue::Int(-2)), [0, -1, 2].map(VariableValue::Int));
        assert_eq!(simpler(&VariableValue::Int(i64::MIN))[0], VariableValue::Int(0));
    }
}
