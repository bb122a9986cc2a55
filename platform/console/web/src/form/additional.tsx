import type { ReactNode } from "react";
import type { Mode } from "./store";

// AdditionalInputs are what few people set: folded, and absent where a form is a part of another page.
export function AdditionalInputs({ mode = "internal", title = "Additional options", className, children }: {
  mode?: Mode;
  title?: string;
  className?: string;
  children: ReactNode;
}) {
  if (mode === "embed") return null;
  return (
    <details className={["f-more", className].filter(Boolean).join(" ")}>
      <summary>{title}</summary>
      <div className="f-fields">{children}</div>
    </details>
  );
}
