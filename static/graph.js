// Reads the graph out point by point: by pointer, by touch and by the arrow keys. Its points are fetched when somebody wants them;
// without a script the same numbers are in the table below the graph.
const SVG = "http://www.w3.org/2000/svg";

for (const frame of document.querySelectorAll("[data-points]")) {
  const area = frame.querySelector(".plot-area");
  const plot = area.querySelector(".plot");
  const readout = frame.closest("figure").querySelector(".readout");
  const height = Number(plot.getAttribute("height"));
  let points = null;
  let wanted = null;
  let at = -1;

  const hair = plot.appendChild(document.createElementNS(SVG, "line"));
  hair.setAttribute("class", "hair");
  hair.setAttribute("y1", 0);
  hair.setAttribute("y2", height - 34);
  const dot = plot.appendChild(document.createElementNS(SVG, "circle"));
  dot.setAttribute("class", "dot");
  dot.setAttribute("r", 5);
  for (const mark of [hair, dot]) mark.setAttribute("visibility", "hidden");

  // A slider is what a screen reader can step through with the arrow keys.
  const reader = document.createElement("div");
  reader.className = "plot-reader";
  reader.tabIndex = 0;
  reader.setAttribute("role", "slider");
  reader.setAttribute("aria-label", frame.dataset.label);
  reader.setAttribute("aria-valuemin", 0);
  reader.setAttribute("aria-valuemax", 0);
  reader.setAttribute("aria-valuenow", 0);
  reader.setAttribute("aria-valuetext", readout.textContent.trim());
  area.append(reader);

  function fetchPoints() {
    if (wanted) return wanted;
    wanted = fetch(frame.dataset.points, { headers: { accept: "application/json" } })
      .then((answer) => (answer.ok ? answer.json() : Promise.reject(answer.status)))
      .then((found) => {
        points = found.points;
        reader.setAttribute("aria-valuemax", Math.max(points.length - 1, 0));
      })
      .catch(() => {
        wanted = null;
        readout.textContent = frame.dataset.failed;
      });
    return wanted;
  }

  function show(index) {
    if (!points || !points.length) return;
    at = Math.min(Math.max(index, 0), points.length - 1);
    const point = points[at];
    const x = `${point.x / 10}%`;
    hair.setAttribute("x1", x);
    hair.setAttribute("x2", x);
    dot.setAttribute("cx", x);
    dot.setAttribute("cy", point.y);
    for (const mark of [hair, dot]) mark.setAttribute("visibility", "visible");

    const rating = document.createElement("b");
    rating.textContent = point.rating;
    const change = document.createElement("span");
    change.className = point.direction;
    change.textContent = point.change;
    let what = document.createElement("span");
    if (point.address) {
      what = document.createElement("a");
      what.href = point.address;
    }
    what.textContent = point.what;
    readout.replaceChildren(rating, " ", change, ` · ${point.day} · `, what);
    reader.setAttribute("aria-valuenow", at);
    reader.setAttribute("aria-valuetext", `${point.day}: ${point.rating}, ${point.change}. ${point.what}`);
  }

  function nearest(event) {
    if (!points) return -1;
    const box = area.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * 1000;
    let best = 0;
    for (let index = 1; index < points.length; index += 1) {
      if (Math.abs(points[index].x - x) <= Math.abs(points[best].x - x)) best = index;
    }
    return best;
  }

  const point = (event) => fetchPoints().then(() => show(nearest(event)));
  reader.addEventListener("pointermove", point);
  reader.addEventListener("pointerdown", point);
  // The link that is read out opens on a double click and by Enter.
  const open = () => {
    if (points?.[at]?.address) location.href = points[at].address;
  };
  reader.addEventListener("dblclick", open);
  reader.addEventListener("focus", () => fetchPoints().then(() => at < 0 && reader.matches(":focus-visible") && show(points ? points.length - 1 : 0)));
  reader.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity };
    if (event.key === "Enter") open();
    if (!(event.key in steps)) return;
    event.preventDefault();
    fetchPoints().then(() => points && show(at < 0 ? points.length - 1 : at + steps[event.key]));
  });
}
