package registry

import (
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// mayDeclare fails with tool.Denied if a definition declares that its POST only
// reads, and p lacks the permission [DeclareReads].
func (r *Registry) mayDeclare(p tool.Principal, d *tool.Definition) error {
	if !r.declaresReads(d) || p.May(DeclareReads) {
		return nil
	}
	return refusal.New(tool.Denied, "/implementation_config/reads",
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
	case t.ReadsDeclared == nil || !definition.SameJSON(before.Config, t.Config):
		t.ReadsDeclared = &tool.Declaration{By: p.Subject, At: r.opts.Clock().UTC()}
	}
	return nil
}

// readsWarning warns of a declaration without effect: every call of egress class
// write is approved anyway.
func (r *Registry) readsWarning(s *definition.ToolSpec) []string {
	if s.EgressClass != tool.EgressWrite || !r.declaresReads(&s.Definition) {
		return nil
	}
	return []string{
		"it declares that its POST only reads, and its egress class is write, which asks for an approval of every call: " +
			"set egress_class to read_only",
	}
}
