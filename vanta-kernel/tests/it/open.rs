//! Verdicts that are known to be wrong. A row leaves this file when the kernel is right about it, for `cases.rs`.

use vanta_kernel::{Action, Risk, Scope, assess};

/// `(command, mildest answer, strictest answer, what goes wrong)`.
const ROWS: [(&str, Risk, Risk, &str); 2] = [
    ("dd if=/dev/zero of=data.db bs=1M count=1", Risk::Ask, Risk::Ask, EMPTIED),
    ("yes > a", Risk::Ask, Risk::Ask, "it writes without end, like `cat /dev/zero > a`"),
];

const EMPTIED: &str = "a file is destroyed by writing over it in place";

#[test]
#[ignore = "these verdicts are known to be wrong"]
fn open_rows() {
    let scope = Scope::new("/home/dev/project").home("/home/dev");
    let mut wrong = Vec::new();
    for (command, least, most, why) in ROWS {
        let verdict = assess(&Action::shell(command), &scope);
        if verdict.risk() >= least && verdict.risk() <= most {
            println!("right now: {command}");
        } else {
            wrong.push(format!("{command}: {why}; want {least}..{most}, got {verdict}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
