import { print } from "../../api/json";
import { json } from "../../api/queries";
import { CallAnswer } from "../../form/callanswer";
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
          <Shown tenant={tenant} of={c} />
        </details>
      )}
      {message.status === "requires_action" && <Answer tenant={tenant} message={message} call={c} />}
    </>
  );
}

// Shown is the output by the sections of its tool. What a client submitted may be a value, or a whole result.
function Shown({ tenant, of: c }: { tenant: string; of: CallProps["call"] }) {
  const value = json(c.output);
  const whole = value !== null && typeof value === "object" && !Array.isArray(value) && ("content" in value || "structured" in value);
  return (
    <CallAnswer tenant={tenant} tool={c.tool} version={c.version} label={`Output of ${c.tool}`}
      {...(whole ? { result: value } : { value })} />
  );
}
