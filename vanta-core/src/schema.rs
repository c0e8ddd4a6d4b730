//! Checks arguments against a tool's JSON schema, so that a bad call is answered before anybody is asked.
//!
//! Knows what argument schemas are made of: `type`, `properties`, `required`, `additionalProperties: false`,
//! `items`, `enum`, `const`, `anyOf`, `oneOf`, `$ref` into `$defs`. Other keywords are left to the tool, which
//! parses its arguments anyway.

use serde_json::Value;

/// How deep schemas are followed; deeper values are left to the tool.
const MAX_DEPTH: u32 = 64;

/// The first thing in `value` that does not fit `schema`, in words for the model.
pub(crate) fn complaint(schema: &Value, value: &Value) -> Option<String> {
    Checker { root: schema }.check(schema, value, "", 0)
}

struct Checker<'a> {
    root: &'a Value,
}

impl Checker<'_> {
    fn check(&self, schema: &Value, value: &Value, at: &str, depth: u32) -> Option<String> {
        let schema = self.resolve(schema, depth)?;
        self.check_choice(schema, value, at, depth)
            .or_else(|| check_type(schema, value, at))
            .or_else(|| check_values(schema, value, at))
            .or_else(|| self.check_object(schema, value, at, depth))
            .or_else(|| self.check_items(schema, value, at, depth))
    }

    /// `schema` with references followed; `None` (nothing to complain about) beyond the depth that is checked.
    fn resolve<'b>(&'b self, mut schema: &'b Value, depth: u32) -> Option<&'b Value> {
        for _ in depth..MAX_DEPTH {
            let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { return Some(schema) };
            schema = self.root.pointer(reference.strip_prefix('#')?)?;
        }
        None
    }

    fn check_choice(&self, schema: &Value, value: &Value, at: &str, depth: u32) -> Option<String> {
        let choices = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
        let mut complaints = choices.iter().map(|choice| self.check(choice, value, at, depth + 1));
        // One that fits is enough; otherwise the first complaint is as good as any.
        let first = complaints.next()??;
        complaints.all(|complaint| complaint.is_some()).then_some(first)
    }

    fn check_object(&self, schema: &Value, value: &Value, at: &str, depth: u32) -> Option<String> {
        let object = value.as_object()?;
        let properties = schema.get("properties").and_then(Value::as_object);
        let required = schema.get("required").and_then(Value::as_array);
        if let Some(missing) =
            required.into_iter().flatten().filter_map(Value::as_str).find(|key| !object.contains_key(*key))
        {
            return Some(format!("`{}` is missing", join(at, missing)));
        }
        for (key, member) in object {
            match properties.and_then(|properties| properties.get(key)) {
                Some(schema) => {
                    if let Some(complaint) = self.check(schema, member, &join(at, key), depth + 1) {
                        return Some(complaint);
                    }
                }
                None if schema.get("additionalProperties") == Some(&Value::Bool(false)) => {
                    return Some(format!("there is no argument `{}`", join(at, key)));
                }
                None => {}
            }
        }
        None
    }

    fn check_items(&self, schema: &Value, value: &Value, at: &str, depth: u32) -> Option<String> {
        let (items, elements) = (schema.get("items")?, value.as_array()?);
        elements
            .iter()
            .enumerate()
            .find_map(|(n, element)| self.check(items, element, &join(at, &n.to_string()), depth + 1))
    }
}

fn check_type(schema: &Value, value: &Value, at: &str) -> Option<String> {
    let wanted = schema.get("type")?;
    let fits = match wanted {
        Value::String(one) => is_type(one, value),
        Value::Array(any) => any.iter().filter_map(Value::as_str).any(|one| is_type(one, value)),
        _ => true,
    };
    (!fits).then(|| format!("`{}` must be of type {wanted}, not {}", name(at), type_of(value)))
}

fn check_values(schema: &Value, value: &Value, at: &str) -> Option<String> {
    if let Some(only) = schema.get("const")
        && only != value
    {
        return Some(format!("`{}` must be {only}", name(at)));
    }
    let allowed = schema.get("enum")?.as_array()?;
    (!allowed.contains(value)).then(|| {
        let list: Vec<String> = allowed.iter().map(Value::to_string).collect();
        format!("`{}` must be one of {}", name(at), list.join(", "))
    })
}

fn is_type(name: &str, value: &Value) -> bool {
    match name {
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0),
        "number" => value.is_number(),
        other => other == type_of(value),
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn join(at: &str, key: &str) -> String {
    if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") }
}

fn name(at: &str) -> &str {
    if at.is_empty() { "arguments" } else { at }
}
