// Makes an element with properties, such as a class and text.
export function make(tag, properties) {
  return Object.assign(document.createElement(tag), properties);
}
