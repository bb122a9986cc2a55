package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// checkGate fails with tool.Conflict where the tenant requires a replay of recorded calls before a version is
// published, and this content has none that passed. The first version of a tool has no recorded calls, and versions
// that come with a host's code are published with it.
func (r *Registry) checkGate(ctx context.Context, t *tool.Tool, v *tool.Version) error {
	l, ok := r.store.(LifecycleStore)
	if !ok || t.Global() || v.Published || t.PublishedAt == nil || v.CreatedBy == codeSubject || r.dry {
		return nil
	}
	gate, err := l.FindGate(ctx, t.Tenant, t.ID)
	if tool.KindOf(err) == tool.NotFound {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the gate of tool %q: %w", t.Slug, err)
	}
	last, err := l.LastReplay(ctx, t.Tenant, t.ID, v.Digest)
	if err != nil && tool.KindOf(err) != tool.NotFound {
		return fmt.Errorf("reading the replays of tool %q: %w", t.Slug, err)
	}
	return gate.judge(v, last, err == nil)
}

// judge returns why a gate refuses a version, or nil where it does not. A replay that compared nothing passes only
// where the tool had no recorded calls at all.
func (g Gate) judge(v *tool.Version, last Replay, replayed bool) error {
	how := fmt.Sprintf("replay it with at least %d recorded calls (toolcrib tool publish %s --replay %d, or "+
		"POST /v1/tools/%s/replays)", g.Replay, v.Slug, g.Replay, v.Slug)
	switch {
	case !replayed:
		return refusal.New(tool.Conflict, "", "%s may not be published: no recorded calls were replayed with exactly this "+
			"content, %.13s; %s", v, v.Digest, how)
	case !last.Ended:
		return refusal.New(tool.Conflict, "", "%s may not be published: its replay %s has not ended; ask for it again at "+
			"GET /v1/tools/%s/replays/%s", v, last.ID, v.Slug, last.ID)
	case last.Asked < g.Replay:
		return refusal.New(tool.Conflict, "", "%s may not be published: its replay %s had the last %d calls; %s", v, last.ID,
			last.Asked, how)
	case last.Different > g.MaxDifferent:
		return refusal.New(tool.Conflict, "", "%s may not be published: of the calls of replay %s, %d differ and %d may; "+
			"GET /v1/tools/%s/replays/%s shows how", v, last.ID, last.Different, g.MaxDifferent, v.Slug, last.ID)
	case last.Same+last.Different == 0 && last.Skipped > 0:
		return refusal.New(tool.Conflict, "", "%s may not be published: its replay %s compared none of %d recorded calls: "+
			"%s; serve calls that can be replayed, or remove the gate", v, last.ID, last.Skipped, last.whySkipped())
	default:
		return nil
	}
}

// whySkipped says how many calls of a replay were skipped, and why.
func (r *Replay) whySkipped() string {
	var calls []ReplayedCall
	if err := json.Unmarshal(r.Calls, &calls); err != nil {
		return fmt.Sprintf("%d were skipped", r.Skipped)
	}
	var reasons []string
	for _, c := range calls {
		if c.Outcome == ReplaySkipped && c.Reason != "" && !slices.Contains(reasons, c.Reason) {
			reasons = append(reasons, c.Reason)
		}
	}
	return fmt.Sprintf("%d were skipped (%s)", r.Skipped, strings.Join(reasons, "; "))
}
