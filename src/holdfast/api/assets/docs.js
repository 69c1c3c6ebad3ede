"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  let description = null;
  let token = "";

  // Every text goes in as text: nothing of an answer can become markup.
  const make = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value === true) node.setAttribute(name, "");
      else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
    }
    node.append(...children.filter((child) => child !== null));
    return node;
  };

  const headers = (more = {}) => (token ? { ...more, Authorization: `Bearer ${token}` } : more);

  const resolve = (schema) => {
    let found = schema;
    for (let hops = 0; found && found.$ref && hops < 8; hops += 1) {
      found = found.$ref.slice(2).split("/").reduce(
        (place, key) => place && place[key.replaceAll("~1", "/").replaceAll("~0", "~")], description);
    }
    return found || {};
  };

  const typeWords = (schema) => {
    const whole = resolve(schema);
    if (whole.enum) return whole.enum.join(" | ");
    if (whole.type === "array") return `${typeWords(whole.items || {})}, repeated`;
    return [].concat(whole.type || "any").join(" or ");
  };

  // --- JSON with colours, as nodes ---
  const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/g;
  const coloured = (value) => {
    const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
    const pre = make("pre");
    if (text.length > 200000) {
      pre.textContent = text;
      return pre;
    }
    let last = 0;
    for (const found of text.matchAll(TOKENS)) {
      pre.append(text.slice(last, found.index));
      const kind = found[1] ? (found[2] ? "key" : "text") : found[3] ? "word" : "number";
      pre.append(make("span", { class: kind }, found[1] || found[0]), found[2] || "");
      last = found.index + found[0].length;
    }
    pre.append(text.slice(last));
    return pre;
  };

  // `code` in a description is the only markup that it has.
  const prose = (text) => text.split("`").map((part, index) => (index % 2 ? make("code", {}, part) : part));

  // --- one operation ---
  const fieldInput = (parameter) => {
    const schema = resolve(parameter.schema);
    const label = `${parameter.name} (${typeWords(schema)})`;
    if (schema.enum || schema.type === "boolean") {
      const choices = schema.enum || ["true", "false"];
      return make("select", { "aria-label": label }, make("option", { value: "" }, "–"),
        ...choices.map((choice) => make("option", { value: choice }, String(choice))));
    }
    const hint = parameter.example === undefined ? typeWords(schema) : String(parameter.example);
    return make("input", { "aria-label": label, placeholder: hint, spellcheck: "false" });
  };

  const field = (parameter, inputs) => {
    const input = fieldInput(parameter);
    inputs.push([parameter, input]);
    return make("div", { class: "field" },
      make("span", { class: "name" }, parameter.name, parameter.required ? make("span", { class: "must", title: "required" }, " *") : ""),
      input, make("span", { class: "help" }, parameter.description || ""));
  };

  const fieldList = (parameters, inputs) => {
    const first = parameters.slice(0, 2).map((one) => field(one, inputs));
    const rest = parameters.slice(2).map((one) => field(one, inputs));
    const nodes = [make("div", { class: "fields" }, ...first)];
    if (rest.length) {
      nodes.push(make("details", {}, make("summary", {}, `${rest.length} more parameters`), make("div", { class: "fields" }, ...rest)));
    }
    return nodes;
  };

  const queryOf = (inputs) => {
    const query = new URLSearchParams();
    for (const [parameter, input] of inputs) {
      if (input.value === "") continue;
      const isList = resolve(parameter.schema).type === "array";
      for (const value of isList ? input.value.split(/\s*,\s*/).filter(Boolean) : [input.value]) query.append(parameter.name, value);
    }
    const text = query.toString();
    return text ? `?${text}` : "";
  };

  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const curl = (method, url, body) => {
    const parts = ["curl", "-sN", quoted(location.origin + url)];
    if (token) parts.push("-H", "'Authorization: Bearer '\"$TOKEN\"");
    if (body !== null) parts.push("-H", "'Content-Type: application/json'", "-d", quoted(body));
    return parts.join(" ");
  };

  const showStream = async (response, place, began) => {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let buffer = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      buffer += value;
      const blocks = buffer.split("\n\n");
      buffer = blocks.pop();
      for (const block of blocks.filter((one) => one.startsWith("event:"))) {
        const [name, data] = block.split("\n").map((line) => line.slice(line.indexOf(":") + 2));
        place.append(make("span", { class: name === "error" ? "state bad" : "state" }, `${name} · ${Math.round(performance.now() - began)} ms`),
          coloured(JSON.parse(data)));
      }
    }
  };

  const send = async (method, url, body, place, controller) => {
    const began = performance.now();
    place.replaceChildren(make("span", { class: "state" }, "…"));
    try {
      const response = await fetch(url, {
        method, body: body === null ? undefined : body, signal: controller.signal, redirect: "manual",
        headers: headers(body === null ? {} : { "Content-Type": "application/json" }),
      });
      const isStream = (response.headers.get("content-type") || "").startsWith("text/event-stream");
      const text = isStream ? "" : await response.text();
      const state = `${response.status} · ${Math.round(performance.now() - began)} ms`;
      place.replaceChildren(make("span", { class: `state ${response.ok ? "good" : "bad"}` }, state));
      if (isStream) await showStream(response, place, began);
      else {
        let shown = text;
        try { shown = JSON.parse(text); } catch { /* text for people, such as the metrics */ }
        place.append(coloured(shown));
      }
    } catch (error) {
      place.append(make("span", { class: "state bad" }, controller.signal.aborted ? "cancelled" : String(error)));
    }
  };

  const card = (path, method, operation) => {
    const inputs = [];
    const content = operation.requestBody && operation.requestBody.content["application/json"];
    const examples = content ? Object.entries(content.examples || {}) : [];
    const body = content ? make("textarea", { "aria-label": "Body", spellcheck: "false" }) : null;
    const choose = examples.length > 1 ? make("select", { "aria-label": "Example" },
      ...examples.map(([name], index) => make("option", { value: index }, `Example: ${name}`))) : null;
    const result = make("div", { class: "result", "aria-live": "polite" });
    const line = make("pre", { class: "curl" });
    const stop = make("button", { type: "button", disabled: true }, "Cancel");
    const go = make("button", { type: "submit", class: "primary" }, "Send");
    const url = () => path + queryOf(inputs);
    const refresh = () => { line.textContent = curl(method, url(), body ? body.value : null); };
    const fill = () => { if (body && examples.length) body.value = JSON.stringify(examples[choose ? choose.value : 0][1].value, null, 2); refresh(); };

    const form = make("form", {
      class: "result", oninput: refresh,
      onsubmit: async (event) => {
        event.preventDefault();
        const controller = new AbortController();
        stop.onclick = () => controller.abort();
        go.disabled = true;
        stop.disabled = false;
        await send(method, url(), body ? body.value : null, result, controller);
        go.disabled = false;
        stop.disabled = true;
      },
    }, ...(operation.parameters ? fieldList(operation.parameters, inputs) : []), body,
    make("div", { class: "row" }, go, stop, choose), line, result);
    if (choose) choose.addEventListener("change", fill);
    fill();

    const accepted = content ? make("details", {}, make("summary", {}, "Schema of the body"), coloured(resolve(content.schema))) : null;
    const success = operation.responses["200"];
    const answered = success && success.content && success.content["application/json"];
    const given = answered ? make("details", {}, make("summary", {}, "Schema of the answer"), coloured(answered.schema)) : null;
    const failures = make("details", {}, make("summary", {}, "Failures"),
      make("div", { class: "fields" }, ...Object.entries(operation.responses).filter(([status]) => status !== "200").map(([status, response]) =>
        make("div", { class: "row" }, make("code", {}, status), make("span", { class: "words" }, ...prose(resolve(response).description || ""))))));
    return make("section", { class: "card", id: operation.operationId },
      make("h2", {}, make("span", { class: `badge ${method.toLowerCase()}` }, method), make("span", { class: "path" }, path),
        make("span", { class: "what" }, operation.summary || "")),
      operation.description ? make("p", { class: "words" }, ...prose(operation.description)) : null, form, accepted, given, failures);
  };

  const draw = () => {
    byId("title").textContent = document.title = description.info.title;
    byId("version").textContent = `v${description.info.version}`;
    const groups = new Map();
    const cards = [];
    for (const [path, methods] of Object.entries(description.paths)) {
      for (const [name, operation] of Object.entries(methods)) {
        const method = name.toUpperCase();
        const tag = (operation.tags || ["Other"])[0];
        if (!groups.has(tag)) groups.set(tag, []);
        groups.get(tag).push(make("a", { href: `#${operation.operationId}` },
          make("span", { class: `badge ${name}` }, method), make("span", { class: "path" }, path)));
        cards.push(card(path, method, operation));
      }
    }
    byId("nav").replaceChildren(...[...groups].flatMap(([tag, links]) => [make("h2", {}, tag), ...links]));
    byId("main").replaceChildren(make("p", { class: "about" }, description.info.description || ""), ...cards);
    const target = location.hash && byId(location.hash.slice(1));
    if (target) target.scrollIntoView();
  };

  const load = async () => {
    const tell = (text) => byId("main").replaceChildren(make("p", { class: "notice", role: "status" }, text));
    try {
      const response = await fetch("/openapi.json", { headers: headers() });
      if (response.status === 401) {
        tell("This server wants a token: enter it above, then press Load. It stays on this page only.");
        byId("token").focus();
        return;
      }
      if (!response.ok) throw new Error(`the server answered ${response.status}`);
      description = await response.json();
      draw();
    } catch (error) {
      tell(`The description could not be loaded: ${error.message}`);
    }
  };

  byId("access").addEventListener("submit", (event) => {
    event.preventDefault();
    token = byId("token").value.trim();
    load();
  });
  load();
})();
