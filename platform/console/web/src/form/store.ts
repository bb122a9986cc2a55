import { createContext, useContext, useSyncExternalStore } from "react";
import type { Json } from "../api/json";
import { get, isEmpty, put, split } from "./spec";

// A form has one value, and each field watches its own part of it: to type in one renders that one.

export type Mode = "internal" | "embed";
export type Problems = Record<string, string>; // By JSON Pointer.

export class Store {
  private watchers = new Map<string, Set<() => void>>();
  private faults: Problems = {};
  private errors: Problems = {};
  readonly optional = new Set<string>(); // Groups that are left out when they are empty.
  onChange: (value: Json | undefined, faults: Problems) => void = () => {};

  constructor(public value: Json | undefined) {}

  get = (path: string): Json | undefined => get(this.value, path);

  watch = (path: string, fn: () => void): (() => void) => {
    let set = this.watchers.get(path);
    if (!set) this.watchers.set(path, (set = new Set()));
    set.add(fn);
    return () => {
      set.delete(fn);
      if (set.size === 0) this.watchers.delete(path);
    };
  };

  // tell has those look again that watch a path, what is above, or what is below it.
  private tell(path: string): void {
    for (const [at, set] of this.watchers) {
      if (at === path || at.startsWith(path + "/") || path.startsWith(at + "/") || at === "") set.forEach((fn) => fn());
    }
  }

  set = (path: string, value: Json | undefined): void => {
    let at = path;
    this.value = put(this.value, split(path), value);
    while (value === undefined && at !== "") {
      at = at.slice(0, at.lastIndexOf("/"));
      if (at === "" || !this.optional.has(at) || !isEmpty(this.get(at))) break;
      this.value = put(this.value, split(at), undefined);
    }
    this.value ??= Object.create(null) as Json;
    this.drop(path, false);
    this.tell(at.length < path.length ? at : path);
    this.onChange(this.value, this.faults);
  };

  // replace takes a value from elsewhere.
  replace(value: Json | undefined): void {
    if (value === this.value) return;
    this.value = value;
    this.faults = {};
    this.tell("");
    this.all();
  }

  problem = (path: string): string | undefined => this.faults[path] ?? this.errors[path];

  // problemIn is that of a value or of any part of it.
  problemIn = (path: string): string | undefined => {
    const own = this.problem(path);
    if (own !== undefined) return own;
    const below = Object.keys(this.errors).find((p) => p.startsWith(path + "/"));
    return below === undefined ? undefined : `${below.slice(path.length)}: ${this.errors[below]!}`;
  };

  // fault says that what was entered is no value at all.
  fault = (path: string, text: string | undefined): void => {
    if (this.faults[path] === text) return;
    const { [path]: _, ...rest } = this.faults;
    this.faults = text === undefined ? rest : { ...rest, [path]: text };
    this.tell(path);
    this.onChange(this.value, this.faults);
  };

  // drop forgets the problems of a part that is gone or that changed.
  private drop(path: string, all: boolean): void {
    const of = (p: string) => p === path || p.startsWith(path + "/");
    if (Object.keys(this.errors).some(of)) this.errors = Object.fromEntries(Object.entries(this.errors).filter(([p]) => !of(p)));
    if (all) this.faults = Object.fromEntries(Object.entries(this.faults).filter(([p]) => !of(p)));
  }

  forget = (path: string): void => {
    this.drop(path, true);
    this.onChange(this.value, this.faults);
  };

  setErrors(errors: Problems): void {
    this.errors = errors;
    this.all();
  }

  private all(): void {
    for (const set of this.watchers.values()) set.forEach((fn) => fn());
  }
}

export interface Form {
  store: Store;
  mode: Mode;
  tenant: string;
  id: string;
}

export const FormContext = createContext<Form | null>(null);

export function useForm(): Form {
  const form = useContext(FormContext);
  if (!form) throw new Error("a field outside of a form");
  return form;
}

// useAt is the value at a path, and what sets it.
export function useAt(path: string): [Json | undefined, (value: Json | undefined) => void] {
  const { store } = useForm();
  const value = useSyncExternalStore((fn) => store.watch(path, fn), () => store.get(path));
  return [value, (v) => store.set(path, v)];
}

// useProblem is what is wrong with the value at a path: of its parts too, where no field shows these.
export function useProblem(path: string, parts: boolean): string | undefined {
  const { store } = useForm();
  return useSyncExternalStore((fn) => store.watch(path, fn), () => (parts ? store.problemIn(path) : store.problem(path)));
}
