package objects_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/file/filetest"
	"github.com/toolcrib/toolcrib/platform/objects"
	"github.com/toolcrib/toolcrib/platform/objects/objectstest"
	"github.com/toolcrib/toolcrib/tool"
)

func newID(tb testing.TB) string {
	tb.Helper()
	id, err := uuid.NewV7()
	require.NoError(tb, err)
	return id.String()
}

// open opens the store of a server.
func open(tb testing.TB, server *objectstest.Server, change func(*objects.Config)) *objects.Store {
	tb.Helper()
	cfg := objects.Config{
		Endpoint: server.URL, Region: objectstest.Region, Bucket: objectstest.Bucket, Prefix: "toolcrib/",
		AccessKeyID: objectstest.AccessKey, SecretAccessKey: objectstest.SecretKey, Timeout: 10 * time.Second,
	}
	if change != nil {
		change(&cfg)
	}
	s, err := objects.Open(cfg)
	require.NoError(tb, err)
	tb.Cleanup(s.Close)
	return s
}

// The store of objects keeps contents as PostgreSQL does.
func TestContents(t *testing.T) {
	t.Parallel()

	filetest.Run(t, func(tb testing.TB) *filetest.Place {
		tb.Helper()
		server := objectstest.New(tb)
		tb.Cleanup(func() { require.Empty(tb, server.Refused()) })
		tenant := tool.TenantID(newID(tb))
		return &filetest.Place{
			Contents: open(tb, server, nil), Stranger: tool.TenantID(newID(tb)), New: func(tb testing.TB) file.Ref {
				tb.Helper()
				return file.Ref{Tenant: tenant, ID: newID(tb)}
			},
		}
	})
}

// Requests are signed, objects are below the prefix and their tenant, and an error of the moment is
// tried again.
func TestObjects(t *testing.T) {
	t.Parallel()

	server := objectstest.New(t)
	s := open(t, server, nil)
	require.NoError(t, s.Check(t.Context()))
	ref := file.Ref{Tenant: tool.TenantID(newID(t)), ID: newID(t)}
	server.Break(1)
	require.NoError(t, s.Put(t.Context(), ref, []byte("a")))
	require.Equal(t, []string{"toolcrib/" + string(ref.Tenant) + "/" + ref.ID}, server.Objects())
	require.Empty(t, server.Refused())
	server.Break(100)
	err := s.Put(t.Context(), ref, []byte("b"))
	require.Equal(t, tool.Unavailable, tool.KindOf(err))
}

func TestKeysThatAreRefused(t *testing.T) {
	t.Parallel()

	server := objectstest.New(t)
	ref := file.Ref{Tenant: tool.TenantID(newID(t)), ID: newID(t)}
	for _, change := range []func(*objects.Config){
		func(c *objects.Config) { c.SecretAccessKey = "other" }, func(c *objects.Config) { c.AccessKeyID = "other" },
		func(c *objects.Config) { c.Region = "us-east-1" },
	} {
		s := open(t, server, change)
		err := s.Put(t.Context(), ref, []byte("a"))
		require.Equal(t, tool.Unavailable, tool.KindOf(err))
		require.NotContains(t, err.Error(), objectstest.SecretKey)
		require.Error(t, s.Check(t.Context()))
	}
	require.NotEmpty(t, server.Refused())
	require.Empty(t, server.Objects())
	require.Equal(t, tool.Unavailable,
		tool.KindOf(open(t, server, func(c *objects.Config) { c.Bucket = "other" }).Check(t.Context())))
}

// Nothing but the endpoint is reached: not even where that says to go.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()

	var reached atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	t.Cleanup(elsewhere.Close)
	endpoint := httptest.NewServer(http.RedirectHandler(elsewhere.URL+"/files/x", http.StatusTemporaryRedirect))
	t.Cleanup(endpoint.Close)
	s := open(t, objectstest.New(t), func(c *objects.Config) { c.Endpoint = endpoint.URL })
	ref := file.Ref{Tenant: tool.TenantID(newID(t)), ID: newID(t)}
	_, err := s.Open(t.Context(), ref)
	require.Equal(t, tool.Unavailable, tool.KindOf(err))
	require.Error(t, s.Put(t.Context(), ref, []byte("a")))
	require.Zero(t, reached.Load())
}

func TestConfigurations(t *testing.T) {
	t.Parallel()

	for name, change := range map[string]func(*objects.Config){
		"no bucket":       func(c *objects.Config) { c.Bucket = "" },
		"bucket path":     func(c *objects.Config) { c.Bucket = "a/b" },
		"region":          func(c *objects.Config) { c.Region = "eu.example" },
		"prefix":          func(c *objects.Config) { c.Prefix = "../x" },
		"absolute prefix": func(c *objects.Config) { c.Prefix = "/x" },
		"no key":          func(c *objects.Config) { c.AccessKeyID = "" },
		"no secret":       func(c *objects.Config) { c.SecretAccessKey = "" },
		"scheme":          func(c *objects.Config) { c.Endpoint = "ftp://a.example" },
		"user":            func(c *objects.Config) { c.Endpoint = "https://u:p@a.example" },
		"path":            func(c *objects.Config) { c.Endpoint = "https://a.example/x" },
		"query":           func(c *objects.Config) { c.Endpoint = "https://a.example/?x" },
	} {
		cfg := objects.Config{Bucket: "files", AccessKeyID: "a", SecretAccessKey: "b"}
		change(&cfg)
		_, err := objects.Open(cfg)
		require.Equal(t, tool.Invalid, tool.KindOf(err), name)
		require.NotContains(t, err.Error(), "u:p", name)
	}
	s, err := objects.Open(objects.Config{Bucket: "files", AccessKeyID: "a", SecretAccessKey: "b"})
	require.NoError(t, err)
	s.Close()
}
