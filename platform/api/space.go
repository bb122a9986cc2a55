package api

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/tool"
)

// SpacePath names the space of a path, by slug or id. It is exported as [Paging] is.
type SpacePath struct {
	Space string `path:"space" maxLength:"64"`
}

type spaceInput struct{ SpacePath }

type listSpacesInput struct {
	Paging
	Archived bool `query:"archived" doc:"Archived spaces too"`
}

type changeSpaceInput struct {
	SpacePath
	Changing
	Body v1.SpaceChange
}

type deleteSpaceInput struct {
	SpacePath
	Changing
}

type spaceOutput struct {
	Location string `header:"Location"`
	Etag     string `header:"Etag" doc:"Names this state of the space, for If-Match"`
	Body     v1.Space
}

func (s *server) registerSpaces() {
	handle(s, route{
		id: "createSpace", method: http.MethodPost, path: "/v1/spaces", tag: "spaces", permission: SpacesWrite,
		status: http.StatusCreated, summary: "Make a space",
		detail: "People and agents talk in it, and visible calls of its agents are posted there.",
	}, s.createSpace)
	handle(s, route{
		id: "listSpaces", method: http.MethodGet, path: "/v1/spaces", tag: "spaces", permission: SpacesRead,
		summary: "List spaces, newest first",
		detail:  "Those that the key is a member of; with `spaces.write`, all of the tenant.",
	}, s.listSpaces)
	handle(s, route{
		id: "getSpace", method: http.MethodGet, path: "/v1/spaces/{space}", tag: "spaces", permission: SpacesRead,
		summary: "Get a space", detail: seesSpace,
	}, s.getSpace)
	handle(s, route{
		id: "changeSpace", method: http.MethodPut, path: "/v1/spaces/{space}", tag: "spaces", permission: SpacesWrite,
		summary: "Change or archive a space",
	}, s.changeSpace)
	handle(s, route{
		id: "deleteSpace", method: http.MethodDelete, path: "/v1/spaces/{space}", tag: "spaces", permission: SpacesWrite,
		summary: "Delete a space, with its messages",
	}, s.deleteSpace)
	s.registerSpaceMembers()
	s.registerSpaceMessages()
	s.registerNotes()
}

// seesSpace says who may read a space.
const seesSpace = "For members of the space, and keys with `spaces.write`."

// self is the member that a principal is.
func self(p tool.Principal) space.Member { return space.Member{Kind: space.Person, Name: p.Subject} }

// seen returns a space that the principal may read: as a member, or as one who manages spaces. To
// others it does not exist.
func (s *server) seen(ctx context.Context, p tool.Principal, slugOrID string) (space.Space, error) {
	found, err := s.cfg.Store.FindSpace(ctx, p.Tenant, slugOrID)
	if err != nil || p.May(SpacesWrite) {
		return found, err
	}
	is, err := s.cfg.Store.IsSpaceMember(ctx, p.Tenant, found.ID, self(p))
	if err == nil && !is {
		return space.Space{}, &tool.Error{Kind: tool.NotFound, Op: "api.space", Msg: "space not found"}
	}
	return found, err
}

