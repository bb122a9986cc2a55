import type { ComponentType } from "react";
import type { InputProps } from "./frame";
import type { DisplayProps } from "./show";
import { displays, shown, type Field } from "./spec";

// What edits and what shows a value, by the type and display of its field. The kinds are those of the slots
// field-input and field-display.

export type Slot = "field-input" | "field-display";

const inputs = new Map<string, ComponentType<InputProps>>();
const shows = new Map<string, ComponentType<DisplayProps>>();
let fallback: { input: ComponentType<InputProps>; show: ComponentType<DisplayProps> } | undefined;

export function register(type: string, display: string, input: ComponentType<InputProps>, show: ComponentType<DisplayProps>): void {
  inputs.set(`${type}/${display}`, input);
  shows.set(`${type}/${display}`, show);
}

export function setFallback(input: ComponentType<InputProps>, show: ComponentType<DisplayProps>): void {
  fallback = { input, show };
}

const find = <T>(of: Map<string, T>, f: Field): T | undefined => of.get(`${f.type}/${shown(f)}`) ?? of.get(`${f.type}/${displays[f.type]?.[0] ?? ""}`);

export const inputOf = (f: Field): ComponentType<InputProps> => find(inputs, f) ?? fallback!.input;
export const showOf = (f: Field): ComponentType<DisplayProps> => find(shows, f) ?? fallback!.show;

// registered lists what there is of a slot, as type/display.
export const registered = (slot: Slot): string[] => [...(slot === "field-input" ? inputs : shows).keys()];
