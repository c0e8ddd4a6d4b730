//! What a run is set up with: flags, then the environment, then the session's own notes, then defaults.
//!
//! Nothing is read here but what is handed in; keys come from the environment alone and are never noted.

use std::time::Duration;

use anyhow::Result;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use vanta_core::{Limits, Mode};
use vanta_providers::Secret;
use vanta_providers::openai_compatible::Preset;

use crate::args::RunOptions;
use crate::exit::Complaint;
use crate::text::one_line;

/// Looks up an environment variable; an empty one counts as not set.
pub(crate) type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Choices of one layer, or of all of them. Also what a session's first record keeps.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Choices {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) provider: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) base_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mode: Option<Mode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_turns: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_tool_calls: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timeout_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tools: Option<Vec<String>>,
}

impl Choices {
    pub(crate) fn of_flags(options: &RunOptions) -> Self {
        Self {
            provider: options.provider.clone(),
            model: options.model.clone(),
            base_url: options.base_url.clone(),
            mode: options.mode,
            max_turns: options.max_turns,
            max_tokens: options.max_tokens,
            max_tool_calls: options.max_tool_calls,
            timeout_ms: options.timeout.map(|limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)),
            tools: options.tools.clone(),
        }
    }

    pub(crate) fn of_env(env: Env<'_>) -> Result<Self> {
        Ok(Self {
            provider: env("VANTA_PROVIDER"),
            model: env("VANTA_MODEL"),
            base_url: env("VANTA_OPENAI_BASE_URL"),
            max_turns: number(env, "VANTA_MAX_ITER")?,
            ..Self::default()
        })
    }

    /// What a session noted, and what there is to say about it.
    ///
    /// Read field by field, and never looser than it was noted: a mode that cannot be read counts as plan, and
    /// any other field that cannot be read needs the build that wrote it. Unknown fields are named.
    pub(crate) fn of_notes(notes: &Value) -> Result<(Self, Vec<String>)> {
        let mut fields = match notes {
            // The host that started the session noted nothing.
            Value::Null => Map::new(),
            Value::Object(fields) => fields.clone(),
            _ => return Err(unreadable("settings")),
        };
        let mut remarks = Vec::new();
        let mode = field(&mut fields, "mode").unwrap_or_else(|_| {
            remarks.push("the mode it noted is not known to this build, so it counts as plan unless --mode says otherwise".to_owned());
            Some(Mode::Plan)
        });
        let choices = Self {
            provider: field(&mut fields, "provider")?,
            model: field(&mut fields, "model")?,
            base_url: field(&mut fields, "base_url")?,
            mode,
            max_turns: field(&mut fields, "max_turns")?,
            max_tokens: field(&mut fields, "max_tokens")?,
            max_tool_calls: field(&mut fields, "max_tool_calls")?,
            timeout_ms: field(&mut fields, "timeout_ms")?,
            tools: field(&mut fields, "tools")?,
        };
        let unknown: Vec<String> = fields.keys().map(|name| format!("`{}`", one_line(name, 40))).collect();
        if !unknown.is_empty() {
            remarks
                .push(format!("this build does not know its {}, which does not count", unknown.join(", ")));
        }
        Ok((choices, remarks))
    }

    /// These choices, and where there are none, those of `lower`.
    pub(crate) fn over(self, lower: Self) -> Self {
        // Another provider is at another address, and has other models.
        let moved = match (&self.provider, &lower.provider) {
            (Some(mine), Some(theirs)) => mine != theirs,
            (Some(mine), None) => lower.base_url.is_some() && !matches!(mine.as_str(), OPENAI | COMPATIBLE),
            (None, _) => false,
        };
        let lower = if moved { Self { base_url: None, model: None, ..lower } } else { lower };
        Self {
            provider: self.provider.or(lower.provider),
            model: self.model.or(lower.model),
            base_url: self.base_url.or(lower.base_url),
            mode: self.mode.or(lower.mode),
            max_turns: self.max_turns.or(lower.max_turns),
            max_tokens: self.max_tokens.or(lower.max_tokens),
            max_tool_calls: self.max_tool_calls.or(lower.max_tool_calls),
            timeout_ms: self.timeout_ms.or(lower.timeout_ms),
            tools: self.tools.or(lower.tools),
        }
    }

    /// Only what cannot loosen anything: for notes that may have come with a clone.
    pub(crate) fn only_tightening(self) -> Self {
        Self {
            mode: self.mode.filter(|mode| *mode == Mode::Plan),
            tools: self.tools,
            provider: self.provider.filter(|name| name != COMPATIBLE),
            model: self.model,
            ..Self::default()
        }
    }

    /// The variable that holds the key of the provider that was named, or of any that speaks like OpenAI.
    pub(crate) fn key_variable(&self) -> Option<&'static str> {
        let preset = self.provider.as_deref().and_then(Preset::find);
        preset.map_or(Some(OPENAI_KEY), Preset::key_variable)
    }

    pub(crate) fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        if let Some(turns) = self.max_turns {
            limits = limits.turns(turns);
        }
        if let Some(tokens) = self.max_tokens {
            limits = limits.tokens(tokens);
        }
        if let Some(calls) = self.max_tool_calls {
            limits = limits.tool_calls(calls);
        }
        if let Some(millis) = self.timeout_ms {
            limits = limits.wall_clock(Duration::from_millis(millis));
        }
        limits
    }
}

