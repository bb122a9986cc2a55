package artifact

import (
	"fmt"
	"slices"

	"github.com/Masterminds/semver/v3"

	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/registry/release"
	"github.com/toolcrib/toolcrib/tool"
)

// number sets the number of v, given the existing versions, newest first. If v
// exists already, it sets v to the existing version and reports true.
func (v *Version) number(versions []Version) (exists bool, err error) {
	var highest *semver.Version
	for _, have := range versions {
		n, err := semver.StrictNewVersion(have.Number)
		if err != nil {
			return false, fmt.Errorf("reading version %q: %w", have.Number, err)
		}
		if highest == nil || n.GreaterThan(highest) {
			highest = n
		}
	}
	if v.Number == "" {
		if len(versions) > 0 && v.same(&versions[0]) {
			*v = versions[0]
			return true, nil
		}
		v.Number = release.First
		if highest != nil {
			next := highest.IncPatch()
			v.Number = next.String()
		}
	}
	if err := release.CheckNumber(v.Number); err != nil {
		return false, err
	}
	if i := slices.IndexFunc(versions, func(have Version) bool { return have.Number == v.Number }); i >= 0 {
		if !v.same(&versions[i]) {
			next := highest.IncPatch()
			return false, refusal.New(
				tool.Conflict, "/version", "version %s exists with other content: the change needs a new number, at least %s",
				v.Number, next.String(),
			)
		}
		*v = versions[i]
		return true, nil
	}
	switch {
	case highest != nil && !semver.MustParse(v.Number).GreaterThan(highest):
		next := highest.IncPatch()
		return false, refusal.New(tool.Conflict, "/version", "version %s: expected more than the last, %s: at least %s",
			v.Number,
			highest, next.String())
	case len(versions) >= maxVersions:
		return false, refusal.New(
			tool.Conflict, "", "the artifact has %d versions, as many as one may have: make another artifact", len(versions),
		)
	}
	return false, nil
}

func (v *Version) same(other *Version) bool {
	return v.Digest == other.Digest && slices.Equal(v.Inputs, other.Inputs)
}
