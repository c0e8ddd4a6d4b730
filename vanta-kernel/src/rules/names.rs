//! Names that say what they hold: secret variables and files, live places, login files.

use alloc::borrow::Cow;
use alloc::string::String;

use crate::shell::value::{has_marker, matches};

/// Lower-case runs of letters and digits in `text`.
pub(crate) fn segments(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|s| !s.is_empty()).map(str::to_ascii_lowercase)
}

/// Does a name say that what it names is in use by customers?
pub(crate) fn says_live(text: &str) -> bool {
    segments(text).any(|s| matches!(s.as_str(), "live" | "prd" | "prod" | "production"))
}

/// Does a variable's name say that it holds a credential?
pub(crate) fn is_secret_variable(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let mut words = segments(&upper).peekable();
    let mut previous = String::new();
    while let Some(word) = words.next() {
        let last = words.peek().is_none();
        match word.as_str() {
            "token" | "secret" | "secrets" | "password" | "passwd" | "passphrase" | "credential"
            | "credentials" | "apikey" | "pat" | "authtoken" => return true,
            "key"
                if last
                    && matches!(
                        previous.as_str(),
                        "api" | "access" | "private" | "secret" | "signing" | "encryption" | "master"
                    ) =>
            {
                return true;
            }
            _ => previous = word,
        }
    }
    false
}

/// Does a file's name, or the folder it is in, say that it holds a credential?
pub(crate) fn is_secret_file(folders: &[&str], name: &str) -> bool {
    let lower = lower_case(name);
    let lower = lower.as_ref();
    let folder = folders.last().map_or("", |f| *f);
    let extension = extension(lower);
    if extension.is_some_and(|e| TEMPLATES.binary_search(&e).is_ok()) {
        return false;
    }
    is_env_file(lower)
        || SECRET_FILES.binary_search(&lower).is_ok()
        || lower.starts_with("service-account") && lower.ends_with(".json")
        || extension.is_some_and(|e| SECRET_EXTENSIONS.binary_search(&e).is_ok())
        || lower.ends_with("_history") && lower.starts_with('.')
        || (folder == "secrets" || folder == ".secrets")
            && extension.is_some_and(|e| DATA_EXTENSIONS.binary_search(&e).is_ok())
        || is_secret_folder(name)
        || folders.iter().any(|f| is_secret_folder(f))
        || folders.windows(2).any(|w| matches!(w, [".config", "gh" | "gcloud"] | ["Library", "Keychains"]))
        || folder == ".docker" && lower == "config.json"
}

/// Names are nearly always in lower case already.
fn lower_case(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|b| b.is_ascii_uppercase()) { name.to_ascii_lowercase().into() } else { name.into() }
}

/// A folder in which everything is secret.
pub(crate) fn is_secret_folder(name: &str) -> bool {
    SECRET_FOLDERS.contains(&name)
        || name.starts_with('.') && has_marker(name) && SECRET_FOLDERS.iter().any(|s| matches(name, s))
}

fn is_env_file(lower: &str) -> bool {
    if lower.starts_with('.') && has_marker(lower) {
        return matches(lower, ".env") || matches(lower, ".envrc") || lower.starts_with(".env");
    }
    lower == ".env"
        || lower == ".envrc"
        || lower.starts_with(".env.")
        || (lower.ends_with(".env") && lower.len() > 4)
}

/// What stands behind the last dot.
fn extension(name: &str) -> Option<&str> {
    let length = name.bytes().rev().take_while(|b| *b != b'.').count();
    (0 < length && length < name.len()).then(|| name.get(name.len() - length..))?
}

/// Files that run by themselves at login, in the home folder.
pub(crate) fn is_login_file(name: &str) -> bool {
    LOGIN_FILES.binary_search(&name).is_ok()
}

/// Sorted.
pub(crate) const SECRET_FILES: &[&str] = &[
    ".git-credentials",
    ".htpasswd",
    ".my.cnf",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    ".vault-token",
    "_netrc",
    "application_default_credentials.json",
    "auth.json",
    "client_secret.json",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "credentials.yaml",
    "credentials.yml",
    "credentials.yml.enc",
    "google-services.json",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_rsa",
    "kubeconfig",
    "master.key",
    "secrets.json",
    "secrets.toml",
    "secrets.yaml",
    "secrets.yml",
    "secring.gpg",
    "shadow",
    "sudoers",
    "token.json",
    "wallet.dat",
];

/// Sorted.
pub(crate) const SECRET_EXTENSIONS: &[&str] =
    &["jks", "kdbx", "key", "keystore", "p12", "p8", "pem", "pfx", "ppk"];

/// Sorted. Files that only show what a secret one looks like, or are public.
pub(crate) const TEMPLATES: &[&str] =
    &["defaults", "dist", "example", "md", "pub", "sample", "schema", "template", "tmpl"];

/// Sorted. In a folder called `secrets`, these are the secrets.
pub(crate) const DATA_EXTENSIONS: &[&str] =
    &["cfg", "conf", "enc", "env", "ini", "json", "toml", "txt", "yaml", "yml"];

/// Sorted.
pub(crate) const SECRET_FOLDERS: &[&str] =
    &[".aws", ".azure", ".gcloud", ".gnupg", ".kube", ".password-store", ".ssh", "Keychains"];

/// Sorted.
pub(crate) const LOGIN_FILES: &[&str] = &[
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".gitconfig",
    ".inputrc",
    ".profile",
    ".tmux.conf",
    ".vimrc",
    ".xinitrc",
    ".xprofile",
    ".zlogin",
    ".zprofile",
    ".zshenv",
    ".zshrc",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        for table in
            [TEMPLATES, SECRET_FILES, SECRET_EXTENSIONS, DATA_EXTENSIONS, SECRET_FOLDERS, LOGIN_FILES]
        {
            assert!(table.windows(2).all(|w| w[0] < w[1]), "{table:?}");
        }
    }

    #[test]
    fn secret_files_by_name() {
        for name in [".env", ".env.local", "prod.env", "id_rsa", "server.key", "service-account.json"] {
            assert!(is_secret_file(&[], name), "{name}");
        }
        for name in
            [".env.example", "credentials.md", "id_rsa.pub", "keys.js", "environment.rs", "monkey.pem.md"]
        {
            assert!(!is_secret_file(&[], name), "{name}");
        }
    }

    #[test]
    fn secret_variables_by_name() {
        for name in ["GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY", "DATABASE_PASSWORD"] {
            assert!(is_secret_variable(name), "{name}");
        }
        for name in ["PATH", "KEY", "MONKEY", "TOKENIZER", "KEYBOARD"] {
            assert!(!is_secret_variable(name), "{name}");
        }
    }
}
