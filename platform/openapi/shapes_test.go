package openapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/platform/openapi"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// m and l are a JSON object and a list of a generated document.
type (
	m = map[string]any
	l = []any
)

// shape is a document in the manner of a large public API, with the options that
// its users give.
type shape struct {
	document func() m
	opts     openapi.Options
	tools    int // The least number of tools that become of it.
}

var shapes = map[string]shape{
	"codehosting": {codeHosting, openapi.Options{Auth: &httpcall.Auth{Type: "bearer", CredentialsRef: "token"}}, 1000},
	"telephony":   {telephony, openapi.Options{Credentials: map[string]string{"account": "login"}}, 20},
	"messaging":   {messaging, openapi.Options{Credentials: map[string]string{"oauth": "token"}}, 18},
	"models":      {modelServing, openapi.Options{Credentials: map[string]string{"key": "token"}}, 9},
	"hosting":     {hosting, openapi.Options{Credentials: map[string]string{"bearer": "token"}}, 15},
}

func (s shape) raw(tb testing.TB) []byte {
	tb.Helper()
	raw, err := json.Marshal(s.document())
	require.NoError(tb, err)
	return raw
}

// What is mapped of each shape, what is skipped and why is written down.
func TestShapes(t *testing.T) {
	t.Parallel()
	for name, s := range shapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := mapped(t, s.raw(t), s.opts)
			got := shapeReport(r)
			golden := filepath.Join("testdata", "shapes", name+".golden")
			if *update {
				require.NoError(t, os.WriteFile(golden, got, 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got), "run the test with -update if the change is meant")

			slugs := make(map[string]bool)
			for _, o := range r.Operations {
				if o.Spec == nil {
					require.NotEmpty(t, o.Reason)
					continue
				}
				what := o.Method + " " + o.Path
				require.True(t, tool.ValidSlug(o.Spec.Slug), what)
				require.False(t, slugs[o.Spec.Slug], "%s: %s twice", what, o.Spec.Slug)
				slugs[o.Spec.Slug] = true
				require.NoError(t, schema.CheckInput(o.Spec.InputSchema), what)
				require.NoError(t, schema.Check(o.Spec.OutputSchema), what)
				require.NoError(t, httpcall.CheckConfig(o.Spec.Config), what)
				require.Equal(t, len(o.Spec.OutputSchema) > 0, o.Spec.WarnsOutput(), what)
				require.NotContains(t, o.Spec.Description, "](", what)
			}
			require.GreaterOrEqual(t, len(slugs), s.tools)
		})
	}
}

// shapeReport writes what became of each operation, and why.
func shapeReport(r *openapi.Result) []byte {
	var b bytes.Buffer
	states := make(map[openapi.State]int)
	paged := make(map[string]int)
	for _, o := range r.Operations {
		states[o.State]++
		if o.Pagination != "" {
			paged[o.Pagination]++
		}
	}
	fmt.Fprintf(&b, "%s %s, OpenAPI %s: %d operations, %d mapped, %d with losses, %d skipped\nhosts %v, needs %v, "+
		"pages %v\n",
		r.Title, r.Version, r.OpenAPI, len(r.Operations), states[openapi.Mapped], states[openapi.WithLosses],
		states[openapi.Skipped], r.Hosts, r.Needs, paged)
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "note %s: %s\n", note.Pointer, note.Reason)
	}
	for _, o := range r.Operations {
		if o.Spec == nil {
			fmt.Fprintf(&b, "%s %s: skipped: %s\n", o.Method, o.Path, o.Reason)
			continue
		}
		var config httpcall.Config
		_ = json.Unmarshal(o.Spec.Config, &config) // It was checked.
		auth := "none"
		if config.Auth != nil {
			auth = strings.Trim(config.Auth.Type+" "+config.Auth.Header+config.Auth.Name, " ")
		}
		var input struct{ Properties map[string]any }
		_ = json.Unmarshal(o.Spec.InputSchema, &input)
		fmt.Fprintf(&b, "%s %s: %s(%s), auth %s", o.Method, o.Path, o.Spec.Slug,
			strings.Join(slices.Sorted(maps.Keys(input.Properties)), ", "), auth)
		if config.Pagination != nil {
			raw, _ := json.Marshal(config.Pagination)
			fmt.Fprintf(&b, ", pages %s", raw)
		}
		b.WriteByte('\n')
		for _, loss := range o.Losses {
			fmt.Fprintf(&b, "  lost: %s\n", loss.Reason)
		}
		for _, warning := range o.Warnings {
			fmt.Fprintf(&b, "  warning: %s\n", warning)
		}
	}
	return b.Bytes()
}

