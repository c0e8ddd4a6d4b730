//! One hit and one near miss per sub-command and option.

use super::*;
use crate::rules::subcommands::{OPTIONS, SUBCOMMANDS};

#[test]
fn subcommands_with_an_effect() {
    let mut report = Report::default();
    // Without `--execute` it only shows what it would do.
    let dry = |phrase: &str| phrase == "cargo release";
    for (phrase, act) in SUBCOMMANDS.iter().filter(|(phrase, act)| *act != Act::Harmless && !dry(phrase)) {
        report.at_least(phrase, act.rule().risk);
        report.only_data(phrase);
        // The same words as the names of files.
        report.is(&format!("cat docs/{}.md", phrase.replace(' ', "-")), Risk::Allow);
    }
    report.done(3_000);
}

#[test]
fn subcommands_without_one() {
    let mut report = Report::default();
    // Its operands and options decide.
    let open = |phrase: &str| phrase == "git restore";
    for (phrase, _) in SUBCOMMANDS.iter().filter(|(phrase, act)| *act == Act::Harmless && !open(phrase)) {
        report.is(phrase, Risk::Allow);
        report.is(&format!("{phrase} > ../out.txt"), Risk::Ask);
    }
    report.done(1_000);
}

#[test]
fn options_with_an_effect() {
    let mut report = Report::default();
    for (phrase, option, act) in OPTIONS {
        let command = format!("{phrase} {option} zq");
        report.at_least(&command, act.rule().risk);
        report.check(acts(&command).contains(act), &command, act.rule().code);
        report.only_data(&format!("{phrase} {option}"));
        let unknown = format!("{phrase} --zq-no-such-option");
        let without = acts(&unknown);
        let always = SUBCOMMANDS.iter().any(|(key, other)| key == phrase && other == act);
        report.check(always || !without.contains(act), &unknown, "nothing of an unknown option");
    }
    report.done(200);
}
