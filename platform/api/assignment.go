package api

import (
	"context"
	"net/http"
	"strings"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/profile"
	"github.com/toolcrib/toolcrib/tool"
)

type assignmentInput struct {
	ID string `path:"assignment" maxLength:"64"`
}

type listAssignmentsInput struct {
	Paging
	Tool    string `query:"tool" maxLength:"64" doc:"Slug or id"`
	Agent   string `query:"agent" maxLength:"64" doc:"Slug or id"`
	Profile string `query:"profile" maxLength:"63" doc:"Name"`
}

func (s *server) registerAssignments() {
	handle(s, route{
		id: "setAssignment", method: http.MethodPost, path: "/v1/assignments", tag: "profiles",
		permission: AssignmentsWrite, status: http.StatusCreated,
		summary: "Assign a tool to an agent, with a profile if wanted, or a profile to every call of a tool",
		detail: "It replaces the assignment of the tool to the same agent. An agent whose definition does not name the " +
			"tool has it in runs that begin later. A profile applies at the next call, also of runs that are under way; " +
			"one of the agent and one of every caller both apply, and the strictest wins.",
	}, s.setAssignment)
	handle(s, route{
		id: "listAssignments", method: http.MethodGet, path: "/v1/assignments", tag: "profiles",
		permission: AssignmentsRead, summary: "List assignments, by tool and agent",
	}, s.listAssignments)
	handle(s, route{
		id: "getAssignment", method: http.MethodGet, path: "/v1/assignments/{assignment}", tag: "profiles",
		permission: AssignmentsRead, summary: "Get an assignment",
	}, s.getAssignment)
	handle(s, route{
		id: "deleteAssignment", method: http.MethodDelete, path: "/v1/assignments/{assignment}", tag: "profiles",
		permission: AssignmentsWrite, summary: "Revoke an assignment",
		detail: "Runs that have the tool by the assignment alone are denied their next call of it.",
	}, s.deleteAssignment)
}

func (s *server) setAssignment(
	ctx context.Context, p tool.Principal, in *body[v1.NewAssignment],
) (*body[v1.Assignment], error) {
	of, err := s.findTool(ctx, p, in.Body.Tool)
	if err != nil {
		return nil, err
	}
	filter, err := s.assignmentFilter(ctx, p, "", in.Body.Agent, in.Body.Profile)
	if err != nil {
		return nil, err
	}
	set, err := s.cfg.Store.SetAssignment(ctx, profile.Assignment{
		Tenant: p.Tenant, ToolID: of.ID, AgentID: filter.AgentID, ProfileID: filter.ProfileID, ChangedBy: p.Subject,
	})
	if err != nil {
		return nil, err
	}
	return answer(v1.FromAssignment(set)), nil
}

// assignmentFilter finds what names refer to. Empty ones filter nothing.
func (s *server) assignmentFilter(
	ctx context.Context, p tool.Principal, toolName, agentName, profileName string,
) (f profile.Filter, err error) {
	if toolName != "" {
		of, err := s.findTool(ctx, p, toolName)
		if err != nil {
			return f, err
		}
		f.ToolID = of.ID
	}
	if f.AgentID, err = s.agentID(ctx, p, agentName); err != nil {
		return f, err
	}
	if profileName != "" {
		of, err := s.cfg.Store.FindProfile(ctx, p.Tenant, profileName)
		if err != nil {
			return f, err
		}
		f.ProfileID = of.ID
	}
	return f, nil
}

func (s *server) listAssignments(
	ctx context.Context, p tool.Principal, in *listAssignmentsInput,
) (*listed[v1.Assignment], error) {
	after, err := openAssignmentCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	filter, err := s.assignmentFilter(ctx, p, in.Tool, in.Agent, in.Profile)
	if err != nil {
		return nil, err
	}
	found, err := s.cfg.Store.ListAssignments(ctx, p.Tenant, filter, after, in.fetch())
	if err != nil {
		return nil, err
	}
	return answer(page(in.Paging, found, v1.FromAssignment, placeOfAssignment)), nil
}

func (s *server) getAssignment(
	ctx context.Context, p tool.Principal, in *assignmentInput,
) (*body[v1.Assignment], error) {
	found, err := s.cfg.Store.FindAssignment(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	return answer(v1.FromAssignment(found)), nil
}

func (s *server) deleteAssignment(
	ctx context.Context, p tool.Principal, in *assignmentInput,
) (*body[v1.Assignment], error) {
	gone, err := s.cfg.Store.DeleteAssignment(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	return answer(v1.FromAssignment(gone)), nil
}

func placeOfAssignment(a profile.Assignment) string {
	return strings.Join([]string{a.Tool, a.Agent, a.ID}, "\n")
}

func openAssignmentCursor(cursor string) (profile.Assignment, error) {
	place, err := openCursor(cursor)
	if err != nil || place == "" {
		return profile.Assignment{}, err
	}
	parts := strings.Split(place, "\n")
	if len(parts) != 3 || !tool.ValidID(parts[2]) {
		return profile.Assignment{}, badCursor()
	}
	return profile.Assignment{Tool: parts[0], Agent: parts[1], ID: parts[2]}, nil
}
