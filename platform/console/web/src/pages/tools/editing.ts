import { createContext, useContext } from "react";
import type { Fault } from "../../api/client";
import type { Json } from "../../api/json";
import type { Draft } from "./draft";

// Editing is the draft in an editor, and how its parts are changed.
export interface Editing {
  tenant: string;
  draft: Draft;
  onChange: (d: Draft) => void;
  change: (pointer: string, value: Json | undefined) => void;
  write: (pointer: string, text: string) => void;
  touch: (pointer: string) => void;
  faults: Fault[];
  faultsAt: (pointer: string) => string[];
  findingsAt: (pointer: string) => string[];
  fixed: readonly string[]; // What cannot be changed.
}

export const Context = createContext<Editing>(undefined as unknown as Editing);
export const useEditing = (): Editing => useContext(Context);
