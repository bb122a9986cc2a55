package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/toolcrib/toolcrib/tool"
)

// takeRole switches a new connection to a role.
func takeRole(ctx context.Context, conn *pgx.Conn, role string) error {
	const op = "store.Open"
	_, err := conn.Exec(ctx, "set role "+pgx.Identifier{role}.Sanitize())
	pgErr, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case !ok:
		return err
	case pgErr.Code == codeInvalidParameter:
		return &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
			"the database role %s does not exist: run the migrations first", role), Err: err}
	case pgErr.Code == codeInsufficient:
		return &tool.Error{Kind: tool.Denied, Op: op, Msg: fmt.Sprintf(
			"the database login may not act as %s: grant it that role", role), Err: err}
	default:
		return err
	}
}

// checkRole refuses a connection that can bypass row-level security: by its current
// role, its login role, or any role that either is a member of, directly or not and
// whether or not it inherits. With SetRole the login may have more rights on purpose.
func (s *Store) checkRole(ctx context.Context, opts Options) error {
	const op = "store.Open"
	var start, role, what string
	err := s.pool.QueryRow(ctx, `
		with recursive reachable as (
			select r.oid, r.rolname as start, 0 as steps from pg_roles r
			where r.rolname = current_user or r.rolname = session_user and not $1
			union
			select m.roleid, o.start, o.steps + 1 from reachable o join pg_auth_members m on m.member = o.oid
		), privileged as (
			select o.start, r.rolname, o.steps, case
				when r.rolsuper then 'is a superuser'
				when r.rolbypassrls then 'bypasses row level security'
				when r.rolcreaterole then 'may create roles'
				when r.rolname = $2 then 'acts across tenants'
				when exists (
					select from pg_class c
					where c.relnamespace = current_schema()::regnamespace and c.relrowsecurity and c.relowner = r.oid)
					then 'is the owner of the tables'
			end as what
			from reachable o join pg_roles r on r.oid = o.oid
		)
		select p.start, p.rolname, p.what from privileged p where p.what is not null
		order by p.steps, p.start = current_user desc, p.rolname
		limit 1`, opts.SetRole != "", MaintenanceRole).Scan(&start, &role, &what)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return failure(op, err)
	}
	if role != start {
		what = fmt.Sprintf("may become %s, which %s", role, what)
	}
	if opts.AllowPrivileged {
		s.log.WarnContext(ctx, "row-level security is bypassed: tenants are not isolated",
			slog.String("database_role", start), slog.String("reason", what))
		return nil
	}
	return &tool.Error{Kind: tool.Denied, Op: op, Msg: fmt.Sprintf(
		"the database role %s %s, so that tenants would not be isolated; connect as a login role that is granted %s and "+
			"nothing more",
		start, what, AppRole)}
}

// ensureRoles creates the group roles. They belong to the whole cluster, where other
// databases may be migrating concurrently: every step tolerates that another process
// was first.
func ensureRoles(ctx context.Context, conn *pgx.Conn) error {
	for _, role := range []string{OwnerRole, AppRole, MaintenanceRole} {
		err := tolerating(ctx, conn, fmt.Sprintf(`
			do $$ begin
				if to_regrole('%[1]s') is null then
					create role %[1]s nologin nosuperuser nocreatedb nocreaterole nobypassrls;
				end if;
			end $$`, role))
		if err != nil {
			return fmt.Errorf("making the role %s: %w", role, err)
		}
	}
	err := tolerating(ctx, conn, fmt.Sprintf(`
		do $$ begin
			if not pg_has_role(current_user, '%[1]s', 'member') then
				grant %[1]s to current_user;
			end if;
		end $$`, OwnerRole))
	if err != nil {
		return fmt.Errorf("joining the role %s: %w", OwnerRole, err)
	}
	return nil
}

// tolerating runs an idempotent statement, and retries it if it collides with the same
// statement in another session.
func tolerating(ctx context.Context, conn *pgx.Conn, sql string) error {
	var err error
	for range maxTries {
		if _, err = conn.Exec(ctx, sql); err == nil {
			return nil
		}
		pgErr, ok := errors.AsType[*pgconn.PgError](err)
		if !ok || !slices.Contains([]string{codeUniqueViolation, codeDuplicateObject, codeConcurrentUpdate}, pgErr.Code) {
			return err
		}
	}
	return err
}

// ensureSchema grants create in the first schema of the search path to the owner, and
// usage to all our roles.
func ensureSchema(ctx context.Context, conn *pgx.Conn) error {
	var schema string
	err := conn.QueryRow(
		ctx,
		`select coalesce(current_schema(), trim(both '"' from trim(split_part(current_setting('search_path'), ',', 1))))`,
	).Scan(&schema)
	if err != nil {
		return fmt.Errorf("reading the search path: %w", err)
	}
	name := pgx.Identifier{schema}.Sanitize()
	var there, granted bool
	err = conn.QueryRow(ctx, `
		select count(*) > 0, coalesce(bool_and(
			has_schema_privilege($2, n.oid, 'create') and has_schema_privilege($2, n.oid, 'usage')
			and has_schema_privilege($3, n.oid, 'usage') and has_schema_privilege($4, n.oid, 'usage')), false)
		from pg_namespace n where n.nspname = $1`,
		schema, OwnerRole, AppRole, MaintenanceRole).Scan(&there, &granted)
	if err != nil {
		return fmt.Errorf("reading the schema's grants: %w", err)
	}
	if !there {
		if _, err := conn.Exec(ctx, "create schema "+name); err != nil {
			return fmt.Errorf("making the schema: %w", err)
		}
	}
	if granted {
		return nil
	}
	_, err = conn.Exec(ctx, fmt.Sprintf(`
		grant create, usage on schema %[1]s to %[2]s;
		grant usage on schema %[1]s to %[3]s, %[4]s`, name, OwnerRole, AppRole, MaintenanceRole))
	if err != nil {
		return fmt.Errorf("granting the schema: %w", err)
	}
	return nil
}
