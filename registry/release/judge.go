package release

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// First is the version number of content that was given none and has no
// earlier version.
const First = "1.0.0"

// History lists the existing versions of a tool or an agent. Versions whose
// number is no semantic version are left out.
type History []entry

// entry is an existing version.
type entry struct {
	number  *semver.Version
	digest  string
	content *tool.Definition // Nil for agents.
}

// OfTool returns the history of a tool.
func OfTool(versions []tool.Version) History {
	var out History
	for i := range versions {
		v := &versions[i]
		if n, err := semver.StrictNewVersion(v.Number); err == nil {
			out = append(out, entry{n, v.Digest, &v.Snapshot.Definition})
		}
	}
	return out
}

// OfAgent returns the history of an agent.
func OfAgent(versions []agent.Version) History {
	var out History
	for _, v := range versions {
		if n, err := semver.StrictNewVersion(v.Number); err == nil {
			out = append(out, entry{number: n, digest: v.Digest})
		}
	}
	return out
}

// last returns the highest version, and the highest that is no prerelease.
func (h History) last() (highest, stable *entry) {
	for i := range h {
		e := &h[i]
		if highest == nil || e.number.GreaterThan(highest.number) {
			highest = e
		}
		if e.number.Prerelease() == "" && (stable == nil || e.number.GreaterThan(stable.number)) {
			stable = e
		}
	}
	return highest, stable
}

// Judge checks that content with the given digest may become version number,
// and reports whether the history has that version already. The number must be
// greater than every other, and raised by what the change of content since the
// last stable version demands; a nil content, as that of an agent, demands
// nothing.
//
// It fails with tool.Invalid for a malformed number or schema, and with
// tool.Conflict for a number that is too low, or that the history has with
// another digest.
func (h History) Judge(number, digest string, content *tool.Definition) (exists bool, err error) {
	if err := CheckNumber(number); err != nil {
		return false, err
	}
	d, err := h.demand(content)
	if err != nil {
		return false, err
	}
	return h.judge(number, digest, d)
}

// demand returns what the change from the last stable version to content demands.
func (h History) demand(content *tool.Definition) (demand, error) {
	_, stable := h.last()
	if stable == nil || stable.content == nil || content == nil {
		return demand{}, nil
	}
	return demandOf(stable.content, content)
}

// judge is [History.Judge] for a change whose demand is known.
func (h History) judge(number, digest string, d demand) (exists bool, err error) {
	n, err := parse(number)
	if err != nil {
		return false, err
	}
	highest, stable := h.last()
	for _, e := range h {
		if !e.number.Equal(n) {
			continue
		}
		if e.digest == digest {
			return true, nil
		}
		return false, refusal.New(tool.Conflict, "/version", "version %s exists with other content: the change needs a new "+
			"number, at least %s%s",
			number, nextAfter(highest, d.bump), d.because())
	}
	if highest == nil {
		return false, nil
	}
	if !n.GreaterThan(highest.number) {
		return false, refusal.New(tool.Conflict, "/version", "version %s: expected more than the last, %s: at least %s%s",
			number, highest.number, nextAfter(highest, d.bump), d.because())
	}
	if stable != nil && raise(stable.number, n) < require(stable.number, d.bump) {
		return false, refusal.New(tool.Conflict, "/version", "version %s: the change since %s is %s and needs at least %s%s",
			number, stable.number, d.bump, next(stable.number, d.bump), d.because())
	}
	return false, nil
}

// Propose returns the number for content that was given none: the given number
// while no version has it, or the one that has it is the content; else the
// least number that the change of content demands.
func (h History) Propose(number, digest string, content *tool.Definition) string {
	i := slices.IndexFunc(h, func(e entry) bool { return e.number.String() == number })
	if i < 0 || h[i].digest == digest {
		return number
	}
	highest, _ := h.last()
	d, _ := h.demand(content) // Judge reports a malformed schema.
	return nextAfter(highest, d.bump)
}

// CheckNumber fails with tool.Invalid unless a number may be given to a new
// version: a semantic version without build metadata, of at most 64 bytes.
func CheckNumber(number string) error {
	_, err := parse(number)
	return err
}

