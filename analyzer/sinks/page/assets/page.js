"use strict";
/* Brings the page to life: the graph that moves, its panel, copying of commands. Without it every table and a picture
   are there all the same. What comes from the input is only ever set as text. */
(() => {
  const byId = (id) => document.getElementById(id);

  function made(tag, text, className) {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  }

  for (const button of document.querySelectorAll("button.copy")) {
    button.hidden = !navigator.clipboard;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.previousElementSibling.textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
  }

  /* A link to a finding that is folded away opens it. */
  function unfold() {
    const target = byId(decodeURIComponent(location.hash.slice(1)));
    const folded = target && target.closest("details");
    if (folded) folded.open = true;
  }
  addEventListener("hashchange", unfold);
  unfold();

  const content = byId("graph-content");
  if (!content || typeof cytoscape !== "function") return;
  const graph = JSON.parse(content.textContent);
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const standsIn = new Map();
  for (const node of graph.nodes) for (const name of node.alike) standsIn.set(name, node.id);
  const waitsFor = new Map(), waitedFor = new Map();
  const add = (map, key, value) => { if (map.has(key)) map.get(key).push(value); else map.set(key, [value]); };
  for (const edge of graph.edges) { add(waitsFor, edge.waiter, edge); add(waitedFor, edge.holder, edge); }

  const canvas = byId("canvas"), panel = byId("panel"), highlight = byId("highlight");
  canvas.hidden = false;
  document.querySelector(".static").hidden = true;
  document.querySelector(".tools").hidden = false;

  /* Where a lane lies, as cytoscape wants to know it: along the line between both ends, and off it. */
  function bends(edge) {
    const from = nodes.get(edge.waiter), to = nodes.get(edge.holder);
    const dx = to.x - from.x, dy = to.y - from.y, length = Math.hypot(dx, dy) || 1;
    /* To and fro between two actors bend to either side, as in the static picture. */
    const points = edge.within ? [[(from.x + to.x) / 2 - dy * 0.22, (from.y + to.y) / 2 + dx * 0.22]] : edge.lane;
    const weights = [], distances = [];
    for (const [x, y] of points) {
      weights.push(((x - from.x) * dx + (y - from.y) * dy) / (length * length));
      distances.push(((y - from.y) * dx - (x - from.x) * dy) / length);
    }
    const beside = edge.within && Math.abs(dy) > Math.abs(dx) ? Math.sign(-dy) * (edge.label.length * 2.9 + 8) : 0;
    return { weights: weights.join(" "), distances: distances.join(" "), beside };
  }

  const many = graph.edges.length > 60, tangled = graph.edges.filter((edge) => edge.within).length > 40;
  const witness = new Set(graph.findings.flatMap((one) => one.cycle.map((name, place) => `${name}\n${one.cycle[(place + 1) % one.cycle.length]}`)));
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const shapes = { core: "round-rectangle", looping: "round-rectangle", unsatisfiable: "cut-rectangle", behind: "rectangle", live: "round-rectangle", running: "round-rectangle" };
  function looks() {
    const ink = color("--ink"), paper = color("--paper"), font = getComputedStyle(document.body).fontFamily;
    const rules = [
      { selector: "node", style: {
        label: "data(label)", width: "data(width)", height: "data(height)", "font-family": font, "font-size": 11.8, "font-weight": 600,
        "line-height": 1.25, color: ink, "text-valign": "center", "text-halign": "center", "text-wrap": "wrap", "text-max-width": 400,
        "min-zoomed-font-size": 5, "overlay-opacity": 0 } },
      { selector: "node.pile", style: { "underlay-color": color("--behind-line"), "underlay-opacity": 0.16, "underlay-padding": 7, "underlay-shape": "round-rectangle" } },
      { selector: "edge", style: {
        width: 1.5, "line-color": color("--arrow"), "target-arrow-color": color("--arrow"), "target-arrow-shape": "triangle", "arrow-scale": 0.95,
        "curve-style": "bezier", "control-point-step-size": 46, opacity: many ? 0.5 : 1, "font-family": font, "font-size": 10.5, color: color("--quiet"),
        "text-background-color": paper, "text-background-opacity": 1, "text-background-padding": 2, "min-zoomed-font-size": 7, "overlay-opacity": 0 } },
      { selector: "edge.bent", style: {
        "curve-style": "round-segments", "segment-weights": "data(weights)", "segment-distances": "data(distances)",
        "edge-distances": "node-position", "segment-radii": 24 } },
      { selector: "edge.within", style: {
        width: tangled ? 1.3 : 2.2, opacity: tangled ? 0.28 : 1, "curve-style": "unbundled-bezier", "control-point-weights": "data(weights)",
        "control-point-distances": "data(distances)", "edge-distances": "node-position", "text-margin-x": "data(beside)" } },
      { selector: "edge.soft", style: { "line-style": "dashed" } },
      { selector: many ? "edge.cycle, edge.near" : "edge", style: { label: "data(label)" } },
    ];
    for (const [role, shape] of Object.entries(shapes)) {
      const line = color(`--${role}-line`);
      rules.push({ selector: `node.${role}`, style: {
        shape, "background-color": color(`--${role}-fill`), "border-color": line,
        "border-width": role === "core" ? 5 : role === "looping" || role === "unsatisfiable" ? 2.2 : 1.4,
        "border-style": role === "core" ? "double" : role === "looping" ? "dashed" : "solid" } });
      rules.push({ selector: `edge.within.${role}`, style: { "line-color": line, "target-arrow-color": line } });
    }
    rules.push({ selector: "node.live", style: { "corner-radius": 12 } }, { selector: "node.running", style: { "corner-radius": 23 } });
    rules.push({ selector: "edge.witness", style: { width: 2.4, opacity: 1 } });
    rules.push({ selector: "edge.cycle", style: { width: 4, opacity: 1, "line-color": color("--core-line"), "target-arrow-color": color("--core-line") } });
    rules.push({ selector: "edge.near", style: { width: 2.6, opacity: 1, "line-color": color("--accent"), "target-arrow-color": color("--accent") } });
    rules.push({ selector: "node.chosen", style: { "border-color": color("--accent"), "border-width": 5, "border-style": "solid" } });
    rules.push({ selector: ".faded", style: { opacity: 0.14, "text-opacity": 0.7, "underlay-opacity": 0.05 } }, { selector: "edge.faded", style: { "text-opacity": 0, "text-background-opacity": 0 } });
    return rules;
  }

  const elements = graph.nodes.map((node) => ({
    group: "nodes", classes: node.alike.length ? `${node.role} pile` : node.role, position: { x: node.x, y: node.y },
    data: { id: node.id, label: node.scope ? `${node.name}\n${node.scope}` : node.name, width: node.width, height: node.height },
  })).concat(graph.edges.map((edge, number) => {
    const classes = [nodes.get(edge.waiter).role];
    if (edge.soft) classes.push("soft");
    if (witness.has(`${edge.waiter}\n${edge.holder}`)) classes.push("witness");
    if (edge.within && edge.waiter !== edge.holder) classes.push("within");
    else if (edge.lane.length) classes.push("bent");
    return { group: "edges", classes: classes.join(" "), data: { id: `e${number}`, source: edge.waiter, target: edge.holder, label: edge.label, ...bends(edge) } };
  }));

  const cy = cytoscape({
    container: canvas, elements, style: looks(), layout: { name: "preset" }, minZoom: 0.03, maxZoom: 3,
    autoungrabify: true, boxSelectionEnabled: false, selectionType: "single", userZoomingEnabled: false,
  });
  function fit(some) {
    cy.fit(some, 34);
    if (cy.zoom() > 1.25) { cy.zoom(1.25); cy.center(some); }
  }
  const box = cy.elements().boundingBox();
  if (box.h < 260) canvas.classList.add("short");
  cy.resize();
  fit();
  addEventListener("resize", () => { cy.resize(); fit(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => cy.style(looks()));

  /* The wheel scrolls the page until somebody has clicked into the graph. */
  canvas.addEventListener("pointerdown", () => cy.userZoomingEnabled(true));
  canvas.addEventListener("pointerleave", () => cy.userZoomingEnabled(false));
  const zoom = (factor) => cy.zoom({ level: cy.zoom() * factor, renderedPosition: { x: canvas.clientWidth / 2, y: canvas.clientHeight / 2 } });
  const act = { in: () => zoom(1.3), out: () => zoom(1 / 1.3), fit: () => fit() };
  for (const button of document.querySelectorAll(".tools button")) button.addEventListener("click", () => act[button.dataset.do]());
  const keys = {
    "+": act.in, "=": act.in, "-": act.out, "0": act.fit, Escape: () => leave(),
    ArrowLeft: () => cy.panBy({ x: 60, y: 0 }), ArrowRight: () => cy.panBy({ x: -60, y: 0 }),
    ArrowUp: () => cy.panBy({ x: 0, y: 60 }), ArrowDown: () => cy.panBy({ x: 0, y: -60 }),
  };
  canvas.addEventListener("keydown", (event) => { if (keys[event.key]) { keys[event.key](); event.preventDefault(); } });

  const clear = () => cy.elements().removeClass("faded near cycle chosen");

  function mark(id) {
    clear();
    const finding = graph.findings.find((one) => one.id === id);
    if (!finding) return null;
    const members = cy.collection(), inside = new Set(finding.members);
    for (const name of inside) members.merge(cy.getElementById(standsIn.get(name) || name));
    const steps = new Set(finding.cycle.map((name, place) => `${name}\n${finding.cycle[(place + 1) % finding.cycle.length]}`));
    const between = cy.edges().filter((edge) => inside.has(edge.data("source")) && inside.has(edge.data("target")));
    const cycle = between.filter((edge) => steps.has(`${edge.data("source")}\n${edge.data("target")}`));
    cy.elements().addClass("faded");
    members.union(between).removeClass("faded");
    cycle.addClass("cycle");
    return members;
  }

  function linked(name, said) {
    const item = made("li"), link = made("a", name, "actor");
    link.href = `#node=${encodeURIComponent(name)}`;
    item.append(link);
    if (said) item.append(made("span", ` ${said}`, "quiet"));
    return item;
  }

  function told(heading, text, list) {
    if (text) list.append(made("dt", heading), made("dd", text));
  }

  function neighbours(heading, edges, end, list) {
    if (!edges.length) return;
    const items = made("ul");
    for (const edge of edges.slice(0, 40)) items.append(linked(edge[end], edge.label));
    if (edges.length > 40) items.append(made("li", `and ${edges.length - 40} more`, "quiet"));
    const place = made("dd");
    place.append(items);
    list.append(made("dt", `${heading} (${edges.length})`), place);
  }

  function open(name, move) {
    const node = nodes.get(standsIn.get(name) || name);
    if (!node) return false;
    name = node.id;
    clear();
    if (highlight) highlight.value = "";
    const shown = cy.getElementById(name), around = shown.closedNeighborhood();
    cy.elements().not(around).addClass("faded");
    shown.addClass("chosen");
    shown.connectedEdges().addClass("near");
    const close = made("button", "×", "close");
    close.type = "button";
    close.title = "close (Escape)";
    close.addEventListener("click", leave);
    const list = made("dl");
    told("holds", node.holds, list);
    told("needs", node.needs, list);
    told("waits since", node.since, list);
    told("lifetime", node.lifetime, list);
    told("the scheduler says", node.said, list);
    neighbours("waits for", waitsFor.get(name) || [], "holder", list);
    neighbours("is waited for by", waitedFor.get(name) || [], "waiter", list);
    if (node.alike.length) {
      const items = made("ul");
      for (const other of node.alike.slice(0, 100)) items.append(made("li", other));
      if (node.alike.length > 100) items.append(made("li", `and ${node.alike.length - 100} more`, "quiet"));
      const place = made("dd");
      place.append(items);
      list.append(made("dt", `${node.id} is the first of ${node.alike.length + 1} who wait alike`), place);
    }
    if (node.findings.length) {
      const place = made("dd");
      for (const id of node.findings) {
        const link = made("a", id);
        link.href = `#${id}`;
        place.append(link, " ");
      }
      list.append(made("dt", "findings"), place);
    }
    panel.replaceChildren(close, made("h3", node.name), made("p", `${node.scope}${node.scope ? ": " : ""}${node.meaning}`, "quiet"), list);
    panel.title = node.id;
    panel.hidden = false;
    cy.resize();
    if (move) cy.animate({ center: { eles: shown }, duration: 200 });
    return true;
  }

  function leave() {
    clear();
    panel.hidden = true;
    if (highlight) highlight.value = "";
    if (location.hash.startsWith("#node=")) history.replaceState(null, "", location.pathname + location.search);
    cy.resize();
  }

  cy.on("tap", "node", (event) => {
    const link = `#node=${encodeURIComponent(event.target.id())}`;
    if (location.hash === link) open(event.target.id(), false);
    else location.hash = link;
  });
  cy.on("tap", (event) => { if (event.target === cy) leave(); });
  cy.on("mouseover", "node", () => { canvas.style.cursor = "pointer"; });
  cy.on("mouseout", "node", () => { canvas.style.cursor = ""; });

  function follow(first) {
    if (!location.hash.startsWith("#node=")) return;
    let name = location.hash.slice(6);
    try { name = decodeURIComponent(name); } catch { return; }
    if (open(name, true) && !first) byId("graph").scrollIntoView({ block: "nearest" });
  }
  addEventListener("hashchange", () => follow(false));
  follow(true);
  if (location.hash.startsWith("#node=") && !panel.hidden) byId("graph").scrollIntoView();

  if (highlight) highlight.addEventListener("change", () => {
    panel.hidden = true;
    cy.resize();
    const members = mark(highlight.value);
    if (members && members.length) fit(members); else fit();
  });
  for (const button of document.querySelectorAll("button.show")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      panel.hidden = true;
      cy.resize();
      if (highlight) highlight.value = button.dataset.finding;
      const members = mark(button.dataset.finding);
      byId("graph").scrollIntoView({ behavior: "smooth" });
      if (members && members.length) fit(members);
    });
  }
})();
