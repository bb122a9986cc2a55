package httpcall_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/tool"
)

var goodConfigs = []string{
	`{"url": "https://api.example.com"}`,
	`{"type": "http", "method": "delete", "url": "https://api.example.com:8443/orders/{id}"}`,
	`{"url": "https://api.example.com{/path*}{?q,page}"}`,
	`{"url": "http://10.0.0.7/x?fixed=1{&q}"}`,
	`{"url": "https://[2001:db8::1]/x"}`,
	`{"method": "PATCH", "url": "https://x.example/{a.b}", "headers": {"X-A": {"from": "/a/b"}, "Accept": "text/plain"}, "query": {"n": 3, "f": false},
	  "body": {"deep": [{"from": "/a~1b/0"}, {"from": "/x", "literal": 1}]}, "auth": {"type": "header", "header": "X-Api-Key", "credentials_ref": "orders.v2"},
	  "max_bytes": 1000, "answer": "text"}`,
	`{"method": "POST", "url": "https://x.example/", "body": null}`,
	`{"method": "GET", "url": "https://x.example/", "body": null}`,
	`{"url": "https://x.example/{?api_key}"}`,
	`{"url": "https://x.example/o?token={token}&page=1&key=2&secret={+s}{&password}"}`,
	`{"url": "https://x.example/o?token&password=&max_tokens=5"}`,
	`{"method": "POST", "url": "https://x.example/", "body": {"password": {"from": "/p"}, "token": null, "secret": true, "api_key": "", "max_tokens": 5, "credentials_ref": "x"}}`,
	`{"url": "https://x.example/", "query": {"page_token": {"from": "/page"}}}`,
	`{"url": "https://x.example/{id}", "variables": {"id": {"from": "/path/id"}}, "cookies": {"theme": "dark", "lang": {"from": "/lang", "style": "comma"}}}`,
	`{"method": "POST", "url": "https://x.example/", "body_type": "form", "body": {"grant": "x", "meta": {"from": "/m", "style": "deep"}, "from": {"from": "/from"}}}`,
	`{"method": "POST", "url": "https://x.example/", "body_type": "multipart", "body": {"a": "x", "n": 1, "f": {"from": "/f", "encoding": "base64", "file_name": {"from": "/n"}, "content_type": "image/png"}, "g": {"from": "/g", "file_name": "g.txt"}}}`,
	`{"method": "DELETE", "url": "https://x.example/", "body_type": "raw", "body": {"from": "/f", "encoding": "text", "content_type": "text/csv; charset=utf-8"}}`,
	`{"method": "POST", "url": "https://x.example/", "body_type": "multipart", "body": null}`,
	`{"url": "https://x.example/", "auth": {"type": "query", "name": "api_key", "credentials_ref": "x"}}`,
	`{"url": "https://x.example/", "auth": {"type": "cookie", "name": "session", "credentials_ref": "x"}}`,
	`{"url": "https://x.example/", "auth": {"type": "oauth2_client_credentials", "credentials_ref": "x", "token_url": "https://login.example/t?v=2", "scopes": ["a:b", "https://x.example/.default"], "audience": "api", "client_auth": "body"}}`,
	`{"url": "https://x.example/", "pagination": {"type": "page", "items": "", "parameter": "p", "first": 0, "page_size": 50, "max_pages": 100}}`,
	`{"method": "POST", "url": "https://x.example/", "pagination": {"type": "cursor", "items": "/data", "next": "/c", "body": "/a/0/b"}}`,
	`{"url": "https://x.example/", "answer": "binary", "errors": [{"status": 404, "kind": "answer_error", "message": "gone"}, {"status": "2xx", "where": "/errors", "kind": "unavailable", "retry_after": "/s"}, {"where": "/ok", "equals": false, "kind": "denied", "message": {"from": "/why"}}]}`,
	`{"url": "https://x.example/", "result": {"a": {"from": "/b"}, "token": {"from": "/t"}, "list": [1, "x"]}, "auth": null, "errors": null, "headers": null, "pagination": null}`,
}

