// The page in the frame. It sets no HTML: what the server and people wrote becomes text nodes. The only page that it
// hears and answers is the one around it, if its origin is one that the tenant allows; the first that gave a token is
// the one until the frame is loaded again.
(() => {
  "use strict";
  const origins = JSON.parse(document.querySelector('meta[name="toolcrib-embed"]').content).origins;
  const base = location.pathname.replace(/\/+$/, "");
  const root = document.getElementById("tool");
  const host = window.parent;
  const later = (ms) => new Promise((done) => setTimeout(done, ms));

  // Messages.
  let origin = null;
  let token = null;
  let asking = null;
  let given = () => {};

  const tell = (message) => {
    if (origin !== null) host.postMessage(message, origin);
  };

  addEventListener("message", (event) => {
    if (event.source !== host || !origins.includes(event.origin) || (origin !== null && event.origin !== origin)) return;
    const said = event.data;
    if (typeof said !== "object" || said === null || said.type !== "toolcrib:token" || typeof said.token !== "string") return;
    origin = event.origin;
    token = said.token;
    given();
  });

  // Asks for a token until there is one: the page around may not listen yet.
  const askForToken = () => {
    token = null;
    asking ??= new Promise((done) => {
      const around = location.ancestorOrigins?.[0];
      const ask = () => {
        const to = origin !== null ? [origin] : origins.includes(around) ? [around] : origins;
        for (const each of to) host.postMessage({ type: "toolcrib:token-request" }, each);
      };
      const again = setInterval(ask, 1000);
      given = () => {
        clearInterval(again);
        asking = null;
        given = () => {};
        done();
      };
      ask();
    });
    return asking;
  };

  // Asks the server, with another token where the one there is opens nothing any more.
  const request = async (path, body) => {
    for (let round = 0; ; round++) {
      if (token === null) await askForToken();
      let answer;
      try {
        answer = await fetch(base + path, {
          method: "POST", credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer",
          headers: { "Content-Type": "application/json", Authorization: "Bearer " + token, "Toolcrib-Embed-Origin": origin },
          body: JSON.stringify(body ?? {}),
        });
      } catch {
        return { status: 0, body: { detail: "The server cannot be reached. Try again." } };
      }
      const read = await answer.json().catch(() => ({}));
      if (answer.status === 401 && round < 2) {
        token = null;
        continue;
      }
      if (answer.status === 429 && round < 5) {
        await later(1000 * (Number(answer.headers.get("Retry-After")) || 5));
        continue;
      }
      return { status: answer.status, body: read };
    }
  };

  // Elements.
  const make = (name, about, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(about ?? {})) {
      if (value === true) made.setAttribute(key, "");
      else if (value !== false && value !== undefined && value !== "") made.setAttribute(key, value);
    }
    made.append(...children.filter((c) => c !== null && c !== undefined && c !== ""));
    return made;
  };
  const status = make("p", { role: "status" });
  const result = make("section", { "aria-label": "Result" }, status);
  const say = (text) => {
    status.textContent = text;
  };
  const button = (text, type) => make("button", { type }, text);

  const optional = (field) => (field.required ? null : make("span", { class: "note" }, " (optional)"));
  const describe = (field) => [
    field.help ? make("p", { class: "note help", dir: "auto", id: "h-" + field.id }, field.help) : null,
    make("p", { class: "problem", id: "p-" + field.id, hidden: true }),
  ];

  const control = (field) => {
    const by = (field.help ? "h-" + field.id + " " : "") + "p-" + field.id;
    if (field.kind === "choice") {
      const type = field.several ? "checkbox" : "radio";
      return make("fieldset", { "data-name": field.name, "aria-describedby": by },
        make("legend", { dir: "auto" }, field.label, optional(field)), ...describe(field),
        ...field.options.map((o) => {
          const input = make("input", { type, name: field.name, id: o.id });
          input.value = o.value;
          input.defaultChecked = !!o.chosen;
          return make("div", { class: "option" }, input, make("label", { for: o.id, dir: "auto" }, o.label));
        }));
    }
    const area = field.kind === "area";
    const input = make(area ? "textarea" : "input", {
      type: area ? undefined : field.kind, inputmode: field.mode, name: field.name, id: field.id, dir: "auto",
      autocomplete: "off", "aria-describedby": by,
    });
    input.defaultValue = field.value ?? "";
    return make("div", { class: "field", "data-name": field.name },
      make("label", { for: field.id, dir: "auto" }, field.label, optional(field)), ...describe(field), input);
  };

  // What is wrong, at the fields; the first of them gets the focus.
  const mark = (form, problems) => {
    let first = null;
    for (const holder of form.querySelectorAll("[data-name]")) {
      const text = problems[holder.dataset.name] ?? "";
      const place = holder.querySelector(".problem");
      place.textContent = text;
      place.hidden = text === "";
      for (const input of holder.querySelectorAll("input, textarea")) {
        if (text === "") input.removeAttribute("aria-invalid");
        else input.setAttribute("aria-invalid", "true");
        if (text !== "") first ??= input;
      }
    }
    first?.focus();
    say(problems[""] ?? (first ? "This was not sent yet: see what is marked." : ""));
  };

  const valuesOf = (form) => {
    const values = {};
    for (const [name, value] of new FormData(form)) (values[name] ??= []).push(value);
    return values;
  };

  const words = {
    running: "This is being worked on.",
    waiting_for_approval: "This waits for an approval. It goes on when a person has approved it.",
    waiting: "This waits for an answer from elsewhere.",
    completed: "Done.",
    failed: "This could not be done.",
  };

  const listed = (rows) => make("dl", null, ...rows.flatMap((r) => [
    make("dt", { dir: "auto" }, r.name), make("dd", { dir: "auto" }, r.value)]));
  const cells = (kind, texts) => make("tr", null, ...texts.map((t) => make(kind, { dir: "auto" }, t)));

  // A part of the result as its tool declares it: what others draw is a table here.
  const section = (s) => make("section", null, make("h2", { dir: "auto" }, s.heading), s.stats && listed(s.stats),
    s.text && make("p", { class: "help", dir: "auto" }, s.text), s.code && make("pre", { dir: "auto" }, s.code),
    s.table && make("div", { class: "wide", role: "region", "aria-label": s.heading, tabindex: "0" }, make("table", null,
      make("thead", null, cells("th", s.table.columns)), make("tbody", null, ...s.table.rows.map((r) => cells("td", r))))),
    s.table?.more && make("p", { class: "note" }, s.table.more + " more rows are not shown here."));

  const show = (outcome) => {
    say(words[outcome.status] ?? "");
    const parts = [];
    if (outcome.error) parts.push(make("p", { class: "problem", dir: "auto" }, outcome.error));
    if (outcome.sections) parts.push(...outcome.sections.map(section));
    if (outcome.rows?.length) parts.push(listed(outcome.rows));
    if (outcome.text) parts.push(make("pre", { dir: "auto" }, outcome.text));
    result.replaceChildren(status, ...parts);
  };

  const started = (form, of) => {
    let run = 0;
    const fail = (answer) => {
      result.replaceChildren(status);
      say(answer.body.detail ?? "Something went wrong. Try again.");
    };

    // Follows a call to its end, unless another one began.
    const follow = async (mine, once, outcome) => {
      let misses = 0;
      while (outcome.status !== "completed" && outcome.status !== "failed") {
        const [answer] = await Promise.all([request("/calls/" + once), later(1000)]);
        if (mine !== run) return;
        if (answer.status === 200) {
          outcome = answer.body;
          misses = 0;
          show(outcome);
        } else if ((answer.status === 0 || answer.status >= 500) && ++misses < 20) {
          await later(3000);
        } else {
          fail(answer);
          return;
        }
      }
      tell({
        type: "toolcrib:result", call_id: outcome.call_id, status: outcome.status, output: outcome.output ?? "",
        error: outcome.error ?? "",
      });
    };

    const send = async (once, values, confirmed) => {
      const mine = ++run;
      say("This is being sent.");
      const answer = await request("/calls", { once, confirmed, values });
      if (mine !== run) return;
      if (answer.status === 422) mark(form, answer.body.problems);
      else if (answer.status !== 200) fail(answer);
      else if (answer.body.confirm) confirm(once, values, answer.body.confirm);
      else {
        show(answer.body);
        await follow(mine, once, answer.body);
      }
    };

    // The second step, of tools that change something: a click that was caught for another button does not do.
    const confirm = (once, values, confirmed) => {
      const yes = button("Confirm", "button");
      const no = button("Back", "button");
      const heading = make("h2", { tabindex: "-1" }, "Confirm what you send");
      const given = of.fields.filter((f) => values[f.name]?.some((v) => v.trim() !== ""));
      const step = make("section", { "aria-label": "Confirmation" }, heading,
        make("p", null, "This changes something, and may not be undone."),
        make("dl", null, ...given.flatMap((f) => [make("dt", { dir: "auto" }, f.label), make("dd", { dir: "auto" },
          values[f.name].map((v) => f.options?.find((o) => o.value === v)?.label ?? v).join(", "))])),
        make("p", null, no, yes));
      const leave = () => {
        step.replaceWith(form);
        form.querySelector("button").focus();
      };
      yes.disabled = true;
      setTimeout(() => { yes.disabled = false; }, 500);
      no.addEventListener("click", () => {
        leave();
        say("");
      });
      yes.addEventListener("click", () => {
        leave();
        void send(once, values, confirmed);
      });
      form.replaceWith(step);
      say("");
      heading.focus();
    };

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      mark(form, {});
      const once = [...crypto.getRandomValues(new Uint8Array(18))].map((n) => n.toString(16).padStart(2, "0")).join("");
      void send(once, valuesOf(form), "");
    });
  };

  const begin = async () => {
    root.replaceChildren(result);
    if (host === window) {
      say("This page is shown within other pages.");
      return;
    }
    say("One moment.");
    const answer = await request("/form");
    if (answer.status !== 200) {
      say(answer.body.detail ?? "Something went wrong. Load the page again.");
      return;
    }
    const of = answer.body;
    document.title = of.title;
    const fields = of.fields.flatMap((f) => [f.section ? make("h2", { dir: "auto" }, f.section) : null, control(f)]);
    const form = make("form", { novalidate: true, "aria-label": of.title }, ...fields, button("Send", "submit"));
    say("");
    root.replaceChildren(make("h1", { dir: "auto" }, of.title),
      make("p", { class: "note" }, of.asks + " asks for this, and an automated system reads it. " +
        "Do not enter passwords or card numbers."),
      make("div", { class: "columns" }, form, result));
    started(form, of);
  };

  let height = 0;
  new ResizeObserver(() => {
    const now = Math.ceil(document.body.getBoundingClientRect().height);
    if (origin === null || now === height) return;
    height = now;
    tell({ type: "toolcrib:resize", height });
  }).observe(document.body);
  void begin();
})();
