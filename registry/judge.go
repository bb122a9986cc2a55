package registry

import (
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// release is what the judge needs of an existing version.
type release struct {
	number  *semver.Version
	digest  string
	content tool.Definition // Empty for agents.
}

// last returns the highest release, and the highest that is no prerelease.
func last(releases []release) (highest, stable *release) {
	for i := range releases {
		r := &releases[i]
		if highest == nil || r.number.GreaterThan(highest.number) {
			highest = r
		}
		if r.number.Prerelease() == "" && (stable == nil || r.number.GreaterThan(stable.number)) {
			stable = r
		}
	}
	return highest, stable
}

// releasesOf reads the versions of a tool; numbers of old that are no semantic
// versions do not count.
func releasesOf(versions []tool.Version) []release {
	var out []release
	for _, v := range versions {
		if n, err := semver.StrictNewVersion(v.Number); err == nil {
			out = append(out, release{n, v.Digest, v.Snapshot.Definition})
		}
	}
	return out
}

// judge says whether content with the given digest may become version number:
// it must be greater than every other, and raised by what demanded asks for
// since the last release. A version of that number with the same digest
// exists already; with another, it is a conflict.
func judge(number, digest string, releases []release, demanded func(since *release) demand) (exists bool, err error) {
	n, err := parseVersion(number)
	if err != nil {
		return false, err
	}
	highest, stable := last(releases)
	var d demand
	if stable != nil {
		d = demanded(stable)
	}
	for _, r := range releases {
		if !r.number.Equal(n) {
			continue
		}
		if r.digest == digest {
			return true, nil
		}
		return false, refuse(tool.Conflict, "/version", "version %s exists with other content: the change needs a new "+
			"number, at least %s%s",
			number, nextAfter(highest, d.bump), d.because())
	}
	if highest == nil {
		return false, nil
	}
	if !n.GreaterThan(highest.number) {
		return false, refuse(tool.Conflict, "/version", "version %s: expected more than the last, %s: at least %s%s",
			number, highest.number, nextAfter(highest, d.bump), d.because())
	}
	if stable != nil && raised(stable.number, n) < needed(stable.number, d.bump) {
		return false, refuse(tool.Conflict, "/version", "version %s: the change since %s is %s and needs at least %s%s",
			number, stable.number, d.bump, next(stable.number, d.bump), d.because())
	}
	return false, nil
}

// parseVersion reads a version number as it may be given to new versions.
func parseVersion(number string) (*semver.Version, error) {
	n, err := semver.StrictNewVersion(number)
	if err != nil || n.Metadata() != "" || len(number) > 64 {
		return nil, refuse(tool.Invalid, "/version", "version %.40q: expected a semantic version such as 1.2.0", number)
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
		return demand{}, within("/input_schema", err)
	}
	output, err := schema.Compare(before.OutputSchema, after.OutputSchema, schema.Output)
	if err != nil {
		return demand{}, within("/output_schema", err)
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

// because names the first few changes that demand most.
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

// raised returns which part of the number grew.
func raised(before, after *semver.Version) schema.Bump {
	switch {
	case after.Major() > before.Major():
		return schema.Major
	case after.Minor() > before.Minor():
		return schema.Minor
	default:
		return schema.Patch
	}
}

// needed lowers a demand below 1.0.0, where a minor version may break.
func needed(before *semver.Version, b schema.Bump) schema.Bump {
	if before.Major() == 0 && b == schema.Major {
		return schema.Minor
	}
	return b
}

// next returns the least number that meets a demand.
func next(before *semver.Version, b schema.Bump) semver.Version {
	switch needed(before, b) {
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

func nextAfter(highest *release, b schema.Bump) string {
	if highest == nil {
		return FirstVersion
	}
	n := next(highest.number, b)
	return n.String()
}
