import { createHash } from "node:crypto";
import { page } from "../http/page.ts";
import { referencePage, styles } from "./model/reference-page.ts";
import { referenceScript } from "./model/reference-script.ts";

const sourceOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

export const handler = page(async () => {
  const script = await referenceScript();
  const policy = [
    "default-src 'none'",
    `script-src ${sourceOf(script)}`,
    `style-src ${sourceOf(styles)}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  return {
    contentType: "text/html; charset=utf-8",
    text: referencePage(script),
    headers: { "content-security-policy": policy, "referrer-policy": "no-referrer" },
  };
});
