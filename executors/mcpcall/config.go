package mcpcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/internal/strict"
	"github.com/toolcrib/toolcrib/tool"
)

// Server is the address of an MCP server and how to connect to it.
type Server = remote.Server

// Discovery is what a server reports about itself and its tools.
type Discovery = remote.Discovery

// RemoteTool is a tool as its server defines it.
type RemoteTool = remote.Tool

// Config is the implementation_config of an mcp tool: a server, in place or by
// the slug of an attached one, and the name of its tool there (S3-44, S3-45,
// S3-77).
type Config struct {
	// Type may repeat the implementation type, "mcp".
	Type tool.Implementation `json:"type,omitempty"`

	remote.Server

	// Attached is the slug of an attached server, instead of one in place.
	Attached string `json:"server,omitempty"`
	// ToolName is the tool's name at the server, which may differ from ours.
	ToolName string `json:"tool_name"`
	// DefinitionDigest pins the server's definition of the tool, see
	// [remote.Digest]. A call of a tool whose definition has changed since fails
	// with [tool.Conflict]. Defaults to none: any definition is accepted.
	DefinitionDigest string `json:"definition_digest,omitempty"`
	// UI is the app that shows the tool's results, and who may call the tool, as its server declares it.
	UI *remote.UI `json:"ui,omitempty"`
	// MaxBytes bounds the answer; 1 MiB when zero, at most 16 MiB.
	MaxBytes int64 `json:"max_bytes,omitempty"`
}

// Servers finds attached servers for calls of their tools. Server fails with
// [tool.NotFound] where the tenant has none of that slug, with [tool.Conflict]
// where it is disabled at present, and with [tool.Denied] where the tenant does
// not allow the tool, by the server's name for it.
type Servers interface {
	Server(ctx context.Context, tenant tool.TenantID, slug, toolName string) (Server, error)
	// Trusted reports whether an administrator of the tenant said that results of a server do not taint runs.
	Trusted(ctx context.Context, tenant tool.TenantID, slug string) (bool, error)
}

var (
	digestPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)
	slugPattern   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)
)

// CheckConfig checks an mcp tool's configuration. It fails with [tool.Invalid] and
// the JSON Pointer of the fault. Registries call it before they store one.
func CheckConfig(raw json.RawMessage) error {
	_, err := decodeConfig(raw)
	return err
}

func decodeConfig(raw json.RawMessage) (*Config, error) {
	if len(raw) > maxConfigBytes {
		return nil, fault("", fmt.Sprintf("%d bytes: at most %d", len(raw), maxConfigBytes))
	}
	var c Config
	if err := strict.Decode("mcpcall.CheckConfig", raw, &c); errors.Is(err, io.EOF) {
		return nil, fault("", "expected an object")
	} else if err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	return &c, nil
}

func (c *Config) check() error {
	if member, wrong := c.UI.Check(); wrong != "" {
		return fault("/ui/"+member, wrong)
	}
	switch {
	case c.Type != "" && c.Type != tool.MCP:
		return fault("/type", fmt.Sprintf("%q is not mcp", c.Type))
	case !validToolName(c.ToolName):
		return fault("/tool_name", fmt.Sprintf("want the tool's name at the server, of at most %d characters", maxNameBytes))
	case c.DefinitionDigest != "" && !digestPattern.MatchString(c.DefinitionDigest):
		return fault("/definition_digest", "want 64 hexadecimal digits, as discovery gives them")
	case c.MaxBytes < 0 || c.MaxBytes > maxAnswerBytes:
		return fault("/max_bytes", fmt.Sprintf("want 0 to %d", maxAnswerBytes))
	case c.Attached == "":
		return CheckServer(&c.Server, "")
	case !slugPattern.MatchString(c.Attached):
		return fault("/server", "want the slug of an attached server")
	case c.URL != "" || c.Transport != "" || c.Command != "" || len(c.Headers) > 0 || c.Auth != nil:
		return fault("/server", "an attached server has its own address, headers and auth: name it alone")
	}
	return nil
}

// limit returns the maximum size of an answer, in bytes.
func (c *Config) limit() int64 {
	if c.MaxBytes == 0 {
		return defaultAnswerBytes
	}
	return c.MaxBytes
}

func fault(path, msg string) *tool.Error {
	return &tool.Error{Kind: tool.Invalid, Op: "mcpcall.CheckConfig", Path: path, Msg: msg}
}
