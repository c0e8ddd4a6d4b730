//! Fields are private: no literal.
fn main() {
    let _ = vanta_core::ClearedCall { id: vanta_core::message::CallId::new("c"), attempt: 1 };
}
