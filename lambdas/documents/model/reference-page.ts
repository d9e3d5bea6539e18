import { routes } from "../../../api/index.ts";
import { openApi } from "../../../api/openapi.ts";
import { escapeHtml as h } from "./escape-html.ts";
import { type Operation, operationsOf } from "./operations.ts";
import { cliSample, curlSample, inputSample, sdkSample } from "./samples.ts";
import { typeText } from "./type-text.ts";

export const styles = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 20%, transparent); }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; }
nav, main { padding: 1rem; max-width: 60rem; margin: auto; }
nav ul { columns: 16rem; padding: 0; list-style: none; }
section { border-top: 1px solid var(--line); padding: 1rem 0; }
h3 { margin: 0; font-size: 1.1rem; }
pre, textarea, output { font: 13px/1.5 ui-monospace, monospace; overflow: auto; }
pre, output { display: block; padding: .75rem; border: 1px solid var(--line); border-radius: 6px; white-space: pre; }
output { max-height: 30rem; }
textarea, input { width: 100%; box-sizing: border-box; padding: .5rem; }
button { padding: .5rem 1rem; margin: .5rem 0; }
code { font-size: .9em; overflow-wrap: anywhere; }
[hidden] { display: none; }
`;

const titles: Record<string, string> = {
  organizations: "Organizations",
  builds: "Builds and deployment",
  credentials: "App keys",
  environments: "Environment variables",
  tables: "Tables and rows",
  storage: "Files",
  sessions: "Sessions",
};
const titleOf = (resource: string) => titles[resource] ?? `${resource.charAt(0).toUpperCase()}${resource.slice(1)}`;

function section(operation: Operation): string {
  const { id, method, path, summary, query, body, reply, errors, status } = operation;
  const part = (title: string, text: string | undefined) =>
    text === undefined ? "" : `<h4>${title}</h4><pre>${h(text)}</pre>`;
  const codes = errors.map((code) => `<code>${h(code)}</code>`).join(", ");
  return `<section id="${h(id)}">
<h3><code>${method} ${h(path)}</code></h3>
<p>${h(summary)}</p>
${part("Query", query && typeText(query))}${part("Body", body && typeText(body))}${part(`Answer ${status}`, typeText(reply))}
${codes === "" ? "" : `<p>Errors of this operation: ${codes}</p>`}
<h4>curl</h4><pre>${h(curlSample(operation))}</pre>
<h4>Command line</h4><pre>${h(cliSample(operation))}</pre>
<h4>SDK</h4><pre>${h(sdkSample(operation))}</pre>
<details><summary>Try it</summary><form data-method="${h(operation.sdkMethod)}">
<label>Input <textarea rows="4" spellcheck="false">${h(inputSample(operation))}</textarea></label>
<button>Send ${method}</button><output hidden></output></form></details>
</section>`;
}

/** The reference of the interface as one page that loads no other file: every route with its types, samples and a form to try it. */
export function referencePage(script: string): string {
  const { operations, shared } = operationsOf(openApi());
  const groups = [...Map.groupBy(operations, ({ id }) => routes.find((route) => route.id === id)?.resource ?? "")];
  const links = groups.map(
    ([resource, list]) =>
      `<h2>${h(titleOf(resource))}</h2><ul>${list.map(({ id, summary }) => `<li><a href="#${h(id)}">${h(id)}</a> <small>${h(summary)}</small></li>`).join("")}</ul>`,
  );
  const body = groups.map(([resource, list]) => `<h2>${h(titleOf(resource))}</h2>${list.map(section).join("\n")}`);
  const types = shared.map(([name, schema]) => `type ${name} = ${typeText(schema)};`).join("\n\n");
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Slipway: the interface</title>
<style>${styles}</style></head>
<body><nav><h1>Slipway: the interface</h1>
<p>All bodies are JSON. Paths are relative to this service. <a href="/openapi.json">OpenAPI document</a> · <a href="/llms.txt">In short</a></p>
<label>Token, or access key and secret key joined by a colon, for the forms below. It stays on this page.
<input id="credential" type="password" autocomplete="off"></label>
${links.join("\n")}</nav>
<main>${body.join("\n")}
<h2>Types</h2><pre>${h(types)}</pre></main>
<script type="module">${script}</script></body></html>`;
}
