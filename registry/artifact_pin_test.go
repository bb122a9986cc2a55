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
	"github.com/toolcrib/toolcrib/registry/artifact"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/registry/release"
	"github.com/toolcrib/toolcrib/tool"
)

func digestOf(program string) string {
	sum := sha256.Sum256([]byte(program))
	return hex.EncodeToString(sum[:])
}

func upload(version, source string, inputs ...tool.ArtifactInput) definition.ArtifactUpload {
	return definition.ArtifactUpload{Version: version, Source: source, Inputs: inputs}
}

var lines = tool.ArtifactInput{Name: "lines", Type: "array", Required: true}

// makeArtifact makes the artifact "quote" with version 1.0.0, which declares lines.
func makeArtifact(t *testing.T, b bench) artifact.Artifact {
	t.Helper()
	a, v, err := b.registry.Artifacts().Create(t.Context(), b.ada, definition.ArtifactSpec{
		Slug: "quote", Language: "javascript", ArtifactUpload: upload("", "first", lines),
	})
	require.NoError(t, err)
	require.Equal(t, release.First, v.Number)
	require.Equal(t, digestOf("first"), v.Digest)
	require.Equal(t, "user:ada", v.CreatedBy)
	return a
}

func boundTo(slugOrID, constraint string, edit ...func(*definition.ToolSpec)) definition.ToolSpec {
	return spec("quoteOrder", append([]func(*definition.ToolSpec){func(s *definition.ToolSpec) {
		s.ArtifactID, s.ArtifactVersion, s.Publish, s.InputSchema = slugOrID, constraint, true, nil
	}}, edit...)...)
}

func applyTool(t *testing.T, b bench, p tool.Principal, s definition.ToolSpec) (definition.Change, error) {
	t.Helper()
	return b.registry.Apply(t.Context(), p, definition.Definition{Tool: &s})
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
	require.Equal(t, tool.BucketArtifact, head.Bucket())
	require.True(t, head.Execution.Pure)
	require.JSONEq(
		t, `{"type":"object","properties":{"lines":{"type":"array"}},"required":["lines"],"additionalProperties":false}`,
		string(head.InputSchema),
	)

	_, _, _, err = b.registry.Artifacts().Upload(ctx, b.ada, "quote", upload("", "second", lines))
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
	require.Equal(t, definition.Unchanged, change.Action)
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
	r := registry.New(b.store, registry.Options{Artifacts: artifact.Rules{
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
	_, err := r.Apply(t.Context(), b.ada, definition.Definition{Tool: &s})
	registrytest.RequireRefused(t, err, tool.Invalid, "/implementation_config/source", "more memory")
	s.Config = json.RawMessage(`{"limits":{"memory_mb":300}}`)
	_, err = r.Apply(t.Context(), b.ada, definition.Definition{Tool: &s})
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
	empty, _, err := b.registry.Artifacts().Create(t.Context(), b.ada, definition.ArtifactSpec{
		Slug:     "empty",
		Language: "jq",
	})
	require.NoError(t, err)
	tests := []struct {
		name string
		as   tool.Principal
		spec definition.ToolSpec
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
			"a required input",
			b.ada,
			boundTo("quote", "", input(`{"type":"object","properties":{"lines":{}}}`)),
			tool.Invalid,
			"/input_schema/required",
			`requires the input "lines"`,
		},
		{
			"an unknown input", b.ada,
			boundTo("quote", "", input(`{"type":"object","properties":{"lines":{},"x":{}},"required":["lines"]}`)),
			tool.Invalid, "/input_schema/properties", `takes no input "x"`,
		},
		{
			"a network", b.ada, boundTo("quote", "", func(s *definition.ToolSpec) { s.EgressClass = tool.EgressReadOnly }),
			tool.Invalid, "/egress_class", "no network",
		},
	}
	for _, tt := range tests {
		_, err := applyTool(t, b, tt.as, tt.spec)
		registrytest.RequireRefused(t, err, tt.kind, tt.path, tt.says)
	}
	draft := boundTo("nosuch", "")
	draft.Publish = false
	change, err := applyTool(t, b, b.ada, draft)
	require.NoError(t, err, "a draft may be unfinished")
	require.Contains(t, change.Warnings[len(change.Warnings)-1], "upload it first")
	_, _, err = b.registry.Publish(t.Context(), b.ada, tool.Ref{Slug: "quoteOrder"})
	registrytest.RequireRefused(t, err, tool.NotFound, "/artifact_id", "upload it first")
	_, err = b.registry.Check(t.Context(), b.ada, definition.Definition{Tool: new(boundTo("nosuch", ""))})
	require.NoError(t, err, "the same batch may bring it")
}

// A disabled artifact is published by nothing, and a deprecated one by nothing new.
func TestStoppedArtifacts(t *testing.T) {
	t.Parallel()

	b, ctx := setup(t), t.Context()
	makeArtifact(t, b)
	_, err := applyTool(t, b, b.ada, boundTo("quote", ""))
	require.NoError(t, err)
	a, err := b.registry.Artifacts().SetStatus(ctx, b.ada, "quote", definition.ArtifactDeprecated)
	require.NoError(t, err)
	require.Equal(t, definition.ArtifactDeprecated, a.Status)
	_, _, err = b.registry.Publish(ctx, b.ada, tool.Ref{Slug: "quoteOrder"})
	require.NoError(t, err, "it is pinned already")
	other := boundTo("quote", "")
	other.Slug = "another"
	_, err = applyTool(t, b, b.ada, other)
	registrytest.RequireRefused(t, err, tool.Conflict, "/artifact_id", "deprecated")
	_, err = b.registry.Artifacts().SetStatus(ctx, b.ada, "quote", definition.ArtifactDisabled)
	require.NoError(t, err)
	_, _, err = b.registry.Publish(ctx, b.ada, tool.Ref{Slug: "quoteOrder"})
	registrytest.RequireRefused(t, err, tool.Conflict, "/artifact_id", "disabled")
	_, err = b.registry.Artifacts().SetStatus(ctx, b.bob, a.ID, definition.ArtifactActive)
	require.Equal(t, tool.NotFound, tool.KindOf(err))
	again, err := b.registry.Artifacts().At(1).SetStatus(ctx, b.ada, "quote", definition.ArtifactActive)
	require.ErrorIs(t, err, definition.ErrChanged, "%v", again)
}

// Applying an artifact uploads what changed, and nothing again.
func TestApplyArtifact(t *testing.T) {
	t.Parallel()

	b, ctx := setup(t), t.Context()
	apply := func(doc string) (definition.Change, error) {
		d, err := definition.Parse(json.RawMessage(doc))
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
	require.Equal(t, definition.Created, change.Action)
	require.Equal(t, "1.0.0", change.Version)
	change, err = apply(first)
	require.NoError(t, err)
	require.Equal(t, definition.Unchanged, change.Action)
	change, err = apply(`{"kind": "artifact", "slug": "total", "description": "Adds.", "contentBase64": "LmI="}`)
	require.NoError(t, err)
	require.Equal(t, definition.Updated, change.Action)
	require.Equal(t, "1.0.1", change.Version)
	_, number, code, err := b.registry.Artifacts().Code(ctx, b.ada, "total", "")
	require.NoError(t, err)
	require.Equal(t, "1.0.1", number)
	require.Equal(t, ".b", string(code.Content))
	_, err = apply(`{"kind": "artifact", "slug": "total", "language": "wasm", "source": ".b"}`)
	registrytest.RequireRefused(t, err, tool.Invalid, "/language", "cannot be changed")
}
