package programs

import (
	"context"
	"crypto/sha1" //nolint:gosec // Repositories that publish nothing better publish this.
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/tool"
)

// maxDigestBytes bounds the file that holds a digest.
const maxDigestBytes = 4 << 10

// reading is all that is ever done to a repository.
var reading = egress.Access{Class: tool.EgressReadOnly}

// repository is one artifact of a repository.
type repository struct {
	artifact string // Its URL.
	gate     *egress.Gate
	download Download
}

// openRepository says where the artifact of a build is. It must be closed.
func openRepository(d Download, target build) (*repository, error) {
	base, err := url.Parse(d.Repository)
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" {
		return nil, fmt.Errorf("the repository %q is no https or http URL", redacted(d.Repository))
	}
	if base.Scheme == "http" && d.SHA256 == "" && !isLoopback(base.Hostname()) {
		return nil, fmt.Errorf(
			"the repository %s is reached without TLS, so that its digests prove nothing: use https, or pin the archive's "+
				"SHA-256 in TOOLCRIB_POSTGRES_SHA256",
			base.Redacted(),
		)
	}
	name := "embedded-postgres-binaries-" + target.String()
	artifact := base.JoinPath("io", "zonky", "test", "postgres", name, d.Version, name+"-"+d.Version+".jar")
	// The host of a configured repository is trusted, at any address.
	policy := egress.Policy{AllowHosts: []string{base.Host}}
	gate, err := egress.New(egress.Config{
		Policy: func(tool.TenantID) egress.Policy { return policy }, MaxBytes: maxDigestBytes,
	})
	if err != nil {
		return nil, fmt.Errorf("making the way to the repository: %w", err)
	}
	return &repository{artifact: artifact.String(), gate: gate, download: d}, nil
}

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// redacted is a URL without its password.
func redacted(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "(malformed)"
	}
	return u.Redacted()
}

func (r *repository) close() { r.gate.Close() }

// name is the artifact's URL, redacted for messages.
func (r *repository) name() string { return redacted(r.artifact) }

// fetch downloads the artifact to a new file, and checks its digest.
func (r *repository) fetch(ctx context.Context, path string) (err error) {
	want, digest, err := r.digest(ctx)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("making a file to download to: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := r.copy(ctx, file); err != nil {
		return fmt.Errorf("downloading %s: %w", r.name(), err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("reading what was downloaded: %w", err)
	}
	if _, err := io.Copy(digest, file); err != nil {
		return fmt.Errorf("reading what was downloaded: %w", err)
	}
	if have := hex.EncodeToString(digest.Sum(nil)); have != want {
		return fmt.Errorf("the digest of %s is %s, and should be %s: it is not used", r.name(), have, want)
	}
	return nil
}

// digest returns what the artifact's digest must be, and the function for it:
// the one that is pinned, else the best that the repository publishes.
func (r *repository) digest(ctx context.Context) (string, hash.Hash, error) {
	if pinned := strings.ToLower(r.download.SHA256); pinned != "" {
		if !isHex(pinned, sha256.Size) {
			return "", nil, fmt.Errorf("the pinned digest %q is no SHA-256 in hexadecimal", pinned)
		}
		return pinned, sha256.New(), nil
	}
	for _, kind := range []struct {
		suffix string
		size   int
		make   func() hash.Hash
	}{{".sha256", sha256.Size, sha256.New}, {".sha1", sha1.Size, sha1.New}} {
		answer, err := r.gate.Do(
			ctx, reading, &egress.Request{Method: http.MethodGet, URL: r.artifact + kind.suffix, Repeatable: true},
		)
		if err != nil {
			return "", nil, fmt.Errorf("asking %s for a digest: %w", r.name(), err)
		}
		if answer.Status == http.StatusNotFound {
			continue
		}
		text, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(string(answer.Body))), " ")
		if answer.Status != http.StatusOK || !isHex(text, kind.size) {
			return "", nil, fmt.Errorf("%s%s is no digest: the repository answered %d", r.name(), kind.suffix, answer.Status)
		}
		return text, kind.make(), nil
	}
	return "", nil, fmt.Errorf("the repository does not have %s, or no digest of it", r.name())
}

