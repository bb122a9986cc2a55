// Package serve assembles the platform's processes from its packages: the HTTP
// API, and the worker. It holds no rule of its own; the dependencies between
// the packages are wired here and nowhere else.
package serve
