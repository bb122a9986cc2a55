package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/template"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/tool"
)

const (
	// agentPrompt begins the names of prompts that are the instructions of an agent. Slugs have no slash.
	agentPrompt = "agent/"
	// agentPage is how many agents a page of prompts has: each is read with its versions.
	agentPage = 20
	// agentsBegin begins the cursors of pages of agents, which follow those of tools.
	agentsBegin = "agents/"
	// maxCompleted bounds the values of a completion, as the protocol does.
	maxCompleted = 100
)

// promptConfig is what prompts/get needs of the configuration of a tool of the type prompt.
type promptConfig struct {
	Mode     string `json:"mode"`
	Template string `json:"prompt_template"`
	System   string `json:"system"`
}

// promptOf returns the configuration of a tool that is a prompt for a model; false for another.
func promptOf(d *tool.Definition) (promptConfig, bool) {
	var c promptConfig
	ok := d.ImplementationType() == tool.Prompt && json.Unmarshal(d.Config, &c) == nil
	return c, ok && c.Mode == "direct" && c.Template != ""
}

// listPrompts lists the caller's tools that are prompts, in the order of their names, and then the instructions of
// the tenant's published agents, for callers that may see agents. A toolset has no prompts.
func (s *Server) listPrompts(ctx context.Context, c *Caller, req *mcp.ListPromptsRequest) (mcp.Result, error) {
	if err := may(c, s.cfg.ListPermission); err != nil {
		return nil, err
	}
	result := &mcp.ListPromptsResult{Prompts: []*mcp.Prompt{}, Cacheable: mcp.Cacheable{CacheScope: "private"}}
	if c.Offer != nil {
		return result, nil
	}
	cursor := ""
	if req.Params != nil {
		cursor = req.Params.Cursor
	}
	after, agents := strings.CutPrefix(cursor, agentsBegin)
	if !agents {
		items, next, err := s.promptTools(ctx, c, cursor)
		if err != nil {
			return nil, err
		}
		for _, v := range items {
			result.Prompts = append(result.Prompts, promptOfTool(v))
		}
		if result.NextCursor = next; next != "" {
			return result, nil
		}
	}
	if !s.seesAgents(c) {
		return result, nil
	}
	found, next, err := s.agents(ctx, c, after)
	if err != nil {
		return nil, err
	}
	for _, a := range found {
		d := &a.Snapshot
		result.Prompts = append(result.Prompts, &mcp.Prompt{
			Name: agentPrompt + a.Slug, Title: d.Name, Description: d.Description, Meta: mcp.Meta{metaVersion: a.Number},
		})
	}
	if next != "" {
		result.NextCursor = agentsBegin + next
	}
	return result, nil
}

// seesAgents reports whether a caller sees the instructions of agents. A toolset has tools alone.
func (s *Server) seesAgents(c *Caller) bool {
	return c.Offer == nil && c.Principal.May(s.cfg.AgentPermission)
}

// shownTool is a version of a tool with its name.
type shownTool struct {
	slug    string
	version *tool.Version
}

// promptTools returns a page of the caller's tools that are prompts.
func (s *Server) promptTools(ctx context.Context, c *Caller, after string) (out []shownTool, next string, err error) {
	filter := c.filter()
	filter.Implementation = tool.Prompt
	items, next, err := s.cfg.Tools.List(ctx, c.Principal, tool.Production, filter,
		resolver.Page{Limit: listPage, After: after})
	if err != nil {
		return nil, "", err //nolint:wrapcheck // Its words are the client's.
	}
	items = slices.DeleteFunc(items, func(i resolver.Item) bool { return !offered(&i.Tool) })
	versions, err := s.cfg.Tools.Versions(ctx, c.Principal.Tenant, items)
	if err != nil {
		return nil, "", fmt.Errorf("reading the versions of tools: %w", err)
	}
	for i, v := range versions {
		if _, ok := promptOf(&v.Snapshot.Definition); ok {
			out = append(out, shownTool{items[i].Tool.Slug, v})
		}
	}
	return out, next, nil
}

