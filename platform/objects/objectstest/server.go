// Package objectstest has a store of objects in memory, which speaks as much of the interface of
// Amazon S3 over HTTP as contents of files need. It checks the signature of each request as that
// service does (AWS Signature Version 4), from its documentation rather than from a library.
package objectstest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Keys and names of the server.
const (
	AccessKey = "AKIDEXAMPLE"
	SecretKey = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" //nolint:gosec // The one of the documentation.
	Region    = "eu-test-1"
	Bucket    = "files"
)

// Server is a store of objects. It is safe for concurrent use.
type Server struct {
	*httptest.Server

	mu      sync.Mutex
	objects map[string][]byte
	refused []string // Why requests were refused.
	broken  int      // Requests that are answered with an error.
}

// New starts a server, which ends with the test.
func New(tb testing.TB) *Server {
	tb.Helper()
	s := &Server{objects: map[string][]byte{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	tb.Cleanup(s.Close)
	return s
}

// Objects returns the keys of the objects, sorted.
func (s *Server) Objects() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []string
	for key := range s.objects {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// Set replaces an object.
func (s *Server) Set(key string, content []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[key] = content
}

// Refused returns why requests were refused.
func (s *Server) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.refused)
}

// Break answers the next requests with an error.
func (s *Server) Break(requests int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = requests
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // The client broke off: nothing is stored.
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken > 0 {
		s.broken--
		fail(w, http.StatusInternalServerError, "InternalError")
		return
	}
	if err := verify(r, body); err != nil {
		s.refused = append(s.refused, err.Error())
		fail(w, http.StatusForbidden, "SignatureDoesNotMatch")
		return
	}
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if bucket != Bucket {
		fail(w, http.StatusNotFound, "NoSuchBucket")
		return
	}
	content, found := s.objects[key]
	switch {
	case r.Method == http.MethodHead && key == "":
	case r.Method == http.MethodPut:
		if r.ContentLength != int64(len(body)) {
			fail(w, http.StatusBadRequest, "IncompleteBody")
			return
		}
		s.objects[key] = body
	case r.Method == http.MethodDelete:
		delete(s.objects, key)
		w.WriteHeader(http.StatusNoContent)
	case !found:
		fail(w, http.StatusNotFound, "NoSuchKey")
	default:
		w.Header().Set("Content-Length", strconv.Itoa(len(content)))
		_, _ = w.Write(content)
	}
}

func fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `<?xml version="1.0"?><Error><Code>%s</Code><Message>refused</Message></Error>`, code)
}

const (
	algorithm = "AWS4-HMAC-SHA256"
	stamp     = "20060102T150405Z"
	maxSkew   = 15 * time.Minute
)

// verify checks the signature of a request.
func verify(r *http.Request, body []byte) error {
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), algorithm+" ")
	if !ok {
		return errors.New("the request is not signed")
	}
	parts := map[string]string{}
	for part := range strings.SplitSeq(given, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		parts[name] = value
	}
	date := r.Header.Get("X-Amz-Date")
	at, err := time.Parse(stamp, date)
	if err != nil || time.Since(at).Abs() > maxSkew {
		return fmt.Errorf("the date %q is not now", date)
	}
	scope := date[:8] + "/" + Region + "/s3/aws4_request"
	if parts["Credential"] != AccessKey+"/"+scope {
		return fmt.Errorf("the credential is %q", parts["Credential"])
	}
	sum := sha256.Sum256(body)
	if hash := r.Header.Get("X-Amz-Content-Sha256"); hash != hex.EncodeToString(sum[:]) {
		return fmt.Errorf("the body has another digest than %q", hash)
	}
	signed := strings.Split(parts["SignedHeaders"], ";")
	if !slices.Contains(signed, "host") || !slices.Contains(signed, "x-amz-date") || !slices.IsSorted(signed) {
		return fmt.Errorf("the headers %q are signed", signed)
	}
	text := strings.Join([]string{
		r.Method, escapedPath(r.URL), canonicalQuery(r.URL), canonicalHeaders(r, signed), parts["SignedHeaders"],
		r.Header.Get("X-Amz-Content-Sha256"),
	}, "\n")
	hashed := sha256.Sum256([]byte(text))
	key := []byte("AWS4" + SecretKey)
	for _, part := range []string{date[:8], Region, "s3", "aws4_request"} {
		key = sign(key, part)
	}
	want := hex.EncodeToString(sign(key, algorithm+"\n"+date+"\n"+scope+"\n"+hex.EncodeToString(hashed[:])))
	if !hmac.Equal([]byte(want), []byte(parts["Signature"])) {
		return fmt.Errorf("the signature of %s %s is wrong", r.Method, r.URL.Path)
	}
	return nil
}

func sign(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

func escapedPath(u *url.URL) string {
	if p := u.EscapedPath(); p != "" {
		return p
	}
	return "/"
}

func canonicalQuery(u *url.URL) string {
	return strings.ReplaceAll(u.Query().Encode(), "+", "%20")
}

func canonicalHeaders(r *http.Request, signed []string) string {
	var b strings.Builder
	for _, name := range signed {
		value := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = strconv.FormatInt(r.ContentLength, 10)
		}
		b.WriteString(name + ":" + strings.Join(strings.Fields(value), " ") + "\n")
	}
	return b.String()
}
