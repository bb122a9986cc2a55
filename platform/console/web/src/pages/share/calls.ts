import type { ComponentType } from "react";
import type { SpaceCall, SpaceMessage } from "../../api/share";
import { ChartCall } from "./chart";
import { ConfirmCall } from "./confirm";
import { GenericToolCallPart } from "./generic";

// How the visible calls of a space are drawn: by the name of the tool. A definition does not say how; a tool
// that is not listed here is drawn by the fallback.

export interface CallProps {
  tenant: string;
  message: SpaceMessage;
  call: SpaceCall;
}

export const calls: { byName: Record<string, ComponentType<CallProps>>; Fallback: ComponentType<CallProps> } = {
  byName: { displayChart: ChartCall, confirmAction: ConfirmCall },
  Fallback: GenericToolCallPart,
};

export const drawn = (tool: string): ComponentType<CallProps> =>
  (Object.hasOwn(calls.byName, tool) ? calls.byName[tool] : undefined) ?? calls.Fallback;
