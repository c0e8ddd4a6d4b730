//! Tools that manage remote services: read verbs, destroying verbs, and whether the target is plainly live.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Call, Options};
use crate::Effect;
use crate::rules::act::Act;
use crate::rules::names;
use crate::rules::table;
use crate::shell::flow::Walker;
use crate::shell::value::{Taint, Value, display};

/// Options that answer the question a tool would ask.
const UNPROMPTED: [&str; 8] = [
    "-auto-approve",
    "--auto-approve",
    "--yes",
    "-y",
    "--quiet",
    "-q",
    "--force",
    "--terragrunt-non-interactive",
];

impl Walker<'_> {
    pub(super) fn infra(&mut self, call: &mut Call) {
        let options = Options::whole(
            &call.args,
            "-R -f -H -X -C -m -i -a --repo --jq --json --field --method --query --region --profile --output --project --zone --app --cluster --name --user --filter --format --limit --state --label --branch --template --title --body -n -t -b -L -q",
        );
        let words: Vec<&str> = options.operands.iter().map(|o| o.text.as_str()).collect();
        call.command.subcommand = words.first().map(|w| display(w));
        if matches!(words.first(), Some(&("run" | "exec"))) && call.words().any(|w| w == "--") {
            self.hidden_command(call);
        }
        let listed = table::subcommand(&call.name, &words);
        let dry =
            options.has(&["--dry-run", "--noop", "--check", "--what-if", "--dryrun", "-help", "--help"])
                && call.name != "gh"
                || options.has(&["-n"]) && matches!(call.name.as_str(), "cap" | "helmfile" | "kamal");
        let act = match listed {
            Some((_, act)) => act,
            None if shows_values(&words) => Act::SecretShow,
            None => by_verb(&call.name, &words),
        };
        let act = self.infra_special(act, &words, &options, call);
        let live = call.live
            || self.state.live
            || call.args.iter().any(|a| a.taint.live || names::says_live(&a.text));
        if act == Act::Harmless && words.contains(&"select") {
            self.state.live |= live;
        }
        // Terraform and its kind keep their state in the project, so a live one is named by folder or workspace.
        let prompts = matches!(call.name.as_str(), "terraform" | "tofu" | "terragrunt" | "gcloud" | "pulumi");
        let silent = !prompts || options.has(&UNPROMPTED);
        let act = match act {
            _ if dry => Act::Harmless,
            Act::CloudDestroy if live && silent => Act::DestroyLive,
            other => other,
        };
        if act != Act::Harmless {
            call.command.fact(act, words.iter().take(3).copied().collect::<Vec<_>>().join(" "));
        }
        let secret = act == Act::SecretShow;
        call.output = Value::unknown(Taint { secret, network: true, ..Taint::NONE });
        self.infra_paths(act, &options, call);
    }

    fn infra_special(&mut self, act: Act, words: &[&str], options: &Options, call: &mut Call) -> Act {
        let name = call.name.as_str();
        match (name, words) {
            ("terraform" | "tofu" | "terragrunt", ["apply", ..]) if options.has(&["-destroy"]) => {
                Act::CloudDestroy
            }
            ("terraform" | "tofu" | "terragrunt", ["workspace", "select", target, ..]) => {
                self.state.live |= names::says_live(target);
                Act::Harmless
            }
            ("gh", ["api", ..]) => {
                let method = options.value(&["-X", "--method"]).map_or("", |v| v.text.as_str());
                let fields = options.has(&["-f", "-F", "--field", "--raw-field", "--input"]);
                match method {
                    "DELETE" => Act::CloudDestroy,
                    "GET" => Act::Harmless,
                    "" if !fields => Act::Harmless,
                    _ => Act::CloudChange,
                }
            }
            ("ansible", _) => Act::RemoteShell,
            ("ansible-playbook", _)
                if options.has(&["--syntax-check", "--list-tasks", "--list-hosts", "--check"]) =>
            {
                Act::Harmless
            }
            ("helm", ["install" | "upgrade" | "pull" | "template", ..])
                if words.iter().any(|w| w.contains("://") && !w.starts_with("oci:")) =>
            {
                call.fact(Act::RunFetched);
                act
            }
            ("hub", [sub, ..])
                if matches!(
                    *sub,
                    "reset" | "clean" | "push" | "checkout" | "commit" | "rebase" | "branch"
                ) =>
            {
                let args = call.args.clone();
                let mut fields = Vec::from([Value::literal("git")]);
                fields.extend(args);
                self.run_inner(fields, call);
                Act::Harmless
            }
            _ => act,
        }
    }

    /// Local files that are sent or written.
    fn infra_paths(&mut self, act: Act, options: &Options, call: &mut Call) {
        let mut taint = Taint::NONE;
        for operand in &options.operands {
            let text = operand.text.as_str();
            let text = text.strip_prefix("fileb://").or_else(|| text.strip_prefix("file://")).unwrap_or(text);
            if super::generic::looks_like_path(text) && !text.starts_with("s3://") {
                taint = taint.join(self.use_path(&operand.with_text(text), Effect::Read, call).taint);
            }
        }
        for (_, value) in &options.flags {
            if let Some(value) = value.as_ref().filter(|v| super::generic::looks_like_path(&v.text)) {
                taint = taint.join(self.use_path(value, Effect::Read, call).taint);
            }
        }
        // Storing a secret where secrets are kept is what these sub-commands are for.
        let stores = call.words().any(|w| {
            names::segments(w)
                .any(|s| matches!(s.as_str(), "secret" | "secrets" | "config" | "variable" | "env"))
        });
        if !stores {
            taint = taint.join(call.taint());
        }
        if taint.secret && act != Act::Harmless {
            call.fact(Act::Exfiltrate);
        }
    }
}

