//! Any bytes as JSON: no panic; what is read can be written and read again to the same; records read from it too.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vanta_kernel::json::Json;
use vanta_kernel::{Action, Verdict, assess, batch_case};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = core::str::from_utf8(data) else { return };
    let value = match Json::parse(text) {
        Ok(value) => value,
        Err(error) => {
            assert!(error.offset() <= text.len(), "the place of the error is outside the text");
            return;
        }
    };
    let written = value.to_string();
    assert_eq!(Json::parse(&written).as_ref(), Ok(&value), "written and read again: {written}");
    let canonical = value.canonical();
    let again = Json::parse(&canonical).expect("canonical text is JSON");
    assert_eq!(again.canonical(), canonical, "canonical text is a fixed point");

    if let Ok(action) = Action::from_json(&value) {
        assert_eq!(Action::from_json(&action.to_json()), Ok(action));
    }
    if let Ok(verdict) = Verdict::from_json(&value) {
        assert_eq!(Verdict::from_json(&verdict.to_json()), Ok(verdict));
    }
    if let Ok((action, scope)) = batch_case(&value) {
        let _ = assess(&action, &scope);
    }
});
