package console_test

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/console"
)

func handler(t *testing.T, o console.Options) http.Handler {
	t.Helper()
	h, err := console.Handler(o)
	require.NoError(t, err)
	return h
}

// get asks for a path as a browser does that opens a page.
func get(t *testing.T, h http.Handler, path string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	r.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func text(t *testing.T, r *http.Response) string {
	t.Helper()
	defer r.Body.Close()
	raw, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(raw)
}

var nonces = regexp.MustCompile(`nonce-[\w-]+`)

// Every page has the same headers, under every prefix, and a nonce of its own.
func TestPagesAreGuarded(t *testing.T) {
	t.Parallel()

	const want = "default-src 'none'; script-src 'self'; style-src 'self' 'NONCE'; img-src 'self' blob: data:; " +
		"font-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; " +
		"frame-ancestors 'none'; object-src 'none'; require-trusted-types-for 'script'; " +
		"trusted-types toolcrib 'allow-duplicates'"
	seen := map[string]bool{}
	for _, prefix := range []string{"", "/a/b"} {
		h := handler(t, console.Options{Prefix: prefix, TLS: true})
		for _, path := range []string{"/", "/login", "/t", "/t/acme/tools", "/t/acme/runs/1?tab=calls"} {
			r := get(t, h, prefix+path)
			require.Equal(t, http.StatusOK, r.StatusCode, path)
			policy := r.Header.Get("Content-Security-Policy")
			require.Equal(t, want, nonces.ReplaceAllString(policy, "NONCE"))
			require.False(t, seen[policy], "a nonce is used once")
			seen[policy] = true
			for name, value := range map[string]string{
				"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store",
				"Strict-Transport-Security": "max-age=31536000", "Content-Type": "text/html; charset=utf-8",
			} {
				require.Equal(t, value, r.Header.Get(name), name)
			}
			page := text(t, r)
			require.Contains(t, page, `src="`+prefix+`/_a/`)
			require.NotContains(t, page, "<style")
			require.NotRegexp(t, `<script(?: type="module")?>`, page, "no script is in the page")
		}
	}
}

// What the console does not have is not there, and nothing is answered for others' paths.
func TestTheConsoleHasItsPathsAlone(t *testing.T) {
	t.Parallel()

	h := handler(t, console.Options{Prefix: "/a/b"})
	for _, path := range []string{
		"/a/b/v1/tools", "/a/b/healthz", "/a/b/r/token", "/a/b/other", "/", "/login", "/a/bc/login",
		"/a/b/_a/old/assets/main.js", "/a/b/_a/../console.go",
	} {
		r := get(t, h, path)
		require.Equal(t, http.StatusNotFound, r.StatusCode, path)
		require.NotContains(t, text(t, r), "<script")
	}
	require.Equal(t, http.StatusNotAcceptable, get(t, h, "/a/b/t/acme", "Accept", "application/json").StatusCode)
	require.Equal(t, "/a/b/", get(t, h, "/a/b").Header.Get("Location"))
	post := httptest.NewRecorder()
	h.ServeHTTP(post, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/a/b/login", nil))
	require.Equal(t, http.StatusMethodNotAllowed, post.Code)
	for _, prefix := range []string{"a", "/a/", "/a/../b", "a/b"} {
		_, err := console.Handler(console.Options{Prefix: prefix})
		require.Error(t, err, prefix)
	}
}

// Files of a build are kept by browsers for good, and sent packed to those that unpack them.
func TestAssetsAreKept(t *testing.T) {
	t.Parallel()

	h := handler(t, console.Options{})
	src := regexp.MustCompile(`src="([^"]+)"`).FindStringSubmatch(text(t, get(t, h, "/")))[1]
	plain := get(t, h, src, "Accept-Encoding", "gzip;q=0")
	require.Equal(t, "public, max-age=31536000, immutable", plain.Header.Get("Cache-Control"))
	require.Equal(t, "text/javascript; charset=utf-8", plain.Header.Get("Content-Type"))
	require.Empty(t, plain.Header.Get("Content-Encoding"))
	packed := get(t, h, src, "Accept-Encoding", "br, gzip")
	require.Equal(t, "gzip", packed.Header.Get("Content-Encoding"))
	unpacked, err := gzip.NewReader(packed.Body)
	require.NoError(t, err)
	raw, err := io.ReadAll(unpacked)
	require.NoError(t, err)
	require.Equal(t, text(t, plain), string(raw))
}

// rebuild is the command that mends a stale build.
const rebuild = "run make console, and commit platform/console/dist"

// dist is what its sources compile to, as far as their digest says: this needs no Node.js.
func TestTheBuildIsOfItsSources(t *testing.T) {
	t.Parallel()

	var build console.Build
	raw, err := os.ReadFile("dist/BUILD.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &build))
	sources := []string{
		"index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts", "scripts/build.mjs",
	}
	for _, folder := range []string{"src", "public"} {
		sources = append(sources, files(t, "web", folder)...)
	}
	require.Equal(t, build.Source, digest(t, "web", sources), "the console is not what its sources are: %s", rebuild)
	results := files(t, "dist", ".")
	results = slices.DeleteFunc(results, func(name string) bool { return name == "BUILD.json" })
	require.Equal(t, build.Hash, digest(t, "dist", results)[:16], "dist was changed after it was built: %s", rebuild)
}

// files lists the files below a folder of a root.
func files(t *testing.T, root, folder string) []string {
	t.Helper()
	var out []string
	require.NoError(t, filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, err := filepath.Rel(root, path)
			require.NoError(t, err)
			out = append(out, filepath.ToSlash(name))
		}
		return err
	}))
	return out
}

