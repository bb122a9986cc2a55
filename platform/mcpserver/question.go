package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/internal/visible"
	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

const (
	// maxShownArguments bounds the arguments that a person is shown in a client, in bytes. A call that
	// has more is confirmed elsewhere: a call that is not shown whole is not confirmed here.
	maxShownArguments = 4 << 10
	// linkGood is how long a link to the page of a request for input is good.
	linkGood = 24 * time.Hour
	// multipleSince is the first revision whose forms have choices of several options, and titles of
	// options beside their values.
	multipleSince = "2025-11-25"
)

// Members of the form of a confirmation.
const (
	confirmMember = "confirm"
	reasonMember  = "reason"
)

// modes are the kinds of elicitation that a client declares.
type modes struct{ form, url bool }

// modesOf returns what a client declares. One that declares elicitation without a kind shows forms.
func modesOf(req *mcp.CallToolRequest) modes {
	caps := req.ClientCapabilities()
	if caps == nil || caps.Elicitation == nil {
		return modes{}
	}
	e := caps.Elicitation
	return modes{form: e.Form != nil || e.URL == nil, url: e.URL != nil}
}

// question is what a person is asked by way of their client.
type question struct {
	hold *hold
	// key names the question, so that an answer is not taken for another's.
	key    string
	params *mcp.ElicitParams
	// seen is the binding of what is confirmed; empty for a request for input.
	seen string
}

// question returns what the person at a client may be asked for a call that waits; nil where the caller may
// not answer, or the client cannot show it. The link opens the page of a request for input, for callers that
// may answer.
func (s *Server) question(ctx context.Context, c *Caller, w waiting, h *hold) (q *question, link string, err error) {
	if h.asked != nil {
		q, err = s.confirmation(ctx, c, w, h)
		return q, "", err
	}
	return s.requestForInput(ctx, c, w, h)
}

// confirmation asks for the caller's confirmation of their own call. Whatever else waits for an approval is
// for others to decide.
func (s *Server) confirmation(ctx context.Context, c *Caller, w waiting, h *hold) (*question, error) {
	if !w.modes.form || !c.Principal.May(s.cfg.DecidePermission) {
		return nil, nil
	}
	a, err := s.cfg.Record.FindApproval(ctx, c.Principal.Tenant, h.asked.ApprovalID)
	if err != nil {
		return nil, fmt.Errorf("finding an approval: %w", err)
	}
	shown := visible.Text(string(a.Arguments))
	ours := cmp.Or(a.RootRunID, a.RunID) == w.call.RunID
	if !ours || a.Status.Final() || a.Round != h.asked.Round || !a.Confirms(c.Principal) ||
		len(a.Edited) > 0 || len(shown) > maxShownArguments {
		return nil, nil
	}
	text := fmt.Sprintf("Confirm this call of %s@%s?", a.Tool, a.Version)
	if a.Message != "" {
		text += "\n" + visible.Text(a.Message)
	}
	if shown != "" {
		text += "\nArguments: " + shown
	}
	return &question{
		hold: h, key: fmt.Sprintf("%s.%d", a.ID, a.Round), seen: a.Binding,
		params: &mcp.ElicitParams{
			Mode: "form", Message: text,
			RequestedSchema: json.RawMessage(`{"type":"object","properties":{` +
				`"confirm":{"type":"boolean","title":"Make this call","description":"No rejects the call."},` +
				`"reason":{"type":"string","title":"Reason","description":"For the record. May be empty.","maxLength":500}},` +
				`"required":["confirm"]}`),
		},
	}, nil
}

