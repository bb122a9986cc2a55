package fuzz_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
)

// request is a request as it goes over the wire, in parts that can be taken away.
type request struct {
	op      *operation
	who     actor
	method  string
	path    string      // With its names filled in and escaped.
	query   []string    // "name=value", escaped.
	headers [][2]string // Without Host, Authorization and Content-Length.
	body    []byte
	hasBody bool
	broken  bool // Is no HTTP, so that the server may answer as it likes.
	foreign bool // Names a thing of another tenant in its path.
	proper  bool // Nothing is wrong on purpose.
	names   []string
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
	cut    bool // A stream, of which the beginning was read.
}

func (r request) clone() request {
	r.query, r.headers, r.body = slices.Clone(r.query), slices.Clone(r.headers), slices.Clone(r.body)
	return r
}

func (r request) target() string {
	if len(r.query) == 0 {
		return r.path
	}
	return r.path + "?" + strings.Join(r.query, "&")
}

// bytes renders the request.
func (r request) bytes(host string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", r.method, r.target(), host)
	if r.who.key != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", r.who.key)
	}
	for _, h := range r.headers {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	if r.hasBody {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(r.body))
	}
	b.WriteString("\r\n")
	if r.hasBody {
		b.Write(r.body)
	}
	return b.Bytes()
}

// curl renders the request as a command, without the key.
func (r request) curl(host string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "curl -isS --path-as-is -X %s %s", r.method, quote("http://"+host+r.target()))
	if r.who.key != "" {
		fmt.Fprintf(&b, ` -H "Authorization: Bearer $KEY_OF_%s"`, strings.ToUpper(r.who.name))
	}
	for _, h := range r.headers {
		fmt.Fprintf(&b, " -H %s", quote(h[0]+": "+h[1]))
	}
	if r.hasBody {
		fmt.Fprintf(&b, " --data-binary %s", quote(string(r.body)))
	}
	return b.String()
}

// quote quotes a text for bash, whatever is in it.
func quote(s string) string {
	plain := !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c > '~' || c == '\'' })
	if len(s) > 4000 {
		s = s[:2000] + fmt.Sprintf("<%d bytes left out>", len(s)-4000) + s[len(s)-2000:]
	}
	if plain {
		return "'" + s + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\'' || c == '\\':
			b.WriteString(`\` + string(c))
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteString("'")
	return b.String()
}

// Limits of an answer. Of a stream the beginning is read, however long it takes
// to come, and then what there is.
const (
	answerTimeout = 90 * time.Second
	streamTimeout = 30 * time.Millisecond
	answerBytes   = 32 << 20
)

// errNoAnswer says that the server hung up without an answer.
var errNoAnswer = errors.New("the server hung up without an answer")

// send sends the request on a connection of its own.
func (r request) send(ctx context.Context, host string) (answer, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", host)
	if err != nil {
		return answer{}, fmt.Errorf("connecting: %w", err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
		return answer{}, fmt.Errorf("connecting: %w", err)
	}
	go func() { _, _ = conn.Write(r.bytes(host)) }() // An answer may come before all of it is read.
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: r.method})
	if err != nil {
		return answer{}, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	defer resp.Body.Close()
	a := answer{status: resp.StatusCode, header: resp.Header}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), streamMedia) {
		a.cut = true
		a.body, err = readStream(conn, resp.Body)
	} else {
		a.body, err = io.ReadAll(io.LimitReader(resp.Body, answerBytes))
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return a, fmt.Errorf("reading the answer: %w", err)
	}
	return a, err
}

// readStream reads what a stream begins with, and what there is behind it.
func readStream(conn net.Conn, body io.Reader) ([]byte, error) {
	var b bytes.Buffer
	for !bytes.Contains(b.Bytes(), []byte("\n\n")) {
		if _, err := io.CopyN(&b, body, 1); errors.Is(err, io.EOF) {
			return b.Bytes(), nil
		} else if err != nil {
			return b.Bytes(), err
		}
	}
	if err := conn.SetReadDeadline(time.Now().Add(streamTimeout)); err != nil {
		return nil, err
	}
	_, err := b.ReadFrom(io.LimitReader(body, answerBytes))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	return b.Bytes(), err
}
