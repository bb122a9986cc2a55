package httpcall

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// Config is the implementation_config of an http tool. Where it takes a value,
// a string stands for itself and {"from": "/pointer"} for that argument. It has
// at most 64 KiB and refers to arguments at most 256 times; what it makes of
// them has at most 8 KiB of URL, 32 KiB of headers and 4 MiB of body. Values
// under the name of a secret come from arguments or from Auth, never as
// literals.
//
// Configurations are read by the exact names of their members, and encode to
// what they were read from.
type Config struct {
	// Type may repeat the implementation type, "http".
	Type tool.Implementation `json:"type,omitempty"`
	// Method is GET, HEAD, OPTIONS, POST, PUT, PATCH or DELETE. Defaults to GET.
	Method string `json:"method,omitempty"`
	// URL is an RFC 6570 template whose scheme, host and port are literals.
	// Expressions name arguments, "user.id" the member of one. Those outside
	// {?…} and {&…} must be given and not be empty.
	URL string `json:"url"`
	// Variables overrides the arguments that variables of URL take. Arrays and
	// objects are expanded as the template says; styles are not allowed.
	Variables Values `json:"variables,omitempty"`
	// Headers are set on the request; one whose argument is absent is left out.
	Headers Values `json:"headers,omitempty"`
	// Query parameters are added to the URL's. An array adds one for each
	// item, unless the value's style says otherwise; an absent argument adds none.
	Query Values `json:"query,omitempty"`
	// Cookies are sent in one Cookie header, with their values escaped as in a
	// URL; one whose argument is absent is left out.
	Cookies Values `json:"cookies,omitempty"`
	// Body is what is sent; its shape follows from BodyType, and null sends
	// nothing. When Body is absent, the arguments used nowhere else are sent:
	// by POST, PUT and PATCH as a JSON object or, where BodyType is form, as
	// fields; else as query parameters.
	//
	//   - json: JSON in which each {"from": "/pointer"} is replaced by the
	//     argument, byte for byte; absent members are left out.
	//   - form: an object of [Values], by field; or {"from": "/pointer"} of an
	//     object whose members are the fields.
	//   - multipart: an object of [Part], by name.
	//   - raw: one [Part] with a content type.
	Body json.RawMessage `json:"body,omitempty"`
	// BodyType is json, form (application/x-www-form-urlencoded), multipart
	// (multipart/form-data) or raw. Defaults to json.
	BodyType string `json:"body_type,omitempty"`
	// Reads declares that a POST changes nothing, as a search or a GraphQL
	// query does: it may then be sent under the egress class read_only. Only a
	// principal with the permission tools.declare_reads may save it.
	Reads bool `json:"reads,omitempty"`
	// Auth adds a credential.
	Auth *Auth `json:"auth,omitempty"`
	// MaxBytes bounds the answer, all pages together; 1 MiB when zero, at most
	// 16 MiB.
	MaxBytes int64 `json:"max_bytes,omitempty"`
	// Answer is how the answer is read: "json", "text", "binary" for its bytes
	// unchanged in a block of their content type, or "auto", by its content type.
	// Defaults to auto.
	Answer string `json:"answer,omitempty"`
	// Pagination asks for further pages and joins their items.
	Pagination *Pagination `json:"pagination,omitempty"`
	// Result builds the result from a JSON answer, as a body of type json is built
	// from arguments: {"from": "/data"} is a part of it, an object combines
	// several parts. The call fails where a lone reference points at nothing.
	// Absent, the answer is the result.
	Result json.RawMessage `json:"result,omitempty"`
	// Errors maps answers to errors where the status is not enough. The first
	// matching rule applies; without one, the status decides.
	Errors []ErrorRule `json:"errors,omitempty"`
	// Destinations are several places to send to, of which an argument names
	// one. Without them, calls go to URL.
	Destinations *Destinations `json:"destinations,omitempty"`
}

const maxAnswerBytes = 16 << 20

// How an answer is read.
const (
	answerAuto   = "auto"
	answerJSON   = "json"
	answerText   = "text"
	answerBinary = "binary"
)

// CheckConfig checks an http tool's configuration. It fails with [tool.Invalid]
// and the JSON Pointer of the fault. Registries call it before they store one.
func CheckConfig(raw json.RawMessage) error {
	_, err := compile(raw)
	return err
}

func decode(raw json.RawMessage) (Config, error) {
	object, err := readObject(raw)
	if err != nil {
		return Config{}, err
	}
	return decodeMembers(object)
}

func decodeMembers(object map[string]json.RawMessage) (Config, error) {
	var c Config
	err := takeMembers(object, map[string]any{
		"type": &c.Type, "method": &c.Method, "url": &c.URL, "variables": &c.Variables,
		"headers": &c.Headers, "query": &c.Query, "cookies": &c.Cookies,
		"body": &c.Body, "body_type": &c.BodyType, "reads": &c.Reads, "auth": &c.Auth,
		"max_bytes": &c.MaxBytes, "answer": &c.Answer,
		"pagination": &c.Pagination, "result": &c.Result, "errors": &c.Errors, "destinations": &c.Destinations,
	})
	if err != nil {
		return c, err
	}
	if c.Method == "" {
		c.Method = http.MethodGet
	}
	c.Method = strings.ToUpper(c.Method)
	if c.Answer == "" {
		c.Answer = answerAuto
	}
	if c.BodyType == "" {
		c.BodyType = bodyJSON
	}
	return c, nil
}

func fault(path, msg string) *tool.Error {
	return &tool.Error{Kind: tool.Invalid, Op: "httpcall.CheckConfig", Path: path, Msg: msg}
}
