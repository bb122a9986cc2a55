package builtins

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// searchCategory and searchProvider select the key of web_search in a tenant's settings
// (reference number S3-56).
const (
	searchCategory = "custom"
	searchProvider = "web_search"
)

// searchConfig is the implementation_config of a tenant's own web_search. A key in
// plaintext is accepted, redacted in output and warned about.
type searchConfig struct {
	builtinConfig

	// Provider is the only provider to use. Defaults to the first with a key.
	Provider string `json:"provider"`
	// APIKey is the key in plaintext; Endpoint, which needs it, its destination.
	APIKey   string `json:"api_key"`
	Endpoint string `json:"endpoint"`
	// CredentialsRef is a credential: the key, or a JSON object with api_key or token,
	// and optionally endpoint.
	CredentialsRef string `json:"credentials_ref"`
}

// searchKeys finds the key for a call.
type searchKeys struct {
	providers []SearchProvider
	secrets   secret.Resolver
	settings  secret.Finder
	lookup    func(name string) (string, bool) // Returns an environment variable.
}

// searchKey is a key with its provider and endpoint.
type searchKey struct {
	provider SearchProvider
	value    secret.Value
	endpoint *url.URL
}

// find returns the key to use, from the first of these sources that has one (reference
// numbers S3-54 to S3-58):
//
//  1. api_key of the tool's configuration;
//  2. the credential in its credentials_ref;
//  3. the tenant's settings: custom/web_search/<provider>, then
//     custom/<provider>;
//  4. the platform's environment: <PROVIDER>_API_KEY.
//
// Within 3 and 4, providers are tried in their order. A source whose key cannot be used ends
// the search, so that no other key replaces it.
func (k *searchKeys) find(ctx context.Context, call *tool.Call) (*searchKey, error) {
	c, err := k.config(call)
	if err != nil {
		return nil, err
	}
	providers, err := k.asked(c)
	if err != nil {
		return nil, err
	}
	switch {
	case c.APIKey != "":
		return k.literal(ctx, providers[0], c)
	case c.CredentialsRef != "":
		v, err := secret.Open(ctx, k.secrets, call.Principal.Tenant, c.CredentialsRef)
		if err != nil {
			return nil, err
		}
		return parts(ctx, providers[0], v, "credential "+c.CredentialsRef)
	}
	for _, p := range providers {
		v, at, err := secret.OpenFirst(ctx, k.settings, call.Principal.Tenant,
			secret.Selector{Category: searchCategory, Provider: searchProvider, Variant: p.Name()},
			secret.Selector{Category: searchCategory, Provider: p.Name()},
		)
		if err == nil {
			return parts(ctx, p, v, "setting "+at.String())
		}
		if e, ok := errors.AsType[*tool.Error](err); !ok || e.Kind != tool.NotFound {
			return nil, fmt.Errorf("looking for the tenant's search key: %w", err)
		}
	}
	for _, p := range providers {
		if text, ok := k.lookup(keyVariable(p)); ok && text != "" {
			return platformKey(ctx, p, text)
		}
	}
	return nil, &tool.Error{
		Kind: tool.Denied, Op: "builtins.web_search",
		Msg: fmt.Sprintf("no search provider is set up: the tenant has no credential %s/%s/%s, and the platform no %s",
			searchCategory, searchProvider, providers[0].Name(), keyVariable(providers[0])),
	}
}

// keyVariable is the environment variable with the platform's key.
func keyVariable(p SearchProvider) string { return strings.ToUpper(p.Name()) + "_API_KEY" }

// config parses the configuration of a tenant's own tool; the platform's tool has none.
func (k *searchKeys) config(call *tool.Call) (searchConfig, error) {
	var c searchConfig
	err := decodeConfig(configOf(call), &c)
	return c, err
}

