package tool

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// Ref is a reference to a tool as a caller writes it: a slug or an id, with an
// optional version constraint, as in "searchOrders", "searchOrders@1.2.0",
// "searchOrders@^1.2" or "searchOrders@~1.4.0". Its JSON form is that text.
type Ref struct {
	Slug       string // Exactly one of Slug and ID is set.
	ID         string
	Constraint string // Empty for any version.
}

var (
	slugPattern = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`)
	uuidPattern = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
)

// ValidSlug reports whether s can name a tool to every model provider: a
// letter, then up to 63 letters, digits, underscores and dashes.
func ValidSlug(s string) bool { return slugPattern.MatchString(s) }

// ValidID reports whether s is a UUID in its canonical text form.
func ValidID(s string) bool { return uuidPattern.MatchString(s) }

// ParseRef reads a reference. It fails with [Invalid].
func ParseRef(s string) (Ref, error) {
	name, constraint, pinned := strings.Cut(strings.TrimSpace(s), "@")
	r := Ref{Constraint: strings.TrimSpace(constraint)}
	if pinned && r.Constraint == "" {
		return Ref{}, &Error{
			Kind: Invalid, Op: "tool.ParseRef", Msg: fmt.Sprintf("tool reference %q ends in @ without a version", s),
		}
	}
	switch {
	case ValidID(name):
		r.ID = name
	case ValidSlug(name):
		r.Slug = name
	default:
		return Ref{}, &Error{Kind: Invalid, Op: "tool.ParseRef", Msg: fmt.Sprintf(
			"tool reference %q: want a slug (a letter, then letters, digits, _ or -, at most 64) or an id, and "+
				"optionally @version", s)}
	}
	return r, nil
}

// Name returns the slug or the id, whichever r holds.
func (r Ref) Name() string {
	if r.Slug != "" {
		return r.Slug
	}
	return r.ID
}

// String returns the text form that [ParseRef] reads.
func (r Ref) String() string {
	if r.Constraint == "" {
		return r.Name()
	}
	return r.Name() + "@" + r.Constraint
}

// MarshalJSON implements [json.Marshaler].
func (r Ref) MarshalJSON() ([]byte, error) { return json.Marshal(r.String()) }

// UnmarshalJSON implements [json.Unmarshaler].
func (r *Ref) UnmarshalJSON(raw []byte) error {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("reading tool reference: %w", err)
	}
	ref, err := ParseRef(s)
	if err != nil {
		return err
	}
	*r = ref
	return nil
}
