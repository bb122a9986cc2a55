// Package release decides under which version number content may be released,
// and lists the differences between two contents of a tool.
//
// It is pure: it reads no store.
package release
