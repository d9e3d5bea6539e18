import { Slipway, SlipwayError } from "../sdk/browser.ts";

/** The text that a reader entered; it is never stored. */
const credential = document.querySelector<HTMLInputElement>("#credential");

function clientOf(text: string): Slipway {
  const [accessKey = "", secretKey] = text.split(":");
  return new Slipway(secretKey === undefined ? { token: text } : { accessKey, secretKey });
}

function shown(error: unknown): string {
  if (!(error instanceof SlipwayError)) return error instanceof Error ? error.message : String(error);
  return error.body === undefined ? error.message : `${error.status}\n${JSON.stringify(error.body, null, 2)}`;
}

/** Sends a form's call through the client, as the sample beside it does, and shows the answer. */
async function send(form: HTMLFormElement, output: HTMLElement): Promise<void> {
  output.hidden = false;
  output.textContent = "…";
  try {
    const text = credential?.value.trim() ?? "";
    if (text === "") throw new Error("Enter a token or a key at the top of the page first.");
    const input: unknown = JSON.parse(form.querySelector("textarea")?.value || "{}");
    const call: unknown = Reflect.get(clientOf(text), form.dataset.method ?? "");
    if (typeof call !== "function") throw new Error("This operation cannot be tried here.");
    output.textContent = JSON.stringify(await call(input), null, 2);
  } catch (error) {
    output.textContent = shown(error);
  }
}

for (const form of document.querySelectorAll<HTMLFormElement>("form[data-method]")) {
  const output = form.querySelector<HTMLElement>("output");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (output) void send(form, output);
  });
}
