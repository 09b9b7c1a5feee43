// A pack's page: opinions without a reload, a large preview, copying the address, counting the open.
const pack = document.querySelector("[data-pack]");
const opinions = document.querySelector("[data-opinions]");
const share = document.querySelector("[data-share]");
const preview = document.querySelector("dialog.preview");
const OPEN_AFTER_MS = 1000;

function send(address, method) {
  const token = opinions.querySelector("[name=csrfmiddlewaretoken]").value;
  return fetch(address, {
    method,
    credentials: "same-origin",
    headers: { Accept: "application/json", "X-CSRFToken": token },
  });
}

async function toggle(event) {
  const button = event.submitter;
  if (!button?.dataset.address) return;
  event.preventDefault();
  const method = button.getAttribute("aria-pressed") === "true" ? "DELETE" : "POST";
  const answer = await send(button.dataset.address, method);
  if (!answer.ok) return;
  const { engagement, opinion } = await answer.json();
  for (const each of opinions.querySelectorAll("button")) {
    each.setAttribute("aria-pressed", String(each.value === opinion));
    const count = each.querySelector("[data-count]");
    count.textContent = engagement[count.dataset.count];
  }
}

function enlarge(event) {
  const image = event.target.closest("a")?.querySelector("img");
  if (!image) return;
  event.preventDefault();
  const shown = preview.querySelector("img");
  shown.src = image.src;
  shown.alt = image.alt;
  preview.showModal();
}

async function copy(button, field) {
  field.select();
  await navigator.clipboard.writeText(field.value);
  button.textContent = button.dataset.done;
}

opinions.addEventListener("submit", toggle);
document.querySelector("[data-preview]")?.addEventListener("click", enlarge);
if (navigator.clipboard) {
  const button = share.querySelector("button");
  button.hidden = false;
  button.addEventListener("click", () => copy(button, share.querySelector("input")));
}
// Who stays for a second has opened the pack; a link's preview has not.
setTimeout(() => {
  if (document.visibilityState === "visible") send(pack.dataset.pack, "POST").catch(() => {});
}, OPEN_AFTER_MS);