func (s *server) createSpace(ctx context.Context, p tool.Principal, in *body[v1.NewSpace]) (*spaceOutput, error) {
	made := space.Space{
		Tenant: p.Tenant, Slug: in.Body.Slug, Name: in.Body.Name, Description: in.Body.Description,
		MaxHops: space.DefaultMaxHops, CreatedBy: p.Subject,
	}
	if in.Body.MaxHops != nil {
		made.MaxHops = *in.Body.MaxHops
	}
	if err := made.Check(); err != nil {
		return nil, err
	}
	members := []space.Member{self(p)}
	for _, name := range in.Body.Members {
		m, err := space.ParseMember(name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(members, m) {
			members = append(members, m)
		}
	}
	if len(members) > space.MaxMembers {
		return nil, &tool.Error{Kind: tool.Invalid, Op: "api.space", Path: "/members", Msg: fmt.Sprintf(
			"a space has at most %d members, and whoever makes it is one: these are %d", space.MaxMembers, len(members))}
	}
	made, err := s.cfg.Store.CreateSpace(ctx, made, members...)
	if err != nil {
		return nil, err
	}
	out := showSpace(made)
	out.Location = "/v1/spaces/" + made.ID
	return out, nil
}

func (s *server) listSpaces(ctx context.Context, p tool.Principal, in *listSpacesInput) (*listed[v1.Space], error) {
	before, err := in.before()
	if err != nil {
		return nil, err
	}
	q := space.Query{Tenant: p.Tenant, Archived: in.Archived, Before: before, Limit: in.fetch()}
	if member := self(p); !p.May(SpacesWrite) {
		q.Member = &member
	}
	found, err := s.cfg.Store.ListSpaces(ctx, q)
	if err != nil {
		return nil, err
	}
	return answer(page(in.Paging, found, v1.FromSpace, func(sp space.Space) string { return sp.ID })), nil
}

func (s *server) getSpace(ctx context.Context, p tool.Principal, in *spaceInput) (*spaceOutput, error) {
	found, err := s.seen(ctx, p, in.Space)
	if err != nil {
		return nil, err
	}
	return showSpace(found), nil
}

func (s *server) changeSpace(ctx context.Context, p tool.Principal, in *changeSpaceInput) (*spaceOutput, error) {
	found, err := s.conditional(ctx, p, in.Space, in.Changing)
	if err != nil {
		return nil, err
	}
	changed := space.Change{
		Name: in.Body.Name, Description: in.Body.Description, MaxHops: in.Body.MaxHops, Archived: in.Body.Archived,
	}.Apply(found, time.Now())
	if err := changed.Check(); err != nil {
		return nil, err
	}
	if changed, err = s.cfg.Store.ChangeSpace(ctx, changed); err != nil {
		return nil, in.changed(err)
	}
	return showSpace(changed), nil
}

func (s *server) deleteSpace(ctx context.Context, p tool.Principal, in *deleteSpaceInput) (*spaceOutput, error) {
	found, err := s.conditional(ctx, p, in.Space, in.Changing)
	if err != nil {
		return nil, err
	}
	revision := found.Revision
	if in.IfMatch == "" {
		revision = 0
	}
	gone, err := s.cfg.Store.DeleteSpace(ctx, p.Tenant, found.ID, revision)
	if err != nil {
		return nil, in.changed(err)
	}
	return showSpace(gone), nil
}

// conditional returns a space, if it is as the condition of a change requires.
func (s *server) conditional(ctx context.Context, p tool.Principal, name string, in Changing) (space.Space, error) {
	found, err := s.cfg.Store.FindSpace(ctx, p.Tenant, name)
	if err == nil && in.IfMatch != "" && !names(in.IfMatch, etag(found.ID, found.Revision), false) {
		err = preconditionFailed()
	}
	return found, err
}

func showSpace(sp space.Space) *spaceOutput {
	return &spaceOutput{Etag: etag(sp.ID, sp.Revision), Body: v1.FromSpace(sp)}
}

type addSpaceMemberInput struct {
	SpacePath
	Body v1.NewSpaceMember
}

type spaceMemberInput struct {
	SpacePath
	Member string `path:"member" maxLength:"210" doc:"As agent:<slug> or person:<subject>"`
}

func (s *server) registerSpaceMembers() {
	handle(s, route{
		id: "listSpaceMembers", method: http.MethodGet, path: "/v1/spaces/{space}/members", tag: "spaces",
		permission: SpacesRead, summary: "List the members of a space", detail: "All of them, at most 100. " + seesSpace,
	}, s.listSpaceMembers)
	handle(s, route{
		id: "addSpaceMember", method: http.MethodPost, path: "/v1/spaces/{space}/members", tag: "spaces",
		permission: SpacesWrite, summary: "Add a member to a space", detail: "Adding one that is there changes nothing.",
	}, s.addSpaceMember)
	handle(s, route{
		id: "removeSpaceMember", method: http.MethodDelete, path: "/v1/spaces/{space}/members/{member}", tag: "spaces",
		permission: SpacesWrite, summary: "Remove a member from a space",
		detail: "Runs of an agent leave the space, and nothing wakes it there any more.",
	}, s.removeSpaceMember)
}

func (s *server) listSpaceMembers(
	ctx context.Context, p tool.Principal, in *spaceInput,
) (*listed[v1.SpaceMember], error) {
	found, err := s.seen(ctx, p, in.Space)
	if err != nil {
		return nil, err
	}
	members, err := s.cfg.Store.ListSpaceMembers(ctx, p.Tenant, found.ID)
	if err != nil {
		return nil, err
	}
	out := v1.Page[v1.SpaceMember]{Items: make([]v1.SpaceMember, len(members))}
	for i, m := range members {
		out.Items[i] = v1.FromMembership(m)
	}
	return answer(out), nil
}

func (s *server) addSpaceMember(
	ctx context.Context, p tool.Principal, in *addSpaceMemberInput,
) (*body[v1.SpaceMember], error) {
	found, err := s.cfg.Store.FindSpace(ctx, p.Tenant, in.Space)
	if err != nil {
		return nil, err
	}
	m, err := space.ParseMember(in.Body.Member)
	if err != nil {
		return nil, err
	}
	added, err := s.cfg.Store.AddSpaceMember(ctx, p.Tenant, found.ID, m, p.Subject)
	if err != nil {
		return nil, err
	}
	return answer(v1.FromMembership(added)), nil
}

func (s *server) removeSpaceMember(
	ctx context.Context, p tool.Principal, in *spaceMemberInput,
) (*body[v1.SpaceMember], error) {
	found, err := s.cfg.Store.FindSpace(ctx, p.Tenant, in.Space)
	if err != nil {
		return nil, err
	}
	m, err := space.ParseMember(in.Member)
	if err != nil {
		return nil, err
	}
	removed, err := s.cfg.Store.RemoveSpaceMember(ctx, p.Tenant, found.ID, m)
	if err != nil {
		return nil, err
	}
	return answer(v1.FromMembership(removed)), nil
}

// describeSpaceStream describes the stream of a space.
func (s *server) describeSpaceStream() {
	s.describeStream("/v1/spaces/{space}/events", reflect.TypeFor[v1.Page[v1.SpaceMessage]](), false)
}
