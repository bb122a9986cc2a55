package openapi

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// outputSchema returns the schema of the result: that of the successful answers,
// if all of them are JSON. An operation with other successful answers has none,
// since every answer is validated against it.
func (b *builder) outputSchema() (json.RawMessage, error) {
	if b.out.Method == http.MethodHead {
		return nil, nil
	}
	var schemas []any
	var media []string
	responses := b.op.object("responses")
	for _, status := range sortedKeys(responses) {
		if !strings.HasPrefix(status, "2") {
			continue
		}
		at := b.pointer + "/responses/" + jsonpointer.Escape(status)
		response, at, err := b.mapper.doc.follow(responses[status], at)
		if err != nil {
			b.lost.add(at, "the output has no schema: %s", tool.AsError(err).Msg)
			return nil, nil
		}
		content := response.object("content")
		media = append(media, sortedKeys(content)...)
		name := jsonMedia(content)
		if name == "" || content.object(name)["schema"] == nil {
			schemas = append(schemas, nil)
			continue
		}
		at += "/content/" + jsonpointer.Escape(name) + "/schema"
		schema, err := b.received.schema(content.object(name)["schema"], at, &b.lost)
		if err != nil {
			b.lost.add(at, "the output has no schema: %s", tool.AsError(err).Msg)
			return nil, nil
		}
		if !slices.ContainsFunc(schemas, func(have any) bool { return reflect.DeepEqual(have, schema) }) {
			schemas = append(schemas, schema)
		}
	}
	b.accept(media)
	if b.pages != nil {
		joined, err := b.paged()
		if err != nil {
			b.lost.add(b.pages.itemAt, "the output has no schema: %s", tool.AsError(err).Msg)
			return nil, nil
		}
		schemas = []any{joined}
	}
	if len(schemas) == 0 || slices.Contains(schemas, nil) {
		if slices.ContainsFunc(schemas, func(s any) bool { return s != nil }) {
			b.lost.add(b.pointer+"/responses", "the output has no schema: some successful answers are not JSON")
		}
		return nil, nil
	}
	root, _ := schemas[0].(map[string]any)
	if len(schemas) > 1 {
		root = map[string]any{"anyOf": schemas}
	}
	if len(root) == 0 {
		return nil, nil
	}
	root, err := b.received.assemble(root, &b.lost)
	if err != nil {
		return nil, err
	}
	raw, err := b.received.finish(root, &b.lost)
	if err != nil {
		b.lost.add(b.pointer+"/responses", "the output has no schema: %s",
			strings.TrimPrefix(tool.AsError(err).Msg, "the document: "))
		return nil, nil
	}
	return raw, nil
}

// jsonMedia returns the first of the media types that is JSON.
func jsonMedia(content object) string {
	for _, name := range sortedKeys(content) {
		if isJSON(name) || baseType(name) == "*/*" {
			return name
		}
	}
	return ""
}

// accept sets the Accept header if application/json is not among the media types
// of the answers.
func (b *builder) accept(media []string) {
	if len(media) == 0 || slices.ContainsFunc(media, func(name string) bool {
		base := baseType(name)
		return base == "application/json" || base == "*/*" || base == "application/*"
	}) {
		return
	}
	for _, wanted := range []func(string) bool{isJSON, func(string) bool { return true }} {
		for _, name := range media {
			if wanted(name) && clean(name, 120) == name {
				put(&b.config.Headers, "Accept", httpcall.Value{Literal: name})
				return
			}
		}
	}
}
