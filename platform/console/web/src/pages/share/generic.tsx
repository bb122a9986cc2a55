import { print } from "../../api/json";
import { json } from "../../api/queries";
import { JsonView } from "../../ui/json";
import { Answer } from "./answer";
import type { CallProps } from "./calls";

// GenericToolCallPart draws any call: what it was given, what it answered, and how to answer it where it waits.
export function GenericToolCallPart({ tenant, message, call: c }: CallProps) {
  return (
    <>
      {c.input !== undefined && (
        <details className="call">
          <summary>
            <strong>Input</strong> <span className="muted line">{print(c.input).slice(0, 160)}</span>
          </summary>
          <JsonView value={json(c.input)} label={`Input of ${c.tool}`} />
        </details>
      )}
      {c.output !== undefined && (
        <details className="call">
          <summary>
            <strong>Output</strong> <span className="muted line">{print(c.output).slice(0, 160)}</span>
          </summary>
          <JsonView value={json(c.output)} label={`Output of ${c.tool}`} />
        </details>
      )}
      {message.status === "requires_action" && <Answer tenant={tenant} message={message} call={c} />}
    </>
  );
}
