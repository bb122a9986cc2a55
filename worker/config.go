package worker

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/executors/custom"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/executors/mcpcall"
	"github.com/toolcrib/toolcrib/internal/analytics"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/payload"
	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// Config configures a [Plugin].
type Config struct {
	// DatabaseURL is the PostgreSQL database, as a role that owns nothing and
	// cannot bypass row-level security. Required unless Store is set.
	DatabaseURL string
	// Store is an open store to use instead. The plugin does not close it.
	Store *store.Store
	// DatabaseConnections bounds the connections to the database that are in use at
	// once. Defaults to pool_max_conns of DatabaseURL, else to
	// [store.DefaultMaxConns].
	DatabaseConnections int
	// DatabaseTimeouts bounds how long the database is waited for, before an
	// activity tries again. Defaults to [store.BackgroundTimeouts].
	DatabaseTimeouts store.Timeouts

	// Functions are the Go functions that function tools may call. They are
	// opened when the first worker starts, and closed with the plugin. Defaults to
	// none.
	Functions *function.Registry
	// PublishTo lists the tenants, by slug or id, that functions with function.Publish are
	// published to as tools, when the first worker starts. Defaults to none.
	PublishTo []string
	// Models are the model providers, by name: an agent's model "scripted/desk"
	// asks Models["scripted"] for "desk".
	Models map[string]agent.Model
	// Custom are executors of the host's own, by the names that custom tools
	// refer to them with under implementation_config.executor; see package
	// custom. Defaults to none.
	Custom map[string]tool.Executor
	// Executors replace the executors of whole implementation types: one for
	// custom interprets names by itself, and Custom must then be empty.
	Executors map[tool.Implementation]tool.Executor
	// Types are implementation types of the host's own, beside the platform's or
	// in their place. Defaults to none.
	Types []executors.Type
	// SandboxCommand is the command that starts a child process for untrusted
	// programs: the path of a binary and its arguments, such as
	// ["/usr/bin/toolcrib", "sandbox"]. A host's own binary can serve as one,
	// by calling Main of package platform/sandbox. Children are Linux processes
	// with a memory limit. Without it, tools that run programs are not
	// available, such as the built-in json_transform.
	SandboxCommand []string
	// SandboxLimits are the maximum limits of programs in the sandbox. A tool's
	// own limits only narrow them.
	SandboxLimits SandboxLimits
	// Reader extracts the text of web pages, for the built-in web_fetch, which
	// is not available without one.
	Reader builtins.Reader
	// MCPCommands are the programs that mcp tools may run as stdio servers, by
	// the names that definitions refer to them with. Defaults to none.
	MCPCommands map[string]mcpcall.Command
	// Middleware is put around every executor, inside the platform's own.
	Middleware []tool.Middleware
	// NamedMiddleware is put around the tools whose definitions name it under
	// interaction.middleware, inside Middleware. Calls of tools that name a
	// missing one are refused.
	NamedMiddleware map[string]tool.Middleware
	// Analytics takes an event for each attempt of a call that ends, without arguments and results.
	// Events may be lost: it is called in the background, from a bounded queue, and what it fails for
	// is not sent again. No call waits for it. Defaults to none.
	Analytics Analytics
	// Hooks are called in the runs of agents: when a run's plan is made, and before
	// and after each turn of a model. Defaults to none.
	Hooks agent.Hooks

	// Allow is what each tenant may reach beyond the public internet. The entry
	// of the empty tenant applies to all.
	Allow map[tool.TenantID]Allowance
	// Proxy is an HTTP proxy, http://host:port or https://host:port, for all
	// requests of tools; it may contain a user and password. The proxy then
	// resolves names and decides about their addresses. Defaults to none: the
	// environment's proxy variables are never read.
	Proxy *url.URL
	// SecretsDir is a directory of credentials, one file each, with a folder
	// per tenant. It is asked after the database, and before the environment,
	// see the documentation of TOOLCRIB_SECRET_…. Defaults to those two alone.
	SecretsDir string
	// KeyEncryption are the keys that wrap the data keys of tenants, by which
	// credentials in the database are encrypted: the first wraps, all of them
	// open. Defaults to those that TOOLCRIB_KEK_FILE or TOOLCRIB_KEK give. With
	// none, a call that needs a credential of the database is refused.
	KeyEncryption []KeyEncryptionKey
	// PayloadKeys encrypt what goes through Temporal: arguments, results, memos, summaries and
	// the texts of failures, of the host's own workflows too. The first key encrypts, all of them
	// decrypt. They wrap the DataConverter and FailureConverter of the client. Defaults to those
	// that TOOLCRIB_PAYLOAD_KEYS_FILE or TOOLCRIB_PAYLOAD_KEYS give. With none, nothing is
	// encrypted, and workflow tasks with encrypted payloads fail until a worker with the key takes
	// them. Processes that have a client without the plugin call [EncryptPayloads].
	PayloadKeys *PayloadKeys

	// StopTimeout is how long a stopping worker lets running calls finish.
	// Defaults to 30 seconds. It is set on workers that set none themselves.
	StopTimeout time.Duration
	// TracerProvider creates the spans of workflows and activities of the
	// client that the plugin is given to, including the host's own, and of
	// everything that clients made with the plugin start. Defaults to none:
	// leave it unset where the client has a tracing interceptor already, whose
	// traces the spans of calls then join.
	TracerProvider trace.TracerProvider
	// MeterProvider counts calls, attempts, model turns, ledger transitions and
	// refusals of the egress guard. Temporal's own metrics are configured by
	// the client's MetricsHandler. Defaults to none.
	MeterProvider metric.MeterProvider

	// Logger logs what happens outside workflows and activities, which log
	// through their Temporal client. Defaults to discarding it.
	Logger *slog.Logger
}

