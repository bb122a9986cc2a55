import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { post, type PendingCall, type Submitted } from "../../api/inbox";
import type { Json } from "../../api/json";
import { JsonView } from "../../ui/json";
import { say } from "../../ui/live";
import { Ask, Field } from "./ask";
import { read } from "./decide";

// Submit submits the result of a call by hand. The server checks it against the tool's output schema.
export function Submit({ tenant, id, title, begin, schema, errors, onClose }: {
  tenant: string;
  id: string;
  title: string;
  begin: string;
  schema?: Json | undefined;
  errors?: boolean; // Whether one may say that the call failed.
  onClose: () => void;
}) {
  const client = useQueryClient();
  const [written, setWritten] = useState(begin);
  const result = read(written);
  return (
    <Ask title={title} action="Submit" onClose={onClose} off={result === undefined}
      about="A call keeps its first result. What the tool's output schema refuses may be submitted anew."
      run={(given) =>
        post<Submitted>(tenant, `/v1/pending-tool-calls/${id}/result`, { result, ...(given.get("is_error") && { is_error: true }) }).finally(() => {
          void client.invalidateQueries({ queryKey: [tenant, "pending-calls"] });
          void client.invalidateQueries({ queryKey: [tenant, "inputs"] });
        })}
      onDone={(done: PendingCall & { repeated: boolean }) => {
        say(done.repeated ? "It had a result before, which it keeps." : "Submitted.");
        onClose();
      }}>
      {(error) => (
        <>
          <Field name="result" label="Result, as JSON" error={error}>
            <textarea className="code" rows={8} spellCheck={false} value={written} onChange={(e) => setWritten(e.target.value)} />
          </Field>
          {result === undefined && <p className="error">This is not JSON.</p>}
          {errors && <label className="check"><input type="checkbox" name="is_error" /> It says why the call failed</label>}
          {schema !== undefined && (
            <details>
              <summary>The output schema</summary>
              <JsonView value={schema} label="Output schema" />
            </details>
          )}
        </>
      )}
    </Ask>
  );
}
