//! Reading of arguments that models write in more than one way.

use serde::{Deserialize, Deserializer, de::Error};
use serde_json::Number;

/// A whole number that is not negative, also when it is written like `20.0`, as JSON allows.
pub(crate) fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let Some(number) = Option::<Number>::deserialize(deserializer)? else { return Ok(None) };
    let complaint = || D::Error::custom(format!("`{number}` must be a whole number, not negative"));
    if let Some(whole) = number.as_u64() {
        return Ok(Some(whole));
    }
    let float =
        number.as_f64().filter(|float| float.fract() == 0.0 && *float >= 0.0).ok_or_else(complaint)?;
    // Larger than any limit either way; the digits say which number is meant.
    Ok(Some(format!("{float:.0}").parse().unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Option<u64>, String> {
        let mut reader = serde_json::Deserializer::from_str(json);
        whole(&mut reader).map_err(|error| error.to_string())
    }

    #[test]
    fn whole_numbers_in_any_spelling() {
        assert_eq!(read("7"), Ok(Some(7)));
        assert_eq!(read("7.0"), Ok(Some(7)));
        assert_eq!(read("1e30"), Ok(Some(u64::MAX)));
        assert_eq!(read("18446744073709551615"), Ok(Some(u64::MAX)));
        assert_eq!(read("null"), Ok(None));
    }

    #[test]
    fn anything_else_is_refused() {
        for json in ["-1", "-1.0", "0.5", "\"7\""] {
            assert!(read(json).is_err(), "{json}");
        }
    }
}
