import { lazyRouteComponent } from "@tanstack/react-router";
import { lazy } from "react";
import { unreached } from "./api/client";

// Parts of the pages are loaded where they are first shown. A browser keeps that a part could not be loaded until the
// page is loaded again: where the server is away, a part waits for it, as what is read does.

// PartError is thrown where a part cannot be loaded into this page any more: another build is served, or the server
// went away while it was loaded. Its message is that of the browser.
export class PartError extends Error {
  constructor(readonly updated: boolean, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause));
  }
}

const first = 250; // ms
const longest = 10_000; // ms

// loaded loads a part of the pages.
async function loaded<T>(load: () => Promise<T>): Promise<T> {
  if (!navigator.onLine || unreached()) await served(2); // Networks that go and come do so for a moment.
  try {
    return await load();
  } catch (e) {
    throw new PartError(!(await served()), e);
  }
}

// served waits until the server has answered so many times in a row, and reports whether it has the files of this build.
async function served(times = 1): Promise<boolean> {
  const entry = document.querySelector<HTMLScriptElement>('script[type="module"][src]')!.src;
  let [wait, answers] = [first, 0];
  for (;;) {
    const answer = await fetch(entry, { method: "HEAD", cache: "no-store" }).catch(() => undefined);
    if (answer?.ok || answer?.status === 404) {
      if (++answers === times) return answer.ok;
      await new Promise((done) => window.setTimeout(done, first));
      continue;
    }
    answers = 0;
    await online(wait);
    wait = Math.min(2 * wait, longest);
  }
}

// online waits, and no longer than until the browser finds a network.
const online = (wait: number) =>
  new Promise<void>((done) => {
    const timer = window.setTimeout(over, wait);
    window.addEventListener("online", over);
    function over() {
      window.clearTimeout(timer);
      window.removeEventListener("online", over);
      done();
    }
  });

// lazyPart is a component that is loaded with the first of its kind. Where it cannot be, that is shown in its place:
// what was typed beside it stays.
export const lazyPart: typeof lazy = (load) =>
  lazy(() => loaded(load).catch((e: PartError): any => ({ default: () => <Unloaded error={e} /> })));

// lazyPage is the component of a route. Its error is shown by the route.
export const lazyPage: typeof lazyRouteComponent = (load, name) => lazyRouteComponent(() => loaded(load), name);

export function Unloaded({ error }: { error: PartError }) {
  return (
    <div className="state unloaded" role="alert">
      <p className="state-title">{error.updated ? "The console was updated" : "This part could not be loaded"}</p>
      <button type="button" className="button primary" onClick={() => location.reload()}>
        Load the page again
      </button>
    </div>
  );
}
