// Package prices looks up what things cost. It is an example of an executor
// that a host brings for custom tools.
package prices