// digest is that of web/scripts/build.mjs.
func digest(t *testing.T, root string, names []string) string {
	t.Helper()
	slices.Sort(names)
	all := sha256.New()
	for _, name := range names {
		raw, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		fmt.Fprintf(all, "%s\n%d\n", name, len(raw))
		all.Write(raw)
	}
	return hex.EncodeToString(all.Sum(nil))
}

// The lockfile names no registry: those who install use their own.
func TestTheLockfileNamesNoRegistry(t *testing.T) {
	t.Parallel()

	raw, err := os.ReadFile("web/package-lock.json")
	require.NoError(t, err)
	require.NotContains(t, string(raw), `"resolved"`)
	require.NotContains(t, string(raw), "http://")
}

// What a browser loads is bounded: for the first page, for each further part, and in all.
func TestTheConsoleIsSmall(t *testing.T) {
	t.Parallel()

	const kB = 1000
	imports := regexp.MustCompile(`from\s*"\./([\w.-]+\.js)"|import\s*"\./([\w.-]+\.js)"`)
	all, packed, needs := 0, map[string]int{}, map[string][]string{}
	for _, name := range files(t, "dist", ".") {
		raw, err := os.ReadFile(filepath.Join("dist", name))
		require.NoError(t, err)
		all += len(raw)
		var out strings.Builder
		w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
		require.NoError(t, err)
		_, err = w.Write(raw)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		base := filepath.Base(name)
		packed[base] = out.Len()
		for _, m := range imports.FindAllStringSubmatch(string(raw), -1) {
			needs[base] = append(needs[base], m[1]+m[2])
		}
	}
	// load adds up a file and those that it needs.
	var load func(seen map[string]bool, name string) int
	load = func(seen map[string]bool, name string) int {
		if seen[name] {
			return 0
		}
		seen[name] = true
		sum := packed[name]
		for _, below := range needs[name] {
			sum += load(seen, below)
		}
		return sum
	}
	first := map[string]bool{}
	require.Positive(t, packed["main.js"])
	require.LessOrEqual(t, load(first, "main.js")+load(first, "tools.js"), 190*kB, "the shell and the first page")
	require.LessOrEqual(t, packed["console.css"], 20*kB)
	require.LessOrEqual(t, all, 2500*kB, "everything")
	for name := range packed {
		if strings.HasSuffix(name, ".js") && !first[name] {
			seen := map[string]bool{"main.js": true}
			for shared := range needs {
				seen[shared] = seen[shared] || first[shared]
			}
			require.LessOrEqual(t, load(seen, name), 110*kB, name)
		}
	}
}