// Small builders of documents.
func ref(to string) m     { return m{"$ref": "#/" + to} }
func typed(name string) m { return m{"type": name} }
func object(properties m, need ...any) m {
	o := m{"type": "object", "properties": properties}
	if len(need) > 0 {
		o["required"] = need
	}
	return o
}
func arrayOf(items m) m { return m{"type": "array", "items": items} }

func parameter(in, name string, of m) m {
	return m{"in": in, "name": name, "required": in == "path", "schema": of}
}

func inMedia(media string, of m) m { return m{media: m{"schema": of}} }

func answersWith(status string, of m) m {
	return m{status: m{"description": "It.", "content": inMedia("application/json", of)}}
}

// codeHosting is in the manner of a host of code: very many operations, lists by
// Link header, owner and repository in the path, and no security schemes at all.
func codeHosting() m {
	nouns := strings.Fields(`issue pull release label milestone branch commit tag deployment environment hook key runner workflow artifact
		cache check-run check-suite codespace collaborator comment discussion fork gist invitation lock member migration page package
		pipeline project reaction ref review rule run secret star stat status subscription team topic traffic tree variable watcher`)
	scopes := []struct{ id, path string }{
		{"repos", "/repos/{owner}/{repo}"},
		{"orgs", "/orgs/{org}"},
		{"teams", "/orgs/{org}/teams/{team_slug}"},
		{"users", "/users/{username}"},
		{"enterprises", "/enterprises/{enterprise}"},
	}
	link := m{"Link": m{"schema": typed("string"), "example": `<https://code.example/r?page=2>; rel="next"`}}
	text := m{"description": "The **title**. See \"[Titles](https://docs.code.example/titles)\".", "type": "string"}
	item := object(
		m{
			"id": typed("integer"), "title": text, "body": m{"type": "string", "nullable": true},
			"parent": m{"allOf": l{ref("components/schemas/item")}, "nullable": true},
		},
		"id",
	)
	paths := m{
		"/search/code": m{"get": m{
			"operationId": "search/code", "summary": "Search code",
			"parameters": l{
				parameter("query", "q", typed("string")), ref("components/parameters/per_page"), ref("components/parameters/page"),
			},
			"responses": m{"200": m{"description": "They.", "headers": link, "content": inMedia("application/json", object(m{
				"total_count": typed("integer"), "items": arrayOf(ref("components/schemas/item")),
			}))}},
		}},
		"/meta": m{
			"get": m{"operationId": "meta/get", "responses": answersWith("200", object(m{"version": typed("string")}))},
		},
	}
	for _, noun := range nouns {
		for _, scope := range scopes {
			at := l{}
			for part := range strings.SplitSeq(scope.path, "/") {
				if strings.HasPrefix(part, "{") {
					at = append(at, parameter("path", strings.Trim(part, "{}"), typed("string")))
				}
			}
			op := func(verb, method string, more l, extra m) m {
				out := m{
					"operationId": scope.id + "/" + verb + "-" + noun, "summary": verb + " " + noun, "tags": l{scope.id},
					"description": "> [!NOTE]\n> Needs the `repo` scope.\n\n## " + method +
						"\n\nSee [the guide](https://docs.code.example/" + noun + ").",
					"parameters": append(slices.Clone(at), more...),
				}
				maps.Copy(out, extra)
				return out
			}
			list := m{
				"200": m{
					"description": "They.", "headers": link,
					"content": inMedia("application/json", arrayOf(ref("components/schemas/item"))),
				},
			}
			body := m{
				"required": true,
				"content":  inMedia("application/json", object(m{"title": text, "body": typed("string")}, "title")),
			}
			paths[scope.path+"/"+noun+"s"] = m{
				"get": op("list", "Lists", l{
					ref("components/parameters/per_page"), ref("components/parameters/page"),
				}, m{"responses": list}),
				"post": op("create", "Creates", nil, m{
					"responses": answersWith("201", ref("components/schemas/item")), "requestBody": body,
				}),
			}
			remove := "delete"
			if noun == "label" {
				remove = "tag" // As some name it: a DELETE is none the less one.
			}
			paths[scope.path+"/"+noun+"s/{number}"] = m{
				"parameters": l{parameter("path", "number", typed("integer"))},
				"get":        op("get", "Gets", nil, m{"responses": answersWith("200", ref("components/schemas/item"))}),
				"patch": op("update", "Updates", nil, m{
					"responses": answersWith("200", ref("components/schemas/item")), "requestBody": body,
				}),
				"delete": op(remove, "Deletes", nil, m{"responses": m{"204": m{"description": "Gone."}}}),
			}
		}
	}
	return m{
		"openapi": "3.0.3", "info": m{"title": "Code", "version": "1.1.4"},
		"servers": l{m{"url": "https://api.code.example"}}, "paths": paths,
		"components": m{"schemas": m{"item": item}, "parameters": m{
			"page":     parameter("query", "page", m{"type": "integer", "default": 1}),
			"per_page": parameter("query", "per_page", m{"type": "integer", "default": 30}),
		}},
		"webhooks": m{"push": m{}},
	}
}

