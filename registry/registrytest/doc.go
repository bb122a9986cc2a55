// Package registrytest helps to test what stands on a registry: [Store] keeps
// tools and agents in memory, and [Run] holds any implementation of
// registry.Store and resolver.Source to their contracts.
package registrytest
