// Package serve assembles the platform's processes from its rooms: the HTTP
// API, and the worker. It holds no rule of its own; what the parts need of one
// another is wired here and nowhere else.
package serve
