//! A clearance cannot be made, copied or read from a file outside the loop.

#[test]
fn a_cleared_call_cannot_be_made_outside_the_loop() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}

/// Exactly one place in the workspace calls a tool.
#[test]
fn one_place_executes_tools() {
    let src = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut callers = Vec::new();
    visit(&src, &mut |path, text| {
        for line in
            text.lines().filter(|line| line.contains(".execute(cleared") || line.contains(".execute(call,"))
        {
            callers.push(format!("{}: {}", path.file_name().unwrap().to_string_lossy(), line.trim()));
        }
    });
    assert_eq!(callers.len(), 1, "{callers:?}");
    assert!(callers[0].starts_with("execute.rs"));
}

fn visit(dir: &std::path::Path, see: &mut impl FnMut(&std::path::Path, &str)) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            visit(&path, see);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            see(&path, &std::fs::read_to_string(&path).unwrap());
        }
    }
}
