package registry

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/tool"
)

// readsMember is the default of [Options.DeclaresReads].
var readsMember = map[tool.Implementation]func(json.RawMessage) bool{tool.HTTP: func(config json.RawMessage) bool {
	var c struct {
		Reads bool `json:"reads"`
	}
	return json.Unmarshal(config, &c) == nil && c.Reads
}}

// declaresReads reports whether a definition declares that its POST only reads.
func (r *Registry) declaresReads(d *tool.Definition) bool {
	declares := r.opts.DeclaresReads[d.ImplementationType()]
	return declares != nil && declares(d.Config)
}

// mayDeclare refuses a definition that declares that its POST only reads to a
// principal without the permission to declare so.
func (r *Registry) mayDeclare(p tool.Principal, d *tool.Definition) error {
	if !r.declaresReads(d) || p.May(DeclareReads) {
		return nil
	}
	return refuse(tool.Denied, "/implementation_config/reads",
		"the configuration declares that its POST only reads, and the caller lacks the permission %q: "+
			"let a principal with it save and publish the tool, or drop reads", DeclareReads)
}

// recordReads records on a head the principal who declared that its POST only
// reads, and the time. A declaration belongs to the configuration it was made
// for: another configuration is declared anew, by p. It fails with tool.Denied
// where p may not declare.
func (r *Registry) recordReads(p tool.Principal, before tool.Definition, t *tool.Tool) error {
	if err := r.mayDeclare(p, &t.Definition); err != nil {
		return err
	}
	switch {
	case !r.declaresReads(&t.Definition):
		t.ReadsDeclared = nil
	case t.ReadsDeclared == nil || !sameJSON(before.Config, t.Config):
		t.ReadsDeclared = &tool.Declaration{By: p.Subject, At: r.opts.Clock().UTC()}
	}
	return nil
}

// readsWarning explains a declaration that changes nothing, since every call of
// a tool that may write is approved anyway.
func (r *Registry) readsWarning(s *ToolSpec) []string {
	if s.EgressClass != tool.EgressWrite || !r.declaresReads(&s.Definition) {
		return nil
	}
	return []string{
		"it declares that its POST only reads, and its egress class is write, which asks for an approval of every call: " +
			"set egress_class to read_only",
	}
}
