// Package draw draws graphs, as Mermaid and as SVG: nodes in layers, the bodies of parallel, map
// and loop nodes as boxes in their node, and, given the outcomes of a run, how far it came.
//
// It is pure, and the same picture is always the same text. Texts of definitions are shown, never
// interpreted: no title, condition or branch can add markup, links or directions of writing.
package draw
