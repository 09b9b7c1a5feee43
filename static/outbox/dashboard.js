// Keeps the outbox dashboard up to date; without scripts, loading the page again does.
const PAUSE_MS = 5000;

async function refresh() {
  try {
    const answer = await fetch(window.location.href, { headers: { Accept: "text/html" } });
    if (answer.ok && !answer.redirected) {
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      const part = fresh.querySelector("[data-live]");
      if (part) document.querySelector("[data-live]").replaceChildren(...part.childNodes);
    }
  } catch {
    // The server is away for a moment; the next round asks again.
  }
  setTimeout(refresh, PAUSE_MS);
}

setTimeout(refresh, PAUSE_MS);
