// What the pages do more comfortably with a script. Without it every form and link works all the same.

// Light or dark at once, remembered in the cookie that the server reads.
document.addEventListener("submit", (event) => {
  const form = event.target;
  const button = event.submitter;
  if (!button || !form.hasAttribute("data-theme-form")) return;
  event.preventDefault();
  document.documentElement.dataset.theme = button.value;
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `theme=${button.value}; path=/; max-age=31536000; samesite=lax${secure}`;
  for (const other of form.querySelectorAll("button")) if (other !== button) other.focus();
});

// On a phone tabs and pools are rows to be pushed: bring the chosen one into view.
for (const chosen of document.querySelectorAll(".tabs [aria-current], .pools [aria-current]")) {
  const row = chosen.closest(".tabs, ul");
  row.scrollLeft = chosen.offsetLeft - row.offsetLeft - (row.clientWidth - chosen.clientWidth) / 2;
}

// Who signs up gets the time zone of the browser.
for (const field of document.querySelectorAll("[data-time-zone]")) field.value ||= Intl.DateTimeFormat().resolvedOptions().timeZone;

// A change of a rating opens into its sum below its row, and closes again. Without a script it leads to the sheet of the match.
const slips = document.querySelectorAll("[data-slip]");
for (const change of slips) {
  change.setAttribute("role", "button");
  change.setAttribute("aria-expanded", "false");
  change.closest("tr").classList.add("opens");
}

async function toggle(change) {
  const row = change.closest("tr");
  let below = document.getElementById(change.getAttribute("aria-controls"));
  if (!below) {
    if (change.ariaBusy) return;
    change.ariaBusy = "true";
    const answer = await fetch(change.dataset.slip).catch(() => null);
    change.ariaBusy = null;
    if (!answer?.ok) {
      location.href = change.href;
      return;
    }
    below = document.createElement("tr");
    below.id = `slip-${[...slips].indexOf(change)}`;
    below.className = "slip-row";
    below.hidden = true;
    const cell = below.insertCell();
    cell.colSpan = row.cells.length;
    cell.innerHTML = await answer.text();
    row.after(below);
    change.setAttribute("aria-controls", below.id);
  }
  below.hidden = !below.hidden;
  change.setAttribute("aria-expanded", String(!below.hidden));
}

document.addEventListener("click", (event) => {
  const change = event.target.closest("[data-slip]") ?? event.target.closest("tr.opens")?.querySelector("[data-slip]");
  const elsewhere = event.target.closest("a, button, summary");
  if (!change || (elsewhere && elsewhere !== change) || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (elsewhere !== change && !getSelection().isCollapsed) return;
  event.preventDefault();
  toggle(change);
});

// What says that it is a button is pressed by the space bar too.
document.addEventListener("keydown", (event) => {
  if (event.key !== " " || !event.target.matches("[data-slip]")) return;
  event.preventDefault();
  toggle(event.target);
});
