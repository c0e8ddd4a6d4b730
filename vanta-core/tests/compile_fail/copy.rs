//! One clearance is one execution: no clones.
fn twice(call: vanta_core::ClearedCall) -> (vanta_core::ClearedCall, vanta_core::ClearedCall) {
    (Clone::clone(&call), call)
}

fn main() {
    let _ = twice;
}
