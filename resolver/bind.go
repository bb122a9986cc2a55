package resolver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib/tool"
)

// maxBinding is how many references are resolved in parallel.
const maxBinding = 8

// Unavailable is a reference that cannot be used.
type Unavailable struct {
	Ref tool.Ref
	Err *tool.Error // Never retryable.
}

// Bind resolves the tools of an existing agent, sorted by slug, for a run that
// is about to begin: deprecated tools are still bound, with a warning, and
// tools that the principal may not use are left out, as if the agent did not
// have them. References that cannot be used are returned beside the others, in
// the order of refs. It fails for references that may resolve on a retry, and
// with tool.Conflict, naming both, for two tools that the model would see under
// the same name.
func (r *Resolver) Bind(
	ctx context.Context, p tool.Principal, refs []tool.Ref, mode tool.Mode,
) ([]*Resolved, []Unavailable, error) {
	resolved, failures, unavailable := r.usable(ctx, p, refs, mode)
	bound, err := joined(refs, resolved, failures)
	return bound, unavailable, err
}

// BindEach is [Resolver.Bind] without regard to names: two tools may have the same one. The tools are in
// the order of refs.
func (r *Resolver) BindEach(
	ctx context.Context, p tool.Principal, refs []tool.Ref, mode tool.Mode,
) ([]*Resolved, []Unavailable, error) {
	resolved, failures, unavailable := r.usable(ctx, p, refs, mode)
	if err := errors.Join(failures...); err != nil {
		return nil, nil, err
	}
	return slices.DeleteFunc(resolved, func(r *Resolved) bool { return r == nil }), unavailable, nil
}

// usable resolves references for a run that is about to begin. Failures are those that may resolve on a
// retry; unavailable are the others.
func (r *Resolver) usable(
	ctx context.Context, p tool.Principal, refs []tool.Ref, mode tool.Mode,
) (resolved []*Resolved, failures []error, unavailable []Unavailable) {
	resolved, failures = r.resolveAll(ctx, Request{Principal: p, Mode: mode, AllowDeprecated: true}, refs)
	for i, err := range failures {
		if err == nil || tool.KindOf(err).Retryable() || ctx.Err() != nil {
			continue
		}
		unavailable = append(unavailable, Unavailable{Ref: refs[i], Err: tool.AsError(err)})
		failures[i] = nil
	}
	return resolved, failures, unavailable
}

// BindNew resolves the tools of an agent that is about to be published: deprecated tools and
// tools that the principal may not use are refused. It tries every reference, and the error
// lists all that failed, with their reasons.
func (r *Resolver) BindNew(
	ctx context.Context, p tool.Principal, refs []tool.Ref, mode tool.Mode,
) ([]*Resolved, error) {
	resolved, failures := r.resolveAll(ctx, Request{Principal: p, Mode: mode, New: true}, refs)
	return joined(refs, resolved, failures)
}

// resolveAll resolves every reference. A tool that the principal may not use is left out without
// an error, unless the agent is new.
func (r *Resolver) resolveAll(
	ctx context.Context, req Request, refs []tool.Ref,
) (resolved []*Resolved, failures []error) {
	resolved = make([]*Resolved, len(refs))
	failures = make([]error, len(refs))
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxBinding)
	for i, ref := range refs {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			req := req
			req.Ref = ref
			resolved[i], failures[i] = r.Resolve(ctx, req)
			if !req.New && errors.Is(failures[i], errNotPermitted) {
				failures[i] = nil
			}
		})
	}
	wg.Wait()
	return resolved, failures
}

// Join returns tools that were bound apart as the tools of one agent, sorted by name. It fails with
// tool.Conflict, naming them, for two tools that the model would see under the same name.
func Join(parts ...[]*Resolved) ([]*Resolved, error) {
	all := slices.Concat(parts...)
	refs := make([]tool.Ref, len(all))
	for i, r := range all {
		refs[i] = tool.Ref{Slug: r.Tool.Slug}
	}
	return joined(refs, all, make([]error, len(all)))
}

// joined returns the resolved tools, sorted by name, or one error for all
// references that failed.
func joined(refs []tool.Ref, resolved []*Resolved, failures []error) ([]*Resolved, error) {
	if err := bindError(refs, resolved, failures); err != nil {
		return nil, err
	}
	resolved = slices.DeleteFunc(resolved, func(r *Resolved) bool { return r == nil })
	slices.SortFunc(resolved, func(a, b *Resolved) int { return strings.Compare(a.Name(), b.Name()) })
	return resolved, nil
}

// bindError joins failures and name collisions into one error, or nil.
func bindError(refs []tool.Ref, resolved []*Resolved, failures []error) error {
	var causes []error
	var texts []string
	named := make(map[string]tool.Ref)
	for i, ref := range refs {
		if err := failures[i]; err != nil {
			e := tool.AsError(err)
			causes = append(causes, err)
			texts = append(texts, fmt.Sprintf("%s (%s: %s)", ref, e.Kind, e.Msg))
			continue
		}
		if resolved[i] == nil {
			continue // Left out.
		}
		name := resolved[i].Name()
		if first, taken := named[name]; taken {
			msg := fmt.Sprintf("%s and %s both give the model a tool named %q", first, ref, name)
			causes = append(causes, &tool.Error{Kind: tool.Conflict, Op: "resolver.Bind", Msg: msg})
			texts = append(texts, msg)
			continue
		}
		named[name] = ref
	}
	if len(causes) == 0 {
		return nil
	}
	return &tool.Error{
		Kind: jointKind(causes), Op: "resolver.Bind", Err: errors.Join(causes...),
		Msg: fmt.Sprintf("%d of %d tools cannot be bound: %s", len(causes), len(refs), strings.Join(texts, "; ")),
	}
}

// jointKind is the kind of several errors: a retryable one, if there is one, else their common
// kind, else a conflict.
func jointKind(causes []error) tool.Kind {
	kind := tool.KindOf(causes[0])
	for _, err := range causes {
		k := tool.KindOf(err)
		if k.Retryable() {
			return k
		}
		if k != kind {
			kind = tool.Conflict
		}
	}
	return kind
}

// RefuseRun returns the refusal of a run of an agent that requires all of its
// tools, or nil where none is unavailable.
func RefuseRun(agent string, unavailable []Unavailable) error {
	if len(unavailable) == 0 {
		return nil
	}
	texts := make([]string, len(unavailable))
	for i, u := range unavailable {
		texts[i] = fmt.Sprintf("%s (%s: %s)", u.Ref, u.Err.Kind, u.Err.Msg)
	}
	return &tool.Error{
		Kind: tool.Conflict, Op: "resolver.RefuseRun",
		Msg: fmt.Sprintf("agent %q refuses runs without all of its tools (on_unavailable_tool is refuse): %s", agent,
			strings.Join(texts, "; ")),
	}
}
