// Package schema is JSON Schema for tools: it checks schemas when they are
// created, compiles and caches them, validates arguments and results, repairs
// common mistakes of models without guessing, and judges what a change of a
// schema means to callers of the tool.
//
// Schemas are draft 7 or 2020-12, by their $schema; 2020-12 is the default.
// Nothing is ever loaded, neither from the network nor from files. Numbers are
// decoded without loss. The package is pure: it does no I/O and holds no state
// but the [Cache] its caller makes.
package schema
