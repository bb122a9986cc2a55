package definition

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// Statuses of a server.
const (
	ServerActive   = "active"
	ServerDisabled = "disabled" // Calls of its tools and refreshes are refused.
)

// AllTools allows all tools of a server, now and later, in a list of allowed tools.
const AllTools = "*"

// Connection says where an MCP server is and how to talk to it.
type Connection = remote.Server

// ServerSpec is the desired state of an MCP server: the fields that its owner
// may set.
type ServerSpec struct {
	Slug string `json:"slug"`
	Name string `json:"name,omitempty"` // The slug when empty.
	Connection
	AllowedTools []string `json:"allowed_tools,omitempty"`
	TrustHints   bool     `json:"trust_hints,omitempty"`
	Status       string   `json:"status,omitempty"`   // When empty, that of the server; [ServerActive] for a new one.
	Revision     int64    `json:"revision,omitempty"` // Guards an update, as that of a [ToolSpec].
}

// Bounds of servers.
const (
	maxServerName   = 200
	maxAllowedTools = 1000
	maxRemoteName   = 128
)

var serverSlug = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

// Check fills in defaults, and fails with tool.Invalid for a malformed slug, name,
// status or list of allowed tools. It does not check the connection.
func (s *ServerSpec) Check() error {
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
		return refusal.New(
			tool.Invalid, "/slug", "slug %.80q: expected a lower-case letter, then lower-case letters, digits or -, at most 32",
			s.Slug,
		)
	case utf8.RuneCountInString(s.Name) > maxServerName || !printable(s.Name):
		return refusal.New(tool.Invalid, "/name", "expected at most %d printable characters", maxServerName)
	case s.Status != ServerActive && s.Status != ServerDisabled:
		return refusal.New(tool.Invalid, "/status", "status %.40q: expected active or disabled", s.Status)
	}
	return checkAllowed(s.AllowedTools)
}

func checkAllowed(names []string) error {
	if len(names) > maxAllowedTools {
		return refusal.New(tool.Invalid, "/allowed_tools", "expected at most %d tools, or %q for all", maxAllowedTools,
			AllTools)
	}
	for i, name := range names {
		at := fmt.Sprintf("/allowed_tools/%d", i)
		switch {
		case name == "" || len(name) > maxRemoteName || !printable(name):
			return refusal.New(tool.Invalid, at, "expected the name of one of the server's tools, or %q for all", AllTools)
		case name != AllTools && strings.Contains(name, AllTools):
			return refusal.New(tool.Invalid, at, "%.80q: names are compared exactly; only %q alone stands for all", name,
				AllTools)
		case slices.Contains(names[:i], name):
			return refusal.New(tool.Invalid, at, "%.80q is listed twice", name)
		case name == AllTools && len(names) > 1:
			return refusal.New(tool.Invalid, at, "%q stands for all: list nothing beside it", AllTools)
		}
	}
	return nil
}

// printable reports whether text holds printable characters only.
func printable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}