/// Where the model is, all of it known.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Endpoint {
    pub(crate) provider: String,
    pub(crate) base_url: String,
    pub(crate) model: String,
    pub(crate) key: Option<Secret>,
}

impl Endpoint {
    /// The endpoint that `choices` and the keys in the environment name.
    pub(crate) fn find(choices: &Choices, env: Env<'_>) -> Result<Self> {
        let provider = match &choices.provider {
            Some(name) => name.clone(),
            None if choices.base_url.is_some() => COMPATIBLE.to_owned(),
            None => with_key(env).ok_or_else(|| setup(NO_PROVIDER))?.to_owned(),
        };
        let preset = Preset::find(&provider);
        if preset.is_none() && provider != COMPATIBLE {
            let names: Vec<&str> = Preset::all().iter().map(Preset::name).collect();
            let names = names.join(", ");
            return Err(setup(format!(
                "`{provider}` is no provider; choose one of {names}, or {COMPATIBLE} with --base-url"
            )));
        }
        let key_variable = preset.map_or(Some(OPENAI_KEY), Preset::key_variable);
        let key = key_variable.and_then(env);
        let own_address = choices.base_url.is_none();
        if let (true, Some(variable), None) = (own_address && preset.is_some(), key_variable, &key) {
            return Err(setup(format!(
                "there is no key for {provider}: set {variable}, choose another --provider, or try `vanta demo`"
            )));
        }
        let base_url = choices.base_url.clone().or_else(|| preset.map(|preset| preset.base_url().to_owned()));
        let base_url = base_url.ok_or_else(|| {
            setup(format!("{COMPATIBLE} needs an address: give --base-url, such as http://127.0.0.1:8080/v1"))
        })?;
        check_address(&base_url, key_variable)?;
        let model = match &choices.model {
            Some(model) => model.clone(),
            // A server of one's own often has one model and does not look at the name.
            None if !own_address || key_variable.is_none() => DEFAULT_MODEL.to_owned(),
            None => {
                let complaint = format!("no model is named for {provider}: give --model, or set VANTA_MODEL");
                return Err(setup(complaint));
            }
        };
        if let (Some(variable), Some(_), true) = (key_variable, &key, is_in_the_clear(&base_url)) {
            return Err(setup(format!(
                "`{base_url}` would carry the key of {variable} unencrypted to another machine; use https, or unset {variable}"
            )));
        }
        let key = key.map(|key| Secret::from(key.trim()));
        Ok(Self { provider, base_url, model, key })
    }
}

