package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/definition"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// callArguments are the flags that give the arguments of a call.
type callArguments struct {
	text  string   // JSON.
	file  string   // Of JSON.
	pairs []string // name=value, which the tool's schema gives types.
	check bool     // Validate against the schema before the call.
}

// read returns the arguments as JSON. Pairs are converted to the types in the
// schema of the version that the call would run.
func (in callArguments) read(
	ctx context.Context, c *client.Client, stdin io.Reader, name string, call v1.NewCall,
) (json.RawMessage, error) {
	raw, err := readArguments(stdin, in.text, in.file)
	if err != nil || len(in.pairs) == 0 && !in.check {
		return raw, err
	}
	if raw != nil && len(in.pairs) > 0 {
		return nil, cli.Usagef("give the arguments as --arg or as --args, not as both")
	}
	text, slug, err := inputSchema(ctx, c, name, call)
	if err != nil {
		return nil, err
	}
	if len(in.pairs) > 0 {
		var declared struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if len(text) > 0 {
			if err := json.Unmarshal(text, &declared); err != nil {
				return nil, fmt.Errorf("reading the tool's schema: %w", err)
			}
		}
		raw, err = definition.Arguments(in.pairs, func(name string) bool { return declared.Properties[name] != nil })
		if err != nil {
			return nil, &cli.UsageError{Err: err}
		}
	}
	compiled, err := schema.New(1).Compile(text)
	if err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", slug, err)
	}
	prepared, _, err := compiled.Prepare(ctx, raw)
	if err != nil {
		e := tool.AsError(err)
		return nil, &tool.Error{
			Kind: tool.Invalid, Path: e.Path, Msg: fmt.Sprintf("the arguments do not fit %s: %s", slug, e.Msg),
		}
	}
	return prepared, nil
}

// inputSchema returns the schema of the version that a call would run, and the
// tool's slug.
func inputSchema(
	ctx context.Context, c *client.Client, name string, call v1.NewCall,
) (text json.RawMessage, slug string, err error) {
	e, err := c.ExplainTool(ctx, name, client.Explain{Version: call.Version, Mode: call.Mode})
	if err != nil {
		return nil, "", err
	}
	if e.Code != "" && e.Version == "" { // A needed approval is refused by the call itself.
		return nil, "", &tool.Error{Kind: e.Code, Msg: e.Detail}
	}
	if len(e.InputSchema) > 0 {
		return e.InputSchema, e.Slug, nil
	}
	if e.Draft { // A server of an earlier version, or a tool without a schema.
		t, err := c.Tool(ctx, e.ToolID)
		return t.InputSchema, e.Slug, err
	}
	versions, err := c.ToolVersions(ctx, e.ToolID)
	if err != nil {
		return nil, "", err
	}
	for _, v := range versions.Items {
		if v.Version == e.Version {
			return v.Definition.InputSchema, e.Slug, nil
		}
	}
	return nil, "", &tool.Error{
		Kind: tool.NotFound, Msg: fmt.Sprintf("tool %q has no version %s any more: try again", e.Slug, e.Version),
	}
}
