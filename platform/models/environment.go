package models

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/platform/models/pace"
	"github.com/toolcrib/toolcrib/platform/models/remote"
	"github.com/toolcrib/toolcrib/tool"
)

// Names of variables.
const (
	OpenAIKey        = "OPENAI_API_KEY"
	OpenAIBaseURL    = "OPENAI_BASE_URL"
	AnthropicKey     = "ANTHROPIC_API_KEY"
	AnthropicBaseURL = "ANTHROPIC_BASE_URL"
	// Prefix begins the variables of a further provider; its name and one of
	// _BASE_URL, _API_KEY and _API follow, or for any provider _TIMEOUT,
	// _IDLE_TIMEOUT, _REQUESTS_PER_MINUTE and _TOKENS_PER_MINUTE.
	Prefix = "TOOLCRIB_MODEL_"
)

// API is the protocol of a provider.
type API string

// APIs.
const (
	OpenAI    API = "openai"    // Chat Completions, unless an agent's options say responses.
	Responses API = "responses" // OpenAI's Responses, unless they say chat_completions.
	Anthropic API = "anthropic" // Messages.
)

// provider is one as the environment describes it.
type provider struct {
	name    string
	api     API
	baseURL string // Empty for the public API.
	keyVar  string
	timeout time.Duration // Of a whole answer; the default where zero.
	idle    time.Duration // Of a stream without a byte; the default where zero.
	limits  pace.Limits   // For each key and model.
}

var nameInVariable = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,62}$`)

// reserved are the names of the platform's own providers.
var reserved = []string{"openai", "anthropic", "scripted"}

// providers reads the environment. It fails with tool.Invalid, naming the
// variable that is wrong and never its value.
func providers(env environment) ([]provider, error) {
	out := []provider{
		{name: "openai", api: OpenAI, baseURL: env.get(OpenAIBaseURL), keyVar: OpenAIKey},
		{name: "anthropic", api: Anthropic, baseURL: env.get(AnthropicBaseURL), keyVar: AnthropicKey},
	}
	for _, variable := range env.names() {
		rest, ok := strings.CutPrefix(variable, Prefix)
		if !ok || env.get(variable) == "" {
			continue
		}
		stem, suffix := cutSuffixes(rest, "_BASE_URL", "_API_KEY", "_API", "_IDLE_TIMEOUT", "_TIMEOUT",
			requestsPerMinute, tokensPerMinute)
		if suffix == "" || !nameInVariable.MatchString(stem) {
			return nil, wrongVariable(
				variable,
				"it does not end in _BASE_URL, _API_KEY, _API, _TIMEOUT, _IDLE_TIMEOUT, _REQUESTS_PER_MINUTE or "+
					"_TOKENS_PER_MINUTE, or has no provider's name before that",
			)
		}
		public := stem == "OPENAI" || stem == "ANTHROPIC"
		if public && (strings.HasSuffix(suffix, "_TIMEOUT") || strings.HasSuffix(suffix, "_PER_MINUTE")) {
			continue
		}
		if stem == "OPENAI" && suffix == "_API" {
			if out[0].api = API(env.get(variable)); out[0].api != OpenAI && out[0].api != Responses {
				return nil, wrongVariable(variable, "it is neither openai nor responses")
			}
			continue
		}
		if suffix != "_BASE_URL" {
			if env.get(Prefix+stem+"_BASE_URL") == "" {
				return nil, wrongVariable(variable, Prefix+stem+"_BASE_URL must be set beside it")
			}
			continue
		}
		p := provider{
			name: strings.ReplaceAll(strings.ToLower(stem), "_", "-"), api: OpenAI,
			baseURL: env.get(variable), keyVar: Prefix + stem + "_API_KEY",
		}
		if slices.Contains(reserved, p.name) {
			return nil, wrongVariable(variable, fmt.Sprintf("the name %q is taken", p.name))
		}
		if api := env.get(Prefix + stem + "_API"); api != "" {
			if p.api = API(api); !slices.Contains([]API{OpenAI, Responses, Anthropic}, p.api) {
				return nil, wrongVariable(Prefix+stem+"_API", "it is none of openai, responses and anthropic")
			}
		}
		out = append(out, p)
	}
	for i := range out {
		if err := out[i].readTimeouts(env); err != nil {
			return nil, err
		}
		if err := out[i].readLimits(env); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// readTimeouts reads how long a provider may take.
func (p *provider) readTimeouts(env environment) error {
	stem := p.stem()
	for suffix, into := range map[string]*time.Duration{"_TIMEOUT": &p.timeout, "_IDLE_TIMEOUT": &p.idle} {
		text := env.get(stem + suffix)
		if text == "" {
			continue
		}
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 || d > remote.DefaultTimeout {
			return wrongVariable(
				stem+suffix, "it is not a duration such as 90s, above zero and at most "+remote.DefaultTimeout.String(),
			)
		}
		*into = d
	}
	return nil
}

// Suffixes of the variables with a provider's rate limits.
const (
	requestsPerMinute = "_REQUESTS_PER_MINUTE"
	tokensPerMinute   = "_TOKENS_PER_MINUTE" //nolint:gosec // No credential.
)

// maxPerMinute bounds a configured rate.
const maxPerMinute = 1_000_000_000

// readLimits reads the provider's rate limits.
func (p *provider) readLimits(env environment) error {
	for suffix, into := range map[string]*int{
		requestsPerMinute: &p.limits.RequestsPerMinute, tokensPerMinute: &p.limits.TokensPerMinute,
	} {
		text := env.get(p.stem() + suffix)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxPerMinute {
			return wrongVariable(p.stem()+suffix, fmt.Sprintf("it is not a whole number from 1 to %d", maxPerMinute))
		}
		*into = n
	}
	return nil
}

// stem begins the names of the provider's variables.
func (p *provider) stem() string {
	return Prefix + strings.ReplaceAll(strings.ToUpper(p.name), "-", "_")
}

func cutSuffixes(s string, suffixes ...string) (stem, suffix string) {
	for _, suffix := range suffixes {
		if stem, ok := strings.CutSuffix(s, suffix); ok {
			return stem, suffix
		}
	}
	return s, ""
}

func wrongVariable(name, what string) error {
	return &tool.Error{Kind: tool.Invalid, Op: "models.Open", Msg: name + ": " + what}
}

// environment is a list of variables as "name=value". The last of a name wins.
type environment []string

func (e environment) lookup(name string) (value string, ok bool) {
	for _, entry := range slices.Backward(e) {
		if have, text, _ := strings.Cut(entry, "="); have == name {
			return text, true
		}
	}
	return "", false
}

func (e environment) get(name string) string {
	value, _ := e.lookup(name)
	return strings.TrimSpace(value)
}

func (e environment) names() []string {
	var out []string
	for _, entry := range e {
		name, _, _ := strings.Cut(entry, "=")
		out = append(out, name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
