package openapi

import (
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/internal/secret"
)

// secretParameter is a parameter that is a credential: secrets are never
// arguments.
type secretParameter struct {
	place    string // header, cookie or query.
	wire     string
	required bool
	pointer  string
}

// scheme returns the parameter as a security scheme under its name.
func (s secretParameter) scheme() *scheme {
	auth := &httpcall.Auth{Type: s.place, Name: s.wire}
	if s.place == "header" {
		auth = &httpcall.Auth{Type: s.place, Header: s.wire}
	}
	return &scheme{name: s.wire, pointer: s.pointer, auth: auth, holds: "the value of the " + s.place}
}

// apiKeys are names of query parameters that always authenticate, in lower case
// and without separators.
var apiKeys = []string{"apikey", "apitoken", "authtoken", "appkey", "subscriptionkey", "accesskey"}

// authTokens are names that authenticate if most operations of a document have
// them; otherwise they are the subject of the operation.
var authTokens = append([]string{"token", "accesstoken"}, apiKeys...)

// authenticates reports whether a query parameter is a credential.
func (b *builder) authenticates(wire string) bool {
	return secret.SensitiveKey(wire) && (b.mapper.tokens[wire] || slices.Contains(apiKeys, plainName(wire)))
}

// fewOperations is a number of operations too small to recognise a convention.
const fewOperations = 3

// tokens lists the names of tokens that at least half of the document's
// operations take as a parameter or a field of a form.
func (d *document) tokens() map[string]bool {
	count, total := make(map[string]int), 0
	paths := d.root.object("paths")
	for path := range paths {
		item, _, err := d.follow(paths[path], "")
		if err != nil {
			continue
		}
		for _, method := range methods {
			if op := asObject(item[method]); op != nil {
				total++
				for name := range d.tokensOf(item, op) {
					count[name]++
				}
			}
		}
	}
	found := make(map[string]bool)
	for name, n := range count {
		if total >= fewOperations && 2*n >= total {
			found[name] = true
		}
	}
	return found
}

// tokensOf lists the names of tokens that an operation takes.
func (d *document) tokensOf(item, op object) map[string]bool {
	found := make(map[string]bool)
	add := func(name string) {
		if slices.Contains(authTokens, plainName(name)) {
			found[name] = true
		}
	}
	for _, raw := range slices.Concat(item.list("parameters"), op.list("parameters")) {
		if o, _, err := d.follow(raw, ""); err == nil {
			add(o.text("name"))
		}
	}
	body, _, err := d.follow(op["requestBody"], "")
	if err != nil {
		return found
	}
	for _, media := range body.object("content") {
		if schema, _, err := d.follow(asObject(media)["schema"], ""); err == nil {
			for name := range schema.object("properties") {
				add(name)
			}
		}
	}
	return found
}

// dropTokens leaves out fields of the body that authenticate most operations of
// the document, if the request carries a credential instead. Without one they stay
// arguments: a credential cannot be sent in a body.
func (b *builder) dropTokens() {
	if b.config.Auth == nil && b.out.lacking == nil {
		return
	}
	b.arguments = slices.DeleteFunc(b.arguments, func(a *argument) bool {
		if !a.field || !b.mapper.tokens[a.wire] || !secret.SensitiveKey(a.wire) {
			return false
		}
		b.lost.add(b.pointer+"/requestBody", "the field %s is not sent: the credential of %s authenticates", a.wire,
			strings.Trim(b.out.scheme, "()"))
		return true
	})
	if b.config.BodyType == formBody &&
		!slices.ContainsFunc(b.arguments, func(a *argument) bool { return a.place == "body" }) {
		b.config.BodyType = "" // No field is left.
	}
}
