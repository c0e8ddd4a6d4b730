//! The JSON reader and writer against serde_json and against texts that must be refused.

use proptest::prelude::*;
use vanta_kernel::json::Json;

/// The same value as serde_json sees it.
fn theirs(json: &Json) -> serde_json::Value {
    serde_json::from_str(&json.to_string()).unwrap()
}

fn values() -> impl Strategy<Value = Json> {
    let text = any::<String>();
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        text.prop_map(Json::String),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        let members = prop::collection::vec((any::<String>(), inner.clone()), 0..8);
        prop_oneof![
            prop::collection::vec(inner, 0..8).prop_map(Json::Array),
            members.prop_map(Json::object::<String>),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_reads_back(value in values()) {
        prop_assert_eq!(&Json::parse(&value.to_string()).unwrap(), &value);
        let canonical = value.canonical();
        prop_assert_eq!(&Json::parse(&canonical).unwrap().canonical(), &canonical);
        prop_assert_eq!(theirs(&value), serde_json::from_str::<serde_json::Value>(&canonical).unwrap());
        let pretty = serde_json::to_string_pretty(&theirs(&value)).unwrap();
        prop_assert_eq!(Json::parse(&pretty).unwrap().canonical(), canonical);
    }

    #[test]
    fn no_text_makes_it_panic_and_what_it_takes_is_json(
        text in "[\\[\\]{}\",:0-9eE+.\\-tfnul\\\\ua-fA-F \n\u{7f}é]{0,40}"
    ) {
        if let Ok(value) = Json::parse(&text) {
            // serde_json refuses numbers beyond the range of f64, this reader keeps their digits.
            let big = text.contains(['e', 'E']);
            prop_assert!(big || serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{}", text);
            prop_assert_eq!(Json::parse(&value.canonical()).unwrap().canonical(), value.canonical());
        }
    }
}

#[test]
fn texts_that_are_refused() {
    let refused = [
        "",
        " ",
        "nul",
        "tru",
        "01",
        "-",
        "+1",
        "1.",
        ".5",
        "1e",
        "1e+",
        "0x1",
        "NaN",
        "--1",
        "1 2",
        "[1,]",
        "[1 2]",
        "[,]",
        "[",
        "]",
        "{",
        "{]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "{'a':1}",
        "\"",
        "\"\\",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\u+123\"",
        "\"a\nb\"",
        "\"\t\"",
        "\"\0\"",
        "\u{feff}1",
        "1\0",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud800\\u0041\"",
        "\"\\ud800x\"",
        "\"\\ud800\\ud800\"",
        "// c\n1",
        "{\"a\":1,\"a\":1}",
        "{\"a\":1,\"b\":2,\"\\u0061\":3}",
        "{\"x\":[{\"a\":1,\"a\":2}]}",
        "Infinity",
        "1\u{a0}",
    ];
    for text in refused {
        assert!(Json::parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn errors_say_where() {
    let error = Json::parse("{\"a\": 1 \"b\": 2}").unwrap_err();
    assert_eq!(error.offset(), 8);
    assert_eq!(error.to_string(), "not valid JSON at byte 8: expected `,` or the closing bracket");
}

#[test]
fn texts_that_are_taken_as_they_are() {
    for text in
        ["0", "-0", "-0.0", "1.50", "1E400", "123456789012345678901234567890", "1e-5", "[]", "{}", "\"\""]
    {
        assert_eq!(Json::parse(&format!(" \t\r\n{text}\n ")).unwrap().canonical(), text);
    }
    let escaped = Json::parse(r#""\u0041\ud83e\udd80\/\b\f\n\r\t\"\\\u0000\uffff""#).unwrap();
    assert_eq!(escaped.as_str(), Some("A\u{1f980}/\u{8}\u{c}\n\r\t\"\\\0\u{ffff}"));
    assert_eq!(escaped.to_string(), "\"A\u{1f980}/\\b\\f\\n\\r\\t\\\"\\\\\\u0000\u{ffff}\"");
}

#[test]
fn depth_is_bounded() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(Json::parse(&nested(128)).is_ok());
    assert!(Json::parse(&nested(129)).is_err());
    assert!(Json::parse(&"[".repeat(1_000_000)).is_err());
    assert!(Json::parse(&"{\"a\":".repeat(1_000_000)).is_err());
}

#[test]
fn many_members_are_read_in_little_time() {
    let members: Vec<String> = (0..100_000).map(|n| format!("\"k{n}\":{n}")).collect();
    let text = format!("{{{}}}", members.join(","));
    assert_eq!(Json::parse(&text).unwrap().as_object().unwrap().len(), 100_000);
    let repeated = text.replace("\"k99999\"", "\"k5\"");
    assert!(Json::parse(&repeated).is_err());
}

#[test]
fn accessors_look_at_one_kind() {
    let json = Json::parse(r#"{"n":-3,"u":18446744073709551615,"f":1.5,"b":true,"s":"x","a":[1],"z":null}"#)
        .unwrap();
    assert_eq!(json.get("n").unwrap().as_i64(), Some(-3));
    assert_eq!(json.get("n").unwrap().as_u64(), None);
    assert_eq!(json.get("u").unwrap().as_u64(), Some(u64::MAX));
    assert_eq!(json.get("f").unwrap().as_u64(), None);
    assert_eq!(json.get("f").unwrap().as_f64(), Some(1.5));
    assert_eq!(json.get("b").unwrap().as_bool(), Some(true));
    assert_eq!(json.get("s").unwrap().as_str(), Some("x"));
    assert_eq!(json.get("a").unwrap().as_array().unwrap().len(), 1);
    assert!(json.get("z").unwrap().is_null() && json.get("missing").is_none());
    assert_eq!(Json::Number("1}".into()).to_string(), "null");
}
