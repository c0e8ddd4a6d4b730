//! Reasoning in its several forms: two text fields and a list of items that must go back as they came.

use std::borrow::Cow;

use serde_json::Value;

use super::wire::Delta;

/// The readable reasoning of a chunk, and the field it came in. Fields that say the same are read once.
pub(super) fn thought<'a>(delta: &'a Delta<'_>, details: &[Value]) -> (Cow<'a, str>, &'static str) {
    if let Some(text) = delta.reasoning_content.text() {
        return (Cow::Borrowed(text), "reasoning_content");
    }
    if let Some(text) = delta.reasoning.text() {
        return (Cow::Borrowed(text), "reasoning");
    }
    let texts = details.iter().filter_map(|item| item.get("text").or_else(|| item.get("summary"))?.as_str());
    (Cow::Owned(texts.collect()), "reasoning_details")
}

/// The text inside a part such as `{"type":"thinking","thinking":[{"type":"text","text":"…"}]}`.
pub(super) fn nested_text(part: &Value) -> String {
    let inner = ["thinking", "reasoning", "text"].iter().find_map(|key| part.get(*key));
    match inner {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(list)) => {
            list.iter().filter_map(|item| item.get("text").and_then(Value::as_str)).collect()
        }
        _ => String::new(),
    }
}

/// Adds an item that arrived to those that did before. Pieces of one text item are joined; whatever else a piece
/// brings, such as the signature at the end, is kept.
pub(super) fn join(items: &mut Vec<Value>, item: Value) {
    if let (Some(Value::Object(last)), Value::Object(more)) = (items.last_mut(), &item)
        && goes_on(last, more)
    {
        for (key, value) in more {
            match (last.get_mut(key), value) {
                (Some(Value::String(so_far)), Value::String(text)) if is_text(key) => so_far.push_str(text),
                (Some(_), Value::Null) => {}
                _ => {
                    last.insert(key.clone(), value.clone());
                }
            }
        }
        return;
    }
    items.push(item);
}

type Object = serde_json::Map<String, Value>;

/// Whether `more` is a piece of `last`: the same index and type, nothing opaque that could be overwritten.
fn goes_on(last: &Object, more: &Object) -> bool {
    let opaque = |item: &Object, key: &str| item.get(key).is_some_and(|value| !value.is_null());
    last.get("index").is_some()
        && last.get("index") == more.get("index")
        && last.get("type") == more.get("type")
        && more.keys().any(|key| is_text(key) || key == "signature")
        && !opaque(last, "data")
        && !opaque(more, "data")
        && !(opaque(last, "signature") && opaque(more, "signature"))
}

fn is_text(key: &str) -> bool {
    matches!(key, "text" | "summary")
}

/// Roughly the bytes of an item: its text fields.
pub(super) fn size(item: &Value) -> usize {
    match item {
        Value::Object(map) => map.values().filter_map(Value::as_str).map(str::len).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pieces_of_one_item_are_joined_and_others_kept_apart() {
        let mut items = Vec::new();
        for item in [
            json!({"type": "reasoning.text", "text": "Th", "index": 0}),
            json!({"type": "reasoning.text", "text": "ink", "index": 0}),
            json!({"type": "reasoning.text", "signature": "c2ln", "index": 0}),
            json!({"type": "reasoning.encrypted", "data": "QUJD", "index": 1}),
            json!({"type": "reasoning.encrypted", "data": "REVG", "index": 1}),
            json!({"type": "reasoning.text", "text": "no index"}),
            json!({"type": "reasoning.text", "text": "no index"}),
        ] {
            join(&mut items, item);
        }
        let expected = json!([
            {"type": "reasoning.text", "text": "Think", "signature": "c2ln", "index": 0},
            {"type": "reasoning.encrypted", "data": "QUJD", "index": 1},
            {"type": "reasoning.encrypted", "data": "REVG", "index": 1},
            {"type": "reasoning.text", "text": "no index"},
            {"type": "reasoning.text", "text": "no index"},
        ]);
        assert_eq!(Value::Array(items), expected);
    }
}