// asked returns the providers that a configuration allows.
func (k *searchKeys) asked(c searchConfig) ([]SearchProvider, error) {
	if c.Provider == "" {
		return k.providers, nil
	}
	i := slices.IndexFunc(k.providers, func(p SearchProvider) bool { return p.Name() == c.Provider })
	if i < 0 {
		var names []string
		for _, p := range k.providers {
			names = append(names, p.Name())
		}
		return nil, configFault(
			"/provider", fmt.Sprintf("no search provider %.40q: want one of %s", c.Provider, strings.Join(names, ", ")),
		)
	}
	return k.providers[i : i+1], nil
}

// check checks the configuration of a tenant's own tool.
func (k *searchKeys) check(raw json.RawMessage, _ tool.Egress) (warnings []string, err error) {
	var c searchConfig
	if err := decodeConfig(raw, &c); err != nil {
		return nil, err
	}
	if _, err := k.asked(c); err != nil {
		return nil, err
	}
	if c.CredentialsRef != "" && !secret.ValidRef(c.CredentialsRef) {
		return nil, configFault(
			"/credentials_ref", "want the name of a credential: letters, digits, dots, dashes and underscores",
		)
	}
	switch {
	case c.Endpoint == "":
	case c.APIKey == "":
		return nil, configFault(
			"/endpoint", "an endpoint needs api_key: with credentials_ref, put it into the credential",
		)
	default:
		if _, err := endpointOf(c.Endpoint); err != nil {
			return nil, configFault("/endpoint", err.Error())
		}
	}
	if c.APIKey != "" {
		warnings = append(warnings, "implementation_config/api_key is a credential in plaintext, for everyone who may "+
			"read the database: "+
			"store it as a credential, and refer to it by credentials_ref")
	}
	return warnings, nil
}

// literal returns the key in a configuration. It may be sent to the configured endpoint only.
func (k *searchKeys) literal(ctx context.Context, p SearchProvider, c searchConfig) (*searchKey, error) {
	endpoint := c.Endpoint
	if endpoint == "" {
		endpoint = p.Endpoint()
	}
	u, err := endpointOf(endpoint)
	if err != nil {
		return nil, configFault("/endpoint", err.Error())
	}
	v := secret.NewValue(c.APIKey, u.Host)
	secret.Note(ctx, v)
	return &searchKey{provider: p, value: v, endpoint: u}, nil
}

// platformKey returns the platform's own key. It may be sent to the provider's own endpoint
// only.
func platformKey(ctx context.Context, p SearchProvider, text string) (*searchKey, error) {
	u, err := endpointOf(p.Endpoint())
	if err != nil {
		return nil, fmt.Errorf("search provider %s: %w", p.Name(), err)
	}
	v := secret.NewValue(text, u.Host)
	secret.Note(ctx, v)
	return &searchKey{provider: p, value: v, endpoint: u}, nil
}

// parts parses a credential: the key alone, or an object with api_key, or else token, and
// optionally endpoint. The credential's own hosts apply.
func parts(ctx context.Context, p SearchProvider, v secret.Value, named string) (*searchKey, error) {
	unusable := func(why string) error {
		return &tool.Error{
			Kind: tool.Denied, Op: "builtins.web_search", Msg: fmt.Sprintf("the %s can't be used: %s", named, why),
		}
	}
	k := &searchKey{provider: p, value: v}
	endpoint := p.Endpoint()
	if text := bytes.TrimSpace([]byte(v.Reveal())); len(text) > 0 && text[0] == '{' {
		var ok bool
		if k.value, ok = v.Field("api_key"); !ok {
			k.value, ok = v.Field("token")
		}
		if !ok {
			return nil, unusable("it has neither api_key nor token")
		}
		secret.Note(ctx, k.value)
		if own, ok := v.Field("endpoint"); ok {
			endpoint = own.Reveal()
		}
	}
	if strings.TrimSpace(k.value.Reveal()) == "" {
		return nil, unusable("it is empty")
	}
	var err error
	if k.endpoint, err = endpointOf(endpoint); err != nil {
		return nil, unusable("its endpoint " + err.Error())
	}
	return k, nil
}

// endpointOf parses the URL of a search service.
func endpointOf(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil ||
		u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("is not an http or https URL without query, fragment and user")
	}
	return u, nil
}
