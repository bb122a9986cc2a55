package schema

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/internal/cache"
)

// DefaultCacheSize is the default number of compiled schemas in a [Cache].
const DefaultCacheSize = 4096

// Cache compiles schemas and caches them by content. It is safe for concurrent
// use.
type Cache struct {
	schemas *cache.Cache[string, *Schema]
}

// New returns a cache of up to size compiled schemas; [DefaultCacheSize] when
// size is not positive.
func New(size int) *Cache {
	if size <= 0 {
		size = DefaultCacheSize
	}
	return &Cache{schemas: cache.New[string, *Schema](cache.Options{Entries: size})}
}

// Compile returns the compiled form of raw, possibly from the cache. An empty raw
// accepts any object. It fails with tool.Invalid like [Check]; failures are not
// cached.
func (c *Cache) Compile(raw json.RawMessage) (*Schema, error) {
	if s, ok := c.schemas.Get(string(raw)); ok {
		return s, nil
	}
	s, err := compile(raw)
	if err != nil {
		return nil, err
	}
	c.schemas.Set(string(raw), s)
	return s, nil
}
