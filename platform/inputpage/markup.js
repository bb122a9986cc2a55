// People draw on an image: with mouse, pen or finger, and with the keyboard. What they draw is in
// the field "drawing" of the form, in coordinates from 0 to 1, and goes with the form. The server
// checks all of it; without this script the form works too.
"use strict";
(function () {
  const byId = (id) => document.getElementById(id);
  const image = byId("image"), field = byId("drawing"), surface = byId("surface"), said = byId("said");
  const note = byId("note"), form = field && field.form;
  if (!image || !field || !surface || !form) return;

  const most = { shapes: 100, points: 20000 };
  const canvas = document.createElement("canvas");
  canvas.tabIndex = 0;
  canvas.id = "canvas";
  canvas.setAttribute("role", "application");
  canvas.setAttribute("aria-label", "Draw on the image");
  canvas.setAttribute("aria-describedby", "keys");
  surface.append(canvas);
  byId("tools").hidden = false;
  byId("naming").hidden = false;
  byId("regions").open = false;

  let shapes = [];
  try {
    shapes = JSON.parse(field.value).shapes || [];
  } catch {
    shapes = [];
  }
  let mode = "stroke";
  let current = null; // What is being drawn.
  let anchor = null; // Where it began.
  let cross = null; // Of the keyboard.

  const clamp = (n) => Math.min(1, Math.max(0, n));
  const round = (n) => Math.round(n * 10000) / 10000;
  const percent = (n) => Math.round(n * 100) + "%";
  const count = () => shapes.reduce((sum, s) => sum + (s.points ? s.points.length : 0), 0);

  function save() {
    field.value = shapes.length ? JSON.stringify({ shapes: shapes }) : "";
    note.value = shapes.length ? shapes[shapes.length - 1].note || "" : "";
    note.disabled = shapes.length === 0;
    paint();
  }

  function say(text) {
    said.textContent = text;
  }

  function path(context, shape, width, height) {
    const at = (x, y) => [x * width, y * height];
    context.beginPath();
    if (shape.kind === "stroke") {
      shape.points.forEach((p, i) => context[i ? "lineTo" : "moveTo"](...at(p[0], p[1])));
      if (shape.points.length === 1) context.lineTo(...at(shape.points[0][0], shape.points[0][1]));
    } else if (shape.kind === "box") {
      context.rect(...at(shape.x, shape.y), ...at(shape.width, shape.height));
    } else {
      context.arc(...at(shape.x, shape.y), 6, 0, 2 * Math.PI);
    }
  }

  // draw draws marks in red with a white border, so that they are seen on every image.
  function draw(context, width, height, all) {
    context.lineCap = context.lineJoin = "round";
    for (const [color, line] of [["#ffffff", 6], ["#d00020", 3]]) {
      context.strokeStyle = color;
      context.lineWidth = line;
      for (const shape of all) {
        path(context, shape, width, height);
        context.stroke();
      }
    }
  }

  function paint() {
    const width = image.clientWidth, height = image.clientHeight, scale = window.devicePixelRatio || 1;
    if (!width || !height) return;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    draw(context, width, height, current ? shapes.concat([current]) : shapes);
    if (cross) {
      const x = cross.x * width, y = cross.y * height;
      context.lineWidth = 1;
      context.strokeStyle = "#0040c0";
      context.beginPath();
      context.moveTo(x - 12, y);
      context.lineTo(x + 12, y);
      context.moveTo(x, y - 12);
      context.lineTo(x, y + 12);
      context.stroke();
    }
  }

  function begin(at) {
    if (shapes.length >= most.shapes || count() >= most.points) {
      say("There are too many marks: undo some first.");
      return;
    }
    anchor = at;
    if (mode === "stroke") current = { kind: "stroke", points: [[at.x, at.y]] };
    if (mode === "box") current = { kind: "box", x: at.x, y: at.y, width: 0, height: 0 };
    if (mode === "point") {
      current = { kind: "point", x: at.x, y: at.y };
      end();
    }
    paint();
  }

  function move(at) {
    if (!current) return;
    if (current.kind === "stroke") {
      const last = current.points[current.points.length - 1];
      if (Math.abs(last[0] - at.x) + Math.abs(last[1] - at.y) < 0.002) return;
      if (count() + current.points.length < most.points) current.points.push([at.x, at.y]);
    } else {
      current.x = Math.min(anchor.x, at.x);
      current.y = Math.min(anchor.y, at.y);
      current.width = round(Math.abs(at.x - anchor.x));
      current.height = round(Math.abs(at.y - anchor.y));
    }
    paint();
  }

  function end() {
    const made = current;
    current = anchor = null;
    if (!made) return;
    if (made.kind === "box" && (made.width < 0.005 || made.height < 0.005)) {
      say("The box is too small.");
      paint();
      return;
    }
    shapes.push(made);
    say("Mark " + shapes.length + " is made.");
    save();
  }

  function abandon() {
    current = anchor = null;
    say("The mark was given up.");
    paint();
  }

  function where(event) {
    const box = canvas.getBoundingClientRect();
    return {
      x: round(clamp((event.clientX - box.left) / box.width)),
      y: round(clamp((event.clientY - box.top) / box.height)),
    };
  }

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !event.isPrimary) return;
    event.preventDefault();
    canvas.focus({ preventScroll: true });
    canvas.setPointerCapture(event.pointerId);
    cross = null;
    begin(where(event));
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!event.isPrimary || cross) return;
    const all = event.getCoalescedEvents ? event.getCoalescedEvents() : [];
    for (const each of all.length ? all : [event]) move(where(each));
  });
  canvas.addEventListener("pointerup", (event) => {
    if (!event.isPrimary || cross) return;
    move(where(event));
    end();
  });
  canvas.addEventListener("pointercancel", abandon);

  const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const step = steps[event.key];
    if (step) {
      cross = cross || { x: 0.5, y: 0.5 };
      const far = event.shiftKey ? 0.1 : 0.01;
      cross = { x: round(clamp(cross.x + step[0] * far)), y: round(clamp(cross.y + step[1] * far)) };
      move(cross);
      paint();
      say(percent(cross.x) + " from the left, " + percent(cross.y) + " from the top");
    } else if (event.key === "Enter" || event.key === " ") {
      cross = cross || { x: 0.5, y: 0.5 };
      if (current) end();
      else {
        begin(cross);
        if (current) say("A mark begins here: move, and press Enter to end it.");
      }
      paint();
    } else if (event.key === "Escape" && current) abandon();
    else if (event.key === "Backspace" || event.key === "Delete") undo();
    else return;
    event.preventDefault();
  });

  function undo() {
    if (current) {
      abandon();
      return;
    }
    if (shapes.pop()) say(shapes.length + " marks are left.");
    save();
  }

  byId("undo").addEventListener("click", undo);
  byId("clear").addEventListener("click", () => {
    shapes = [];
    current = anchor = null;
    say("All marks are gone.");
    save();
  });
  const modes = document.querySelectorAll("#tools [data-mode]");
  modes.forEach((button) =>
    button.addEventListener("click", () => {
      mode = button.dataset.mode;
      current = anchor = null;
      modes.forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
      paint();
    }),
  );
  note.addEventListener("input", () => {
    if (!shapes.length) return;
    shapes[shapes.length - 1].note = note.value;
    field.value = JSON.stringify({ shapes: shapes });
  });
  note.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault();
  });

  // picture returns what was drawn as a PNG: with the image where that is our own, else alone.
  function picture() {
    const scale = Math.min(1, 1200 / Math.max(image.naturalWidth, image.naturalHeight));
    const sheet = document.createElement("canvas");
    sheet.width = Math.max(1, Math.round(image.naturalWidth * scale));
    sheet.height = Math.max(1, Math.round(image.naturalHeight * scale));
    const context = sheet.getContext("2d");
    if (new URL(image.src, location.href).origin === location.origin) {
      context.drawImage(image, 0, 0, sheet.width, sheet.height);
    }
    draw(context, sheet.width, sheet.height, shapes);
    const text = atob(sheet.toDataURL("image/png").split(",")[1]);
    return Uint8Array.from(text, (c) => c.charCodeAt(0));
  }

  form.addEventListener("submit", () => {
    if (current) end();
    const files = byId("f-image");
    if (!shapes.length || !files || files.files.length || !image.naturalWidth) return;
    if (form.querySelector('input[type="checkbox"][name="image"]:checked')) return;
    try {
      const bytes = picture();
      if (bytes.length > Number(files.dataset.max)) return;
      const list = new DataTransfer();
      list.items.add(new File([bytes], "marked.png", { type: "image/png" }));
      files.files = list.files;
    } catch {
      // The marks go without a picture.
    }
  });

  if (image.complete) paint();
  image.addEventListener("load", paint);
  window.addEventListener("resize", paint);
  save();
})();
