// Package folder reports whether a data folder can be used, and, if it cannot,
// how to fix that.
package folder
