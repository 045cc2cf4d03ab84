// The list of tables asks again every few seconds. What it must not disturb: details that are open, a button that is being
// pressed. (The focus is kept by the ids of what can have it.)

const LIST = "tables";
let open = new Set();
let pressed = false;

document.addEventListener("pointerdown", (event) => { pressed = Boolean(event.target.closest(`#${LIST}`)); });
for (const name of ["pointerup", "pointercancel"]) document.addEventListener(name, () => { pressed = false; });

// Who looks elsewhere asks for nothing.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.target.id === LIST && document.hidden) event.preventDefault();
});

document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.target.id !== LIST) return;
  if (pressed) event.detail.shouldSwap = false;
  open = new Set([...event.detail.target.querySelectorAll("details[open]")].map((details) => details.id));
});

document.addEventListener("htmx:afterSwap", () => {
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
});

// Back at the page: how things are now, not a few seconds from now.
document.addEventListener("visibilitychange", () => {
  const list = document.getElementById(LIST);
  if (!document.hidden && list) htmx.ajax("GET", list.getAttribute("hx-get"), { source: list, target: list, swap: "outerHTML" });
});
