package schema

import (
	"maps"
	"slices"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/schema/jsonvalue"
)

// objectReading is an object while it is being coerced.
type objectReading struct {
	members map[string]*jsonvalue.Value
	trail   trail
	changed bool
}

func newObjectReading(v *jsonvalue.Value) *objectReading {
	o := &objectReading{members: make(map[string]*jsonvalue.Value, v.Len())}
	for _, m := range v.Members() {
		o.members[m.Name] = m.Value
	}
	return o
}

func (o *objectReading) sorted() []string { return slices.Sorted(maps.Keys(o.members)) }

func (o *objectReading) value() *jsonvalue.Value {
	members := make([]jsonvalue.Member, 0, len(o.members))
	for name, item := range o.members {
		members = append(members, jsonvalue.Member{Name: name, Value: item})
	}
	return jsonvalue.NewObject(members)
}

// rename moves a member.
func (o *objectReading) rename(from, to string, rule Rule) {
	item := o.members[from]
	delete(o.members, from)
	o.members[to] = item
	o.changed = true
	o.trail.record("/"+jsonpointer.Escape(to), kindName(item), kindName(item), rule)
}

// undeclared lists the members that the schema does not declare.
func (p *preparation) undeclared(sh *shape, o *objectReading) []string {
	var out []string
	for _, name := range o.sorted() {
		if !sh.declares(p.work, name) {
			out = append(out, name)
		}
	}
	return out
}

// respell renames properties that differ from a declared one in case, dashes
// or underscores only, where the declared one is missing and either required
// or the only one allowed.
func (p *preparation) respell(sh *shape, o *objectReading) {
	strangers := p.undeclared(sh, o)
	if len(strangers) == 0 || !p.work.spend(len(strangers)+len(sh.props)) {
		return
	}
	bySpelling := make(map[string][]string) // Of declared, missing properties.
	for name := range sh.props {
		if _, present := o.members[name]; !present {
			bySpelling[fold(name)] = append(bySpelling[fold(name)], name)
		}
	}
	found := make(map[string][]string) // Of undeclared, present ones.
	for _, name := range strangers {
		p.work.spend(len(name) / 16)
		spelling := fold(name)
		found[spelling] = append(found[spelling], name)
	}
	for _, spelling := range slices.Sorted(maps.Keys(found)) {
		names, targets := found[spelling], bySpelling[spelling]
		if len(names) == 1 && len(targets) == 1 && (sh.closed || slices.Contains(sh.required, targets[0])) {
			o.rename(names[0], targets[0], RuleRename)
		}
	}
}

// aliases lists common other names of common properties, folded.
var aliases = map[string][]string{
	"query": {
		"q", "question", "search", "text", "input", "prompt", "term", "terms", "keyword", "keywords",
		"searchquery", "searchterm", "searchtext", "querytext", "querystring",
	},
	"url":     {"uri", "link", "href", "website", "address"},
	"path":    {"file", "filepath", "filename"},
	"message": {"text", "content", "body", "msg"},
	"content": {"text", "body", "contents"},
	"text":    {"content", "body", "message", "input"},
}

// dealias renames a common alias of a required, missing property, if only one property can be
// meant, and only one is missing.
func (p *preparation) dealias(sh *shape, o *objectReading) {
	wanted := make(map[string][]string) // Required, missing properties by present alias.
	offers := make(map[string][]string) // Present aliases by property.
	strangers := []string(nil)
	for _, target := range sh.required {
		if _, present := o.members[target]; present || aliases[fold(target)] == nil {
			continue
		}
		if strangers == nil {
			strangers = p.undeclared(sh, o)
		}
		if !p.work.spend(1 + 2*len(strangers)) {
			return
		}
		for _, name := range strangers {
			if len(name) <= 64 && slices.Contains(aliases[fold(target)], fold(name)) {
				wanted[name] = append(wanted[name], target)
				offers[target] = append(offers[target], name)
			}
		}
	}
	for _, target := range slices.Sorted(maps.Keys(offers)) {
		if names := offers[target]; len(names) == 1 && len(wanted[names[0]]) == 1 {
			o.rename(names[0], target, RuleAlias)
		}
	}
}