// telephony is in the manner of a telephone company: forms, names that end in <
// and >, basic authentication, .json at the end of paths, and the next page as
// part of a URL.
func telephony() m {
	paths := m{}
	for _, noun := range []string{"Message", "Call", "Recording", "Conference", "Queue"} {
		day := m{"type": "string", "format": "date-time"}
		resource := object(m{
			"sid": typed("string"), "status": m{"type": "string", "nullable": true},
			"date_created": m{"type": "string", "format": "date-time-rfc-2822"}, "price": m{"type": "number", "nullable": true},
		})
		page := object(m{
			strings.ToLower(noun) + "s": arrayOf(resource),
			"next_page_uri":             m{"type": "string", "format": "uri", "nullable": true},
			"page":                      typed("integer"), "page_size": typed("integer"), "uri": typed("string"),
		})
		form := object(
			m{"To": typed("string"), "From": typed("string"), "Body": typed("string"), "MediaUrl": arrayOf(typed("string"))},
			"To",
		)
		body := m{"content": inMedia("application/x-www-form-urlencoded", form), "required": true}
		sid := parameter("path", "AccountSid", m{"type": "string", "pattern": "^AC[0-9a-fA-F]{32}$"})
		security := l{m{"account": l{}}}
		paths["/2010-04-01/Accounts/{AccountSid}/"+noun+"s.json"] = m{
			"get": m{
				"operationId": "List" + noun, "security": security, "tags": l{noun},
				"description": "Retrieve a list of " + noun + "s",
				"parameters": l{
					sid, parameter("query", "To", typed("string")), parameter("query", "DateCreated", day),
					parameter("query", "DateCreated<", day),
					parameter("query", "DateCreated>", day), parameter("query", "PageSize", typed("integer")),
					parameter("query", "Page", typed("integer")),
					parameter("query", "PageToken", typed("string")),
				},
				"responses": answersWith("200", page),
			},
			"post": m{
				"operationId": "Create" + noun, "security": security, "parameters": l{sid}, "requestBody": body,
				"responses": answersWith("201", resource),
			},
		}
		paths["/2010-04-01/Accounts/{AccountSid}/"+noun+"s/{Sid}.json"] = m{
			"parameters": l{sid, parameter("path", "Sid", typed("string"))},
			"get":        m{"operationId": "Fetch" + noun, "security": security, "responses": answersWith("200", resource)},
			"post": m{
				"operationId": "Update" + noun, "security": security, "requestBody": body,
				"responses": answersWith("200", resource),
			},
			"delete": m{"operationId": "Delete" + noun, "security": security, "responses": m{"204": m{"description": "Gone."}}},
		}
	}
	return m{
		"openapi": "3.0.1", "info": m{"title": "Telephony", "version": "1.0.0"},
		"servers": l{m{"url": "https://api.telephony.example"}}, "paths": paths,
		"components": m{"securitySchemes": m{"account": m{"type": "http", "scheme": "basic"}}},
	}
}

