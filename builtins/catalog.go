package builtins

import (
	"maps"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/tool"
)

// Builtin is one tool of the platform.
type Builtin struct {
	Spec
	Run tool.ExecutorFunc
}

// Spec is how a built-in presents itself to the registry. It is data: equal
// specs have equal digests.
type Spec struct {
	Key        string // Stored as the tool's built-in key, and its slug: never renamed.
	Version    string // Semver. Grows with every change of the definition.
	Definition tool.Definition
	Policy     tool.Policy
}

// Config configures a [Catalog].
type Config struct {
	// Gate is the way out. Without one, built-ins that call out are missing.
	Gate *egress.Gate
	// Clock tells the time. Defaults to [time.Now].
	Clock func() time.Time
}

// Catalog holds the built-ins by key. It is immutable and safe for concurrent use.
type Catalog struct {
	byKey map[string]Builtin
}

// New returns the catalog of all built-ins that cfg has the means for.
func New(cfg Config) *Catalog {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	all := []Builtin{datetimeUtils(cfg.Clock)}
	if cfg.Gate != nil {
		all = append(all, httpRequest(cfg.Gate, cfg.Clock))
	}
	c := &Catalog{byKey: make(map[string]Builtin, len(all))}
	for _, b := range all {
		c.byKey[b.Key] = b
	}
	return c
}

// Lookup returns the executor of a built-in.
func (c *Catalog) Lookup(key string) (tool.Executor, bool) {
	b, ok := c.byKey[key]
	if !ok {
		return nil, false
	}
	return b.Run, true
}

// Specs returns the specs of all built-ins, sorted by key, for the registry to
// bring its global tools up to date. The caller must not change them.
func (c *Catalog) Specs() []Spec {
	specs := make([]Spec, 0, len(c.byKey))
	for _, key := range slices.Sorted(maps.Keys(c.byKey)) {
		specs = append(specs, c.byKey[key].Spec)
	}
	return specs
}
