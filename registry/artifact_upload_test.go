package registry_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/tool"
)

func digestOf(program string) string {
	sum := sha256.Sum256([]byte(program))
	return hex.EncodeToString(sum[:])
}

func upload(version, source string, inputs ...tool.ArtifactInput) registry.ArtifactUpload {
	return registry.ArtifactUpload{Version: version, Source: source, Inputs: inputs}
}

var lines = tool.ArtifactInput{Name: "lines", Type: "array", Required: true}

// makeArtifact makes the artifact "quote" with version 1.0.0, which declares lines.
func makeArtifact(t *testing.T, b bench) registry.Artifact {
	t.Helper()
	a, v, err := b.registry.CreateArtifact(t.Context(), b.ada, registry.ArtifactSpec{
		Slug: "quote", Language: "javascript", ArtifactUpload: upload("", "first", lines),
	})
	require.NoError(t, err)
	require.Equal(t, registry.FirstVersion, v.Number)
	require.Equal(t, digestOf("first"), v.Digest)
	require.Equal(t, "user:ada", v.CreatedBy)
	return a
}

// Numbers grow, and what stands under one never changes.
func TestUploads(t *testing.T) {
	t.Parallel()

	b, ctx := setup(t), t.Context()
	a := makeArtifact(t, b)
	for _, u := range []registry.ArtifactUpload{upload("", "first", lines), upload("1.0.0", "first", lines)} {
		_, v, added, err := b.registry.UploadArtifact(ctx, b.ada, "quote", u)
		require.NoError(t, err)
		require.False(t, added)
		require.Equal(t, "1.0.0", v.Number)
	}
	_, v, added, err := b.registry.UploadArtifact(ctx, b.ada, a.ID, upload("", "second"))
	require.NoError(t, err)
	require.True(t, added)
	require.Equal(t, "1.0.1", v.Number)

	tests := []struct {
		name   string
		upload registry.ArtifactUpload
		kind   tool.Kind
		path   string
		says   string
	}{
		{"other content", upload("1.0.0", "other", lines), tool.Conflict, "/version", "at least 1.0.2"},
		{"other inputs", upload("1.0.0", "first"), tool.Conflict, "/version", "other content"},
		{"less", upload("0.9.0", "other"), tool.Conflict, "/version", "expected more than the last, 1.0.1"},
		{"no version", upload("one", "other"), tool.Invalid, "/version", "semantic version"},
		{"nothing", upload("", ""), tool.Invalid, "/source", "expected the program"},
		{"both", registry.ArtifactUpload{Source: "a", Content: []byte("a")}, tool.Invalid, "/content_base64", "one of them"},
		{"name", upload("", "x", tool.ArtifactInput{Name: "a b"}), tool.Invalid, "/inputs/0/name", "a b"},
		{"twice", upload("", "x", lines, lines), tool.Invalid, "/inputs/1/name", "twice"},
		{"type", upload("", "x", tool.ArtifactInput{Name: "a", Type: "date"}), tool.Invalid, "/inputs/0/type", "date"},
	}
	for _, tt := range tests {
		_, _, _, err := b.registry.UploadArtifact(ctx, b.ada, "quote", tt.upload)
		requireRefused(t, err, tt.kind, tt.path, tt.says)
	}
	_, _, _, err = b.registry.UploadArtifact(ctx, b.bob, a.ID, upload("", "theirs"))
	require.Equal(t, tool.NotFound, tool.KindOf(err))
	_, _, _, err = b.registry.UploadArtifact(ctx, tool.Principal{Tenant: b.ada.Tenant}, a.ID, upload("", "theirs"))
	require.Equal(t, tool.Denied, tool.KindOf(err))
	_, versions, err := b.registry.ArtifactVersions(ctx, b.ada, "quote")
	require.NoError(t, err)
	require.Len(t, versions, 2)
}

