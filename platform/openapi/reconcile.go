package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/tool"
)

// Source records the document that a tool was imported from. It is stored in
// the tool's annotations under the name "source", by which a later import of
// the document finds the tool again. Title, version and digest are those of the
// document that last changed the tool.
type Source struct {
	Kind        string `json:"kind"` // [SourceKind].
	Name        string `json:"name"` // See [Options.Name].
	Title       string `json:"title,omitempty"`
	Version     string `json:"version,omitempty"`
	Digest      string `json:"digest"`
	Pointer     string `json:"pointer"`
	OperationID string `json:"operation_id,omitempty"`
	Method      string `json:"method"`
	Path        string `json:"path"`
	Scheme      string `json:"security_scheme,omitempty"` // Of the credential.

	Tags []string `json:"tags,omitempty"` // Of the operation.
}

// SourceKind marks tools that were imported from an OpenAPI document.
const SourceKind = "openapi"

// SourceOf returns the source of a tool; nil if it was not imported from an
// OpenAPI document.
func SourceOf(t *tool.Tool) *Source {
	var annotations struct {
		Source *Source `json:"source"`
	}
	if len(t.Interaction.Annotations) == 0 || json.Unmarshal(t.Interaction.Annotations, &annotations) != nil {
		return nil
	}
	if annotations.Source == nil || annotations.Source.Kind != SourceKind {
		return nil
	}
	return annotations.Source
}

// Reconcile names the tools, and puts each beside the one that an earlier
// import made of the same operation: of the same method and path, or else of
// the same operation id. Such a tool keeps its slug and the settings of people:
// policy, interaction, execution, icon, output check, the declaration that a
// POST only reads, and a credential that was not named anew. A method that writes raises the egress class of its tool.
//
// tools are the http tools of the tenant. The returned ones came from this
// document, which does not have their operations any more.
func (r *Result) Reconcile(tools []tool.Tool) (gone []tool.Tool) {
	sources := make(map[string]*Source, len(tools))
	known := make(map[string]*tool.Tool, len(tools))
	var candidates []*tool.Tool
	taken := make(map[string]string) // Operation of each slug.
	for i := range tools {
		t := &tools[i]
		if source := SourceOf(t); source != nil && source.Name == r.Name {
			sources[t.Slug], known[t.Slug] = source, t
			candidates = append(candidates, t)
			taken[t.Slug] = source.Method + " " + source.Path
		}
	}
	matched := r.match(candidates, sources)
	claimed := make(map[string]bool)
	for _, slug := range matched {
		claimed[slug] = true
	}
	for i := range r.Operations {
		o := &r.Operations[i]
		if slug, ok := matched[o.key()]; ok {
			o.Known = slug
		}
		if o.Spec == nil {
			continue
		}
		if o.Known != "" {
			o.keep(known[o.Known], sources[o.Known])
		} else {
			o.Spec.Slug = freeSlug(o.name, taken)
			if o.Spec.Slug != o.name {
				o.Warnings = append(o.Warnings, fmt.Sprintf("the slug %s is already used by %s: the tool is called %s",
					o.name, taken[o.name], o.Spec.Slug))
			}
			taken[o.Spec.Slug] = o.Method + " " + o.Path
		}
		o.annotate(r, known[o.Known], sources[o.Known])
	}
	r.summarize()
	for _, t := range candidates {
		if !claimed[t.Slug] {
			gone = append(gone, *t)
		}
	}
	return gone
}

// match finds the tool of each operation of the document.
func (r *Result) match(tools []*tool.Tool, sources map[string]*Source) map[key]string {
	matched := make(map[key]string)
	used := make(map[string]bool)
	for _, same := range []func(key, *Source) bool{
		func(k key, s *Source) bool { return k == key{s.OperationID, s.Method, s.Path} },
		func(k key, s *Source) bool { return k.method == s.Method && k.path == s.Path },
		func(k key, s *Source) bool { return k.id != "" && k.id == s.OperationID },
	} {
		for _, k := range r.all {
			if _, done := matched[k]; done {
				continue
			}
			i := slices.IndexFunc(tools, func(t *tool.Tool) bool { return !used[t.Slug] && same(k, sources[t.Slug]) })
			if i >= 0 {
				matched[k], used[tools[i].Slug] = tools[i].Slug, true
			}
		}
	}
	return matched
}

func freeSlug(name string, taken map[string]string) string {
	free := name
	for n := 2; taken[free] != ""; n++ {
		free = name + itoa(n)
	}
	return free
}

