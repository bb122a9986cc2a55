// Package registry is the write side: it creates, edits, versions, publishes,
// deprecates, disables and imports tools and agents, and refuses what breaks
// their rules.
//
// It knows neither SQL nor Temporal.
package registry
