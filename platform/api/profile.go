package api

import (
	"context"
	"errors"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/profile"
	"github.com/toolcrib/toolcrib/tool"
)

// ProfilePath names the profile of a path. It is exported as [Paging] is.
type ProfilePath struct {
	Name string `path:"profile" maxLength:"63"`
}

type profileInput struct{ ProfilePath }

type changeProfileInput struct {
	ProfilePath
	Changing
	Body v1.ProfileRestrictions
}

type deleteProfileInput struct {
	ProfilePath
	Changing
}

type listProfilesInput struct {
	Paging
	Agent string `query:"agent" maxLength:"64" doc:"Slug or id: only those that apply to some of its calls"`
}

type createProfileOutput struct {
	Location string `header:"Location"`
	Etag     string `header:"Etag"`
	Body     v1.Profile
}

type profileOutput struct {
	Etag string `header:"Etag" doc:"Names this state of the profile, for If-Match"`
	Body v1.Profile
}

func (s *server) registerProfiles() {
	handle(s, route{
		id: "createProfile", method: http.MethodPost, path: "/v1/profiles", tag: "profiles", permission: ProfilesWrite,
		status: http.StatusCreated, summary: "Make a profile: a named set of restrictions",
		detail: "It restricts nothing until a tool is assigned with it. It only adds to what tools require: what would " +
			"ask for less is refused.",
	}, s.createProfile)
	handle(s, route{
		id: "listProfiles", method: http.MethodGet, path: "/v1/profiles", tag: "profiles", permission: ProfilesRead,
		summary: "List profiles, by name",
	}, s.listProfiles)
	handle(s, route{
		id: "getProfile", method: http.MethodGet, path: "/v1/profiles/{profile}", tag: "profiles",
		permission: ProfilesRead, summary: "Get a profile",
	}, s.getProfile)
	handle(s, route{
		id: "changeProfile", method: http.MethodPut, path: "/v1/profiles/{profile}", tag: "profiles",
		permission: ProfilesWrite, summary: "Replace what a profile restricts",
		detail: "It takes effect at the next call, also of runs that are under way.",
	}, s.changeProfile)
	handle(s, route{
		id: "deleteProfile", method: http.MethodDelete, path: "/v1/profiles/{profile}", tag: "profiles",
		permission: ProfilesWrite, summary: "Delete a profile that no assignment uses, with its budgets",
	}, s.deleteProfile)
	s.registerAssignments()
}

func (s *server) createProfile(
	ctx context.Context, p tool.Principal, in *body[v1.NewProfile],
) (*createProfileOutput, error) {
	asked := in.Body.Profile(in.Body.Name)
	asked.Tenant, asked.ChangedBy = p.Tenant, p.Subject
	made, err := s.cfg.Store.CreateProfile(ctx, asked)
	if err != nil {
		return nil, err
	}
	return &createProfileOutput{
		Location: "/v1/profiles/" + made.Name, Etag: etag(made.ID, made.Revision), Body: v1.FromProfile(made),
	}, nil
}

func (s *server) listProfiles(
	ctx context.Context, p tool.Principal, in *listProfilesInput,
) (*listed[v1.Profile], error) {
	after, err := openCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	agentID, err := s.agentID(ctx, p, in.Agent)
	if err != nil {
		return nil, err
	}
	found, err := s.cfg.Store.ListProfiles(ctx, p.Tenant, agentID, after, in.fetch())
	if err != nil {
		return nil, err
	}
	return answer(page(in.Paging, found, v1.FromProfile, func(p profile.Profile) string { return p.Name })), nil
}

// agentID returns the id of an agent by its slug or id; empty for none.
func (s *server) agentID(ctx context.Context, p tool.Principal, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	found, err := s.cfg.Store.FindAgent(ctx, p.Tenant, name)
	return found.ID, err
}

func (s *server) getProfile(ctx context.Context, p tool.Principal, in *profileInput) (*profileOutput, error) {
	found, err := s.cfg.Store.FindProfile(ctx, p.Tenant, in.Name)
	if err != nil {
		return nil, err
	}
	return showProfile(found), nil
}

func (s *server) changeProfile(
	ctx context.Context, p tool.Principal, in *changeProfileInput,
) (*profileOutput, error) {
	revision, err := s.profileRevision(ctx, p, in.Name, in.Changing)
	if err != nil {
		return nil, err
	}
	asked := in.Body.Profile(in.Name)
	asked.Tenant, asked.ChangedBy, asked.Revision = p.Tenant, p.Subject, revision
	changed, err := s.cfg.Store.ChangeProfile(ctx, asked)
	if err != nil {
		return nil, in.profileChanged(err)
	}
	return showProfile(changed), nil
}

func (s *server) deleteProfile(
	ctx context.Context, p tool.Principal, in *deleteProfileInput,
) (*profileOutput, error) {
	revision, err := s.profileRevision(ctx, p, in.Name, in.Changing)
	if err != nil {
		return nil, err
	}
	gone, err := s.cfg.Store.DeleteProfile(ctx, p.Tenant, in.Name, revision)
	if err != nil {
		return nil, in.profileChanged(err)
	}
	return showProfile(gone), nil
}

// profileRevision returns the revision that the condition of a change requires; zero for any.
func (s *server) profileRevision(
	ctx context.Context, p tool.Principal, name string, c Changing,
) (int64, error) {
	found, err := s.cfg.Store.FindProfile(ctx, p.Tenant, name)
	switch {
	case err != nil || c.IfMatch == "":
		return 0, err
	case !names(c.IfMatch, etag(found.ID, found.Revision), false):
		return 0, preconditionFailed()
	default:
		return found.Revision, nil
	}
}

// profileChanged returns the error of a failed change of a profile.
func (c Changing) profileChanged(err error) error {
	if c.IfMatch != "" && errors.Is(err, profile.ErrChanged) {
		return preconditionFailed()
	}
	return err
}

func showProfile(p profile.Profile) *profileOutput {
	return &profileOutput{Etag: etag(p.ID, p.Revision), Body: v1.FromProfile(p)}
}
