package schema

import (
	"maps"
	"slices"
)

// respell renames properties that differ from a declared one in case, dashes
// or underscores only, where the declared one is missing and either required
// or the only one allowed.
func (p *preparation) respell(sh *shape, object map[string]any, path string) {
	bySpelling := make(map[string][]string) // Of declared, missing properties.
	for name := range sh.props {
		if _, present := object[name]; !present {
			bySpelling[fold(name)] = append(bySpelling[fold(name)], name)
		}
	}
	found := make(map[string][]string) // Of undeclared, present ones.
	for name := range object {
		if !sh.declares(name) {
			found[fold(name)] = append(found[fold(name)], name)
		}
	}
	for _, spelling := range slices.Sorted(maps.Keys(found)) {
		names, targets := found[spelling], bySpelling[spelling]
		if len(names) == 1 && len(targets) == 1 && (sh.closed || slices.Contains(sh.required, targets[0])) {
			p.rename(object, names[0], targets[0], path, RuleRename)
		}
	}
}

// aliases lists usual other names of common properties, folded.
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

// dealias renames a property with a usual other name of a required, missing
// one, where only one property can be meant, and only one is wanted.
func (p *preparation) dealias(sh *shape, object map[string]any, path string) {
	wanted := make(map[string][]string) // Required, missing properties by present alias.
	offers := make(map[string][]string) // Present aliases by property.
	for _, target := range sh.required {
		if _, present := object[target]; present {
			continue
		}
		for name := range object {
			if !sh.declares(name) && slices.Contains(aliases[fold(target)], fold(name)) {
				wanted[name] = append(wanted[name], target)
				offers[target] = append(offers[target], name)
			}
		}
	}
	for _, target := range slices.Sorted(maps.Keys(offers)) {
		if names := offers[target]; len(names) == 1 && len(wanted[names[0]]) == 1 {
			p.rename(object, names[0], target, path, RuleAlias)
		}
	}
}

// rename moves a property.
func (p *preparation) rename(object map[string]any, from, to, path string, rule Rule) {
	kind := kindOf(object[from])
	object[to] = object[from]
	delete(object, from)
	p.edit(path+"/"+escapeToken(to), kind, kind, rule)
}
