// Adds the next page of packs when the reader nears the end; without scripts a link leads there.
const list = document.querySelector("[data-packs]");
const status = document.querySelector("[data-loaded]");
const MARGIN = "600px";

async function extend(more, observer) {
  const link = more.querySelector("a");
  observer.unobserve(more);
  try {
    const answer = await fetch(link.href, { credentials: "same-origin" });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    list.append(...page.querySelectorAll("[data-packs] > .pack-card"));
    const next = page.querySelector("[data-more] a");
    if (next) {
      link.href = next.href;
      observer.observe(more);
    } else {
      more.remove();
    }
    status.textContent = status.dataset.text;
  } catch {
    // The network is away; the link is still there to be followed by hand.
  }
}

const more = document.querySelector("[data-more]");
if (list && more && "IntersectionObserver" in window) {
  const observer = new IntersectionObserver(
    (entries) => {
      if (entries.some((entry) => entry.isIntersecting)) extend(more, observer);
    },
    { rootMargin: MARGIN },
  );
  observer.observe(more);
}
