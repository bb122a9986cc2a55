package api_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/artifact"
	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry"
	artifacts "github.com/toolcrib/toolcrib/registry/artifact"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// judging is a registry that holds programs to their form, without a sandbox.
func judging(cfg *api.Config) {
	var j artifact.Judge
	r := resolver.New(cfg.Store, resolver.Options{})
	cfg.Registry = registry.New(cfg.Store, registry.Options{Resolver: r, Artifacts: artifacts.Rules{
		CheckProgram: j.CheckProgram, Compile: j.CompileProgram, CheckConfig: j.CheckUploaded,
	}})
}

// An artifact is made, grows by versions that never change, and is stopped.
func TestArtifacts(t *testing.T) {
	t.Parallel()
	b := setup(t, judging)
	const first = "export default ({a, b}) => a + b;"
	got := b.do(t, http.MethodPost, "/v1/artifacts",
		`{"slug":"add","language":"javascript","source":"`+first+
			`","inputs":[{"name":"a","type":"number","required":true},{"name":"b"}]}`)
	require.Equal(t, http.StatusCreated, got.status, string(got.body))
	require.Equal(t, "/v1/artifacts/add/versions/1.0.0/content", got.header.Get("Location"))
	var made v1.UploadedArtifact
	got.into(t, &made)
	require.True(t, made.Added)
	require.Equal(t, "1.0.0", made.Version.Version)
	require.Equal(t, "active", made.Artifact.Status)
	require.Len(t, made.Version.Inputs, 2)
	require.Equal(
		t, http.StatusConflict, b.do(t, http.MethodPost, "/v1/artifacts", `{"slug":"add","language":"jq"}`).status,
	)

	body := `{"content_base64":"` + base64.StdEncoding.EncodeToString([]byte("second")) + `","version":"1.1.0"}`
	header := map[string]string{"If-Match": got.header.Get("Etag"), "Idempotency-Key": "upload-1"}
	uploaded := b.send(t, http.MethodPost, "/v1/artifacts/add/versions", body, header)
	require.Equal(t, http.StatusOK, uploaded.status, string(uploaded.body))
	again := b.send(t, http.MethodPost, "/v1/artifacts/add/versions", body, header)
	require.Equal(t, string(uploaded.body), string(again.body), "the key answers, whatever the condition says by now")
	delete(header, "Idempotency-Key")
	require.Equal(
		t, http.StatusPreconditionFailed, b.send(t, http.MethodPost, "/v1/artifacts/add/versions", body, header).status,
	)
	var same v1.UploadedArtifact
	b.do(t, http.MethodPost, "/v1/artifacts/add/versions", body).into(t, &same)
	require.False(t, same.Added)

	var versions v1.ArtifactVersions
	b.do(t, http.MethodGet, "/v1/artifacts/"+made.Artifact.ID+"/versions", "").into(t, &versions)
	require.Len(t, versions.Items, 2)
	require.Equal(t, "1.1.0", versions.Items[0].Version)
	var content v1.ArtifactContent
	b.do(t, http.MethodGet, "/v1/artifacts/add/versions/1.0.0/content", "").into(t, &content)
	require.Equal(t, first, content.Source)
	require.Equal(t, made.Version.Digest, content.Digest)
	require.Equal(t, http.StatusNotFound, b.do(t, http.MethodGet, "/v1/artifacts/add/versions/9.0.0/content", "").status)

	for _, change := range []struct{ name, status string }{
		{"deprecate", "deprecated"}, {"disable", "disabled"}, {"enable", "active"},
	} {
		var changed v1.Artifact
		b.do(t, http.MethodPost, "/v1/artifacts/add/"+change.name, "").into(t, &changed)
		require.Equal(t, change.status, changed.Status)
	}
	var page v1.Page[v1.Artifact]
	b.do(t, http.MethodGet, "/v1/artifacts", "").into(t, &page)
	require.Len(t, page.Items, 1)
	shown := b.do(t, http.MethodGet, "/v1/artifacts/add", "")
	require.Equal(
		t, http.StatusNotModified,
		b.send(t, http.MethodGet, "/v1/artifacts/add", "", map[string]string{
			"If-None-Match": shown.header.Get("Etag"),
		}).status,
	)
	reader := b.Key(t, b.tenant, "tools.read")
	require.Equal(
		t,
		http.StatusOK,
		b.do(t, http.MethodGet, "/v1/artifacts/add/versions/1.0.0/content", "", reader).status,
	)
	require.Equal(t, http.StatusForbidden, b.do(t, http.MethodPost, "/v1/artifacts/add/disable", "", reader).status)
}

// An upload is refused with the place of what is wrong.
func TestArtifactRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t, judging)
	require.Equal(
		t, http.StatusCreated, b.do(t, http.MethodPost, "/v1/artifacts", `{"slug":"label","language":"wasm"}`).status,
	)
	large := base64.StdEncoding.EncodeToString(append([]byte("\x00asm\x01\x00\x00\x00"),
		make([]byte, artifact.MaxUploadedModule)...))
	for body, path := range map[string]string{
		`{"content_base64":"AGFzbQEAAAA=","source":"x"}`:              "/content_base64",
		`{"content_base64":"%%%"}`:                                    "/content_base64",
		`{"content_base64":"dGV4dA=="}`:                               "/content_base64",
		`{"content_base64":"` + large + `"}`:                          "/content_base64",
		`{}`:                                                          "/source",
		`{"content_base64":"AGFzbQEAAAA=","version":"x"}`:             "/version",
		`{"content_base64":"AGFzbQEAAAA=","inputs":[{"name":"a b"}]}`: "/inputs/0/name",
	} {
		got := b.do(t, http.MethodPost, "/v1/artifacts/label/versions", body)
		p := got.problem(t)
		require.Equal(t, tool.Invalid, p.Code, body[:min(60, len(body))])
		require.Equal(t, path, p.Path, body[:min(60, len(body))])
	}
}

// A batch brings an artifact and the tool that runs it, whatever their order,
// and again changes nothing.
func TestApplyArtifacts(t *testing.T) {
	t.Parallel()
	b := setup(t, judging)
	program := `{"kind":"artifact","slug":"add","language":"javascript","source":"export default ({a}) => a;","inputs":[{"name":"a","type":"number","required":true}]}`
	runs := `{"kind":"tool","slug":"addUp","description":"Adds.","artifact_id":"add","artifact_version":"^1","publish":true}`
	applied := b.apply(t, runs, program)
	require.Zero(t, applied.Failed, applied.Items)
	require.Equal(t, "artifact", applied.Items[1].Kind)
	require.Equal(t, "1.0.0", applied.Items[1].Version)
	require.True(t, applied.Items[0].Published)
	for _, item := range b.apply(t, runs, program).Items {
		require.Equal(t, v1.Unchanged, item.Action, item.Slug)
	}
	var found v1.Tool
	b.do(t, http.MethodGet, "/v1/tools/addUp", "").into(t, &found)
	require.Equal(t, tool.Artifact, found.Implementation)
	require.Equal(t, tool.BucketArtifact, found.ToolType)
	var raw map[string]json.RawMessage
	b.do(t, http.MethodGet, "/v1/tools/addUp", "").into(t, &raw)
	require.Contains(t, string(raw["input_schema"]), `"required":["a"]`)

	changed := b.apply(t, strings.Replace(program, "=> a;", "=> -a;", 1), runs)
	require.Equal(t, "1.0.1", changed.Items[0].Version)
	require.Equal(t, "1.0.1", changed.Items[1].Version, "the tool pins the new program in a version of its own")
}