// requestForInput asks what a tool asks a person, as a form, or by the address of its page.
func (s *Server) requestForInput(
	ctx context.Context, c *Caller, w waiting, h *hold,
) (q *question, link string, err error) {
	if !c.Principal.May(wait.SubmitPermission) {
		return nil, "", nil
	}
	called, err := s.cfg.Record.FindCall(ctx, c.Principal.Tenant, h.input.PendingID)
	if err != nil {
		return nil, "", fmt.Errorf("finding a request for input: %w", err)
	}
	ours := cmp.Or(called.RootRunID, called.RunID) == w.call.RunID
	if called.Implementation != tool.Input || !ours || !called.Status.Open() {
		return nil, "", nil
	}
	spec, err := input.Read(called.Arguments)
	if err != nil {
		return nil, "", fmt.Errorf("reading a request for input: %w", err)
	}
	expires := time.Now().Add(linkGood)
	if expires.After(called.ExpiresAt) {
		expires = called.ExpiresAt
	}
	path, err := input.Link(&called, expires)
	if err != nil {
		return nil, "", fmt.Errorf("linking to a request for input: %w", err)
	}
	if c.Base != "" {
		link = strings.TrimSuffix(c.Base, "/") + path
	}
	text := visible.Text(spec.Title)
	if spec.Instructions != "" {
		text += "\n" + visible.Text(spec.Instructions)
	}
	q = &question{hold: h, key: called.ID}
	form, shows := formOf(spec.Fields(), w.revision)
	switch {
	case w.modes.form && shows:
		q.params = &mcp.ElicitParams{Mode: "form", Message: text, RequestedSchema: form}
	case w.modes.url && link != "":
		q.params = &mcp.ElicitParams{Mode: "url", Message: text, URL: link, ElicitationID: called.ID}
	default:
		return nil, link, nil
	}
	return q, link, nil
}

// formOf returns the schema of a form, and reports whether clients of a revision can show it: they have texts,
// numbers, yes or no and choices, and no files.
func formOf(fields []field.Field, revision string) (json.RawMessage, bool) {
	properties, required := make(map[string]any, len(fields)), []string{}
	for i := range fields {
		f := &fields[i]
		p := propertyOf(f, revision)
		if p == nil {
			return nil, false
		}
		if f.Label != "" {
			p["title"] = visible.Text(f.Label)
		}
		if f.Help != "" {
			p["description"] = visible.Text(f.Help)
		}
		properties[f.Key] = p
		if f.Required {
			required = append(required, f.Key)
		}
	}
	raw, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required})
	return raw, err == nil
}

// propertyOf returns the schema of a field; nil for one that clients do not have.
func propertyOf(f *field.Field, revision string) map[string]any {
	switch f.Type { //nolint:exhaustive // Clients have no others.
	case field.Text:
		p := map[string]any{"type": "string"}
		if f.MinLength != nil {
			p["minLength"] = *f.MinLength
		}
		if f.MaxLength != nil {
			p["maxLength"] = *f.MaxLength
		}
		return p
	case field.Number:
		return map[string]any{"type": "number"}
	case field.Boolean:
		return map[string]any{"type": "boolean"}
	case field.Enum:
		return choiceOf(f, revision)
	default:
		return nil
	}
}

// choiceOf returns the schema of a choice.
func choiceOf(f *field.Field, revision string) map[string]any {
	values, titles := make([]string, len(f.Options)), make([]string, len(f.Options))
	titled := make([]any, len(f.Options))
	for i, o := range f.Options {
		if json.Unmarshal(o.Value, &values[i]) != nil {
			return nil
		}
		titles[i] = cmp.Or(visible.Text(o.Label), values[i])
		titled[i] = map[string]any{"const": values[i], "title": titles[i]}
	}
	switch {
	case revision < multipleSince && f.Multiple:
		return nil
	case revision < multipleSince:
		return map[string]any{"type": "string", "enum": values, "enumNames": titles}
	case !f.Multiple:
		return map[string]any{"type": "string", "oneOf": titled}
	}
	p := map[string]any{"type": "array", "items": map[string]any{"anyOf": titled}}
	if f.MinItems != nil {
		p["minItems"] = *f.MinItems
	}
	return p
}
