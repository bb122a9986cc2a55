package api

import (
	"context"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/markdown"
	"github.com/toolcrib/toolcrib/tool"
)

func (s *server) registerMarkdown() {
	handle(s, route{
		id: "parseMarkdown", method: http.MethodPost, path: "/v1/markdown", tag: "runs", permission: RunsRead,
		or: []string{ToolsRead, AgentsRead, ApprovalsRead, SpacesRead, ResultsSubmit}, ephemeral: true,
		summary: "Parse texts as Markdown",
		detail: "Into nodes that hold no HTML, for clients that show what models, tools and people wrote. HTML in " +
			"a text is text, images are links, and a link goes to http, https or mailto. What is more than 60,000 nodes of " +
			"all texts is text. Nothing is stored.",
	}, func(_ context.Context, _ tool.Principal, in *body[v1.Markdown]) (*body[v1.ParsedMarkdown], error) {
		out := v1.ParsedMarkdown{Documents: markdown.ParseAll(in.Body.Texts)}
		for i, nodes := range out.Documents {
			if nodes == nil {
				out.Documents[i] = []markdown.Element{}
			}
		}
		return answer(out), nil
	})
}
