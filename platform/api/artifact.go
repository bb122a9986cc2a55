package api

import (
	"context"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry/artifact"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

// ArtifactPath names the artifact of a path. It is exported as [Paging] is.
type ArtifactPath struct {
	Artifact string `path:"artifact" maxLength:"64" doc:"Slug or id" example:"quoteOrder"`
}

type uploadArtifactInput struct {
	ArtifactPath
	Changing
	Body v1.ArtifactUpload
}

type uploadArtifactOutput struct {
	Location string `header:"Location"`
	Etag     string `header:"Etag"`
	Body     v1.UploadedArtifact
}

type artifactInput struct {
	ArtifactPath
	Reading
}

type changeArtifactInput struct {
	ArtifactPath
	Changing
}

type artifactOutput struct {
	Status int
	Etag   string `header:"Etag" doc:"Names this state of the artifact, for If-Match and If-None-Match"`
	Body   v1.Artifact
}

type artifactVersionsInput struct {
	ArtifactPath
}

type artifactContentInput struct {
	ArtifactPath
	Version string `path:"version" maxLength:"64" doc:"Number of a version" example:"1.0.0"`
}

func (s *server) registerArtifacts() {
	handle(s, route{
		id: "createArtifact", method: http.MethodPost, path: "/v1/artifacts", tag: "artifacts", permission: ToolsWrite,
		status:  http.StatusCreated,
		maxBody: MaxApplyBytes, summary: "Create an artifact: a program of the tenant that tools run",
		detail: "A program becomes the first version; if it does not compile, nothing is created. A slug that the " +
			"tenant already has is a conflict.",
	}, s.createArtifact)
	handle(s, route{
		id: "listArtifacts", method: http.MethodGet, path: "/v1/artifacts", tag: "artifacts", permission: ToolsRead,
		summary: "List artifacts, in the order of slugs", detail: "Those of the tenant, of any status.",
	}, s.listArtifacts)
	handle(s, route{
		id: "getArtifact", method: http.MethodGet, path: "/v1/artifacts/{artifact}", tag: "artifacts", permission: ToolsRead,
		summary: "Get an artifact", detail: "Without its programs.",
	}, s.getArtifact)
	handle(s, route{
		id: "uploadArtifact", method: http.MethodPost, path: "/v1/artifacts/{artifact}/versions", tag: "artifacts",
		permission: ToolsWrite,
		maxBody:    MaxApplyBytes, summary: "Upload a version of an artifact",
		detail: "It is compiled first, and changes no tool: published tools keep the version that they pin. A " +
			"number with the same content is returned unchanged; with other content it is a conflict.",
	}, s.uploadArtifact)
	handle(s, route{
		id: "listArtifactVersions", method: http.MethodGet, path: "/v1/artifacts/{artifact}/versions", tag: "artifacts",
		permission: ToolsRead,
		summary:    "List the versions of an artifact", detail: "All of them, at most 1,000, without their programs.",
	}, s.listArtifactVersions)
	handle(s, route{
		id: "getArtifactContent", method: http.MethodGet, path: "/v1/artifacts/{artifact}/versions/{version}/content",
		tag: "artifacts", permission: ToolsRead,
		summary: "Download the program of a version", detail: "As text, or in base64 if it is binary.",
	}, s.getArtifactContent)
	for _, change := range []struct {
		id, name, summary, detail string
		status                    definition.ArtifactStatus
	}{
		{
			"disableArtifact", "disable", "Disable an artifact",
			"The next calls of tools that run any version of it are refused, also in runs that pin it.",
			definition.ArtifactDisabled,
		},
		{
			"deprecateArtifact", "deprecate", "Refuse new pins of an artifact", "Tools that pin a version keep working.",
			definition.ArtifactDeprecated,
		},
		{
			"enableArtifact", "enable", "Enable an artifact", "Tools can pin and run it again.",
			definition.ArtifactActive,
		},
	} {
		handle(s, route{
			id: change.id, method: http.MethodPost, path: "/v1/artifacts/{artifact}/" + change.name, tag: "artifacts",
			permission: ToolsWrite,
			summary:    change.summary, detail: change.detail,
		}, func(ctx context.Context, p tool.Principal, in *changeArtifactInput) (*artifactOutput, error) {
			return s.setArtifactStatus(ctx, p, in, change.status)
		})
	}
}

func (s *server) createArtifact(
	ctx context.Context, p tool.Principal, in *body[v1.ArtifactDefinition],
) (*uploadArtifactOutput, error) {
	upload, err := in.Body.Upload()
	if err != nil {
		return nil, err
	}
	a, v, err := s.cfg.Registry.Artifacts().Create(ctx, p, definition.ArtifactSpec{
		Slug: in.Body.Slug, Name: in.Body.Name, Description: in.Body.Description, Language: in.Body.Language,
		ArtifactUpload: upload,
	})
	if err != nil {
		return nil, err
	}
	return showUpload(a, v, v != nil), nil
}

func showUpload(a artifact.Artifact, v *artifact.Version, added bool) *uploadArtifactOutput {
	out := &uploadArtifactOutput{
		Location: "/v1/artifacts/" + a.Slug, Etag: etag(a.ID, a.Revision),
		Body: v1.UploadedArtifact{Artifact: v1.FromArtifact(a), Added: added},
	}
	if v != nil {
		shown := v1.FromArtifactVersion(*v)
		out.Body.Version = &shown
		out.Location += "/versions/" + v.Number + "/content"
	}
	return out
}

func (s *server) uploadArtifact(
	ctx context.Context, p tool.Principal, in *uploadArtifactInput,
) (*uploadArtifactOutput, error) {
	found, changing, err := s.changingArtifact(ctx, p, in.Artifact, in.Changing)
	if err != nil {
		return nil, err
	}
	upload, err := in.Body.Upload()
	if err != nil {
		return nil, err
	}
	a, v, added, err := changing.Upload(ctx, p, found.ID, upload)
	if err != nil {
		return nil, in.failed(err)
	}
	return showUpload(a, &v, added), nil
}

func (s *server) listArtifacts(ctx context.Context, p tool.Principal, in *Paging) (*listed[v1.Artifact], error) {
	after, err := openCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	artifacts, err := s.cfg.Registry.Artifacts().List(ctx, p, after, in.fetch())
	if err != nil {
		return nil, err
	}
	return answer(page(*in, artifacts, v1.FromArtifact, func(a artifact.Artifact) string { return a.Slug })), nil
}

func (s *server) getArtifact(ctx context.Context, p tool.Principal, in *artifactInput) (*artifactOutput, error) {
	found, err := s.cfg.Registry.Artifacts().Get(ctx, p, in.Artifact)
	if err != nil {
		return nil, err
	}
	out := showArtifact(found)
	if in.unchanged(out.Etag) {
		out.Status = http.StatusNotModified
	}
	return out, nil
}

func showArtifact(a artifact.Artifact) *artifactOutput {
	return &artifactOutput{Status: http.StatusOK, Etag: etag(a.ID, a.Revision), Body: v1.FromArtifact(a)}
}

func (s *server) listArtifactVersions(
	ctx context.Context, p tool.Principal, in *artifactVersionsInput,
) (*body[v1.ArtifactVersions], error) {
	_, versions, err := s.cfg.Registry.Artifacts().Versions(ctx, p, in.Artifact)
	if err != nil {
		return nil, err
	}
	out := answer(v1.ArtifactVersions{Items: make([]v1.ArtifactVersion, len(versions))})
	for i, v := range versions {
		out.Body.Items[i] = v1.FromArtifactVersion(v)
	}
	return out, nil
}

func (s *server) getArtifactContent(
	ctx context.Context, p tool.Principal, in *artifactContentInput,
) (*body[v1.ArtifactContent], error) {
	a, number, code, err := s.cfg.Registry.Artifacts().Code(ctx, p, in.Artifact, in.Version)
	if err != nil {
		return nil, err
	}
	return answer(v1.FromArtifactCode(a, number, code)), nil
}

func (s *server) setArtifactStatus(
	ctx context.Context, p tool.Principal, in *changeArtifactInput, status definition.ArtifactStatus,
) (*artifactOutput, error) {
	found, changing, err := s.changingArtifact(ctx, p, in.Artifact, in.Changing)
	if err != nil {
		return nil, err
	}
	saved, err := changing.SetStatus(ctx, p, found.ID, status)
	if err != nil {
		return nil, in.failed(err)
	}
	return showArtifact(saved), nil
}

// changingArtifact returns an artifact, and the registry that changes it under
// the condition.
func (s *server) changingArtifact(
	ctx context.Context, p tool.Principal, name string, c Changing,
) (artifact.Artifact, *artifact.Registry, error) {
	found, err := s.cfg.Registry.Artifacts().Get(ctx, p, name)
	if err != nil {
		return artifact.Artifact{}, nil, err
	}
	changing, err := conditional(c, s.cfg.Registry.Artifacts(), found.ID, found.Revision)
	return found, changing, err
}
