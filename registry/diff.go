package registry

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// What a [Diff] calls contents that have no version of their own.
const (
	DraftSide      = "draft"
	DefinitionSide = "definition"
)

// Diff lists the differences of two contents of a tool, and the version bump
// that they require, by the rules that publishing applies.
type Diff struct {
	Slug    string
	From    string // Number of a version, or [DraftSide]; empty when there is nothing to compare with.
	To      string // Number of a version, [DraftSide] or [DefinitionSide].
	Number  string // That To has.
	Bump    schema.Bump
	Least   string // The least number that To may have; empty when any will do.
	Refusal string // Why Number will not do; empty when it will.
	Changes []schema.Change
}

// side is one of the contents that a diff compares.
type side struct {
	name    string
	number  string
	content *tool.Definition // Nil when there is none.
}

// Compare returns the differences of two contents of a tool, which are numbers
// of versions, or [DraftSide]. from defaults to the last release, and to
// defaults to the draft. It fails with tool.NotFound, whose Path is "from" or
// "to", for a version that does not exist.
func (r *Registry) Compare(ctx context.Context, p tool.Principal, ref tool.Ref, from, to string) (Diff, error) {
	t, err := r.Get(ctx, p, ref)
	if err != nil {
		return Diff{}, err
	}
	versions, err := r.store.ListVersions(ctx, p.Tenant, t.ID)
	if err != nil {
		return Diff{}, fmt.Errorf("listing the versions of tool %q: %w", t.Slug, err)
	}
	before, err := sideOf(&t, versions, from, "from")
	if err != nil {
		return Diff{}, err
	}
	if to == "" {
		to = DraftSide
	}
	after, err := sideOf(&t, versions, to, "to")
	if err != nil {
		return Diff{}, err
	}
	d, err := compareSides(t.Slug, before, after)
	if err != nil {
		return Diff{}, err
	}
	if to != DraftSide { // What stands is judged by what it is compared with alone.
		versions = slices.DeleteFunc(slices.Clone(versions), func(v tool.Version) bool { return v.Number != before.name })
	}
	return d, d.judge(after, releasesOf(versions))
}

// CompareSpec returns what [Registry.Apply] would change about a tool: its
// content, compared as [Registry.Compare] does, and its policy, which takes
// effect without a version. It fails where Apply would, but not because of the
// version number.
func (r *Registry) CompareSpec(ctx context.Context, p tool.Principal, s ToolSpec, from string) (Diff, error) {
	if err := mayWrite(p, ToolsWrite); err != nil {
		return Diff{}, err
	}
	head, versions, err := r.findOwn(ctx, p.Tenant, s.Slug)
	if err != nil {
		return Diff{}, err
	}
	var after tool.Tool
	var before side
	if head == nil {
		if from != "" {
			return Diff{}, refuse(tool.NotFound, "from", "tool %.80q does not exist yet: there is nothing to compare with",
				s.Slug)
		}
		after, _, err = r.newTool(p.Tenant, s)
	} else {
		if len(versions) == 0 && from == "" {
			from = DraftSide
		}
		if before, err = sideOf(head, versions, from, "from"); err != nil {
			return Diff{}, err
		}
		after, _, err = r.edited(*head, s)
	}
	if err != nil {
		return Diff{}, err
	}
	if _, err := r.pin(ctx, &after); err != nil {
		return Diff{}, err
	}
	if s.Version == "" {
		after.Version = proposeTool(&after, versions)
	}
	to := side{DefinitionSide, after.Version, &after.Definition}
	d, err := compareSides(after.Slug, before, to)
	if err != nil {
		return Diff{}, err
	}
	if head != nil {
		policy, err := fieldChanges(head.Policy, after.Policy, schema.NoBump)
		if err != nil {
			return Diff{}, err
		}
		d.Changes = append(d.Changes, policy...)
	}
	return d, d.judge(to, releasesOf(versions))
}

