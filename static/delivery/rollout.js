// Keeps the page of an open deployment up to date; without scripts a link reloads it.
const PAUSE_MS = 1000;

const page = document.querySelector("[data-rollout]");

function listed(list, rows) {
  list.replaceChildren(
    ...rows.map(({ text, name }) => {
      const item = document.createElement("li");
      item.textContent = text;
      item.className = name;
      return item;
    }),
  );
}

function show(state) {
  const phase = page.querySelector("[data-phase]");
  phase.textContent = state.phase_label;
  phase.dataset.phase = state.phase;
  page.querySelector("progress").value = state.percent;
  page.querySelector("[data-percent]").textContent = `${state.percent} %`;
  const error = state.error_code ? `${state.error_code}: ${state.error_message}` : "";
  page.querySelector("[data-error]").textContent = error;
  listed(
    page.querySelector("[data-reasons]"),
    state.reasons.map((reason) => ({ text: `${reason.code}: ${reason.message}`, name: "problem" })),
  );
  listed(
    page.querySelector("[data-steps]"),
    state.steps.map((step) => ({
      text: `${new Date(step.at).toLocaleTimeString()} ${step.name} ${step.message}`,
      name: `step-${step.status}`,
    })),
  );
}

async function follow() {
  try {
    const answer = await fetch(page.dataset.rollout, { headers: { Accept: "application/json" } });
    if (answer.ok) {
      const state = await answer.json();
      show(state);
      if (!state.is_open) {
        page.querySelector("[data-end]")?.remove();
        return;
      }
    }
  } catch {
    // The server is away for a moment; the next round asks again.
  }
  setTimeout(follow, PAUSE_MS);
}

if (page?.dataset.open === "true") follow();
