package mcpserver

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// refusingTools has one tool, which does not resolve.
type refusingTools struct {
	Tools
	err        error
	found      *tool.Tool
	unreadable error
}

func (r *refusingTools) Resolve(context.Context, resolver.Request) (*resolver.Resolved, error) {
	return nil, r.err
}

func (r *refusingTools) Explain(context.Context, resolver.Request) (resolver.Explanation, error) {
	return resolver.Explanation{Tool: r.found}, r.unreadable
}

// A tool that does not resolve is not called. Only of a tool that is offered is it said why.
func TestWhatDoesNotResolveIsNotCalled(t *testing.T) {
	t.Parallel()

	offered, people := &tool.Tool{Slug: "look"}, &tool.Tool{Slug: "look"}
	people.Interaction.Audience = tool.AudienceUser
	conflict := &tool.Error{Kind: tool.Conflict, Msg: "the tool is disabled"}
	away := &tool.Error{Kind: tool.Unavailable, Msg: "the database is away"}
	for name, c := range map[string]struct {
		tools    refusingTools
		answers  error  // Of the call.
		protocol string // What the error of the protocol says.
	}{
		"not now":            {refusingTools{err: conflict, found: offered}, conflict, ""},
		"not now, of people": {refusingTools{err: conflict, found: people}, nil, "unknown tool"},
		"not now, of none":   {refusingTools{err: conflict}, nil, "unknown tool"},
		"not known":          {refusingTools{err: conflict, found: offered, unreadable: away}, nil, "away"},
		"away":               {refusingTools{err: away, found: offered}, nil, "away"},
		"a defect":           {refusingTools{err: context.DeadlineExceeded, found: offered}, nil, "deadline"},
		"absent":             {refusingTools{err: &tool.Error{Kind: tool.NotFound}}, nil, "unknown tool"},
		"not permitted":      {refusingTools{err: &tool.Error{Kind: tool.Denied}}, nil, "unknown tool"},
	} {
		s := &Server{cfg: Config{Tools: &c.tools}}
		found, err := s.finds(t.Context(), &Caller{}, "look")
		if c.answers != nil {
			require.NoError(t, err, name)
			require.Equal(t, c.answers, found.failed, name)
			continue
		}
		require.ErrorContains(t, err, c.protocol, name)
	}
}
