package space

import (
	"fmt"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// MemberKind is whether a member is an agent or a person.
type MemberKind string

// Kinds of members. They are stored: never rename one.
const (
	Agent  MemberKind = "agent"
	Person MemberKind = "person" // Whoever holds a key: a person, or a program that acts for one.
)

// maxMemberName is how many bytes a member's name may have.
const maxMemberName = 200

// Member is an agent by its slug, or a person by the subject of its key. It is written
// "agent:desk" and "person:user:ana".
type Member struct {
	Kind MemberKind
	Name string
}

// String returns "kind:name".
func (m Member) String() string { return string(m.Kind) + ":" + m.Name }

// ParseMember parses "kind:name". It fails with tool.Invalid.
func ParseMember(s string) (Member, error) {
	kind, name, _ := strings.Cut(s, ":")
	m := Member{MemberKind(kind), name}
	return m, m.Check()
}

// Check fails with tool.Invalid for what no member may be.
func (m Member) Check() error {
	switch {
	case m.Kind != Agent && m.Kind != Person || m.Name == "":
		return invalid("/member", "member %.80q: expected agent:<slug> or person:<subject>", m)
	case len(m.Name) > maxMemberName:
		return invalid("/member", "the name of the member has more than %d bytes", maxMemberName)
	case m.Kind == Agent && !tool.ValidSlug(m.Name):
		return invalid("/member", "%.80q is not the slug of an agent", m.Name)
	}
	return nil
}

// Membership is a member of a space.
type Membership struct {
	Member
	AgentID   string // Of an agent.
	AddedBy   string // Subject.
	CreatedAt time.Time
}

// NotIn is what a call is answered that needs a space, and whose run is in none
// (checklist S1-21).
func NotIn(slug string) string {
	return fmt.Sprintf("Tool %q is visible but you are not in a space. Call enter_space first.", slug)
}
