package manage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/nearest"
	"github.com/toolcrib/toolcrib/tool"
)

// Action is what a request does.
type Action string

// Actions. The names are in definitions of agents: never rename one.
const (
	List      Action = "list"
	Get       Action = "get"
	Create    Action = "create"
	Update    Action = "update"
	Publish   Action = "publish"
	Deprecate Action = "deprecate"
	Disable   Action = "disable"
	Enable    Action = "enable"
	Delete    Action = "delete"
)

// action describes which arguments an action has beside "action".
type action struct {
	name     Action
	required []string
	optional []string
}

// fields of a definition that a request may set.
var fields = []string{
	"name", "description", "category", "icon", "input_schema", "output_schema", "implementation_type",
	"implementation_config", "execution", "interaction", "egress_class", "egress_rules", "requires_approval",
	"permission_policy", "required_permission", "version", "publish",
}

// ofRevision are the fields of an action that changes an existing tool.
var ofRevision = []string{"slug", "revision"}

// actions lists all of them, in the order in which people read them.
var actions = []action{
	{name: List, optional: []string{"search", "status", "after", "limit"}},
	{name: Get, required: []string{"slug"}},
	{name: Create, required: []string{"slug", "description", "implementation_type"}, optional: fields},
	{name: Update, required: ofRevision, optional: fields},
	{name: Publish, required: ofRevision},
	{name: Deprecate, required: ofRevision},
	{name: Disable, required: ofRevision},
	{name: Enable, required: ofRevision},
	{name: Delete, required: ofRevision},
}

// Actions lists the names of all actions.
func Actions() []Action {
	out := make([]Action, len(actions))
	for i, a := range actions {
		out[i] = a.name
	}
	return out
}

// Fields lists the arguments that an action takes beside "action", those that it requires first.
func (a Action) Fields() []string {
	for _, known := range actions {
		if known.name == a {
			return slices.Concat(known.required, known.optional)
		}
	}
	return nil
}

// Reads reports whether an action changes nothing.
func (a Action) Reads() bool { return a == List || a == Get }

// Asks is the condition, in CEL over input, under which a request needs an approval: it changes
// something, and has what its action requires. A request that lacks a field is refused when it
// is made, without a person being asked.
func Asks() string {
	var either []string
	for _, a := range actions {
		if a.name.Reads() {
			continue
		}
		all := []string{fmt.Sprintf("input.action == %q", a.name)}
		for _, field := range a.required {
			all = append(all, "has(input."+field+")")
		}
		either = append(either, strings.Join(all, " && "))
	}
	return strings.Join(either, " || ")
}

// Request is a call of manageTools.
type Request struct {
	Action   Action
	Slug     string
	Revision int64 // Of the tool that the request changes, as get answered it.

	Search string // Of List, as the following.
	Status tool.Status
	After  string // A slug.
	Limit  int

	given map[string]json.RawMessage // The fields of the definition that the request sets.
}

// Parse reads the arguments of a call. It fails with tool.Invalid, in words that a model can act
// on, where the action is unknown, lacks a field, or has one that is not its own.
func Parse(arguments json.RawMessage) (Request, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(arguments, &all); err != nil || all == nil {
		return Request{}, refuse("", "manageTools requires an object with 'action'")
	}
	maps.DeleteFunc(all, func(_ string, v json.RawMessage) bool { return string(bytes.TrimSpace(v)) == "null" })
	var r Request
	if err := decode(all, "action", &r.Action); err != nil {
		return r, err
	}
	i := slices.IndexFunc(actions, func(known action) bool { return known.name == r.Action })
	switch {
	case r.Action == "":
		return r, refuse("/action", "manageTools requires 'action': one of %s", names())
	case i < 0:
		return r, refuse("/action", "manageTools has no action %.40q: want one of %s", r.Action, names())
	}
	of := actions[i]
	for _, field := range of.required {
		if _, ok := all[field]; !ok {
			return r, refuse("/"+field, "manageTools.%s requires '%s'%s", r.Action, field, hint(field))
		}
	}
	known := slices.Concat([]string{"action"}, of.required, of.optional)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(known, name) {
			meant := ""
			if n := nearest.Name(name, known); n != "" {
				meant = fmt.Sprintf(": did you mean '%s'?", n)
			}
			return r, refuse("/"+name, "manageTools.%s takes no '%.40s'%s", r.Action, name, meant)
		}
	}
	for field, to := range map[string]any{
		"slug": &r.Slug, "revision": &r.Revision, "search": &r.Search, "status": &r.Status, "after": &r.After,
		"limit": &r.Limit,
	} {
		if err := decode(all, field, to); err != nil {
			return r, err
		}
	}
	r.given = make(map[string]json.RawMessage)
	for _, field := range fields {
		if raw, ok := all[field]; ok {
			r.given[field] = raw
		}
	}
	if r.Action == Update && len(r.given) == 0 {
		return r, refuse("", "manageTools.update requires a field to change: one of %s", strings.Join(fields, ", "))
	}
	return r, nil
}

// hint says where a field comes from.
func hint(field string) string {
	if field == "revision" {
		return ": the one that manageTools.get answers"
	}
	return ""
}

func names() string {
	out := make([]string, len(actions))
	for i, a := range actions {
		out[i] = string(a.name)
	}
	return strings.Join(out, ", ")
}

func decode(all map[string]json.RawMessage, field string, to any) error {
	raw, ok := all[field]
	if !ok {
		return nil
	}
	if err := json.Unmarshal(raw, to); err != nil {
		return refuse("/"+field, "manageTools: '%s' is not of the type that is expected", field)
	}
	return nil
}

func refuse(path, format string, args ...any) *tool.Error {
	return failed(tool.Invalid, path, format, args...)
}