/// Takes a noted field out of `fields`; it is none where it was not noted.
fn field<T: DeserializeOwned>(fields: &mut Map<String, Value>, name: &str) -> Result<Option<T>> {
    let value = fields.remove(name);
    value.map(|value| serde_json::from_value(value).map_err(|_| unreadable(name))).transpose()
}

fn unreadable(name: &str) -> anyhow::Error {
    let complaint = format!("the session needs a newer build: this one cannot read the `{name}` it noted");
    Complaint::TooNew(complaint).into()
}

/// The address is a whole one, and holds nothing that is no address: it is noted in the session's files.
fn check_address(base_url: &str, key_variable: Option<&str>) -> Result<()> {
    let (scheme, rest) = match base_url.split_once("://") {
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, base_url),
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') || rest.contains(['?', '#']) {
        // Not shown: it may be a secret.
        let variable = key_variable.unwrap_or(OPENAI_KEY);
        return Err(setup(format!(
            "--base-url and VANTA_OPENAI_BASE_URL take no user name, password or query: the address is noted in the \
             session's files; put the key into {variable}"
        )));
    }
    match scheme {
        Some(scheme) if scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https") => Ok(()),
        Some(_) => {
            let complaint =
                format!("`{base_url}` is no address of a model; --base-url begins with http:// or https://");
            Err(setup(complaint))
        }
        None => Err(setup(format!(
            "`{base_url}` has no scheme; add http:// or, to another machine, https://: --base-url http://{base_url}"
        ))),
    }
}