func promptOfTool(t shownTool) *mcp.Prompt {
	d := &t.version.Snapshot.Definition
	p := &mcp.Prompt{
		Name: t.slug, Title: d.Name, Description: d.Description, Meta: mcp.Meta{metaVersion: t.version.Number},
	}
	for _, f := range argumentsOf(d) {
		p.Arguments = append(p.Arguments, &mcp.PromptArgument{
			Name: f.Key, Title: f.Label, Description: f.Description, Required: f.Required && len(f.VisibleWhen) == 0,
		})
	}
	return p
}

// argumentsOf returns the arguments of a tool, in the order of its form.
func argumentsOf(d *tool.Definition) []field.Field {
	form, err := field.Read(d.InputSchema)
	if err != nil {
		return nil // It was checked when it was published.
	}
	return form.Fields
}

// agents returns a page of the tenant's published agents, in the order of slugs.
func (s *Server) agents(ctx context.Context, c *Caller, after string) (out []agent.Version, next string, err error) {
	found, err := s.cfg.Record.ListAgents(ctx, c.Principal.Tenant, after, agentPage+1)
	if err != nil {
		return nil, "", fmt.Errorf("listing agents: %w", err)
	}
	if len(found) > agentPage {
		found = found[:agentPage]
		next = found[agentPage-1].Slug
	}
	for i := range found {
		v, ok, err := s.published(ctx, c, &found[i])
		if err != nil {
			return nil, "", err
		}
		if ok {
			out = append(out, v)
		}
	}
	return out, next, nil
}

// published returns the newest published version of an agent; false for one that is not published, or is disabled.
func (s *Server) published(ctx context.Context, c *Caller, a *agent.Agent) (agent.Version, bool, error) {
	if a.Status != tool.Published {
		return agent.Version{}, false, nil
	}
	_, versions, err := s.cfg.Record.FindAgentVersions(ctx, c.Principal.Tenant, a.ID)
	if err != nil {
		return agent.Version{}, false, fmt.Errorf("reading the versions of an agent: %w", err)
	}
	for i := range versions {
		if versions[i].Published {
			return versions[i], true, nil
		}
	}
	return agent.Version{}, false, nil
}

// getPrompt returns a prompt with its arguments filled in. Nothing runs.
func (s *Server) getPrompt(ctx context.Context, c *Caller, req *mcp.GetPromptRequest) (mcp.Result, error) {
	if err := may(c, s.cfg.ListPermission); err != nil {
		return nil, err
	}
	name := req.Params.Name
	if slug, ok := strings.CutPrefix(name, agentPrompt); ok {
		return s.instructionsOf(ctx, c, name, slug)
	}
	found, config, err := s.promptTool(ctx, c, name)
	if err != nil {
		return nil, err
	}
	text, err := s.filled(ctx, &found.Version.Snapshot.Definition, config.Template, req.Params.Arguments)
	if err != nil {
		return nil, err
	}
	result := &mcp.GetPromptResult{Description: found.Version.Snapshot.Description}
	for _, text := range []string{config.System, text} {
		if text != "" {
			result.Messages = append(result.Messages, userMessage(text))
		}
	}
	return result, nil
}

func userMessage(text string) *mcp.PromptMessage {
	return &mcp.PromptMessage{Role: "user", Content: &mcp.TextContent{Text: text}}
}

func unknownPrompt(name string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown prompt %q", clip(name))}
}

// promptTool finds a tool that is a prompt. What the caller may not use is absent, and so are those of a toolset.
func (s *Server) promptTool(ctx context.Context, c *Caller, name string) (*resolver.Resolved, promptConfig, error) {
	if c.Offer != nil {
		return nil, promptConfig{}, unknownPrompt(name)
	}
	found, err := s.resolve(ctx, c, name)
	if tool.KindOf(err) == tool.NotFound && err != nil {
		return nil, promptConfig{}, unknownPrompt(name)
	}
	if err != nil {
		return nil, promptConfig{}, err
	}
	config, ok := promptOf(&found.Version.Snapshot.Definition)
	if !ok {
		return nil, promptConfig{}, unknownPrompt(name)
	}
	return found, config, nil
}