// keep copies the settings of people from the existing tool.
func (o *Operation) keep(t *tool.Tool, source *Source) {
	s := o.Spec
	made, class := s.Execution, s.EgressClass // As the document and the options have it.
	category := s.Category
	s.Slug, s.Revision = t.Slug, t.Revision
	s.Policy, s.Execution, s.Interaction = t.Policy, t.Execution, t.Interaction
	s.Icon, s.Category = t.Icon, t.Category
	if t.OutputCheck != "" {
		s.OutputCheck = t.OutputCheck
	}
	if s.Category == "" {
		s.Category = category
	}
	switch now, before := httpcall.DeclaresReads(s.Config), httpcall.DeclaresReads(t.Config); {
	case now && !before:
		s.EgressClass, s.RequiresApproval = tool.EgressReadOnly, false
		s.Execution.Pure, s.Execution.MaxConcurrency = made.Pure, made.MaxConcurrency
	case now || o.keepReads(t):
		class = tool.EgressReadOnly
	case before:
		o.Warnings = append(o.Warnings, "the request differs from the one that was declared to read only: "+
			"the declaration is dropped, and the egress class is write; declare it again if it still holds")
		s.Execution.Pure = made.Pure
		class = tool.EgressWrite
	}
	if class == tool.EgressWrite || s.EgressClass == tool.EgressNone {
		s.EgressClass = class
	}
	s.RequiresApproval = s.RequiresApproval || s.EgressClass == tool.EgressWrite
	if source.Method != o.Method {
		s.Execution.Pure, s.Execution.Idempotent = made.Pure, made.Idempotent
	}
	s.Execution.Idempotent = s.Execution.Idempotent || made.Idempotent
	o.keepCredential(t, source)
}

// keepReads copies the declaration that a POST only reads, and reports
// whether there is one. It was made for the request that the tool sends; if
// that request has changed, the declaration is not kept.
func (o *Operation) keepReads(t *tool.Tool) bool {
	if o.Method != http.MethodPost || !httpcall.DeclaresReads(t.Config) {
		return false
	}
	var before, now httpcall.Config
	if json.Unmarshal(t.Config, &before) != nil || json.Unmarshal(o.Spec.Config, &now) != nil {
		return false
	}
	if !bytes.Equal(encoded(requestOf(before)), encoded(requestOf(now))) {
		return false
	}
	now.Reads = true
	o.Spec.Config = encoded(now)
	return true
}

// requestOf returns the part of a configuration that decides which request is
// sent, apart from credentials.
func requestOf(c httpcall.Config) httpcall.Config {
	return httpcall.Config{
		Method: c.Method, URL: c.URL, Variables: c.Variables, Headers: c.Headers, Query: c.Query, Cookies: c.Cookies,
		Body: c.Body, BodyType: c.BodyType,
	}
}

// keepCredential copies the credential of a security scheme for which none was
// named.
func (o *Operation) keepCredential(t *tool.Tool, source *Source) {
	if o.open && o.scheme == "" && source.Scheme == attachedScheme {
		o.keepAttached(t)
		return
	}
	if o.needs.Scheme == "" || source.Scheme != o.needs.Scheme {
		return
	}
	var before, now httpcall.Config
	if json.Unmarshal(t.Config, &before) != nil || json.Unmarshal(o.Spec.Config, &now) != nil || before.Auth == nil ||
		o.lacking == nil {
		return
	}
	auth := *o.lacking
	auth.CredentialsRef = before.Auth.CredentialsRef
	if now.Auth = &auth; httpcall.CheckConfig(encoded(now)) != nil {
		return
	}
	o.Spec.Config = encoded(now)
	o.needs = Need{}
}

// keepAttached copies the authentication that was attached to an operation for
// which the document declares none.
func (o *Operation) keepAttached(t *tool.Tool) {
	var before, now httpcall.Config
	if json.Unmarshal(t.Config, &before) != nil || json.Unmarshal(o.Spec.Config, &now) != nil || before.Auth == nil {
		return
	}
	if now.Auth = before.Auth; httpcall.CheckConfig(encoded(now)) == nil {
		o.Spec.Config, o.scheme = encoded(now), attachedScheme
	}
}

// annotate records the source of the tool. A tool that the document does not
// change keeps its record.
func (o *Operation) annotate(r *Result, t *tool.Tool, before *Source) {
	now := Source{
		Kind: SourceKind, Name: r.Name, Title: r.Title, Version: r.Version, Digest: r.Digest,
		Pointer: o.Pointer, OperationID: o.ID, Method: o.Method, Path: o.Path, Scheme: o.scheme, Tags: o.tags,
	}
	if before != nil {
		same := now
		same.Title, same.Version, same.Digest = before.Title, before.Version, before.Digest
		o.Spec.Interaction.Annotations = withSource(t.Interaction.Annotations, same)
		was, errWas := tool.Snapshot{Definition: t.Definition}.Digest()
		is, errIs := tool.Snapshot{Definition: o.Spec.Definition}.Digest()
		if errWas == nil && errIs == nil && was == is {
			return
		}
	}
	var others json.RawMessage
	if t != nil {
		others = t.Interaction.Annotations
	}
	o.Spec.Interaction.Annotations = withSource(others, now)
}

// withSource returns annotations with another source.
func withSource(annotations json.RawMessage, source Source) json.RawMessage {
	members := make(map[string]json.RawMessage)
	if len(annotations) > 0 && json.Unmarshal(annotations, &members) != nil || members == nil {
		members = make(map[string]json.RawMessage)
	}
	members["source"] = encoded(source)
	return encoded(members)
}
