package httpcall

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// excerptBytes is how much of an answer "no" the model is shown.
const excerptBytes = 4 << 10

// answered returns what an answer of 2xx says.
func (p *program) answered(known *secret.Redactor, r *egress.Response) *tool.Result {
	if r.Truncated {
		return tool.ErrorResult(fmt.Sprintf("the upstream answered more than the limit of %d bytes: ask for less, such as fewer items or fields", len(r.Body)))
	}
	if len(bytes.TrimSpace(r.Body)) == 0 {
		return &tool.Result{Content: []tool.Content{tool.Text(fmt.Sprintf("done: the upstream answered %s without content", statusText(r.Status)))}}
	}
	mediaType := mediaTypeOf(r.Header)
	switch {
	case p.Answer == answerText:
		return textResult(known, r.Body)
	case p.Answer == answerJSON || isJSON(mediaType):
		return p.jsonResult(known, r)
	case strings.HasPrefix(mediaType, "text/") || mediaType == "application/xml" || strings.HasSuffix(mediaType, "+xml"):
		return textResult(known, r.Body)
	case mediaType == "" && json.Valid(r.Body):
		return p.jsonResult(known, r)
	case mediaType == "" && utf8.Valid(r.Body):
		return textResult(known, r.Body)
	default:
		return p.binaryResult(mediaType, r.Body)
	}
}

func (p *program) jsonResult(known *secret.Redactor, r *egress.Response) *tool.Result {
	raw := bytes.TrimSpace(r.Body)
	if json.Valid(raw) && utf8.Valid(raw) {
		return tool.JSONResult(raw)
	}
	return tool.ErrorResult("the upstream answered " + statusText(r.Status) + " with something that is not JSON: " + excerpt(known, r))
}

// textResult removes secrets before it makes valid text, which would change
// those that are not, and those in UTF-16.
func textResult(known *secret.Redactor, raw []byte) *tool.Result {
	return &tool.Result{Content: []tool.Content{tool.Text(strings.ToValidUTF8(string(known.JSON(raw)), "\uFFFD"))}}
}

func (p *program) binaryResult(mediaType string, raw []byte) *tool.Result {
	block := tool.Content{Type: tool.ResourceContent, Data: raw, MIMEType: mediaType, URI: p.template.origin.String()}
	switch {
	case strings.HasPrefix(mediaType, "image/"):
		block = tool.Content{Type: tool.ImageContent, Data: raw, MIMEType: mediaType}
	case strings.HasPrefix(mediaType, "audio/"):
		block = tool.Content{Type: tool.AudioContent, Data: raw, MIMEType: mediaType}
	case mediaType == "":
		block.MIMEType = "application/octet-stream"
	}
	return &tool.Result{Content: []tool.Content{block}}
}

// saidNo returns what an answer says that the caller can act on.
func saidNo(known *secret.Redactor, r *egress.Response) *tool.Result {
	text := "the upstream answered " + statusText(r.Status)
	if body := excerpt(known, r); body != "" {
		text += ": " + body
	}
	return tool.ErrorResult(text)
}

// excerpt returns the beginning of a text body; nothing of a binary one.
// Secrets go before anything is cut, or half of one would be left.
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

func isJSON(mediaType string) bool {
	return mediaType == "application/json" || mediaType == "text/json" || strings.HasSuffix(mediaType, "+json")
}

func statusText(status int) string {
	if text := http.StatusText(status); text != "" {
		return fmt.Sprintf("%d %s", status, text)
	}
	return strconv.Itoa(status)
}
