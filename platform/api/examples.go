package api

import (
	"strings"

	"github.com/danielgtaylor/huma/v2"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// typical holds examples for fields of the domain types, which have no tags for
// this API.
var typical = map[string]any{
	"agent_id": "01975c2e-7d1a-7c3e-9f00-0000000000b1", "aggregate": "", "attempt": 1, "audience": "model",
	"level": "high", "reason": "Pays money back.", "visibility": "external", "call_id": "call_ab12",
	"category": "orders", "concurrency_group": "default",
	"digest":       "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
	"description":  "Finds the orders of a customer.",
	"effect_id":    "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8",
	"former_names": map[string]any{"findOrders": "2099-12-31"}, "host": "orders.example.com",
	"inline_bytes": 1 << 14,
	"id":           "01975c2e-7d1a-7c3e-9f00-0000000000e1", "icon": "search",
	"intent": "compute", "is_active": true, "lane": "auto",
	"last_seq": 12, "message": "halfway",
	"max_bytes": 1 << 20, "method": "GET", "mime_type": "text/plain", "name": "Search orders",
	"parent_id": "01975c2e-7d1a-7c3e-9f00-0000000000f0",
	"path":      "/arguments/customer", "passed": true, "port": 443, "position": 0, "published": true,
	"required_permission": "orders.read",
	"run_id":              "01975c2e-7d1a-7c3e-9f00-0000000000c1", "seq": 12, "slug": "searchOrders",
	"trust":     "untrusted",
	"subject":   "key:01975c2e-7d1a-7c3e-9f00-0000000000d1",
	"tenant_id": "01975c2e-7d1a-7c3e-9f00-000000000001", "text": "Order 4711 left the warehouse.", "timeout_s": 30,
	"tool":    "searchOrders",
	"tool_id": "01975c2e-7d1a-7c3e-9f00-0000000000a1", "turn": 1, "turns": 2, "version": "1.2.0", "visible": true,
	"approvals": 1, "expires_s": 3600, "permission": "approvals.decide",
	"escalate_after_s": 1800, "escalate_to": "approvals.escalated",
	"when":            "has(input.amount) && input.amount > 100",
	"output_sections": []any{map[string]any{"key": "orders", "label": "Orders", "type": "table"}},
	"input_fields":    nil, "output_fields": nil, // The schemas are shown instead.
	"arguments": map[string]any{"customer": "C-17"}, "structured": map[string]any{"orders": []any{"4711"}},
}

// typicalTime stands for a point in time.
const typicalTime = "2026-05-01T12:00:00Z"

// maxExampleDepth bounds examples of recursive schemas.
const maxExampleDepth = 8

// addExamples adds an example to every body, parameter and response of the
// description, composed of the examples of its members.
func addExamples(doc *huma.OpenAPI) {
	e := exampler{doc.Components.Schemas}
	for _, op := range operationsOf(doc) {
		for _, p := range op.Parameters {
			if p.Example == nil && p.Schema != nil {
				p.Example = e.of(p.Name, p.Schema, 0)
			}
		}
		if op.RequestBody != nil {
			e.fill(op.RequestBody.Content)
		}
		for _, response := range op.Responses {
			e.fill(response.Content)
		}
	}
}

// operationsOf lists the operations of a description.
func operationsOf(doc *huma.OpenAPI) []*huma.Operation {
	var all []*huma.Operation
	for _, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op != nil {
				all = append(all, op)
			}
		}
	}
	return all
}

// exampler makes examples of schemas.
type exampler struct {
	schemas huma.Registry
}

func (e exampler) fill(content map[string]*huma.MediaType) {
	for name, media := range content {
		if media.Example == nil && len(media.Examples) == 0 && media.Schema != nil &&
			(name == jsonType || name == v1.ProblemType) {
			media.Example = e.of("", media.Schema, 0)
		}
	}
}

// of returns an example of a value with a name and a schema.
func (e exampler) of(name string, s *huma.Schema, depth int) any {
	s = resolved(e.schemas, s)
	if s == nil || depth > maxExampleDepth {
		return nil
	}
	known, isTypical := typical[name]
	_, isObject := known.(map[string]any)
	switch {
	case len(s.Examples) > 0:
		return s.Examples[0]
	case s.Default != nil:
		return s.Default
	case len(s.Enum) > 0:
		return s.Enum[0]
	case isTypical && s.Type != huma.TypeArray && (isObject || s.Type != huma.TypeObject):
		return known
	}
	switch s.Type {
	case huma.TypeObject:
		return e.object(s, depth)
	case huma.TypeArray:
		if item := e.of(strings.TrimSuffix(name, "s"), s.Items, depth+1); item != nil {
			return []any{item}
		}
		return []any{}
	case huma.TypeBoolean:
		return false
	case huma.TypeInteger, huma.TypeNumber:
		if s.Minimum != nil {
			return *s.Minimum
		}
		return 1
	case huma.TypeString:
		switch s.Format {
		case "date-time":
			return typicalTime
		case "":
			return "text"
		default:
			return ""
		}
	default:
		return map[string]any{}
	}
}

func (e exampler) object(s *huma.Schema, depth int) any {
	out := make(map[string]any, len(s.Properties))
	for name, member := range s.Properties {
		if value := e.of(name, member, depth+1); value != nil {
			out[name] = value
		}
	}
	if more, ok := s.AdditionalProperties.(*huma.Schema); ok {
		out["name"] = e.of("", more, depth+1)
	}
	return out
}
