import type { Json } from "../../api/json";
import { Text } from "../../ui/parts";
import { Answer } from "./answer";
import type { CallProps } from "./calls";
import { GenericToolCallPart } from "./generic";

// ConfirmCall asks in words, where the call has some: yes is {"confirmed": true}.
export function ConfirmCall(props: CallProps) {
  const input = props.call.input as { [name: string]: Json } | undefined;
  const asked = [input?.question, input?.what, input?.message, input?.text].find((v): v is string => typeof v === "string");
  if (!asked) return <GenericToolCallPart {...props} />;
  const said = (props.call.output as { structured?: { confirmed?: unknown } } | undefined)?.structured?.confirmed;
  return (
    <>
      <Text>{asked}</Text>
      {typeof said === "boolean" && <p className="muted">{said ? "Confirmed." : "Declined."}</p>}
      {props.message.status === "requires_action" && (
        <Answer tenant={props.tenant} message={props.message} call={props.call}
          quick={[["Confirm", { confirmed: true }], ["Decline", { confirmed: false }]]} />
      )}
    </>
  );
}
