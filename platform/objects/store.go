package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// Location names the place in the records of files.
const Location = "s3"

// Config says where objects are kept. Bucket and the keys are required.
type Config struct {
	// Endpoint is the address of the service, such as https://minio.internal:9000. Defaults to
	// Amazon's in Region.
	Endpoint string
	Region   string // Defaults to us-east-1.
	Bucket   string // It exists.
	// Prefix begins the keys of objects, such as "toolcrib/". Defaults to none.
	Prefix string
	// PathStyle puts the bucket into the path of addresses, as most services beside Amazon's
	// want it. Defaults to true with an endpoint.
	PathStyle *bool

	AccessKeyID     string
	SecretAccessKey string
	SessionToken    string // Of temporary keys. Empty for others.

	// Timeout bounds each request. Defaults to 30 s.
	Timeout time.Duration
}

// Store keeps contents as objects, under <prefix><tenant>/<file>. It is safe for concurrent use.
type Store struct {
	cfg    Config
	gate   *egress.Gate
	client *s3.Client
}

var _ file.Contents = (*Store)(nil)

const defaultTimeout = 30 * time.Second

var (
	bucketPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	regionPattern = regexp.MustCompile(`^[a-z0-9-]{1,40}$`)
	prefixPattern = regexp.MustCompile(`^[A-Za-z0-9_./-]{0,200}$`)
)

func invalid(format string, args ...any) error {
	return &tool.Error{Kind: tool.Invalid, Op: "objects.Open", Msg: fmt.Sprintf(format, args...)}
}

// withDefaults checks a configuration, and fills in its defaults.
func (c Config) withDefaults() (Config, *url.URL, error) {
	if c.Region == "" {
		c.Region = "us-east-1"
	}
	if c.Timeout <= 0 {
		c.Timeout = defaultTimeout
	}
	if c.PathStyle == nil {
		c.PathStyle = aws.Bool(c.Endpoint != "")
	}
	switch {
	case !bucketPattern.MatchString(c.Bucket):
		return c, nil, invalid("the bucket %q is no name of a bucket", c.Bucket)
	case !regionPattern.MatchString(c.Region):
		return c, nil, invalid("the region %q is none, such as eu-central-1", c.Region)
	case !prefixPattern.MatchString(c.Prefix) || strings.Contains(c.Prefix, "..") || strings.HasPrefix(c.Prefix, "/"):
		return c, nil, invalid("the prefix %q has other characters than letters, digits, _, -, . and /", c.Prefix)
	case c.AccessKeyID == "" || c.SecretAccessKey == "":
		return c, nil, invalid("a store of objects needs an access key and its secret")
	}
	if c.Endpoint == "" {
		c.Endpoint = "https://s3." + c.Region + ".amazonaws.com"
	}
	u, err := url.Parse(c.Endpoint)
	if err == nil {
		err = egress.CheckURL(u)
	}
	if err != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
		return c, nil, invalid("the endpoint is no http or https address without user, path and query")
	}
	return c, u, nil
}

// Open returns a store. It makes no request: see [Store.Check]. It fails with tool.Invalid. The
// caller closes it.
func Open(cfg Config) (*Store, error) {
	cfg, endpoint, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	port := endpoint.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[endpoint.Scheme]
	}
	hosts := []string{endpoint.Hostname()}
	if !*cfg.PathStyle {
		hosts = []string{cfg.Bucket + "." + endpoint.Hostname()}
	}
	// The operator chose the service, which may be at any address; nothing else may be.
	policy := egress.Policy{AllowHosts: []string{net.JoinHostPort(secret.HostForm(hosts[0]), port)}}
	if err := policy.Check(); err != nil {
		return nil, invalid("the host of the endpoint cannot be used: %s", tool.AsError(err).Msg)
	}
	gate, err := egress.New(egress.Config{
		Policy: func(tool.TenantID) egress.Policy { return policy }, MaxRedirects: -1, Timeout: cfg.Timeout,
	})
	if err != nil {
		return nil, fmt.Errorf("creating the egress gate for the store of objects: %w", err)
	}
	s := &Store{cfg: cfg, gate: gate}
	s.client = s3.New(s3.Options{
		BaseEndpoint: aws.String(cfg.Endpoint), Region: cfg.Region, UsePathStyle: *cfg.PathStyle,
		Credentials: credentials.NewStaticCredentialsProvider(cfg.AccessKeyID, cfg.SecretAccessKey, cfg.SessionToken),
		HTTPClient:  gate.Client(egress.Access{Class: tool.EgressWrite}),
		// The digest is in the record of the file. Services beside Amazon's know few others.
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
		RetryMaxAttempts:           3,
	})
	return s, nil
}

