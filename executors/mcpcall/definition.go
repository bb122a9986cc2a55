package mcpcall

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/internal/visible"
	"github.com/toolcrib/toolcrib/tool"
)

// configs caches decoded configurations.
type configs struct {
	mu   sync.RWMutex
	kept map[string]*Config
}

const maxConfigs = 4096

// of returns a version's decoded configuration, from the cache.
func (c *configs) of(v *tool.Version) (*Config, error) {
	c.mu.RLock()
	cfg := c.kept[string(v.Snapshot.Config)]
	c.mu.RUnlock()
	if cfg != nil {
		return cfg, nil
	}
	cfg, err := decodeConfig(v.Snapshot.Config)
	if err != nil {
		out := &tool.Error{Kind: tool.Invalid, Op: "mcpcall.Execute", Msg: "the tool's configuration is malformed", Err: err}
		if f, ok := errors.AsType[*tool.Error](err); ok {
			out.Msg += " at implementation_config" + f.Path + ": " + f.Msg
		}
		return nil, out
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || len(c.kept) >= maxConfigs {
		c.kept = make(map[string]*Config)
	}
	c.kept[string(v.Snapshot.Config)] = cfg
	return cfg, nil
}

// definition is the part of a tool's definition at the server that calls need.
type definition struct {
	digest  string
	headers json.RawMessage // The whole definition, where it maps arguments to headers.
}

// definitions caches servers' tool definitions by session, for a limited time so
// that changes are noticed.
type definitions struct {
	mu    sync.Mutex
	kept  map[SessionKey]defined
	bytes int // Of all entries.
}

type defined struct {
	all   map[string]definition
	at    time.Time
	bytes int
}

const (
	maxDefinitions     = 1024
	maxDefinitionBytes = 64 << 20 // Of all entries: a server can send a full list.
	maxDefinitionAge   = time.Minute
)

func (d *definitions) get(key SessionKey) map[string]definition {
	d.mu.Lock()
	defer d.mu.Unlock()
	kept, ok := d.kept[key]
	if !ok || time.Since(kept.at) > maxDefinitionAge {
		return nil
	}
	return kept.all
}

func (d *definitions) put(key SessionKey, all map[string]definition) {
	if key.RunID == "" {
		return
	}
	next := defined{all: all, at: time.Now()}
	for name, def := range all {
		next.bytes += len(name) + len(def.digest) + len(def.headers)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drop(key)
	if d.kept == nil || len(d.kept) >= maxDefinitions || d.bytes+next.bytes > maxDefinitionBytes {
		d.kept, d.bytes = make(map[SessionKey]defined), 0
	}
	d.kept[key] = next
	d.bytes += next.bytes
}

func (d *definitions) forget(key SessionKey) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drop(key)
}

// drop removes the definitions of a session. The lock is held.
func (d *definitions) drop(key SessionKey) {
	d.bytes -= d.kept[key].bytes
	delete(d.kept, key)
}

// verify refuses a call whose tool no longer matches the definition it pins,
// and reports that to [Options].Changed. It lists the tools of a server without
// sessions too, since the headers that such a server requires are in its
// definitions.
func (c *Client) verify(ctx context.Context, conn *conn, cfg *Config, call *tool.Call) error {
	err := c.compare(ctx, conn, cfg)
	if changed, ok := errors.AsType[*remote.ChangedError](err); ok && c.opts.Changed != nil {
		c.opts.Changed(ctx, call, changed)
	}
	return err
}

func (c *Client) compare(ctx context.Context, conn *conn, cfg *Config) error {
	def, err := c.definition(ctx, conn, cfg.ToolName)
	if err != nil {
		if changed, ok := errors.AsType[*remote.ChangedError](err); ok {
			changed.Pinned = cfg.DefinitionDigest
		}
		return err
	}
	if cfg.DefinitionDigest != "" && cfg.DefinitionDigest != def.digest {
		return changed(&remote.ChangedError{Tool: cfg.ToolName, Pinned: cfg.DefinitionDigest, Found: def.digest},
			fmt.Sprintf(
				"the server changed its definition of the tool %q since it was imported: review the difference, and "+
					"import it again",
				cfg.ToolName,
			))
	}
	if len(def.headers) > 0 && conn.stateless() && !conn.usable(ctx, def.headers) {
		return &tool.Error{
			Kind: tool.Conflict, Op: "mcpcall.Execute",
			Msg: fmt.Sprintf("the server's definition of the tool %q can't be used: %s", cfg.ToolName, badHeaders),
		}
	}
	return nil
}

const badHeaders = "it puts arguments into headers in a way that the protocol does not allow"

// usable makes the SDK parse a tool's definition for its mapping of arguments to
// headers, and reports whether that is valid.
func (c *conn) usable(ctx context.Context, raw json.RawMessage) bool {
	c.peer.learn(methodList, json.RawMessage(`{"tools":[`+string(raw)+`]}`))
	defer c.peer.unlearn(methodList)
	listed, err := c.session.ListTools(ctx, &mcp.ListToolsParams{})
	return err == nil && len(listed.Tools) == 1
}

// definition finds a tool in the server's list.
func (c *Client) definition(ctx context.Context, conn *conn, name string) (definition, error) {
	all := c.known.get(conn.target.key)
	if all == nil {
		listed, err := conn.list(ctx)
		if err != nil {
			return definition{}, err
		}
		all = make(map[string]definition, len(listed.tools))
		for _, t := range listed.tools {
			def := definition{digest: t.Digest}
			if namesHeaders(t.InputSchema) {
				def.headers = listed.raw[t.Name]
			}
			all[t.Name] = def
		}
		c.known.put(conn.target.key, all)
	}
	def, ok := all[name]
	if !ok {
		return definition{}, changed(&remote.ChangedError{Tool: name},
			fmt.Sprintf("the server has no tool %q any more: it was renamed or removed", name))
	}
	return def, nil
}

// namesHeaders reports whether a schema may put arguments into headers.
func namesHeaders(schema json.RawMessage) bool {
	return bytes.Contains(schema, []byte("x-mcp-header"))
}

func changed(why *remote.ChangedError, msg string) error {
	return &tool.Error{Kind: tool.Conflict, Op: "mcpcall.Execute", Msg: msg, Err: why}
}

// listing is a server's list of tools.
type listing struct {
	tools   []remote.Tool
	raw     map[string]json.RawMessage // By name.
	skipped []remote.Skipped
}

// list requests the server's tools, page by page.
func (c *conn) list(ctx context.Context) (*listing, error) {
	out := &listing{raw: make(map[string]json.RawMessage)}
	cursor, total := "", 0
	seen := map[string]bool{"": true}
	for page := 0; ; page++ {
		raw, err := c.page(ctx, cursor)
		if err != nil {
			return nil, err
		}
		var p struct {
			Tools []json.RawMessage `json:"tools"`
			Next  string            `json:"nextCursor"` //nolint:tagliatelle // The protocol's name.
		}
		if json.Unmarshal(raw, &p) != nil {
			return nil, unlisted("is malformed")
		}
		total += len(raw)
		for _, def := range p.Tools {
			out.add(def)
		}
		switch {
		case total > maxListBytes:
			return nil, unlisted(fmt.Sprintf("is longer than %d bytes", maxListBytes))
		case len(out.tools)+len(out.skipped) > maxTools:
			return nil, unlisted(fmt.Sprintf("has more than %d tools", maxTools))
		case p.Next == "":
			return out, nil
		case seen[p.Next], page >= maxPages, len(p.Next) > maxURIBytes:
			return nil, unlisted("has no end")
		}
		cursor = p.Next
		seen[cursor] = true
	}
}

func unlisted(how string) error {
	return &tool.Error{Kind: tool.Unavailable, Op: "mcpcall", Msg: "the server's list of tools " + how}
}

// page requests one page of the list.
func (c *conn) page(ctx context.Context, cursor string) (json.RawMessage, error) {
	c.peer.forget(methodList)
	_, _ = c.session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor}) // The peer keeps the answer.
	return c.answer(ctx, methodList, unlisted, "the server refuses to list its tools")
}

