package remote

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/platform/models/pace"
	"github.com/toolcrib/toolcrib/tool"
)

// Defaults of [Config].
const (
	DefaultMaxBytes = 16 << 20
	DefaultTimeout  = 10 * time.Minute
	// DefaultIdleTimeout is for streams, which usually send bytes all the time.
	DefaultIdleTimeout = time.Minute
)

// Config configures the connection to a provider.
type Config struct {
	// Provider is the name of the provider in agents: the part of their model
	// before the slash. Required.
	Provider string
	// BaseURL is the base URL of the API. Setting it also permits it: its host
	// may be private, or loopback, and the key is sent there over plain http as
	// well. Defaults to the provider's public API.
	BaseURL string
	// Keys finds the API keys.
	Keys Keys
	// MaxBytes bounds an answer. Defaults to [DefaultMaxBytes].
	MaxBytes int64
	// Timeout bounds a request and its answer, from the beginning to the end.
	// Defaults to [DefaultTimeout].
	Timeout time.Duration
	// IdleTimeout bounds how long a stream may go without a byte. It counts from
	// the header of the answer on: some servers are silent while they read a long
	// prompt, for which there is Timeout. Defaults to [DefaultIdleTimeout].
	IdleTimeout time.Duration
	// Pace paces the requests of all that share it. Defaults to one of its own
	// that knows no limits but those that the provider reports.
	Pace *pace.Pacer
}

// Auth is how a provider's key is sent.
type Auth struct {
	Scheme egress.Scheme
	Header string // For [egress.Raw].
}

// Endpoint sends requests to a provider. It is safe for concurrent use.
type Endpoint struct {
	cfg  Config
	auth Auth
	base *url.URL
	host string // With its port: keys may be sent only there.
	gate *egress.Gate
}

// Open returns an endpoint, whose own guard allows requests to the public
// internet and to the host of cfg.BaseURL. It fails with [tool.Invalid] if the
// URL can't be one. The caller closes it.
func Open(cfg Config, publicURL string, auth Auth) (*Endpoint, error) {
	return open(cfg, publicURL, auth, egress.Config{})
}

// open is Open with the given configuration of the guard. Without a policy, the
// guard allows the host of cfg.BaseURL.
func open(cfg Config, publicURL string, auth Auth, guard egress.Config) (*Endpoint, error) {
	var policy egress.Policy
	text := publicURL
	if cfg.BaseURL != "" {
		text = cfg.BaseURL
	}
	base, err := url.Parse(text)
	if err == nil {
		err = egress.CheckURL(base)
	}
	if err != nil || base.RawQuery != "" || base.Fragment != "" {
		// The text may hold a password: it is not repeated.
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "remote.Open",
			Msg: fmt.Sprintf(
				"the base URL of the model provider %q is not an http or https URL without user, query and fragment", cfg.Provider,
			),
		}
	}
	port := base.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[strings.ToLower(base.Scheme)]
	}
	e := &Endpoint{cfg: cfg, auth: auth, base: base, host: net.JoinHostPort(secret.HostForm(base.Hostname()), port)}
	if cfg.BaseURL != "" {
		policy.AllowHosts = []string{e.host}
	}
	if e.cfg.MaxBytes <= 0 {
		e.cfg.MaxBytes = DefaultMaxBytes
	}
	if e.cfg.Timeout <= 0 {
		e.cfg.Timeout = DefaultTimeout
	}
	if e.cfg.IdleTimeout <= 0 {
		e.cfg.IdleTimeout = DefaultIdleTimeout
	}
	if e.cfg.Pace == nil {
		e.cfg.Pace = pace.New(pace.Limits{}, nil)
	}
	if guard.Policy == nil {
		guard.Policy = func(tool.TenantID) egress.Policy { return policy }
	}
	if e.gate, err = egress.New(guard); err != nil {
		return nil, fmt.Errorf("creating the egress gate for the model provider %q: %w", cfg.Provider, err)
	}
	return e, nil
}

// Close closes idle connections. Running requests continue.
func (e *Endpoint) Close() error {
	e.gate.Close()
	return nil
}

// BaseURL returns the base URL of the API.
func (e *Endpoint) BaseURL() string { return e.base.String() }

// Host returns the host of the API, without its port.
func (e *Endpoint) Host() string { return secret.HostForm(e.base.Hostname()) }

// Begin opens the tenant's key and returns an exchange that sends one request to
// the model of req, and the context to send it in. The caller ends the exchange
// when the answer is read. If req streams, any answer but an event stream is
// refused.
func (e *Endpoint) Begin(ctx context.Context, req *agent.ModelRequest) (context.Context, *Exchange, error) {
	k, err := e.cfg.Keys.open(ctx, req.Tenant, e.cfg.Provider, e.host)
	if err != nil {
		return nil, nil, err
	}
	secret.Note(ctx, k.value)
	x := &Exchange{
		provider: e.cfg.Provider, model: req.Model, source: k.source, limit: e.cfg.MaxBytes, stream: req.Stream != nil,
		redactor: secret.NewRedactor(k.value), pacer: e.cfg.Pace,
		turn: pace.Request{Tenant: req.Tenant, Key: k.value.Reveal(), Model: req.Model, Patience: req.Patience},
		client: e.gate.Client(egress.Access{
			Tenant: req.Tenant, Class: tool.EgressWrite, Credential: k.credential(e.auth.Scheme, e.auth.Header),
		}),
	}
	ctx, x.cancel = context.WithTimeout(ctx, e.cfg.Timeout)
	if x.stream {
		x.idle = &idleTimer{after: e.cfg.IdleTimeout, cancel: x.cancel}
	}
	return x.watch(ctx), x, nil
}
