package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Direction is the side of a tool that a schema describes.
type Direction int

// Directions.
const (
	Input  Direction = iota // Written by callers: accepting less breaks them.
	Output                  // Read by callers: returning other values breaks them.
)

// Bump is the part of a semantic version that a change must increment.
type Bump int

// Bumps, in ascending order.
const (
	NoBump Bump = iota
	Patch       // Descriptions only.
	Minor       // Compatible with every caller of the tool.
	Major       // May break a caller of the tool.
)

// String returns "none", "patch", "minor" or "major".
func (b Bump) String() string {
	switch b {
	case NoBump:
		return "none"
	case Patch:
		return "patch"
	case Minor:
		return "minor"
	case Major:
		return "major"
	default:
		return fmt.Sprintf("Bump(%d)", int(b))
	}
}

// Change is one difference between two schemas.
type Change struct {
	Path   string `json:"path"` // Of the value that is meant, as a JSON Pointer with * for any item or property.
	Bump   Bump   `json:"bump"`
	Reason string `json:"reason"`
}

// String returns "path: reason (bump)".
func (c Change) String() string {
	path := c.Path
	if path == "" {
		path = "the top"
	}
	return fmt.Sprintf("%s: %s (%s)", path, c.Reason, c.Bump)
}

// MaxBump returns the largest bump of the changes.
func MaxBump(changes []Change) Bump {
	most := NoBump
	for _, c := range changes {
		most = max(most, c.Bump)
	}
	return most
}

// Compare lists the differences of two schemas, in the order of the document, with their
// effect on callers of the tool. A change with an unknown effect, as with "not" or "if",
// is major. Empty schemas accept any object. It fails with tool.Invalid when one of them
// is not JSON.
func Compare(before, after json.RawMessage, d Direction) ([]Change, error) {
	docs := make([]any, 2)
	for i, raw := range []json.RawMessage{before, after} {
		if len(bytes.TrimSpace(raw)) == 0 {
			raw = json.RawMessage(`{"type":"object"}`)
		}
		doc, err := decodeSchema(raw)
		if err != nil {
			return nil, err
		}
		docs[i] = doc
	}
	if same(docs[0], docs[1]) {
		return nil, nil
	}
	c := comparison{direction: d, before: docs[0], after: docs[1], seen: make(map[[2]string]bool)}
	c.schemas(docs[0], docs[1], "")
	if len(c.changes) == 0 {
		c.add("", Patch, "only descriptions changed")
	}
	return c.changes, nil
}

// same reports whether two decoded values are equal, spelling included.
func same(a, b any) bool {
	x, errX := encode(a)
	y, errY := encode(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// MarshalText implements [encoding.TextMarshaler].
func (b Bump) MarshalText() ([]byte, error) { return []byte(b.String()), nil }
