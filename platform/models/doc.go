// Package models makes the model providers that a worker offers, as its
// environment configures them.
//
// OpenAI and Anthropic are always there; without a key, they fail a turn with
// what to set. Any other provider that speaks one of their APIs has a name of
// its own:
//
//	OPENAI_API_KEY, OPENAI_BASE_URL
//	ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL
//	TOOLCRIB_MODEL_<NAME>_BASE_URL   which makes the provider <name>
//	TOOLCRIB_MODEL_<NAME>_API_KEY    which it may do without
//	TOOLCRIB_MODEL_<NAME>_API        openai, the default, or anthropic
//
// A tenant's own key, the credential model-<name>, comes before the
// operator's. See docs/models.md.
package models
