package openapi

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/nearest"
)

// candidate is an operation of the document that options may name.
type candidate struct {
	operation Operation
	tags      []string
}

// named reports whether an option names an operation, by id or as "PUT /path".
func (o *Operation) named(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return name == o.Method+" "+o.Path || name == o.ID && name != ""
	})
}

// checkNames refuses options with names that the document does not have: they are
// probably misspelt, and would have no effect.
func (m *mapper) checkNames(ctx context.Context) error {
	one := func(to func(string) Selection) func(candidate, string) bool {
		return func(c candidate, name string) bool { return to(name).names(&c.operation, c.tags) }
	}
	named := func(c candidate, name string) bool { return c.operation.named([]string{name}) }
	ids := func(c candidate) []string {
		return []string{c.operation.ID, c.operation.Method + " " + c.operation.Path}
	}
	selection := func(at string, s Selection) []naming {
		return []naming{
			{
				at + "/tags", "tag", s.Tags, one(func(v string) Selection { return Selection{Tags: []string{v}} }),
				func(c candidate) []string { return c.tags },
			},
			{
				at + "/operations", "id of an operation", s.Operations,
				one(func(v string) Selection { return Selection{Operations: []string{v}} }),
				func(c candidate) []string { return []string{c.operation.ID} },
			},
			{
				at + "/paths", "prefix of a path", s.Paths,
				one(func(v string) Selection { return Selection{Paths: []string{v}} }),
				func(c candidate) []string { return []string{c.operation.Path} },
			},
			{
				at + "/methods", "method", s.Methods, one(func(v string) Selection { return Selection{Methods: []string{v}} }),
				func(c candidate) []string { return []string{c.operation.Method} },
			},
			{
				at + "/match", "pattern", s.Match, one(func(v string) Selection { return Selection{Match: []string{v}} }),
				func(c candidate) []string { return append(ids(c), c.operation.Path, c.operation.name) },
			},
		}
	}
	all := append(selection("/only", m.opts.Only), selection("/except", m.opts.Except)...)
	all = append(all, naming{"/idempotent", "operation", m.opts.Idempotent, named, ids},
		naming{"/reads", "operation", m.opts.Reads, named, ids})
	for _, n := range all {
		for i, name := range n.names {
			if ctx.Err() != nil {
				return ended(ctx)
			}
			if !slices.ContainsFunc(m.candidates, func(c candidate) bool { return n.fits(c, name) }) {
				return m.unmatched(n, i)
			}
		}
	}
	return m.checkReads()
}

// naming is an option with names of operations.
type naming struct {
	path  string // Of the option.
	what  string // The kind of its items.
	names []string
	fits  func(c candidate, name string) bool
	offer func(candidate) []string // Names of an operation that match the option.
}

func (m *mapper) unmatched(n naming, i int) error {
	var known []string
	for _, c := range m.candidates {
		for _, name := range n.offer(c) {
			if name != "" {
				known = append(known, name)
			}
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	hint := "the document has " + cmp.Or(clip(strings.Join(known[:min(len(known), 10)], ", "), 300), "none")
	if meant := nearest.Name(n.names[i], known); meant != "" {
		hint = "did you mean " + clip(meant, 200) + "?"
	}
	e := refuse("", "the %s %q matches no operation: %s", n.what, clip(n.names[i], 120), hint)
	e.Path = fmt.Sprintf("%s/%d", n.path, i)
	return e
}

// checkReads refuses the declaration that a request other than POST only reads.
func (m *mapper) checkReads() error {
	for _, c := range m.candidates {
		if o := &c.operation; o.Method != http.MethodPost && o.named(m.opts.Reads) {
			e := refuse("", "%s %s cannot be declared to read only: only POST can; GET always reads, other methods write",
				o.Method, clip(o.Path, 200))
			e.Path = "/reads"
			return e
		}
	}
	return nil
}

// unusedCredentials records credentials for schemes that the document does not
// have.
func (m *mapper) unusedCredentials() {
	known := sortedKeys(m.doc.root.object("components").object("securitySchemes"))
	for wire := range m.secretNames {
		known = append(known, wire)
	}
	for _, scheme := range slices.Sorted(maps.Keys(m.opts.Credentials)) {
		if slices.Contains(known, scheme) {
			continue
		}
		note := fmt.Sprintf("no selected operation has the security scheme %q: its credential is not used", clip(scheme, 80))
		if meant := nearest.Name(scheme, known); meant != "" {
			note += "; did you mean " + meant + "?"
		}
		m.result.Notes = append(m.result.Notes, Loss{"/components/securitySchemes", note})
	}
}
