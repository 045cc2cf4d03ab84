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