// Analytics takes events about calls, see [Config.Analytics].
type Analytics = analytics.Sink

// ToolRun is an event about an attempt of a call that ended.
type ToolRun = analytics.ToolRun

// KeyEncryptionKey is a key-encryption key, possibly in a key service: ID is
// its permanent name, and AEAD is the primitive that Tink's clients of key
// services return.
type KeyEncryptionKey = vault.Key

// PayloadKeys are the keys by which what goes through Temporal is encrypted.
type PayloadKeys = payload.Keyring

// NewPayloadKeys returns keys of 32 random bytes, the one that encrypts first.
func NewPayloadKeys(keys ...[]byte) (*PayloadKeys, error) { return payload.NewKeyring(keys...) }

// EncryptPayloads makes a client without the plugin agree with workers that have it: one that starts
// workflows or reads their results in another process. Call it before the client is made.
func EncryptPayloads(o *client.Options, keys *PayloadKeys) { payload.Configure(o, keys) }

// payloadKeys returns the payload keys; nil for none.
func (c Config) payloadKeys() (*PayloadKeys, error) {
	if c.PayloadKeys == nil {
		return payload.FromEnvironment(os.Getenv)
	}
	return c.PayloadKeys, nil
}

// keyring returns the key-encryption keys; nil for none.
func (c Config) keyring() (*vault.Keyring, error) {
	if len(c.KeyEncryption) == 0 {
		return vault.FromEnvironment(os.Getenv)
	}
	return vault.NewKeyring(c.KeyEncryption...)
}

// Allowance is what an operator allows a tenant's tools to reach beyond the
// public internet.
type Allowance struct {
	Hosts []string       // Host or host:port, matched exactly.
	CIDRs []netip.Prefix // Blocks of addresses.
	Ports []uint16       // Ports beside 80 and 443, anywhere.
	// DenyHosts ("ads.example", "*.internal.example", host:port) and DenyCIDRs are
	// never reached, whatever allows them. Those of all tenants and those of one
	// count both. Behind Config.Proxy, which resolves names, DenyCIDRs hold for
	// addresses that stand in URLs.
	DenyHosts []string
	DenyCIDRs []netip.Prefix
	// Rules narrow what the tenant's tools may call, whatever their own rules
	// say and whatever is allowed above. Those of all tenants and those of one
	// count both.
	Rules tool.EgressRules
}

// DefaultStopTimeout is the default of [Config.StopTimeout].
const DefaultStopTimeout = 30 * time.Second

func (c Config) withDefaults() Config {
	if c.StopTimeout <= 0 {
		c.StopTimeout = DefaultStopTimeout
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Logger = slog.New(redact.Handler(c.Logger.Handler()))
	if c.Functions == nil {
		c.Functions = function.NewRegistry()
	}
	return c
}

// StoreOptions returns how the plugin opens DatabaseURL, for a process that opens the
// store itself.
func (c Config) StoreOptions() store.Options {
	o := store.Options{Logger: c.Logger, MaxConns: c.DatabaseConnections, Timeouts: c.DatabaseTimeouts}
	if o.Timeouts == (store.Timeouts{}) {
		o.Timeouts = store.BackgroundTimeouts()
	}
	return o
}

func (c Config) validate() error {
	if c.Store == nil && c.DatabaseURL == "" {
		return errors.New("worker: Config.DatabaseURL or Config.Store is required")
	}
	if err := c.SandboxLimits.Validate(); err != nil {
		return fmt.Errorf("worker: Config.SandboxLimits: %w", err)
	}
	for _, tenant := range c.PublishTo {
		if !tool.ValidID(tenant) && !store.ValidTenantSlug(tenant) {
			return fmt.Errorf("worker: Config.PublishTo: %q is neither the slug nor the id of a tenant", tenant)
		}
	}
	if _, err := custom.New(c.Custom); err != nil {
		return fmt.Errorf("worker: Config.Custom: %w", err)
	}
	if len(c.Custom) > 0 && c.Executors[tool.Custom] != nil {
		return errors.New("worker: Config.Custom and Config.Executors both run custom tools: want one of them")
	}
	for name, m := range c.NamedMiddleware {
		if !tool.ValidSlug(name) || m == nil {
			return fmt.Errorf("worker: Config.NamedMiddleware[%q]: want a name as a slug may be, and a middleware", name)
		}
	}
	for tenant, a := range c.Allow {
		if err := a.policy().Check(); err != nil {
			return fmt.Errorf("worker: Config.Allow[%q]: %w", tenant, err)
		}
	}
	return nil
}

func (a Allowance) policy() egress.Policy {
	p := egress.Policy{
		AllowHosts: a.Hosts, AllowCIDRs: a.CIDRs, AllowPorts: a.Ports, DenyHosts: a.DenyHosts, DenyCIDRs: a.DenyCIDRs,
	}
	if !a.Rules.IsZero() {
		p.Rules = []tool.EgressRules{a.Rules}
	}
	return p
}

// policyOf merges the allowances of all tenants with those of one.
func (c Config) policyOf(tenant tool.TenantID) egress.Policy {
	all, own := c.Allow[""].policy(), c.Allow[tenant].policy()
	if tenant == "" {
		return all
	}
	return egress.Policy{
		AllowHosts: slices.Concat(all.AllowHosts, own.AllowHosts),
		AllowCIDRs: slices.Concat(all.AllowCIDRs, own.AllowCIDRs),
		AllowPorts: slices.Concat(all.AllowPorts, own.AllowPorts),
		DenyHosts:  slices.Concat(all.DenyHosts, own.DenyHosts),
		DenyCIDRs:  slices.Concat(all.DenyCIDRs, own.DenyCIDRs),
		Rules:      slices.Concat(all.Rules, own.Rules),
	}
}
