"use strict";
(() => {
  const get = (id) => document.getElementById(id);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const rows = all(".list tbody tr"), contents = [];
  const show = get("show"), suite = get("suite"), variant = get("variant"), tag = get("tag"), text = get("text");
  const found = get("found"), clear = get("clear"), frame = get("sections"), short = JSON.parse(get("short").textContent);
  const MAX_OPEN = 600, MAX_INDENT = 40, SHORT = 100, RESULT = "result: ", HEADING = 48, MAX_HITS = 500;
  let current = -1;

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
  const scroll = (label, table) => {
    const region = make("div", "scroll", null, table);
    region.tabIndex = 0;
    region.setAttribute("role", "region");
    region.setAttribute("aria-label", label);
    return region;
  };
  const seconds = (value) => value === null || value === undefined ? "unknown"
    : value > 0 && value < 1 ? `${Number((value * 1000).toPrecision(3))} ms` : `${value.toFixed(1)} s`;

  // JSON on one line, one entry a line. Its tokens stay as they are: parsed numbers could lose digits.
  const indent = (content) => {
    if (content.length < SHORT || !/^[[{]/.test(content) || content.includes("\n")) return content;
    try { JSON.parse(content); } catch { return content; }
    let depth = 0;
    const line = () => `\n${"  ".repeat(Math.min(depth, MAX_INDENT))}`;
    return content.replace(/"(?:[^"\\]|\\.)*"|[[{]\s*[\]}]|[[{]\s*|\s*[\]}]|,\s*|:\s*/g, (token) => {
      const sign = token.trim();
      if (sign.length !== 1) return sign;
      if ("[{".includes(sign)) { depth += 1; return sign + line(); }
      if ("]}".includes(sign)) { depth -= 1; return line() + sign; }
      return sign === "," ? sign + line() : sign === ":" ? ": " : token;
    });
  };

  const fold = (given, label) => {
    const content = label === RESULT ? indent(given) : given;
    if (given.length <= MAX_OPEN) return make("p", "text", content);
    const start = given.slice(0, 120).split("\n")[0];
    return make("details", "", null, make("summary", "", `${label}${start}\u2026 (${given.length.toLocaleString("en")} characters)`),
      make("p", "text", content));
  };

  const buildCall = (part) => {
    const body = make("div");
    body.append(make("p", "text", null, make("b", "", part.title)));
    if (part.text) body.append(make("code", "", null, fold(part.text, "arguments: ")));
    for (const line of part.sources || []) body.append(make("p", "note", line));
    const tone = part.status === "ok" ? "good" : part.status === "error" ? "bad" : "warn";
    body.append(make("p", "note", null, make("span", `tone ${tone}`, part.status), part.seconds === null ? "" : `, ${seconds(part.seconds)}`));
    if (part.result) body.append(make("code", "", null, fold(part.result, RESULT)));
    const item = make("li", "", null, make("span", "who", part.who || (part.number ? `call ${part.number}` : "call of the user")), body);
    if (part.depth) item.style.marginLeft = `${part.depth * 2}em`;
    if (part.number) item.dataset.number = part.number;
    item.tabIndex = -1;
    return item;
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
      ...["Call", "Time", "Duration", "Tokens and cost"].map((name) => make("th", "", name))));
    return [make("p", "note", total), scroll("Timeline", make("table", "bars", null, head, body))];
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
    const section = details.closest(".scenario"), name = section.querySelector("h2").textContent;
    details.querySelector("summary").firstChild.after(make("span", "of", `of scenario ${name} `));
    const list = make("ol", "parts");
    const calls = block.parts.filter((part) => part.kind === "call"), unknown = calls.filter((part) => part.seconds === null).length;
    if (unknown) {
      details.append(make("p", "note", unknown === calls.length ? "The durations of the calls are not recorded."
        : `The durations of ${unknown} of ${calls.length} calls are not recorded.`));
    }
    let turn = null;
    for (const part of block.parts) {
      const item = part.kind === "call" ? buildCall(part) : buildMessage(part);
      if (part.turn !== turn) {
        item.dataset.turn = turn = part.turn;
        item.tabIndex = -1;
        item.firstElementChild.append(make("span", "turn", `turn ${turn}`));
      }
      list.append(item);
    }
    for (const item of all("[data-number]", list)) {
      const marks = findMarks(section, `${details.dataset.side}c${item.dataset.number}`);
      if (marks.length) { item.classList.add("about"); item.querySelector("p").append(" ", ...marks); }
    }
    details.append(list);
    if (block.is_unanswered && !block.left) details.append(make("p", "note", "The recording ends with this message of the user."));
    if (block.raw) details.append(make("details", "", null, make("summary", "", "Recorded trace as JSON"), make("pre", "", block.raw)));
    if (block.left) details.append(make("p", "note", `${block.left} more messages and calls are not in this file.`));
    markHits();
  };

  const sentence = (parts) => parts.map((part, at) => (at % 2 ? make("code", "", part) : part));

  const buildTrial = (trial, at) => {
    const label = [`This run, trial ${trial.number} `, make("span", `tone ${trial.tone}`, trial.status), " ", make("span", "place", trial.place)];
    if (trial.block === null) return make("p", "", null, ...label, ` ${trial.reason} `, make("span", "note", trial.why));
    const details = make("details", "trace", null, make("summary", "", null, ...label));
    details.dataset.trace = trial.block;
    details.dataset.side = `t${at}`;
    if (trial.reason) details.append(make("p", "", trial.reason));
    return details;
  };

  // A scenario that the file holds in short: its checks and its difference are in results.json.
  const buildShort = (index) => {
    const row = rows[index], known = short[index], section = make("section", "scenario");
    const title = make("h2", "", row.cells[0].textContent);
    title.tabIndex = -1;
    section.id = `s${index}`;
    section.append(title, " ", ...[row.cells[1], row.cells[2]].flatMap((cell) => [...cell.childNodes].map((node) => node.cloneNode(true))));
    if (!known) {
      section.append(make("p", "note", "The rest of this scenario did not fit into this file; evalgate explain prints it."));
      return section;
    }
    if (known.reasons.length) {
      section.append(make("ul", "reasons", null, ...known.reasons.map((parts) => make("li", "", null, ...sentence(parts)))));
    }
    if (known.first.length) section.append(make("p", "", null, ...sentence(known.first)));
    const heads = ["Trial", "Result", "Score", "Cost", "Latency", "Tokens"].map((name) => make("th", "", name));
    for (const head of heads) head.scope = "col";
    const lines = known.trials.map((trial) => make("tr", "", null, make("td", "", trial.number),
      make("td", "", null, make("span", `tone ${trial.tone}`, trial.status)), ...trial.figures.map((figure) => make("td", "", figure))));
    section.append(scroll("Trials", make("table", "", null, make("thead", "", null, make("tr", "", null, ...heads)),
      make("tbody", "", null, ...lines))), make("h3", "", "Conversations"), ...known.trials.map(buildTrial),
    make("p", "note", "Its checks are in results.json; evalgate explain prints them."));
    return section;
  };

  const back = make("a", "back note", "back to why");

  // The call or message that was opened last, and whether it was in view before the window got another width.
  let target = null, isThere = false, width = innerWidth;
  const isInView = (element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return bottom > HEADING && top < innerHeight;
  };
  const bringIntoView = (item) => item.scrollIntoView({ block: item.offsetHeight > innerHeight - 2 * HEADING ? "start" : "center" });
  addEventListener("scroll", () => { if (innerWidth === width && target) isThere = isInView(target); });
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    if (target && isThere) bringIntoView(target);
  });

  // What the difference shows beside this call, if the other conversation is open.
  const findOther = (section, side, item) => {
    const at = ["b", "t0"].indexOf(side), trace = section.querySelector(`.trace[open][data-side="${["t0", "b"][at]}"]`);
    if (!trace) return null;
    if (item === findTarget(section, item.closest(".trace"))) return findTarget(section, trace);
    const { number } = item.dataset;
    const row = number && all(".diff tr:has(> .number)", section).find((each) => each.cells[at].textContent === number);
    return row ? trace.querySelector(`[data-number="${row.cells[1 - at].textContent}"]`) : null;
  };

  // Shows a call or message of an open conversation, and marks it and the call beside it.
  const jump = (section, side, item) => {
    if (get(`${section.id}w`)) {
      back.setAttribute("href", `#${section.id}w`);
      item.querySelector("p").append(back);
    }
    for (const each of all(".at")) each.classList.remove("at");
    for (const each of [item, findOther(section, side, item)]) if (each) each.classList.add("at");
    target = item;
    isThere = true;
    item.tabIndex = -1;
    bringIntoView(item);
    item.focus({ preventScroll: true });
  };

  // Opens the conversation of one side (t0: the first trial, b: the baseline's) at a call (c) or a turn (m).
  const openAt = (index, side, kind, number) => {
    const section = find(index), trace = section.querySelector(`.trace[data-side="${side}"]`);
    if (!trace) return;
    trace.open = true;
    fill(trace);
    const item = trace.querySelector(`[data-${kind === "c" ? "number" : "turn"}="${number}"]`);
    if (item) jump(section, side, item);
  };

  // Names the failed checks at the calls that they are about, in the difference and in conversations.
  const findMarks = (section, anchor) => all(`.reasons a[href="#${section.id}${anchor}"]`, section)
    .map((link) => make("span", "mark bad", `\u2717 ${link.closest("li").querySelector(".name").textContent}`));

  const markCalls = (section) => {
    if (section.dataset.marked) return;
    section.dataset.marked = "1";
    for (const link of all(".number a", section)) {
      const anchor = link.id.slice(section.id.length), marks = findMarks(section, anchor);
      if (marks.length) link.closest("tr").lastElementChild.append(" ", ...marks);
    }
  };

  const find = (index) => {
    let section = get(`s${index}`);
    if (!section && rows[index]) frame.append(section = buildShort(index));
    return section;
  };

  const select = (index) => {
    const section = find(index);
    if (!section) return;
    const before = get(`s${current}`);
    if (before) { before.hidden = true; rows[current].removeAttribute("aria-current"); }
    current = index;
    section.hidden = false;
    section.open = true;
    markCalls(section);
    rows[index].setAttribute("aria-current", "true");
    rows[index].scrollIntoView({ block: "nearest" });
    markHits();
  };

  const visible = () => [...rows.keys()].filter((index) => !rows[index].hidden);

  const none = make("p", "note", "No scenario fits these filters.");
  none.hidden = true;
  frame.append(none);

  // Shows the first scenario that fits the filters, if the shown one does not; none if no scenario fits.
  const follow = () => {
    const indexes = visible();
    none.hidden = indexes.length > 0;
    if (indexes.includes(current)) return;
    if (indexes.length) select(indexes[0]);
    else if (current >= 0) {
      find(current).hidden = true;
      rows[current].removeAttribute("aria-current");
      current = -1;
    }
  };

  const isOther = (control, value) => control && control.value !== "" && control.value !== value;

  // What a filter's text is searched in: the row, its section or short form, and its conversations.
  const readText = (index) => {
    if (contents[index] === undefined) {
      const section = get(`s${index}`), known = short[index];
      const traces = section ? all(".trace", section).map((trace) => trace.dataset.trace)
        : known ? known.trials.map((trial) => trial.block).filter((block) => block !== null) : [];
      contents[index] = [rows[index].textContent, section ? section.textContent : known ? [...known.reasons, known.first].flat().join("") : "",
        ...traces.flatMap((number) => JSON.parse(get(`t${number}`).textContent).parts
          .map((part) => [part.title, part.text, part.result, part.reasoning].join("\n")))].join("\n").toLowerCase().replace(/\s+/g, " ");
    }
    return contents[index];
  };

  // Several words are a phrase; quotes around it may be left out.
  const readPhrase = () => text.value.toLowerCase().replace(/\s+/g, " ").trim().replace(/^["\u201c]|["\u201d]$/g, "");

  // Marks what was searched for in the shown scenario, as far as a hit is within one text.
  const markHits = () => {
    if (!CSS.highlights) return;
    CSS.highlights.delete("hit");
    const phrase = readPhrase();
    if (!phrase || current < 0) return;
    const hits = new Highlight(), walker = document.createTreeWalker(find(current), NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node && hits.size < MAX_HITS; node = walker.nextNode()) {
      const content = node.data.toLowerCase();
      if (content.length !== node.data.length) continue;
      for (let at = content.indexOf(phrase); at >= 0; at = content.indexOf(phrase, at + phrase.length)) {
        hits.add(new StaticRange({ startContainer: node, startOffset: at, endContainer: node, endOffset: at + phrase.length }));
      }
    }
    CSS.highlights.set("hit", hits);
  };

  const filter = () => {
    const phrase = readPhrase();
    rows.forEach((row, index) => {
      row.hidden = (show.value !== "all" && !(show.value in row.dataset))
        || isOther(suite, row.dataset.suite) || isOther(variant, row.dataset.variant)
        || (tag && tag.value && !(row.dataset.tags || "").split(" ").includes(tag.value))
        || (phrase && !readText(index).includes(phrase));
    });
    const count = visible().length;
    found.textContent = count ? `${count} of ${rows.length}` : "No scenario fits these filters.";
    clear.hidden = count === rows.length;
    markHits();
  };

  const filters = { show, suite, variant, tag, text };

  const write = (place = `s${Math.max(current, 0)}`) => {
    const state = new URLSearchParams();
    for (const [name, control] of Object.entries(filters)) {
      if (control && control.value && control.value !== "all") state.set(name, control.value);
    }
    const rest = state.toString();
    history.replaceState(history.state, "", `#${place}${rest ? `?${rest}` : ""}`);
  };

  const read = () => {
    const [place, rest] = location.hash.slice(1).split("?");
    if (rest !== undefined) {
      const state = new URLSearchParams(rest);
      for (const [name, control] of Object.entries(filters)) {
        const value = state.get(name) || "";
        if (control && (control === text || [...control.options].some((option) => option.value === value))) control.value = value;
      }
      filter();
    }
    const parts = /^s(\d{1,9})(?:w|(t\d{1,3}|b)([cm])(\d{1,4}))?$/.exec(place);
    const index = parts ? Number(parts[1]) : -1;
    if (!rows[index]) { follow(); return; }
    if (rows[index].hidden && rest === undefined) clearFilters();
    if (rows[index].hidden) { follow(); return; }
    none.hidden = true;
    select(index);
    if (parts[4]) openAt(index, parts[2], parts[3], parts[4]);
    else if (place.endsWith("w") && get(place)) get(place).focus();
    if (rest === undefined) write(place);
  };

  const clearFilters = () => {
    for (const control of Object.values(filters)) if (control) control.value = control === show ? "all" : "";
    filter();
  };

  // The scenario that was shown before a search; -1 if nothing is searched for.
  let origin = -1;

  const showTop = () => { if (frame.getBoundingClientRect().top < 0) frame.scrollIntoView({ block: "start" }); };

  const reset = () => {
    clearFilters();
    if (origin >= 0) {
      select(origin);
      showTop();
    }
    origin = -1;
    follow();
    write();
  };

  // Where a conversation opens: at the call that the difference leads with, else at the end; null without a difference.
  const findTarget = (section, trace) => {
    const leading = section.querySelector("tr.leading");
    if (!leading) return null;
    fill(trace);
    const number = leading.dataset[trace.dataset.side];
    return (number && trace.querySelector(`[data-number="${number}"]`)) || trace.querySelector(".parts > li:last-child");
  };

  // Opens a conversation, or goes to its target; closes it if that is in view.
  const toggle = (side) => {
    const section = current >= 0 && find(current), trace = section && section.querySelector(`.trace[data-side="${side}"]`);
    if (!trace) return;
    const summary = trace.querySelector("summary"), item = findTarget(section, trace), wasOpen = trace.open;
    trace.open = !wasOpen || !isInView(item || summary);
    if (trace.open && item) {
      jump(section, side, item);
      return;
    }
    if (!trace.open) target = null;
    summary.scrollIntoView({ block: "nearest" });
    summary.focus({ preventScroll: true });
  };

  const go = (step) => {
    const indexes = visible(), at = indexes.indexOf(current);
    const next = at < 0 ? indexes[0] : indexes[at + step];
    if (next === undefined) return;
    select(next);
    write();
    find(next).querySelector("summary, h2").focus();
  };

  const keys = {
    j: () => go(1),
    k: () => go(-1),
    o: () => toggle("t0"),
    b: () => toggle("b"),
    "/": () => text.focus(),
  };

  document.addEventListener("toggle", (event) => {
    if (event.target.matches && event.target.matches(".trace") && event.target.open) fill(event.target);
  }, true);
  // A choice by mouse leaves its field, so that keys work again; one by keyboard may go on.
  let hasTyped = false;
  document.addEventListener("pointerdown", () => { hasTyped = false; });
  document.addEventListener("change", (event) => { if (event.target.matches("select") && !hasTyped) event.target.blur(); });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isField = event.target.matches("input, select");
    if (event.key === "Escape") { reset(); if (isField) event.target.blur(); }
    if (event.key === "Enter" && isField) event.target.blur();
    if (isField) { hasTyped = true; return; }
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
  for (const control of Object.values(filters)) {
    if (control) control.addEventListener("input", () => {
      if (!text.value) origin = -1;
      else if (origin < 0) origin = current;
      filter();
      follow();
      showTop();
      write();
    });
  }
  clear.addEventListener("click", () => { reset(); text.focus(); });

  // A link leaves where it was followed in the history, so that Back returns to it.
  let jumps = false;
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#s']");
    if (!link) return;
    history.replaceState({ y: scrollY }, "");
    if (link.getAttribute("href") === location.hash.split("?")[0]) read();
    else jumps = true;
  });
  addEventListener("hashchange", () => {
    const { y } = history.state || {};
    read();
    if (jumps && /^#s\d+(\?|$)/.test(location.hash)) frame.scrollIntoView({ block: "start" });
    else if (!jumps && y !== undefined) scrollTo(0, y);
    jumps = false;
  });

  let printed = [];
  addEventListener("beforeprint", () => {
    printed = all(".scenario").map((section) => [section, section.hidden, section.open]);
    for (const [section] of printed) {
      section.hidden = false;
      const { dataset } = rows[Number(section.id.slice(1))];
      section.open = "failing" in dataset || "changed" in dataset;
    }
  });
  addEventListener("afterprint", () => {
    for (const [section, hidden, open] of printed) { section.hidden = hidden; section.open = open; }
  });

  for (const element of all(".filters, .copy")) element.hidden = false;
  for (const section of all(".scenario")) section.hidden = true;
  frame.classList.add("one");
  filter();
  select(0);
  read();
})();