// A program that is none, or does not compile, is not kept.
func TestUploadsAreJudged(t *testing.T) {
	t.Parallel()

	b, ctx := setup(t), t.Context()
	r := registry.New(b.store, registry.Options{Artifacts: registry.ArtifactRules{
		CheckProgram: func(language string, _ []byte) error {
			if language == "wasm" {
				return &tool.Error{Kind: tool.Invalid, Path: "/content_base64", Msg: "no module"}
			}
			return nil
		},
		Compile: func(_ context.Context, tenant tool.TenantID, _ string, program []byte) error {
			if tenant != b.ada.Tenant || string(program) == "(" {
				return &tool.Error{Kind: tool.Invalid, Path: "/source", Msg: "does not compile"}
			}
			return nil
		},
	}})
	_, _, err := r.CreateArtifact(ctx, b.ada, registry.ArtifactSpec{
		Slug: "a", Language: "wasm", ArtifactUpload: upload("", "x"),
	})
	requireRefused(t, err, tool.Invalid, "/content_base64", "no module")
	_, _, err = r.CreateArtifact(ctx, b.ada, registry.ArtifactSpec{
		Slug: "a", Language: "jq", ArtifactUpload: upload("", "("),
	})
	requireRefused(t, err, tool.Invalid, "/source", "does not compile")
	_, err = r.Artifact(ctx, b.ada, "a")
	require.Equal(t, tool.NotFound, tool.KindOf(err), "nothing is written")
	_, _, err = r.CreateArtifact(ctx, b.ada, registry.ArtifactSpec{Slug: "a", Language: "python"})
	requireRefused(t, err, tool.Invalid, "/language", "python")
}

func boundTo(artifact, constraint string, edit ...func(*registry.ToolSpec)) registry.ToolSpec {
	return spec("quoteOrder", append([]func(*registry.ToolSpec){func(s *registry.ToolSpec) {
		s.ArtifactID, s.ArtifactVersion, s.Publish, s.InputSchema = artifact, constraint, true, nil
	}}, edit...)...)
}

func applyTool(t *testing.T, b bench, p tool.Principal, s registry.ToolSpec) (registry.Change, error) {
	t.Helper()
	return b.registry.Apply(t.Context(), p, registry.Definition{Tool: &s})
}

// A tool with an artifact_id is an artifact tool, whatever its implementation
// type says, and its version pins the artifact's version and digest.
func TestPublishingPins(t *testing.T) {
	t.Parallel()

	b, ctx := setup(t), t.Context()
	a := makeArtifact(t, b)
	_, err := applyTool(t, b, b.ada, boundTo("quote", "^1.0")) // Its implementation type says internal.
	require.NoError(t, err)
	head, err := b.registry.Get(ctx, b.ada, tool.Ref{Slug: "quoteOrder"})
	require.NoError(t, err)
	require.Equal(t, tool.Artifact, head.Implementation)
	require.Equal(t, tool.ArtifactBucket, head.Bucket())
	require.True(t, head.Execution.Pure)
	require.JSONEq(
		t, `{"type":"object","properties":{"lines":{"type":"array"}},"required":["lines"],"additionalProperties":false}`,
		string(head.InputSchema),
	)

	_, _, _, err = b.registry.UploadArtifact(ctx, b.ada, "quote", upload("", "second", lines))
	require.NoError(t, err)
	versions, err := b.registry.Versions(ctx, b.ada, tool.Ref{Slug: "quoteOrder"})
	require.NoError(t, err)
	require.Equal(t, &tool.ArtifactPin{ID: a.ID, Version: "1.0.0", Digest: digestOf("first")},
		versions[0].Snapshot.Artifact, "an upload changes no tool")
	_, v, err := b.registry.Publish(ctx, b.ada, tool.Ref{Slug: "quoteOrder"})
	require.NoError(t, err)
	require.Equal(t, "1.0.0", v.Snapshot.Artifact.Version, "publishing again what is published changes nothing")

	change, err := applyTool(t, b, b.ada, boundTo("quote", "^1.0"))
	require.NoError(t, err)
	require.Equal(t, "1.0.1", change.Version, "the newest program is another version of the tool")
	change, err = applyTool(t, b, b.ada, boundTo("quote", "^1.0"))
	require.NoError(t, err)
	require.Equal(t, registry.Unchanged, change.Action)
	_, err = applyTool(t, b, b.ada, boundTo(a.ID, "1.0.0"))
	require.NoError(t, err)
	versions, err = b.registry.Versions(ctx, b.ada, tool.Ref{Slug: "quoteOrder"})
	require.NoError(t, err)
	require.Len(t, versions, 3)
	require.Equal(t, []string{"1.0.0", "1.0.1", "1.0.0"}, []string{
		versions[0].Snapshot.Artifact.Version, versions[1].Snapshot.Artifact.Version, versions[2].Snapshot.Artifact.Version,
	})
}

