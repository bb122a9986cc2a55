package summary

import (
	"html/template"
	"net/http"
)

// page shows a summary, as far as it is.
var page = template.Must(template.New("summary").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Executive summary of {{.Engagement.Client}}</title>
{{if eq .Summary.Status "filling"}}<meta http-equiv="refresh" content="2">{{end}}
<h1>Executive summary: {{.Engagement.Client}}</h1>
<p>{{.Summary.Settings.Classification}} · {{.Summary.Status}}{{with .Summary.Reason}}: {{.}}{{end}}</p>
{{range .Fields}}<h2>{{.Ask}}</h2>
<ul>{{range index $.Summary.Fields .Name}}<li>{{.Text}} <small>{{range .Sources}}[{{.}}] {{end}}</small></li>
{{else}}<li>…</li>
{{end}}</ul>
{{end}}<p><small>{{.Summary.Settings.Disclaimer}}</small></p>
</html>
`))

// ServeHTTP shows the summary of a link, GET /summaries/{id}. The id can't be guessed, and is all
// that a reader needs.
func (a *App) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s, ok := a.Records.Summary(r.PathValue("id"))
	e, found := a.Records.Engagement(s.Engagement)
	if !ok || !found {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	_ = page.Execute(w, map[string]any{"Summary": s, "Engagement": e, "Fields": Fields})
}
