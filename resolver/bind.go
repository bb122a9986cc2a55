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

// maxBinding is how many references are resolved at once.
const maxBinding = 8

// Bind resolves the tools of an agent that exists, sorted by slug: deprecated
// tools still serve it, with a warning, and tools that the principal may not
// use are left out, as if the agent did not have them. Every reference is tried, and the
// error names all that failed, with their reasons; two references that give
// the model the same name are a tool.Conflict that names both.
func (r *Resolver) Bind(ctx context.Context, p tool.Principal, refs []tool.Ref, mode tool.Mode) ([]*Resolved, error) {
	return r.bind(ctx, Request{Principal: p, Mode: mode, AllowDeprecated: true}, refs)
}

// BindNew is [Resolver.Bind] for an agent that is about to be published:
// deprecated tools are refused, and so is one that the principal may not use.
func (r *Resolver) BindNew(ctx context.Context, p tool.Principal, refs []tool.Ref, mode tool.Mode) ([]*Resolved, error) {
	return r.bind(ctx, Request{Principal: p, Mode: mode, New: true}, refs)
}

func (r *Resolver) bind(ctx context.Context, req Request, refs []tool.Ref) ([]*Resolved, error) {
	resolved := make([]*Resolved, len(refs))
	failures := make([]error, len(refs))
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
	if err := bindError(refs, resolved, failures); err != nil {
		return nil, err
	}
	resolved = slices.DeleteFunc(resolved, func(r *Resolved) bool { return r == nil })
	slices.SortFunc(resolved, func(a, b *Resolved) int { return strings.Compare(a.Name(), b.Name()) })
	return resolved, nil
}

// bindError joins what failed and what collides into one error, or nil.
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

// jointKind is the kind of several errors: that of one worth retrying, if
// there is one, else the kind they share, else a conflict.
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