// The program that a tool pins is compiled within the tool's own limits before
// the tool is published: uploading it knew none.
func TestPinsAreCompiledWithinTheToolsLimits(t *testing.T) {
	t.Parallel()

	b := setup(t)
	makeArtifact(t, b)
	var compiled []string
	r := registry.New(b.store, registry.Options{Artifacts: registry.ArtifactRules{
		CompileFor: func(_ context.Context, tenant tool.TenantID, _ string, program []byte, config json.RawMessage) error {
			compiled = append(compiled, string(tenant)+" "+string(program)+" "+string(config))
			if strings.Contains(string(config), "224") {
				return &tool.Error{Kind: tool.Invalid, Path: "/source", Msg: "the program used more memory than it may"}
			}
			return nil
		},
	}})
	s := boundTo("quote", "^1.0")
	s.Config = json.RawMessage(`{"limits":{"memory_mb":224}}`)
	_, err := r.Apply(t.Context(), b.ada, registry.Definition{Tool: &s})
	requireRefused(t, err, tool.Invalid, "/implementation_config/source", "more memory")
	s.Config = json.RawMessage(`{"limits":{"memory_mb":300}}`)
	_, err = r.Apply(t.Context(), b.ada, registry.Definition{Tool: &s})
	require.NoError(t, err)
	tenant := string(b.ada.Tenant)
	require.Equal(
		t, []string{tenant + ` first {"limits":{"memory_mb":224}}`, tenant + ` first {"limits":{"memory_mb":300}}`},
		compiled,
	)
}

// What a tool asks for must be there, be the tenant's, and take what the tool's
// schema lets through.
func TestPinsAreJudged(t *testing.T) {
	t.Parallel()

	b := setup(t)
	a := makeArtifact(t, b)
	empty, _, err := b.registry.CreateArtifact(t.Context(), b.ada, registry.ArtifactSpec{Slug: "empty", Language: "jq"})
	require.NoError(t, err)
	tests := []struct {
		name string
		as   tool.Principal
		spec registry.ToolSpec
		kind tool.Kind
		path string
		says string
	}{
		{"missing", b.ada, boundTo("nosuch", ""), tool.NotFound, "/artifact_id", "upload it first"},
		{"another tenant's", b.bob, boundTo(a.ID, ""), tool.NotFound, "/artifact_id", "not found"},
		{"another tenant's slug", b.bob, boundTo("quote", ""), tool.NotFound, "/artifact_id", "not found"},
		{"no version meets it", b.ada, boundTo("quote", "^2"), tool.NotFound, "/artifact_version", "the newest is 1.0.0"},
		{"no constraint", b.ada, boundTo("quote", "new"), tool.Invalid, "/artifact_version", "version constraint"},
		{"no version", b.ada, boundTo(empty.ID, ""), tool.NotFound, "/artifact_version", "no version yet"},
		{
			"a required input", b.ada, boundTo("quote", "", input(`{"type":"object","properties":{"lines":{}}}`)), tool.Invalid,
			"/input_schema/required", `requires the input "lines"`,
		},
		{
			"an unknown input", b.ada,
			boundTo("quote", "", input(`{"type":"object","properties":{"lines":{},"x":{}},"required":["lines"]}`)),
			tool.Invalid, "/input_schema/properties", `takes no input "x"`,
		},
		{
			"a network", b.ada, boundTo("quote", "", func(s *registry.ToolSpec) { s.EgressClass = tool.EgressReadOnly }),
			tool.Invalid, "/egress_class", "no network",
		},
	}
	for _, tt := range tests {
		_, err := applyTool(t, b, tt.as, tt.spec)
		requireRefused(t, err, tt.kind, tt.path, tt.says)
	}
	draft := boundTo("nosuch", "")
	draft.Publish = false
	change, err := applyTool(t, b, b.ada, draft)
	require.NoError(t, err, "a draft may be unfinished")
	require.Contains(t, change.Warnings[len(change.Warnings)-1], "upload it first")
	_, _, err = b.registry.Publish(t.Context(), b.ada, tool.Ref{Slug: "quoteOrder"})
	requireRefused(t, err, tool.NotFound, "/artifact_id", "upload it first")
	_, err = b.registry.Check(t.Context(), b.ada, registry.Definition{Tool: new(boundTo("nosuch", ""))})
	require.NoError(t, err, "the same batch may bring it")
}

