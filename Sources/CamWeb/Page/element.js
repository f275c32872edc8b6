// Makes the elements of the page.

const namespace = "http://www.w3.org/2000/svg";
// Paths in a square of 24.
const icons = {
  play: "M7 4l13 8-13 8z",
  pause: "M6 4h4v16H6zM14 4h4v16h-4z",
  back: "M12 5l-9 7 9 7zM21 5l-9 7 9 7z",
  forward: "M3 5l9 7-9 7zM12 5l9 7-9 7z",
  previous: "M4 5h3v14H4zM20 5L8 12l12 7z",
  next: "M17 5h3v14h-3zM4 5l12 7-12 7z",
  full: "M4 4h6v2H6v4H4zM14 4h6v6h-2V6h-4zM4 14h2v4h4v2H4zM18 14h2v6h-6v-2h4z",
};

// Makes an element with properties, such as a class and text.
export function make(tag, properties) {
  return Object.assign(document.createElement(tag), properties);
}

// title: what it does; without words, it is also its name
export function makeButton(text, action, title = "") {
  const button = make("button", { type: "button", textContent: text, title });
  if (!/\w/.test(text)) button.ariaLabel = title;
  button.addEventListener("click", action);
  return button;
}

export function makeIconButton(icon, action, title) {
  const button = makeButton("", action, title);
  button.classList.add("icon");
  setIcon(button, icon);
  return button;
}

export function setIcon(button, icon) {
  if (button.dataset.icon === icon) return;
  button.dataset.icon = icon;
  const drawing = document.createElementNS(namespace, "svg");
  drawing.setAttribute("viewBox", "0 0 24 24");
  drawing.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(namespace, "path");
  path.setAttribute("d", icons[icon]);
  drawing.append(path);
  button.replaceChildren(drawing);
}
