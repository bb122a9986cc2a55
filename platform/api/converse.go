package api

import (
	"context"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
)

type continueInput struct {
	ID   string `path:"id" maxLength:"64"`
	Body v1.NewMessage
}

type rerunInput struct {
	ID   string `path:"id" maxLength:"64"`
	Body v1.Rerun
}

func (s *server) registerConversations() {
	handle(s, route{
		id: "continueRun", method: http.MethodPost, path: "/v1/runs/{id}/messages", tag: "runs", permission: RunsWrite,
		status:  http.StatusAccepted,
		summary: "Say more to an agent",
		detail: "Starts a run that takes over the transcript, all of it or up to `after_turn`, and answers the message. It " +
			"has limits of its own, and the other run stays as it is. A run that has not ended gets the message into its " +
			"inbox, and is returned: its next turn takes it up.",
	}, s.continueRun)
	handle(s, route{
		id: "rerun", method: http.MethodPost, path: "/v1/runs/{id}/rerun", tag: "runs", permission: RunsWrite,
		status:  http.StatusAccepted,
		summary: "Start a run again with the same input",
		detail:  "By the highest published version of the agent, or the one that `version` names. It is a new run.",
	}, s.rerun)
}

func (s *server) continueRun(ctx context.Context, p tool.Principal, in *continueInput) (*runOutput, error) {
	c := runs.Continuation{
		Request: requestOf(ctx), Principal: p, RunID: in.ID, Input: in.Body.Input, AfterTurn: in.Body.AfterTurn,
		Constraint: in.Body.Version,
	}
	if in.Body.Follow {
		c.FollowFor = s.followLease()
	}
	run, err := s.runs.Continue(ctx, c)
	if err != nil {
		return nil, err
	}
	return &runOutput{Location: "/v1/runs/" + run.ID, Body: s.changedMask(ctx, p.Tenant).run(run)}, nil
}

func (s *server) rerun(ctx context.Context, p tool.Principal, in *rerunInput) (*runOutput, error) {
	r := runs.Rerun{Request: requestOf(ctx), Principal: p, RunID: in.ID, Constraint: in.Body.Version}
	if in.Body.Follow {
		r.FollowFor = s.followLease()
	}
	run, err := s.runs.Rerun(ctx, r)
	if err != nil {
		return nil, err
	}
	return &runOutput{Location: "/v1/runs/" + run.ID, Body: s.changedMask(ctx, p.Tenant).run(run)}, nil
}