// sideOf finds a content of a tool by its name; the last release when name is
// empty.
func sideOf(t *tool.Tool, versions []tool.Version, name, path string) (side, error) {
	switch name {
	case DraftSide:
		return side{DraftSide, t.Version, &t.Definition}, nil
	case "":
		highest, stable := last(releasesOf(versions))
		if stable == nil {
			stable = highest
		}
		if stable == nil {
			return side{}, nil
		}
		return side{stable.number.String(), stable.number.String(), &stable.content}, nil
	}
	numbers := make([]string, len(versions))
	for i := range versions {
		if numbers[i] = versions[i].Number; numbers[i] == name {
			return side{name, name, &versions[i].Snapshot.Definition}, nil
		}
	}
	if len(numbers) == 0 {
		return side{}, refuse(tool.NotFound, path, "tool %q has no version %.40q: it has only a draft", t.Slug, name)
	}
	return side{}, refuse(tool.NotFound, path, "tool %q has no version %.40q: it has %s", t.Slug, name, few(numbers))
}

// few lists the first names of many.
func few(names []string) string {
	if len(names) > 10 {
		return strings.Join(names[:10], ", ") + fmt.Sprintf(" and %d more", len(names)-10)
	}
	return strings.Join(names, ", ")
}

// compareSides lists the differences of two contents.
func compareSides(slug string, before, after side) (Diff, error) {
	d := Diff{Slug: slug, From: before.name, To: after.name, Number: after.number}
	if before.content == nil {
		return d, nil
	}
	for _, s := range []struct {
		name      string
		direction schema.Direction
	}{{"input", schema.Input}, {"output", schema.Output}} {
		old, now := before.content.InputSchema, after.content.InputSchema
		if s.direction == schema.Output {
			old, now = before.content.OutputSchema, after.content.OutputSchema
		}
		changes, err := schema.Compare(old, now, s.direction)
		if err != nil {
			return d, within("/"+s.name+"_schema", err)
		}
		for _, c := range changes {
			c.Path = s.name + c.Path
			d.Changes = append(d.Changes, c)
		}
	}
	was, is := *before.content, *after.content
	for _, c := range checkChanges(&was, &is) {
		c.Path = "output" + c.Path
		d.Changes = append(d.Changes, c)
		was.OutputCheck = is.OutputCheck // Listed above.
	}
	was.InputSchema, was.OutputSchema, is.InputSchema, is.OutputSchema = nil, nil, nil, nil
	changes, err := fieldChanges(was, is, schema.Patch)
	d.Changes = append(d.Changes, changes...)
	d.Bump = schema.MaxBump(d.Changes)
	return d, err
}

// judge says which number the content may have beside releases.
func (d *Diff) judge(to side, releases []release) error {
	digest, err := tool.Snapshot{Definition: *to.content}.Digest()
	if err != nil {
		return refuse(tool.Invalid, "", "tool %q holds malformed JSON", d.Slug)
	}
	highest, stable := last(releases)
	var since demand
	var compared error
	demanded := func(r *release) demand {
		since, compared = demandOf(&r.content, to.content)
		return since
	}
	_, refused := judge(to.number, digest, releases, demanded)
	if compared != nil {
		return compared
	}
	if refused != nil {
		d.Refusal = tool.AsError(refused).Msg
	}
	d.Least = least(highest, stable, since.bump)
	for _, r := range releases {
		if r.digest == digest && r.number.String() == to.number {
			d.Least = to.number // It is that version.
		}
	}
	return nil
}

// least returns the least number above highest that meets a demand since
// stable, and nothing when there is no version yet.
func least(highest, stable *release, b schema.Bump) string {
	if highest == nil {
		return ""
	}
	n := highest.number.IncPatch()
	if stable != nil {
		if raised := next(stable.number, b); raised.GreaterThan(highest.number) {
			n = raised
		}
	}
	return (&n).String()
}