// Close closes idle connections.
func (s *Store) Close() { s.gate.Close() }

// Check makes sure that the bucket can be reached with the keys. It fails with tool.Unavailable or
// tool.Denied.
func (s *Store) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	_, err := s.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &s.cfg.Bucket})
	if err != nil && tool.KindOf(failure("objects.Check", err)) == tool.NotFound {
		return &tool.Error{
			Kind: tool.Unavailable, Op: "objects.Check", Msg: fmt.Sprintf("there is no bucket %q", s.cfg.Bucket), Err: err,
		}
	}
	return failure("objects.Check", err)
}

// Location implements [file.Contents].
func (s *Store) Location() string { return Location }

// key returns the key of a content. Names that are no ids have none.
func (s *Store) key(ref file.Ref) (*string, error) {
	if !tool.ValidID(string(ref.Tenant)) || !tool.ValidID(ref.ID) {
		return nil, &tool.Error{Kind: tool.NotFound, Op: "objects.key", Msg: "file not found"}
	}
	return aws.String(s.cfg.Prefix + string(ref.Tenant) + "/" + ref.ID), nil
}

// Put implements [file.Contents]. An object is there whole or not at all.
func (s *Store) Put(ctx context.Context, ref file.Ref, content []byte) error {
	key, err := s.key(ref)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	_, err = s.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &s.cfg.Bucket, Key: key, Body: bytes.NewReader(content), ContentLength: aws.Int64(int64(len(content))),
		// Who reads the bucket past us gets nothing that a browser would show.
		ContentType: aws.String("application/octet-stream"), ContentDisposition: aws.String("attachment"),
	})
	return failure("objects.Put", err)
}

// Open implements [file.Contents].
func (s *Store) Open(ctx context.Context, ref file.Ref) (io.ReadCloser, error) {
	key, err := s.key(ref)
	if err != nil {
		return nil, err
	}
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.cfg.Bucket, Key: key})
	if err != nil {
		return nil, failure("objects.Open", err)
	}
	return out.Body, nil
}

// Delete implements [file.Contents].
func (s *Store) Delete(ctx context.Context, ref file.Ref) error {
	key, err := s.key(ref)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	_, err = s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.cfg.Bucket, Key: key})
	if err = failure("objects.Delete", err); tool.KindOf(err) == tool.NotFound {
		return nil
	}
	return err
}

// failure returns an error in our vocabulary; nil for none.
func failure(op string, err error) error {
	if err == nil {
		return nil
	}
	if refused, ok := errors.AsType[*tool.Error](err); ok {
		return &tool.Error{Kind: refused.Kind, Op: op, Msg: "the store of objects: " + refused.Msg, Err: err}
	}
	e := &tool.Error{Kind: tool.Unavailable, Op: op, Msg: "the store of objects does not answer as it should", Err: err}
	if _, ok := errors.AsType[*types.NoSuchKey](err); ok {
		e.Kind, e.Msg = tool.NotFound, "file not found"
		return e
	}
	if answered, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		switch answered.HTTPStatusCode() {
		case http.StatusNotFound:
			e.Kind, e.Msg = tool.NotFound, "file not found"
		case http.StatusForbidden, http.StatusUnauthorized:
			e.Msg = "the store of objects refuses the access key"
		}
	}
	if named, ok := errors.AsType[smithy.APIError](err); ok && named.ErrorCode() == "NoSuchBucket" {
		e.Kind, e.Msg = tool.Unavailable, "the store of objects has no such bucket"
	}
	return e
}
