package mcpserver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

// plan computes the changes of a refresh from what a server offers and the stored
// tools of the server. It stores nothing. tools returns the tenant's tools that run
// on the server, taken the reason why a slug is not free, and draft the head of a
// new tool.
type plan struct {
	server *Server
	now    time.Time
	tools  func() ([]tool.Tool, error)
	taken  func(slug string) (why string, err error)
	draft  func(definition.ToolSpec) (tool.Tool, error)

	imported map[string]bool // Ids of the tenant's tools that were imported from the server.

	slugs   map[string]string   // Name of the imported tool, by slug.
	claims  map[string][]string // Names of the allowed tools, by the slug that they would get.
	changes Changes
	report  Report
}

// compare fills in changes and report.
func (p *plan) compare(known []Tool, d *Discovery) error {
	p.imported = make(map[string]bool)
	p.slugs, p.claims, p.changes.Stop = make(map[string]string), make(map[string][]string), make(map[string]string)
	byName := make(map[string]*Tool, len(known))
	for i := range known {
		byName[known[i].Name] = &known[i]
		if known[i].Imported() {
			p.slugs[known[i].ToolSlug], p.imported[known[i].ToolID] = known[i].Name, true
		}
	}
	offers := distinct(d)
	for _, o := range offers {
		if slug := remoteSlug(p.server.Slug, o.name); p.server.Allows(o.name) {
			p.claims[slug] = append(p.claims[slug], o.name)
		}
	}
	for _, o := range offers {
		before := byName[o.name]
		if before == nil {
			before = &Tool{Name: o.name, FirstSeenAt: p.now, ChangedAt: p.now}
		}
		if err := p.offer(*before, o); err != nil {
			return err
		}
	}
	p.absent(known, offers)
	slices.SortFunc(p.report.Tools, func(a, b ToolReport) int { return cmp.Compare(a.Name, b.Name) })
	return nil
}

// offer plans a tool that the server offers.
func (p *plan) offer(t Tool, o offer) error {
	t.SeenAt = p.now
	if o.definition != nil {
		if t.Seen != nil && t.Seen.Digest != o.definition.Digest {
			t.ChangedAt = p.now
		}
		t.Seen = o.definition
	}
	switch {
	case t.Imported():
		p.judge(t, o)
		return nil
	case o.fault != "":
		p.refuse(t, o.fault)
		return nil
	case !p.server.Allows(t.Name):
		if t.State == "" || t.State == StateGone {
			p.note(&t, ChangeOffered, removalWarning(t.Seen))
		}
		p.put(t, StateOffered, "")
		return nil
	}
	return p.bring(t)
}

// judge plans an imported tool.
func (p *plan) judge(t Tool, o offer) {
	switch {
	case o.fault != "":
		p.stop(t, StateRefused, ChangeRefused, "the server's definition of it cannot be used: "+o.fault)
	case !p.server.Allows(t.Name):
		p.stop(t, StateRefused, ChangeRefused, notAllowed)
	case t.Seen.Digest == t.Pinned.Digest:
		if t.State == StatePinned && t.Quarantine == "" {
			p.report.Unchanged++
			p.changes.Seen = append(p.changes.Seen, t.Name)
			return
		}
		p.note(&t, ChangeBack, "the server gives the definition again that may run")
		p.quarantine(&t, "")
		t.ApprovedDigest = t.Pinned.Digest
		p.put(t, StatePinned, "")
	case t.Seen.Digest == t.ApprovedDigest:
		p.report.Unchanged++
		p.put(t, StateApproved, approvedReason)
	default:
		p.stop(t, StateChanged, ChangeChanged, join("the server changed its definition", removalWarning(t.Seen)))
	}
}

const notAllowed = "it is not among the server's allowed tools"

