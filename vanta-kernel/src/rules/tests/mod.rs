//! A hit and a near miss for every row of the tables, made from the rows themselves.
//!
//! A hit uses the row as it is meant: the program as the command, the file as an operand. A near miss has the same
//! words where they are only data, or a name that only looks like it.

mod names;
mod programs;
mod subcommands;

use super::act::Act;
use crate::{Action, Risk, Scope, Verdict, assess, read};

fn scope() -> Scope {
    Scope::new("/home/dev/project").home("/home/dev")
}

fn verdict(command: &str) -> Verdict {
    assess(&Action::shell(command), &scope())
}

fn risk(command: &str) -> Risk {
    verdict(command).risk()
}

/// What the commands of a line do besides touching paths.
fn acts(command: &str) -> Vec<Act> {
    let reading = read(&Action::shell(command), &scope());
    reading.commands.iter().flat_map(|c| &c.facts).chain(&reading.facts).map(|f| f.act).collect()
}

/// Commands that are judged wrongly today. May only get shorter.
const OPEN: [&str; 17] = [
    // The row is never reached.
    "git remote prune zq",
    "npx -g zq",
    "bun unpublish",
    "lerna version",
    // Asked although the row says that nothing happens.
    "apt changelog",
    "apt depends",
    "apt rdepends",
    "apt-get changelog",
    "apt-get depends",
    "apt-get rdepends",
    "aptitude changelog",
    "aptitude depends",
    "aptitude rdepends",
    "docker container ls",
    "nerdctl container ls",
    "podman container ls",
    "snap find",
];

/// Collects what is wrong, so that one run shows all of it.
#[derive(Debug, Default)]
struct Report {
    checked: usize,
    wrong: Vec<String>,
}

impl Report {
    fn check(&mut self, holds: bool, command: &str, want: &str) {
        self.checked += 1;
        if holds && OPEN.contains(&command) {
            println!("right now, and can leave the list of open rows: {command}");
        }
        if !holds && !OPEN.contains(&command) {
            self.wrong.push(format!("{command:?}: want {want}, got {}", verdict(command)));
        }
    }

    fn is(&mut self, command: &str, want: Risk) {
        self.check(risk(command) == want, command, want.as_str());
    }

    fn at_least(&mut self, command: &str, want: Risk) {
        self.check(risk(command) >= want, command, want.as_str());
    }

    /// The words of the row are only data.
    fn only_data(&mut self, words: &str) {
        for command in [
            format!("echo {words}"),
            format!("git commit -m '{words}'"),
            format!("grep -rn '{words}' docs"),
            format!("# {words}"),
        ] {
            self.is(&command, Risk::Allow);
        }
    }

    fn done(self, least: usize) {
        println!("{} checks", self.checked);
        assert!(
            self.wrong.is_empty(),
            "{} of {}:\n{}",
            self.wrong.len(),
            self.checked,
            self.wrong.join("\n")
        );
        assert!(self.checked >= least, "only {} checks", self.checked);
    }
}
