package store

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"regexp"

	"github.com/toolcrib/toolcrib/tool"
)

var loginPattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

// CreateAppLogin creates a login role that may act as [AppRole] and nothing more, and
// returns the database's URL with it, for servers and workers. An existing login of
// that name gets a new password.
//
// The given URL must be of a role that may create roles. It fails with tool.Invalid
// for a name that is not lower-case letters, digits and underscores.
func CreateAppLogin(ctx context.Context, ownerURL, name string) (string, error) {
	const op = "store.CreateAppLogin"
	if !loginPattern.MatchString(name) {
		return "", &tool.Error{
			Kind: tool.Invalid, Op: op,
			Msg: fmt.Sprintf("want a login name of lower-case letters, digits and underscores, not %q", name),
		}
	}
	u, err := url.Parse(ownerURL)
	if err != nil || u.Host == "" {
		return "", &tool.Error{Kind: tool.Invalid, Op: op, Msg: malformedURL}
	}
	conn, err := dialOnce(ctx, ownerURL)
	if err != nil {
		return "", failure(op, err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var known bool
	if err := conn.QueryRow(ctx, "select exists (select from pg_roles where rolname = $1)",
		name).Scan(&known); err != nil {
		return "", failure(op, err)
	}
	password := rand.Text()
	statement := "create role %s login password '%s' nosuperuser nobypassrls nocreaterole nocreatedb in role %s"
	if known {
		statement = "alter role %s login password '%s' nosuperuser nobypassrls nocreaterole nocreatedb; grant %[3]s to %[1]s"
	}
	// Utility statements take no parameters; each part is one of our names or
	// random letters and digits.
	if _, err := conn.Exec(ctx, fmt.Sprintf(statement, name, password, AppRole)); err != nil {
		return "", failure(op, err)
	}
	u.User = url.UserPassword(name, password)
	return u.String(), nil
}
