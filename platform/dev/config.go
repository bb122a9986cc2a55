package dev

import (
	"log/slog"

	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/platform/observe"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/worker"
)

// Config says what to run and where. The zero value is the platform of the
// current directory.
type Config struct {
	// Stack says where PostgreSQL and Temporal run and keep their data.
	Stack embedded.Config
	// Listen is the preferred address of the API; a free port of the same host
	// is used when it is taken. Defaults to [DefaultListen], and to a free port
	// if the stack is a throwaway.
	Listen string
	// ListenFixed makes it an error that Listen is taken.
	ListenFixed bool
	// PublicHosts are names by which the API is reached, beside those of this machine.
	PublicHosts []string
	// Prefix is a path that the API and its pages are served under too, such as /tools, for a proxy. Empty for none.
	Prefix string
	// Tenant is the slug of the tenant that is made. Defaults to [DefaultTenant].
	Tenant string
	// Worker configures the worker's plugin; its Store is set here.
	Worker worker.Config
	// TaskQueue defaults to [serve.DefaultTaskQueue].
	TaskQueue string
	// Observer records traces and metrics of requests and calls; the caller
	// stops it. Its metrics are at /metrics of the API if that is on loopback.
	// Defaults to none.
	Observer *observe.Observer
	// Version of the platform, for the API's description.
	Version string
	// Logger defaults to discarding.
	Logger *slog.Logger
}

// Defaults of [Config].
const (
	DefaultListen = "127.0.0.1:8080"
	DefaultTenant = "dev"
)

// Files in the data folder by which the command line finds the platform.
const (
	KeyFile = "key" // The API key of the tenant.
	// ApproverKeyFile has the API key that approves calls: who starts a run never does.
	ApproverKeyFile = "approver-key"
	// ConsoleKeyFile has the API key that browsers sign in to the console with.
	ConsoleKeyFile = "console-key"
	ServerFile     = "server" // The URL of the API.
	KEKFile        = "kek"    // The key that credentials are encrypted by.
	// TemporalFile holds the host and port of Temporal.
	TemporalFile = "temporal-address"
	// DatabaseFile holds the URL of a database that is the platform's own, with its owner's login: what commands of
	// operators take as --database-url.
	DatabaseFile = "database-url"
)

func (c Config) withDefaults() Config {
	if c.Listen == "" {
		c.Listen = DefaultListen
		if c.Stack.Throwaway {
			c.Listen = "127.0.0.1:0"
		}
	}
	if c.Tenant == "" {
		c.Tenant = DefaultTenant
	}
	if c.TaskQueue == "" {
		c.TaskQueue = serve.DefaultTaskQueue
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Stack.Logger == nil {
		c.Stack.Logger = c.Logger
	}
	if c.Worker.Logger == nil {
		c.Worker.Logger = c.Logger
	}
	return c
}
