import uPlot from "uplot";
import { useEffect, useRef } from "react";

// Plot draws lines over days. It is loaded when it is first seen; see days.tsx.

export interface Line {
  name: string;
  values: (number | null)[];
  dashed?: boolean;
}

const css = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// paint turns a light-dark() of the tokens into a color that a canvas takes.
function paint(of: HTMLElement, name: string): string {
  const probe = document.createElement("span");
  probe.className = `paint-${name}`;
  of.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}

// faint is a color as a canvas takes it, of which little is seen. What it cannot be made of is not filled.
const faint = (color: string): string => {
  const [, parts] = /^rgb\((\d+, \d+, \d+)\)$/.exec(color) ?? [];
  return parts ? `rgba(${parts}, 0.12)` : "transparent";
};

export default function Plot({ days, lines, format, at, onAt }: {
  days: number[]; // Seconds.
  lines: Line[];
  format: (v: number) => string;
  at: number;
  onAt: (i: number) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const report = useRef(onAt);
  report.current = onAt;
  useEffect(() => {
    const host = box.current!;
    const draw = () => {
      plot.current?.destroy();
      const [accent, muted, line] = [paint(host, "accent"), paint(host, "muted"), paint(host, "line")];
      const font = `11px ${css("--font")}`;
      plot.current = new uPlot({
        width: Math.max(200, host.clientWidth), height: 220,
        tzDate: (ts) => uPlot.tzDate(new Date(ts * 1000), "UTC"),
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
        scales: { x: { time: true }, y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.12 : 1] } },
        axes: [
          { stroke: muted, font, grid: { show: false }, ticks: { stroke: line, size: 4 }, values: (_u, all) => all.map((t) => new Date(t * 1000).toISOString().slice(5, 10)), space: 64, incrs: [1, 2, 3, 5, 7, 14, 28, 56, 112].map((d) => d * 86_400) },
          { stroke: muted, font, size: 62, grid: { stroke: line, width: 1 }, ticks: { show: false }, values: (_u, all) => all.map(format) },
        ],
        series: [
          {},
          ...lines.map((l): uPlot.Series => ({
            label: l.name, stroke: l.dashed ? muted : accent, width: l.dashed ? 1.25 : 2,
            ...(l.dashed ? { dash: [5, 5] } : { fill: faint(accent) }),
            points: { show: !l.dashed && days.length <= 62, size: 5, fill: accent },
          })),
        ],
        hooks: { setCursor: [(u) => u.cursor.idx != null && report.current(u.cursor.idx)] },
      }, [days, ...lines.map((l) => l.values)] as uPlot.AlignedData, host);
      host.querySelector("canvas")?.setAttribute("aria-hidden", "true");
    };
    draw();
    const resize = new ResizeObserver(() => plot.current?.setSize({ width: Math.max(200, host.clientWidth), height: 220 }));
    resize.observe(host);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", draw);
    const themed = new MutationObserver(draw);
    themed.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => {
      resize.disconnect();
      themed.disconnect();
      dark.removeEventListener("change", draw);
      plot.current?.destroy();
    };
  }, [days, lines, format]);
  useEffect(() => {
    const u = plot.current;
    if (u && at >= 0 && at < days.length && u.cursor.idx !== at) u.setCursor({ left: u.valToPos(days[at]!, "x"), top: 10 }, false);
  }, [at, days]);
  return <div ref={box} className="plot" />;
}