/// Whether requests to `base_url` cross a network unencrypted.
fn is_in_the_clear(base_url: &str) -> bool {
    let Some((scheme, rest)) = base_url.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let name = match host.strip_prefix('[') {
        Some(six) => six.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let here = name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    scheme.eq_ignore_ascii_case("http") && !here
}

/// How often a failed model request is tried again, when the environment says.
pub(crate) fn retries(env: Env<'_>) -> Result<Option<u32>> {
    Ok(number(env, "VANTA_TOOL_RETRIES")?.map(|times: u32| times.min(MOST_RETRIES)))
}

/// The provider whose key is there; OpenAI's first.
fn with_key(env: Env<'_>) -> Option<&'static str> {
    let has_key = |preset: &&Preset| preset.key_variable().is_some_and(|name| env(name).is_some());
    let openai = Preset::find(OPENAI).into_iter();
    openai.chain(Preset::all()).find(has_key).map(Preset::name)
}

fn number<T: std::str::FromStr>(env: Env<'_>, name: &str) -> Result<Option<T>> {
    let Some(text) = env(name) else { return Ok(None) };
    match text.trim().parse() {
        Ok(number) => Ok(Some(number)),
        Err(_) => Err(setup(format!("{name} is `{}`, which is no number of times", text.escape_debug()))),
    }
}

fn setup(complaint: impl Into<String>) -> anyhow::Error {
    Complaint::Setup(complaint.into()).into()
}

const OPENAI: &str = "openai";
/// Any endpoint that speaks Chat Completions, at an address of the user's.
pub(crate) const COMPATIBLE: &str = "openai-compatible";
const OPENAI_KEY: &str = "OPENAI_API_KEY";
const DEFAULT_MODEL: &str = "default";
const MOST_RETRIES: u32 = 5;

const NO_PROVIDER: &str = "there is no model to talk to; the quickest ways out:
  vanta demo                                   shows a whole run, without key and network
  export OPENAI_API_KEY=…                      or OPENROUTER_API_KEY, GROQ_API_KEY, …; then `vanta run --model NAME`
  vanta run --provider ollama --model NAME     or llamacpp, lmstudio, vllm on this machine, or --base-url URL";

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &'static [(&str, &str)]) -> impl Fn(&str) -> Option<String> {
        move |name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    }

    fn chosen(provider: Option<&str>, model: Option<&str>, base_url: Option<&str>) -> Choices {
        let own = |text: Option<&str>| text.map(str::to_owned);
        Choices { provider: own(provider), model: own(model), base_url: own(base_url), ..Choices::default() }
    }

    #[test]
    fn a_key_does_not_cross_a_network_unencrypted() {
        for here in
            ["http://127.0.0.1:8080/v1", "http://localhost/v1", "http://[::1]:1/v1", "https://a.example/v1"]
        {
            assert!(!is_in_the_clear(here), "{here}");
        }
        for away in [
            "http://a.example/v1",
            "HTTP://192.0.2.1",
            "http://127.0.0.1@a.example/",
            "http://localhost.a.example",
        ] {
            assert!(is_in_the_clear(away), "{away}");
        }
        let away = chosen(None, Some("m"), Some("http://192.0.2.1/v1"));
        let refused =
            Endpoint::find(&away, &env(&[("OPENAI_API_KEY", "sk-not-shown")])).unwrap_err().to_string();
        assert!(refused.contains("https") && !refused.contains("sk-not-shown"), "{refused}");
        assert!(Endpoint::find(&away, &env(&[])).is_ok());
    }

    #[test]
    fn flags_win_over_environment_and_notes() {
        let notes =
            Choices { max_turns: Some(3), mode: Some(Mode::Plan), ..chosen(Some("groq"), Some("a"), None) };
        let env = Choices { max_turns: Some(5), ..Choices::default() };
        let all = chosen(None, Some("b"), None).over(env).over(notes);
        assert_eq!((all.provider.as_deref(), all.model.as_deref()), (Some("groq"), Some("b")));
        assert_eq!((all.max_turns, all.mode), (Some(5), Some(Mode::Plan)));
    }

    #[test]
    fn another_provider_does_not_inherit_an_address() {
        let notes = chosen(Some(COMPATIBLE), Some("local"), Some("http://127.0.0.1:1/v1"));
        assert_eq!(chosen(Some("groq"), None, None).over(notes), chosen(Some("groq"), None, None));
        let env = chosen(None, Some("m"), Some("http://127.0.0.1:1/v1"));
        assert_eq!(chosen(Some(OPENAI), None, None).over(env.clone()).base_url, env.base_url);
        assert_eq!(chosen(Some("groq"), None, None).over(env).base_url, None);
    }

    #[test]
    fn keys_choose_a_provider_and_go_nowhere_else() {
        let found = |choices: &Choices, pairs| Endpoint::find(choices, &env(pairs));
        let model = chosen(None, Some("m"), None);
        assert!(found(&model, &[]).unwrap_err().to_string().contains("vanta demo"));
        assert_eq!(found(&model, &[("GROQ_API_KEY", "g")]).unwrap().provider, "groq");
        let both = found(&model, &[("GROQ_API_KEY", "g"), ("OPENAI_API_KEY", "o\n")]).unwrap();
        assert_eq!((both.provider.as_str(), both.key.unwrap().expose()), ("openai", "o"));
        let groq = chosen(Some("groq"), Some("m"), None);
        assert!(found(&groq, &[("OPENAI_API_KEY", "o")]).unwrap_err().to_string().contains("GROQ_API_KEY"));
        let local = found(&chosen(None, None, Some("http://127.0.0.1:1/v1")), &[]).unwrap();
        assert_eq!((local.provider.as_str(), local.model.as_str()), (COMPATIBLE, DEFAULT_MODEL));
        assert!(
            found(&chosen(Some("nobody"), None, None), &[]).unwrap_err().to_string().contains("openrouter")
        );
        assert!(found(&chosen(Some(COMPATIBLE), None, None), &[]).is_err());
        assert!(found(&chosen(Some(OPENAI), None, None), &[("OPENAI_API_KEY", "o")]).is_err());
    }

    #[test]
    fn notes_that_cannot_be_read_loosen_nothing() {
        let notes = |text: &str| Choices::of_notes(&serde_json::from_str(text).unwrap());
        for mode in [r#""careful""#, "7", "null", "{}"] {
            let (choices, remarks) = notes(&format!(r#"{{"mode": {mode}, "max_turns": 3}}"#)).unwrap();
            assert_eq!((choices.mode, choices.max_turns), (Some(Mode::Plan), Some(3)), "{mode}");
            assert!(remarks.iter().any(|remark| remark.contains("plan")), "{remarks:?}");
        }
        for unreadable in [
            r#"{"mode": "default", "tools": "read_file"}"#,
            r#"{"tools": {"allow": ["read_file"]}}"#,
            r#"{"tools": null}"#,
            r#"{"max_turns": "3"}"#,
            r#"{"max_turns": -1}"#,
            r#"{"max_tokens": 1e99}"#,
            r#"{"max_tool_calls": 4294967296}"#,
            r#"{"timeout_ms": [1]}"#,
            r#"{"provider": 1}"#,
            r#"{"model": {}}"#,
            r#"{"base_url": false}"#,
            "[]",
            r#""plan""#,
        ] {
            let refused = notes(unreadable).unwrap_err();
            assert_eq!(crate::exit::of_error(&refused), crate::exit::TOO_NEW, "{unreadable}: {refused}");
        }
        let (choices, remarks) = notes(r#"{"mode": "plan", "sand\u001bbox": true}"#).unwrap();
        assert_eq!(choices.mode, Some(Mode::Plan));
        assert!(matches!(&remarks[..], [remark] if remark.contains(r"`sand\u{1b}box`")), "{remarks:?}");
        assert_eq!(notes("null").unwrap(), (Choices::default(), Vec::new()));
    }

    #[test]
    fn what_is_noted_is_read_back() {
        let mut choices = chosen(Some("groq"), Some("m"), Some("http://127.0.0.1:1/v1"));
        (choices.mode, choices.tools) = (Some(Mode::AcceptEdits), Some(vec!["shell".into()]));
        (choices.max_turns, choices.max_tokens) = (Some(1), Some(2));
        (choices.max_tool_calls, choices.timeout_ms) = (Some(3), Some(4));
        let notes = serde_json::to_value(&choices).unwrap();
        assert_eq!(Choices::of_notes(&notes).unwrap(), (choices, Vec::new()));
    }

    #[test]
    fn an_address_is_whole_and_holds_no_credentials() {
        for good in ["http://127.0.0.1:8080/v1", "HTTPS://a.example", "https://a.example/at@path"] {
            assert!(check_address(good, None).is_ok(), "{good}");
        }
        for secret in [
            "https://user:s3cret@a.example/v1",
            "https://s3cret@a.example",
            "https://a.example/v1?key=s3cret",
            "https://a.example/v1#s3cret",
            "user:s3cret@a.example/v1",
            r"https://a.example\:s3cret@b.example",
        ] {
            let refused = check_address(secret, Some("GROQ_API_KEY")).unwrap_err().to_string();
            assert!(refused.contains("GROQ_API_KEY") && !refused.contains("s3cret"), "{refused}");
        }
        for bare in ["127.0.0.1:8080", "a.example/v1", "http:a.example", "http:/a.example"] {
            assert!(check_address(bare, None).unwrap_err().to_string().contains("add http://"), "{bare}");
        }
        assert!(check_address("ftp://a.example", None).unwrap_err().to_string().contains("https://"));
    }

    #[test]
    fn notes_of_a_stranger_loosen_nothing() {
        let mut notes = chosen(Some(COMPATIBLE), None, Some("http://evil.example/v1"));
        (notes.mode, notes.max_turns) = (Some(Mode::Auto), Some(9999));
        assert_eq!(notes.clone().only_tightening(), Choices::default());
        notes.mode = Some(Mode::Plan);
        assert_eq!(notes.only_tightening().mode, Some(Mode::Plan));
    }

    #[test]
    fn numbers_in_the_environment_are_numbers() {
        assert!(Choices::of_env(&env(&[("VANTA_MAX_ITER", "many")])).is_err());
        assert_eq!(Choices::of_env(&env(&[("VANTA_MAX_ITER", "7")])).unwrap().max_turns, Some(7));
        assert_eq!(retries(&env(&[("VANTA_TOOL_RETRIES", "9")])).unwrap(), Some(MOST_RETRIES));
    }
}
