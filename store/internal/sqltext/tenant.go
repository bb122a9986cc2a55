package sqltext

import "strings"

// Unbound returns how a query uses tenant tables without binding them to one tenant:
// each use of such a table (and of tenants itself, by its id) must be joined or compared
// by its tenant to a parameter, or to another table's tenant in a query that has such a
// parameter; each insert must name the tenant.
func Unbound(q Query, tenantTables map[string]bool) []string {
	var complaints []string
	scopes := subqueries(q.Tokens)
	used := false
	for i := range q.Tokens {
		u, ok := tableUse(q.Tokens, i)
		if !ok || !tenantTables[u.table] && u.table != "tenants" {
			continue
		}
		used = true
		switch {
		case u.insert && !insertsTenant(q.Tokens, u):
			complaints = append(complaints, "inserts into "+u.table+" without a tenant")
		case !u.insert && !comparesTenant(q.Tokens, scopes, u):
			complaints = append(complaints, "uses "+u.table+" as "+u.alias+" without its tenant")
		}
	}
	if used && !hasTenantParameter(q.Tokens) {
		complaints = append(complaints, "names no tenant by a parameter")
	}
	return complaints
}

// use is a place where a query names a table.
type use struct {
	table, alias string
	insert       bool
	at           int // Of the table's name.
	next         int // Of the first token after the name and the alias.
}

// notAliases lists words that may follow a table without being its alias.
const notAliases = " where set on join left inner cross lateral order group limit union values select returning " +
	"using for as "

func tableUse(tokens []Token, i int) (use, bool) {
	if i == 0 || tokens[i].Kind != Word {
		return use{}, false
	}
	before := tokens[i-1]
	if !before.Is("from") && !before.Is("join") && !before.Is("update") && !before.Is("into") && !before.Is("using") {
		return use{}, false
	}
	if before.Is("update") && tokens[i].Is("set") { // on conflict do update set
		return use{}, false
	}
	u := use{table: tokens[i].Text, alias: tokens[i].Text, insert: before.Is("into"), at: i, next: i + 1}
	next := i + 1
	if next < len(tokens) && tokens[next].Is("as") {
		next++
	}
	if next < len(tokens) && tokens[next].Kind == Word && !strings.Contains(notAliases, " "+tokens[next].Text+" ") {
		u.alias, u.next = tokens[next].Text, next+1
	}
	return u, true
}

func insertsTenant(tokens []Token, u use) bool {
	for _, t := range tokens[u.next:] {
		if t.Is(")") {
			return false
		}
		if t.Is("tenant_id") || u.table == "tenants" && t.Is("id") {
			return true
		}
	}
	return false
}

// comparesTenant reports whether the tenant of u is compared, on either side,
// to a parameter or to a column of something else.
func comparesTenant(tokens []Token, scopes []scope, u use) bool {
	for i := range tokens {
		end, ok := tenantColumn(tokens, scopes, i, u)
		if !ok || i > 0 && (tokens[i-1].Is("set") || tokens[i-1].Is(",")) { // An assignment compares nothing.
			continue
		}
		if end+1 < len(tokens) && tokens[end].Is("=") && foreignTo(tokens[end+1:], u) {
			return true
		}
		if end+2 < len(tokens) && tokens[end].Is("in") && tokens[end+1].Is("(") && foreignTo(tokens[end+2:], u) {
			return true
		}
		if i >= 2 && tokens[i-1].Is("=") && tokens[i-2].Kind == Parameter {
			return true
		}
	}
	return false
}

// tenantColumn reports whether u's tenant column is at i, and where it ends.
func tenantColumn(tokens []Token, scopes []scope, i int, u use) (end int, ok bool) {
	isTenant := func(t Token) bool {
		return t.Is("tenant_id") || t.Is("scope_id") || u.table == "tenants" && t.Is("id")
	}
	qualified := i > 0 && tokens[i-1].Is(".")
	switch {
	case i+2 < len(tokens) && scopes[i].within(scopes[u.at]) && tokens[i].Is(u.alias) && tokens[i+1].Is(".") &&
		isTenant(tokens[i+2]):
		return i + 3, true
	case u.alias == u.table && scopes[i].start == scopes[u.at].start && !qualified && isTenant(tokens[i]):
		return i + 1, true
	default:
		return 0, false
	}
}

// foreignTo reports whether an expression begins with a parameter, or with a
// column of another table than u.
func foreignTo(tokens []Token, u use) bool {
	if tokens[0].Kind == Parameter {
		return true
	}
	return len(tokens) > 2 && tokens[0].Kind == Word && tokens[0].Text != u.alias && tokens[1].Is(".")
}

func hasTenantParameter(tokens []Token) bool {
	for _, t := range tokens {
		if t.Kind == Parameter && (t.Text == "tenant_id" || t.Text == "scope_id") {
			return true
		}
	}
	return false
}

// scope is the innermost subquery of a token.
type scope struct {
	start int // Of its parenthesis; -1 for the whole query.
	outer *scope
}

func (s scope) within(other scope) bool {
	for at := &s; at != nil; at = at.outer {
		if at.start == other.start {
			return true
		}
	}
	return false
}

// subqueries returns the scope of each token. Other parentheses make none.
func subqueries(tokens []Token) []scope {
	out := make([]scope, len(tokens))
	open := []*scope{{start: -1}}
	for i, t := range tokens {
		if t.Is("(") {
			innermost := open[len(open)-1]
			if i+1 < len(tokens) && begins(tokens[i+1]) {
				innermost = &scope{start: i, outer: innermost}
			}
			open = append(open, innermost)
		}
		out[i] = *open[len(open)-1]
		if t.Is(")") && len(open) > 1 {
			open = open[:len(open)-1]
		}
	}
	return out
}

func begins(t Token) bool {
	return t.Is("select") || t.Is("with") || t.Is("insert") || t.Is("update") || t.Is("delete")
}
