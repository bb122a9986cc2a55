package openapi_test

import (
	"encoding/json"
	"testing"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/platform/openapi"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// Whatever a document says, it is mapped or refused, and what is mapped can be
// stored.
func FuzzMap(f *testing.F) {
	f.Add([]byte(stylesDocument))
	f.Add(document(f, "chat.yaml")[:6000])
	f.Add(smallDocument(
		`{"parameters":[{"name":"q","in":"query","schema":{"allOf":[{"$ref":"#/components/schemas/s"}]}}],"responses":{}}`,
		`{"schemas":{"s":{"$ref":"#/components/schemas/s"}}}`,
	))
	f.Add(smallDocument(`{"requestBody":{"$ref":"#/components/requestBodies/b"}}`,
		`{"requestBodies":{"b":{"content":{"multipart/form-data":{"schema":{"type":"object","properties":{"":{}}}}}}}}`))
	f.Add([]byte("openapi: 3.1.0\ninfo: {title: x}\nservers: [{url: 'https://x.example'}]\npaths:\n  /{a}/{a}{:\n    " +
		"post: &p {requestBody: *p}\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) > 64<<10 {
			return
		}
		r, err := openapi.Map(t.Context(), raw, openapi.Options{DocumentURL: "https://x.example/"})
		if err != nil {
			if tool.KindOf(err) != tool.Invalid {
				t.Fatalf("not a refusal: %v", err)
			}
			return
		}
		r.Reconcile(nil)
		for _, o := range r.Operations {
			if o.Spec == nil {
				if o.Reason == "" {
					t.Fatal("skipped without a reason")
				}
				continue
			}
			if err := httpcall.CheckConfig(o.Spec.Config); err != nil {
				t.Fatal(err)
			}
			if err := schema.CheckInput(o.Spec.InputSchema); err != nil {
				t.Fatal(err)
			}
			if !tool.ValidSlug(o.Spec.Slug) || !json.Valid(o.Spec.Config) {
				t.Fatalf("slug %q", o.Spec.Slug)
			}
		}
	})
}
