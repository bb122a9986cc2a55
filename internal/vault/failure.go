package vault

import (
	"errors"
	"fmt"

	"github.com/toolcrib/toolcrib/tool"
)

// ErrNoKeys is in the chain of errors of a process without a key-encryption key.
var ErrNoKeys = errors.New("no key-encryption key is configured")

// ErrChanged is in the chain of errors when a credential's revision has changed.
var ErrChanged = errors.New("the credential was changed meanwhile")

func errNoKeys() error {
	return &tool.Error{
		Kind: tool.Unavailable, Op: "vault", Err: ErrNoKeys,
		Msg: fmt.Sprintf("no key-encryption key is configured: create one with toolcrib encryption new-key FILE, "+
			"and set %s=FILE for servers and workers", FileVariable),
	}
}

func errKeyMissing(id string) error {
	return &tool.Error{Kind: tool.Unavailable, Op: "vault", Msg: fmt.Sprintf(
		"this process lacks the key-encryption key %s, by which the tenant's data key is wrapped: add it to %s", id,
		FileVariable)}
}

func unreadable(cause error) error {
	return &tool.Error{Kind: tool.InternalError, Op: "vault", Msg: "the credential can't be decrypted", Err: cause}
}

func invalid(path, format string, args ...any) error {
	return &tool.Error{Kind: tool.Invalid, Op: "vault", Path: path, Msg: fmt.Sprintf(format, args...)}
}
