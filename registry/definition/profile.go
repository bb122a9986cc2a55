package definition

import (
	"slices"

	"github.com/toolcrib/toolcrib/profile"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolset"
)

// ProfileSpec is the desired state of a profile. What is absent restricts nothing.
type ProfileSpec struct {
	Name               string                `json:"name"`
	Description        string                `json:"description,omitempty"`
	Denied             bool                  `json:"denied,omitempty"`
	RequiresApproval   bool                  `json:"requires_approval,omitempty"`
	PermissionPolicy   tool.PermissionPolicy `json:"permission_policy,omitempty"`
	EgressClass        tool.Egress           `json:"egress_class,omitempty"`
	RequiredPermission string                `json:"required_permission,omitempty"`
	Rate               *tool.Rate            `json:"rate,omitempty"`
	MaxConcurrency     int                   `json:"max_concurrency,omitempty"`
	Revision           int64                 `json:"revision,omitempty"` // As of a [ToolSpec].
}

// storedFields are fields of stored profiles and toolsets; in a definition they are ignored.
var storedFields = []string{"id", "path", "assignments", "changed_by", "created_by", "created_at", "updated_at"}

func parseProfile(doc object) (*ProfileSpec, error) {
	doc.drop(storedFields...)
	if err := doc.move("slug", doc, "name"); err != nil {
		return nil, err
	}
	if raw := doc["rate"]; raw != nil {
		rate, err := readObject("/rate", raw)
		if err != nil {
			return nil, err
		}
		if err := refusal.First(checkNames("/rate", rate, &tool.Rate{}), doc.put("rate", rate)); err != nil {
			return nil, err
		}
	}
	var s ProfileSpec
	return &s, doc.into("", &s)
}

// Profile returns the profile that is asked for, without its tenant. It fails as
// [profile.Profile.Check] does.
func (s *ProfileSpec) Profile() (profile.Profile, error) {
	p := profile.Profile{
		Profile: tool.Profile{
			Name: s.Name, Denied: s.Denied, RequiresApproval: s.RequiresApproval, PermissionPolicy: s.PermissionPolicy,
			EgressClass: s.EgressClass, RequiredPermission: s.RequiredPermission, MaxConcurrency: s.MaxConcurrency,
		},
		Description: s.Description,
	}
	if s.Rate != nil {
		rate := *s.Rate
		p.Rate = &rate
	}
	return p, p.Check()
}

// SameProfile reports whether two profiles restrict the same, in the same words.
func SameProfile(a, b profile.Profile) bool {
	sameRate := a.Rate == nil && b.Rate == nil || a.Rate != nil && b.Rate != nil && *a.Rate == *b.Rate
	return sameRate && a.Name == b.Name && a.Description == b.Description && a.Denied == b.Denied &&
		a.RequiresApproval == b.RequiresApproval && a.PermissionPolicy == b.PermissionPolicy &&
		a.EgressClass == b.EgressClass && a.RequiredPermission == b.RequiredPermission && a.MaxConcurrency == b.MaxConcurrency
}

// ToolsetSpec is the desired state of a toolset. Absent fields take the defaults of a new one, except for Status, which
// is left unchanged.
type ToolsetSpec struct {
	Slug         string            `json:"slug"`
	Name         string            `json:"name,omitempty"` // The slug when empty.
	Instructions string            `json:"instructions,omitempty"`
	Catalog      toolset.Catalog   `json:"catalog,omitempty"`
	Status       toolset.Status    `json:"status,omitempty"`
	Tools        []ToolsetToolSpec `json:"tools,omitempty"`
	Servers      []string          `json:"servers,omitempty"`
	Revision     int64             `json:"revision,omitempty"` // As of a [ToolSpec].
}

// ToolsetToolSpec is a tool of a toolset, which may be written as a reference: getOrder@^1.2.
type ToolsetToolSpec struct {
	Tool    string `json:"tool"`
	Version string `json:"version,omitempty"`
	ID      string `json:"id,omitempty"` // Ignored: answers have it.
}

// UnmarshalJSON implements [json.Unmarshaler].
func (s *ToolsetToolSpec) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		var ref tool.Ref
		if err := ref.UnmarshalJSON(raw); err != nil {
			return err //nolint:wrapcheck // It says what is wrong.
		}
		*s = ToolsetToolSpec{Tool: ref.Name(), Version: ref.Constraint}
		return nil
	}
	type plain ToolsetToolSpec
	doc, err := readObject("", raw)
	if err != nil {
		return err
	}
	return doc.into("", (*plain)(s))
}

func parseToolset(doc object) (*ToolsetSpec, error) {
	doc.drop(storedFields...)
	var s ToolsetSpec
	return &s, doc.into("", &s)
}

// Toolset returns the toolset that is asked for, without its tenant. It fails as
// [toolset.Toolset.Check] does.
func (s *ToolsetSpec) Toolset() (toolset.Toolset, error) {
	out := toolset.Toolset{
		Slug: s.Slug, Name: s.Name, Instructions: s.Instructions, Catalog: s.Catalog, Status: s.Status,
	}
	for _, t := range s.Tools {
		out.Tools = append(out.Tools, toolset.Tool{Name: t.Tool, Version: t.Version})
	}
	for _, server := range s.Servers {
		out.Servers = append(out.Servers, toolset.Server{Name: server})
	}
	return out, out.Check()
}

// SameToolset reports whether a stored toolset is what another asks for. The order of tools and
// servers means nothing.
func SameToolset(stored, asked toolset.Toolset) bool {
	tools := func(s toolset.Toolset) []string {
		out := make([]string, len(s.Tools))
		for i, t := range s.Tools {
			out[i] = t.Name + "@" + t.Version
		}
		slices.Sort(out)
		return out
	}
	servers := func(s toolset.Toolset) []string {
		out := make([]string, len(s.Servers))
		for i, server := range s.Servers {
			out[i] = server.Name
		}
		slices.Sort(out)
		return out
	}
	return stored.Slug == asked.Slug && stored.Name == asked.Name && stored.Instructions == asked.Instructions &&
		stored.Catalog == asked.Catalog && stored.Status == asked.Status &&
		slices.Equal(tools(stored), tools(asked)) && slices.Equal(servers(stored), servers(asked))
}

// Lacks returns the first tool of a toolset that a batch does not bring, by its index; -1 for none.
func (s *ToolsetSpec) Lacks(batch []Definition, there func(slug string) (bool, error)) (int, error) {
	for i, t := range s.Tools {
		if slices.ContainsFunc(batch, func(d Definition) bool { return d.Tool != nil && d.Tool.Slug == t.Tool }) {
			continue
		}
		if ok, err := there(t.Tool); err != nil || !ok {
			return i, err
		}
	}
	return -1, nil
}

// refuseKinds is the error of a definition of an unknown kind.
func refuseKinds(kind string) error {
	return refusal.New(tool.Invalid, "/kind",
		"kind %.40q: expected tool, agent, mcp_server, artifact, pipeline, profile or toolset", kind)
}
