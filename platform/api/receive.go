package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"github.com/toolcrib/toolcrib/internal/mediatype"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/schema/jsonvalue"
)

const jsonType = "application/json"

// maxBodyDepth bounds the nesting of a body; its parts have limits of their own.
const maxBodyDepth = 1000

// heldBody is a request's body that has been read.
type heldBody struct {
	*bytes.Reader
	raw []byte
}

func (heldBody) Close() error { return nil }

// receive reads a request's body, and refuses a request that cannot be parsed or
// answered, before any effect and before its idempotency key is taken.
func (s *server) receive(ctx huma.Context, next func(huma.Context)) {
	r, w := humachi.Unwrap(ctx)
	op := ctx.Operation()
	if !acceptable(op, r.Header.Values("Accept")) {
		writeProblem(w, r, refusal(v1.NotAcceptable, "the endpoint answers in "+strings.Join(produced(op), ", ")))
		return
	}
	// Of a GET too: the server would wait for the unread rest, without limit,
	// before it sends the answer.
	raw, problem := readBody(r, op)
	if problem != nil {
		writeProblem(w, r, problem)
		return
	}
	r.Body = heldBody{bytes.NewReader(raw), raw}
	// The server's read deadline was for the body, which has been read. If it
	// stayed, it would cancel requests that take long to answer.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	next(ctx)
}

func readBody(r *http.Request, op *huma.Operation) ([]byte, *v1.Problem) {
	raw := takesRaw(op)
	if op.RequestBody != nil && !raw && r.ContentLength != 0 && !accepted(r.Header.Get("Content-Type")) {
		return nil, refusal(v1.UnsupportedMediaType, "the body must be "+jsonType)
	}
	most := op.MaxBodyBytes - 1 // The framework refuses a body of just its limit.
	tooLarge := func() *v1.Problem {
		return refusal(v1.BodyTooLarge, fmt.Sprintf("the body exceeds the limit of %d bytes", most))
	}
	if r.ContentLength > most {
		return nil, tooLarge()
	}
	content, err := io.ReadAll(io.LimitReader(r.Body, most+1))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, refusal(v1.RequestTimeout, "the body did not arrive in time")
	case err != nil:
		return nil, refusal(v1.MalformedRequest, "the body is incomplete")
	case int64(len(content)) > most:
		return nil, tooLarge()
	case op.RequestBody == nil || raw || len(content) == 0:
		return content, nil // The operation decides whether the body may be missing.
	}
	// The standard library takes the last of two members and replaces characters
	// that it cannot read: another reader of the same body may not.
	if _, err := jsonvalue.Check(content, maxBodyDepth); err != nil {
		return nil, refusal(v1.MalformedJSON, misspelled(content, err))
	}
	return content, nil
}

// takesRaw reports whether the body of an operation is the content of a file, of whatever type.
func takesRaw(op *huma.Operation) bool {
	return op.RequestBody != nil && op.RequestBody.Content[rawType] != nil
}

// misspelled returns a message with the position at which a body is not JSON, or
// breaks the rules of [jsonvalue.Decode].
func misspelled(raw []byte, err error) string {
	e, ok := errors.AsType[*jsonvalue.Error](err)
	if !ok {
		return "the body is not JSON"
	}
	before := raw[:min(e.Offset, len(raw))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(bytes.Runes(before[bytes.LastIndexByte(before, '\n')+1:])) + 1
	if !e.Syntax {
		return fmt.Sprintf("the body is refused at %q, line %d, column %d: %s", e.Path, line, column, e.Msg)
	}
	return fmt.Sprintf("the body is not JSON: line %d, column %d: %s", line, column,
		strings.TrimPrefix(e.Msg, "not JSON: "))
}

// unmarshal decodes a JSON body, and describes values that its types cannot hold.
func unmarshal(raw []byte, v any) error {
	err := json.Unmarshal(raw, v)
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case ok && strings.HasPrefix(wrong.Value, "number"):
		return errors.New("the body holds a number that is out of range")
	case ok:
		return fmt.Errorf("the body holds a value of the wrong type: %s", wrong.Value)
	}
	return err
}

// accepted reports whether a body of the media type is decoded. An empty type
// counts as JSON, the only type of the API; the framework does not know
// text/json.
func accepted(contentType string) bool {
	if contentType == "" {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && media != "text/json" && mediatype.IsJSON(media)
}

// produced lists the media types that an operation answers in.
func produced(op *huma.Operation) []string {
	types := []string{jsonType}
	for status, response := range op.Responses {
		if !strings.HasPrefix(status, "2") {
			continue
		}
		for media := range response.Content {
			if media != jsonType {
				types = append(types, media)
			}
		}
	}
	return types
}

// acceptable reports whether a client with these Accept headers accepts a media
// type that the operation answers in.
func acceptable(op *huma.Operation, headers []string) bool {
	ranges := strings.Split(strings.Join(headers, ","), ",")
	asked := false
	for _, text := range ranges {
		media, params, err := mime.ParseMediaType(text)
		if err != nil {
			continue
		}
		asked = true
		if q, err := strconv.ParseFloat(params["q"], 64); err == nil && q == 0 {
			continue
		}
		if media == "*/*" || media == v1.ProblemType {
			return true
		}
		for _, have := range produced(op) {
			if media == have || strings.HasSuffix(media, "/*") && strings.HasPrefix(have, strings.TrimSuffix(media, "*")) {
				return true
			}
		}
	}
	return !asked
}