// A disabled artifact is published by nothing, and a deprecated one by nothing new.
func TestStoppedArtifacts(t *testing.T) {
	t.Parallel()

	b, ctx := setup(t), t.Context()
	makeArtifact(t, b)
	_, err := applyTool(t, b, b.ada, boundTo("quote", ""))
	require.NoError(t, err)
	a, err := b.registry.SetArtifactStatus(ctx, b.ada, "quote", registry.ArtifactDeprecated)
	require.NoError(t, err)
	require.Equal(t, registry.ArtifactDeprecated, a.Status)
	_, _, err = b.registry.Publish(ctx, b.ada, tool.Ref{Slug: "quoteOrder"})
	require.NoError(t, err, "it is pinned already")
	other := boundTo("quote", "")
	other.Slug = "another"
	_, err = applyTool(t, b, b.ada, other)
	requireRefused(t, err, tool.Conflict, "/artifact_id", "deprecated")
	_, err = b.registry.SetArtifactStatus(ctx, b.ada, "quote", registry.ArtifactDisabled)
	require.NoError(t, err)
	_, _, err = b.registry.Publish(ctx, b.ada, tool.Ref{Slug: "quoteOrder"})
	requireRefused(t, err, tool.Conflict, "/artifact_id", "disabled")
	_, err = b.registry.SetArtifactStatus(ctx, b.bob, a.ID, registry.ArtifactActive)
	require.Equal(t, tool.NotFound, tool.KindOf(err))
	again, err := b.registry.At(1).SetArtifactStatus(ctx, b.ada, "quote", registry.ArtifactActive)
	require.ErrorIs(t, err, registry.ErrChanged, "%v", again)
}

// Applying an artifact uploads what changed, and nothing again.
func TestApplyArtifact(t *testing.T) {
	t.Parallel()

	b, ctx := setup(t), t.Context()
	apply := func(doc string) (registry.Change, error) {
		d, err := registry.ParseDefinition(json.RawMessage(doc))
		require.NoError(t, err)
		require.Equal(t, "artifact", d.Kind())
		dry, dryErr := b.registry.Check(ctx, b.ada, d)
		change, err := b.registry.Apply(ctx, b.ada, d)
		require.Equal(t, dryErr == nil, err == nil)
		if err == nil {
			require.Equal(t, dry.Action, change.Action)
			require.Equal(t, dry.Version, change.Version)
		}
		return change, err
	}
	const first = `{"kind": "artifact", "slug": "total", "language": "jq", "source": ".a", "inputs": [{"name": "a", "required": true}]}`
	change, err := apply(first)
	require.NoError(t, err)
	require.Equal(t, registry.Created, change.Action)
	require.Equal(t, "1.0.0", change.Version)
	change, err = apply(first)
	require.NoError(t, err)
	require.Equal(t, registry.Unchanged, change.Action)
	change, err = apply(`{"kind": "artifact", "slug": "total", "description": "Adds.", "contentBase64": "LmI="}`)
	require.NoError(t, err)
	require.Equal(t, registry.Updated, change.Action)
	require.Equal(t, "1.0.1", change.Version)
	_, number, code, err := b.registry.ArtifactCode(ctx, b.ada, "total", "")
	require.NoError(t, err)
	require.Equal(t, "1.0.1", number)
	require.Equal(t, ".b", string(code.Content))
	_, err = apply(`{"kind": "artifact", "slug": "total", "language": "wasm", "source": ".b"}`)
	requireRefused(t, err, tool.Invalid, "/language", "cannot be changed")
}
