// Package artifact keeps the programs that tenants upload, under version numbers,
// and pins their versions in the tools that run them.
//
// It knows neither SQL nor Temporal.
package artifact
