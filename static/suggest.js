// Names of players while somebody types. Without it the whole name is typed.

const list = document.getElementById("known-players");
let waiting;
let asked = "";

async function suggest(field) {
  const text = field.value.trim();
  if (text.length < 2 || text === asked) return;
  asked = text;
  const answer = await fetch(`${field.dataset.suggest}?q=${encodeURIComponent(text)}`);
  if (!answer.ok || asked !== text) return;
  const { names } = await answer.json();
  list.replaceChildren(...names.map((name) => Object.assign(document.createElement("option"), { value: name })));
}

for (const field of document.querySelectorAll("[data-suggest]")) {
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => suggest(field), 200);
  });
}
