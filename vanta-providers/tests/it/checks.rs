//! The checks that fixtures make on requests.

use serde_json::Value;

use crate::replay::Seen;

/// Says what is wrong with `seen`, check by check.
pub(crate) fn failures(checks: &Value, seen: &Seen) -> Vec<String> {
    let checks = checks.as_array().map(Vec::as_slice).unwrap_or_default();
    checks.iter().filter(|check| !holds(check, seen)).map(|check| format!("request: {check}")).collect()
}

fn holds(check: &Value, seen: &Seen) -> bool {
    let at = check["at"].as_str().unwrap_or_default();
    let want = &check["value"];
    let found = match check["where"].as_str() {
        Some("header") => seen.headers.get(at).map(|text| Value::from(text.as_str())),
        Some("path") => Some(Value::from(seen.path.as_str())),
        _ => seen.body.pointer(at).cloned(),
    };
    let flat = match &found {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    let wanted_text = || want.as_str().map(str::to_owned).unwrap_or_else(|| want.to_string());
    let other = || want.as_str().and_then(|pointer| seen.body.pointer(pointer)).cloned();
    match (check["op"].as_str().unwrap(), &found) {
        ("exists", found) => found.is_some(),
        ("absent", found) => found.as_ref().is_none_or(Value::is_null),
        ("in", found) => want.as_array().unwrap().contains(found.as_ref().unwrap_or(&Value::Null)),
        ("contains", Some(Value::Array(list))) if list.contains(want) => true,
        ("contains", Some(_)) => flat.contains(&wanted_text()),
        ("not_contains", _) => !flat.contains(&wanted_text()),
        ("no_key", found) => !found.as_ref().is_some_and(|value| has_key(value, &wanted_text())),
        (_, None) => false,
        ("eq", Some(value)) => value == want || (value.as_f64().is_some() && value.as_f64() == want.as_f64()),
        ("ne", Some(value)) => value != want,
        ("len", Some(value)) => {
            let length =
                value.as_array().map(Vec::len).or_else(|| value.as_object().map(serde_json::Map::len));
            length.or_else(|| value.as_str().map(|text| text.chars().count())).map(|n| n as u64)
                == want.as_u64()
        }
        ("type", Some(value)) => match want.as_str().unwrap() {
            "integer" => value.is_u64() || value.is_i64(),
            "number" => value.is_number(),
            "object" => value.is_object(),
            "string" => value.is_string(),
            "array" => value.is_array(),
            "boolean" => value.is_boolean(),
            other => panic!("unknown type {other}"),
        },
        ("matches", Some(_)) => regex_lite::Regex::new(want.as_str().unwrap()).unwrap().is_match(&flat),
        ("json_eq", Some(value)) => {
            value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok()).as_ref() == Some(want)
        }
        ("same_as", found) => other().is_some() && other() == *found,
        ("differs_from", found) => other() != *found,
        (op, _) => panic!("unknown op {op}"),
    }
}

fn has_key(value: &Value, key: &str) -> bool {
    match value {
        Value::Object(map) => map.iter().any(|(name, inner)| name == key || has_key(inner, key)),
        Value::Array(list) => list.iter().any(|inner| has_key(inner, key)),
        _ => false,
    }
}
