//! A clearance does not come from a file.
fn main() {
    let _: vanta_core::ClearedCall = serde_json::from_str("{}").unwrap();
}
