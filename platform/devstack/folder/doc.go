// Package folder tells whether a data folder can be used, and, where it cannot,
// what to do about it.
package folder
