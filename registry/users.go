package registry

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/registry/release"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// Verdict is what becomes of a user of a tool when a version of it is published.
type Verdict string

// Verdicts.
const (
	VerdictStays  Verdict = "stays"  // The version is outside its constraint, or it has it already.
	VerdictMoves  Verdict = "moves"  // It gets the version, whose changes are compatible.
	VerdictBreaks Verdict = "breaks" // It gets the version, whose changes are not.
	VerdictNone   Verdict = "none"   // No version meets its constraint, before and after.
)

// Use is a user of a tool, and what becomes of it.
type Use struct {
	User

	Now     string // The version that it gets; empty for none.
	Next    string // The version that it gets once the candidate is published.
	Verdict Verdict
	Reason  string          // The verdict in words.
	Changes []schema.Change // From Now to Next, which break callers.
	Without string          // What becomes of it without the tool, in words.
}

// UsePlace is a place in the list of uses.
type UsePlace struct {
	Kind  UserKind
	Place string
}

// Usage is a page of the uses of a tool.
type Usage struct {
	Tool      tool.Tool
	Candidate string // The version that the uses are judged by.
	// Runs are some runs that have not ended and pin the tool, whatever the page.
	Runs []string
	Uses []Use
	Next *UsePlace // Of the next page; nil on the last.
}

// maxRunsNamed bounds the runs that are named as users.
const maxRunsNamed = 5

// Users returns who uses a tool that the tenant of p sees, and what becomes of each when a version of it is
// published: the one that the constraint of ref names exactly, else the draft. Names of a global tool that a tool
// of the tenant has too do not mean it.
func (r *Registry) Users(
	ctx context.Context, p tool.Principal, ref tool.Ref, after UsePlace, limit int,
) (Usage, error) {
	t, err := r.Get(ctx, p, tool.Ref{Slug: ref.Slug, ID: ref.ID})
	if err != nil {
		return Usage{}, err
	}
	versions, err := r.store.ListVersions(ctx, p.Tenant, t.ID)
	if err != nil {
		return Usage{}, fmt.Errorf("listing the versions of tool %q: %w", t.Slug, err)
	}
	j, err := newJudge(&t, versions, ref.Constraint)
	if err != nil {
		return Usage{}, err
	}
	out := Usage{Tool: t, Candidate: j.candidate.Name}
	l, ok := r.store.(LifecycleStore)
	if !ok {
		return out, nil
	}
	if out.Runs, err = l.RunsPinning(ctx, p.Tenant, t.ID, maxRunsNamed); err != nil {
		return Usage{}, fmt.Errorf("looking for runs that use tool %q: %w", t.Slug, err)
	}
	users, next, err := r.usersOf(ctx, l, p.Tenant, t, after, limit)
	if err != nil {
		return Usage{}, err
	}
	out.Next = next
	for _, u := range users {
		use, err := j.judge(u)
		if err != nil {
			return Usage{}, err
		}
		out.Uses = append(out.Uses, use)
	}
	return out, nil
}

// usersOf returns a page of those that do use a tool.
func (r *Registry) usersOf(
	ctx context.Context, l LifecycleStore, tenant tool.TenantID, t tool.Tool, after UsePlace, limit int,
) (out []User, next *UsePlace, err error) {
	names, err := r.namesOf(ctx, l, tenant, t)
	if err != nil {
		return nil, nil, err
	}
	kinds := UserKinds()
	if i := slices.Index(kinds, after.Kind); i >= 0 {
		kinds = kinds[i:]
	}
	for _, kind := range kinds {
		q := UserQuery{Kind: kind, ToolID: t.ID, Names: append(names, t.ID), Limit: max(limit, 20)}
		if kind == after.Kind {
			q.After = after.Place
		}
		for {
			found, err := l.ListUsers(ctx, tenant, q)
			if err != nil {
				return nil, nil, fmt.Errorf("looking for users of tool %q: %w", t.Slug, err)
			}
			for _, u := range found {
				uses := r.using(u, t.ID, names)
				if len(uses) > 0 && len(out)+len(uses) > limit && len(out) > 0 {
					return out, next, nil
				}
				out = append(out, uses...)
				next = &UsePlace{Kind: kind, Place: u.Place}
			}
			if len(found) < q.Limit {
				break
			}
			q.After = found[len(found)-1].Place
		}
	}
	return out, nil, nil
}

