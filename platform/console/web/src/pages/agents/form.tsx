import { useState } from "react";
import type { Fault } from "../../api/client";
import type { AgentDefinition } from "../../api/graphs";
import type { Json } from "../../api/json";
import { faultAt, JsonField, NumberField, SelectField, TextField } from "./fields";

const modes = [["", "one after the other"], ["parallel_safe", "pure calls side by side"]] as const;
const unavailable = [["", "leave it out, with a warning"], ["refuse", "refuse the run"]] as const;
const textCalls = [["", "text"], ["fallback", "calls, where there are no native ones"], ["only", "calls: the model has no native ones"]] as const;
const limits = [
  ["max_turns", "Turns", "20"], ["max_calls", "Calls", "100"], ["max_calls_per_turn", "Calls in a turn", "32"], ["timeout_s", "Seconds", "3600"],
] as const;

const lines = (of: readonly string[] | undefined): string => (of ?? []).join(", ");
const parts = (text: string): string[] => text.split(",").map((s) => s.trim()).filter(Boolean);

// DefinitionForm edits what an agent is, but for its tools.
export function DefinitionForm({ value: v, isNew, onChange, faults, readOnly, onBroken }: {
  value: AgentDefinition;
  isNew: boolean;
  onChange: (part: AgentDefinition) => void;
  faults: readonly Fault[];
  readOnly: boolean;
  onBroken: (name: string) => (broken: boolean) => void;
}) {
  const at = (name: string) => faultAt(faults, "/" + name);
  const json = (name: "model_options" | "output_schema" | "max_concurrency" | "fallback_models" | "skills", label: string, hint: string, placeholder: string) => (
    <JsonField label={label} hint={hint} fault={at(name)} value={v[name] as Json | undefined} onChange={(x) => onChange({ [name]: x } as AgentDefinition)}
      onBroken={onBroken(name)} placeholder={placeholder} rows={2} readOnly={readOnly} />
  );
  return (
    <div className="set-form">
      <section aria-label="What it is">
        {isNew && <TextField label="Slug" hint="Letters, digits, _ and -. It cannot be changed." mono required value={v.slug ?? ""} onChange={(slug) => onChange({ slug })} fault={at("slug")} placeholder="supportDesk" />}
        <TextField label="Name" value={v.name ?? ""} onChange={(name) => onChange({ name })} fault={at("name")} placeholder={v.slug || "Support desk"} readOnly={readOnly} />
        <TextField label="Description" value={v.description ?? ""} onChange={(description) => onChange({ description })} fault={at("description")} readOnly={readOnly} />
        <TextField label="Model" hint="provider/name" mono value={v.model ?? ""} onChange={(model) => onChange({ model })} fault={at("model")} placeholder="openai/gpt-4.1-mini" readOnly={readOnly} />
        <TextField label="Instructions" hint="The model reads them before each conversation." rows={12} value={v.instructions ?? ""} onChange={(instructions) => onChange({ instructions })} fault={at("instructions")} readOnly={readOnly} />
        <TextField label="Version" hint="Number that the draft is published under." mono value={v.version ?? ""} onChange={(version) => onChange({ version })} fault={at("version")} placeholder="1.0.0" readOnly={readOnly} />
      </section>
      <section aria-label="How it runs">
        <h2>Calls</h2>
        <SelectField label="Order of calls" options={modes} value={v.tool_mode === "sequential" ? "" : (v.tool_mode ?? "")} onChange={(x) => onChange({ tool_mode: (x || undefined) as AgentDefinition["tool_mode"] } as AgentDefinition)} fault={at("tool_mode")} readOnly={readOnly} />
        <SelectField label="A tool that cannot be used" options={unavailable} value={v.on_unavailable_tool === "omit" ? "" : (v.on_unavailable_tool ?? "")} onChange={(x) => onChange({ on_unavailable_tool: (x || undefined) as AgentDefinition["on_unavailable_tool"] } as AgentDefinition)} fault={at("on_unavailable_tool")} readOnly={readOnly} />
        <SelectField label="Calls written in text are" options={textCalls} value={v.text_tool_calls ?? ""} onChange={(x) => onChange({ text_tool_calls: (x || undefined) as AgentDefinition["text_tool_calls"] } as AgentDefinition)} fault={at("text_tool_calls")} readOnly={readOnly} />
        <h2>Limits of a run</h2>
        <div className="set-row">
          {limits.map(([name, label, usual]) => (
            <NumberField key={name} label={label} placeholder={usual} value={v.limits?.[name] || undefined} fault={at(`limits/${name}`)} readOnly={readOnly}
              onChange={(x) => {
                const next = { ...v.limits, [name]: x } as Record<string, unknown>;
                if (x === undefined) delete next[name];
                onChange({ limits: next as AgentDefinition["limits"] } as AgentDefinition);
              }} />
          ))}
        </div>
        <h2>Beside its tools</h2>
        <CommaText label="Groups of tools" hint="Categories of global tools, with commas between; user_facing for the tenant's own alone." value={v.tool_groups ?? []} onChange={(tool_groups) => onChange({ tool_groups })} fault={at("tool_groups")} readOnly={readOnly} />
        <CommaText label="Spaces" hint="Slugs, with commas between, or * for all that it is a member of." value={v.spaces ?? []} onChange={(spaces) => onChange({ spaces })} fault={at("spaces")} readOnly={readOnly} />
        <details className="more" open={!!(v.model_options || v.fallback_models || v.output_schema || v.skills || v.max_concurrency) || undefined}>
          <summary>As JSON: options, fallbacks, answer, skills</summary>
          {json("model_options", "Model options", "As the provider takes them.", '{"temperature": 0.2}')}
          {json("fallback_models", "Fallback models", "Asked in order where the model is unavailable.", '[{"model": "anthropic/claude-haiku-4-5"}]')}
          {json("output_schema", "Schema of the answer", "JSON Schema that the final answer matches.", '{"type": "object"}')}
          {json("skills", "Skills", "Tasks that tools can call the agent for, by name.", '{"summarize": {"instructions": "Three sentences."}}')}
          {json("max_concurrency", "Calls at once", "By concurrency group.", '{"default": 8}')}
        </details>
      </section>
    </div>
  );
}

// CommaText keeps what is typed, commas and spaces too, while the list is what they part.
function CommaText({ value, onChange, ...of }: {
  label: string;
  hint: string;
  value: readonly string[];
  onChange: (v: string[]) => void;
  fault?: string | undefined;
  readOnly: boolean;
}) {
  const [text, setText] = useState(lines(value));
  const shown = lines(parts(text)) === lines(value) ? text : lines(value);
  return (
    <TextField {...of} mono value={shown} onChange={(t) => {
      setText(t);
      onChange(parts(t));
    }} />
  );
}