func isHex(text string, size int) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) == size
}

// copy downloads the artifact, and resumes after an interruption.
func (r *repository) copy(ctx context.Context, file *os.File) error {
	pause := r.download.limits.pause
	report := &progress{to: r.download.Progress, what: r.name()}
	for try := 1; ; try++ {
		err := r.resume(ctx, file, report)
		if err == nil || try == r.download.limits.tries || !mayPass(ctx, err) {
			return err
		}
		_, _ = fmt.Fprintf(r.download.Progress, "it broke off (%v): trying again\n", err) // Optional.
		select {
		case <-time.After(pause):
			pause *= 2
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// finalError is a failure that another try does not mend.
type finalError struct{ error }

func mayPass(ctx context.Context, err error) bool {
	if _, final := errors.AsType[finalError](err); final || ctx.Err() != nil {
		return false
	}
	// A refusal of the guard stays one.
	return tool.KindOf(err) != tool.Denied && tool.KindOf(err) != tool.Invalid
}

var errStalled = errors.New("the repository sent nothing for too long")

// resume requests the part that the file does not have yet and appends it.
func (r *repository) resume(ctx context.Context, file *os.File, report *progress) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(r.download.limits.stall, func() { cancel(errStalled) })
	defer watch.Stop()
	have, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return finalError{err}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.artifact, http.NoBody)
	if err != nil {
		return finalError{err}
	}
	request.Header.Set("Accept-Encoding", "identity")
	if have > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	answer, err := r.gate.Client(reading).Do(request)
	if err != nil {
		return causeOf(ctx, err)
	}
	defer answer.Body.Close()
	if have, err = r.accept(answer, file, have); err != nil {
		return err
	}
	report.begin(have, answer.ContentLength)
	room := r.download.limits.artifact - have
	n, err := io.Copy(file, io.LimitReader(&watched{
		from: answer.Body, alive: func(n int) { watch.Reset(r.download.limits.stall); report.add(n) },
	}, room+1))
	switch {
	case n > room:
		return finalError{fmt.Errorf("it is larger than %d bytes", r.download.limits.artifact)}
	case err != nil:
		return causeOf(ctx, err)
	case answer.ContentLength >= 0 && n < answer.ContentLength:
		return io.ErrUnexpectedEOF
	}
	return nil
}

// accept decides about the head of an answer: whether it is the whole, or goes
// on where the file ends.
func (r *repository) accept(answer *http.Response, file *os.File, have int64) (int64, error) {
	switch status := answer.StatusCode; {
	case status == http.StatusOK:
		return 0, rewind(file)
	case status == http.StatusPartialContent &&
		strings.HasPrefix(answer.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", have)):
		return have, nil
	case status == http.StatusPartialContent, status == http.StatusRequestedRangeNotSatisfiable:
		return 0, errors.Join(fmt.Errorf("the repository answered %d to a range", status), rewind(file))
	case status >= http.StatusInternalServerError, status == http.StatusTooManyRequests,
		status == http.StatusRequestTimeout:
		return 0, fmt.Errorf("the repository answered %d", status)
	default:
		return 0, finalError{fmt.Errorf("the repository answered %d", status)}
	}
}

func rewind(file *os.File) error {
	if err := file.Truncate(0); err != nil {
		return finalError{err}
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return finalError{err}
	}
	return nil
}

// causeOf returns the cause of ctx if ctx has ended, else err.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// watched reports each piece that is read to alive.
type watched struct {
	from  io.Reader
	alive func(n int)
}

// Read implements [io.Reader].
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.from.Read(p)
	if n > 0 {
		w.alive(n)
	}
	return n, err
}
