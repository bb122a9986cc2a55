package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/schema/jsonvalue"
	"github.com/toolcrib/toolcrib/tool"
)

// callArguments is how a command line gives the arguments of a call.
type callArguments struct {
	text  string   // JSON.
	file  string   // Of JSON.
	pairs []string // name=value, which the tool's schema gives types.
	check bool     // Whether to check them against the schema here.
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
		return nil, usage("give the arguments as --arg or as --args, not as both")
	}
	text, slug, err := inputSchema(ctx, c, name, call)
	if err != nil {
		return nil, err
	}
	if len(in.pairs) > 0 {
		if raw, err = pairArguments(in.pairs, text); err != nil {
			return nil, err
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
	e, err := c.ExplainTool(ctx, name, call.Version, call.Mode)
	if err != nil {
		return nil, "", err
	}
	if e.Code != "" && e.Version == "" { // What only needs an approval is for the call to refuse.
		return nil, "", &tool.Error{Kind: e.Code, Msg: e.Detail}
	}
	if e.Draft {
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

// pairArguments makes an object of name=value pairs. Their values are text,
// which the schema gives types afterwards. A name given several times is a
// list, and dots lead into objects, unless the schema has a property of that
// very name.
func pairArguments(pairs []string, text json.RawMessage) (json.RawMessage, error) {
	var declared struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &declared); err != nil {
			return nil, fmt.Errorf("reading the tool's schema: %w", err)
		}
	}
	root := make(map[string]any)
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, usage("--arg %q: expected NAME=VALUE", pair)
		}
		path := strings.Split(name, ".")
		if _, whole := declared.Properties[name]; whole {
			path = []string{name}
		}
		if reason := jsonvalue.CheckString(pair); reason != "" { // Encoding would replace what it cannot write.
			return nil, usage("--arg %q: %s", name, reason)
		}
		if err := put(root, path, value); err != nil {
			return nil, usage("--arg %q: %v", pair, err)
		}
	}
	return json.Marshal(root)
}

// put sets a value in nested objects.
func put(object map[string]any, path []string, value string) error {
	name := path[0]
	if len(path) == 1 {
		switch have := object[name].(type) {
		case nil:
			object[name] = value
		case string:
			object[name] = []any{have, value}
		case []any:
			object[name] = append(have, value)
		default:
			return fmt.Errorf("%s is an object already", name)
		}
		return nil
	}
	inner, ok := object[name].(map[string]any)
	if !ok {
		if object[name] != nil {
			return fmt.Errorf("%s has a value already", name)
		}
		inner = make(map[string]any)
		object[name] = inner
	}
	return put(inner, path[1:], value)
}