// messaging is in the manner of a workplace chat: Swagger 2.0, dots in operation
// ids, a token as a parameter of every operation, cursors, and POST for all that
// changes anything.
func messaging() m {
	token := func(in string) m {
		return m{"name": "token", "in": in, "required": true, "type": "string", "description": "Authentication token."}
	}
	field := func(name, kind string, required bool) m {
		return m{"name": name, "in": "formData", "type": kind, "required": required}
	}
	envelope := func(properties m) m {
		properties["ok"] = typed("boolean")
		return object(properties, "ok")
	}
	security := l{m{"oauth": l{"chat:write"}}}
	paths := m{}
	for _, noun := range []string{"conversations", "users", "files", "reminders", "usergroups", "pins"} {
		paths["/"+noun+".list"] = m{"get": m{
			"operationId": noun + "_list", "tags": l{noun},
			"description": "Lists <strong>all</strong> " + noun + ".<br>See <a href=\"https://docs.chat.example\">docs</a>.",
			"security":    security,
			"parameters": l{
				token("query"),
				m{"name": "cursor", "in": "query", "type": "string"},
				m{"name": "limit", "in": "query", "type": "integer"},
				m{"name": "types", "in": "query", "type": "array", "items": typed("string")},
			},
			"responses": m{"200": m{"description": "They.", "schema": envelope(m{
				noun:                arrayOf(object(m{"id": typed("string"), "name": typed("string")})),
				"response_metadata": object(m{"next_cursor": typed("string")}),
			})}, "default": m{"description": "An error."}},
		}}
		paths["/"+noun+".delete"] = m{"post": m{
			"operationId": noun + ".delete", "security": security,
			"consumes":   l{"application/x-www-form-urlencoded", "application/json"},
			"parameters": l{token("header"), field("id", "string", true)},
			"responses":  m{"200": m{"description": "Done.", "schema": envelope(m{})}},
		}}
		paths["/"+noun+".info"] = m{"get": m{
			"operationId": noun + ".info", "security": security,
			"parameters": l{token("query"), m{"name": "id", "in": "query", "type": "string"}},
			"responses":  m{"200": m{"description": "It.", "schema": envelope(m{"item": typed("object")})}},
		}}
	}
	paths["/chat.postMessage"] = m{"post": m{
		"operationId": "chat.postMessage", "security": security, "consumes": l{"application/x-www-form-urlencoded"},
		"parameters": l{
			token("formData"), field("channel", "string", true), field("text", "string", false),
			field("as_user", "boolean", false),
			m{"name": "users", "in": "formData", "type": "array", "items": typed("string")},
		},
		"responses": m{
			"200": m{
				"description": "It.", "schema": envelope(m{"ts": typed("string"), "channel": ref("definitions/channel_id")}),
			},
		},
	}}
	paths["/files.upload"] = m{"post": m{
		"operationId": "files.upload", "security": security, "consumes": l{"multipart/form-data"},
		"parameters": l{token("header"), field("file", "file", false), field("title", "string", false)},
		"responses":  m{"200": m{"description": "It.", "schema": envelope(m{})}},
	}}
	paths["/broken"] = m{"post": m{"operationId": "broken", "parameters": l{
		m{"name": "a", "in": "body", "schema": typed("object")}, m{"name": "b", "in": "body", "schema": typed("object")},
	}, "responses": m{}}}
	return m{
		"swagger": "2.0", "info": m{"title": "Messaging", "version": "1.7.0"}, "host": "chat.example", "basePath": "/api",
		"schemes":  l{"https"},
		"produces": l{"application/json"}, "paths": paths,
		"definitions": m{"channel_id": m{"type": "string", "x-nullable": true}},
		"securityDefinitions": m{"oauth": m{
			"type": "oauth2", "flow": "accessCode", "authorizationUrl": "https://chat.example/oauth",
			"tokenUrl": "https://chat.example/token", "scopes": m{"chat:write": "Write."},
		}},
	}
}