// namesOf returns the names that mean a tool in definitions of a tenant.
func (r *Registry) namesOf(
	ctx context.Context, l LifecycleStore, tenant tool.TenantID, t tool.Tool,
) ([]string, error) {
	names, err := l.NamesOf(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("reading the names of tool %q: %w", t.Slug, err)
	}
	names = append(names, t.Slug)
	if !t.Global() || tenant == "" {
		return names, nil
	}
	var out []string
	for _, name := range names {
		found, err := r.store.FindTool(ctx, tenant, tool.Ref{Slug: name})
		if err != nil && tool.KindOf(err) != tool.NotFound {
			return nil, fmt.Errorf("finding tool %q: %w", name, err)
		}
		if err != nil || found.ID == t.ID {
			out = append(out, name)
		}
	}
	return out, nil
}

// using returns the uses of a tool in a definition: a composition may use it at several steps.
func (r *Registry) using(u User, toolID string, names []string) []User {
	means := func(ref tool.Ref) bool { return ref.ID == toolID || ref.Slug != "" && slices.Contains(names, ref.Slug) }
	var out []User
	switch u.Kind {
	case UserAgent, UserSchedule:
		for _, ref := range u.Tools {
			if means(ref) {
				u.Constraint = ref.Constraint
				return []User{u}
			}
		}
	case UserTool:
		if u.Definition == nil {
			return nil
		}
		content := *u.Definition
		parts, err := r.partsOf(&content)
		if err != nil {
			return nil // It cannot run.
		}
		for _, step := range parts.Steps {
			if means(step.Tool) {
				u.Through, u.Constraint = step.ID, step.Tool.Constraint
				out = append(out, u)
			}
		}
	case UserToolset, UserAssignment, UserProfile:
		out = append(out, u)
	default:
	}
	return out
}

// judge judges what becomes of users.
type judge struct {
	tool      *tool.Tool
	contents  map[string]*tool.Definition // By number.
	now, then []resolver.VersionInfo      // The versions without the candidate, and with it.
	candidate release.Side
}

func newJudge(t *tool.Tool, versions []tool.Version, number string) (*judge, error) {
	j := &judge{tool: t, contents: make(map[string]*tool.Definition), candidate: release.Draft(t)}
	if number != "" {
		side, err := release.SideOf(t, versions, number, "version")
		if err != nil {
			return nil, err
		}
		j.candidate = side
	}
	for i := range versions {
		v := &versions[i]
		j.contents[v.Number] = &v.Snapshot.Definition
		j.now = append(j.now, resolver.VersionInfo{Number: v.Number, Published: v.Published, Withheld: v.Withheld})
	}
	j.contents[j.candidate.Number] = j.candidate.Content
	j.then = slices.DeleteFunc(slices.Clone(j.now), func(v resolver.VersionInfo) bool {
		return v.Number == j.candidate.Number
	})
	j.then = append(j.then, resolver.VersionInfo{Number: j.candidate.Number, Published: true})
	return j, nil
}

// judge returns the use of a user.
func (j *judge) judge(u User) (Use, error) {
	use := Use{User: u, Without: without(u)}
	if u.Kind == UserProfile || u.Kind == UserAssignment {
		u.Constraint = ""
	}
	now, had, err := resolver.Highest(j.now, u.Constraint)
	if err != nil { // It resolves to nothing, whatever is published.
		use.Verdict, use.Reason = VerdictNone, tool.AsError(err).Msg
		return use, nil
	}
	next, has, err := resolver.Highest(j.then, u.Constraint)
	if err != nil {
		return use, err
	}
	use.Now, use.Next = now.Number, next.Number
	asks := "asks for any version"
	if u.Constraint != "" {
		asks = "asks for " + u.Constraint
	}
	switch {
	case !has:
		use.Verdict, use.Reason = VerdictNone, asks+": no published version meets that"
	case had && now.Number == next.Number:
		use.Verdict, use.Reason = VerdictStays, fmt.Sprintf("%s: stays at %s", asks, now.Number)
	case !had:
		use.Verdict, use.Reason = VerdictMoves, fmt.Sprintf("%s: has no version now, and gets %s", asks, next.Number)
	default:
		return j.compared(use, asks)
	}
	return use, nil
}

