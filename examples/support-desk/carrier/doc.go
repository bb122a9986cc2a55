// Package carrier is the parcel service of the support-desk example: somebody
// else's MCP server, whose tools the shop's agent may use.
package carrier
