// Package standing checks standing grants, and says which requests they name. It is pure.
package standing

import (
	"fmt"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// Check refuses a grant with a bad version constraint, number of uses or length of time, with
// tool.Invalid. It does not compile the condition.
func Check(g *wait.Grant, lasts time.Duration) error {
	invalid := func(path, format string, args ...any) error {
		return &tool.Error{Kind: tool.Invalid, Op: "standing.Check", Path: path, Msg: fmt.Sprintf(format, args...)}
	}
	if g.Version != "" {
		if _, err := semver.NewConstraint(g.Version); err != nil {
			return invalid("/version", "%q is no version constraint: give one such as ^1.2 or 1.4.0", g.Version)
		}
	}
	switch {
	case g.Tool == "":
		return invalid("/tool", "a grant names a tool")
	case g.Uses < 1 || g.Uses > wait.MaxGrantUses:
		return invalid("/uses", "%d uses: expected 1 to %d", g.Uses, wait.MaxGrantUses)
	case lasts < wait.MinGrantTime || lasts > wait.MaxGrantTime:
		return invalid("/expires_s", "%d seconds: expected %d to %d", int64(lasts.Seconds()),
			int64(wait.MinGrantTime.Seconds()), int64(wait.MaxGrantTime.Seconds()))
	}
	return nil
}

// Names reports whether a grant is for calls such as that of a request, its condition aside.
func Names(g *wait.Grant, a *wait.Approval) bool {
	if g.Tool != a.Tool || g.Agent != "" && g.Agent != a.Agent || g.Requester != "" && g.Requester != a.Requester {
		return false
	}
	if g.Version == "" {
		return true
	}
	constraint, err := semver.NewConstraint(g.Version)
	if err != nil {
		return false
	}
	version, err := semver.NewVersion(a.Version)
	return err == nil && constraint.Check(version)
}