var badConfigs = []struct{ name, config, path string }{
	{"nothing", ``, ""},
	{"not JSON", `{`, ""},
	{"two values", `{"url": "https://x.example"} {}`, ""},
	{"an array", `[]`, ""},
	{"unknown member", `{"url": "https://x.example", "uri": "x"}`, "/uri"},
	{"wrong type", `{"url": 1}`, "/url"},
	{"wrong type below", `{"url": "https://x.example", "auth": {"type": 1}}`, "/auth/type"},
	{"another type", `{"type": "mcp", "url": "https://x.example"}`, "/type"},
	{"no url", `{}`, "/url"},
	{"relative", `{"url": "/orders"}`, "/url"},
	{"scheme", `{"url": "ftp://x.example/"}`, "/url"},
	{"file", `{"url": "file:///etc/passwd"}`, "/url"},
	{"templated scheme", `{"url": "{scheme}://x.example/"}`, "/url"},
	{"templated host", `{"url": "https://{host}/"}`, "/url"},
	{"templated part of a host", `{"url": "https://{tenant}.example.com/"}`, "/url"},
	{"template behind the host", `{"url": "https://api.example.com{suffix}/"}`, "/url"},
	{"reserved template behind the host", `{"url": "https://api.example.com{+suffix}"}`, "/url"},
	{"label template behind the host", `{"url": "https://api.example{.tld}/"}`, "/url"},
	{"templated port", `{"url": "https://api.example.com:{port}/"}`, "/url"},
	{"user information", `{"url": "https://user:pass@api.example.com/"}`, "/url"},
	{"templated user information", `{"url": "https://{user}@api.example.com/"}`, "/url"},
	{"odd address", `{"url": "http://0x7f.1/"}`, "/url"},
	{"zone", `{"url": "http://[fe80::1%25eth0]/"}`, "/url"},
	{"host that is not ASCII", `{"url": "https://api.gİthub.example/"}`, "/url"},
	{"host with an ideographic full stop", `{"url": "https://api。example.com/"}`, "/url"},
	{"no host", `{"url": "https:///x"}`, "/url"},
	{"backslash", `{"url": "https://api.example.com\\@evil.example/"}`, "/url"},
	{"fragment", `{"url": "https://x.example/a#b"}`, "/url"},
	{"fragment expression", `{"url": "https://x.example/{#b}"}`, "/url"},
	{"unclosed", `{"url": "https://x.example/{id"}`, "/url"},
	{"unopened", `{"url": "https://x.example/id}"}`, "/url"},
	{"bad variable", `{"url": "https://x.example/{a-b}"}`, "/url"},
	{"path after query", `{"url": "https://x.example/?q=1{/path}"}`, "/url"},
	{"method", `{"method": "CONNECT", "url": "https://x.example"}`, "/method"},
	{"method with line break", `{"method": "GET\r\nX: y", "url": "https://x.example"}`, "/method"},
	{"answer", `{"url": "https://x.example", "answer": "xml"}`, "/answer"},
	{"negative size", `{"url": "https://x.example", "max_bytes": -1}`, "/max_bytes"},
	{"huge size", `{"url": "https://x.example", "max_bytes": 1000000000}`, "/max_bytes"},
	{"body of GET", `{"url": "https://x.example", "body": {}}`, "/body"},
	{
		"bad pointer in body", `{"method": "POST", "url": "https://x.example", "body": {"a/b": [{"from": "x"}]}}`,
		"/body/a~1b/0/from",
	},
	{"bad pointer in header", `{"url": "https://x.example", "headers": {"X-A": {"from": "x"}}}`, "/headers/X-A/from"},
	{"bad escape in pointer", `{"url": "https://x.example", "query": {"a": {"from": "/a~2"}}}`, "/query/a/from"},
	{"object as value", `{"url": "https://x.example", "query": {"a": {"b": 1}}}`, "/query/a/b"},
	{"null as value", `{"url": "https://x.example", "headers": {"X-A": null}}`, "/headers/X-A"},
	{"header name", `{"url": "https://x.example", "headers": {"X A": "1"}}`, "/headers/X A"},
	{"header name with line break", `{"url": "https://x.example", "headers": {"X\r\nY": "1"}}`, "/headers/X\r\nY"},
	{"header with line break", `{"url": "https://x.example", "headers": {"X-A": "1\r\nX-B: 2"}}`, "/headers/X-A"},
	{"host header", `{"url": "https://x.example", "headers": {"host": "y.example"}}`, "/headers/host"},
	{"key header", `{"url": "https://x.example", "headers": {"idempotency-key": "1"}}`, "/headers/idempotency-key"},
	{"length header", `{"url": "https://x.example", "headers": {"Content-Length": "1"}}`, "/headers/Content-Length"},
	{
		"proxy header", `{"url": "https://x.example", "headers": {"Proxy-Authorization": "1"}}`,
		"/headers/Proxy-Authorization",
	},
	{
		"secret in a header", `{"url": "https://x.example", "headers": {"Authorization": "Bearer abc"}}`,
		"/headers/Authorization",
	},
	{
		"secret from the model", `{"url": "https://x.example", "headers": {"X-Api-Key": {"from": "/key"}}}`,
		"/headers/X-Api-Key",
	},
	{"secret in the query", `{"url": "https://x.example", "query": {"api_key": "abc"}}`, "/query/api_key"},
	{"secret in the URL", `{"url": "https://x.example/o?page=1&api_key=abc"}`, "/url"},
	{"secret in the URL, escaped", `{"url": "https://x.example/o?api%5Fkey=abc"}`, "/url"},
	{"secret in the URL, in part", `{"url": "https://x.example/o?access_token=abc{rest}"}`, "/url"},
	{"secret in the URL behind an expression", `{"url": "https://x.example/o{?page}&token=abc"}`, "/url"},
	{
		"secret in the body", `{"method": "POST", "url": "https://x.example", "body": {"a/b": [{"client_secret": "abc"}]}}`,
		"/body/a~1b/0/client_secret",
	},
	{
		"number of a secret in the body", `{"method": "POST", "url": "https://x.example", "body": {"pin": 1234}}`,
		"/body/pin",
	},
	{
		"secret below a name in the body",
		`{"method": "POST", "url": "https://x.example", "body": {"credentials": {"list": [{"from": "/a"}, "abc"]}}}`,
		"/body/credentials/list/1",
	},
	{"auth type", `{"url": "https://x.example", "auth": {"type": "digest", "credentials_ref": "x"}}`, "/auth/type"},
	{"no credential", `{"url": "https://x.example", "auth": {"type": "bearer"}}`, "/auth/credentials_ref"},
	{
		"odd credential", `{"url": "https://x.example", "auth": {"type": "bearer", "credentials_ref": "../x"}}`,
		"/auth/credentials_ref",
	},
	{"no auth header", `{"url": "https://x.example", "auth": {"type": "header", "credentials_ref": "x"}}`, "/auth/header"},
	{
		"header for bearer",
		`{"url": "https://x.example", "auth": {"type": "bearer", "header": "X", "credentials_ref": "x"}}`, "/auth/header",
	},
	{"member of another case", `{"URL": "https://x.example"}`, "/URL"},
	{"variable of nobody", `{"url": "https://x.example/{id}", "variables": {"of": {"from": "/x"}}}`, "/variables/of"},
	{"literal variable", `{"url": "https://x.example/{id}", "variables": {"id": "x"}}`, "/variables/id"},
	{
		"style of a variable", `{"url": "https://x.example/{id}", "variables": {"id": {"from": "/x", "style": "comma"}}}`,
		"/variables/id/style",
	},
	{"style", `{"url": "https://x.example", "query": {"a": {"from": "/x", "style": "tab"}}}`, "/query/a/style"},
	{
		"style of a header", `{"url": "https://x.example", "headers": {"X-A": {"from": "/x", "style": "deep"}}}`,
		"/headers/X-A/style",
	},
	{"style without an argument", `{"url": "https://x.example", "query": {"a": {"style": "comma"}}}`, "/query/a"},
	{"cookie name", `{"url": "https://x.example", "cookies": {"a=b": "1"}}`, "/cookies/a=b"},
	{"secret in a cookie", `{"url": "https://x.example", "cookies": {"session_token": "abc"}}`, "/cookies/session_token"},
	{
		"secret in a cookie from the model", `{"url": "https://x.example", "cookies": {"api_key": {"from": "/k"}}}`,
		"/cookies/api_key",
	},
	{"cookie as a header", `{"url": "https://x.example", "headers": {"cookie": {"from": "/c"}}}`, "/headers/cookie"},
	{"header name with a letter that folds", `{"url": "https://x.example", "headers": {"X-Key": "1"}}`, "/headers/X-Key"},
	{"body type", `{"method": "POST", "url": "https://x.example", "body_type": "xml"}`, "/body_type"},
	{"body type of GET", `{"url": "https://x.example", "body_type": "form"}`, "/body_type"},
	{"form of a list", `{"method": "POST", "url": "https://x.example", "body_type": "form", "body": [1]}`, "/body"},
	{
		"form of an object in it",
		`{"method": "POST", "url": "https://x.example", "body_type": "form", "body": {"a": {"b": 1}}}`, "/body/a/b",
	},
	{
		"form of null in it", `{"method": "POST", "url": "https://x.example", "body_type": "form", "body": {"a/b": null}}`,
		"/body/a~1b",
	},
	{
		"bad pointer in a form",
		`{"method": "POST", "url": "https://x.example", "body_type": "form", "body": {"from": "x"}}`, "/body/from",
	},
	{
		"style in a form",
		`{"method": "POST", "url": "https://x.example", "body_type": "form", "body": {"a": {"from": "/x", "style": ","}}}`,
		"/body/a/style",
	},
	{
		"secret in a form",
		`{"method": "POST", "url": "https://x.example", "body_type": "form", "body": {"client_secret": "abc"}}`,
		"/body/client_secret",
	},
	{"no parts", `{"method": "POST", "url": "https://x.example", "body_type": "multipart", "body": {}}`, "/body"},
	{"multipart of what is left", `{"method": "POST", "url": "https://x.example", "body_type": "multipart"}`, "/body"},
	{
		"part without a name", `{"method": "POST", "url": "https://x.example", "body_type": "multipart", "body": {"": "x"}}`,
		"/body/",
	},
	{
		"part name with a line break",
		`{"method": "POST", "url": "https://x.example", "body_type": "multipart", "body": {"a\r\nX: y": "x"}}`,
		"/body/a\r\nX: y",
	},
	{
		"null part", `{"method": "POST", "url": "https://x.example", "body_type": "multipart", "body": {"a": null}}`,
		"/body/a",
	},
	{
		"encoding of a part",
		`{"method": "POST", "url": "https://x.example", "body_type": "multipart", "body": {"a": {"from": "/x", "encoding": "hex"}}}`,
		"/body/a/encoding",
	},
	{
		"file name of a part",
		`{"method": "POST", "url": "https://x.example", "body_type": "multipart", "body": {"a": {"from": "/x", "file_name": "../x"}}}`,
		"/body/a/file_name",
	},
	{
		"style of a file name",
		`{"method": "POST", "url": "https://x.example", "body_type": "multipart", "body": {"a": {"from": "/x", "file_name": {"from": "/n", "style": "comma"}}}}`,
		"/body/a/file_name/style",
	},
	{
		"content type of a part",
		`{"method": "POST", "url": "https://x.example", "body_type": "multipart", "body": {"a": {"from": "/x", "content_type": "text/plain\r\nX: y"}}}`,
		"/body/a/content_type",
	},
	{
		"part of a pointer that is none",
		`{"method": "POST", "url": "https://x.example", "body_type": "multipart", "body": {"a": {"from": 1}}}`,
		"/body/a/from",
	},
	{
		"secret in a part",
		`{"method": "POST", "url": "https://x.example", "body_type": "multipart", "body": {"password": "abc"}}`,
		"/body/password",
	},
	{"raw of what is left", `{"method": "POST", "url": "https://x.example", "body_type": "raw"}`, "/body"},
	{
		"raw without a content type",
		`{"method": "POST", "url": "https://x.example", "body_type": "raw", "body": {"from": "/x"}}`, "/body/content_type",
	},
	{"raw of a literal", `{"method": "POST", "url": "https://x.example", "body_type": "raw", "body": "x"}`, "/body"},
	{
		"raw with a file name",
		`{"method": "POST", "url": "https://x.example", "body_type": "raw", "body": {"from": "/x", "file_name": "x", "content_type": "text/csv"}}`,
		"/body/file_name",
	},
	{
		"content type of a form",
		`{"method": "POST", "url": "https://x.example", "body_type": "form", "headers": {"content-type": "x/y"}}`,
		"/headers/content-type",
	},
	{
		"no parameter for the secret", `{"url": "https://x.example", "auth": {"type": "query", "credentials_ref": "x"}}`,
		"/auth/name",
	},
	{
		"cookie for the secret",
		`{"url": "https://x.example", "auth": {"type": "cookie", "name": "a;b", "credentials_ref": "x"}}`, "/auth/name",
	},
	{
		"name for a header",
		`{"url": "https://x.example", "auth": {"type": "header", "header": "X-Key", "name": "k", "credentials_ref": "x"}}`,
		"/auth/name",
	},
	{
		"token URL for bearer",
		`{"url": "https://x.example", "auth": {"type": "bearer", "token_url": "https://x.example/token", "credentials_ref": "x"}}`,
		"/auth/token_url",
	},
	{
		"no token URL",
		`{"url": "https://x.example", "auth": {"type": "oauth2_client_credentials", "credentials_ref": "x"}}`,
		"/auth/token_url",
	},
	{
		"templated token URL",
		`{"url": "https://x.example", "auth": {"type": "oauth2_client_credentials", "credentials_ref": "x", "token_url": "https://x.example/{t}"}}`,
		"/auth/token_url",
	},
	{
		"token URL with a user",
		`{"url": "https://x.example", "auth": {"type": "oauth2_client_credentials", "credentials_ref": "x", "token_url": "https://a:b@x.example/"}}`,
		"/auth/token_url",
	},
	{
		"odd token URL",
		`{"url": "https://x.example", "auth": {"type": "oauth2_client_credentials", "credentials_ref": "x", "token_url": "http://0x7f.1/"}}`,
		"/auth/token_url",
	},
	{
		"secret in a token URL",
		`{"url": "https://x.example", "auth": {"type": "oauth2_client_credentials", "credentials_ref": "x", "token_url": "https://x.example/t?client_secret=abc"}}`,
		"/auth/token_url",
	},
	{
		"scope",
		`{"url": "https://x.example", "auth": {"type": "oauth2_client_credentials", "credentials_ref": "x", "token_url": "https://x.example/t", "scopes": ["a", "b c"]}}`,
		"/auth/scopes/1",
	},
	{
		"scopes",
		`{"url": "https://x.example", "auth": {"type": "oauth2_client_credentials", "credentials_ref": "x", "token_url": "https://x.example/t", "scopes": [` + times(65, `"a"`) + `]}}`,
		"/auth/scopes",
	},
	{
		"audience",
		`{"url": "https://x.example", "auth": {"type": "oauth2_client_credentials", "credentials_ref": "x", "token_url": "https://x.example/t", "audience": "a\nb"}}`,
		"/auth/audience",
	},
	{
		"client auth",
		`{"url": "https://x.example", "auth": {"type": "oauth2_client_credentials", "credentials_ref": "x", "token_url": "https://x.example/t", "client_auth": "jwt"}}`,
		"/auth/client_auth",
	},
	{"pagination", `{"url": "https://x.example", "pagination": {"type": "magic", "items": ""}}`, "/pagination/type"},
	{
		"pages of PUT", `{"method": "PUT", "url": "https://x.example", "pagination": {"type": "link", "items": ""}}`,
		"/pagination",
	},
	{"no items", `{"url": "https://x.example", "pagination": {"type": "link"}}`, "/pagination/items"},
	{
		"cursor from nowhere",
		`{"url": "https://x.example", "pagination": {"type": "cursor", "items": "", "parameter": "c"}}`, "/pagination/next",
	},
	{
		"cursor to nowhere", `{"url": "https://x.example", "pagination": {"type": "cursor", "items": "", "next": "/c"}}`,
		"/pagination/parameter",
	},
	{
		"cursor to two places",
		`{"method": "POST", "url": "https://x.example", "pagination": {"type": "cursor", "items": "", "next": "/c", "parameter": "c", "body": "/c"}}`,
		"/pagination/parameter",
	},
	{
		"cursor to no body",
		`{"url": "https://x.example", "pagination": {"type": "cursor", "items": "", "next": "/c", "body": "/c"}}`,
		"/pagination/body",
	},
	{
		"cursor as the body",
		`{"method": "POST", "url": "https://x.example", "pagination": {"type": "cursor", "items": "", "next": "/c", "body": ""}}`,
		"/pagination/body",
	},
	{
		"page by body",
		`{"method": "POST", "url": "https://x.example", "pagination": {"type": "page", "items": "", "parameter": "p", "body": "/c"}}`,
		"/pagination/body",
	},
	{
		"page by a pointer",
		`{"url": "https://x.example", "pagination": {"type": "page", "items": "", "parameter": "p", "next": "/c"}}`,
		"/pagination/next",
	},
	{
		"link with a parameter",
		`{"url": "https://x.example", "pagination": {"type": "link", "items": "", "parameter": "p"}}`,
		"/pagination/parameter",
	},
	{
		"first offset",
		`{"url": "https://x.example", "pagination": {"type": "offset", "items": "", "parameter": "p", "first": 1}}`,
		"/pagination/first",
	},
	{
		"first page",
		`{"url": "https://x.example", "pagination": {"type": "page", "items": "", "parameter": "p", "first": -1}}`,
		"/pagination/first",
	},
	{
		"page size",
		`{"url": "https://x.example", "pagination": {"type": "page", "items": "", "parameter": "p", "page_size": -1}}`,
		"/pagination/page_size",
	},
	{
		"page size of a cursor",
		`{"url": "https://x.example", "pagination": {"type": "cursor", "items": "", "next": "/c", "parameter": "p", "page_size": 5}}`,
		"/pagination/page_size",
	},
	{
		"pages", `{"url": "https://x.example", "pagination": {"type": "link", "items": "", "max_pages": 101}}`,
		"/pagination/max_pages",
	},
	{
		"pages of text", `{"url": "https://x.example", "answer": "text", "pagination": {"type": "link", "items": ""}}`,
		"/answer",
	},
	{
		"bad pointer to items", `{"url": "https://x.example", "pagination": {"type": "link", "items": "data"}}`,
		"/pagination/items",
	},
	{"result of text", `{"url": "https://x.example", "answer": "binary", "result": {"from": ""}}`, "/answer"},
	{"bad pointer in a result", `{"url": "https://x.example", "result": {"a": {"from": "x"}}}`, "/result/a/from"},
	{"errors that are none", `{"url": "https://x.example", "errors": {"status": 404}}`, "/errors"},
	{"error of every answer", `{"url": "https://x.example", "errors": [{"kind": "denied"}]}`, "/errors/0"},
	{
		"error of every good answer", `{"url": "https://x.example", "errors": [{"status": "2xx", "kind": "denied"}]}`,
		"/errors/0/where",
	},
	{
		"error status",
		`{"url": "https://x.example", "errors": [{"status": 404, "kind": "denied"}, {"status": "4x", "kind": "denied"}]}`,
		"/errors/1/status",
	},
	{
		"error status of an object", `{"url": "https://x.example", "errors": [{"status": {}, "kind": "denied"}]}`,
		"/errors/0/status",
	},
	{"error kind", `{"url": "https://x.example", "errors": [{"status": 404, "kind": "timeout"}]}`, "/errors/0/kind"},
	{
		"error of the platform", `{"url": "https://x.example", "errors": [{"status": 404, "kind": "internal"}]}`,
		"/errors/0/kind",
	},
	{
		"error compared with nothing",
		`{"url": "https://x.example", "errors": [{"status": 404, "equals": 1, "kind": "denied"}]}`, "/errors/0/where",
	},
	{
		"error compared with an object",
		`{"url": "https://x.example", "errors": [{"where": "/a", "equals": {}, "kind": "denied"}]}`, "/errors/0/equals",
	},
	{
		"error that waits",
		`{"url": "https://x.example", "errors": [{"status": 404, "kind": "denied", "retry_after": "/a"}]}`,
		"/errors/0/retry_after",
	},
	{
		"style of a message",
		`{"url": "https://x.example", "errors": [{"status": 404, "kind": "denied", "message": {"from": "/a", "style": "comma"}}]}`,
		"/errors/0/message/style",
	},
	{
		"member of a rule", `{"url": "https://x.example", "errors": [{"status": 404, "sent": false, "kind": "denied"}]}`,
		"/errors/0/sent",
	},
	{
		"many rules", `{"url": "https://x.example", "errors": [` + times(33, `{"status": 404, "kind": "denied"}`) + `]}`,
		"/errors",
	},
	{"secret itself in auth", `{"url": "https://x.example", "auth": {"type": "bearer", "token": "x"}}`, "/auth/token"},
}

