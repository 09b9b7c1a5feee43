// The slider of a flag: shows its value, and how many of 10,000 subjects would be in.
document.addEventListener("DOMContentLoaded", () => {
  const slider = document.querySelector("[data-rollout]");
  const desk = document.querySelector("[data-preview-address]");
  if (!slider) return;

  const shown = document.createElement("output");
  slider.after(shown);
  const count = desk && desk.querySelector("[data-preview-count]");
  let waiting;

  const preview = async () => {
    const address = `${desk.dataset.previewAddress}?percent=${slider.value}`;
    const answer = await fetch(address, { credentials: "same-origin" });
    if (answer.ok && count) count.textContent = (await answer.json()).count;
  };

  const show = () => {
    shown.textContent = `${slider.value} %`;
    if (!desk) return;
    clearTimeout(waiting);
    waiting = setTimeout(preview, 150);
  };

  slider.addEventListener("input", show);
  shown.textContent = `${slider.value} %`;
});