// modelServing is in the manner of a server of models: 3.1, one bearer key, large
// alternatives, files, streams, and bytes as answers.
func modelServing() m {
	parts := l{}
	for _, kind := range []string{"text", "image_url", "input_audio", "file", "refusal"} {
		parts = append(
			parts, object(m{"type": m{"type": "string", "const": kind}, kind: m{"type": l{"string", "object"}}}, "type"),
		)
	}
	roles := l{}
	for _, role := range []string{"developer", "system", "user", "assistant", "tool"} {
		roles = append(
			roles,
			object(
				m{
					"role":    m{"type": "string", "enum": l{role}},
					"content": m{"anyOf": l{typed("string"), arrayOf(m{"oneOf": parts}), typed("null")}},
				},
				"role",
			),
		)
	}
	completion := object(
		m{
			"id": typed("string"),
			"choices": arrayOf(object(m{
				"finish_reason": m{"type": "string", "enum": l{"stop", "length"}}, "message": typed("object"),
			})),
		},
		"id", "choices",
	)
	list := object(m{
		"object": typed("string"), "data": arrayOf(object(m{"id": typed("string")})), "has_more": typed("boolean"),
		"last_id": typed("string"),
	})
	op := func(id string, extra m) m {
		out := m{"operationId": id, "tags": l{"models"}, "summary": id}
		maps.Copy(out, extra)
		return out
	}
	return m{
		"openapi": "3.1.0", "info": m{"title": "Models", "version": "2.3.0"},
		"servers": l{m{"url": "https://api.models.example/v1"}}, "security": l{m{"key": l{}}},
		"components": m{
			"securitySchemes": m{"key": m{"type": "http", "scheme": "bearer"}}, "schemas": m{"Message": m{"oneOf": roles}},
		},
		"paths": m{
			"/chat/completions": m{"post": op("createChatCompletion", m{
				"requestBody": m{"required": true, "content": inMedia("application/json", object(m{
					"model": typed("string"), "messages": arrayOf(ref("components/schemas/Message")),
					"stream":      m{"type": l{"boolean", "null"}, "default": false},
					"temperature": m{"type": l{"number", "null"}, "minimum": 0, "maximum": 2},
				}, "model", "messages"))},
				"responses": m{
					"200": m{
						"description": "It.",
						"content":     m{"application/json": m{"schema": completion}, "text/event-stream": m{"schema": typed("object")}},
					},
				},
			})},
			"/files": m{
				"get": op("listFiles", m{
					"parameters": l{parameter("query", "after", typed("string")), parameter("query", "limit", typed("integer"))},
					"responses":  answersWith("200", list),
				}),
				"post": op("createFile", m{
					"requestBody": m{"required": true, "content": inMedia("multipart/form-data", object(m{
						"file": m{"type": "string", "format": "binary"}, "purpose": m{"type": "string", "enum": l{"batch", "user_data"}},
					}, "file", "purpose"))},
					"responses": answersWith("200", object(m{"id": typed("string"), "bytes": typed("integer")}, "id")),
				}),
			},
			"/files/{file_id}": m{
				"delete": op("deleteFile", m{
					"parameters": l{parameter("path", "file_id", typed("string"))},
					"responses":  answersWith("200", object(m{"deleted": typed("boolean")})),
				}),
			},
			"/files/{file_id}/content": m{
				"get": op("downloadFile", m{
					"parameters": l{parameter("path", "file_id", typed("string"))},
					"responses": m{
						"200": m{
							"description": "Bytes.",
							"content":     inMedia("application/octet-stream", m{"type": "string", "format": "binary"}),
						},
					},
				}),
			},
			"/audio/speech": m{"post": op("createSpeech", m{
				"requestBody": m{
					"content": inMedia(
						"application/json",
						object(
							m{
								"input": typed("string"),
								"voice": m{"anyOf": l{typed("string"), m{"type": "string", "enum": l{"alloy", "echo"}}}},
							},
							"input",
						),
					),
				},
				"responses": m{
					"200": m{"description": "Sound.", "content": inMedia("audio/mpeg", m{"type": "string", "format": "binary"})},
				},
			})},
			"/models": m{"get": op("listModels", m{"responses": answersWith("200", list)})},
			"/models/{model}": m{
				"delete": op("deleteModel", m{
					"parameters": l{parameter("path", "model", typed("string"))},
					"responses":  answersWith("200", object(m{"deleted": typed("boolean")})),
				}),
			},
			"/responses": m{
				"post": op("createResponse", m{
					"requestBody": m{
						"content": inMedia("application/json", m{"oneOf": roles, "discriminator": m{"propertyName": "role"}}),
					},
					"responses": m{"200": m{"description": "Events.", "content": inMedia("text/event-stream", typed("object"))}},
				}),
			},
			"/realtime": m{"trace": op("traceRealtime", m{"responses": m{}})},
			"/moderations/{a}{b}": m{
				"get": op("getModeration", m{
					"parameters": l{parameter("path", "a", typed("string")), parameter("path", "b", typed("string"))},
					"responses":  m{"204": m{"description": "None."}},
				}),
			},
		},
	}
}

