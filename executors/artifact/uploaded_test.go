package artifact_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/artifact"
	"github.com/toolcrib/toolcrib/executors/executortest"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/tool"
)

func digestOf(program string) string {
	sum := sha256.Sum256([]byte(program))
	return hex.EncodeToString(sum[:])
}

// shelf keeps programs as a store does, and counts how often it is asked.
type shelf struct {
	asked    int
	programs map[string]tool.ArtifactCode // By tenant and version.
}

func (s *shelf) LoadArtifact(_ context.Context, tenant tool.TenantID, id, version string) (tool.ArtifactCode, error) {
	s.asked++
	code, ok := s.programs[string(tenant)+"/"+version]
	if !ok || id != "a-1" {
		return tool.ArtifactCode{}, &tool.Error{Kind: tool.NotFound, Msg: "artifact version not found"}
	}
	return code, nil
}

func codeOf(source string, inputs ...tool.ArtifactInput) tool.ArtifactCode {
	return tool.ArtifactCode{Language: "javascript", Digest: digestOf(source), Content: []byte(source), Inputs: inputs}
}

// pinning is a call of a tool that pins a version.
func pinning(version, source, config, arguments string) *tool.Call {
	c := callOf(config, arguments)
	c.Version.Snapshot.InputSchema = nil
	c.Version.Snapshot.Artifact = &tool.ArtifactPin{ID: "a-1", Version: version, Digest: digestOf(source)}
	return c
}

// echo is a sandbox that answers with the program.
func echo(seen *[]sandbox.Job) box {
	return func(_ context.Context, j sandbox.Job) (*sandbox.Outcome, error) {
		if seen != nil {
			*seen = append(*seen, j)
		}
		raw, err := json.Marshal(string(j.Program))
		return &sandbox.Outcome{Output: raw}, err
	}
}

// A call runs the version that its tool pins, whatever was uploaded since; it is
// read once, for each tenant, and its limits are the tool's.
func TestUploaded(t *testing.T) {
	t.Parallel()

	s := &shelf{programs: map[string]tool.ArtifactCode{"t1/1.0.0": codeOf("first"), "t2/1.0.0": codeOf("theirs")}}
	var jobs []sandbox.Job
	e := artifact.New(echo(&jobs), artifact.Options{Programs: s})
	run := func(tenant tool.TenantID, version, source, config string) (string, error) {
		c := pinning(version, source, config, `{"x": 1}`)
		c.Principal.Tenant = tenant
		res, err := e.Execute(t.Context(), c)
		if err != nil {
			return "", err
		}
		return string(res.Structured), nil
	}
	for _, config := range []string{"", `{"type": "http"}`, `{"limits": {"time_ms": 700}}`} {
		got, err := run("t1", "1.0.0", "first", config)
		require.NoError(t, err)
		require.Equal(t, `"first"`, got)
	}
	require.Equal(t, 1, s.asked)
	require.Zero(t, jobs[0].Limits.Time)
	require.Equal(t, 700*time.Millisecond, jobs[2].Limits.Time)

	s.programs["t1/1.1.0"] = codeOf("second")
	got, err := run("t1", "1.0.0", "first", "")
	require.NoError(t, err)
	require.Equal(t, `"first"`, got, "what is pinned goes on")
	got, err = run("t1", "1.1.0", "second", "")
	require.NoError(t, err)
	require.Equal(t, `"second"`, got)

	got, err = run("t2", "1.0.0", "theirs", "")
	require.NoError(t, err)
	require.Equal(t, `"theirs"`, got, "no tenant gets another's")
	_, err = run("t2", "1.0.0", "first", "")
	require.Equal(t, tool.Conflict, tool.KindOf(err), "not even where it knows the digest")
	_, err = run("t3", "1.0.0", "first", "")
	require.Equal(t, tool.NotFound, tool.KindOf(err))
	_, err = run("t1", "1.0.0", "first", `{"source": "x"}`)
	require.ErrorContains(t, err, `unknown field "source"`)
	_, err = artifact.New(echo(nil), artifact.Options{}).Execute(t.Context(), pinning("1.0.0", "first", "", `{}`))
	require.Equal(t, tool.Unavailable, tool.KindOf(err))
}

