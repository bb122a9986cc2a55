package httpcall

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/mediatype"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// excerptBytes bounds the excerpt of an error response that the model reads.
const excerptBytes = 4 << 10

// answered returns the result of a 2xx response.
func (p *program) answered(ctx context.Context, known *secret.Redactor, r *egress.Response) (*tool.Result, error) {
	if r.Truncated {
		return tooMuch(r), nil
	}
	if len(bytes.TrimSpace(r.Body)) == 0 {
		return &tool.Result{
			Content: []tool.Content{
				tool.Text(fmt.Sprintf("done: the upstream answered %s without content", statusText(r.Status))),
			},
		}, nil
	}
	mediaType := mediaTypeOf(r.Header)
	switch {
	case p.Answer == answerText:
		return textResult(known, r.Body), nil
	case p.Answer == answerBinary:
		return p.binaryResult(mediaType, r), nil
	case p.Answer == answerJSON || p.result != nil || mediatype.IsJSON(mediaType) || mediaType == "" && json.Valid(r.Body):
		doc := document(r)
		if doc.Raw() == nil {
			return notJSON(known, r), nil
		}
		return p.shape(ctx, doc.Raw())
	case isText(mediaType) || mediaType == "" && utf8.Valid(r.Body):
		return textResult(known, r.Body), nil
	default:
		return p.binaryResult(mediaType, r), nil
	}
}

func tooMuch(r *egress.Response) *tool.Result {
	return tool.ErrorResult(fmt.Sprintf(
		"the upstream answered more than the limit of %d bytes: ask for less, such as fewer items or fields", len(r.Body),
	))
}

func notJSON(known *secret.Redactor, r *egress.Response) *tool.Result {
	return tool.ErrorResult("the upstream answered " + statusText(r.Status) + " with something that is not JSON: " +
		excerpt(known, r))
}

// textResult redacts secrets before it makes the text valid UTF-8, which would
// change secrets that are not valid, and those in UTF-16.
func textResult(known *secret.Redactor, raw []byte) *tool.Result {
	return &tool.Result{Content: []tool.Content{tool.Text(strings.ToValidUTF8(string(known.JSON(raw)), "\uFFFD"))}}
}

// binaryResult returns a response's bytes unchanged, in a block of their content
// type.
func (p *program) binaryResult(mediaType string, r *egress.Response) *tool.Result {
	block := tool.Content{Type: tool.ContentResource, Data: r.Body, MIMEType: mediaType, Name: fileName(r.Header)}
	switch {
	case strings.HasPrefix(mediaType, "image/"):
		block.Type = tool.ContentImage
	case strings.HasPrefix(mediaType, "audio/"):
		block.Type = tool.ContentAudio
	case mediaType == "":
		block.MIMEType = "application/octet-stream"
	}
	if block.Type == tool.ContentResource {
		block.URI = p.template.origin.String()
	}
	return &tool.Result{Content: []tool.Content{block}}
}

// saidNo returns a response as an error result that the caller can act on.
func saidNo(known *secret.Redactor, r *egress.Response) *tool.Result {
	text := "the upstream answered " + statusText(r.Status)
	if body := excerpt(known, r); body != "" {
		text += ": " + body
	}
	return tool.ErrorResult(text)
}

// excerpt returns the beginning of a text body; empty for a binary one. Secrets
// are redacted before the text is cut, since a cut secret would not be recognised.
func excerpt(known *secret.Redactor, r *egress.Response) string {
	raw := known.JSON(r.Body)
	if r.Truncated {
		raw = []byte(known.TrimPartial(string(raw)))
	}
	cut := len(raw) > excerptBytes
	if cut {
		raw = raw[:excerptBytes]
	}
	s := strings.TrimSpace(strings.ToValidUTF8(string(raw), "\uFFFD"))
	if strings.Count(s, "\uFFFD") > len(s)/16+1 || strings.ContainsRune(s, 0) {
		return ""
	}
	if cut {
		s += " …"
	}
	return s
}

func mediaTypeOf(h http.Header) string {
	mediaType, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return mediaType
}

// fileName returns the file name in a response's Content-Disposition, without a
// path; empty where there is no valid one.
func fileName(h http.Header) string {
	_, parameters, err := mime.ParseMediaType(h.Get("Content-Disposition"))
	if err != nil {
		return ""
	}
	name := parameters["filename"]
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	if len(name) > maxFileName || !validFileName(name) || !utf8.ValidString(name) {
		return ""
	}
	return name
}

func isText(mediaType string) bool {
	return strings.HasPrefix(mediaType, "text/") || mediaType == "application/xml" || strings.HasSuffix(mediaType, "+xml")
}

func statusText(status int) string {
	if text := http.StatusText(status); text != "" {
		return fmt.Sprintf("%d %s", status, text)
	}
	return strconv.Itoa(status)
}