func TestCheckConfig(t *testing.T) {
	t.Parallel()

	for _, config := range goodConfigs {
		require.NoError(t, httpcall.CheckConfig(json.RawMessage(config)), config)
	}
	for _, tt := range badConfigs {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			err := httpcall.CheckConfig(json.RawMessage(tt.config))
			require.Equal(t, tool.Invalid, tool.KindOf(err), "%v", err)
			require.Equal(t, tt.path, tool.AsError(err).Path, "%v", err)
			require.NotEmpty(t, tool.AsError(err).Msg)
		})
	}
}

// TestConfigEncodes proves that a configuration encodes to what it was read
// from, for those who make one in Go.
func TestConfigEncodes(t *testing.T) {
	t.Parallel()

	for _, config := range goodConfigs {
		decoded, err := httpcall.Decode(json.RawMessage(config))
		require.NoError(t, err)
		raw, err := json.Marshal(decoded)
		require.NoError(t, err)
		require.NoError(t, httpcall.CheckConfig(raw), string(raw))
		again, err := httpcall.Decode(raw)
		require.NoError(t, err)
		encoded, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(raw), string(encoded))
	}
}

// FuzzCheckConfig looks for configurations that are taken and can't be run,
// encoded or decoded again.
func FuzzCheckConfig(f *testing.F) {
	for _, config := range goodConfigs {
		f.Add(config, `{"id": "x", "path": "y", "q": [1, {"a": null}], "m": {"a": [1]}, "f": "AAAA", "n": "x"}`)
	}
	for _, tt := range badConfigs {
		f.Add(tt.config, `{}`)
	}
	f.Fuzz(func(t *testing.T, config, args string) {
		if err := httpcall.CheckConfig(json.RawMessage(config)); err != nil {
			require.Equal(t, tool.Invalid, tool.KindOf(err), "%v", err)
			return
		}
		decoded, err := httpcall.Decode(json.RawMessage(config))
		require.NoError(t, err)
		raw, err := json.Marshal(decoded)
		require.NoError(t, err)
		require.NoError(t, httpcall.CheckConfig(raw), string(raw))
		if _, _, err := httpcall.Body(t.Context(), json.RawMessage(config), json.RawMessage(args)); err != nil {
			require.Equal(t, tool.Invalid, tool.KindOf(err), "%v", err)
		}
	})
}

