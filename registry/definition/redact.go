package definition

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// CheckRedacted fails with tool.Invalid for a value that contains the
// placeholder of a redacted secret: saved, it would replace the secret.
func CheckRedacted(path string, raw json.RawMessage) error {
	var v any
	if !strings.Contains(string(raw), tool.Redacted) || json.Unmarshal(raw, &v) != nil {
		return nil //nolint:nilerr // What is no JSON is refused elsewhere.
	}
	if at, found := findRedacted(path, v); found {
		return refusal.New(
			tool.Invalid, at,
			"%s stands for a secret that is not shown: it is put back where nothing that says where it goes was changed; else "+
				"send the secret itself, or better name it by credentials_ref",
			tool.Redacted,
		)
	}
	return nil
}

// Restore copies from the stored definition what an edited one need not repeat:
// secrets that responses redact, and the annotation with the source document.
func (s *ToolSpec) Restore(stored tool.Definition) {
	keepSecrets(s, stored)
	keepSource(s, stored)
}

// Restore copies the secrets that responses redact from the stored definition: those of a fallback
// model from the one of the same name.
func (s *AgentSpec) Restore(stored agent.Definition) {
	s.ModelOptions = redact.Restore(s.ModelOptions, stored.ModelOptions)
	s.FallbackModels = slices.Clone(s.FallbackModels)
	for i, m := range s.FallbackModels {
		for _, old := range stored.FallbackModels {
			if old.Model == m.Model {
				s.FallbackModels[i].ModelOptions = redact.Restore(m.ModelOptions, old.ModelOptions)
			}
		}
	}
}

// keepSecrets replaces redaction placeholders by the stored secrets.
func keepSecrets(s *ToolSpec, stored tool.Definition) {
	s.Config = redact.Restore(s.Config, stored.Config)
	s.InputSchema = redact.Restore(s.InputSchema, stored.InputSchema)
	s.OutputSchema = redact.Restore(s.OutputSchema, stored.OutputSchema)
	s.Interaction.ProviderOptions = redact.Restore(s.Interaction.ProviderOptions, stored.Interaction.ProviderOptions)
}

// findRedacted returns the JSON Pointer of the first redaction placeholder.
func findRedacted(path string, v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return path, redact.Stands(v)
	case []any:
		for i, item := range v {
			if at, found := findRedacted(fmt.Sprintf("%s/%d", path, i), item); found {
				return at, true
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			at, found := findRedacted(path+"/"+jsonpointer.Escape(name), v[name])
			if found {
				return at, true
			}
		}
	}
	return "", false
}
