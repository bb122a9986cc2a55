package tool

import (
	"cmp"
	"encoding/json"
	"time"
)

// Intent is the purpose of a call, so that a client knows how to show it.
type Intent string

// Intents.
const (
	Render  Intent = "render"  // Shows something to a person.
	Act     Intent = "action"  // Has a side effect.
	Compute Intent = "compute" // Answers a question; the default.
)

// Valid reports whether i is one of the intents. Empty is compute.
func (i Intent) Valid() bool { return i == "" || i == Render || i == Act || i == Compute }

// Audience says which kind of caller may call a tool.
type Audience string

// Audiences.
const (
	AudienceModel Audience = "model" // Offered to models; the default.
	AudienceUser  Audience = "user"  // Dispatched by people and clients only.
)

// Valid reports whether a is one of the audiences. Empty is model.
func (a Audience) Valid() bool { return a == "" || a == AudienceModel || a == AudienceUser }

// Visibility says whether external callers, which are API keys and MCP clients,
// may find a tool (checklist Z10, S0-15).
type Visibility string

// Visibilities.
const (
	VisibilityExternal Visibility = "external" // External callers may find it; the default.
	VisibilityInternal Visibility = "internal" // Only agents and workflows may call it.
)

// Valid reports whether v is one of the visibilities. Empty is external.
func (v Visibility) Valid() bool {
	return v == "" || v == VisibilityExternal || v == VisibilityInternal
}

// Interaction is how a tool is shown to people and clients: fields of the
// definition that the engine carries and a client interprets.
type Interaction struct {
	Visible    *bool      `json:"visible,omitempty"` // See [Definition.Shown] for nil.
	Visibility Visibility `json:"visibility,omitempty"`
	Risk       *Risk      `json:"risk,omitempty"`
	// Confirmation asks for an approval of some calls, or of all. Nil asks for none.
	Confirmation *Confirmation `json:"confirmation,omitempty"`
	Async        bool          `json:"is_async,omitempty"`
	Intent       Intent        `json:"intent,omitempty"`
	Audience     Audience      `json:"audience,omitempty"`
	// Aliases are further names that people and clients call the tool by. Like
	// FormerNames, they take effect when a version that has them is published.
	Aliases []string `json:"aliases,omitempty"`
	// FormerNames maps former names of the tool to the last day, in UTC and as
	// "2006-01-02", on which calls by that name still work. Such calls get a
	// warning.
	FormerNames map[string]string `json:"former_names,omitempty"`
	// OpenInput declares that the input schema leaves values open on purpose:
	// maps and values without a type, no properties, a union at the top. Without
	// it such a schema cannot be published, since not every client can show it.
	OpenInput        bool            `json:"open_input,omitempty"`
	RequiresResponse bool            `json:"requires_response,omitempty"`
	DefaultResult    json.RawMessage `json:"default_result,omitempty"`
	Collaborative    bool            `json:"collaborative,omitempty"`
	Aggregate        string          `json:"aggregate,omitempty"` // Names the function that joins submissions.
	OutputSections   json.RawMessage `json:"output_sections,omitempty"`
	Annotations      json.RawMessage `json:"annotations,omitempty"`
	ProviderOptions  json.RawMessage `json:"provider_options,omitempty"`
	Middleware       []string        `json:"middleware,omitempty"` // Names of host middleware around this tool.
}

// Rename keeps old working until the end of the day removeBy, in UTC.
func (i *Interaction) Rename(old string, removeBy time.Time) {
	if i.FormerNames == nil {
		i.FormerNames = make(map[string]string)
	}
	i.FormerNames[old] = removeBy.UTC().Format(time.DateOnly)
}

// Purpose returns the intent, its default applied.
func (i *Interaction) Purpose() Intent { return cmp.Or(i.Intent, Compute) }

// ForModels reports whether the tool is offered to models. If not, models
// cannot call it: only people and clients can.
func (i *Interaction) ForModels() bool { return i.Audience != AudienceUser }

// Shown reports whether calls are shown to people: an explicit Visible wins, and
// tools of the types internal and mcp are hidden by default (checklist S1-7,
// S1-45).
func (d *Definition) Shown() bool {
	if d.Interaction.Visible != nil {
		return *d.Interaction.Visible
	}
	impl := d.ImplementationType()
	return impl != Internal && impl != MCP
}
