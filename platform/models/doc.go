// Package models creates the model providers of a worker, as its environment
// configures them.
//
// OpenAI and Anthropic always exist; without a key, a turn fails with the name of
// the variable to set. Any other provider with one of their APIs has a name of
// its own:
//
//	OPENAI_API_KEY, OPENAI_BASE_URL
//	TOOLCRIB_MODEL_OPENAI_API        openai, the default, or responses
//	ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL
//	TOOLCRIB_MODEL_<NAME>_BASE_URL   which defines the provider <name>
//	TOOLCRIB_MODEL_<NAME>_API_KEY    optional
//	TOOLCRIB_MODEL_<NAME>_API        openai, the default, responses, or anthropic
//
// A tenant's own key, the credential model-<name>, takes precedence over the
// operator's. See docs/models.md.
package models
