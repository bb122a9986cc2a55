package mcpserver

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// adopt returns the spec of a tool's head with the server's current definition in
// place of the pinned one. Fields that were edited by hand since are kept, with a
// warning.
func adopt(s *Server, head *tool.Tool, t *Tool) (definition.ToolSpec, []string, error) {
	before, err := remoteSpec(s, t.Pinned)
	if err != nil {
		return definition.ToolSpec{}, nil, err
	}
	after, err := remoteSpec(s, t.Seen)
	if err != nil {
		return definition.ToolSpec{}, nil, err
	}
	spec := definition.ToolSpec{
		Slug: head.Slug, Definition: head.Definition, Policy: head.Policy,
		BuiltinKey: head.BuiltinKey, ArtifactID: head.ArtifactID, ArtifactVersion: head.ArtifactVersion,
	}
	var warnings []string
	keep := func(what string) {
		warnings = append(warnings, "the "+what+" was changed by hand and stays; the server's is another one now")
	}
	for _, text := range []struct {
		what        string
		have        *string
		before, now string
	}{
		{"name", &spec.Name, before.Name, after.Name},
		{"description", &spec.Description, before.Description, after.Description},
	} {
		switch {
		case *text.have == text.before:
			*text.have = text.now
		case text.before != text.now && *text.have != text.now:
			keep(text.what)
		}
	}
	for _, raw := range []struct {
		what        string
		have        *json.RawMessage
		before, now json.RawMessage
	}{
		{"input schema", &spec.InputSchema, before.InputSchema, after.InputSchema},
		{"output schema", &spec.OutputSchema, before.OutputSchema, after.OutputSchema},
		{"annotations", &spec.Interaction.Annotations, before.Interaction.Annotations, after.Interaction.Annotations},
	} {
		switch {
		case definition.SameJSON(*raw.have, raw.before):
			*raw.have = raw.now
		case !definition.SameJSON(raw.before, raw.now) && !definition.SameJSON(*raw.have, raw.now):
			keep(raw.what)
		}
	}
	if s.TrustHints && spec.EgressClass == tool.EgressReadOnly && onlyReads(t.Pinned) && !onlyReads(t.Seen) {
		spec.EgressClass, spec.Execution.Pure = tool.EgressWrite, false
		warnings = append(
			warnings,
			"the server no longer says that the tool only reads: its egress class becomes write, which asks for approval, and "+
				"it is pure no more",
		)
	}
	if before.Interaction.Audience != after.Interaction.Audience {
		if spec.Interaction.Audience == before.Interaction.Audience {
			spec.Interaction.Audience = after.Interaction.Audience
		} else {
			keep("audience")
		}
	}
	spec.Config, err = repin(head.Config, t.Seen.Digest, func(have json.RawMessage) (json.RawMessage, error) {
		was, now, err := appsOf(t)
		switch {
		case err != nil:
			return nil, err
		case definition.SameJSON(have, was):
			return now, nil
		case !definition.SameJSON(was, now) && !definition.SameJSON(have, now):
			keep("app")
		}
		return have, nil
	})
	return spec, warnings, err
}

// appsOf returns what the pinned and the current definition declare of an app; nil for nothing.
func appsOf(t *Tool) (was, now json.RawMessage, err error) {
	for _, of := range []struct {
		d  *ToolDefinition
		to *json.RawMessage
	}{{t.Pinned, &was}, {t.Seen, &now}} {
		if of.d.UI == nil {
			continue
		}
		if *of.to, err = json.Marshal(of.d.UI); err != nil {
			return nil, nil, refusal.New(tool.Invalid, "/implementation_config/ui", "expected an app")
		}
	}
	return was, now, nil
}

// repin returns a configuration that pins another definition, with what adopt makes of its app.
func repin(
	config json.RawMessage, digest string, adopt func(have json.RawMessage) (json.RawMessage, error),
) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(config, &fields); err != nil || fields == nil {
		return nil, refusal.New(tool.Invalid, "/implementation_config", "expected a JSON object")
	}
	pin, err := json.Marshal(digest)
	if err != nil {
		return nil, refusal.New(tool.Invalid, "/implementation_config/definition_digest", "expected a digest")
	}
	fields["definition_digest"] = pin
	app, err := adopt(fields["ui"])
	if err != nil {
		return nil, err
	}
	delete(fields, "ui")
	if len(app) > 0 {
		fields["ui"] = app
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return nil, refusal.New(tool.Invalid, "/implementation_config", "expected a JSON object")
	}
	return raw, nil
}
