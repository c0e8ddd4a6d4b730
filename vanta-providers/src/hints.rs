//! How long a service asks to wait: headers first, then its body. Pure; the present is an argument.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

/// The wait asked for by the headers that `header` looks up by lower-case name.
///
/// A date is read against the answer's own `date`, so that a wrong clock here does no harm; one in the past
/// means no wait.
pub(crate) fn from_headers<'a>(
    header: impl Fn(&str) -> Option<&'a str>,
    now: SystemTime,
) -> Option<Duration> {
    if let Some(wait) = header("retry-after-ms").and_then(|text| scaled(text, 0.001)) {
        return Some(wait);
    }
    let text = header("retry-after")?;
    if let Some(wait) = scaled(text, 1.0) {
        return Some(wait);
    }
    let until = http_date(text)?;
    let from = header("date").and_then(http_date).or_else(|| seconds_since_epoch(now))?;
    Some(Duration::from_secs(until.saturating_sub(from)))
}

/// The wait asked for by an error body: `RetryInfo`, else words such as "try again in 1.5s".
pub(crate) fn from_body(body: &Value, text: &str) -> Option<Duration> {
    retry_info(body, 0).or_else(|| from_text(text))
}

/// Looks for Google's `retryDelay` a few levels deep.
fn retry_info(value: &Value, depth: usize) -> Option<Duration> {
    const DEEPEST: usize = 6;
    if depth > DEEPEST {
        return None;
    }
    match value {
        Value::Object(map) => match map.get("retryDelay").and_then(Value::as_str) {
            Some(delay) => unit_time(delay),
            None => map.values().find_map(|inner| retry_info(inner, depth + 1)),
        },
        Value::Array(list) => list.iter().find_map(|inner| retry_info(inner, depth + 1)),
        _ => None,
    }
}

fn from_text(text: &str) -> Option<Duration> {
    let lower = text.to_ascii_lowercase();
    ["try again in ", "retry in ", "retry after ", "again after "].iter().find_map(|phrase| {
        let (_, rest) = lower.split_once(phrase)?;
        unit_time(rest)
    })
}

/// A number with a unit at the start of `text`: `20ms`, `1.5s`, `7 seconds`, `2m`, `1m30s`.
fn unit_time(text: &str) -> Option<Duration> {
    let mut rest = text.trim_start();
    let mut total = None;
    loop {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, tail) = rest.split_at_checked(digits)?;
        let tail = if total.is_none() { tail.trim_start() } else { tail };
        let letters = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
        let (unit, after) = tail.split_at_checked(letters)?;
        let factor = match unit {
            "ms" | "millisecond" | "milliseconds" => 0.001,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3600.0,
            _ => return total,
        };
        let Some(wait) = scaled(number.trim_end_matches('.'), factor) else { return total };
        total = Some(total.unwrap_or(Duration::ZERO).saturating_add(wait));
        rest = after;
    }
}

/// `text` as a number of units of `factor` seconds; negative counts as none to wait.
fn scaled(text: &str, factor: f64) -> Option<Duration> {
    let number: f64 = text.trim().parse().ok()?;
    if !number.is_finite() {
        return None;
    }
    Duration::try_from_secs_f64((number * factor).max(0.0)).ok()
}

fn seconds_since_epoch(time: SystemTime) -> Option<u64> {
    time.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs())
}

/// Seconds since 1970 of an HTTP date, in any of its three forms.
fn http_date(text: &str) -> Option<u64> {
    let (mut day, mut month, mut year, mut clock) = (None, None, None, None);
    for word in text.split([' ', ',', '-']).filter(|word| !word.is_empty()) {
        if word.contains(':') {
            clock = clock_seconds(word);
        } else if let Ok(number) = word.parse::<u64>() {
            match day {
                None => day = Some(number),
                Some(_) => year = Some(full_year(number)),
            }
        } else if let Some(found) = month_number(word) {
            month = Some(found);
        }
    }
    let days = days_since_epoch(year?, month?, day?)?;
    days.checked_mul(86_400)?.checked_add(clock?)
}

fn clock_seconds(word: &str) -> Option<u64> {
    let mut parts = word.split(':').map(|part| part.parse::<u64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    (hours < 24 && minutes < 60 && seconds < 61).then_some(hours * 3600 + minutes * 60 + seconds)
}

fn month_number(word: &str) -> Option<u64> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let word = word.to_ascii_lowercase();
    MONTHS.iter().zip(1..).find_map(|(name, number)| (*name == word).then_some(number))
}

/// Two-digit years belong to the obsolete form.
fn full_year(number: u64) -> u64 {
    match number {
        0..70 => number + 2000,
        70..100 => number + 1900,
        _ => number,
    }
}

/// Days from 1 January 1970 to a date of the Gregorian calendar, counting years from March.
fn days_since_epoch(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1970..10_000).contains(&year) || !(1..=31).contains(&day) {
        return None;
    }
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1;
    days.checked_sub(719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(headers: &[(&str, &'static str)]) -> Option<u128> {
        let find = |name: &str| headers.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        from_headers(find, UNIX_EPOCH + Duration::from_secs(1_793_700_000)).map(|wait| wait.as_millis())
    }

    #[test]
    fn headers_are_read_in_order_of_precision() {
        assert_eq!(hint(&[("retry-after-ms", "120"), ("retry-after", "9")]), Some(120));
        assert_eq!(hint(&[("retry-after-ms", "soon"), ("retry-after", "9")]), Some(9000));
        assert_eq!(hint(&[("retry-after", "1.5")]), Some(1500));
        assert_eq!(hint(&[("retry-after", "-3")]), Some(0));
        assert_eq!(hint(&[("retry-after", "inf")]), None);
        assert_eq!(hint(&[("retry-after", "1e300")]), None);
        assert_eq!(hint(&[]), None);
    }

    #[test]
    fn dates_are_read_against_the_answers_own_clock() {
        let date = ("date", "Tue, 03 Nov 2026 10:00:00 GMT");
        assert_eq!(hint(&[date, ("retry-after", "Tue, 03 Nov 2026 10:00:30 GMT")]), Some(30_000));
        assert_eq!(hint(&[date, ("retry-after", "Tuesday, 03-Nov-26 10:01:00 GMT")]), Some(60_000));
        assert_eq!(hint(&[date, ("retry-after", "Tue Nov  3 10:00:01 2026")]), Some(1000));
        assert_eq!(hint(&[date, ("retry-after", "Tue, 03 Nov 2026 09:00:00 GMT")]), Some(0));
        assert_eq!(hint(&[("retry-after", "Tue, 03 Nov 2026 10:00:30 GMT")]), Some(30_000));
        assert_eq!(http_date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(http_date("Sat, 29 Feb 2020 23:59:59 GMT"), Some(1_583_020_799));
        assert_eq!(http_date("garbage 12:99:99"), None);
    }

    #[test]
    fn bodies_may_hold_a_hint() {
        let body = serde_json::json!({"error": {"details": [{"@type": "RetryInfo", "retryDelay": "12.5s"}]}});
        assert_eq!(from_body(&body, ""), Some(Duration::from_millis(12_500)));
        let text = |text: &str| from_body(&Value::Null, text).map(|wait| wait.as_millis());
        assert_eq!(text("Rate limit reached. Please try again in 20ms."), Some(20));
        assert_eq!(text("Please try again in 6m0s."), Some(360_000));
        assert_eq!(text("retry after 7 seconds"), Some(7000));
        assert_eq!(text("try again in a while"), None);
    }
}
