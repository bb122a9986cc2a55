package models

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/platform/models/anthropic"
	"github.com/toolcrib/toolcrib/platform/models/pace"
	"github.com/toolcrib/toolcrib/platform/models/remote"
)

// Config says where providers are configured.
type Config struct {
	// Environ lists variables as "name=value". Defaults to the environment of
	// the process, whose keys are then read at each request.
	Environ []string
	// SecretsDir is the worker's directory of credentials, which holds tenants'
	// own keys. They are read from TOOLCRIB_SECRET_… variables too.
	SecretsDir string
}

// Set is the providers of a worker.
type Set struct {
	models  map[string]agent.Model
	peers   *pace.Peers
	closers []io.Closer
}

// Share says how many workers send with the same keys, this one included: each has an equal part
// of the limits that are configured. It is one unless said otherwise.
func (s *Set) Share(workers int) { s.peers.Set(workers) }

// Open returns the providers that cfg configures. It fails with tool.Invalid
// if a variable is wrong. The caller closes the set when no turn is running any
// more.
func Open(cfg Config) (*Set, error) {
	env, lookup := environment(cfg.Environ), environment(cfg.Environ).lookup
	if cfg.Environ == nil {
		env, lookup = os.Environ(), os.LookupEnv
	}
	list, err := providers(env)
	if err != nil {
		return nil, err
	}
	s := &Set{models: make(map[string]agent.Model), peers: new(pace.Peers)}
	secrets, err := s.secrets(cfg.SecretsDir, lookup)
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		model, err := open(p, s.peers, secrets, lookup)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.models[p.name] = model
		s.closers = append(s.closers, model)
	}
	return s, nil
}

// secrets resolves keys from the directory, if there is one, and then from the
// environment, like tools' credentials.
func (s *Set) secrets(dir string, lookup func(string) (string, bool)) (secret.Resolver, error) {
	env := secret.Env{Lookup: lookup}
	if dir == "" {
		return env, nil
	}
	files, err := secret.OpenFiles(dir)
	if err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	s.closers = append(s.closers, files)
	return secret.First(files, env), nil
}

// model is a model provider with connections to close.
type model interface {
	agent.Model
	io.Closer
}

func open(
	p provider, peers *pace.Peers, secrets secret.Resolver, lookup func(string) (string, bool),
) (model, error) {
	cfg := remote.Config{
		Provider: p.name, BaseURL: p.baseURL, Timeout: p.timeout, IdleTimeout: p.idle,
		Pace: pace.New(p.limits, peers),
		Keys: remote.Keys{
			Secrets: secrets, Ref: CredentialRef(p.name), Variable: p.keyVar, Lookup: lookup, Optional: p.baseURL != "",
		},
	}
	if p.api == Anthropic {
		return anthropic.New(cfg)
	}
	return openOpenAI(cfg, p.api)
}

// CredentialRef names a tenant's own key for a provider among its credentials.
func CredentialRef(provider string) string { return "model-" + provider }

// Models returns the providers by name, merged with others, which take precedence
// if a name is in both.
func (s *Set) Models(others map[string]agent.Model) map[string]agent.Model {
	all := maps.Clone(s.models)
	maps.Copy(all, others)
	return all
}

// Close closes idle connections, and the directory of credentials.
func (s *Set) Close() error {
	var err error
	for _, c := range slices.Backward(s.closers) {
		err = errors.Join(err, c.Close())
	}
	return err
}
