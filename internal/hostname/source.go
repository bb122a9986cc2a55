package hostname

import "strings"

// Source is an origin that a page may load from, as a Content-Security-Policy names it.
type Source struct {
	Scheme string // https or wss.
	Host   string // In the form of [Form]; it may be "*.example.com".
	Port   string // Empty for the scheme's.
}

// String returns s as a policy has it.
func (s Source) String() string {
	host := s.Host
	if strings.ContainsRune(host, ':') {
		host = "[" + host + "]"
	}
	if s.Port != "" {
		host += ":" + s.Port
	}
	return s.Scheme + "://" + host
}

// ParseSource reads "https://host", "wss://host:port" or "https://*.host", optionally with a slash at its end. It
// refuses all else, so that what it returns can stand in a policy: keywords, paths, other schemes, a host without a
// scheme, and the wildcard of everything.
func ParseSource(text string) (Source, bool) {
	scheme, rest, ok := strings.Cut(text, "://")
	if s := Form(scheme); !ok || s != "https" && s != "wss" || len(text) > 300 || strings.ContainsAny(text, " \t\r\n") {
		return Source{}, false
	}
	rest = strings.TrimSuffix(rest, "/")
	if !ValidEntry(rest, true) {
		return Source{}, false
	}
	host, port := Split(rest)
	if strings.Count(host, ":") > 0 && !strings.HasPrefix(rest, "[") {
		return Source{}, false
	}
	return Source{Form(scheme), host, port}, true
}
