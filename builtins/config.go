package builtins

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/toolcrib/toolcrib/internal/strict"
	"github.com/toolcrib/toolcrib/tool"
)

// builtinConfig has the common members of the implementation_config of tools that
// configure a built-in.
type builtinConfig struct {
	Type    tool.Implementation `json:"type,omitempty"` // May repeat the implementation type, "internal".
	Builtin string              `json:"builtin"`        // The built-in's key.
}

// keyOf returns the key of the built-in in a configuration; empty for none.
func keyOf(config json.RawMessage) string {
	var c builtinConfig
	if len(config) == 0 || json.Unmarshal(config, &c) != nil {
		return ""
	}
	return c.Builtin
}

// Configurable reports whether tenants' own tools may configure a built-in.
func (c *Catalog) Configurable(key string) bool { return c.byKey[key].Check != nil }

// decodeConfig decodes a configuration strictly. An empty one leaves into unchanged.
func decodeConfig(raw json.RawMessage, into any) error {
	if err := strict.Decode("builtins.Check", raw, into); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

func configFault(path, msg string) *tool.Error {
	return &tool.Error{Kind: tool.Invalid, Op: "builtins.Check", Path: path, Msg: msg}
}

// Complete sets the fields that a tenant's tool which configures a built-in does not
// set: schemas, class, execution and description. It fails with [tool.Invalid] and the
// Path within the tool's definition for a configuration that the built-in cannot run.
// Other tools are unchanged. Warnings are about what is allowed but not advisable.
func (c *Catalog) Complete(d *tool.Definition, p *tool.Policy) (warnings []string, err error) {
	key := keyOf(d.Config)
	if d.ImplementationType() != tool.Internal || key == "" {
		return nil, nil
	}
	b, ok := c.byKey[key]
	switch {
	case !ok:
		return nil, configFault("/implementation_config/builtin",
			fmt.Sprintf("no built-in %.64q: want one of %s", key, strings.Join(c.configurable(), ", ")))
	case b.Check == nil:
		return nil, configFault("/implementation_config/builtin",
			key+" takes no configuration: bind the platform's tool of that name")
	}
	if p.EgressClass == "" {
		p.EgressClass = b.Policy.EgressClass
	}
	if rank(p.EgressClass) < rank(b.Policy.EgressClass) {
		return nil, configFault("/egress_class", fmt.Sprintf("%s needs the egress class %s", key, b.Policy.EgressClass))
	}
	if warnings, err = b.Check(d.Config, p.EgressClass); err != nil {
		e := *tool.AsError(err)
		e.Path = "/implementation_config" + e.Path
		return nil, &e
	}
	own := b.Definition
	if b.For != nil {
		own = b.For(d.Config, p.EgressClass)
	}
	if d.Execution == (tool.Execution{}) {
		d.Execution = own.Execution
	}
	if d.Execution.Repeatable() && !own.Execution.Repeatable() {
		return nil, configFault(
			"/execution", fmt.Sprintf("%s with the egress class %s is neither pure nor idempotent", key, p.EgressClass),
		)
	}
	if len(d.InputSchema) == 0 {
		d.InputSchema = own.InputSchema
		d.Interaction.OpenInput = d.Interaction.OpenInput || own.Interaction.OpenInput
	}
	if len(d.OutputSchema) == 0 {
		d.OutputSchema = own.OutputSchema
	}
	if d.Description == "" {
		d.Description = own.Description
	}
	return warnings, nil
}

// configurable lists the built-ins that can be configured.
func (c *Catalog) configurable() []string {
	var keys []string
	for _, s := range c.Specs() {
		if c.byKey[s.Key].Check != nil {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

// rank orders classes by what they allow.
func rank(class tool.Egress) int {
	switch class {
	case tool.EgressReadOnly:
		return 1
	case tool.EgressWrite:
		return 2
	case tool.EgressNone:
	}
	return 0
}