func parse(number string) (*semver.Version, error) {
	n, err := semver.StrictNewVersion(number)
	if err != nil || n.Metadata() != "" || len(number) > 64 {
		return nil, refusal.New(tool.Invalid, "/version", "version %.40q: expected a semantic version such as 1.2.0", number)
	}
	return n, nil
}

// demand is the bump that a change needs, and what needs it.
type demand struct {
	bump    schema.Bump
	changes []schema.Change
}

// demandOf compares the schemas of two definitions.
func demandOf(before, after *tool.Definition) (demand, error) {
	input, err := schema.Compare(before.InputSchema, after.InputSchema, schema.Input)
	if err != nil {
		return demand{}, refusal.Within("/input_schema", err)
	}
	output, err := schema.Compare(before.OutputSchema, after.OutputSchema, schema.Output)
	if err != nil {
		return demand{}, refusal.Within("/output_schema", err)
	}
	output = append(output, checkChanges(before, after)...)
	d := demand{bump: max(schema.MaxBump(input), schema.MaxBump(output), schema.Patch)}
	d.name("input", input)
	d.name("output", output)
	return d, nil
}

// checkChanges weighs a changed output check as a changed output schema: warn
// drops the promise that answers fit the schema, which is major, and refuse
// makes it, which is minor. Without an output schema after the change, nothing
// is promised either way.
func checkChanges(before, after *tool.Definition) []schema.Change {
	was, is := before.WarnsOutput(), after.WarnsOutput()
	switch {
	case was == is || len(after.OutputSchema) == 0:
		return nil
	case is:
		return []schema.Change{
			{Path: checkPath, Bump: schema.Major, Reason: "answers outside the output schema are passed on now"},
		}
	default:
		return []schema.Change{
			{Path: checkPath, Bump: schema.Minor, Reason: "answers outside the output schema are refused now"},
		}
	}
}

// checkPath is where a change of the output check is, behind "output".
const checkPath = "_check"

// name keeps the changes that demand most.
func (d *demand) name(side string, changes []schema.Change) {
	for _, c := range changes {
		if c.Bump == d.bump {
			c.Path = side + c.Path
			d.changes = append(d.changes, c)
		}
	}
}

// because lists the first changes that demand most.
func (d demand) because() string {
	if d.bump < schema.Minor || len(d.changes) == 0 {
		return ""
	}
	var texts []string
	for i, c := range d.changes {
		if i == 3 {
			texts = append(texts, fmt.Sprintf("and %d more", len(d.changes)-i))
			break
		}
		texts = append(texts, c.String())
	}
	return " (" + strings.Join(texts, "; ") + ")"
}

// raise returns which part of the number grew.
func raise(before, after *semver.Version) schema.Bump {
	switch {
	case after.Major() > before.Major():
		return schema.Major
	case after.Minor() > before.Minor():
		return schema.Minor
	default:
		return schema.Patch
	}
}

// require lowers a demand below 1.0.0, where a minor version may break.
func require(before *semver.Version, b schema.Bump) schema.Bump {
	if before.Major() == 0 && b == schema.Major {
		return schema.Minor
	}
	return b
}

// next returns the least number that meets a demand.
func next(before *semver.Version, b schema.Bump) semver.Version {
	switch require(before, b) {
	case schema.Major:
		return before.IncMajor()
	case schema.Minor:
		return before.IncMinor()
	case schema.NoBump, schema.Patch:
		return before.IncPatch()
	default:
		return before.IncPatch()
	}
}

func nextAfter(highest *entry, b schema.Bump) string {
	if highest == nil {
		return First
	}
	n := next(highest.number, b)
	return n.String()
}

// Propose returns the number for a head of a tool that was given none; see
// [History.Propose]. current is the number that the head has.
func Propose(current string, content *tool.Definition, versions []tool.Version) string {
	digest, err := tool.Snapshot{Definition: *content}.Digest()
	if err != nil {
		return current
	}
	return OfTool(versions).Propose(current, digest, content)
}