func TestMalformedConfigNeverRuns(t *testing.T) {
	t.Parallel()

	b := setup(t, ok)
	_, err := b.executor.Execute(t.Context(), b.call(`{"url": "$URL/o", "answer": "xml"}`, `{}`))
	require.Equal(t, tool.Invalid, tool.KindOf(err))
	require.ErrorContains(t, err, "implementation_config/answer")
	require.Empty(t, b.requests())
}

// FuzzExpand looks for arguments that lead a request to another host or out
// of its folder, whatever the template.
func FuzzExpand(f *testing.F) {
	for _, value := range []string{
		"a", "..", "../../x", "@evil.example", "//evil.example", "a?b#c", "%2e%2e/%2f", "\r\nX: y", ".evil.example", ":80@x",
		"\\..\\",
	} {
		f.Add("/fixed/{id}/end", value)
		f.Add("/fixed/{+id}{?q}", value)
		f.Add("{/id}", value)
		f.Add("/fixed{;id}{.id}", value)
		f.Add("{?id*}", value)
	}
	f.Fuzz(func(t *testing.T, path, value string) {
		if path == "" || !strings.ContainsAny(path[:1], "/?{") {
			return // It would be part of the host that the author wrote.
		}
		config, err := json.Marshal(map[string]string{"url": "https://api.example.com" + path})
		require.NoError(t, err)
		args, err := json.Marshal(map[string]any{"id": value, "q": []string{value}})
		require.NoError(t, err)
		target, err := httpcall.Target(t.Context(), config, args)
		if err != nil {
			return
		}
		u, err := url.Parse(target)
		if err != nil || u.Scheme != "https" || u.Host != "api.example.com" || u.User != nil ||
			strings.ContainsAny(target, "\r\n\x00") {
			t.Errorf("%q with %q leads to %q", path, value, target)
		}
		if clean := "/" + strings.Trim(u.Path, "/") + "/"; strings.Contains(clean, "/../") {
			t.Errorf("%q with %q leads up: %q", path, value, target)
		}
	})
}
