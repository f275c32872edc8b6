// After the login, the browser shows the camera and the time of the address that was opened.

document.querySelector("form").action = `login${location.hash}`;
