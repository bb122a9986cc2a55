package space

import (
	"cmp"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of spaces.
const (
	MaxSpaces      = 1000 // Of a tenant.
	MaxMembers     = 100  // Of a space.
	MaxName        = 200  // In characters.
	MaxDescription = 2000 // In characters.
	// DefaultMaxHops is how many messages of agents in a row wake other agents.
	DefaultMaxHops = 4
	MaxMaxHops     = 50
)

// ErrChanged is in the chain of errors when a space's revision has changed.
var ErrChanged = errors.New("the space was changed meanwhile")

// Changed is the error of a change of a space whose revision is not the expected one.
func Changed() error {
	return &tool.Error{
		Kind: tool.Conflict, Op: "space", Msg: "the space was changed meanwhile: read it again", Err: ErrChanged,
	}
}

// Space is where people and agents talk.
type Space struct {
	ID          string
	Tenant      tool.TenantID
	Slug        string // Unique in the tenant, and never changed.
	Name        string
	Description string // Agents read it.
	// MaxHops bounds how agents wake each other: a message of an agent that was woken by a message
	// of an agent, and so on, wakes nobody after so many. Zero: messages of agents wake nobody.
	MaxHops    int
	LastSeq    int64      // The number of its last change.
	ArchivedAt *time.Time // Nothing is posted after it. Nil for an open space.
	Revision   int64
	CreatedBy  string
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// Check fails with tool.Invalid and the path of what a space may not be.
func (s *Space) Check() error {
	switch {
	case !tool.ValidSlug(s.Slug) || tool.ValidID(s.Slug):
		return invalid("/slug", "slug %.80q: expected a letter, then letters, digits, _ or -, at most 64", s.Slug)
	case utf8.RuneCountInString(s.Name) > MaxName:
		return invalid("/name", "the name has more than %d characters", MaxName)
	case utf8.RuneCountInString(s.Description) > MaxDescription:
		return invalid("/description", "the description has more than %d characters", MaxDescription)
	case s.MaxHops < 0 || s.MaxHops > MaxMaxHops:
		return invalid("/max_hops", "max_hops is %d: expected 0 to %d", s.MaxHops, MaxMaxHops)
	}
	s.Name = cmp.Or(s.Name, s.Slug)
	return nil
}

// Change lists changes of a space; nil fields are unchanged.
type Change struct {
	Name, Description *string
	MaxHops           *int
	Archived          *bool
}

// Apply returns s with the changes.
func (c Change) Apply(s Space, now time.Time) Space {
	if c.Name != nil {
		s.Name = *c.Name
	}
	if c.Description != nil {
		s.Description = *c.Description
	}
	if c.MaxHops != nil {
		s.MaxHops = *c.MaxHops
	}
	switch {
	case c.Archived == nil:
	case !*c.Archived:
		s.ArchivedAt = nil
	case s.ArchivedAt == nil:
		s.ArchivedAt = &now
	}
	return s
}

func invalid(path, format string, args ...any) error {
	return &tool.Error{Kind: tool.Invalid, Op: "space", Path: path, Msg: fmt.Sprintf(format, args...)}
}
