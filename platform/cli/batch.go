package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

// maxDefinitions is how many definitions are applied at once.
const maxDefinitions = 1000

// outline holds the fields of a definition that identify it.
type outline struct {
	Kind  string            `json:"kind"`
	Slug  string            `json:"slug"`
	Tools []json.RawMessage `json:"tools"`
}

// outline reads a document as far as it can be read.
func (d document) outline() outline {
	var o outline
	if err := json.Unmarshal(d.raw, &o); err != nil {
		return outline{Kind: "tool"} // The server says what is wrong with it.
	}
	if o.Kind == "" {
		o.Kind = "tool"
	}
	return o
}

// checkBatch refuses what a server would refuse without a place: too many
// definitions, and two of the same thing.
func checkBatch(documents []document) error {
	if len(documents) > maxDefinitions {
		return &tool.Error{Kind: tool.Invalid, Msg: fmt.Sprintf(
			"there are %d definitions, and %d are applied at once at most: apply them folder by folder", len(documents),
			maxDefinitions)}
	}
	seen := make(map[string]*FileError)
	for _, d := range documents {
		o := d.outline()
		if o.Slug == "" {
			continue
		}
		name, at := o.Kind+" "+o.Slug, d.fault("/slug", "")
		if first, twice := seen[name]; twice {
			at.Msg = fmt.Sprintf("%s is defined twice: the first time at %s:%d", name, first.File, first.Line)
			return at
		}
		seen[name] = at
	}
	return nil
}

// suggestTools adds to agents that were refused for a tool that is not there
// which tool was probably meant: one of the batch, or one that the key may see.
func (a *app) suggestTools(ctx context.Context, c *client.Client, documents []document, items []v1.AppliedItem) {
	refused := func(item v1.AppliedItem) bool {
		return item.Error != nil && item.Error.Code == tool.NotFound && strings.HasPrefix(item.Error.Path, "/tools") &&
			item.Index >= 0 && item.Index < len(documents)
	}
	if !slices.ContainsFunc(items, refused) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(a.env.Patience, suggestPatience))
	defer cancel()
	known, err := toolNames(ctx, c)
	if err != nil { // The error is reported without suggestions.
		return
	}
	for _, d := range documents {
		if o := d.outline(); o.Kind == "tool" && o.Slug != "" {
			known = append(known, o.Slug)
		}
	}
	for _, item := range items {
		if !refused(item) {
			continue
		}
		for _, raw := range documents[item.Index].outline().Tools {
			var ref tool.Ref
			if json.Unmarshal(raw, &ref) != nil || ref.Slug == "" || slices.Contains(known, ref.Slug) {
				continue
			}
			item.Error.Detail += didYouMean(ref.Slug, known)
		}
	}
}