// answer returns the answer to a request, or why there is none: unread makes an error of what is wrong with it.
func (c *conn) answer(
	ctx context.Context, method string, unread func(how string) error, refused string,
) (json.RawMessage, error) {
	seen, at := c.peer.of(method), c.exchange(method)
	ended := endedBy(ctx)
	switch {
	case seen.answered && seen.answer.err == nil:
		// A server may quote its caller's credential in what it says.
		return secret.RedactorFrom(ctx).JSON(seen.answer.result), nil
	case at.overflow > 0:
		return nil, unread(fmt.Sprintf("is longer than %d bytes", at.overflow))
	case at.status >= http.StatusMultipleChoices:
		return nil, at.refused(false)
	case at.failed != nil:
		e := *at.failed
		e.Op, e.Sent, e.Answered = "mcpcall", false, false
		return nil, &e
	case ended != nil:
		return nil, ended
	case seen.fault != nil:
		return nil, seen.fault
	case seen.answered:
		return nil, &tool.Error{Kind: tool.Unavailable, Op: "mcpcall", Msg: refused}
	default:
		return nil, unread("was not received")
	}
}

// add adds a tool, or records why it cannot be used.
func (l *listing) add(raw json.RawMessage) {
	t, why := readTool(raw)
	if why == "" && l.raw[t.Name] != nil {
		why = "the server has two tools of this name"
	}
	if why != "" {
		l.skipped = append(l.skipped, remote.Skipped{Name: t.Name, Reason: why})
		return
	}
	l.raw[t.Name] = raw
	l.tools = append(l.tools, t)
}

