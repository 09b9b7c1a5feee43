// Sends chosen or dropped files in parts, with progress; without scripts the form posts them whole.
// A part that was cut off is resumed where the server says, also after the page was loaded anew.
const PART_BYTES = 512 * 1024;
const LOOK_MS = 500;
const TRIES = 5;
const TRIES_PAUSE_MS = 1000;

const form = document.querySelector("[data-uploads]");
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function call(method, address, { json, bytes, offset } = {}) {
  const headers = { "X-CSRFToken": form.querySelector("[name=csrfmiddlewaretoken]").value };
  if (json) headers["Content-Type"] = "application/json";
  if (bytes) Object.assign(headers, { "Content-Type": "application/octet-stream", "Upload-Offset": offset });
  const answer = await fetch(address, { method, headers, body: json ? JSON.stringify(json) : bytes });
  const data = await answer.json();
  if (answer.ok) return data;
  throw Object.assign(new Error(data.error?.message ?? answer.statusText), { isFinal: answer.status < 500 });
}

// A connection that broke is tried again; what the server refuses is not.
async function patiently(work) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (error.isFinal || tries === TRIES) throw error;
      await pause(TRIES_PAUSE_MS * tries);
    }
  }
}

async function sha256(file) {
  const digest = await crypto.subtle.digest("SHA-256", await file.arrayBuffer());
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function send(file, show) {
  const emojis = form.elements.emojis.value.split(/\s+/).filter(Boolean);
  const wish = { sha256: await sha256(file), size_bytes: file.size, mimetype: file.type.slice(0, 64) };
  if (emojis.length) wish.emojis = emojis;
  let upload = await patiently(() => call("POST", form.dataset.uploads, { json: wish }));
  const address = `${form.dataset.uploads}/${encodeURIComponent(upload.upload_id)}`;
  while (upload.status === "pending" && upload.received_bytes < file.size) {
    show(upload.received_bytes / file.size);
    upload = await patiently(async () => {
      const known = await call("GET", address);
      const offset = known.received_bytes;
      if (known.status !== "pending" || offset >= file.size) return known;
      const bytes = await file.slice(offset, offset + PART_BYTES).arrayBuffer();
      return call("PATCH", address, { bytes, offset });
    });
  }
  show(1);
  while (upload.status === "pending" || upload.status === "processing") {
    await pause(LOOK_MS);
    upload = await patiently(() => call("GET", address));
  }
  return upload;
}

function row(file) {
  const item = document.createElement("li");
  const name = document.createElement("span");
  const bar = document.createElement("progress");
  const state = document.createElement("span");
  name.textContent = file.name;
  bar.setAttribute("aria-label", file.name);
  bar.value = 0;
  state.className = "muted";
  item.append(name, bar, state);
  form.querySelector("[data-list]").append(item);
  return { bar, state, item };
}

function addPicture(address) {
  const grid = document.querySelector("[data-stickers]");
  grid.querySelector("[data-empty]")?.remove();
  const item = document.createElement("li");
  const picture = document.createElement("img");
  Object.assign(picture, { src: address, alt: "", width: 128, height: 128 });
  item.append(picture);
  grid.append(item);
}

async function take(file) {
  const { bar, state, item } = row(file);
  state.textContent = form.dataset.sending;
  try {
    const upload = await send(file, (share) => {
      bar.value = share;
      if (share === 1) state.textContent = form.dataset.working;
    });
    item.dataset.state = upload.status;
    state.textContent = upload.status === "done" ? form.dataset.done : upload.error_message;
    if (upload.status === "done" && upload.sticker_url) addPicture(upload.sticker_url);
  } catch (error) {
    item.dataset.state = "failed";
    state.textContent = error.message;
  }
}

// One after another: a phone's connection is shared better that way, and progress is seen.
async function takeAll(files) {
  for (const file of files) await take(file);
}

if (form && globalThis.crypto?.subtle) {
  const input = form.elements.stickers;
  const zone = form.querySelector("[data-drop]");
  zone.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const files = [...input.files];
    input.value = "";
    takeAll(files);
  });
  for (const name of ["dragenter", "dragover", "dragleave", "drop"]) {
    zone.addEventListener(name, (event) => {
      event.preventDefault();
      zone.classList.toggle("over", name === "dragenter" || name === "dragover");
    });
  }
  zone.addEventListener("drop", (event) => takeAll([...event.dataTransfer.files]));
}
