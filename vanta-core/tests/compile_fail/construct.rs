//! The constructor is private to the machine.
fn main() {
    let _ = vanta_core::ClearedCall::new;
}