// hosting is in the manner of a host of machines: tags, references to shared
// parts and to files of their own, page and per_page, and the next page's URL
// under links.pages.
func hosting() m {
	links := object(m{
		"pages": object(m{"next": m{"type": "string", "format": "uri"}, "last": m{"type": "string", "format": "uri"}}),
	})
	schemas := m{"links": object(m{"links": links}), "meta": object(m{"meta": object(m{"total": typed("integer")})})}
	paths := m{}
	for _, noun := range []string{"droplet", "volume", "domain", "snapshot", "action"} {
		schemas[noun] = object(m{"id": typed("integer"), "name": typed("string"), "tags": arrayOf(typed("string"))}, "id")
		page := m{
			"allOf": l{
				object(m{noun + "s": arrayOf(ref("components/schemas/" + noun))}), ref("components/schemas/links"),
				ref("components/schemas/meta"),
			},
		}
		item := object(m{noun: ref("components/schemas/" + noun)})
		paths["/v2/"+noun+"s"] = m{
			"get": m{
				"operationId": noun + "s_list", "tags": l{noun + "s"}, "summary": "List All " + noun + "s",
				"description": "To list all " + noun + "s, send a GET request to `/v2/" + noun +
					"s`.\n\n| name | type |\n|------|------|\n| id | number |",
				"parameters": l{
					ref("components/parameters/per_page"), ref("components/parameters/page"),
					parameter("query", "tag_name", typed("string")),
				},
				"responses": answersWith("200", page),
			},
			"post": m{
				"operationId": noun + "s_create", "tags": l{noun + "s"},
				"requestBody": m{
					"content": inMedia("application/json", object(m{"name": typed("string")}, "name")), "required": true,
				},
				"responses": answersWith("202", item),
			},
		}
		paths["/v2/"+noun+"s/{id}"] = m{
			"parameters": l{parameter("path", "id", typed("integer"))},
			"get":        m{"operationId": noun + "s_get", "tags": l{noun + "s"}, "responses": answersWith("200", item)},
			"delete": m{
				"operationId": noun + "s_destroy", "tags": l{noun + "s"}, "responses": m{"204": m{"description": "Gone."}},
			},
			"put": m{
				"$ref": "resources/" + noun + "s/replace.yml", "operationId": noun + "s_replace",
				"parameters": l{m{"$ref": "shared/parameters.yml#/id"}}, "responses": m{},
			},
		}
	}
	paths["/v2/account/keys"] = m{
		"get": m{
			"operationId": "keys_list",
			"parameters": l{
				m{"in": "query", "name": "page", "schema": typed("integer")}, ref("components/parameters/per_page"),
			},
			"responses": answersWith("200", object(m{"keys": arrayOf(typed("object"))})),
		},
	}
	paths["/v2/registry"] = m{
		"get": m{
			"operationId": "registries_list",
			"parameters":  l{ref("components/parameters/page"), ref("components/parameters/per_page")},
			"responses":   answersWith("200", object(m{"registries": arrayOf(typed("object"))})),
		},
	}
	// The slug of another.
	paths["/v2/tagged/droplets"] = m{
		"get": m{"operationId": "list_droplets", "responses": answersWith("200", arrayOf(typed("string")))},
	}
	paths["/v2/split"] = m{"$ref": "resources/split.yml"}
	return m{
		"openapi": "3.0.0", "info": m{"title": "Hosting", "version": "2.0"},
		"servers": l{m{"url": "https://api.hosting.example"}}, "paths": paths, "security": l{m{"bearer": l{}}},
		"components": m{
			"schemas": schemas, "securitySchemes": m{"bearer": m{"type": "http", "scheme": "bearer"}}, "parameters": m{
				"page":     parameter("query", "page", m{"type": "integer", "minimum": 1, "default": 1}),
				"per_page": parameter("query", "per_page", m{"type": "integer", "default": 20, "maximum": 200}),
			},
		},
	}
}
