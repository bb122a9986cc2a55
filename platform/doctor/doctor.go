package doctor

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/internal/payload"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/dev/programs"
)

// Status is how a thing was found.
type Status string

// Statuses.
const (
	OK   Status = "ok"
	Warn Status = "warn" // It works, or may not be needed.
	Fail Status = "fail" // Something that was meant to work does not.
)

// Finding is one thing that was looked at.
type Finding struct {
	Check  string `json:"check"` // Stable, such as "database" or "temporal namespace".
	Status Status `json:"status"`
	Found  string `json:"found"`
	// Mend is the one command, or else the one step, that mends it. Empty
	// where nothing is to be mended.
	Mend string `json:"mend,omitempty"`
}

// How long the checks may take.
const (
	CheckTimeout = 5 * time.Second
	Timeout      = 15 * time.Second
)

// API is the client of the server that commands talk to.
type API interface {
	Server() string
	Ready(ctx context.Context) (v1.Health, error)
	// CheckKey fails unless the server takes the key.
	CheckKey(ctx context.Context) error
	// ExpiringKeys names keys in use that expire until then. It fails with tool.Denied where the key
	// may not see keys.
	ExpiringKeys(ctx context.Context, until time.Time) ([]string, error)
}

// Config says what is looked at.
type Config struct {
	// DatabaseURL is the server's and the worker's. Empty where toolcrib dev
	// runs its own.
	DatabaseURL string
	// Programs says where PostgreSQL's programs are looked for.
	Programs programs.Search

	// Temporal says how Temporal is reached.
	Temporal client.Options
	// TemporalNamed says that the user named its address. A default that does
	// not answer is no failure.
	TemporalNamed bool
	// TaskQueue is where workers should listen.
	TaskQueue string

	// API is the server; nil with APIError where it can't be named.
	API      API
	APIError error
	// APINamed says that the user named the server, or that toolcrib dev did.
	APINamed bool
	// HasKey says whether there is a key.
	HasKey bool

	// DataDir is the data folder of toolcrib dev.
	DataDir string
	// Ports are what toolcrib dev would like to listen on.
	Ports []Port
	// Models are the names of variables that give models their keys, and
	// whether each is set.
	Models []Variable
	// Encryption are the ids of the key-encryption keys that this shell gives to
	// servers and workers, and EncryptionError why they can't be read.
	Encryption      []string
	EncryptionError error
	// PayloadKeys are the payload keys that this shell gives to servers and workers; nil for none.
	// PayloadKeysError is why they can't be read.
	PayloadKeys      *payload.Keyring
	PayloadKeysError error
	// Secrets are never shown, whatever is found.
	Secrets []string

	timeouts timeouts // Defaults to [CheckTimeout] and [Timeout].
}

// Port is a port of this machine, and what it is for.
type Port struct {
	Number  int
	Service string
}

// Variable is a variable of the environment.
type Variable struct {
	Name string
	Set  bool
}

type timeouts struct{ check, all time.Duration }

// check looks at one thing, or at several of which one leads to the next.
type check struct {
	name string // What is reported if it does not end in time.
	look func(ctx context.Context, cfg Config) []Finding
}

// checks are in the order of the report.
var checks = []check{
	{"PostgreSQL", postgres},
	{"database", database},
	{"temporal", temporal},
	{"api", server},
	{"ports", listening},
	{"data folder", data},
	{"models", models},
	{"encryption", encryption},
	{"payload keys", payloads},
}

// Run looks at everything, at the same time, and returns what was found in a
// fixed order.
func Run(ctx context.Context, cfg Config) []Finding {
	if cfg.timeouts == (timeouts{}) {
		cfg.timeouts = timeouts{CheckTimeout, Timeout}
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.timeouts.all)
	defer cancel()
	found := make([][]Finding, len(checks))
	var wg sync.WaitGroup
	for i, c := range checks {
		wg.Go(func() { found[i] = c.run(ctx, cfg) })
	}
	wg.Wait()
	var all []Finding
	for _, findings := range found {
		for _, f := range findings {
			f.Found, f.Mend = cfg.masked(f.Found), cfg.masked(f.Mend)
			all = append(all, f)
		}
	}
	return all
}

// run makes the check, and abandons one that ignores its cancelled context.
func (c check) run(ctx context.Context, cfg Config) []Finding {
	ctx, cancel := context.WithTimeout(ctx, cfg.timeouts.check)
	defer cancel()
	done := make(chan []Finding, 1)
	go func() { done <- c.look(ctx, cfg) }()
	select {
	case found := <-done:
		return found
	case <-ctx.Done():
	}
	select {
	case found := <-done: // It was cancelled, and may have something to report.
		return found
	case <-time.After(cfg.timeouts.check / 5):
		return []Finding{{
			Check: c.name, Status: Fail, Found: fmt.Sprintf("no answer within %s", cfg.timeouts.check),
			Mend: "see whether the machine is overloaded, or a network drive hangs, and try again",
		}}
	}
}

// masked replaces secrets in a text, which should not be there.
func (c Config) masked(text string) string {
	for _, secret := range c.Secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "****")
		}
	}
	return text
}

// Failed reports whether something must be mended.
func Failed(findings []Finding) bool {
	for _, f := range findings {
		if f.Status == Fail {
			return true
		}
	}
	return false
}
