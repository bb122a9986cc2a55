import { Link } from "@tanstack/react-router";
import { Suspense } from "react";
import type { Run, Tool } from "../api/queries";
import { lazyPart } from "../load";
import { tabOptions } from "../ui/page";
import { Loading } from "../ui/states";

// The tabs that pages of tools and runs have of graphs. What draws them is loaded when it is looked at.

const OfTool = lazyPart(() => import("./tool").then((m) => ({ default: m.ToolGraph })));
const OfRun = lazyPart(() => import("./run").then((m) => ({ default: m.RunGraph })));

export const isGraph = (t: { implementation_type?: string }): boolean => t.implementation_type === "graph" || t.implementation_type === "composition";
export const hasGraph = (r: Run): boolean => !!r.tools?.some(isGraph);

export function ToolGraphLink({ of }: { of: Tool }) {
  if (!isGraph(of)) return null;
  return <Link from="/t/$tenant/tools/$tool" search={{ tab: "graph" }} replace resetScroll={false} activeOptions={tabOptions}>Graph</Link>;
}

export function RunGraphLink({ of }: { of: Run }) {
  if (!hasGraph(of)) return null;
  return <Link from="/t/$tenant/runs/$run" search={{ tab: "graph" }} replace resetScroll={false} activeOptions={tabOptions}>Graph</Link>;
}

export function ToolGraphTab(p: { tenant: string; of: Tool }) {
  return <Suspense fallback={<Loading />}><OfTool {...p} /></Suspense>;
}

export function RunGraphTab(p: { tenant: string; of: Run }) {
  return <Suspense fallback={<Loading />}><OfRun {...p} /></Suspense>;
}