// bring imports a tool. A tool that was imported before the server was detached
// and attached again is linked instead, even if it was renamed.
func (p *plan) bring(t Tool) error {
	spec, err := remoteSpec(p.server, t.Seen)
	if err != nil {
		p.refuse(t, tool.AsError(err).Msg)
		return nil
	}
	there, c, err := p.orphan(t.Name, spec.Slug)
	if err != nil {
		return err
	}
	if there != nil {
		p.imported[there.ID] = true
		t.ToolID, t.ToolSlug, t.Quarantine, t.ApprovedDigest = there.ID, there.Slug, there.Quarantine, c.DefinitionDigest
		t.Pinned = definitionOf(&there.Definition, c)
		p.judge(t, offer{name: t.Name, definition: t.Seen})
		return nil
	}
	if other := p.rival(t.Name, spec.Slug); other != "" {
		p.refuse(t, fmt.Sprintf("its slug would be %s, and so would that of %q", spec.Slug, other))
		return nil
	}
	why, err := p.taken(spec.Slug)
	if err != nil {
		return err
	}
	if why != "" {
		p.refuse(t, fmt.Sprintf("its slug would be %s, %s", spec.Slug, why))
		return nil
	}
	head, err := p.draft(spec)
	if err != nil {
		reason := tool.AsError(err)
		p.refuse(t, spaced(reason.Path)+reason.Msg)
		return nil
	}
	t.ToolID, t.ToolSlug, t.Pinned, t.ApprovedDigest = head.ID, head.Slug, t.Seen, t.Seen.Digest
	p.changes.Create = append(p.changes.Create, head)
	p.note(&t, ChangeNew, removalWarning(t.Seen))
	p.put(t, StatePinned, "")
	return nil
}

// orphan returns the tenant's tool that was imported from a server's tool before
// the server was detached, with its configuration; nil for none. Of several, it
// prefers the one with the slug that an import gives.
func (p *plan) orphan(name, slug string) (*tool.Tool, remoteConfig, error) {
	tools, err := p.tools()
	if err != nil {
		return nil, remoteConfig{}, err
	}
	var there *tool.Tool
	var of remoteConfig
	for i := range tools {
		c, attached := remoteConfigOf(&tools[i].Definition)
		if !attached || c.Server != p.server.Slug || c.ToolName != name || c.DefinitionDigest == "" ||
			p.imported[tools[i].ID] {
			continue
		}
		if there == nil || tools[i].Slug == slug {
			there, of = &tools[i], c
		}
	}
	return there, of, nil
}

// rival returns another tool of the server with the same slug; empty for none.
func (p *plan) rival(name, slug string) string {
	if owner, taken := p.slugs[slug]; taken && owner != name {
		return owner
	}
	for _, other := range p.claims[slug] {
		if other != name {
			return other
		}
	}
	return ""
}

// absent plans the tools that the server no longer offers.
func (p *plan) absent(known []Tool, offers []offer) {
	there := make(map[string]bool, len(offers))
	for _, o := range offers {
		there[o.name] = true
	}
	for _, t := range known {
		switch {
		case there[t.Name]:
		case t.Imported():
			p.stop(t, StateGone, ChangeGone, "the server offers it no more")
			there[t.Name] = true
		case t.State != StateGone:
			t.Seen = nil
			p.put(t, StateGone, "the server offers it no more")
		}
	}
	for _, name := range p.server.AllowedTools {
		if name != definition.AllTools && !there[name] {
			p.report.Tools = append(p.report.Tools, ToolReport{
				Name: name, Change: ChangeMissing, Reason: "the server offers no tool of this name",
			})
		}
	}
}

// refuse plans a tool that cannot be imported.
func (p *plan) refuse(t Tool, reason string) {
	if t.State != StateRefused || t.Reason != reason {
		t.ChangedAt = p.now
	}
	p.note(&t, ChangeRefused, reason)
	p.put(t, StateRefused, reason)
}

// stop plans to quarantine an imported tool.
func (p *plan) stop(t Tool, state State, change ToolChange, reason string) {
	p.note(&t, change, reason)
	p.quarantine(&t, reason)
	p.put(t, state, reason)
}

// quarantine plans the quarantine of the tenant's tool; an empty reason ends it.
func (p *plan) quarantine(t *Tool, reason string) {
	if t.Quarantine != reason {
		p.changes.Stop[t.ToolID] = reason
	}
}

func (p *plan) note(t *Tool, change ToolChange, reason string) {
	p.report.Tools = append(p.report.Tools, ToolReport{Name: t.Name, Slug: t.ToolSlug, Change: change, Reason: reason})
}

func (p *plan) put(t Tool, state State, reason string) {
	if t.State != state {
		t.ChangedAt = p.now
	}
	t.State, t.Reason = state, reason
	p.changes.Put = append(p.changes.Put, t)
}

func spaced(path string) string {
	if path == "" {
		return ""
	}
	return path + ": "
}

// join joins the reasons that are not empty.
func join(reasons ...string) string {
	return strings.Join(slices.DeleteFunc(reasons, func(s string) bool { return s == "" }), "; ")
}
