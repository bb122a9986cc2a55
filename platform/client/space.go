package client

import (
	"context"
	"net/http"
	"strconv"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/space"
)

// SpaceQuery filters spaces. Zero fields do not filter.
type SpaceQuery struct {
	Archived bool // Archived ones too.
	Page
}

// SpaceMessageQuery filters messages of a space. Zero fields do not filter.
type SpaceMessageQuery struct {
	Kind string // "text" or "tool".
	Page
}

// NoteQuery filters notes of an agent. Zero fields do not filter.
type NoteQuery struct {
	Kind space.NoteKind
	Key  string
	Page
}

// CreateSpace makes a space, whose first member is whoever makes it.
func (c *Client) CreateSpace(ctx context.Context, in v1.NewSpace) (v1.Space, error) {
	return post[v1.Space](ctx, c, in, "spaces")
}

// ListSpaces returns a page of the spaces that one may see, newest first.
func (c *Client) ListSpaces(ctx context.Context, q SpaceQuery) (v1.Page[v1.Space], error) {
	archived := ""
	if q.Archived {
		archived = strconv.FormatBool(true)
	}
	return list[v1.Space](ctx, c, q.query("archived", archived), "spaces")
}

// Space returns a space, by slug or id.
func (c *Client) Space(ctx context.Context, name string) (v1.Space, error) {
	return get[v1.Space](ctx, c, nil, "spaces", name)
}

// ChangeSpace changes or archives a space.
func (c *Client) ChangeSpace(ctx context.Context, name string, in v1.SpaceChange) (v1.Space, error) {
	return put[v1.Space](ctx, c, in, "spaces", name)
}

// DeleteSpace deletes a space with its messages.
func (c *Client) DeleteSpace(ctx context.Context, name string) (v1.Space, error) {
	return remove[v1.Space](ctx, c, "spaces", name)
}

// SpaceMembers returns the members of a space.
func (c *Client) SpaceMembers(ctx context.Context, name string) (v1.Page[v1.SpaceMember], error) {
	return get[v1.Page[v1.SpaceMember]](ctx, c, nil, "spaces", name, "members")
}

// AddSpaceMember adds a member to a space, as "agent:slug" or "person:subject".
func (c *Client) AddSpaceMember(ctx context.Context, name, member string) (v1.SpaceMember, error) {
	return post[v1.SpaceMember](ctx, c, v1.NewSpaceMember{Member: member}, "spaces", name, "members")
}

// RemoveSpaceMember removes a member from a space.
func (c *Client) RemoveSpaceMember(ctx context.Context, name, member string) (v1.SpaceMember, error) {
	return remove[v1.SpaceMember](ctx, c, "spaces", name, "members", member)
}

// PostSpaceMessage says something in a space, which wakes its agents.
func (c *Client) PostSpaceMessage(ctx context.Context, name, text string) (v1.SpacePosted, error) {
	return post[v1.SpacePosted](ctx, c, v1.NewSpaceMessage{Text: text}, "spaces", name, "messages")
}

// SpaceMessages returns a page of the messages of a space, newest first.
func (c *Client) SpaceMessages(
	ctx context.Context, name string, q SpaceMessageQuery,
) (v1.Page[v1.SpaceMessage], error) {
	return list[v1.SpaceMessage](ctx, c, q.query("kind", q.Kind), "spaces", name, "messages")
}

// SpaceMessage returns a message of a space.
func (c *Client) SpaceMessage(ctx context.Context, name, id string) (v1.SpaceMessage, error) {
	return get[v1.SpaceMessage](ctx, c, nil, "spaces", name, "messages", id)
}

// AgentNotes returns a page of the goals, memories and plans that an agent keeps, by kind and key.
func (c *Client) AgentNotes(ctx context.Context, agent string, q NoteQuery) (v1.Page[v1.Note], error) {
	return list[v1.Note](ctx, c, q.query("kind", q.Kind, "key", q.Key), "agents", agent, "notes")
}

// DeleteAgentNote deletes a note of an agent, and returns what it was.
func (c *Client) DeleteAgentNote(ctx context.Context, agent string, kind space.NoteKind, key string) (v1.Note, error) {
	return call[v1.Note](ctx, c, http.MethodDelete, query("kind", kind, "key", key), nil, "agents", agent, "notes")
}
