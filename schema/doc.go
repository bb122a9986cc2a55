// Package schema is JSON Schema for tools: it checks schemas when they are created, compiles
// and caches them, validates arguments and results, repairs common mistakes of models where
// that is unambiguous, and classifies changes of schemas by their effect on callers.
//
// Schemas are draft 7 or 2020-12, by their $schema; 2020-12 is the default.
// No schema is ever loaded, neither from the network nor from files. Numbers are decoded
// without loss. The package is pure: it does no I/O and has no state except for its
// caller's [Cache].
package schema
