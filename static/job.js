// The page of a correction in the background follows it. Without this script its link "Look again" does.

const job = document.getElementById("job");

async function follow() {
  try {
    const response = await fetch(job.dataset.progress, { headers: { Accept: "application/json" } });
    if (response.redirected || (response.status >= 400 && response.status < 500)) return; // not for this reader any more
    if (!response.ok) throw new Error(response.statusText);
    const { state, done, total, text } = await response.json();
    if (state !== job.dataset.state) {
      location.reload();
      return;
    }
    const bar = job.querySelector("progress");
    bar.max = total;
    bar.value = done;
    const words = document.getElementById("advance");
    if (words.textContent !== text) words.textContent = text;
  } catch {
    // The network or the site is gone for a moment: the next round tries again.
  }
  setTimeout(follow, 2000);
}

if (job) setTimeout(follow, 2000);