// What is kept under a version and is not what the tool pins does not run.
func TestDigestsAreVerified(t *testing.T) {
	t.Parallel()

	forged := codeOf("forged")
	forged.Digest = digestOf("first") // A row that lies of itself.
	s := &shelf{programs: map[string]tool.ArtifactCode{"t1/1.0.0": forged}}
	e := artifact.New(box(func(context.Context, sandbox.Job) (*sandbox.Outcome, error) { panic("it runs") }),
		artifact.Options{Programs: s})
	_, err := e.Execute(t.Context(), pinning("1.0.0", "first", "", `{}`))
	require.Equal(t, tool.Conflict, tool.KindOf(err))
	require.ErrorContains(t, err, "has another digest than the tool pins")
}

// A program that declares its inputs is given those, and nothing else.
func TestDeclaredInputs(t *testing.T) {
	t.Parallel()

	inputs := []tool.ArtifactInput{
		{Name: "s", Type: "string", Required: true},
		{Name: "i", Type: "integer"},
		{Name: "n", Type: "number"},
		{Name: "b", Type: "boolean"},
		{Name: "o", Type: "object"},
		{Name: "l", Type: "array"},
		{Name: "any", Required: true},
	}
	s := &shelf{programs: map[string]tool.ArtifactCode{"t1/1.0.0": codeOf("x", inputs...)}}
	ran := 0
	e := artifact.New(box(func(_ context.Context, j sandbox.Job) (*sandbox.Outcome, error) {
		ran++
		return &sandbox.Outcome{Output: j.Input}, nil
	}), artifact.Options{Programs: s})
	for _, arguments := range []string{
		`{"s": "{{ not.expanded }}", "any": null}`,
		`{"s": "", "any": 1, "i": -2e3, "n": 1e3, "b": false, "o": {}, "l": []}`,
	} {
		res, err := e.Execute(t.Context(), pinning("1.0.0", "x", "", arguments))
		require.NoError(t, err, arguments)
		require.Equal(t, arguments, string(res.Structured), "literally")
	}
	ran = 0
	for arguments, path := range map[string]string{
		`{"any": 1}`:                                "/s",
		`{"s": "x"}`:                                "/any",
		`{"s": null, "any": 1}`:                     "/s",
		`{"s": 1, "any": 1}`:                        "/s",
		`{"s": "", "any": 1, "i": 1.5}`:             "/i",
		`{"s": "", "any": 1, "i": "1"}`:             "/i",
		`{"s": "", "any": 1, "i": 1e999999999}`:     "/i",
		`{"s": "", "any": 1, "n": "1"}`:             "/n",
		`{"s": "", "any": 1, "b": 0}`:               "/b",
		`{"s": "", "any": 1, "o": []}`:              "/o",
		`{"s": "", "any": 1, "l": {}}`:              "/l",
		`{"s": "", "any": 1, "S": ""}`:              "/S",
		`{"s": "", "any": 1, "x/y": "", "any2": 2}`: "",
	} {
		_, err := e.Execute(t.Context(), pinning("1.0.0", "x", "", arguments))
		require.Equal(t, tool.Invalid, tool.KindOf(err), arguments)
		if path != "" {
			require.Equal(t, path, tool.AsError(err).Path, arguments)
		}
	}
	require.Zero(t, ran, "nothing runs")
}