// compared judges the change of version that a user makes.
func (j *judge) compared(use Use, asks string) (Use, error) {
	diff, err := release.Compare(j.tool.Slug,
		release.Side{Name: use.Now, Number: use.Now, Content: j.contents[use.Now]},
		release.Side{Name: use.Next, Number: use.Next, Content: j.contents[use.Next]})
	if err != nil {
		return use, err
	}
	var texts []string
	for _, c := range diff.Changes {
		if c.Bump == schema.Major {
			use.Changes = append(use.Changes, c)
			texts = append(texts, c.String())
		}
	}
	use.Verdict = VerdictMoves
	use.Reason = fmt.Sprintf("%s: gets %s instead of %s %s", asks, use.Next, use.Now, when(use.Kind))
	if len(texts) > 0 {
		use.Verdict = VerdictBreaks
		if len(texts) > 3 {
			texts = append(texts[:3:3], fmt.Sprintf("and %d more", len(texts)-3))
		}
		use.Reason += ", which breaks callers: " + strings.Join(texts, "; ")
	}
	return use, nil
}

// when says from when on a user gets another version.
func when(kind UserKind) string {
	switch kind {
	case UserToolset:
		return "at the next call"
	case UserAgent, UserTool, UserSchedule, UserAssignment, UserProfile:
		return "on its next run"
	default:
		return "on its next run"
	}
}

// without says what becomes of a user when the tool is disabled, archived or deleted.
func without(u User) string {
	switch u.Kind {
	case UserAgent, UserSchedule:
		if u.Refuses {
			return "its runs are refused (on_unavailable_tool is refuse)"
		}
		return "its runs go on without the tool, with a warning"
	case UserTool:
		return "its calls fail at " + u.Through
	case UserToolset:
		return "the tool is left out of its list"
	case UserAssignment:
		return "the agent's runs go on without the tool, with a warning"
	case UserProfile:
		return "the profile applies to nothing"
	default:
		return ""
	}
}

// unused fails with tool.Conflict, naming them, where published agents, compositions or graphs, toolsets or
// runs that have not ended use a tool of the tenant.
func (r *Registry) unused(ctx context.Context, tenant tool.TenantID, t tool.Tool, what string) error {
	l, ok := r.store.(LifecycleStore)
	if !ok || t.Global() {
		return nil
	}
	const most = 5
	var by []string
	after := UsePlace{}
	for more := true; more && len(by) <= most; {
		users, next, err := r.usersOf(ctx, l, tenant, t, after, 50)
		if err != nil {
			return err
		}
		for _, u := range users {
			if text, uses := blocks(u); uses && !slices.Contains(by, text) {
				by = append(by, text)
			}
		}
		if more = next != nil; more {
			after = *next
		}
	}
	running, err := l.RunsPinning(ctx, tenant, t.ID, maxRunsNamed)
	if err != nil {
		return fmt.Errorf("looking for runs that use tool %q: %w", t.Slug, err)
	}
	for _, id := range running {
		by = append(by, "run "+id+", which has not ended")
	}
	if len(by) == 0 {
		return nil
	}
	if len(by) > most {
		by = append(by[:most], "and others")
	}
	return refusal.New(tool.Conflict, "", "tool %q is used and cannot be %s: by %s; GET /v1/tools/%s/users lists all of "+
		"them. Disable the tool to stop its calls", t.Slug, what, strings.Join(by, ", "), t.Slug)
}

// blocks reports whether a user keeps a tool from being archived or deleted, and names it.
func blocks(u User) (string, bool) {
	switch u.Kind {
	case UserAgent:
		on := u.Published && (u.Status == string(tool.Published) || u.Status == string(tool.Deprecated))
		return "agent " + u.Name, on
	case UserTool:
		on := u.Published && (u.Status == string(tool.Published) || u.Status == string(tool.Deprecated))
		return "tool " + u.Name, on
	case UserToolset:
		return "toolset " + u.Name, u.Status == "active"
	case UserSchedule, UserAssignment, UserProfile:
		return "", false // Of an agent that is named, or settings that mean nothing without the tool.
	default:
		return "", false
	}
}
