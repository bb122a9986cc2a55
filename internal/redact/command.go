package redact

import (
	"regexp"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

const argument = `("[^"]*"|'[^']*'|[^\s"']+)`

var (
	option  = regexp.MustCompile(`(^|\s)(--?)([A-Za-z][A-Za-z0-9_-]{2,})(\s+|=)` + argument)
	client  = regexp.MustCompile(`\b(mysql|mysqldump|mysqladmin|mysqlimport|mariadb|sshpass|docker|podman|redis-cli|curl|wget|http|https|ldapsearch|sqlcmd|mongosh?|smbclient)\b`)
	short   = regexp.MustCompile(`(\s-p\s?)` + argument)
	userArg = regexp.MustCompile(`(\s(?:-u|-U|--user|--proxy-user|-a|--auth|--proxy-auth)[\s=]*["']?[^\s:"'-][^\s:"']*:)([^\s"']+)`)
	single  = regexp.MustCompile(`(\s-[aw]\s+)` + argument)
)

// prose are words that follow an option's name in prose.
var prose = words(`is was flag flags option options argument arguments parameter to and or the for if in on with value must may can
	should when without instead a an of as from at by not are`)

// commands hides credentials on command lines.
func commands(s string) string {
	if !strings.Contains(s, "-") {
		return s
	}
	s = replace(option, s, func(m []string) string {
		value := strings.Trim(m[5], `"'`)
		if !SensitiveKey(m[3]) || stands(value) || prose[strings.ToLower(strings.TrimRight(value, ".,;:"))] ||
			strings.HasPrefix(value, "-") || strings.HasPrefix(value, "$") {
			return m[0]
		}
		return m[1] + m[2] + m[3] + m[4] + tool.Redacted
	})
	if !client.MatchString(s) {
		return s
	}
	lines := strings.SplitAfter(s, "\n")
	for i, line := range lines {
		at := client.FindStringSubmatchIndex(line)
		if at == nil {
			continue
		}
		name, rest := line[at[2]:at[3]], line[at[3]:]
		switch name {
		case "redis-cli", "ldapsearch":
			rest = single.ReplaceAllString(rest, "${1}"+tool.Redacted)
		case "curl", "wget", "http", "https", "smbclient":
		default:
			rest = replace(short, rest, func(m []string) string {
				if strings.HasPrefix(m[2], "-") || prose[m[2]] || name == "docker" && !strings.Contains(line, "login") ||
					name == "podman" && !strings.Contains(line, "login") {
					return m[0]
				}
				return m[1] + tool.Redacted
			})
		}
		rest = replace(userArg, rest, func(m []string) string {
			if stands(m[2]) {
				return m[0]
			}
			return m[1] + tool.Redacted
		})
		lines[i] = line[:at[3]] + rest
	}
	return strings.Join(lines, "")
}
