package release

import (
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// Names of contents without a version, in a [Diff].
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
	Number  string // Version number of To.
	Bump    schema.Bump
	Least   string // The least number that To may have; empty for any.
	Refusal string // Why To cannot have Number; empty when it can.
	Changes []schema.Change
}

// Side is one of the two contents that a [Diff] compares.
type Side struct {
	Name    string // Number of a version, [DraftSide] or [DefinitionSide].
	Number  string
	Content *tool.Definition // Nil when there is none.
}

// Draft returns the draft of a tool.
func Draft(t *tool.Tool) Side { return Side{DraftSide, t.Version, &t.Definition} }

// SideOf returns the content of a tool with the given name: the last release
// when name is empty, and a zero Side when there is none. It fails with
// tool.NotFound, with the given Path, for a version that does not exist.
func SideOf(t *tool.Tool, versions []tool.Version, name, path string) (Side, error) {
	switch name {
	case DraftSide:
		return Draft(t), nil
	case "":
		highest, stable := OfTool(versions).last()
		if stable == nil {
			stable = highest
		}
		if stable == nil {
			return Side{}, nil
		}
		return Side{stable.number.String(), stable.number.String(), stable.content}, nil
	}
	numbers := make([]string, len(versions))
	for i := range versions {
		if numbers[i] = versions[i].Number; numbers[i] == name {
			return Side{name, name, &versions[i].Snapshot.Definition}, nil
		}
	}
	if len(numbers) == 0 {
		return Side{}, refusal.New(tool.NotFound, path, "tool %q has no version %.40q: it has only a draft", t.Slug, name)
	}
	return Side{}, refusal.New(tool.NotFound, path, "tool %q has no version %.40q: it has %s", t.Slug, name,
		refusal.List(numbers))
}

// Compare lists the differences of two contents of a tool; none when before
// has no content.
func Compare(slug string, before, after Side) (Diff, error) {
	d := Diff{Slug: slug, From: before.Name, To: after.Name, Number: after.Number}
	if before.Content == nil {
		return d, nil
	}
	for _, s := range []struct {
		name      string
		direction schema.Direction
	}{{"input", schema.Input}, {"output", schema.Output}} {
		old, now := before.Content.InputSchema, after.Content.InputSchema
		if s.direction == schema.Output {
			old, now = before.Content.OutputSchema, after.Content.OutputSchema
		}
		changes, err := schema.Compare(old, now, s.direction)
		if err != nil {
			return d, refusal.Within("/"+s.name+"_schema", err)
		}
		for _, c := range changes {
			c.Path = s.name + c.Path
			d.Changes = append(d.Changes, c)
		}
	}
	was, is := *before.Content, *after.Content
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

// AddPolicy adds the differences of two policies, which take effect without a
// version.
func (d *Diff) AddPolicy(before, after tool.Policy) error {
	changes, err := fieldChanges(before, after, schema.NoBump)
	d.Changes = append(d.Changes, changes...)
	return err
}

// Judge fills in Least and Refusal: which numbers the content of to may have
// beside those of the history.
func (d *Diff) Judge(to Side, h History) error {
	digest, err := tool.Snapshot{Definition: *to.Content}.Digest()
	if err != nil {
		return refusal.New(tool.Invalid, "", "tool %q holds malformed JSON", d.Slug)
	}
	since, err := h.demand(to.Content)
	if err != nil {
		return err
	}
	if _, err := h.judge(to.Number, digest, since); err != nil {
		d.Refusal = tool.AsError(err).Msg
	}
	highest, stable := h.last()
	d.Least = least(highest, stable, since.bump)
	for _, e := range h {
		if e.digest == digest && e.number.String() == to.Number {
			d.Least = to.Number // The content is that version.
		}
	}
	return nil
}

// least returns the least number above highest that meets a demand since
// stable, and nothing when there is no version yet.
func least(highest, stable *entry, b schema.Bump) string {
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
