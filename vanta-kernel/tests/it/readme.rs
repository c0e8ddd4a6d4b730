//! The examples under "What the kernel sees" in the README are what the kernel really answers.

use std::fmt::Write;

use vanta_kernel::{Action, Scope, assess};

const README: &str = include_str!("../../README.md");

#[test]
fn the_readme_shows_real_verdicts() {
    let section = README.split_once("## What the kernel sees").unwrap().1;
    let shown = section.split("```").nth(1).unwrap().strip_prefix("text\n").unwrap();
    let scope = Scope::new("/home/dev/project").home("/home/dev");
    let mut real = String::new();
    for command in shown.lines().filter_map(|line| line.strip_prefix("$ ")) {
        writeln!(real, "$ {command}\n  {}", assess(&Action::shell(command), &scope)).unwrap();
    }
    assert_eq!(real.lines().count(), 20, "ten examples");
    assert_eq!(shown, real, "the README must read:\n{real}");
}
