//! The environment of a command: built from nothing, variable by variable.
//!
//! Only what passes is copied from the agent's own environment: well-known names, and ordinary settings whose name
//! and value do not look like a secret or like code that runs by itself. Names the owner asks for always pass.
//! Then the answers to questions nobody is there to answer are set: no colours, no editors, no pagers, no prompts.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};

/// The environment of a command, from the agent's own.
pub(super) fn environment(
    own: impl IntoIterator<Item = (OsString, OsString)>,
    passthrough: &BTreeSet<String>,
) -> Vec<(OsString, OsString)> {
    let asked_for = |name: &OsStr| name.to_str().is_some_and(|name| passthrough.contains(name));
    let mut kept: Vec<_> =
        own.into_iter().filter(|(name, value)| asked_for(name) || may_pass(name, value)).collect();
    kept.retain(|(name, _)| !FIXED.iter().any(|(fixed, _)| name == fixed));
    kept.extend(FIXED.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))));
    kept
}

const FIXED: &[(&str, &str)] = &[
    ("NO_COLOR", "1"),
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    // An editor that leaves the text as it is.
    ("EDITOR", "true"),
    ("VISUAL", "true"),
    ("GIT_EDITOR", "true"),
    ("GIT_SEQUENCE_EDITOR", "true"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("DEBIAN_FRONTEND", "noninteractive"),
];

fn may_pass(name: &OsStr, value: &OsStr) -> bool {
    // What is not text cannot be checked.
    let (Some(name), Some(value)) = (name.to_str(), value.to_str()) else { return false };
    let upper = name.to_ascii_uppercase();
    if KNOWN.contains(&upper.as_str()) || upper.starts_with("LC_") {
        return true;
    }
    !is_secret_name(&upper)
        && !RUNS_CODE.iter().any(|prefix| upper.starts_with(prefix))
        && !is_secret_value(value)
}

/// Pass whatever their value.
const KNOWN: &[&str] = &[
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "OLDPWD", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP",
    "TEMP", "HOSTNAME", "SHLVL",
];

/// Read by shells and by what asks for passwords: code, not settings.
const RUNS_CODE: &[&str] =
    &["BASH_ENV", "ENV", "BASH_FUNC_", "PROMPT_COMMAND", "PS4", "SSH_ASKPASS", "GIT_ASKPASS", "SUDO_ASKPASS"];

/// Whether a name announces a secret, or belongs to an agent's own configuration.
fn is_secret_name(upper: &str) -> bool {
    SECRET_PARTS.iter().any(|part| upper.contains(part))
        || upper.split(|c: char| !c.is_ascii_alphabetic()).any(|word| SECRET_WORDS.contains(&word))
        || OWN_PREFIXES.iter().any(|prefix| upper.starts_with(prefix))
}

const SECRET_PARTS: &[&str] = &[
    "TOKEN",
    "SECRET",
    "PASSW",
    "PASSPHRASE",
    "CREDENTIAL",
    "APIKEY",
    "ACCESSKEY",
    "PRIVATEKEY",
    "BEARER",
    "COOKIE",
    "CONNECTION_STRING",
    "CONNECTIONSTRING",
    "CONN_STR",
    "CONNSTR",
    "HOOK",
];

const SECRET_WORDS: &[&str] = &[
    "KEY",
    "KEYS",
    "AUTH",
    "PASS",
    "PWD",
    "PW",
    "PAT",
    "CRED",
    "CREDS",
    "DSN",
    "JWT",
    "SAS",
    "SIGNING",
    "SIGNATURE",
    "PIN",
    "OTP",
    "SESSION",
    "LICENSE",
    "PEM",
    "SALT",
];

const OWN_PREFIXES: &[&str] = &["VANTA_", "ANTHROPIC_", "OPENAI_", "GEMINI_", "OLLAMA_"];

/// Whether a value looks like a secret under a harmless name.
fn is_secret_value(value: &str) -> bool {
    let value = value.trim();
    let lower = value.to_ascii_lowercase();
    SECRET_STARTS.iter().any(|start| value.starts_with(start))
        || SECRET_FIELDS.iter().any(|field| lower.contains(field))
        || value.contains("PRIVATE KEY-----")
        || has_password_in_url(value)
}

/// Fields of connection strings and signed addresses, in lower case.
const SECRET_FIELDS: &[&str] = &[
    "accountkey=",
    "sharedaccesskey=",
    "sharedaccesssignature=",
    "accesskey=",
    "secretkey=",
    "password=",
    "passwd=",
    "pwd=",
    "client_secret=",
    "access_token=",
    "api_key=",
    "apikey=",
    "x-amz-signature=",
    "sig=",
];

const SECRET_STARTS: &[&str] = &[
    "sk-",
    "sk_",
    "rk_",
    "pk_live_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "eyJ",
    "npm_",
    "pypi-",
    "hf_",
    "dop_v1_",
    "SG.",
    "Bearer ",
    "Basic ",
];

/// `scheme://user:password@host`, in any of several addresses.
fn has_password_in_url(value: &str) -> bool {
    value.split("://").skip(1).any(|rest| {
        let authority = rest.split(['/', '?', '#', ' ']).next().unwrap_or_default();
        authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
            // A password may hold what ends an authority.
            || rest.split_once('@').is_some_and(|(user, _)| !user.contains(['/', ' ']) && user.contains(':'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(name: &str, value: &str) -> bool {
        let own = [(OsString::from(name), OsString::from(value))];
        environment(own, &BTreeSet::from(["ASKED_TOKEN".to_owned()]))
            .iter()
            .any(|(kept, was)| kept == name && was == value)
    }

    #[test]
    fn ordinary_settings_pass() {
        for name in [
            "PATH",
            "HOME",
            "LC_ALL",
            "MY_PLAIN_SETTING",
            "CARGO_HOME",
            "JAVA_HOME",
            "RUST_LOG",
            "KEYBOARD",
            "PWD",
        ] {
            assert!(passes(name, "/usr/value"), "{name}");
        }
        assert!(
            passes("PROXY", "http://proxy:3128")
                && passes("REPO", "git@host:a/b")
                && passes("ASKED_TOKEN", "t")
        );
    }

    #[test]
    fn secrets_do_not_pass() {
        for name in [
            "OPENAI_API_KEY",
            "VANTA_KERNEL_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "GITHUB_TOKEN",
            "DB_PASSWORD",
            "DB_PASS",
            "GH_PAT",
            "npm_config__authToken",
            "SSH_AUTH_SOCK",
            "MyApiKey",
            "VANTA_MODEL",
            "STRIPE_KEY_2",
            "SENTRY_DSN",
            "BASH_ENV",
            "ENV",
            "BASH_FUNC_x%%",
            "SSH_ASKPASS",
            "AZURE_STORAGE_CONNECTION_STRING",
            "ConnectionStrings__Default",
            "SLACK_WEBHOOK_URL",
            "DEPLOY_HOOK",
            "MYSQL_DSN",
        ] {
            assert!(!passes(name, "value"), "{name}");
        }
        for value in [
            "sk-abc",
            "ghp_abc",
            "postgres://u:p@h/db",
            "http://plain,amqp://u:p@h",
            "redis://:p#w@h:6379",
            "-----BEGIN RSA PRIVATE KEY-----",
            "eyJhbGciOi",
            "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=abc==;EndpointSuffix=core.windows.net",
            "Endpoint=sb://a.net/;SharedAccessKeyName=Root;SharedAccessKey=abc=",
            "Server=db;User Id=sa;Password=abc",
            "https://a.blob.net/c?sv=2024&sig=abc",
        ] {
            assert!(!passes("HARMLESS", value), "{value}");
        }
    }

    #[test]
    fn nobody_is_asked() {
        assert!(passes("TERM", "dumb") && !passes("EDITOR", "vim") && passes("GIT_TERMINAL_PROMPT", "0"));
    }
}
