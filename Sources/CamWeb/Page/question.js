// Asks before something that cannot be undone.

import { make, makeButton } from "./element.js";

// Returns whether people agree. Escape is no, and so is the button that has the focus.
// question, consequence: what would happen; no, yes: the texts of the buttons
export function ask({ question, consequence, no, yes }) {
  const dialog = make("dialog", { className: "question" });
  const title = make("h2", { id: "question", textContent: question });
  const text = make("p", { id: "consequence", textContent: consequence });
  dialog.setAttribute("aria-labelledby", title.id);
  dialog.setAttribute("aria-describedby", text.id);
  const answers = make("div", { className: "controls" });
  const decline = makeButton(no, () => dialog.close());
  decline.autofocus = true;
  answers.append(decline, makeButton(yes, () => dialog.close("yes")));
  dialog.append(title, text, answers);
  document.body.append(dialog);
  return new Promise((answer) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      answer(dialog.returnValue === "yes");
    });
    dialog.showModal();
  });
}
