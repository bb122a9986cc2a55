package registry

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/tool"
)

// MCPServerSpec is the desired state of an MCP server: the fields of an
// [MCPServer] that its owner may set.
type MCPServerSpec struct {
	Slug string `json:"slug"`
	Name string `json:"name,omitempty"` // The slug when empty.
	Connection
	AllowedTools []string `json:"allowed_tools,omitempty"`
	TrustHints   bool     `json:"trust_hints,omitempty"`
	Status       string   `json:"status,omitempty"`   // [ServerActive] when empty.
	Revision     int64    `json:"revision,omitempty"` // Guards an update: unless zero, it must still be the server's.
}

// Bounds of servers.
const (
	maxServerName   = 200
	maxAllowedTools = 1000
	maxRemoteName   = 128
)

var errNoDiscoverer = refuse(tool.Conflict, "", "nothing here can talk to MCP servers: start the API with what can")

var serverSlug = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

// checkServer refuses what no server may be, and fills in defaults.
func (r *Registry) checkServer(s *MCPServerSpec) error {
	if s.Name == "" {
		s.Name = s.Slug
	}
	s.Transport = s.Kind()
	if len(s.Headers) == 0 {
		s.Headers = nil
	}
	if s.AllowedTools == nil {
		s.AllowedTools = []string{}
	}
	if s.Status == "" {
		s.Status = ServerActive
	}
	switch {
	case !serverSlug.MatchString(s.Slug):
		return refuse(
			tool.Invalid, "/slug", "slug %.80q: expected a lower-case letter, then lower-case letters, digits or -, at most 32",
			s.Slug,
		)
	case utf8.RuneCountInString(s.Name) > maxServerName || !printable(s.Name):
		return refuse(tool.Invalid, "/name", "expected at most %d printable characters", maxServerName)
	case s.Status != ServerActive && s.Status != ServerDisabled:
		return refuse(tool.Invalid, "/status", "status %.40q: expected active or disabled", s.Status)
	}
	if r.opts.Discoverer == nil {
		return errNoDiscoverer
	}
	if err := r.opts.Discoverer.CheckServer(&s.Connection); err != nil {
		return within("", err)
	}
	return checkAllowed(s.AllowedTools)
}

func checkAllowed(names []string) error {
	if len(names) > maxAllowedTools {
		return refuse(tool.Invalid, "/allowed_tools", "expected at most %d tools, or %q for all", maxAllowedTools, AllTools)
	}
	for i, name := range names {
		at := fmt.Sprintf("/allowed_tools/%d", i)
		switch {
		case name == "" || len(name) > maxRemoteName || !printable(name):
			return refuse(tool.Invalid, at, "expected the name of one of the server's tools, or %q for all", AllTools)
		case name != AllTools && strings.Contains(name, AllTools):
			return refuse(tool.Invalid, at, "%.80q: names are compared exactly; only %q alone stands for all", name, AllTools)
		case slices.Contains(names[:i], name):
			return refuse(tool.Invalid, at, "%.80q is listed twice", name)
		case name == AllTools && len(names) > 1:
			return refuse(tool.Invalid, at, "%q stands for all: list nothing beside it", AllTools)
		}
	}
	return nil
}

// apply makes s what the spec says.
func (spec *MCPServerSpec) apply(s *MCPServer) {
	s.Name, s.Connection, s.AllowedTools = spec.Name, spec.Connection, spec.AllowedTools
	s.TrustHints, s.Status = spec.TrustHints, spec.Status
}

// printable reports whether text holds characters that can be seen only.
func printable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}
