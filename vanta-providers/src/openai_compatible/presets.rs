//! Known endpoints as data: address, the variable that holds the key, and their peculiarities.

use super::compat::{Compat, IdFormat, MaxTokensField, ReplayReasoning};

/// An endpoint known by name.
///
/// ```
/// use vanta_providers::openai_compatible::Preset;
///
/// let preset = Preset::find("groq").unwrap();
/// assert_eq!(preset.key_variable(), Some("GROQ_API_KEY"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    name: &'static str,
    base_url: &'static str,
    key_variable: Option<&'static str>,
    compat: Compat,
}

impl Preset {
    /// The preset called `name`.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        PRESETS.binary_search_by(|preset| preset.name.cmp(name)).ok().and_then(|at| PRESETS.get(at))
    }

    /// All presets, sorted by name.
    #[must_use]
    pub fn all() -> &'static [Self] {
        PRESETS
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Where it is reached.
    #[must_use]
    pub fn base_url(&self) -> &'static str {
        self.base_url
    }

    /// The environment variable that usually holds the key. Nothing here reads it.
    #[must_use]
    pub fn key_variable(&self) -> Option<&'static str> {
        self.key_variable
    }

    /// Its peculiarities.
    #[must_use]
    pub fn compat(&self) -> Compat {
        self.compat
    }
}

const fn hosted(name: &'static str, base_url: &'static str, key: &'static str, compat: Compat) -> Preset {
    Preset { name, base_url, key_variable: Some(key), compat }
}

const fn local(name: &'static str, base_url: &'static str) -> Preset {
    Preset { name, base_url, key_variable: None, compat: PLAIN }
}

const PLAIN: Compat = Compat::new();

/// Sorted by name.
const PRESETS: &[Preset] = &[
    hosted(
        "deepseek",
        "https://api.deepseek.com/v1",
        "DEEPSEEK_API_KEY",
        PLAIN.with_replay_reasoning(ReplayReasoning::ReasoningContent).without_parallel_flag(),
    ),
    hosted("fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY", PLAIN),
    hosted(
        "groq",
        "https://api.groq.com/openai/v1",
        "GROQ_API_KEY",
        PLAIN.with_max_tokens_field(MaxTokensField::MaxCompletionTokens),
    ),
    local("llamacpp", "http://127.0.0.1:8080/v1"),
    local("lmstudio", "http://127.0.0.1:1234/v1"),
    hosted(
        "mistral",
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        PLAIN.with_tool_id_format(IdFormat::Alnum9).with_assistant_after_tool().without_stream_usage(),
    ),
    local("ollama", "http://127.0.0.1:11434/v1"),
    hosted(
        "openai",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        PLAIN.with_max_tokens_field(MaxTokensField::MaxCompletionTokens),
    ),
    hosted(
        "openrouter",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        PLAIN.with_replay_reasoning(ReplayReasoning::ReasoningDetails),
    ),
    hosted("together", "https://api.together.xyz/v1", "TOGETHER_API_KEY", PLAIN),
    local("vllm", "http://127.0.0.1:8000/v1"),
    hosted("xai", "https://api.x.ai/v1", "XAI_API_KEY", PLAIN),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_every_name_is_found() {
        assert!(PRESETS.is_sorted_by(|a, b| a.name < b.name));
        assert!(PRESETS.iter().all(|preset| Preset::find(preset.name) == Some(preset)));
        assert_eq!(Preset::find("nowhere"), None);
    }
}
