// Asks a camera's recorder.

// Fetches JSON, or sends a form with a command; throws the reason why that failed.
export async function request(camera, target, form = null) {
  const response = await fetch(`cameras/${encodeURIComponent(camera)}/${target}`, form && {
    method: "POST",
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(form).toString(),
  });
  if (response.status === 401) location.assign(`login${location.hash}`);
  if (!response.ok) throw new Error((await response.text()).trim());
  return response.json();
}
