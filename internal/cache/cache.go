// Package cache keeps in memory what took work to make, within a bound.
//
// It is the only package that imports its library: the compiler instantiates generic code in
// each package that reaches one of its types, so the library's own types, each with thousands of
// functions, are instantiated once here and hidden behind an interface.
package cache

import (
	"hash/maphash"
	"time"

	"github.com/maypok86/otter/v2"
)

// Options bound a [Cache]. Either Entries or Weight is set.
type Options struct {
	Entries int    // The most entries.
	Weight  uint64 // The most weight of all entries together, as [Cache.SetWeighing] states them.

	// Life ends an entry so long after it was written, and Idle so long after it was written or read
	// last. At most one is set; entries do not age without.
	Life, Idle time.Duration
}

// Cache maps keys to values. It may lose any entry at any time. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	kept keeper
	hash func(K) uint64
}

// keeper is what a cache needs of the library.
type keeper interface {
	get(hash uint64) (any, bool)
	set(hash uint64, entry any, weight uint32)
}

// entry is what is kept below the hash of its key. Of two keys with one hash the last is kept.
type entry[K comparable, V any] struct {
	key   K
	value V
}

// New returns an empty cache.
func New[K comparable, V any](o Options) *Cache[K, V] {
	seed := maphash.MakeSeed()
	return &Cache[K, V]{kept: newLibrary(o), hash: func(k K) uint64 { return maphash.Comparable(seed, k) }}
}

// Get returns the value of a key. It does not allocate.
func (c *Cache[K, V]) Get(k K) (V, bool) {
	if found, ok := c.kept.get(c.hash(k)); ok {
		if e, ok := found.(*entry[K, V]); ok && e.key == k {
			return e.value, true
		}
	}
	var none V
	return none, false
}

// Set keeps a value, in place of an earlier one of the key.
func (c *Cache[K, V]) Set(k K, v V) { c.SetWeighing(k, v, 1) }

// SetWeighing is [Cache.Set] with the weight of the entry, in the unit of [Options.Weight].
func (c *Cache[K, V]) SetWeighing(k K, v V, weight uint32) {
	c.kept.set(c.hash(k), &entry[K, V]{k, v}, weight)
}

// library is a [keeper]. Its type is the only instance of the library's.
type library struct {
	entries *otter.Cache[uint64, weighed]
}

type weighed struct {
	entry  any
	weight uint32
}

func newLibrary(o Options) library {
	opts := &otter.Options[uint64, weighed]{MaximumSize: o.Entries, MaximumWeight: o.Weight}
	if o.Weight > 0 {
		opts.Weigher = func(_ uint64, w weighed) uint32 { return w.weight }
	}
	switch {
	case o.Life > 0:
		opts.ExpiryCalculator = otter.ExpiryWriting[uint64, weighed](o.Life)
	case o.Idle > 0:
		opts.ExpiryCalculator = otter.ExpiryAccessing[uint64, weighed](o.Idle)
	}
	return library{otter.Must(opts)}
}

func (l library) get(hash uint64) (any, bool) {
	found, ok := l.entries.GetIfPresent(hash)
	return found.entry, ok
}

func (l library) set(hash uint64, entry any, weight uint32) {
	l.entries.Set(hash, weighed{entry, weight})
}
