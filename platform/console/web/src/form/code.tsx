import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { bracketMatching, foldGutter, foldKeymap, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { tags } from "@lezer/highlight";
import { EditorState, Transaction } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { nonce } from "../config";

// An editor of JSON. It is loaded where it is shown. Tab leaves it, as it does any other input.

const theme = EditorView.theme({
  "&": { backgroundColor: "var(--surface)", color: "var(--text)", fontSize: "0.857rem", border: "1px solid var(--line-strong)", borderRadius: "var(--r)" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5", maxHeight: "520px", overflow: "auto" },
  ".cm-content": { minHeight: "200px", caretColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--muted)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": { backgroundColor: "var(--chosen) !important" },
  ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--text)", border: "1px solid var(--line)" },
});

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--accent)" },
  { tag: tags.number, color: "var(--live)" },
  { tag: [tags.bool, tags.null], color: "var(--live)" },
]);

export default function Code({ text, onChange, label, problem }: { text: string; onChange: (text: string) => void; label: string; problem?: string | undefined }) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const on = useRef(onChange);
  on.current = onChange;
  useEffect(() => {
    const v = new EditorView({
      parent: host.current!,
      state: EditorState.create({
        doc: text,
        extensions: [
          EditorView.cspNonce.of(nonce), lineNumbers(), foldGutter(), history(), drawSelection(), indentOnInput(), bracketMatching(), highlightActiveLine(),
          json(), syntaxHighlighting(colours), theme, EditorView.lineWrapping, keymap.of([...defaultKeymap, ...historyKeymap, ...foldKeymap]),
          EditorView.contentAttributes.of({ "aria-label": label }),
          EditorView.updateListener.of((u) => {
            if (u.docChanged && !u.transactions.some((t) => t.annotation(Transaction.remote))) on.current(u.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = v;
    return () => v.destroy();
    // The text is followed below.
  }, [label]);
  useEffect(() => {
    const v = view.current;
    if (!v || v.state.doc.toString() === text) return;
    v.dispatch({ changes: { from: 0, to: v.state.doc.length, insert: text }, annotations: Transaction.remote.of(true) });
  }, [text]);
  return (
    <div className="code-editor">
      <div ref={host} />
      {problem && <p className="f-problem" role="alert">{problem}</p>}
    </div>
  );
}
