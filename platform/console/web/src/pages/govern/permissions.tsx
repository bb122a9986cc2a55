import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { meta } from "../../api/govern";
import { me } from "../../api/queries";

// Permissions chooses some, of which those that one's own key lacks cannot be chosen anew.
export function Permissions({ tenant, chosen, onChange, legend }: { tenant: string; chosen: string[]; onChange: (all: string[]) => void; legend: string }) {
  const known = useQuery(meta(tenant));
  const who = useQuery(me(tenant));
  const [already] = useState(chosen);
  const mine = new Set(who.data?.permissions ?? []);
  const areas = new Map<string, { name: string; meaning: string }[]>();
  for (const p of known.data?.permissions ?? []) {
    const area = p.name.split(".")[0]!;
    areas.set(area, [...(areas.get(area) ?? []), p]);
  }
  const names = new Set((known.data?.permissions ?? []).map((p) => p.name));
  const [own, setOwn] = useState(chosen.filter((p) => known.data && !names.has(p)).join(" "));
  const toggle = (name: string, on: boolean) => onChange(on ? [...chosen, name] : chosen.filter((p) => p !== name));
  return (
    <fieldset>
      <legend>{legend}</legend>
      <p className="muted">{chosen.length} chosen</p>
      <div className="areas">
        {[...areas].map(([area, all]) => (
          <div key={area} role="group" aria-label={area} className="area">
            <span className="ask-name">{area}</span>
            {all.map((p) => {
              const ok = mine.has(p.name) || already.includes(p.name);
              return (
                <label key={p.name} className="check" title={p.meaning}>
                  <input type="checkbox" checked={chosen.includes(p.name)} disabled={!ok} onChange={(e) => toggle(p.name, e.target.checked)} />
                  <span><code>{p.name.slice(area.length + 1)}</code>{!ok && <span className="unseen">: your key lacks it</span>}</span>
                </label>
              );
            })}
          </div>
        ))}
      </div>
      <label className="ask">
        <span className="ask-name">Permissions that your tools ask for</span>
        <input value={own} placeholder="orders.read orders.refund" onChange={(e) => {
          setOwn(e.target.value);
          onChange([...chosen.filter((p) => names.has(p)), ...e.target.value.split(/[\s,]+/).filter((p) => p && !names.has(p))]);
        }} />
      </label>
    </fieldset>
  );
}
