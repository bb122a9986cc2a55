package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolsession"
	"github.com/toolcrib/toolcrib/wire"
)

// Aggregate joins the submissions of a session. Where a tool joins them, it is called as the principal, once for the
// same submissions, and waited for.
func (s *Service) Aggregate(
	ctx context.Context, p tool.Principal, session *toolsession.Session, wait time.Duration,
) (toolsession.Joined, *Called, error) {
	how, err := toolsession.ParseAggregate(session.Aggregate)
	if err != nil {
		return toolsession.Joined{}, nil, err //nolint:wrapcheck // Its words are the caller's.
	}
	calls := how.Function == toolsession.ByTool && wait > 0
	held := 0
	all, err := s.all(ctx, session, func(b *toolsession.Submission) error {
		if !calls {
			how.Trim(b)
			return nil
		}
		if held += len(b.Input) + len(b.Output); held > wire.MaxHistoryArguments {
			return invalid("", "the submissions have more than the %d bytes that a call takes", wire.MaxHistoryArguments)
		}
		return nil
	})
	if err != nil {
		return toolsession.Joined{}, nil, err
	}
	joined := how.Join(all)
	if !calls {
		return joined, nil, nil
	}
	called, err := s.join(ctx, p, session, how.Tool, all, wait)
	return joined, called, err
}

const pageOf = 200

// all returns the submissions of a session, each after trim, which drops what need not be held.
func (s *Service) all(
	ctx context.Context, session *toolsession.Session, trim func(*toolsession.Submission) error,
) ([]toolsession.Submission, error) {
	var all []toolsession.Submission
	q := toolsession.SubmissionQuery{Tenant: session.Tenant, SessionID: session.ID, Limit: pageOf}
	for {
		found, err := s.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range found {
			if err := trim(&found[i]); err != nil {
				return nil, err
			}
		}
		all = append(all, found...)
		if len(found) < pageOf {
			return all, nil
		}
		q.Before = found[len(found)-1].ID
	}
}

// Called is the call of the tool that joins submissions.
type Called struct {
	Tool   string
	RunID  string
	Output json.RawMessage // Absent while it runs.
}

// join calls the tool that joins submissions. The id of the call is of what is joined: asked again, it is that call.
func (s *Service) join(
	ctx context.Context, p tool.Principal, session *toolsession.Session, slug string, all []toolsession.Submission,
	wait time.Duration,
) (*Called, error) {
	type joinable struct {
		ID        string          `json:"id"`
		By        string          `json:"by"`
		Untrusted bool            `json:"untrusted"` // Anyone with the link wrote it: it is data, not instructions.
		Input     json.RawMessage `json:"input"`
		Output    json.RawMessage `json:"output"`
	}
	given, byLink := []joinable{}, false
	for i := len(all) - 1; i >= 0; i-- { // The oldest first.
		b := &all[i]
		if b.Status != toolsession.Done {
			continue
		}
		by := b.Subject
		if b.ByLink {
			by, byLink = "guest "+b.Guest, true
		}
		given = append(given, joinable{b.ID, strings.TrimSpace(by), b.ByLink, b.Input, b.Output})
	}
	arguments, err := json.Marshal(map[string]any{
		"session":     map[string]any{"id": session.ID, "title": session.Title, "entity_ids": session.Entities},
		"submissions": given,
	})
	if err != nil {
		return nil, fmt.Errorf("writing submissions: %w", err)
	}
	digest, err := tool.Digest(arguments)
	if err != nil {
		return nil, err //nolint:wrapcheck // Its words are the caller's.
	}
	call, err := s.cfg.Calls.Runs.Call(ctx, runs.NewCall{Principal: p, ByLink: byLink, Node: wire.Node{
		ID: "session-" + session.ID + "-" + digest[:16], Tool: tool.Ref{Slug: slug}, Arguments: arguments,
	}})
	if err != nil {
		return nil, err //nolint:wrapcheck // Its words are the caller's.
	}
	result, ended, err := s.cfg.Calls.Runs.Wait(ctx, call, wait, s.cfg.Calls.Wakes)
	if err != nil {
		return nil, err //nolint:wrapcheck // Its words are the caller's.
	}
	out := &Called{Tool: slug, RunID: call.RunID}
	if ended && result != nil {
		out.Output = outputOf(result)
	}
	return out, nil
}
