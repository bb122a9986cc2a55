package client

import (
	"context"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// CreateProfile makes a profile. It fails with tool.Conflict where there is one with the name.
func (c *Client) CreateProfile(ctx context.Context, p v1.NewProfile) (v1.Profile, error) {
	return post[v1.Profile](ctx, c, p, "profiles")
}

// Profile returns a profile by its name.
func (c *Client) Profile(ctx context.Context, name string) (v1.Profile, error) {
	return get[v1.Profile](ctx, c, nil, "profiles", name)
}

// ChangeProfile replaces what a profile restricts.
func (c *Client) ChangeProfile(ctx context.Context, name string, r v1.ProfileRestrictions) (v1.Profile, error) {
	return put[v1.Profile](ctx, c, r, "profiles", name)
}

// Profiles returns a page of profiles, by name: those that apply to some calls of an agent, where
// one is named.
func (c *Client) Profiles(ctx context.Context, agent string, page Page) (v1.Page[v1.Profile], error) {
	return list[v1.Profile](ctx, c, page.query("agent", agent), "profiles")
}

// DeleteProfile deletes a profile that no assignment uses, and returns it.
func (c *Client) DeleteProfile(ctx context.Context, name string) (v1.Profile, error) {
	return remove[v1.Profile](ctx, c, "profiles", name)
}

// AssignmentQuery filters assignments. Zero fields do not filter.
type AssignmentQuery struct {
	Tool, Agent string // Slugs or ids.
	Profile     string
	Page
}

// Assign assigns a tool to an agent, or a profile to every call of a tool, in the place of the
// assignment for the same tool and agent.
func (c *Client) Assign(ctx context.Context, a v1.NewAssignment) (v1.Assignment, error) {
	return post[v1.Assignment](ctx, c, a, "assignments")
}

// Assignments returns a page of assignments, by tool and agent.
func (c *Client) Assignments(ctx context.Context, q AssignmentQuery) (v1.Page[v1.Assignment], error) {
	return list[v1.Assignment](ctx, c, q.query("tool", q.Tool, "agent", q.Agent, "profile", q.Profile), "assignments")
}

// Revoke revokes an assignment by its id, and returns it.
func (c *Client) Revoke(ctx context.Context, id string) (v1.Assignment, error) {
	return remove[v1.Assignment](ctx, c, "assignments", id)
}
