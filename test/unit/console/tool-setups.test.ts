import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { toolSetups } from "../../../console/tool-setups.ts";

test("the console connects AI tools as docs/mcp.md says", () => {
  const page = readFileSync(new URL("../../../docs/mcp.md", import.meta.url), "utf8");
  const samples = [...page.matchAll(/```(?:sh|json|toml)\n([\s\S]*?)```/g)].map((match) => String(match[1]).trim());
  const plain = (text: string) => (/^\{\s*"/.test(text) ? JSON.stringify(JSON.parse(text)) : text);
  const setups = toolSetups("http://127.0.0.1:4000");
  expect(setups.map(({ tool }) => tool)).toEqual(["Claude Code", "Cursor", "VS Code", "Codex"]);
  for (const { text } of setups) expect(samples.map(plain)).toContain(plain(text));
});
