"use strict";
(() => {
  const get = (id) => document.getElementById(id);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const rows = all(".list tbody tr"), sections = all(".scenario");
  const show = get("show"), suite = get("suite"), text = get("text"), found = get("found"), frame = get("sections");
  const MAX_OPEN = 600;
  let current = 0;

  // Untrusted text reaches the page only as textContent; names of elements and classes are written here.
  const make = (tag, name, content, ...children) => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    if (content !== undefined && content !== null) element.textContent = content;
    element.append(...children);
    return element;
  };
  const draw = (tag, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  const seconds = (value) => value === null || value === undefined ? "unknown"
    : value > 0 && value < 1 ? `${Number((value * 1000).toPrecision(3))} ms` : `${value.toFixed(1)} s`;

  const fold = (content, label) => {
    if (content.length <= MAX_OPEN) return make("p", "text", content);
    const start = content.slice(0, 120).split("\n")[0];
    return make("details", "", null, make("summary", "", `${label}${start}\u2026 (${content.length.toLocaleString("en")} characters)`),
      make("p", "text", content));
  };

  const buildCall = (part) => {
    const body = make("div");
    body.append(make("p", "text", null, make("b", "", part.title)));
    if (part.text) body.append(make("code", "", null, fold(part.text, "arguments: ")));
    const tone = part.status === "ok" ? "good" : part.status === "error" ? "bad" : "warn";
    body.append(make("p", "note", null, make("span", `tone ${tone}`, part.status), part.seconds === null ? ", duration not recorded" : `, ${seconds(part.seconds)}`));
    if (part.result) body.append(make("code", "", null, fold(part.result, "result: ")));
    return make("li", "", null, make("span", "who", `call ${part.number}`), body);
  };

  const buildMessage = (part) => {
    const body = make("div");
    if (part.reasoning) {
      body.append(make("details", "", null, make("summary", "note", "Reasoning"), make("p", "text", part.reasoning)));
    }
    body.append(part.text ? fold(part.text, "") : make("p", "note", "no text"));
    return make("li", "", null, make("span", "who", part.title), body);
  };

  const buildTimeline = (block) => {
    const known = block.bars.reduce((sum, bar) => sum + (bar.seconds || 0), 0);
    const unknown = block.bars.filter((bar) => bar.seconds === null).length;
    const gap = unknown ? Math.max(known * 0.05, known ? 0 : 1) : 0;
    const whole = known + gap * unknown || 1;
    const body = make("tbody");
    let start = 0;
    for (const bar of block.bars) {
      const length = bar.seconds === null ? gap : bar.seconds;
      const svg = draw("svg", { viewBox: "0 0 1000 12", preserveAspectRatio: "none", "aria-hidden": "true" });
      const kind = bar.seconds === null ? "unknown" : bar.kind === "model" ? "model" : "tool";
      svg.append(draw("rect", { x: 1000 * start / whole, y: 1, width: Math.max(2, 1000 * length / whole), height: 10, class: kind }));
      start += length;
      body.append(make("tr", "", null, make("th", "", bar.title), make("td", "", null, svg),
        make("td", "", seconds(bar.seconds)), make("td", "", bar.figures)));
    }
    const total = `Whole run ${seconds(block.total_seconds)}; the recorded steps take ${seconds(known)}`
      + (unknown ? `, and ${unknown} of ${block.bars.length} have no recorded duration (hatched).` : ".");
    const head = make("thead", "", null, make("tr", "", null,
      ...["Step", "Time", "Duration", "Tokens and cost"].map((name) => make("th", "", name))));
    return [make("p", "note", total), make("div", "scroll", null, make("table", "bars", null, head, body))];
  };

  const fill = (details) => {
    if (details.dataset.filled) return;
    details.dataset.filled = "1";
    const block = JSON.parse(get(`t${details.dataset.trace}`).textContent);
    const facts = make("dl", "facts");
    for (const [label, content] of block.facts) {
      facts.append(make("div", "", null, make("dt", "", label), make("dd", "", content)));
    }
    details.append(facts);
    if (block.bars.length) {
      details.append(make("details", "", null, make("summary", "", "Timeline"), ...buildTimeline(block)));
    }
    const list = make("ol", "parts");
    for (const part of block.parts) list.append(part.kind === "call" ? buildCall(part) : buildMessage(part));
    details.append(list);
    if (block.left) details.append(make("p", "note", `${block.left} more messages and calls are not in this file.`));
  };

  const visible = () => rows.map((row, index) => index).filter((index) => !rows[index].hidden);

  const filter = () => {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const content = row.textContent.toLowerCase();
      row.hidden = (show.value === "failing" && !("failing" in row.dataset))
        || (show.value === "changed" && !("changed" in row.dataset))
        || (suite && suite.value !== "" && suite.value !== row.dataset.suite)
        || !words.every((word) => content.includes(word));
    }
    found.textContent = `${visible().length} of ${rows.length}`;
  };

  const select = (index) => {
    if (!sections[index]) return;
    current = index;
    sections.forEach((section, at) => { section.hidden = at !== index; });
    rows.forEach((row, at) => { if (at === index) row.setAttribute("aria-current", "true"); else row.removeAttribute("aria-current"); });
    sections[index].open = true;
    rows[index].scrollIntoView({ block: "nearest" });
  };

  const write = () => {
    const state = new URLSearchParams();
    if (show.value !== "all") state.set("show", show.value);
    if (suite && suite.value !== "") state.set("suite", suite.value);
    if (text.value) state.set("text", text.value);
    const rest = state.toString();
    history.replaceState(null, "", `#s${current}${rest ? `?${rest}` : ""}`);
  };

  const read = () => {
    const [place, rest] = location.hash.slice(1).split("?");
    if (rest !== undefined) {
      const state = new URLSearchParams(rest);
      if (["all", "failing", "changed"].includes(state.get("show"))) show.value = state.get("show");
      if (suite && state.has("suite")) suite.value = state.get("suite");
      text.value = state.get("text") || "";
      filter();
    }
    const number = /^s\d{1,9}$/.test(place) ? Number(place.slice(1)) : -1;
    if (number >= 0 && number < sections.length) select(number);
  };

  const go = (step) => {
    const indexes = visible(), at = indexes.indexOf(current);
    const next = at < 0 ? indexes[0] : indexes[at + step];
    if (next === undefined) return;
    select(next);
    write();
    sections[next].querySelector("summary").focus();
  };

  const keys = {
    j: () => go(1),
    k: () => go(-1),
    o: () => {
      const trace = sections[current] && sections[current].querySelector(".trace");
      if (trace) { trace.open = !trace.open; trace.querySelector("summary").focus(); }
    },
    "/": () => text.focus(),
  };

  document.addEventListener("toggle", (event) => {
    if (event.target.matches && event.target.matches(".trace") && event.target.open) fill(event.target);
  }, true);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input, select")) { if (event.key === "Escape") event.target.blur(); return; }
    const action = keys[event.key];
    if (action) { event.preventDefault(); action(); }
  });
  document.addEventListener("click", (event) => {
    if (!event.target.matches(".copy")) return;
    const command = event.target.previousElementSibling;
    const range = document.createRange();
    range.selectNodeContents(command);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    if (navigator.clipboard) navigator.clipboard.writeText(command.textContent).then(() => { event.target.textContent = "Copied"; }, () => {});
  });
  for (const control of [show, suite, text]) if (control) control.addEventListener("input", () => { filter(); write(); });
  addEventListener("hashchange", () => {
    read();
    if (/^#s\d/.test(location.hash)) frame.scrollIntoView({ block: "start" });
  });
  addEventListener("beforeprint", () => { for (const section of sections) section.hidden = false; });
  addEventListener("afterprint", () => select(current));

  for (const element of all(".filters, .copy, .keys")) element.hidden = false;
  frame.classList.add("one");
  filter();
  select(0);
  read();
})();
