// Package serve assembles the platform's processes from its packages: the HTTP
// API, and the worker. It only wires the dependencies between the packages, and
// has no logic of its own.
package serve
