package definition

import (
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib/tool"
)

// maxDefinitions is how many definitions are applied at once.
const maxDefinitions = 1000

// Outline holds the fields of a definition that identify it.
type Outline struct {
	Kind  string            `json:"kind"`
	Slug  string            `json:"slug"`
	Name  string            `json:"name"` // What identifies a profile.
	Tools []json.RawMessage `json:"tools"`
}

// Outline reads a document as far as it can be read.
func (d Document) Outline() Outline {
	var o Outline
	if err := json.Unmarshal(d.Raw, &o); err != nil {
		return Outline{Kind: "tool"} // The server says what is wrong with it.
	}
	if o.Kind == "" {
		o.Kind = "tool"
	}
	if o.Slug == "" && o.Kind == "profile" {
		o.Slug = o.Name
	}
	return o
}

// CheckBatch refuses what a server would refuse without a place: too many
// definitions, and two of the same thing.
func CheckBatch(documents []Document) error {
	if len(documents) > maxDefinitions {
		return &tool.Error{Kind: tool.Invalid, Msg: fmt.Sprintf(
			"there are %d definitions, and %d are applied at once at most: apply them folder by folder", len(documents),
			maxDefinitions)}
	}
	seen := make(map[string]*FileError)
	for _, d := range documents {
		o := d.Outline()
		if o.Slug == "" {
			continue
		}
		name, at := o.Kind+" "+o.Slug, d.Fault("/slug", "")
		if first, twice := seen[name]; twice {
			at.Msg = fmt.Sprintf("%s is defined twice: the first time at %s:%d", name, first.File, first.Line)
			return at
		}
		seen[name] = at
	}
	return nil
}