// An operator's limits are a tool's: more is refused, and clamped where it
// stands already.
func TestOperatorsLimits(t *testing.T) {
	t.Parallel()

	j := artifact.Judge{Max: sandbox.Limits{Time: time.Second, Memory: 256 << 20, Output: 64 << 10}, MaxProgram: 30}
	for config, want := range map[string]struct{ path, says string }{
		`{"language": "jq", "source": ".", "limits": {"time_ms": 1001}}`: {
			"/limits/time_ms", "time_ms is 1001: the operator allows 1000",
		},
		`{"language": "jq", "source": ".", "limits": {"memory_mb": 257}}`: {
			"/limits/memory_mb", "memory_mb is 257: the operator allows 256",
		},
		`{"language": "jq", "source": ".", "limits": {"output_kb": 65}}`: {
			"/limits/output_kb", "output_kb is 65: the operator allows 64",
		},
		`{"language": "jq", "source": "` + longFilter + `"}`: {"/source", "is 30 here"},
	} {
		err := tool.AsError(j.CheckConfig(json.RawMessage(config)))
		require.Equal(t, tool.Invalid, err.Kind, config)
		require.Equal(t, want.path, err.Path, config)
		require.Contains(t, err.Msg, want.says)
	}
	require.NoError(
		t,
		j.CheckConfig(json.RawMessage(`{"language": "jq", "source": ".", "limits": {"time_ms": 1000, "memory_mb": 256, "output_kb": 64}}`)),
	)
	require.Equal(
		t, "/limits/time_ms", tool.AsError(j.CheckUploaded(json.RawMessage(`{"limits": {"time_ms": 1001}}`))).Path,
	)
	require.Equal(
		t, "/limits/time_ms", tool.AsError(j.CheckUploaded(json.RawMessage(`{"limits": {"time_ms": 30001}}`))).Path,
	)
	require.NoError(t, j.CheckUploaded(nil))
	require.Error(t, j.CheckUploaded(json.RawMessage(`{"language": "jq"}`)))

	slow := box(func(context.Context, sandbox.Job) (*sandbox.Outcome, error) {
		return nil, &sandbox.ProgramError{Class: sandbox.OverTime, Msg: "the program took longer than 1s"}
	})
	e := artifact.New(slow, artifact.Options{Judge: j})
	res, err := e.Execute(
		t.Context(), callOf(`{"language": "jq", "source": ".", "limits": {"time_ms": 5000}}`, `{"a": 1, "b/c": 2}`),
	)
	require.NoError(t, err)
	require.Equal(t, tool.ErrorResult("time: the program took longer than 1s (time_ms is 5000: the operator allows 1000)"),
		res)
}

const longFilter = ". | . | . | . | . | . | . | . | ."

// What is uploaded has the form and the size that its language allows.
func TestCheckProgram(t *testing.T) {
	t.Parallel()

	module := append([]byte("\x00asm\x01\x00\x00\x00"), make([]byte, artifact.MaxUploadedModule)...)
	var j artifact.Judge
	require.NoError(t, j.CheckProgram("wasm", module[:artifact.MaxUploadedModule]))
	require.NoError(t, j.CheckProgram("javascript", module[:artifact.MaxUploadedSource]))
	for _, tt := range []struct {
		language string
		program  []byte
		path     string
	}{
		{"wasm", module, "/content_base64"},
		{"wasm", []byte("text"), "/content_base64"},
		{"javascript", module[:artifact.MaxUploadedSource+1], "/source"},
		{"jq", module[:sandbox.JQ.MaxProgram()+1], "/source"},
	} {
		err := tool.AsError(j.CheckProgram(tt.language, tt.program))
		require.Equal(t, tool.Invalid, err.Kind)
		require.Equal(t, tt.path, err.Path)
	}
	err := artifact.Judge{Box: box(func(_ context.Context, j sandbox.Job) (*sandbox.Outcome, error) {
		require.True(t, j.Check)
		return nil, &sandbox.ProgramError{Class: sandbox.Malformed, Msg: "it does not parse"}
	})}.CompileProgram(t.Context(), "t1", "jq", []byte("("))
	require.Equal(t, "/source", tool.AsError(err).Path)
	require.NoError(t, j.CompileProgram(t.Context(), "t1", "jq", []byte("(")), "nobody can tell without a sandbox")
}

// Uploaded programs behave as all tools do.
func TestUploadedConformance(t *testing.T) {
	t.Parallel()

	s := &shelf{
		programs: map[string]tool.ArtifactCode{
			"t1/1.0.0": codeOf("first", tool.ArtifactInput{Name: "a", Type: "array", Required: true}),
		},
	}
	executortest.Run(t, executortest.Harness{
		Inside: true,
		New: func(_ *testing.T, b executortest.Behaviour) executortest.Subject {
			return executortest.Subject{
				Executor: artifact.New(behaving(b), artifact.Options{Programs: &shelf{programs: s.programs}}),
				Call: func(effectID string) *tool.Call {
					c := pinning("1.0.0", "first", "", `{"a": [1.10]}`)
					c.EffectID = effectID
					return c
				},
			}
		},
		Lacks: map[executortest.Behaviour]string{
			executortest.Refuses:      "the sandbox is given no credential",
			executortest.BreaksOff:    "a child that dies fails",
			executortest.QuotesSecret: "the executor opens none for it",
			executortest.NoSecret:     "the executor opens none for it",
			executortest.Panics:       "no code of others runs in its process",
		},
	})
}