/// `env:list`, `secrets get`: variables and secrets of an app with their values.
fn shows_values(words: &[&str]) -> bool {
    let mut all = words.iter().take(2).flat_map(|w| names::segments(w));
    let noun =
        all.next().is_some_and(|s| matches!(s.as_str(), "env" | "secret" | "secrets" | "variables" | "vars"));
    noun && all.next().is_some_and(|s| {
        matches!(
            s.as_str(),
            "cat" | "download" | "export" | "get" | "list" | "print" | "pull" | "show" | "view"
        )
    })
}

/// What a command of a cloud tool does, told by its verb.
fn by_verb(name: &str, words: &[&str]) -> Act {
    if matches!(name, "ansible" | "ansible-playbook" | "stripe" | "twilio") {
        return Act::CloudChange;
    }
    let mut found = None;
    for word in words.iter().take(5) {
        let verb: String = word
            .rsplit(':')
            .next()
            .unwrap_or(word)
            .split(['-', '_'])
            .next()
            .unwrap_or("")
            .to_ascii_lowercase();
        if DESTROYING.binary_search(&verb.as_str()).is_ok() {
            return Act::CloudDestroy;
        }
        if found.is_none() && READING.binary_search(&verb.as_str()).is_ok() {
            found = Some(Act::Harmless);
        }
    }
    // `DeleteInstance`, `service-instance-delete`: the verb leads in one style and trails in the other.
    let destroys = |word: &str| {
        let last = word.rsplit('-').next().unwrap_or("");
        let camel = word.starts_with(|c: char| c.is_ascii_uppercase());
        let lower = word.to_ascii_lowercase();
        DESTROYING.binary_search(&last).is_ok()
            || camel && DESTROYING.iter().any(|verb| verb.len() > 4 && lower.starts_with(verb))
    };
    let late = words.iter().take(3).any(|w| destroys(w));
    found.unwrap_or(if late { Act::CloudDestroy } else { Act::CloudChange })
}

/// Sorted.
const DESTROYING: &[&str] = &[
    "delete",
    "deregister",
    "destroy",
    "detach",
    "drop",
    "empty",
    "erase",
    "flush",
    "kill",
    "nuke",
    "purge",
    "rb",
    "remove",
    "reset",
    "revoke",
    "rm",
    "terminate",
    "undeploy",
    "uninstall",
    "wipe",
];

/// Sorted.
const READING: &[&str] = &[
    "describe", "diff", "get", "head", "help", "history", "info", "inspect", "list", "logs", "ls", "plan",
    "preview", "show", "status", "tail", "validate", "version", "view", "whoami",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_are_sorted() {
        assert!(DESTROYING.is_sorted());
        assert!(READING.is_sorted());
        assert_eq!(by_verb("aws", &["lambda", "delete-function"]), Act::CloudDestroy);
    }
}