func readTool(raw json.RawMessage) (remote.Tool, string) {
	var d struct {
		Name         string          `json:"name"`
		Title        string          `json:"title"`
		Description  string          `json:"description"`
		InputSchema  json.RawMessage `json:"inputSchema"`  //nolint:tagliatelle // The protocol's name.
		OutputSchema json.RawMessage `json:"outputSchema"` //nolint:tagliatelle // The protocol's name.
		Annotations  struct {
			Title       string `json:"title"`
			ReadOnly    *bool  `json:"readOnlyHint"`    //nolint:tagliatelle // The protocol's name.
			Destructive *bool  `json:"destructiveHint"` //nolint:tagliatelle // The protocol's name.
			Idempotent  *bool  `json:"idempotentHint"`  //nolint:tagliatelle // The protocol's name.
			OpenWorld   *bool  `json:"openWorldHint"`   //nolint:tagliatelle // The protocol's name.
		} `json:"annotations"`
		Meta json.RawMessage `json:"_meta"` //nolint:tagliatelle // The protocol's name.
	}
	err := json.Unmarshal(raw, &d)
	t := remote.Tool{
		Name: clean(d.Name, maxNameBytes), Title: clean(d.Title, maxTitleBytes),
		Description: clean(d.Description, maxDescriptionBytes),
		InputSchema: d.InputSchema, OutputSchema: d.OutputSchema,
		Annotations: remote.Annotations{
			ReadOnly: d.Annotations.ReadOnly, Destructive: d.Annotations.Destructive,
			Idempotent: d.Annotations.Idempotent, OpenWorld: d.Annotations.OpenWorld,
		},
	}
	if t.Title == "" {
		t.Title = clean(d.Annotations.Title, maxTitleBytes)
	}
	if string(t.OutputSchema) == "null" {
		t.OutputSchema = nil
	}
	removed := hiddenIn(d.Title, d.Annotations.Title, d.Description)
	ui, fault := remote.ReadUI(d.Meta)
	t.UI = ui
	switch {
	case err != nil:
		return t, "its definition has members of other types than the protocol's"
	case !validToolName(d.Name) || t.Name != d.Name:
		return t, fmt.Sprintf("its name must have at most %d visible characters", maxNameBytes)
	case len(t.InputSchema) == 0 || bytes.TrimSpace(t.InputSchema)[0] != '{':
		return t, "it has no input schema"
	case len(t.OutputSchema) > 0 && bytes.TrimSpace(t.OutputSchema)[0] != '{':
		return t, "its output schema is not an object"
	case len(t.InputSchema) > maxSchemaBytes || len(t.OutputSchema) > maxSchemaBytes:
		return t, fmt.Sprintf("its schemas are longer than %d bytes", maxSchemaBytes)
	case fault != "":
		return t, fault
	}
	for name, schema := range map[string]*json.RawMessage{"input": &t.InputSchema, "output": &t.OutputSchema} {
		if len(*schema) == 0 {
			continue
		}
		cleaned, at, err := visible.Schema(*schema)
		if err != nil {
			return t, "its " + name + " schema cannot be used: " + err.Error()
		}
		*schema = cleaned
		for _, pointer := range at {
			removed = append(removed, "/"+name+"_schema"+pointer)
		}
	}
	slices.Sort(removed)
	t.Removed = removed
	if t.Digest, err = remote.Digest(raw); err != nil {
		return t, "the digest of its definition cannot be computed"
	}
	return t, ""
}

// hiddenIn lists which texts of a definition contain invisible characters, as
// pointers into [remote.Tool].
func hiddenIn(title, annotated, description string) []string {
	var out []string
	if _, found := visible.First(title + annotated); found {
		out = append(out, "/title")
	}
	if _, found := visible.First(description); found {
		out = append(out, "/description")
	}
	return out
}
