package v1

import "encoding/json"

// ToolApp is the page that an MCP server has for the results of a tool: HTML of a stranger, for a frame that is
// sandboxed.
type ToolApp struct {
	Tool            string          `json:"tool"                       doc:"Slug"                                                                                                                        example:"weatherForecast"`
	Name            string          `json:"name"                       doc:"Name to label the frame with"                                                                                                example:"Forecast"`
	RemoteName      string          `json:"remote_name"                doc:"The server's name of the tool"                                                                                               example:"forecast"`
	InputSchema     json.RawMessage `json:"input_schema,omitempty"     doc:"Of the version that the app belongs to"                                                                                      example:"{\"type\":\"object\"}"`
	ResourceURI     string          `json:"resource_uri"                                                                                                                                                 example:"ui://weather/forecast"`
	HTML            string          `json:"html"                       doc:"The page. Show it in a sandboxed frame without an origin, under csp, and nowhere else"                                       example:"<!doctype html><title>Forecast</title>"`
	CSP             string          `json:"csp"                        doc:"The Content-Security-Policy that the page has to have"                                                                       example:"default-src 'none'"`
	ConnectDomains  []string        `json:"connect_domains"            doc:"Where it may connect to: what it asks for, less what no list of allowed hosts names"                                         example:"[]"`
	ResourceDomains []string        `json:"resource_domains"           doc:"Where it may load scripts, styles, fonts and media from, likewise"                                                           example:"[]"`
	PrefersBorder   bool            `json:"prefers_border,omitempty"                                                                                                                                     example:"true"`
	Tools           []AppTool       `json:"tools"                      doc:"Tools of the same server that the page may ask for, as the person who looks at it: those that their server offers to apps" `
}

// AppTool is a tool that an app may ask for.
type AppTool struct {
	Name string `json:"name" doc:"The server's name of the tool, as the app has it" example:"refresh"`
	Tool string `json:"tool" doc:"Slug, to be called as any tool"                   example:"weatherRefresh"`
}