// filled returns a prompt with its arguments, which clients give as texts and the tool's schema makes values of.
func (s *Server) filled(
	ctx context.Context, d *tool.Definition, text string, given map[string]string,
) (string, error) {
	values := make(map[string]any, len(given))
	fields := argumentsOf(d)
	for name, value := range given {
		values[name] = value
		at := slices.IndexFunc(fields, func(f field.Field) bool { return f.Key == name })
		if at >= 0 && isJSON(&fields[at], value) {
			values[name] = json.RawMessage(value)
		}
	}
	raw, err := json.Marshal(values)
	if err != nil {
		return "", fmt.Errorf("writing arguments: %w", err)
	}
	if len(d.InputSchema) > 0 {
		compiled, err := s.schemas.Compile(d.InputSchema)
		if err != nil {
			return "", fmt.Errorf("compiling an input schema: %w", err)
		}
		if raw, _, err = compiled.Prepare(ctx, raw); err != nil {
			return "", err //nolint:wrapcheck // Its words are the client's.
		}
	}
	parsed, err := template.Parse(text)
	if err != nil {
		return "", fmt.Errorf("reading a prompt: %w", err)
	}
	return parsed.Render(raw) //nolint:wrapcheck // Its words are the client's.
}

// isJSON reports whether the text that a client gives for a field is JSON, rather than a string.
func isJSON(f *field.Field, text string) bool {
	if f.Type == field.Enum && !f.Multiple {
		return slices.ContainsFunc(f.Options, func(o field.Option) bool { return string(o.Value) == text })
	}
	typed := f.Multiple || slices.Contains([]field.Type{field.Number, field.Boolean, field.Object, field.Array}, f.Type)
	return typed && json.Valid([]byte(text))
}

// instructionsOf returns the instructions of a published agent, which may have no arguments.
func (s *Server) instructionsOf(ctx context.Context, c *Caller, name, slug string) (mcp.Result, error) {
	if !s.seesAgents(c) || !tool.ValidSlug(slug) {
		return nil, unknownPrompt(name)
	}
	found, err := s.cfg.Record.FindAgent(ctx, c.Principal.Tenant, slug)
	if tool.KindOf(err) == tool.NotFound && err != nil {
		return nil, unknownPrompt(name)
	}
	if err != nil {
		return nil, fmt.Errorf("finding an agent: %w", err)
	}
	v, ok, err := s.published(ctx, c, &found)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, unknownPrompt(name)
	}
	return &mcp.GetPromptResult{
		Description: v.Snapshot.Description, Messages: []*mcp.PromptMessage{userMessage(v.Snapshot.Instructions)},
	}, nil
}

// complete returns the values of an argument of a prompt that its schema lists and that begin with what was typed.
// Other arguments have none.
func (s *Server) complete(ctx context.Context, c *Caller, req *mcp.CompleteRequest) (mcp.Result, error) {
	if err := may(c, s.cfg.ListPermission); err != nil {
		return nil, err
	}
	result := &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}
	ref := req.Params.Ref
	if ref == nil || ref.Type != "ref/prompt" || strings.HasPrefix(ref.Name, agentPrompt) {
		return result, nil
	}
	found, _, err := s.promptTool(ctx, c, ref.Name)
	if err != nil {
		return nil, err
	}
	for _, f := range argumentsOf(&found.Version.Snapshot.Definition) {
		if f.Key != req.Params.Argument.Name {
			continue
		}
		for _, o := range f.Options {
			text := string(o.Value)
			_ = json.Unmarshal(o.Value, &text) // Numbers and booleans stay as they are written.
			if strings.HasPrefix(strings.ToLower(text), strings.ToLower(req.Params.Argument.Value)) {
				result.Completion.Values = append(result.Completion.Values, text)
			}
		}
	}
	if n := len(result.Completion.Values); n > 0 {
		result.Completion.Total = n
		if n > maxCompleted {
			result.Completion.Values, result.Completion.HasMore = result.Completion.Values[:maxCompleted], true
		}
	}
	return result, nil
}
