package sqltext

import "regexp"

// Query is one named query of a sqlc file.
type Query struct {
	Name    string
	Comment string // The comment below its name.
	Tokens  []Token
}

var queryName = regexp.MustCompile(`(?m)^-- name: (\w+) :\w+\n((?:--.*\n)*)`)

// Queries splits a sqlc file.
func Queries(file string) []Query {
	marks := queryName.FindAllStringSubmatchIndex(file, -1)
	queries := make([]Query, len(marks))
	for i, m := range marks {
		end := len(file)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		queries[i] = Query{Name: file[m[2]:m[3]], Comment: file[m[4]:m[5]], Tokens: Tokens(file[m[1]:end])}
	}
	return queries
}

// TenantTables returns the tables that migrations create with a tenant_id.
func TenantTables(migrations string) map[string]bool {
	tables := map[string]bool{}
	tokens := Tokens(migrations)
	for i := 0; i+3 < len(tokens); i++ {
		if !tokens[i].Is("create") || !tokens[i+1].Is("table") || !tokens[i+3].Is("(") {
			continue
		}
		for depth, j := 0, i+3; j < len(tokens); j++ {
			if tokens[j].Is("(") {
				depth++
			}
			if tokens[j].Is(")") {
				depth--
			}
			if depth == 0 {
				break
			}
			if depth == 1 && tokens[j].Is("tenant_id") {
				tables[tokens[i+2].Text] = true
			}
		}
	}
	return tables
}
