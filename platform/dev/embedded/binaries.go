package embedded

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/toolcrib/toolcrib/platform/dev/programs"
)

// findPrograms returns the installed PostgreSQL that is preferred, and
// downloads one if there is none and that is allowed.
func (p *Postgres) findPrograms(ctx context.Context) ([]programs.Installation, error) {
	found, err := p.cfg.Programs.Find(ctx)
	missing, none := errors.AsType[*programs.MissingError](err)
	if !none || p.cfg.Download == nil {
		return found, err
	}
	got, err := p.cfg.Download.Install(ctx)
	if err != nil {
		missing.Download = err
		return nil, missing
	}
	return []programs.Installation{got}, nil
}

// fitting returns the installation that can run a cluster of the major version:
// the first, with major 0.
func fitting(found []programs.Installation, major int) (programs.Installation, error) {
	if major == 0 {
		return found[0], nil
	}
	i := slices.IndexFunc(found, func(i programs.Installation) bool { return i.Major == major })
	if i < 0 {
		return programs.Installation{}, &VersionMismatchError{
			Service: "PostgreSQL", Have: strconv.Itoa(major), Want: "PostgreSQL " + strconv.Itoa(found[0].Major),
		}
	}
	return found[i], nil
}
